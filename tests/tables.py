"""Tables under random rules for the tests: the oracle's deals and the engine's State, side by side."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

import oracle
from hearts_env.cards import card_set, cards_in
from hearts_env.engine import deal, legal
from hearts_env.lookup import Lookup, lookup
from hearts_env.rules import Rules
from hearts_env.state import State


@dataclass
class Pair:
    """The same deals in the oracle and in the engine."""

    rules: Rules
    lookup: Lookup
    deals: list[oracle.Deal]
    state: State


def random_pair(chance: random.Random, tables: int) -> Pair:
    """`tables` deals, biased towards corners, under one random set of rules."""
    changes = oracle.random_rules(chance)
    resolved = oracle.rules(**changes)
    rules = Rules.from_dict(changes)
    info = lookup(rules)
    hands = [oracle.random_hands(chance, resolved) for _ in range(tables)]
    totals = [oracle.random_totals(chance, resolved) for _ in range(tables)]
    numbers = [chance.randrange(8) for _ in range(tables)]
    deals = [
        oracle.Deal(resolved, hand, deal_no=number, totals=total)
        for hand, number, total in zip(hands, numbers, totals, strict=True)
    ]
    state = State.empty(info, tables)
    sets = np.array([[card_set(cards) for cards in hand] for hand in hands], np.int64)
    deal(info, state, sets, deal_no=numbers, scores=totals, key=np.arange(tables))
    return Pair(rules, info, deals, state)


def random_actions(chance: random.Random, info: Lookup, state: State) -> np.ndarray:
    """A random legal action for each table; 0 where the deal is over.  int64 [N]."""
    sets = legal(info, state)
    return np.array([chance.choice(cards_in(cards)) if cards else 0 for cards in sets], np.int64)
