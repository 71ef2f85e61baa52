"""The settings of a training run, in groups, from which `hearts train` makes its options."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args

import tyro

from hearts_agents.net.weights import NetSpec
from hearts_env import Rules
from hearts_train.learn.opponents import PAST
from hearts_train.run.checkpoint import Progress

PAST_EVERY_DECISIONS = 5_000_000
"""How often a run keeps weights for its opponent `past`, if it doesn't say."""

Precision = Literal["float32", "bfloat16"]


class TrainError(ValueError):
    """A configuration that cannot be trained."""


def require_setting(holds: bool, name: str, value: object, reason: str) -> None:
    """Raise TrainError with the setting and the reason, unless it holds."""
    if not holds:
        raise TrainError(f"{name}={value!r}: {reason}")


def _at_least(least: int, config: object, *names: str) -> None:
    for name, value in _given(config, names):
        require_setting(value >= least, name, value, f"must be at least {least}")


def _above(limit: int, config: object, *names: str) -> None:
    for name, value in _given(config, names):
        require_setting(value > limit, name, value, f"must be above {limit}")


def _share(config: object, *names: str) -> None:
    for name, value in _given(config, names):
        require_setting(0 <= value <= 1, name, value, "must lie between 0 and 1")


def _given(config: object, names: Sequence[str]) -> list[tuple[str, Any]]:
    """Return the settings that are not None."""
    return [(name, getattr(config, name)) for name in names if getattr(config, name) is not None]


# -- the groups --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NetworkConfig:
    """Size of the network."""

    width: int = 256
    """Units of each layer."""
    blocks: int = 3
    """Residual blocks."""
    pad: bool = False
    """Encode for up to seven seats, so that the network can be used with any number of players."""

    def __post_init__(self) -> None:
        _at_least(1, self, "width")


@dataclass(frozen=True)
class PPOConfig:
    """Hyperparameters of proximal policy optimisation."""

    lr: float = 1e-3
    """Adam's learning rate at the start."""
    entropy: float = 0.1
    """Weight of the entropy bonus at the start."""
    minibatch: int = 512
    """Decisions in a gradient step of a worker, about."""
    epochs: int = 1
    """Passes over the decisions of an iteration."""
    clip: float = 0.2
    """Clip range of the ratio of new to old probability: 0.2 is 0.8 to 1.2."""
    gae_lambda: float = 0.95
    """Lambda of the advantage estimates: 1 trusts the deal's outcome alone, 0 the next decision's value alone."""

    def __post_init__(self) -> None:
        _above(0, self, "lr", "entropy")
        _at_least(1, self, "minibatch", "epochs")
        _share(self, "gae_lambda")


@dataclass(frozen=True)
class ScheduleConfig:
    """Changes over the course of a run."""

    lr_final: float = 5e-5
    """Learning rate at the end; it falls exponentially."""
    lr_hold: float = 0.0
    """Fraction of the budget before the learning rate begins to fall."""
    entropy_final: float = 0.003
    """Weight of the entropy bonus at the end; it falls exponentially."""
    ema_decisions: int = 0
    """Evaluate and write for players the average of the weights over so many decisions; 0: the last ones."""
    imitate: str = ""
    """Behaviour cloning at first: learn to choose as this agent does (`rule`, `search:32`), asked but not played."""
    imitate_decisions: int = 1_000_000
    """For how many decisions."""

    def __post_init__(self) -> None:
        _above(0, self, "lr_final", "entropy_final", "imitate_decisions")
        require_setting(0 <= self.lr_hold < 1, "lr_hold", self.lr_hold, "must be at least 0 and below 1")
        require_setting(self.ema_decisions >= 0, "ema_decisions", self.ema_decisions, "must not be below 0")


