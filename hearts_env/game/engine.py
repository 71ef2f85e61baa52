"""The game over whole arrays of tables: shuffle, deal, legal, step.

The numpy executor.  It trusts its input: an action that is not legal corrupts the table it is played at.  The
environments and `notation` check what comes from outside.  Tables may be in any mix of phases and tricks; it is
fastest when all are in the same phase.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hearts_env.cards import MOON_CHOICES, NO_CARD, NO_SEAT, NO_SUIT, NUM_CARDS, Bools, Ints, Sets, action_numbers, bit
from hearts_env.executor import executed
from hearts_env.game import rulebook
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.rulebook import (
    all_of,
    asked,
    breaks,
    discards,
    exchanged,
    first_leader,
    follow,
    giver,
    in_first_trick,
    legal_lead,
    legal_picks,
    lowest_club,
    next_seat,
    off_suit,
    opening_leads,
    select,
    void_shown,
    wins,
)
from hearts_env.game.scoring import deal_points, is_over, reset_exact, shooter, unasked_choice
from hearts_env.game.state import DEAL_OVER, GAME_OVER, MOON, PASS, PLAY, Rows, State

ALL = slice(None)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
CARD_BITS = np.uint64(63)
_CHUNK = 192
"""Deals shuffled at a time: they stay in the processor's cache."""


def mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scrambled 64-bit numbers, one to one: the finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    z = numbers + GOLDEN
    z ^= z >> np.uint64(30)
    z *= np.uint64(0xBF58476D1CE4E5B9)
    z ^= z >> np.uint64(27)
    z *= np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return z


@executed
def shuffle(rules: CompiledRules, deal_ids: ArrayLike) -> Sets:
    """The hands of each deal id, int64 [N, P]: a pure function of the id, the same in every batch and everywhere.

    deal_ids: [N] whole numbers from 0 to 2**63 - 1.  Each card of the pack gets a hash of (id, card); sorted by it,
    the first H cards are seat 0's, the next H seat 1's, and so on; what is left is dead.
    """
    ids = np.asarray(deal_ids, np.int64).astype(np.uint64)
    hands = np.empty((len(ids), rules.num_players), np.int64)
    for begin in range(0, len(ids), _CHUNK):
        hands[begin : begin + _CHUNK] = _shuffle(rules, ids[begin : begin + _CHUNK])
    return hands


def _shuffle(rules: CompiledRules, ids: NDArray[np.uint64]) -> Sets:
    cards = rules.deck_cards.astype(np.uint64)
    keys = mix(mix(ids)[:, None] + cards * GOLDEN)
    keys &= ~CARD_BITS
    keys |= cards
    keys.sort(axis=1)
    dealt = bit((keys[:, : rules.num_plays] & CARD_BITS).view(np.int64))
    # The sum over each hand; `sum` itself takes twice as long for so few.
    hands: Sets = np.einsum("nph->np", dealt.reshape(len(ids), rules.num_players, rules.hand_size))
    return hands


