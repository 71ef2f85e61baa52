"""The rule agent as kernels: the formulas of its features, one decision and one candidate after the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hearts_agents.rule import features, moon, passing, playing
from hearts_agents.rule.features import (
    BITS,
    LITTLE,
    NEVER,
    HandFeatures,
    Number,
    Situation,
    SuitFeatures,
    SuitOutlook,
    TrickFeatures,
    bottom,
    hand_features,
    moon_threat,
    other_holder,
    packed_voids,
    piles_of,
    points_taken,
    seats_later,
    spade_lead,
    suit_features,
    suit_outlook,
    top,
    trick_features,
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
from hearts_agents.rule.passing import pass_spade, pass_worth, suit_to_pass, to_partner
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
from hearts_agents.rule.tables import ABOVE_QUEEN, HEART, SPADE, RuleTables, rule_record
from hearts_agents.rule.weights import Weights
from hearts_env.cards import HEARTS, NUM_SUITS, QS_SET, Bools, Ints
from hearts_env.fast import jit
from hearts_env.fast.jit import called, inner, kernel, stands_for, zeros_below
from hearts_env.fast.step import Game, finish, game, legal_at, step_at, tables
from hearts_env.fast.view import views
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.rulebook import either, pass_offset, receiver, relative
from hearts_env.game.scoring import PARTNER, automatic_choice
from hearts_env.game.state import MOON, PASS, PLAY, State
from hearts_env.game.view import View

for _formula in (
    features.bottom,
    features.less,
    features.choice,
    features.piles_of,
    features.packed_voids,
    features.hand_features,
    features.small_points,
    features.points_in,
    features.spade_lead,
    features.suit_features,
    features.trick_features,
    features.seats_later,
    features.with_partner,
    features._dump_small,
    features.suit_outlook,
    features.other_holder,
    features.moon_threat,
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
    passing.suit_to_pass,
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


def act(rules: CompiledRules, weights: Weights, view: View, actions: Ints) -> None:
    """Fill `actions`, int64 [N], where a card is to be picked or played."""
    _act(rule_record(rules, weights), views(view), actions)


@kernel
def _act(luts: NDArray[np.void], views: View, actions: Ints) -> None:
    lut = luts[0]
    for n in range(len(actions)):
        phase = views.phase[n]
        if phase == PLAY:
            actions[n] = card_at(lut, _situation_of_view(lut, views, n))
        elif phase == PASS:
            actions[n] = pick_at(lut, views.hand[n], views.legal[n], views.picks[n], views.offset[n])


@inner
def _situation_of_view(lut: RuleTables, views: View, n: int) -> Situation:
    """View number n."""
    offset = views.offset[n]
    return Situation(
        views.hand[n],
        views.legal[n],
        views.picks[n] & ~views.played[n, offset] if offset != 0 else 0,
        offset,
        packed_voids(lut, views.voids[n]),
        piles_of(lut, views.taken[n], 0),
        views.table[n],
        views.count[n],
        np.int64(views.led[n]),
        np.int64(views.best[n]),
        views.best_seat[n],
    )


def play_on(rules: CompiledRules, weights: Weights, state: State, seats: Bools) -> int:
    """Play at every table for as long as a seat of `seats` (bool [N, P]) is to act; how many actions.

    Changes `state`.
    """
    made = 0
    while True:
        made += _play_on(game(rules), rule_record(rules, weights), tables(state), np.ascontiguousarray(seats))
        finish(game(rules), tables(state))
        rows = np.flatnonzero((state.phase == MOON) & seats[np.arange(len(state)), state.turn])
        if not len(rows):
            return made
        shooters, scores = state.turn[rows].astype(np.int64), state.scores[rows].astype(np.int64)
        state.choice[rows] = automatic_choice(rules, state.taken[rows], shooters, scores)
        made += len(rows)


@kernel
def _play_on(game: Game, luts: NDArray[np.void], tables: State, seats: Bools) -> int:
    """Pick and play, as far as `finish`; return how many actions."""
    lut, made = luts[0], 0
    for n in range(len(seats)):
        going = tables.phase[n] == PASS or tables.phase[n] == PLAY
        while going and seats[n, tables.turn[n]]:
            going = not step_at(game, tables, n, action_of_state(game, lut, tables, n))
            made += 1
    return made


@inner
def action_of_state(game: Game, lut: RuleTables, tables: State, n: int) -> Number:
    """The card that the seat to act at table n picks or plays."""
    if tables.phase[n] == PLAY:
        return card_at(lut, _situation_of_state(game, lut, tables, n))
    turn = tables.turn[n]
    offset: Number = pass_offset(game.pass_offsets, tables.deal_no[n])
    return pick_at(lut, tables.hands[n, turn], legal_at(game, tables, n), tables.picks[n, turn], offset)


@inner
def _situation_of_state(game: Game, lut: RuleTables, tables: State, n: int) -> Situation:
    """The view of the seat to act at table n, as `_situation_of_view` gives it."""
    me: Number = np.int64(tables.turn[n])
    voids, bits = np.int64(tables.voids[n]), NUM_SUITS * game.num_players
    offset: Number = pass_offset(game.pass_offsets, tables.deal_no[n])
    kept, best_seat = np.int64(0), np.int64(tables.best_seat[n])
    if offset != 0:  # of the cards passed, those that the receiver has not played
        kept = tables.picks[n, me] & tables.hands[n, receiver(game.num_players, me, offset)]
    return Situation(
        tables.hands[n, me],
        legal_at(game, tables, n),
        kept,
        offset,
        # A rotation of all seats' bits, so that the viewer's come first.
        (voids >> NUM_SUITS * me | voids << (bits - NUM_SUITS * me)) & ((1 << bits) - 1),
        piles_of(lut, tables.taken[n], me),
        tables.table[n],
        np.int64(tables.count[n]),
        np.int64(tables.led[n]),
        np.int64(tables.best[n]),
        relative(game.num_players, best_seat, me),
    )


NOTHING_COMES = SuitOutlook(np.int64(0), np.int64(0), np.int64(0))
"""The outlook of a suit in which no card wins for now: the formulas multiply it by a chance of 0."""


# -- one decision ------------------------------------------------------------------------------------------------------


@called
def card_at(lut: RuleTables, now: Situation) -> Number:
    """The card to play."""
    legal, led, best_seat = now.legal, now.led, now.best_seat
    if legal & (legal - 1) == 0:
        return zeros_below(legal)
    seen, beats = hand_features(lut, now), lut.beats[now.best]
    if lut.moon and not now.piles.holders & ~(1 | (lut.team_moon & 1 << PARTNER)):
        limit = limit_to_try(lut, points_taken(lut, now.piles.captured), now.played)
        if _within(lut, now.hand, seen.out, limit):
            return zeros_below(_moon_cards(lut, seen, led, beats, seats_later(lut, now.played)))
    there = trick_features(lut, seen, now.offset, now.voids, now.table, now.played, best_seat)
    foe: Number = other_holder(lut, now.piles.holders)
    danger: Number = moon_threat(lut, foe, now.piles.spoils, now.played, best_seat)
    lead: Number = spade_lead(lut, seen) if led < 0 else 0
    chosen, best_score, tried = np.int64(0), np.int64(NEVER), np.int64(0)
    for suit in range(NUM_SUITS):
        own = legal & lut.suit_sets[suit]
        if own:
            facts = suit_features(lut, seen, suit)
            may = suit_outlook(lut, seen, there, facts, suit) if own & beats else NOTHING_COMES
            for slot in range(SLOTS):
                card = _lead_candidate(own, slot) if led < 0 else _follow_candidate(lut, own, beats, suit == led, slot)
                if card & ~tried:
                    tried |= card
                    wins: Number = 0
                    if card & beats:
                        wins = wins_with(lut, may.row, higher(facts, card))
                        if now.kept & there.receiver:
                            wins = known_wins(lut, now.kept, facts, card, wins)
                    score: Number = _worth(lut, seen, there, facts, may, card, wins, best_seat)
                    if suit == SPADE:
                        score += spade_worth(lut, seen, card, lead)
                        score -= caught(lut, seen, may.share, there.receiver, card, wins)
                    if foe and danger.chance > LITTLE:
                        score += resist(lut, danger, facts, may.falls, there.row, card, higher(facts, card), wins)
                    if score > best_score:
                        chosen, best_score = card, score
    return zeros_below(chosen)


@inner
def _worth(
    lut: RuleTables,
    seen: HandFeatures,
    there: TrickFeatures,
    facts: SuitFeatures,
    may: SuitOutlook,
    card: Number,
    wins: Number,
    best_seat: Number,
) -> Number:
    """The score of a candidate without the parts for spades and moons, as `rule.batch` has it."""
    points = points_of(lut, card)
    gain = gain_of(lut, points, best_seat)
    score = ease(lut, seen.stakes, facts, card, higher(facts, card)) + (gain << BITS)
    score = (score - wins * (gain + points + may.falls + there.cost)) >> BITS
    if lut.bonus:
        score += for_bonus(lut, seen, there.later, card, wins)
    return score


SLOTS = 6
"""Candidates of a suit at most."""


@inner
def _lead_candidate(own: Number, slot: Number) -> Number:
    """A candidate of a suit to lead, in the order of the rows of `rule.batch`; 0 if there is none."""
    if slot == 0:
        return bottom(own)
    if slot == 1:
        return top(either(own & ~(ABOVE_QUEEN | QS_SET), own))
    return top(own & ABOVE_QUEEN) if slot == 2 else 0


@inner
def _follow_candidate(lut: RuleTables, own: Number, beats: Number, follows: Number, slot: Number) -> Number:
    """A candidate of a suit for a trick that has begun."""
    above, below = (own & beats, own & ~beats) if follows else (0, own)
    if slot == 0:
        return top(either(below & ~lut.bonus, below))
    if slot == 1:
        return bottom(either(above & ~QS_SET, above))
    if slot == 2:
        return top(either(above & ~QS_SET, above))
    if slot == 3:
        return bottom(below if follows else below & HEARTS)
    if slot == 4:
        return own & QS_SET
    return own & lut.bonus if follows else 0


@inner
def _within(lut: RuleTables, hand: Number, out: Number, limit: Number) -> Number:
    """True if the hand expects to lose no more tricks than the limit."""
    lost = heart_losses(lut, hand, out)
    return lost <= limit and lost + other_losses(lut, hand, out) <= limit


@inner
def _moon_cards(lut: RuleTables, seen: HandFeatures, led: Number, beats: Number, later: Number) -> Number:
    above = seen.legal & beats
    if led >= 0:
        if above:
            return bottom(above) if later == 0 else top(above)
        if seen.hand & lut.suit_sets[led]:
            return bottom(seen.legal)
    chosen, best_score = np.int64(0), np.int64(NEVER)
    for suit in range(NUM_SUITS):
        if led < 0:
            score: Number = lead_order(lut, seen, suit)
            card: Number = top(seen.legal & lut.suit_sets[suit])
        else:
            score = drop_order(lut, seen, suit)
            card = bottom(spare(lut, seen, suit))
        if score > best_score:
            chosen, best_score = card, score
    return chosen


@called
def pick_at(lut: RuleTables, held: Number, hand: Number, picks: Number, offset: Number) -> Number:
    """The next card to pass.  hand: the cards held that may be picked."""
    out = lut.deck & ~held
    left = lut.pass_count - jit.count(picks)
    for_moon = lut.moon and _within(lut, hand, out, limit_to_pass(lut, left))
    chosen, best_score = np.int64(0), np.int64(NEVER)
    for suit in range(NUM_SUITS):
        own = hand & lut.suit_sets[suit]
        if for_moon:
            score: Number = pass_order(lut, hand, out, suit, -np.int64(suit == HEART))
            if score > best_score:
                chosen, best_score = bottom(own), score
            continue
        part = suit_to_pass(lut, hand, out, left, suit)
        for slot in range(PICK_SLOTS):
            card: Number = _pass_candidate(lut, own, slot)
            if card:
                score = pass_worth(lut, part, card)
                if suit == SPADE:
                    score += pass_spade(lut, hand, card)
                if lut.teams:
                    score = to_partner(lut, score, offset, card)
                if score > best_score:
                    chosen, best_score = card, score
    return zeros_below(chosen)


PICK_SLOTS = 4


@inner
def _pass_candidate(lut: RuleTables, own: Number, slot: Number) -> Number:
    """A candidate of a suit to pass; 0 if there is none."""
    high = top(either(own & ~lut.bonus, own))
    if slot == 0:
        return high
    if slot == 1:
        return own & QS_SET
    return top(own & HEARTS & ~high) if slot == 2 else bottom(own & HEARTS & ~high)
