"""Requests of the protocol: Views to lines of JSON, and such lines to the same Views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hearts_agents.external.protocol import ProtocolError, parse_id, whole
from hearts_env.cards import (
    ACTION_NAMES,
    ALL_CARDS,
    CARD_NAMES,
    MOON_CHOICES,
    NO_CARD,
    NO_SEAT,
    NUM_ACTIONS,
    NUM_CARDS,
    Bools,
    Ints,
    Sets,
    count,
    members,
)
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.engine import deal, mix, pass_offset, step
from hearts_env.game.rulebook import exchanged, giver, legal_picks, picked_by_all, relative, seat_after
from hearts_env.game.state import MOON, PASS, PHASE_NAMES, PLAY, State
from hearts_env.game.view import View, view
from hearts_env.text.record import MAX_NUMBER, MAX_SCORE

PHASES = PHASE_NAMES[: MOON + 1]
_MAX_SEATS = 7

# All entries have the same length, so that a list of cards is a stretch of a long text and nothing is joined.
_CARDS = np.array([f'"{name}",' for name in CARD_NAMES], "S5")
_PLAYS = np.array([f'[{seat},"{name}"],' for seat in range(_MAX_SEATS) for name in CARD_NAMES], "S9")
_CHOICES = b'"add","subtract"'
_REQUEST = (
    b'{"id":%d,"seat":%d,"phase":"%b","hand":[%b],"legal":[%b],"deal_no":%d,"pass_offset":%d,'
    b'"passed":[%b],"received":[%b],"plays":[%b],"totals":[%b],"points":[%b]}\n'
)


# -- asking ----------------------------------------------------------------------------------------------------------


def request_lines(seen: View, first_id: int) -> list[bytes]:
    """A request for each view in which it is the viewer's turn, with ids from `first_id` on."""
    phases = [PHASES[phase].encode() for phase in seen.phase.tolist()]
    legal = _card_lists(seen.legal & ALL_CARDS)
    for row in np.flatnonzero(seen.phase == MOON):
        legal[row] = _CHOICES
    columns = zip(
        range(first_id, first_id + len(seen)),
        seen.seat.tolist(),
        phases,
        _card_lists(seen.hand),
        legal,
        seen.deal_no.tolist(),
        seen.offset.tolist(),
        _card_lists(seen.picks),
        _card_lists(seen.got),
        _play_lists(seen),
        _by_seat(seen, seen.scores),
        _by_seat(seen, seen.points),
        strict=True,
    )
    return [_REQUEST % column for column in columns]


def _card_lists(sets: Sets) -> list[bytes]:
    """The names of the cards of each set as the inside of a JSON list."""
    text = _CARDS[np.nonzero(members(sets))[1]].tobytes()
    ends = (np.cumsum(count(sets)) * _CARDS.itemsize).tolist()
    return [text[begin : max(begin, end - 1)] for begin, end in zip([0, *ends], ends, strict=False)]


def _play_lists(seen: View) -> list[bytes]:
    """The plays of each view so far as the inside of a JSON list of pairs."""
    codes = _codes(seen.rules.num_players)[seen.leaders].reshape(seen.plays.shape) + seen.plays
    text = _PLAYS.take(codes, mode="clip").tobytes()
    width = codes.shape[1] * _PLAYS.itemsize
    begins = range(0, len(seen) * width, width)
    sizes = np.count_nonzero(seen.plays != NO_CARD, axis=1) * _PLAYS.itemsize
    return [text[begin : begin + max(0, size - 1)] for begin, size in zip(begins, sizes.tolist(), strict=True)]


@cache
def _codes(seats: int) -> NDArray[np.int16]:
    """int16 [P, P]: by the leader of a trick, where in _PLAYS the cards begin of each seat that plays, in order."""
    order = np.arange(seats)
    codes: NDArray[np.int16] = (seat_after(seats, order[:, None], order) * NUM_CARDS).astype(np.int16)
    return codes


def _by_seat(seen: View, values: Ints) -> list[bytes]:
    """Numbers by seat of the table as the inside of a JSON list.  values: int64 [N, P], relative."""
    seats = seen.rules.num_players
    order = relative(seats, np.arange(seats), seen.seat[:, None])
    form = b",".join([b"%d"] * seats)
    return [form % tuple(row) for row in np.take_along_axis(values, order, axis=1).tolist()]


# -- being asked -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it was read: every value of the right kind, nothing compared yet."""

    id: int
    seat: int
    phase: int
    hand: int
    legal: int
    deal_no: int
    pass_offset: int
    passed: int
    received: int
    plays: tuple[tuple[int, int], ...]
    """(seat, card) in order."""
    totals: tuple[int, ...]
    points: tuple[int, ...]


