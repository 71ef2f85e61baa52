"""The candidate actions of the search agent: cards to play, sets of cards to pass, and the plan to shoot the moon."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hearts_env.cards import NUM_ACTIONS, NUM_CARDS, NUM_RANKS, Bools, Ints, card_set, cards_in
from hearts_env.game.compiled_rules import PARTNER, CompiledRules
from hearts_env.game.view import View


@dataclass(frozen=True)
class CandidateActions:
    """K candidate actions for N views; those of one view stand together, the base policy's first."""

    owner: Ints  # int64 [K]  the row of the view, ascending from 0
    actions: Ints  # int64 [K, D]  the viewer's own next actions: a card, a moon choice, or all cards to pass
    moon: Bools  # bool [K]  the viewer then plays for the moon, else by the base policy
    extra: Bools  # bool [K]  only evaluated: it cannot be chosen, and changes nothing about the others

    def __len__(self) -> int:
        return len(self.owner)

    @property
    def starts(self) -> Ints:
        """int64 [N]: the first candidate of each view."""
        return np.flatnonzero(np.diff(self.owner, prepend=-1))

    @property
    def first(self) -> Ints:
        """int64 [K]: the first candidate of the same view."""
        return self.starts[self.owner]


Plan = tuple[list[int], bool]
"""The actions of a candidate, and whether they are for the moon."""


def can_shoot(view: View) -> Bools:
    """bool [N]: there are moons, and no opponent has taken a penalty card."""
    rules = view.rules
    if rules.rules.moon == "none":
        return np.zeros(len(view), np.bool_)
    together = rules.teams and rules.rules.team_moon == "team"
    others = [seat for seat in range(1, rules.num_players) if not (together and seat == PARTNER)]
    can: Bools = (np.bitwise_or.reduce(view.taken[:, others], axis=1) & rules.play.penalty) == 0
    return can


def play_candidates(view: View, base: Ints, moon: Ints) -> CandidateActions:
    """A candidate for each kind of card (or moon choice) that is legal, and one for the moon while there may be one.

    base, moon: int64 [N], the actions of these policies.
    """
    points, shoots = _points(view.rules), can_shoot(view)
    barriers = view.out | view.table
    candidates: list[list[Plan]] = []
    for row, first in enumerate(base.tolist()):
        cards = kinds(int(view.legal[row]), int(barriers[row]), points, first)
        plain: list[Plan] = [([card], False) for card in [first, *(card for card in cards if card != first)]]
        candidates.append(plain + [([int(moon[row])], True)] * bool(shoots[row]))
    return _joined(candidates)


def pass_candidates(view: View, base: Ints, moon: Ints) -> CandidateActions:
    """The pass of the base policy, each with one card changed for another, and the pass for a moon, as candidates.

    view: before the seat's first pick.  base, moon: int64 [N, D], all picks of these policies.
    """
    points, shoots = _points(view.rules), can_shoot(view)
    candidates: list[list[Plan]] = []
    for row, picks in enumerate(base.tolist()):
        others = kinds(int(view.legal[row]) & ~card_set(picks), int(view.out[row]), points)
        changed = [[*picks[:at], card, *picks[at + 1 :]] for at in range(len(picks)) for card in others]
        plain: list[Plan] = [(each, False) for each in [picks, *changed]]
        candidates.append(plain + [(moon[row].tolist(), True)] * bool(shoots[row]))
    return _joined(candidates)


def kinds(actions: int, barrier: int, points: list[int], favourite: int = -1) -> list[int]:
    """One action of each kind in a set, lowest first.

    Cards of a suit that are worth the same are alike if nobody else can play one that lies between.  barrier: the
    cards that others hold or that lie on the table.  points: of each action.  favourite: is taken for its kind.
    """
    found: list[int] = []
    last = -1
    for card in cards_in(actions):
        same_suit = last >= 0 and card < NUM_CARDS and card // NUM_RANKS == last // NUM_RANKS
        if same_suit and points[card] == points[last] and barrier & ((1 << card) - (1 << last)) == 0:
            found[-1] = card if card == favourite else found[-1]
        else:
            found.append(card)
        last = card
    return found


def with_extra(candidates: CandidateActions, also: Ints) -> CandidateActions:
    """The candidates with an extra one for each view that lacks these actions, in whatever order they are.

    also: int64 [N, D], its actions.
    """
    same = (np.sort(candidates.actions, axis=1) == np.sort(also, axis=1)[candidates.owner]).all(axis=1)
    missing = np.flatnonzero(np.bincount(candidates.owner, same & ~candidates.moon, len(also)) == 0)
    owner = np.concatenate([candidates.owner, missing])
    order = np.argsort(owner, kind="stable")
    return CandidateActions(
        owner=owner[order],
        actions=np.concatenate([candidates.actions, also[missing]])[order],
        moon=np.concatenate([candidates.moon, missing < 0])[order],
        extra=np.concatenate([candidates.extra, missing >= 0])[order],
    )


def _joined(candidates: list[list[Plan]]) -> CandidateActions:
    sizes = [len(each) for each in candidates]
    flat = [plan for each in candidates for plan in each]
    return CandidateActions(
        owner=np.repeat(np.arange(len(candidates)), sizes),
        actions=np.array([actions for actions, _ in flat], np.int64),
        moon=np.array([moon for _, moon in flat], np.bool_),
        extra=np.zeros(len(flat), np.bool_),
    )


def _points(rules: CompiledRules) -> list[int]:
    """The points of each card; 0 for the moon choices."""
    points = [0] * NUM_ACTIONS
    for cards, each in rules.point_sets:
        for card in cards_in(cards):
            points[card] = each
    return points