@dataclass(frozen=True)
class OpponentConfig:
    """Other players, other rules and games under way at some of the tables."""

    names: Annotated[tuple[str, ...], tyro.conf.arg(name="opponents")] = ()
    """Agents by name, and `past` for earlier weights of the run; a worker draws one an iteration.  None: self-play."""
    opponent_share: float = 0.25
    """Fraction of the tables with an opponent, where there are any."""
    learning_seats: int = 1
    """Seats of such a table that learn; the opponent has the others, at least one."""
    also_rules: tuple[str, ...] = ()
    """More rules, played by turns with `--rules`, as often as named; with `--pad` for other numbers of players."""
    game_share: float = 0.0
    """Fraction of the tables within a game, with scores: the deal then pays what it adds to the chance to win."""

    def __post_init__(self) -> None:
        _share(self, "opponent_share", "game_share")


@dataclass(frozen=True)
class EvaluationConfig:
    """Evaluation against other agents during a run, and the weights to keep."""

    eval_against: tuple[str, ...] = ("rule", "random")
    """Agents to be measured against; so are the best weights so far."""
    eval_every_minutes: float = 0.5
    """How often; less often where all evaluations would take over a tenth of the time."""
    eval_ids: int = 200
    """Deal ids of an evaluation, from 0 on; each is played in every rotation."""
    eval_slow: tuple[str, ...] = ("search:64",)
    """Slow agents to be measured against, on fewer deal ids."""
    eval_slow_every_minutes: float = 15.0
    """How often, and when first."""
    past_every_decisions: int | None = None
    """Keep the weights for players in `past/` so often; 5,000,000 if not given and `past` is an opponent."""

    def __post_init__(self) -> None:
        _at_least(1, self, "eval_ids", "past_every_decisions")


@dataclass(frozen=True)
class MachineConfig:
    """Processes, device, precision and saving."""

    workers: int = 2
    """Processes of one thread each; best one for each core."""
    device: str = "cpu"
    """Device of the network, in torch's words."""
    precision: Precision = "float32"
    """Of the matrix products; bfloat16 is for processors with instructions for it, and has no compiled update."""
    save_every_minutes: float = 1.0
    """How often to save; also at the end and at Ctrl-C."""

    def __post_init__(self) -> None:
        _at_least(1, self, "workers")
        require_setting(
            self.precision in get_args(Precision), "precision", self.precision, "must be float32 or bfloat16"
        )