def deal(
    rules: CompiledRules,
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
    if scores is None:
        state.scores[rows] *= ~new_game[:, None]
    else:
        state.scores[rows] = scores
    state.key[rows] = key
    begin_deal(rules, state, rows, hands)


@executed
def begin_deal(rules: CompiledRules, state: State, rows: Rows, hands: Sets) -> None:
    """Begin the deal of the number that stands in `state` at some tables.  Changes `state`."""
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
    holds = _within(rows, pass_offset(rules, state.deal_no[rows]) == 0)
    if holds is not None:
        _begin_play(rules, state, holds)


def single_deal_no(rules: CompiledRules, deal_ids: Ints) -> Ints:
    """The number of a deal that is played alone: its id, modulo a cycle of pass offsets and dealers.  int64 [N]."""
    numbers: Ints = deal_ids % math.lcm(len(rules.pass_offsets), rules.num_players)
    return numbers


def pass_offset(rules: CompiledRules, deal_no: NDArray[np.integer]) -> Ints:
    """The pass offset of each deal number: 0 hold, else the receiver sits so many seats on.  int64 [N]."""
    offsets: Ints = rulebook.pass_offset(rules.pass_offsets, deal_no)
    return offsets


@executed
def legal(rules: CompiledRules, state: State) -> Sets:
    """The set of legal actions of the seat to act at each table, int64 [N]; 0 where the deal is over."""
    result = np.zeros(len(state), np.int64)
    for phase, options in ((PLAY, _legal_plays), (PASS, _legal_picks), (MOON, _moon_choices)):
        rows = _within(ALL, state.phase == phase)
        if isinstance(rows, slice):
            return options(rules, state, rows)
        if rows is not None:
            result[rows] = options(rules, state, rows)
    return result


@executed
def step(rules: CompiledRules, state: State, actions: Ints) -> None:
    """Carry out one legal action at every table whose deal is not over; the others ignore theirs.  Changes `state`.

    actions: int64 [N]: a card to pick or to play, or ADD or SUBTRACT.  Raises ActionTypeError unless there is a whole
    number for each table.
    """
    actions = action_numbers(actions, len(state))
    phases = state.phase.copy()
    for phase, act in ((PLAY, _play), (PASS, _pick), (MOON, score)):
        rows = _within(ALL, phases == phase)
        if rows is not None:
            act(rules, state, rows, _of(actions, rows))


def opening_card(hands: Sets) -> Sets:
    """The lowest club that any seat holds, as a set.  hands: int64 [N, P]; int64 [N]."""
    clubs: Sets = lowest_club(all_of(hands.shape[1], hands.T))
    return clubs


# -- legal plays, and the actions; `rows` are tables in the right phase, arrays without them have one row for each -----


def _legal_plays(rules: CompiledRules, state: State, rows: Rows) -> Sets:
    hand = state.hands.take(_places(rows, _of(state.turn, rows), rules.num_players))
    led = _of(state.led, rows)
    leads = led == NO_SUIT
    number = np.count_nonzero(leads)
    if number == len(leads):
        return _legal_leads(rules, state, rows, hand)
    first = in_first_trick(rules.play, _of(state.count, rows))
    # Later tricks bar nothing.
    allowed = discards(rules.play, hand, first.astype(np.int64)) if np.count_nonzero(first) else hand
    follows = follow(hand, rules.suit_sets.take(led, mode="wrap"), allowed)
    if not number:
        return follows
    sets: Sets = select(mask(leads), _legal_leads(rules, state, rows, hand), follows)
    return sets


def _legal_leads(rules: CompiledRules, state: State, rows: Rows, hand: Sets) -> Sets:
    opening: Any = 0
    opens = _of(state.count, rows) == 0
    if np.count_nonzero(opens):
        opening = opening_leads(rules.play, hand, mask(opens))
    return legal_lead(rules.play, hand, mask(_of(state.broken, rows)), opening)


def _legal_picks(rules: CompiledRules, state: State, rows: Rows) -> Sets:
    places = _places(rows, _of(state.turn, rows), rules.num_players)
    picks: Sets = legal_picks(rules.play, state.hands.take(places), state.picks.take(places))
    return picks


def _moon_choices(rules: CompiledRules, state: State, rows: Rows) -> Sets:
    return np.full(len(_of(state.phase, rows)), MOON_CHOICES)


def _pick(rules: CompiledRules, state: State, rows: Rows, cards: Ints) -> None:
    turn, picked = _of(state.turn, rows), _of(state.count, rows) + np.int8(1)
    state.picks.reshape(-1)[_places(rows, turn, rules.num_players)] |= bit(cards)
    state.count[rows] = picked
    state.turn[rows] = next_seat(rules.num_players, turn)
    passes = _within(rows, picked == rules.num_picks)
    if passes is not None:
        end_pass(rules, state, passes)


def end_pass(rules: CompiledRules, state: State, rows: Rows) -> None:
    """All have picked: the cards change hands, and the play begins."""
    picks, offset = _of(state.picks, rows), pass_offset(rules, _of(state.deal_no, rows))
    givers = giver(rules.num_players, np.arange(rules.num_players), offset[:, None])
    got = np.take_along_axis(picks, givers, axis=1)
    state.hands[rows] = state.start[rows] = exchanged(_of(state.hands, rows), picks, got)
    _begin_play(rules, state, rows)


def _begin_play(rules: CompiledRules, state: State, rows: Rows) -> None:
    leader = first_leader(rules.play, _of(state.hands, rows).T, _of(state.deal_no, rows))
    state.phase[rows] = PLAY
    state.count[rows] = 0
    state.turn[rows] = leader
    state.leaders[rows, 0] = leader


def _play(rules: CompiledRules, state: State, rows: Rows, cards: Ints) -> None:
    seats = rules.num_players
    card, played = bit(cards), cards.astype(np.int8)
    turn, count, led, best = (_of(array, rows) for array in (state.turn, state.count, state.led, state.best))
    state.hands.reshape(-1)[_places(rows, turn, seats)] ^= card
    state.plays.reshape(-1)[_places(rows, count, rules.num_plays)] = played
    state.table[rows] |= card
    suit, leads = rules.suit.take(cards), led == NO_SUIT
    # At `led * 52 + card`, and `best * 52 + card`; NO_SUIT and NO_CARD, -1, come last.
    breaking, off, winning = _effects(rules)
    place = led.astype(np.int16) * _ROW + played
    state.broken[rows] |= breaking.take(place, mode="wrap")
    discarded = off.take(place, mode="wrap")
    if np.count_nonzero(discarded):
        state.voids[rows] |= void_shown(turn.astype(np.int32), led, discarded)
    won = winning.take(best.astype(np.int16) * _ROW + played, mode="wrap")
    state.best[rows] = select(won, played, best)
    state.best_seat[rows] = select(won, turn, _of(state.best_seat, rows))
    state.led[rows] = select(narrow_mask(leads), suit, led)
    state.turn[rows] = next_seat(seats, turn)
    count = count + np.int8(1)
    state.count[rows] = count
    complete = _within(rows, rules.trick_ends.take(count))
    if complete is not None:
        _collect(rules, state, complete)


_ROW = np.int16(NUM_CARDS)


@lru_cache(maxsize=1024)
def _effects(rules: CompiledRules) -> tuple[Bools, NDArray[np.int8], NDArray[np.int8]]:
    """The effects of each card by the rulebook, as tables to look up, so that they are not computed at each play.

    bool [5 * 52]: does it break hearts where a suit is led?  int8 [5 * 52]: all ones where it does not follow.
    int8 [53 * 52]: all ones where it beats the card that was winning.
    """
    cards, led = bit(np.arange(NUM_CARDS)), rules.suit_sets[:, None]
    off, winning = off_suit(cards, led), wins(rules.beats[:, None], cards)
    breaking: Bools = breaks(rules.play, cards, off) != 0
    return breaking.reshape(-1), off.astype(np.int8).reshape(-1), winning.astype(np.int8).reshape(-1)


def _collect(rules: CompiledRules, state: State, rows: Rows) -> None:
    """The winner captures the trick and leads the next one; after the last trick the deal is scored."""
    winner, count = _of(state.best_seat, rows).copy(), _of(state.count, rows)
    state.taken.reshape(-1)[_places(rows, winner, rules.num_players)] |= _of(state.table, rows)
    state.turn[rows] = winner
    state.table[rows] = 0
    state.led[rows] = NO_SUIT
    state.best[rows] = NO_CARD
    state.best_seat[rows] = NO_SEAT
    last = count == rules.num_plays
    goes_on = _within(rows, ~last)
    if goes_on is not None:
        trick = _of(state.count, goes_on) // np.int8(rules.num_players)
        state.leaders.reshape(-1)[_places(goes_on, trick, rules.hand_size)] = _of(state.turn, goes_on)
    ended = _within(rows, last)
    if ended is not None:
        finish(rules, state, ended)


def finish(rules: CompiledRules, state: State, rows: Rows) -> None:
    """All cards are played: the shooter of a moon may have a choice to make, everybody else is scored."""
    shooters = shooter(rules, _of(state.taken, rows))
    state.shooter[rows] = shooters
    waits = asked(rules.score, shooters) != 0
    choosing, scored = _within(rows, waits), _within(rows, ~waits)
    if choosing is not None:
        state.phase[choosing] = MOON
        state.turn[choosing] = state.shooter[choosing]
    if scored is not None:
        taken, scores = _of(state.taken, scored), _of(state.scores, scored)
        score(rules, state, scored, unasked_choice(rules, taken, _of(state.shooter, scored), scores))


def score(rules: CompiledRules, state: State, rows: Rows, choices: Ints) -> None:
    """The deal is over.  choices: ADD or SUBTRACT; NO_CARD where nobody shot the moon."""
    shooters = _of(state.shooter, rows).astype(np.int64)
    points = deal_points(rules, _of(state.taken, rows), shooters, choices)
    scores = reset_exact(rules, _of(state.scores, rows) + points)
    state.points[rows] = points
    state.scores[rows] = scores
    state.choice[rows] = choices
    state.phase[rows] = np.where(is_over(rules, scores), GAME_OVER, DEAL_OVER)
    state.turn[rows] = NO_SEAT


# -- rows and places -------------------------------------------------------------------------------------------------


def _within(rows: Rows, chosen: Bools) -> Rows | None:
    """Those of `rows` that are chosen: all as they are, some as indices, or None."""
    number = np.count_nonzero(chosen)
    if number == len(chosen):
        return rows if number else None
    if number == 0:
        return None
    places = np.flatnonzero(chosen)
    return places if isinstance(rows, slice) else rows.take(places)


def _of(array: NDArray[Any], rows: Rows) -> NDArray[Any]:
    """The array's entries at those tables; the array itself, not a copy, where these are all."""
    return array[rows] if isinstance(rows, slice) else array.take(rows, axis=0)


def _places(rows: Rows, columns: NDArray[np.integer], width: int) -> Ints:
    """Where column `columns[n]` of row `rows[n]` lies in a flattened [N, width] array; int64, as long as `columns`."""
    begins = begins_of(len(columns), width) if isinstance(rows, slice) else rows * width
    places: Ints = begins + columns
    return places


@lru_cache(maxsize=16)
def begins_of(tables: int, width: int) -> Ints:
    """Where each row of an array of so many begins."""
    begins = np.arange(0, tables * width, width)
    begins.flags.writeable = False
    return begins


def mask(holds: Bools) -> Ints:
    """All ones where it holds, else 0."""
    return narrow_mask(holds).astype(np.int64)


def narrow_mask(holds: Bools) -> NDArray[np.int8]:
    """All ones where it holds, else 0, in eight bits."""
    return -holds.view(np.int8)
