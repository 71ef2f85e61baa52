"""Tables under random rules for the tests: the oracle's deals and the engine's State, side by side."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import oracle
from hearts_env.cards import card_set, cards_in
from hearts_env.game.compiled_rules import CompiledRules, compiled_rules
from hearts_env.game.engine import deal, legal
from hearts_env.game.rules import Rules
from hearts_env.game.state import State

Hands = Sequence[Sequence[Iterable[int]]]
"""The cards of each seat, at each table."""


@dataclass
class Pair:
    """The same deals in the oracle and in the engine."""

    rules: Rules
    compiled: CompiledRules
    deals: list[oracle.Deal]
    state: State


def random_pair(chance: random.Random, tables: int) -> Pair:
    """`tables` deals, biased towards corners, under one random set of rules."""
    changes = oracle.random_rules(chance)
    resolved = oracle.rules(**changes)
    hands = [oracle.random_hands(chance, resolved) for _ in range(tables)]
    totals = [oracle.random_totals(chance, resolved) for _ in range(tables)]
    numbers = [chance.randrange(8) for _ in range(tables)]
    return dealt(changes, hands, numbers, totals, key=np.arange(tables))


def dealt(
    changes: dict[str, Any],
    hands: Hands,
    deal_no: Sequence[int],
    scores: Sequence[Sequence[int]],
    key: int | np.ndarray = 0,
) -> Pair:
    """Tables with these hands: a deal of this number at these scores.  changes: the rules' fields that differ."""
    rules = Rules.from_dict(changes)
    compiled = compiled_rules(rules)
    resolved = oracle.rules(**changes)
    deals = [
        oracle.Deal(resolved, cards, deal_no=number, totals=total)
        for cards, number, total in zip(hands, deal_no, scores, strict=True)
    ]
    state = State.empty(compiled, len(deals))
    deal(compiled, state, as_sets(hands), deal_no=deal_no, scores=scores, key=key)
    return Pair(rules, compiled, deals, state)


def as_sets(hands: Hands) -> np.ndarray:
    """The hands as card sets, int64 [N, P]."""
    return np.array([[card_set(cards) for cards in each] for each in hands], np.int64)


def random_actions(chance: random.Random, rules: CompiledRules, state: State) -> np.ndarray:
    """A random legal action for each table; 0 where the deal is over.  int64 [N]."""
    sets = legal(rules, state)
    return np.array([chance.choice(cards_in(cards)) if cards else 0 for cards in sets], np.int64)
