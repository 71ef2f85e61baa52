"""The settings of a training run, and where they are kept."""

from __future__ import annotations

import dataclasses
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from hearts_agents import make
from hearts_agents.net.agent import weights_of
from hearts_agents.net.weights import NetSpec, read_net
from hearts_env import Rules
from hearts_train.learn.opponents import PAST
from hearts_train.run.checkpoint import CONFIG_NAME, Progress, write_whole

DEFAULT_MINUTES = 10.0
"""The budget of a run that names none."""
PAST_EVERY_DECISIONS = 5_000_000
"""How often a run keeps weights for its opponent `past`, if it doesn't say."""


Precision = Literal["float32", "bfloat16"]


class TrainError(ValueError):
    """A configuration that cannot be trained."""


@dataclass(frozen=True)
class TrainConfig:
    """Everything that a run depends on; `hearts train` makes its options from this."""

    rules: str = "standard"
    """The rules to play: a preset, `field=value` pairs, or both."""
    also_rules: tuple[str, ...] = ()
    """More rules, which a worker plays by turns with these, as often as they are named; `--pad` where they have other
    numbers of players."""
    minutes: float | None = None
    """Stop after so much time, evaluations included; with neither this nor decisions after ten minutes."""
    decisions: int | None = None
    """Stop after learning from so many decisions (forced ones are not counted)."""
    out: Path | None = None
    """The run directory; runs/DATE-TIME if not given."""
    resume: Path | None = None
    """Go on with the run in this directory; options not given here are the run's own (see `resumed`)."""
    seed: int = 0
    """Of the first weights, the deals and the choices, from 0 to 1,000,000."""
    workers: int = 2
    """Processes of one thread each; best one for each core."""
    tables: int = 512
    """Deals that each worker plays between updates."""
    width: int = 256
    """Units of each layer."""
    blocks: int = 3
    """Residual blocks."""
    pad: bool = False
    """Encode for up to seven seats, so that the network can be used with any number of players."""
    lr: float = 1e-3
    """Adam's learning rate at the start."""
    lr_final: float = 5e-5
    """The learning rate at the end; it falls exponentially."""
    lr_hold: float = 0.0
    """Fraction of the budget before the learning rate begins to fall."""
    entropy: float = 0.1
    """Weight of the entropy bonus at the start."""
    entropy_final: float = 0.003
    """Its weight at the end; it falls exponentially."""
    clip: float = 0.2
    """How far from 1 the ratio of new to old probability still pays."""
    minibatch: int = 512
    """Decisions in a gradient step of a worker, about."""
    epochs: int = 1
    """Passes over the decisions of an iteration."""
    gae_lambda: float = 0.95
    """Of the advantage estimates: 1 trusts the deal's outcome alone, 0 the value of the next decision alone."""
    ema_decisions: int = 0
    """Over how many decisions the weights are averaged that are evaluated and written for players; 0: the last ones."""
    start: str = ""
    """Begin with these weights: `net` for those in the package, a run directory or a weights file.  They may be of a
    network with fewer units or blocks, which then grows, and of one for another number of players.  A run has at least
    the units and blocks of its first weights."""
    imitate: str = ""
    """Behaviour cloning: at first learn to choose as this agent does, any by name (`rule`, `search:32`).  It plays
    nothing itself."""
    imitate_decisions: int = 1_000_000
    """For how many decisions."""
    game_share: float = 0.0
    """The share of the tables at which a game is under way, with scores: the deal then pays by what it adds to the
    chance to win."""
    opponents: tuple[str, ...] = ()
    """Who plays at some tables: agents by name, and `past` for earlier weights of the run.  A worker draws one an
    iteration."""
    opponent_share: float = 0.25
    """The share of the tables with an opponent, where there are any."""
    learning_seats: int = 1
    """Seats of such a table that learn; the opponent has the others, at least one."""
    past_every_decisions: int | None = None
    """How often to keep the weights for players in `past/`.  Default: every 5,000,000 where `past` is an opponent, or
    else never."""
    eval_against: tuple[str, ...] = ("rule", "random")
    """Agents to be measured against; so are the best weights so far."""
    eval_every_minutes: float = 0.5
    """How often; less often where all evaluations would take over a tenth of the time."""
    eval_ids: int = 200
    """Deal ids of an evaluation, from 0 on; each is played in every rotation."""
    eval_slow: tuple[str, ...] = ("search:64",)
    """Slow agents to be measured against."""
    eval_slow_every_minutes: float = 15.0
    """How often, and when first."""
    save_every_minutes: float = 1.0
    """How often to save; also at the end and at Ctrl-C."""
    device: str = "cpu"
    """Where the network lives, in torch's words."""
    precision: Precision = "float32"
    """Of the matrix products; bfloat16 is for processors with instructions for it; without the compiled update."""

    def __post_init__(self) -> None:
        for name in ("workers", "tables", "width", "minibatch", "epochs", "eval_ids"):
            _require(getattr(self, name) >= 1, name, getattr(self, name), "must be at least 1")
        for name in ("lr", "lr_final", "entropy", "entropy_final"):
            _require(getattr(self, name) > 0, name, getattr(self, name), "must be above 0")
        for name in ("minutes", "decisions", "imitate_decisions"):
            _require((getattr(self, name) or 1) > 0, name, getattr(self, name), "must be above 0")
        _require(self.ema_decisions >= 0, "ema_decisions", self.ema_decisions, "must not be below 0")
        every = self.past_every_decisions
        _require(every is None or every >= 1, "past_every_decisions", every, "must be at least 1")
        _require(0 <= self.lr_hold < 1, "lr_hold", self.lr_hold, "must be at least 0 and below 1")
        _require(0 <= self.seed <= 1_000_000, "seed", self.seed, "must lie between 0 and 1,000,000")
        for name in ("opponent_share", "game_share"):
            _require(0 <= getattr(self, name) <= 1, name, getattr(self, name), "must lie between 0 and 1")
        _require(self.precision in get_args(Precision), "precision", self.precision, "must be float32 or bfloat16")
        _require(0 <= self.gae_lambda <= 1, "gae_lambda", self.gae_lambda, "must lie between 0 and 1")

    @property
    def spec(self) -> NetSpec:
        """The network that is trained.  Raises RulesError for rules that do not parse."""
        return NetSpec(
            rules=Rules.parse(self.rules),
            pad=self.pad,
            width=self.width,
            blocks=self.blocks,
            games=self.game_share > 0,
        )

    @property
    def all_rules(self) -> list[Rules]:
        """The rules that are played by turns, the network's own first.  Raises RulesError."""
        return [Rules.parse(text) for text in (self.rules, *self.also_rules)]

    @property
    def judges_itself(self) -> bool:
        """Does it play for a while against its own best weights?  Not where all it learns is to answer others."""
        return not self.opponents or self.opponent_share < 1

    def seats_that_learn(self, rules: Rules) -> int:
        """How many, at a table with an opponent."""
        return min(self.learning_seats, rules.num_players - 1)

    def eval_seats(self, rules: Rules) -> int | None:
        """How many seats of a table it has in evaluations; None for half of them."""
        return None if self.judges_itself else self.seats_that_learn(rules)

    @property
    def keeps_past_every(self) -> int | None:
        """After how many decisions weights are kept, again and again; None for never."""
        return self.past_every_decisions or (PAST_EVERY_DECISIONS if PAST in self.opponents else None)

    def pace(self, progress: Progress) -> Pace:
        """What the schedules say at this point of the run."""
        used = self.used(progress)
        return Pace(
            lr=_between(self.lr, self.lr_final, max(0.0, used - self.lr_hold) / (1 - self.lr_hold)),
            entropy_weight=_between(self.entropy, self.entropy_final, used),
            imitates=bool(self.imitate) and progress.decisions < self.imitate_decisions,
        )

    def used(self, progress: Progress) -> float:
        """The fraction of the budget that is used, 1 when the run is complete."""
        by_time = progress.seconds / 60 / self.minutes if self.minutes else 0.0
        by_decisions = progress.decisions / self.decisions if self.decisions else 0.0
        return min(1.0, max(by_time, by_decisions))


