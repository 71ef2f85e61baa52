"""Tables as text for people."""

from __future__ import annotations

import re

import numpy as np

from hearts_env.cards import NO_SEAT, names_in
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.engine import legal
from hearts_env.game.rulebook import absolute, relative
from hearts_env.game.state import MOON, PASS, PHASE_NAMES, PLAY, State
from hearts_env.game.view import View, view
from hearts_env.text.notation import SUIT_SIGNS, show_suits

_SUIT = re.compile(rf"[{SUIT_SIGNS}][2-9TJQKA]+")
_COLOURS = dict(zip(SUIT_SIGNS, ("32", "34", "31", "1"), strict=True))
"""A four-colour pack in ANSI codes: clubs green, diamonds blue, hearts red, spades bold."""


def show_view(seen: View, row: int = 0) -> str:
    """A View as text, a line a seat; of other hands their size, and the cards that the viewer passed to them."""
    hands = [_hand(seen, row, int(seen.hand[row]), int(seen.picks[row]))]
    for seat in range(1, seen.rules.num_players):
        size = seen.rules.hand_size - int(seen.played[row, seat]).bit_count()
        known = int(seen.known[row, seat])
        hands.append(f"{size} cards" + (f", among them {show_suits(known, signs=True)}" if known else ""))
    return _show(seen, row, hands, int(seen.legal[row]))


def show_state(rules: CompiledRules, state: State, row: int = 0) -> str:
    """Everything at one table, all hands face up, a line a seat."""
    one = state.take(np.array([row]))
    seen = view(rules, one, [0])
    hands = [_hand(seen, 0, int(hand), int(picks)) for hand, picks in zip(one.hands[0], one.picks[0], strict=True)]
    return _show(seen, 0, hands, int(legal(rules, one)[0]))


def coloured(text: str) -> str:
    """The text coloured for a terminal: cards in the colour of their suit."""
    return _SUIT.sub(lambda cards: f"\x1b[{_COLOURS[cards[0][0]]}m{cards[0]}\x1b[0m", text)


def headline(seen: View, row: int = 0) -> str:
    """Where the game stands: `deal 0, pass left, trick 3 of 13, hearts broken`."""
    rules, phase = seen.rules, int(seen.phase[row])
    parts = [f"deal {seen.deal_no[row]}, {_offset(rules.num_players, int(seen.offset[row]))}"]
    if phase == PASS:
        parts.append(f"pick {seen.count[row] // rules.num_players + 1} of {rules.pass_count}")
    elif phase == PLAY:
        parts.append(f"trick {seen.trick_no[row] + 1} of {rules.hand_size}")
    else:
        parts.append("moon choice" if phase == MOON else PHASE_NAMES[phase])
    if seen.broken[row]:
        parts.append("hearts broken")
    return ", ".join(parts)


def _show(seen: View, row: int, hands: list[str], actions: int) -> str:
    """hands: the text of each, from the viewer on."""
    seats, me, turn = seen.rules.num_players, int(seen.seat[row]), int(seen.turn[row])
    lines = [headline(seen, row), "  seat score points trick hand"]
    for seat in range(seats):
        at = relative(seats, seat, me)
        card = int(seen.played[row, at] & seen.table[row])
        played = show_suits(card, signs=True) if card else ""
        mark = ">" if at == turn else " "
        numbers = f"{seen.scores[row, at]:5} {seen.points[row, at]:6}"
        lines.append(f"{mark} {seat:4} {numbers} {played:>5} {hands[at]}")
    if turn != NO_SEAT and actions:
        lines.append(f"seat {absolute(seats, turn, me)} may {_verb(seen, row)} {' '.join(names_in(actions))}")
    return "\n".join(lines)


def _hand(seen: View, row: int, hand: int, picks: int) -> str:
    text = show_suits(hand, signs=True)
    return f"{text}  picked {show_suits(picks, signs=True)}" if picks and seen.phase[row] == PASS else text


def _verb(seen: View, row: int) -> str:
    return {PASS: "pick", PLAY: "play", MOON: "choose"}[int(seen.phase[row])]


def _offset(seats: int, offset: int) -> str:
    names = {0: "hold", 1: "pass left", seats - 1: "pass right"}
    if seats % 2 == 0:
        names.setdefault(seats // 2, "pass across")
    return names.get(offset, f"pass {offset} to the left")