_ACTION_BITS = {name: 1 << action for action, name in enumerate(ACTION_NAMES[:NUM_ACTIONS])}
_CARD_BITS = {name: 1 << card for card, name in enumerate(CARD_NAMES)}
_CARD_OF_NAME = {name: card for card, name in enumerate(CARD_NAMES)}


def parse_request(rules: CompiledRules, payload: Mapping[str, Any]) -> Request:
    """The request in what JSON gave.  Keys that the protocol does not know are ignored.

    Raises ProtocolError for what is missing or of the wrong kind; `view_of` checks that the values fit together.
    """
    seats = rules.num_players
    number = parse_id(payload)
    try:
        phase = payload["phase"]
        if phase not in PHASES:
            raise ProtocolError(f"phase is {phase!r:.60}: must be one of {', '.join(PHASES)}")
        return Request(
            id=number,
            seat=whole("seat", payload["seat"], 0, seats - 1),
            phase=PHASES.index(phase),
            hand=_set("hand", payload["hand"], _CARD_BITS),
            legal=_set("legal", payload["legal"], _ACTION_BITS),
            deal_no=whole("deal_no", payload["deal_no"], 0, MAX_NUMBER),
            pass_offset=whole("pass_offset", payload["pass_offset"], 0, seats - 1),
            passed=_set("passed", payload["passed"], _CARD_BITS),
            received=_set("received", payload["received"], _CARD_BITS),
            plays=_plays(rules, payload["plays"]),
            totals=_numbers("totals", payload["totals"], seats),
            points=_numbers("points", payload["points"], seats),
        )
    except KeyError as error:
        raise ProtocolError(f"request {number}: {error.args[0]} is missing") from None
    except ProtocolError as error:
        raise ProtocolError(f"request {number}: {error}") from None


def _set(name: str, value: Any, bits: Mapping[str, int]) -> int:
    if not isinstance(value, list):
        raise ProtocolError(f"{name} is {value!r:.60}: must be a list of cards")
    found = 0
    for item in value:
        one = bits.get(item, 0) if isinstance(item, str) else 0
        if not one or found & one:
            raise ProtocolError(f"{name}: {item!r:.60} {'stands twice' if one else 'is no card'}")
        found |= one
    return found


def _plays(rules: CompiledRules, value: Any) -> tuple[tuple[int, int], ...]:
    if not isinstance(value, list) or len(value) > rules.num_plays:
        raise ProtocolError(f"plays is {value!r:.60}: must be a list of at most {rules.num_plays} plays")
    plays = []
    for item in value:
        if not isinstance(item, list) or len(item) != 2 or not isinstance(item[1], str) or item[1] not in _CARD_OF_NAME:
            raise ProtocolError(f"plays: {item!r:.60} is no seat and card, as in [0, '2C']")
        plays.append((whole("plays", item[0], 0, rules.num_players - 1), _CARD_OF_NAME[item[1]]))
    return tuple(plays)


def _numbers(name: str, value: Any, seats: int) -> tuple[int, ...]:
    if not isinstance(value, list) or len(value) != seats:
        raise ProtocolError(f"{name} is {value!r:.60}: must be a list of {seats} numbers, one a seat")
    return tuple(whole(name, item, -MAX_SCORE, MAX_SCORE) for item in value)


def view_of(rules: CompiledRules, requests: Sequence[Request]) -> View:
    """The Views that the requests were made from, in their order.

    All is as it was but `View.key`, which requests do not carry: it is made from the viewer's hand as dealt, so that
    an agent that draws random numbers plays a deal the same way each time that it is asked.

    Raises ProtocolError where values do not fit together: cards that are not in the pack or in two places, plays out
    of turn, a hand of the wrong size.  What other seats may play is left to the other end.
    """
    played = _played(rules, requests)
    _check_cards(rules, requests, played)
    state = _begun(rules, requests, played)
    _carry_out(rules, state, requests)
    _refuse(requests, state.phase != _column(requests, "phase"), "the deal is in another phase after these plays")
    _refuse(requests, state.turn != _column(requests, "seat"), "it is not this seat's turn")
    seen = view(rules, state)
    seen.legal = _column(requests, "legal")
    order = seat_after(rules.num_players, seen.seat[:, None], np.arange(rules.num_players))
    points = np.take_along_axis(_column(requests, "points"), order, axis=1)
    _refuse(requests, (points != seen.points).any(axis=1), "points are not those of the cards taken")
    return seen


def _column(requests: Sequence[Request], name: str) -> Any:
    """int64 [N], or [N, P] where there is one a seat."""
    return np.array([getattr(request, name) for request in requests], np.int64)


def _refuse(requests: Sequence[Request], wrong: Bools, reason: str) -> None:
    if wrong.any():
        raise ProtocolError(f"request {requests[int(np.argmax(wrong))].id}: {reason}")


