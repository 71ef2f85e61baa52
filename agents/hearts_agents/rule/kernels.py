"""The rule agent as compiled loops: the same formulas, one decision and one candidate after the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hearts_agents.rule import features, moon, passing, playing
from hearts_agents.rule.features import (
    BITS,
    LITTLE,
    NEVER,
    Chances,
    Number,
    Sight,
    Suit,
    Trick,
    bottom,
    chances,
    other_holder,
    points_taken,
    seats_later,
    sight,
    spade_lead,
    suit_facts,
    threat,
    top,
    trick,
)
from hearts_agents.rule.moon import (
    drop_order,
    heart_losses,
    lead_order,
    limit_to_pass,
    limit_to_try,
    other_losses,
    pass_order,
    spare,
)
from hearts_agents.rule.passing import held_of, pass_spade, pass_worth, to_partner
from hearts_agents.rule.playing import (
    caught,
    ease,
    for_bonus,
    gain_of,
    higher,
    known_wins,
    points_of,
    resist,
    spade_worth,
    wins_with,
)
from hearts_agents.rule.tables import ABOVE_QUEEN, HEART, SPADE, Brain, record
from hearts_agents.rule.weights import Weights
from hearts_env.cards import HEARTS, NUM_SUITS, QS_SET, Bools, Ints
from hearts_env.fast import jit
from hearts_env.fast.jit import called, inner, kernel, stands_for, zeros_below
from hearts_env.fast.step import Game, finish, game, legal_at, offset_of, step_at, tables
from hearts_env.fast.view import views
from hearts_env.game.compiled_rules import Lookup
from hearts_env.game.rulebook import either
from hearts_env.game.scoring import PARTNER, automatic_choice
from hearts_env.game.state import MOON, PASS, PLAY, State
from hearts_env.game.view import View

for _formula in (
    features.bottom,
    features.less,
    features.choice,
    features.sight,
    features.small_points,
    features.points_in,
    features.spade_lead,
    features.suit_facts,
    features.trick,
    features.seats_later,
    features.with_partner,
    features._dump_small,
    features.chances,
    features.other_holder,
    features.threat,
    features._step,
    features.points_taken,
    playing.higher,
    playing.ease,
    playing.points_of,
    playing.gain_of,
    playing.wins_with,
    playing.known_wins,
    playing.spade_worth,
    playing.caught,
    playing.for_bonus,
    playing.resist,
    moon.losers,
    moon.heart_losses,
    moon.other_losses,
    moon.limit_to_try,
    moon.limit_to_pass,
    moon.lead_order,
    moon.spare,
    moon.drop_order,
    moon.pass_order,
    moon.down,
    passing.held_of,
    passing.pass_worth,
    passing.pass_spade,
    passing.to_partner,
):
    inner(_formula)


@stands_for(features.at)
def _at(table: Ints, index: Number) -> Number:
    return np.int64(table[index])


@stands_for(features.count)
def _count(cards: Number) -> Number:
    return jit.count(cards)


@stands_for(features.some)
def _some(number: Number) -> Number:
    return -np.int64(number != 0)


@stands_for(features.top)
def _top(cards: Number) -> Number:
    return jit.bit(jit.highest(cards)) if cards else 0


def act(lookup: Lookup, weights: Weights, view: View, actions: Ints) -> None:
    """Fill `actions`, int64 [N], where a card is to be picked or played."""
    _act(record(lookup, weights), views(view), actions)


@kernel
def _act(brains: NDArray[np.void], views: View, actions: Ints) -> None:
    brain = brains[0]
    for n in range(len(actions)):
        phase = views.phase[n]
        if phase == PLAY:
            actions[n] = _card_of_view(brain, views, n)
        elif phase == PASS:
            actions[n] = pick_at(brain, views.hand[n], views.picks[n], views.offset[n])


@inner
def _card_of_view(brain: Brain, views: View, n: int) -> Number:
    voids, captured, holders, spoils = 0, 0, 0, 0
    for seat in range(brain.players):
        voids |= views.voids[n, seat] << NUM_SUITS * seat
        pile = views.taken[n, seat]
        captured |= pile
        if pile & brain.penalty:
            holders |= 1 << seat
            spoils = pile
    offset = views.offset[n]
    return card_at(
        brain,
        views.hand[n],
        views.legal[n],
        views.picks[n] & ~views.played[n, offset] if offset != 0 else 0,
        offset,
        voids,
        captured,
        holders,
        spoils,
        views.table[n],
        views.count[n],
        np.int64(views.led[n]),
        np.int64(views.best[n]),
        views.best_seat[n],
    )


def play_on(lookup: Lookup, weights: Weights, state: State, seats: Bools) -> int:
    """Play at every table for as long as a seat of `seats` is to act; see `RuleAgent.play_on`."""
    made = 0
    while True:
        made += _play_on(game(lookup), record(lookup, weights), tables(state), np.ascontiguousarray(seats))
        finish(game(lookup), tables(state))
        rows = np.flatnonzero((state.phase == MOON) & seats[np.arange(len(state)), state.turn])
        if not len(rows):
            return made
        shooters, scores = state.turn[rows].astype(np.int64), state.scores[rows].astype(np.int64)
        state.choice[rows] = automatic_choice(lookup, state.taken[rows], shooters, scores)
        made += len(rows)


@kernel
def _play_on(game: Game, brains: NDArray[np.void], tables: State, seats: Bools) -> int:
    """Pick and play, as far as `finish`; return how many actions."""
    brain, made = brains[0], 0
    for n in range(len(seats)):
        going = tables.phase[n] == PASS or tables.phase[n] == PLAY
        while going and seats[n, tables.turn[n]]:
            going = not step_at(game, tables, n, action_of_state(game, brain, tables, n))
            made += 1
    return made


@inner
def action_of_state(game: Game, brain: Brain, tables: State, n: int) -> Number:
    """What the seat to act at table n picks or plays."""
    if tables.phase[n] == PLAY:
        return _card_of_state(game, brain, tables, n)
    turn = tables.turn[n]
    return pick_at(brain, tables.hands[n, turn], tables.picks[n, turn], offset_of(game, tables.deal_no[n]))


@inner
def _card_of_state(game: Game, brain: Brain, tables: State, n: int) -> Number:
    """What `_card_of_view` gives for the view of the seat to act."""
    me: Number = np.int64(tables.turn[n])
    captured, holders, spoils = 0, 0, 0
    for seat in range(brain.players):
        pile = tables.taken[n, (me + seat) % brain.players]
        captured |= pile
        if pile & brain.penalty:
            holders |= 1 << seat
            spoils = pile
    voids, bits = np.int64(tables.voids[n]), NUM_SUITS * game.num_players
    offset: Number = offset_of(game, tables.deal_no[n])
    kept, best_seat = np.int64(0), np.int64(tables.best_seat[n])
    if offset != 0:  # what the receiver hasn't played of what it was passed
        kept = tables.picks[n, me] & tables.hands[n, (me + offset) % game.num_players]
    if best_seat >= 0:
        best_seat = (best_seat - me) % game.num_players
    return card_at(
        brain,
        tables.hands[n, me],
        legal_at(game, tables, n),
        kept,
        offset,
        (voids >> NUM_SUITS * me | voids << (bits - NUM_SUITS * me)) & ((1 << bits) - 1),
        captured,
        holders,
        spoils,
        tables.table[n],
        np.int64(tables.count[n]),
        np.int64(tables.led[n]),
        np.int64(tables.best[n]),
        best_seat,
    )


NOTHING_COMES = Chances(np.int64(0), np.int64(0), np.int64(0))
"""Of a suit in which no card wins for now: the formulas multiply it by no chance to win."""


# -- one decision ------------------------------------------------------------------------------------------------------


@called
def card_at(
    brain: Brain,
    hand: Number,
    legal: Number,
    kept: Number,
    offset: Number,
    voids: Number,
    captured: Number,
    holders: Number,
    spoils: Number,
    table: Number,
    played: Number,
    led: Number,
    best: Number,
    best_seat: Number,
) -> Number:
    """The card to play.  captured: by all seats.  holders: bit `seat` of those with penalty cards; spoils: of one."""
    if legal & (legal - 1) == 0:
        return zeros_below(legal)
    seen, beats = sight(brain, hand, legal, kept, captured | table), brain.beats[best]
    if brain.moon and not holders & ~(1 | (brain.team_moon & 1 << PARTNER)):
        limit = limit_to_try(brain, points_taken(brain, captured), played)
        if _within(brain, hand, seen.out, limit):
            return zeros_below(_shoot(brain, seen, led, beats, seats_later(brain, played)))
    there = trick(brain, seen, offset, voids, table, played, best_seat)
    foe: Number = other_holder(brain, holders)
    danger: Number = threat(brain, foe, spoils, played, best_seat)
    lead: Number = spade_lead(brain, seen) if led < 0 else 0
    chosen, best_score, tried = np.int64(0), np.int64(NEVER), np.int64(0)
    for suit in range(NUM_SUITS):
        own = legal & brain.suit_sets[suit]
        if own:
            facts = suit_facts(brain, seen, suit)
            may = chances(brain, seen, there, facts, suit) if own & beats else NOTHING_COMES
            for slot in range(SLOTS):
                card = _lead_option(own, slot) if led < 0 else _option(brain, own, beats, suit == led, slot)
                if card & ~tried:
                    tried |= card
                    wins: Number = 0
                    if card & beats:
                        wins = wins_with(brain, may.row, higher(facts, card))
                        if kept & there.receiver:
                            wins = known_wins(brain, kept, facts, card, wins)
                    score: Number = _worth(brain, seen, there, facts, may, card, wins, best_seat)
                    if suit == SPADE:
                        score += spade_worth(brain, seen, card, lead)
                        score -= caught(brain, seen, may.share, there.receiver, card, wins)
                    if foe and danger.chance > LITTLE:
                        score += resist(brain, danger, facts, may.falls, there.row, card, higher(facts, card), wins)
                    if score > best_score:
                        chosen, best_score = card, score
    return zeros_below(chosen)


@inner
def _worth(
    brain: Brain, seen: Sight, there: Trick, facts: Suit, may: Chances, card: Number, wins: Number, best_seat: Number
) -> Number:
    """What `hearts_agents.rule.batch.choose_card` computes."""
    points = points_of(brain, card)
    gain = gain_of(brain, points, best_seat)
    score = ease(brain, seen.stakes, facts, card, higher(facts, card)) + (gain << BITS)
    score = (score - wins * (gain + points + may.falls + there.cost)) >> BITS
    if brain.bonus:
        score += for_bonus(brain, seen, there.later, card, wins)
    return score


SLOTS = 6
"""Candidates of a suit at most."""


@inner
def _lead_option(own: Number, slot: Number) -> Number:
    """A candidate of a suit to lead, in the order of the rows of `rule.batch`; 0 if there is none."""
    if slot == 0:
        return bottom(own)
    if slot == 1:
        return top(either(own & ~(ABOVE_QUEEN | QS_SET), own))
    return top(own & ABOVE_QUEEN) if slot == 2 else 0


@inner
def _option(brain: Brain, own: Number, beats: Number, follows: Number, slot: Number) -> Number:
    """A candidate of a suit for a trick that has begun."""
    above, below = (own & beats, own & ~beats) if follows else (0, own)
    if slot == 0:
        return top(either(below & ~brain.bonus, below))
    if slot == 1:
        return bottom(either(above & ~QS_SET, above))
    if slot == 2:
        return top(either(above & ~QS_SET, above))
    if slot == 3:
        return bottom(below if follows else below & HEARTS)
    if slot == 4:
        return own & QS_SET
    return own & brain.bonus if follows else 0


@inner
def _within(brain: Brain, hand: Number, out: Number, limit: Number) -> Number:
    """Does the hand lose no more tricks than this?"""
    lost = heart_losses(brain, hand, out)
    return lost <= limit and lost + other_losses(brain, hand, out) <= limit


@inner
def _shoot(brain: Brain, seen: Sight, led: Number, beats: Number, later: Number) -> Number:
    above = seen.legal & beats
    if led >= 0:
        if above:
            return bottom(above) if later == 0 else top(above)
        if seen.hand & brain.suit_sets[led]:
            return bottom(seen.legal)
    chosen, best_score = np.int64(0), np.int64(NEVER)
    for suit in range(NUM_SUITS):
        if led < 0:
            score: Number = lead_order(brain, seen, suit)
            card: Number = top(seen.legal & brain.suit_sets[suit])
        else:
            score = drop_order(brain, seen, suit)
            card = bottom(spare(brain, seen, suit))
        if score > best_score:
            chosen, best_score = card, score
    return chosen


@called
def pick_at(brain: Brain, held: Number, picks: Number, offset: Number) -> Number:
    """The next card to pass."""
    hand, out = held & ~picks, brain.deck & ~held
    left = brain.pass_count - jit.count(picks)
    for_moon = brain.moon and _within(brain, hand, out, limit_to_pass(brain, left))
    chosen, best_score = np.int64(0), np.int64(NEVER)
    for suit in range(NUM_SUITS):
        own = hand & brain.suit_sets[suit]
        if for_moon:
            score: Number = pass_order(brain, hand, out, suit, -np.int64(suit == HEART))
            if score > best_score:
                chosen, best_score = bottom(own), score
            continue
        part = held_of(brain, hand, out, left, suit)
        for slot in range(PICK_SLOTS):
            card: Number = _pick_option(brain, own, slot)
            if card:
                score = pass_worth(brain, part, card)
                if suit == SPADE:
                    score += pass_spade(brain, hand, card)
                if brain.teams:
                    score = to_partner(brain, score, offset, card)
                if score > best_score:
                    chosen, best_score = card, score
    return zeros_below(chosen)


PICK_SLOTS = 4


@inner
def _pick_option(brain: Brain, own: Number, slot: Number) -> Number:
    """A candidate of a suit to pass; 0 if there is none."""
    high = top(either(own & ~brain.bonus, own))
    if slot == 0:
        return high
    if slot == 1:
        return own & QS_SET
    return top(own & HEARTS & ~high) if slot == 2 else bottom(own & HEARTS & ~high)