class Pace(NamedTuple):
    """What changes in the course of a run."""

    lr: float
    entropy_weight: float
    imitates: bool
    """Does it learn what another agent would choose, instead of what has paid?"""


def _between(first: float, last: float, fraction: float) -> float:
    """Exponentially from `first` to `last`."""
    return float(first * (last / first) ** fraction)


# -- a new run, or one to go on with -----------------------------------------------------------------------------------

REMOVED_AT = "ideas-2026-12"
"""The tag of the last version that had the options in _REMOVED."""
_REMOVED: dict[str, object] = {
    "aux": 0.0,
    "critic": False,
    "same_deal": 1,
    "moon_share": 0.0,
    "tables_final": None,
    "minibatch_final": None,
    "value_weight": 0.5,
    "max_grad_norm": 0.5,
    "reward_scale": 0.1,
    "eval_slow_ids": 60,
}
"""Options that earlier versions had, with the value that each now has for good."""
_FIXED = ("rules", "seed", "width", "blocks", "pad")
_NOT_SAVED = ("out", "resume")


def opened(config: TrainConfig) -> tuple[TrainConfig, Path]:
    """The complete configuration and the directory of a new run, or of the one to resume, where it is written.

    Raises TrainError, RulesError, AgentError, NetError or CheckpointError.
    """
    if config.minutes is None and config.decisions is None:
        config = dataclasses.replace(config, minutes=DEFAULT_MINUTES)
    # Bad rules and opponents are told before anything is written.
    players = {rules.num_players for rules in config.all_rules}
    fits = config.pad or len(players) == 1
    _require(fits, "also_rules", config.also_rules, "other numbers of players need a padded encoding: --pad")
    most = max(players) - 1
    _require(1 <= config.learning_seats <= most, "learning_seats", config.learning_seats, f"must be from 1 to {most}")
    for name in (config.imitate, *config.opponents, *config.eval_against, *config.eval_slow):
        if name not in ("", PAST):
            make(name)
    if config.start and not config.resume:
        first, _ = read_net(weights_of(config.start))
        config = dataclasses.replace(
            config, width=max(config.width, first.width), blocks=max(config.blocks, first.blocks)
        )
    run = config.resume or config.out or Path("runs") / time.strftime("%Y-%m-%d-%H%M%S")
    if config.resume:
        saved = resumed(run)
        for name in _FIXED:
            before, now = getattr(saved, name), getattr(config, name)
            _require(before == now, name, now, f"the run in {run} has {before!r}, which cannot change")
    elif (run / CONFIG_NAME).exists():
        raise TrainError(f"{run} holds a run already: resume it, or take another directory")
    try:
        run.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TrainError(f"cannot make the run directory {run}: {error.strerror or error}") from None
    kept = {key: value for key, value in dataclasses.asdict(config).items() if key not in _NOT_SAVED}
    write_whole(run / CONFIG_NAME, (json.dumps(kept, indent=2) + "\n").encode())
    return config, run


def resumed(run: Path, **changes: Any) -> TrainConfig:
    """The configuration that goes on with a run: its own, but for the changes, by name.  Raises TrainError."""
    path = run / CONFIG_NAME
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        for name in _REMOVED.keys() & found.keys():
            _require_removed(run, name, found.pop(name))
        lists = {key: tuple(kept) for key, kept in found.items() if isinstance(kept, list)}
        saved = TrainConfig(**found | lists)
    except TrainError:
        raise
    except (OSError, AttributeError, TypeError, ValueError) as error:
        raise TrainError(f"cannot resume {run}: its {CONFIG_NAME} is missing or damaged: {error}") from None
    return dataclasses.replace(saved, resume=run, **changes)


def _require_removed(run: Path, name: str, value: object) -> None:
    """Raise TrainError where a run was made with an option that is gone, unless at the value that it now has."""
    if value != _REMOVED[name]:
        raise TrainError(
            f"cannot resume {run}: it was made with {name}={value!r}, an option that was removed; go on with the "
            f"version tagged {REMOVED_AT}, or begin a new run with its weights: --start {run}"
        )


def _require(holds: bool, name: str, value: object, reason: str) -> None:
    if not holds:
        raise TrainError(f"{name}={value!r}: {reason}")