def _played(rules: CompiledRules, requests: Sequence[Request]) -> Sets:
    """The cards that each seat has played, int64 [N, P].  Raises ProtocolError if a card was played twice."""
    played = np.zeros((len(requests), rules.num_players), np.int64)
    for row, request in enumerate(requests):
        sets = [0] * rules.num_players
        for seat, card in request.plays:
            sets[seat] |= 1 << card
        if sum(sets).bit_count() != len(request.plays):
            raise ProtocolError(f"request {request.id}: plays: a card stands twice")
        played[row] = sets
    return played


def _check_cards(rules: CompiledRules, requests: Sequence[Request], played: Sets) -> None:
    hand, legal, seat = (_column(requests, name) for name in ("hand", "legal", "seat"))
    passed, received, phase = (_column(requests, name) for name in ("passed", "received", "phase"))
    offset = pass_offset(rules, _column(requests, "deal_no"))
    out = np.bitwise_or.reduce(played, axis=1)
    own = hand | played[np.arange(len(requests)), seat]
    passing, choosing = phase == PASS, phase == MOON
    due = np.where(offset == 0, 0, rules.pass_count)
    may = np.where(passing, legal_picks(rules.play, hand, passed), np.where(choosing, MOON_CHOICES, hand))
    allowed = rules.rules.moon == "choice"
    for wrong, reason in (
        ((hand | passed | received | out) & ~rules.deck != 0, "a card is not in the pack of these rules"),
        (hand & out != 0, "a card is in the hand that has been played"),
        (count(own) != rules.hand_size, f"hand and own plays are not the {rules.hand_size} cards of a hand"),
        ((legal == 0) | (legal & ~may != 0), "legal must hold actions that the phase and the hand allow"),
        ((phase != PLAY) & (legal != may), "legal must be the hand without the picks, or both moon choices"),
        (offset != _column(requests, "pass_offset"), "pass_offset is not that of deal_no under these rules"),
        (passing & ((out != 0) | (received != 0)), "there are plays or cards received before the pass"),
        (passing & ((passed & ~hand != 0) | (count(passed) >= due)), "passed must be picks from the hand, not yet all"),
        (~passing & ((count(passed) != due) | (count(received) != due)), "the cards passed and received are not all"),
        (~passing & ((passed & own != 0) | (received & ~own != 0)), "a card passed is held, or one received is not"),
        (choosing & ((hand != 0) | (not allowed)), "a moon choice needs an empty hand, and rules that have it"),
    ):
        _refuse(requests, wrong, reason)


def _begun(rules: CompiledRules, requests: Sequence[Request], played: Sets) -> State:
    """The tables before the first play, as far as the viewer can tell: others hold what they are going to play."""
    rows, seat = np.arange(len(requests)), _column(requests, "seat")
    hand, passed, received = (_column(requests, name) for name in ("hand", "passed", "received"))
    # The pass backwards.
    dealt = exchanged(hand | played[rows, seat], received, passed)
    number = _column(requests, "deal_no")
    held = played.copy()
    held[rows, seat] |= hand
    state = State.empty(rules, len(requests))
    key = mix(mix(dealt.view(np.uint64)) + number.view(np.uint64)).view(np.int64)
    deal(rules, state, held, deal_no=number, scores=_column(requests, "totals"), key=key)
    state.picks[rows, giver(rules.num_players, seat, pass_offset(rules, number))] = received
    state.picks[rows, seat] = passed
    passing = _column(requests, "phase") == PASS
    leader = np.array([request.plays[0][0] if request.plays else request.seat for request in requests])
    state.phase[:] = np.where(passing, PASS, PLAY)
    state.count[:] = np.where(passing, picked_by_all(rules.num_players, seat, count(passed)), 0)
    state.turn[:] = np.where(passing, seat, leader)
    state.leaders[:, 0] = np.where(passing, NO_SEAT, leader)
    return state


def _carry_out(rules: CompiledRules, state: State, requests: Sequence[Request]) -> None:
    """Carry out the plays.  Changes `state`.  Raises ProtocolError for one out of turn."""
    length = np.array([len(request.plays) for request in requests])
    longest = int(length.max(initial=0))
    padded = np.array(
        [(*request.plays, *[(NO_SEAT, NO_CARD)] * (longest - len(request.plays))) for request in requests], np.int64
    ).reshape(len(requests), longest, 2)
    for place in range(longest):
        going = length > place
        seats: NDArray[np.int64] = padded[:, place, 0]
        _refuse(requests, going & (seats != state.turn), f"play number {place} is out of turn")
        if going.all():
            step(rules, state, padded[:, place, 1])
        else:
            rows = np.flatnonzero(going)
            part = state.take(rows)
            step(rules, part, padded[rows, place, 1])
            state.put(rows, part)
