"""The configuration of a run on disk: written when it begins, read again when it is resumed."""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path
from typing import Any

from hearts_agents import make
from hearts_agents.net.agent import weights_of
from hearts_agents.net.weights import read_net
from hearts_train.learn.opponents import PAST
from hearts_train.run.checkpoint import CONFIG_NAME, write_whole
from hearts_train.run.config import TrainConfig, TrainError, flat_options, require_setting

DEFAULT_MINUTES = 10.0
"""The budget of a run that names none."""
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
"""Options that cannot change in a run."""
_NOT_SAVED = ("out", "resume")


def opened(config: TrainConfig) -> tuple[TrainConfig, Path]:
    """Return the complete configuration and the directory of a new run, or of the one to resume, where it is written.

    Raises TrainError, RulesError, AgentError, NetError or CheckpointError; bad settings before anything is written.
    """
    config = _complete(config)
    run = config.resume or config.out or Path("runs") / time.strftime("%Y-%m-%d-%H%M%S")
    if config.resume:
        before, now = resumed(run).options(), config.options()
        for name in _FIXED:
            reason = f"the run in {run} has {before[name]!r}, which cannot change"
            require_setting(before[name] == now[name], name, now[name], reason)
    elif (run / CONFIG_NAME).exists():
        raise TrainError(f"{run} holds a run already: resume it, or take another directory")
    try:
        run.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TrainError(f"cannot make the run directory {run}: {error.strerror or error}") from None
    kept = {key: value for key, value in dataclasses.asdict(config).items() if key not in _NOT_SAVED}
    write_whole(run / CONFIG_NAME, (json.dumps(kept, indent=2) + "\n").encode())
    return config, run


def _complete(config: TrainConfig) -> TrainConfig:
    """Return the configuration with its budget and the size of its first weights, once it is checked."""
    met, players = config.opponents, {rules.num_players for rules in config.all_rules}
    fits, most = config.network.pad or len(players) == 1, max(players) - 1
    reason = "other numbers of players need a padded encoding: --pad"
    require_setting(fits, "also_rules", met.also_rules, reason)
    seats = met.learning_seats
    require_setting(1 <= seats <= most, "learning_seats", seats, f"must be from 1 to {most}")
    shown = config.evaluation
    for name in (config.schedule.imitate, *met.names, *shown.eval_against, *shown.eval_slow):
        if name not in ("", PAST):
            make(name)
    if config.minutes is None and config.decisions is None:
        config = config.with_options(minutes=DEFAULT_MINUTES)
    if config.start and not config.resume:
        first, _ = read_net(weights_of(config.start))
        size = config.network
        config = config.with_options(width=max(size.width, first.width), blocks=max(size.blocks, first.blocks))
    return config


def resumed(run: Path, **changes: Any) -> TrainConfig:
    """Return the configuration that goes on with a run: its own, but for changes by the names of options.

    Also of a run from before settings stood in groups.  Raises TrainError.
    """
    path = run / CONFIG_NAME
    try:
        found = flat_options(json.loads(path.read_text(encoding="utf-8")))
        lists = {key: tuple(kept) for key, kept in found.items() if isinstance(kept, list)}
        removed = {name: found.pop(name) for name in _REMOVED if name in found}
        saved = TrainConfig().with_options(**found | lists)
    except (OSError, AttributeError, TypeError, ValueError) as error:
        raise TrainError(f"cannot resume {run}: its {CONFIG_NAME} is missing or damaged: {error}") from None
    for name, value in removed.items():
        if value != _REMOVED[name]:
            raise TrainError(
                f"cannot resume {run}: it was made with {name}={value!r}, an option that was removed; go on with the "
                f"version tagged {REMOVED_AT}, or begin a new run with its weights: --start {run}"
            )
    return saved.with_options(resume=run, **changes)