@dataclass(frozen=True)
class TrainConfig:
    """Everything that a run depends on.

    The name of a field is that of its option, in whatever group it stands (`ppo.lr` is `--lr`), but for
    `opponents.names`, which is `--opponents`.
    """

    rules: str = "standard"
    """Rules to play: a preset, `field=value` pairs, or both."""
    out: Path | None = None
    """Run directory; runs/DATE-TIME if not given."""
    minutes: float | None = None
    """Stop after so much time, evaluations included; with neither this nor decisions after ten minutes."""
    decisions: int | None = None
    """Stop after learning from so many decisions (forced ones are not counted)."""
    tables: int = 512
    """Deals that each worker plays between updates."""
    seed: int = 0
    """Random seed of the first weights, the deals and the choices, from 0 to 1,000,000."""
    start: str = ""
    """First weights: `net` for those in the package, a run directory or a weights file; also of a smaller network."""
    resume: Path | None = None
    """Go on with the run in this directory; options not given here are the run's own."""
    ppo: PPOConfig = PPOConfig()
    schedule: ScheduleConfig = ScheduleConfig()
    network: NetworkConfig = NetworkConfig()
    opponents: OpponentConfig = OpponentConfig()
    evaluation: EvaluationConfig = EvaluationConfig()
    machine: MachineConfig = MachineConfig()

    def __post_init__(self) -> None:
        _at_least(1, self, "tables")
        _above(0, self, "minutes", "decisions")
        require_setting(0 <= self.seed <= 1_000_000, "seed", self.seed, "must lie between 0 and 1,000,000")

    def with_options(self, **options: Any) -> TrainConfig:
        """Return this configuration with some options changed: `with_options(lr=3e-4, workers=4)`.

        By the names of the program's options, in whatever group they stand.  Raises TrainError.
        """
        changes: dict[str, dict[str, Any]] = {}
        for name, value in options.items():
            if name not in OPTIONS:
                raise TrainError(f"{name}={value!r}: no such option")
            group, field = OPTIONS[name]
            changes.setdefault(group, {})[field] = value
        own = changes.pop("", {})
        groups = {group: dataclasses.replace(getattr(self, group), **changed) for group, changed in changes.items()}
        return dataclasses.replace(self, **own, **groups)

    def options(self) -> dict[str, Any]:
        """Return all settings by the names of the program's options."""
        return {
            name: getattr(getattr(self, group) if group else self, field) for name, (group, field) in OPTIONS.items()
        }

    @property
    def spec(self) -> NetSpec:
        """The network that is trained.  Raises RulesError for rules that do not parse."""
        size = self.network
        return NetSpec(
            rules=Rules.parse(self.rules),
            pad=size.pad,
            width=size.width,
            blocks=size.blocks,
            games=self.opponents.game_share > 0,
        )

    @property
    def all_rules(self) -> list[Rules]:
        """The rules that are played by turns, the network's own first.  Raises RulesError."""
        return [Rules.parse(text) for text in (self.rules, *self.opponents.also_rules)]

    @property
    def evaluates_best(self) -> bool:
        """Whether it is measured against its own best weights: not where all it learns is to answer others."""
        return not self.opponents.names or self.opponents.opponent_share < 1

    def seats_that_learn(self, rules: Rules) -> int:
        """Return how many seats learn at a table with an opponent."""
        return min(self.opponents.learning_seats, rules.num_players - 1)

    def eval_seats(self, rules: Rules) -> int | None:
        """Return how many seats of a table the network has in evaluations; None for half of them."""
        return None if self.evaluates_best else self.seats_that_learn(rules)

    @property
    def keeps_past_every(self) -> int | None:
        """After how many decisions weights are kept, again and again; None for never."""
        return self.evaluation.past_every_decisions or (PAST_EVERY_DECISIONS if PAST in self.opponents.names else None)

    def scheduled(self, progress: Progress) -> Scheduled:
        """Return the values of the scheduled hyperparameters at this point of the run."""
        first, last, used = self.ppo, self.schedule, self.used(progress)
        return Scheduled(
            lr=_between(first.lr, last.lr_final, max(0.0, used - last.lr_hold) / (1 - last.lr_hold)),
            entropy_weight=_between(first.entropy, last.entropy_final, used),
            imitates=bool(last.imitate) and progress.decisions < last.imitate_decisions,
        )

    def used(self, progress: Progress) -> float:
        """Return the fraction of the budget that is used, 1 when the run is complete."""
        by_time = progress.seconds / 60 / self.minutes if self.minutes else 0.0
        by_decisions = progress.decisions / self.decisions if self.decisions else 0.0
        return min(1.0, max(by_time, by_decisions))


class Scheduled(NamedTuple):
    """Scheduled hyperparameters at one point of a run."""

    lr: float
    entropy_weight: float
    imitates: bool
    """Whether it learns what another agent would choose, instead of what has paid."""


def _between(first: float, last: float, fraction: float) -> float:
    """Return the number at a fraction of the way from `first` to `last`, on an exponential curve."""
    return float(first * (last / first) ** fraction)


# -- options by name ---------------------------------------------------------------------------------------------------

_RENAMED = {"names": "opponents"}
"""Fields that are named otherwise as options."""


def _options(config: type[Any], group: str = "") -> dict[str, tuple[str, str]]:
    """Return group and field of each option of a dataclass, by its name; see OPTIONS."""
    found: dict[str, tuple[str, str]] = {}
    for field in dataclasses.fields(config):
        if dataclasses.is_dataclass(field.default):
            found |= _options(type(field.default), field.name)
        else:
            found[_RENAMED.get(field.name, field.name)] = (group, field.name)
    return found


OPTIONS = _options(TrainConfig)
"""Group ('' for none) and field of every option by its name: {"lr": ("ppo", "lr"), ...}."""


def flat_options(found: dict[str, Any]) -> dict[str, Any]:
    """Return the settings in a config.json by the names of their options.

    found: the file's object, in groups or flat, as versions before there were groups wrote it; what it has besides
    settings is kept.
    """
    flat: dict[str, Any] = {}
    for name, value in found.items():
        if isinstance(value, dict):
            flat |= {_RENAMED.get(str(field), str(field)): setting for field, setting in value.items()}
        else:
            flat[name] = value
    return flat
