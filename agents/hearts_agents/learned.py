"""Rules that an agent has learned, and the one warning where it plays by others."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hearts_env.game.rules import Rules

LOGGER = logging.getLogger("hearts_agents.learned")
CONFIG_NAME = "config.json"
"""The settings in a run directory, beside its weights."""
_warned: set[tuple[str, Rules]] = set()


def warn_once(name: str, rules: Rules) -> None:
    """Warn, once in a process, that the agent of that name plays by rules that it has not learned."""
    if (name, rules) not in _warned:
        _warned.add((name, rules))
        LOGGER.warning("hearts_agents: %s", unlearned(name, rules))


def unlearned(name: str, rules: Rules) -> str:
    """The sentence for people on an agent that has not learned these rules."""
    return f"{name} has not learned the rules {rules.show()}: its play under them is legal, and may be poor"


def rules_beside(weights: Path, trained_on: Rules) -> frozenset[Rules]:
    """All rules that a network has learned: those in its header, and those that the file of its run names.

    weights: the file; the settings of its run stand beside it, in config.json or, for released weights, in a file of
    the same name that ends with .json.  Files that are missing, or say something else, add nothing.
    """
    found = {trained_on}
    for path, keys in ((weights.with_suffix(".json"), ("training", "config")), (weights.parent / CONFIG_NAME, ())):
        try:
            content: Any = json.loads(path.read_text(encoding="utf-8"))
            for key in keys:
                content = content[key]
            settings = _flat(content)
            found.update(_parsed([settings["rules"], *settings["also_rules"]]))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
    return frozenset(found)


def _flat(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a run by their names alone: a file may have them in groups."""
    groups = [value for value in settings.values() if isinstance(value, dict)]
    return settings | {name: value for group in groups for name, value in group.items()}


def _parsed(texts: Iterable[object]) -> list[Rules]:
    """The rules that these texts name.  Raises RulesError for what names none."""
    return [Rules.parse(text) for text in texts if isinstance(text, str)]
