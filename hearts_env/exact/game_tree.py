"""Every way that the deals of a small pack can go: the game tree as arrays, level by level."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import NO_CARD, NO_SEAT, NUM_ACTIONS, Ints, Sets, bit, members
from hearts_env.game.compiled_rules import CompiledRules, compiled_rules
from hearts_env.game.engine import deal, mix, step
from hearts_env.game.rewards import Rewards, payoff
from hearts_env.game.rules import Rules
from hearts_env.game.state import State
from hearts_env.game.view import View, view

MAX_WIDTH = 4_000_000
"""Positions that a level of a tree may have: with the States of two levels at once, some gigabytes."""


class TreeError(ValueError):
    """A game whose tree is too large to write down."""


@dataclass(frozen=True)
class Level:
    """All positions after so many actions: M of them, the children of one parent side by side, lowest action first.

    An information set holds the positions that look the same to the seat to act: those of equal Views.  All of its
    positions are in one level, since everybody knows how many actions there have been.
    """

    parent: NDArray[np.int32]  # int32 [M]  row of the level before; -1 in the first level
    action: NDArray[np.int8]  # int8 [M]  what led here; NO_CARD in the first level
    seat: NDArray[np.int8]  # int8 [M]  seat to act; NO_SEAT where the deal is over
    infoset: NDArray[np.int32]  # int32 [M]  the information set, a row of `views`; -1 where the deal is over
    views: View  # K views, one of each information set
    payoffs: Rewards  # float64 [M, P]  `rewards.payoff` where the deal is over, else 0

    def __len__(self) -> int:
        return len(self.parent)


@dataclass(frozen=True)
class Tree:
    """The game of one deal under small rules.  The first level holds every deal of the pack, all equally likely."""

    rules: CompiledRules
    levels: tuple[Level, ...]

    @property
    def deals(self) -> int:
        """Deals of the pack."""
        return len(self.levels[0])

    @property
    def positions(self) -> int:
        """Positions in all, ended ones included."""
        return sum(map(len, self.levels))

    @property
    def endings(self) -> int:
        """Positions in which the deal is over: ways that a deal can go."""
        return sum(int((level.seat == NO_SEAT).sum()) for level in self.levels)

    @property
    def infosets(self) -> Ints:
        """Information sets of each seat, int64 [P]."""
        seats = [np.bincount(level.views.seat, minlength=self.rules.num_players) for level in self.levels]
        total: Ints = np.sum(seats, axis=0)
        return total


def count_deals(rules: CompiledRules) -> int:
    """How many different deals the pack has: who holds which cards, in whatever order they came."""
    size, dead = rules.hand_size, rules.rules.dead_cards
    orders = int(math.factorial(size) ** rules.num_players) * math.factorial(dead)
    return math.factorial(len(rules.deck_cards)) // orders


def all_deals(rules: CompiledRules) -> Sets:
    """Every deal of the pack, int64 [M, P], in the order of who holds the lowest card, the next, and so on.

    Raises TreeError where there are more than MAX_WIDTH.
    """
    _check_width(rules, 0, count_deals(rules))
    hands = np.zeros((1, rules.num_players + 1), np.int64)  # the last column is the dead cards
    room = np.array([[rules.hand_size] * rules.num_players + [rules.rules.dead_cards]])
    for card in rules.deck_cards:
        row, place = np.nonzero(room)
        hands, room = hands[row], room[row]
        hands[np.arange(len(row)), place] |= bit(card)
        room[np.arange(len(row)), place] -= 1
    return hands[:, : rules.num_players]


def grow(rules: Rules, deal_no: int = 0) -> Tree:
    """The tree of every deal under these rules, at scores of 0.

    deal_no: decides pass offset and dealer.  Raises TreeError where a level has more than MAX_WIDTH positions.
    """
    compiled = compiled_rules(rules)
    hands = all_deals(compiled)
    state = State.empty(compiled, len(hands))
    deal(compiled, state, hands, deal_no=deal_no, scores=0)
    parent, action = np.full(len(state), -1), np.full(len(state), NO_CARD)
    levels: list[Level] = []
    while True:
        open_rows = np.flatnonzero(~state.over)
        going = state.take(open_rows)
        seen = view(compiled, going)
        levels.append(_level(compiled, state, parent, action, open_rows, seen))
        if len(open_rows) == 0:
            return Tree(compiled, tuple(levels))
        _check_width(compiled, len(levels), int(np.bitwise_count(seen.legal).sum()))
        row, action = np.nonzero(members(seen.legal, NUM_ACTIONS))
        parent = open_rows[row]
        state = going.take(row)
        step(compiled, state, action)


def _level(rules: CompiledRules, state: State, parent: Ints, action: Ints, open_rows: Ints, seen: View) -> Level:
    first, which = information_sets(seen)
    infoset = np.full(len(state), -1, np.int32)
    infoset[open_rows] = which
    return Level(
        parent=parent.astype(np.int32),
        action=action.astype(np.int8),
        seat=state.turn.copy(),
        infoset=infoset,
        views=seen.take(first),
        payoffs=np.where(state.over[:, None], payoff(rules, state.points), 0.0),
    )


def information_sets(seen: View) -> tuple[Ints, Ints]:
    """Which views are equal: a row of each different view, int64 [K], and for each view which of those, int64 [N].

    Equal is equal in every field but the keys that agents draw random numbers from.
    """
    columns: list[NDArray[np.integer]] = []
    for field in fields(seen)[1:]:
        if field.name != "table_key":
            array = getattr(seen, field.name)
            columns += [array] if array.ndim == 1 else list(array.T)
    hashed = np.zeros(len(seen), np.uint64)
    for column in columns:
        hashed = mix(hashed ^ mix(column.astype(np.int64).view(np.uint64)))
    _, first, which = np.unique(hashed, return_index=True, return_inverse=True)
    same = all((column == column[first][which]).all() for column in columns)
    assert same, "two different views have one hash"
    return first, which


def _check_width(rules: CompiledRules, level: int, width: int) -> None:
    if width > MAX_WIDTH:
        raise TreeError(
            f"the game tree of {rules.rules.show()} has {width:,} positions after {level} actions, more than "
            f"{MAX_WIDTH:,}: take fewer cards, fewer cards passed, or another deck, as in Rules.preset('small_two')"
        )
