"""The game over whole arrays of tables: shuffle, deal, legal, step.

The numpy executor.  It trusts its input: an action that is not legal corrupts the table it is played at.  The
environments and `notation` check what comes from outside.  Tables may be in any mix of phases and tricks; when
all are in the same phase, which is the normal case, no rows are copied.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hearts_env.cards import (
    ADD,
    CLUBS,
    MOON_CHOICES,
    NO_CARD,
    NO_SEAT,
    NO_SUIT,
    NUM_SUITS,
    SUBTRACT,
    Bools,
    Ints,
    Sets,
    bit,
)
from hearts_env.lookup import Lookup
from hearts_env.rulebook import breaks, legal_follow, legal_lead
from hearts_env.scoring import automatic_choice, deal_points, is_over, reset_exact, shooter
from hearts_env.state import DEAL_OVER, GAME_OVER, MOON, PASS, PLAY, Rows, State

ALL = slice(None)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_CARD_BITS = np.uint64(63)
_CHUNK = 2048


def mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scrambled 64-bit numbers, one to one: the finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    z = numbers + _GOLDEN
    z ^= z >> np.uint64(30)
    z *= np.uint64(0xBF58476D1CE4E5B9)
    z ^= z >> np.uint64(27)
    z *= np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return z


def shuffle(lookup: Lookup, deal_ids: ArrayLike) -> Sets:
    """The hands of each deal id, int64 [N, P]: a pure function of the id, the same in every batch and everywhere.

    deal_ids: [N] whole numbers from 0 to 2**63 - 1.  Each card of the pack gets a hash of (id, card); sorted by it,
    the first H cards are seat 0's, the next H seat 1's, and so on; what is left is dead.
    """
    ids = np.asarray(deal_ids, np.int64).astype(np.uint64)
    hands = np.empty((len(ids), lookup.num_players), np.int64)
    for begin in range(0, len(ids), _CHUNK):
        hands[begin : begin + _CHUNK] = _shuffle(lookup, ids[begin : begin + _CHUNK])
    return hands


def _shuffle(lookup: Lookup, ids: NDArray[np.uint64]) -> Sets:
    cards = lookup.deck_cards.astype(np.uint64)
    keys = mix(mix(ids)[:, None] + cards * _GOLDEN)
    keys = keys & ~_CARD_BITS | cards
    keys.sort(axis=1)
    dealt = (keys[:, : lookup.num_plays] & _CARD_BITS).astype(np.int64)
    hands: Sets = np.add.reduce(bit(dealt).reshape(len(ids), lookup.num_players, lookup.hand_size), axis=2)
    return hands


def deal(
    lookup: Lookup,
    state: State,
    hands: Sets,
    *,
    rows: Rows = ALL,
    deal_no: ArrayLike | None = None,
    scores: ArrayLike | None = None,
    key: ArrayLike = 0,
) -> None:
    """Deal `hands` (int64 [rows, P], as from `shuffle`) at some tables.  Changes `state`.

    The next deal of the game follows: the deal number goes up, scores stay; where the game was over, a new one
    begins.  `deal_no` ([rows]) and `scores` ([rows, P]) set them instead.  key: int64 [rows], see State.
    """
    new_game = state.phase[rows] == GAME_OVER
    state.deal_no[rows] = np.where(new_game, 0, state.deal_no[rows] + 1) if deal_no is None else deal_no
    state.scores[rows] = np.where(new_game[:, None], 0, state.scores[rows]) if scores is None else scores
    state.key[rows] = key
    state.hands[rows] = hands
    state.start[rows] = hands
    for array, value in (
        (state.picks, 0),
        (state.taken, 0),
        (state.table, 0),
        (state.points, 0),
        (state.voids, 0),
        (state.plays, NO_CARD),
        (state.leaders, NO_SEAT),
        (state.phase, PASS),
        (state.turn, 0),
        (state.count, 0),
        (state.led, NO_SUIT),
        (state.best, NO_CARD),
        (state.best_seat, NO_SEAT),
        (state.shooter, NO_SEAT),
        (state.choice, NO_CARD),
        (state.broken, False),
    ):
        array[rows] = value
    holds = _within(rows, pass_offset(lookup, state.deal_no[rows]) == 0, len(state))
    if holds is not None:
        _begin_play(lookup, state, holds)


def single_deal_no(lookup: Lookup, deal_ids: Ints) -> Ints:
    """The number of a deal that is played alone: its id, modulo a cycle of pass offsets and dealers.  int64 [N]."""
    numbers: Ints = deal_ids % math.lcm(len(lookup.pass_offsets), lookup.num_players)
    return numbers


def pass_offset(lookup: Lookup, deal_no: NDArray[np.integer]) -> Ints:
    """The pass offset of each deal number: 0 hold, else the receiver sits so many seats on.  int64 [N]."""
    offsets: Ints = lookup.pass_offsets[deal_no % len(lookup.pass_offsets)]
    return offsets


def legal(lookup: Lookup, state: State) -> Sets:
    """The set of legal actions of the seat to act at each table, int64 [N]; 0 where the deal is over."""
    playing = state.phase == PLAY
    if playing.all():
        return _legal_plays(lookup, state)
    hand = _of_turn(state.hands, state.turn) & ~_of_turn(state.picks, state.turn)
    result = np.where(state.phase == PASS, hand, np.where(state.phase == MOON, MOON_CHOICES, 0))
    rows = np.flatnonzero(playing)
    if len(rows):
        result[rows] = _legal_plays(lookup, state.take(rows))
    return result


def step(lookup: Lookup, state: State, actions: Ints) -> None:
    """Carry out one legal action at every table whose deal is not over; the others ignore theirs.  Changes `state`.

    actions: int64 [N]: a card to pick or to play, or ADD or SUBTRACT.
    """
    before = state.phase.copy()
    for phase, act in ((PLAY, _play), (PASS, _pick), (MOON, _choose)):
        here = before == phase
        if here.all():
            act(lookup, state, actions)
            return
        rows = np.flatnonzero(here)
        if len(rows):
            part = state.take(rows)
            act(lookup, part, actions[rows])
            state.put(rows, part)


def opening_card(state: State) -> Sets:
    """The lowest club that any seat holds, as a set; int64 [N]."""
    clubs: Sets = np.bitwise_or.reduce(state.hands, axis=1) & CLUBS
    return clubs & -clubs


# -- the three kinds of action; each is given tables in its own phase only ------------------------------------------


def _legal_plays(lookup: Lookup, state: State) -> Sets:
    hand = _of_turn(state.hands, state.turn)
    leads = state.led == NO_SUIT
    if leads.all():
        return _legal_leads(lookup, state, hand)
    first = _mask(state.count < lookup.num_players)
    follow = legal_follow(lookup.play, hand, lookup.suit_sets[state.led], first)
    if not leads.any():
        return follow
    return np.where(leads, _legal_leads(lookup, state, hand), follow)


def _legal_leads(lookup: Lookup, state: State, hand: Sets) -> Sets:
    opening = np.zeros(len(state), np.int64)
    if lookup.opening_limit:
        opens = state.count == 0
        if opens.any():
            limit = opening_card(state) if lookup.opening_limit == -1 else lookup.opening_limit
            opening = np.where(opens, limit, 0)
    return legal_lead(lookup.play, hand, _mask(state.broken), opening)


def _pick(lookup: Lookup, state: State, cards: Ints) -> None:
    seats = lookup.num_players
    state.picks.reshape(-1)[_places(state.turn, seats)] |= bit(cards)
    state.count += 1
    _next_turn(state, seats)
    passes = _within(ALL, state.count == seats * lookup.pass_count, len(state))
    if passes is not None:
        _pass(lookup, state, passes)
        _begin_play(lookup, state, passes)


def _pass(lookup: Lookup, state: State, rows: Rows) -> None:
    picks = state.picks[rows]
    offset = pass_offset(lookup, state.deal_no[rows])
    giver = (np.arange(lookup.num_players) - offset[:, None]) % lookup.num_players
    got = np.take_along_axis(picks, giver, axis=1)
    state.hands[rows] = state.start[rows] = (state.hands[rows] & ~picks) | got


def _begin_play(lookup: Lookup, state: State, rows: Rows) -> None:
    hands = state.hands[rows]
    if lookup.rules.first_leader == "lowest_club":
        clubs = np.bitwise_or.reduce(hands, axis=1) & CLUBS
        leader = np.argmax(hands & (clubs & -clubs)[:, None], axis=1)
    else:
        leader = (state.deal_no[rows] + 1) % lookup.num_players
    state.phase[rows] = PLAY
    state.count[rows] = 0
    state.turn[rows] = leader
    state.leaders[rows, 0] = leader


def _play(lookup: Lookup, state: State, cards: Ints) -> None:
    seats = lookup.num_players
    card = bit(cards)
    led = lookup.suit_sets[state.led]
    suit = lookup.suit[cards].astype(np.int8)
    discards = (state.led != NO_SUIT) & (suit != state.led)
    state.hands.reshape(-1)[_places(state.turn, seats)] ^= card
    state.table |= card
    state.plays.reshape(-1)[_places(state.count, lookup.num_plays)] = cards
    state.voids |= np.left_shift(discards, NUM_SUITS * state.turn + (state.led & 3), dtype=np.int32)
    state.broken |= breaks(lookup.play, card, led) != 0
    wins = (lookup.beats[state.best] & card) != 0
    np.copyto(state.best, cards, where=wins, casting="unsafe")
    np.copyto(state.best_seat, state.turn, where=wins)
    np.copyto(state.led, suit, where=state.led == NO_SUIT)
    state.count += 1
    _next_turn(state, seats)
    complete = _within(ALL, lookup.trick_ends[state.count], len(state))
    if complete is not None:
        _collect(lookup, state, complete)


def _collect(lookup: Lookup, state: State, rows: Rows) -> None:
    """The winner captures the trick and leads the next one; after the last trick the deal is scored."""
    seats = lookup.num_players
    winner = state.best_seat[rows]
    captured = state.taken[rows]
    captured.reshape(-1)[_places(winner, seats)] |= state.table[rows]
    state.taken[rows] = captured
    state.turn[rows] = winner
    state.table[rows] = 0
    state.led[rows] = NO_SUIT
    state.best[rows] = NO_CARD
    state.best_seat[rows] = NO_SEAT
    last = state.count[rows] == lookup.num_plays
    ended = _within(rows, last, len(state))
    if ended is not None:
        _finish(lookup, state, ended)
    goes_on = _within(rows, ~last, len(state))
    if goes_on is not None:
        tables = np.arange(len(state))[goes_on]
        state.leaders[tables, state.count[tables] // seats] = state.turn[tables]


def _finish(lookup: Lookup, state: State, rows: Rows) -> None:
    """All cards are played: the shooter of a moon has a choice to make, everybody else is scored."""
    shooters = shooter(lookup, state.taken[rows])
    state.shooter[rows] = shooters
    if lookup.rules.moon == "choice":
        choosing = _within(rows, shooters != NO_SEAT, len(state))
        if choosing is not None:
            state.phase[choosing] = MOON
            state.turn[choosing] = state.shooter[choosing]
        scored = _within(rows, shooters == NO_SEAT, len(state))
        if scored is not None:
            _score(lookup, state, scored, np.full(len(state.phase[scored]), ADD))
    elif lookup.rules.moon == "auto":
        _score(
            lookup,
            state,
            rows,
            automatic_choice(lookup, state.taken[rows], shooters, state.scores[rows].astype(np.int64)),
        )
    else:
        choice = SUBTRACT if lookup.rules.moon == "subtract" else ADD
        _score(lookup, state, rows, np.full(len(shooters), choice))


def _choose(lookup: Lookup, state: State, choices: Ints) -> None:
    _score(lookup, state, ALL, choices)


def _score(lookup: Lookup, state: State, rows: Rows, choices: Ints) -> None:
    shooters = state.shooter[rows].astype(np.int64)
    points = deal_points(lookup, state.taken[rows], shooters, choices)
    scores = reset_exact(lookup, state.scores[rows] + points)
    state.points[rows] = points
    state.scores[rows] = scores
    state.choice[rows] = np.where(shooters == NO_SEAT, NO_CARD, choices)
    state.phase[rows] = np.where(is_over(lookup, scores), GAME_OVER, DEAL_OVER)
    state.turn[rows] = NO_SEAT


# -- rows and places -------------------------------------------------------------------------------------------------


def _within(rows: Rows, chosen: Bools, tables: int) -> Rows | None:
    """Those of `rows` that are chosen: all as they are, some as indices, or None."""
    if chosen.all():
        return rows if len(chosen) else None
    if not chosen.any():
        return None
    return np.flatnonzero(chosen) if isinstance(rows, slice) else rows[chosen]


def _places(columns: NDArray[np.integer], width: int) -> Ints:
    """Where column `columns[n]` of row n lies in a flattened [N, width] array; int64 [N]."""
    places: Ints = np.arange(0, len(columns) * width, width)
    return places + columns


def _of_turn(by_seat: Sets, turn: NDArray[np.int8]) -> Sets:
    result: Sets = by_seat.reshape(-1)[_places(turn, by_seat.shape[1])]
    return result


def _mask(holds: Bools) -> Ints:
    """All ones where it holds, else 0."""
    return 0 - holds.astype(np.int64)


def _next_turn(state: State, seats: int) -> None:
    state.turn += 1
    state.turn[state.turn == seats] = 0
