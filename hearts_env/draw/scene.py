"""The scene of one table: everything that a picture or a notebook draws of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hearts_env.cards import NO_CARD, cards_in
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.rulebook import relative
from hearts_env.game.state import PASS, State
from hearts_env.game.view import View, view
from hearts_env.text.render import headline


@dataclass(frozen=True)
class Place:
    """One seat, as far as the viewer sees it."""

    seat: int
    score: int
    points: int
    cards: tuple[int, ...]
    """Cards held that are shown, suit by suit."""
    hidden: int
    """Cards held that are not."""
    picks: frozenset[int]
    """Of the cards shown, those picked to pass."""
    trick: int
    """The card in the current trick, or NO_CARD."""
    to_act: bool


@dataclass(frozen=True)
class Scene:
    """A table: where the game stands, and its seats in their order."""

    headline: str
    places: tuple[Place, ...]


def scene_of_state(rules: CompiledRules, state: State, row: int = 0) -> Scene:
    """One table with all hands face up."""
    one = state.take(np.array([row]))
    seen = view(rules, one, [0])
    shown = [(int(hand), int(picks)) for hand, picks in zip(one.hands[0], one.picks[0], strict=True)]
    return _scene(seen, 0, shown)


def scene_of_view(seen: View, row: int = 0) -> Scene:
    """One table as one seat sees it: its own hand, and of the others those cards that it passed to them."""
    shown = [(int(cards), 0) for cards in seen.known[row]]
    shown[0] = (int(seen.hand[row]), int(seen.picks[row]))
    return _scene(seen, row, shown)


def _scene(seen: View, row: int, shown: list[tuple[int, int]]) -> Scene:
    """shown: hand and picks of each seat, from the viewer on."""
    seats, me = seen.rules.num_players, int(seen.seat[row])
    places = []
    for seat in range(seats):
        at = relative(seats, seat, me)
        cards, picks = shown[at]
        trick = int(seen.played[row, at] & seen.table[row])
        held = seen.rules.hand_size - int(seen.played[row, at]).bit_count()
        places.append(
            Place(
                seat=seat,
                score=int(seen.scores[row, at]),
                points=int(seen.points[row, at]),
                cards=tuple(cards_in(cards)),
                hidden=held - cards.bit_count(),
                picks=frozenset(cards_in(picks)) if seen.phase[row] == PASS else frozenset(),
                trick=trick.bit_length() - 1 if trick else NO_CARD,
                to_act=at == int(seen.turn[row]),
            )
        )
    return Scene(headline(seen, row), tuple(places))
