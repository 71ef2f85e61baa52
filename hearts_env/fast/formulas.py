"""The functions outside this package that kernels call: formulas that take arrays and single numbers alike."""

from __future__ import annotations

from collections.abc import Callable
from inspect import isfunction
from typing import Any

from hearts_env.fast.jit import called, inner
from hearts_env.game import engine, random_play, rulebook

_LONG_RULES = (
    rulebook.shooter,
    rulebook.deal_points,
    rulebook.moon_value,
    rulebook.automatic_choice,
    rulebook.lowest,
    rulebook.is_over,
)
"""Seldom called, and as parts of one function these would take many seconds more to compile."""
_OTHERS: tuple[Callable[..., Any], ...] = (engine.mix, random_play.decision_key, random_play.fraction)
_RULES: list[Callable[..., Any]] = [
    rule for rule in vars(rulebook).values() if isfunction(rule) and rule.__module__ == rulebook.__name__
]

for _function in (*_RULES, *_OTHERS):
    _mark: Callable[..., Any] = called if _function in _LONG_RULES else inner
    _mark(_function)
