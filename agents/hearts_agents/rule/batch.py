"""The rule agent over whole arrays of views: the candidates as rows, scored by the formulas all at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias, TypeVar, cast

import numpy as np

from hearts_agents.rule.features import (
    BITS,
    LITTLE,
    NEVER,
    HandFeatures,
    MoonThreat,
    Number,
    Situation,
    SuitFeatures,
    at,
    bottom,
    count,
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
from hearts_agents.rule.passing import SuitToPass, pass_spade, pass_worth, suit_to_pass, to_partner
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
from hearts_agents.rule.tables import ABOVE_QUEEN, HEART, SPADE, RuleTables
from hearts_env.cards import HEARTS, NO_SUIT, NUM_SUITS, QS_SET, Bools, Ints, Sets
from hearts_env.game.rulebook import either
from hearts_env.game.scoring import PARTNER
from hearts_env.game.view import View

EACH_SUIT = np.arange(NUM_SUITS)[:, None]
"""int64 [4, 1]: for arrays of one row a suit."""


def choose_card(lut: RuleTables, view: View) -> Ints:
    """The card to play for each view of the play phase, int64 [N]."""
    chosen = view.legal.copy()
    choices, leads = (view.legal & (view.legal - 1)) != 0, view.led == NO_SUIT
    for here, candidates in ((choices & leads, _lead_candidates), (choices & ~leads, _follow_candidates)):
        rows = np.flatnonzero(here)
        if len(rows):
            batch = _batch_features(lut, view, rows)
            cards = _best(lut, batch, candidates)
            moons = _moon_attempts(lut, batch)
            if len(moons):
                cards[moons] = _moon_cards(lut, batch, moons)
            chosen[rows] = cards
    return _card(chosen)


def values(lut: RuleTables, view: View, cards: Sets) -> Ints:
    """The value of playing some legal cards in one view of the play phase, int64 [C], in 1/UNIT of a point.

    cards: int64 [C], sets of one.
    """
    batch = _batch_features(lut, view, np.zeros(1, np.intp))
    suits = _legal_suits(lut, batch)
    index = np.argmax(cards[:, None] & suits.own != 0, axis=1)
    worth: Ints = _scores(lut, batch, suits, index, cards).astype(np.int64)
    return worth


def moon_attempt(lut: RuleTables, view: View) -> tuple[int, int] | None:
    """If the agent plays one view for the moon: the tricks that it expects to lose, and may lose, both in 1/UNIT."""
    batch, one = _batch_features(lut, view, np.zeros(1, np.intp)), np.zeros(1, np.intp)
    if not len(_moon_attempts(lut, batch)):
        return None
    hand, out = batch.seen.hand[one], batch.seen.out[one]
    lost = heart_losses(lut, hand, out) + other_losses(lut, hand, out)
    limit = limit_to_try(lut, points_taken(lut, batch.now.piles.captured), batch.now.played)
    return int(lost[0]), int(limit[0])


def _card(sets: Sets) -> Ints:
    """The only member of each set, int64."""
    return np.bitwise_count(sets - 1).astype(np.int64)


# -- what there is to see ----------------------------------------------------------------------------------------------


class BatchFeatures(NamedTuple):
    """Some views, with what the agent sees."""

    now: Situation  # of arrays: sets int64 [N], other numbers int32 [N]
    seen: HandFeatures
    beats: Sets  # int64 [N]  cards that win over the best so far
    lead: Number  # int32 [N]  worth of leading a low spade, where one leads
    foes: Ints  # int64 [K]  rows where another may shoot the moon
    threat: MoonThreat  # of these


def _batch_features(lut: RuleTables, view: View, rows: Ints) -> BatchFeatures:
    now = _situation(lut, view, rows)
    seen = hand_features(lut, now)
    foe = other_holder(lut, now.piles.holders)
    foes = np.flatnonzero(foe)
    danger = moon_threat(lut, foe[foes], now.piles.spoils[foes], now.played[foes], now.best_seat[foes])
    real = np.flatnonzero(danger.chance > LITTLE)
    return BatchFeatures(
        now,
        seen,
        at(lut.beats, now.best),
        spade_lead(lut, seen) * (now.led == NO_SUIT),
        foes[real],
        MoonThreat(*(field[real] for field in danger)),
    )


def _situation(lut: RuleTables, view: View, rows: Ints) -> Situation:
    """Some rows of a view, as arrays."""
    offset = view.offset.take(rows)
    # Transposed, a View's columns stand seat by seat, as the formulas take them.
    return Situation(
        view.hand.take(rows),
        view.legal.take(rows),
        view.picks.take(rows) & ~view.played.T[offset, rows],
        offset.astype(np.int32),
        packed_voids(lut, [voids.take(rows).astype(np.int32) for voids in view.voids.T]),
        piles_of(lut, [pile.take(rows) for pile in view.taken.T], 0),
        view.table.take(rows),
        view.count.take(rows).astype(np.int32),
        view.led.take(rows),
        view.best.take(rows),
        view.best_seat.take(rows).astype(np.int32),
    )


def _take(fields: Fields, rows: Ints) -> Fields:
    """Some places of each of the arrays."""
    parts = [field.take(rows) for field in fields]
    return cast(Fields, type(fields)(*parts) if hasattr(fields, "_fields") else tuple(parts))


Fields = TypeVar("Fields", bound=tuple[Number, ...])


# -- candidates --------------------------------------------------------------------------------------------------------


class LegalSuits(NamedTuple):
    """The suits of which a table has a legal card, one after the other."""

    row: Ints  # int64 [S]  which table
    suit: Ints  # int64 [S]
    own: Sets  # int64 [S]  the legal cards
    winning: Sets  # int64 [S]  those of them that win for now
    follows: Bools  # bool [S]  it is the suit led
    seen: HandFeatures
    facts: SuitFeatures


def _legal_suits(lut: RuleTables, batch: BatchFeatures) -> LegalSuits:
    legal = batch.seen.legal & lut.suit_sets[EACH_SUIT]
    flat = np.flatnonzero(legal)
    suit, row = np.divmod(flat, len(batch.now.led))
    suit = suit.astype(np.int32)
    own, seen = legal.reshape(-1)[flat], _take(batch.seen, row)
    winning = own & batch.beats[row]
    return LegalSuits(row, suit, own, winning, batch.now.led[row] == suit, seen, suit_features(lut, seen, suit))


Candidates: TypeAlias = Callable[[RuleTables, LegalSuits], list[Sets]]


def _lead_candidates(lut: RuleTables, suits: LegalSuits) -> list[Sets]:
    """The candidates of each suit as sets of one, each only once, in the order in which the first of equals is best."""
    own = suits.own
    low, high = bottom(own), top(either(own & ~(ABOVE_QUEEN | QS_SET), own))
    return [low, high & ~low, top(own & ABOVE_QUEEN) & ~(low | high)]


def _follow_candidates(lut: RuleTables, suits: LegalSuits) -> list[Sets]:
    own, over = suits.own, np.where(suits.follows, suits.winning, 0)
    under = own & ~over
    tame = either(over & ~QS_SET, over)
    duck, low, high = top(either(under & ~lut.bonus, under)), bottom(tame), top(tame)
    least = bottom(np.where(suits.follows, under, under & HEARTS)) & ~duck
    offered = [duck, low, high & ~low, least, own & QS_SET & ~(duck | low | high | least)]
    if lut.bonus:
        special = np.where(suits.follows, own & lut.bonus, 0)
        offered.append(special & ~(duck | low | high | least))
    return offered


def _best(lut: RuleTables, batch: BatchFeatures, candidates: Candidates) -> Sets:
    """The best candidate of each table as a set of one, int64 [N]."""
    suits = _legal_suits(lut, batch)
    offered = np.stack(candidates(lut, suits))
    flat = np.flatnonzero(offered)
    slot, index = np.divmod(flat, len(suits.row))
    card, row = offered.reshape(-1)[flat], suits.row[index]
    score = _scores(lut, batch, suits, index, card).astype(np.int64)
    # The first of equals: suit by suit, and in a suit by the order of the options.
    order = (score << ORDER_BITS) - (suits.suit[index] * len(offered) + slot)
    highest = np.full(len(batch.now.led), np.iinfo(np.int64).min)
    np.maximum.at(highest, row, order)
    chosen, best = np.empty(len(highest), np.int64), np.flatnonzero(order == highest[row])
    chosen[row[best]] = card[best]
    return chosen


ORDER_BITS = 5


def _scores(lut: RuleTables, batch: BatchFeatures, suits: LegalSuits, index: Ints, card: Sets) -> Number:
    """The value of playing each candidate, int32 [C].  index: int64 [C], its place in `suits`."""
    row, facts = suits.row[index], _take(suits.facts, index)
    above, points = higher(facts, card), points_of(lut, card)
    gain = gain_of(lut, points, batch.now.best_seat[row])
    score = ease(lut, suits.seen.stakes[index], facts, card, above) + (gain << BITS)
    won = np.flatnonzero(card & suits.winning[index])
    outlook = _card_outlook(lut, batch, suits, index[won])
    wins = np.zeros(len(card), np.int32)
    wins[won] = chance = _chance(lut, outlook, facts, suits.seen.kept[index], card, above, won)
    score[won] -= chance * (gain[won] + points[won] + outlook.falls + outlook.cost)
    score >>= BITS
    over = np.flatnonzero(card[won] & ABOVE_QUEEN)
    if len(over):
        high = _take((outlook.share, outlook.receiver, card[won], chance), over)
        score[won[over]] -= caught(lut, _take(suits.seen, index[won[over]]), *high)
    spades = np.flatnonzero(suits.suit[index] == SPADE)
    lead = batch.lead[row[spades]]
    score[spades] += spade_worth(lut, _take(suits.seen, index[spades]), card[spades], lead)
    if lut.bonus:
        score += for_bonus(lut, _take(suits.seen, index), seats_later(lut, batch.now.played[row]), card, wins)
    if len(batch.foes):
        falls, bad = np.zeros(len(card), np.int32), np.zeros(len(card), np.int32)
        falls[won], bad[won] = outlook.falls, outlook.bad
        which = np.full(len(batch.now.led), -1)
        which[batch.foes] = np.arange(len(batch.foes))
        at_foe = np.flatnonzero(which[row] >= 0)
        danger, parts = _take(batch.threat, which[row[at_foe]]), _take((falls, bad, card, above, wins), at_foe)
        score[at_foe] += resist(lut, danger, _take(facts, at_foe), *parts)
    return score


class CardOutlook(NamedTuple):
    """The outlook of candidates that win the trick for now."""

    row: Number
    falls: Number
    share: Number
    """Later hands with the suit among all others with it, as in `SuitOutlook`."""
    receiver: Number
    cost: Number
    bad: Number
    """Not 0 where there is a penalty card in the trick."""


def _card_outlook(lut: RuleTables, batch: BatchFeatures, suits: LegalSuits, index: Ints) -> CardOutlook:
    """The outlook of candidates in these suits, int64 [W] places in `suits`."""
    may = np.flatnonzero(suits.winning)
    row, seen = suits.row[may], _take(suits.seen, may)
    now = batch.now
    offset, voids, table, played, best_seat = (
        field[row] for field in (now.offset, now.voids, now.table, now.played, now.best_seat)
    )
    there = trick_features(lut, seen, offset, voids, table, played, best_seat)
    comes = suit_outlook(lut, seen, there, _take(suits.facts, may), suits.suit[may])
    place = np.empty(len(suits.row), np.intp)
    place[may] = np.arange(len(may))
    return _take(CardOutlook(*comes, there.receiver, there.cost, there.row), place[index])


def _chance(
    lut: RuleTables, outlook: CardOutlook, facts: SuitFeatures, kept: Sets, card: Sets, above: Number, won: Ints
) -> Number:
    """The chance to win of those candidates that win for now, int32 [W]."""
    chance = wins_with(lut, outlook.row, above[won])
    kept = kept[won] & outlook.receiver
    knows = np.flatnonzero(kept)
    if len(knows):
        rows = won[knows]
        chance[knows] = known_wins(lut, kept[knows], _take(facts, rows), card[rows], chance[knows])
    return chance


class Best:
    """The best candidates so far, the first of equals; sets of one, int64 [S, N], and scores, int32 [S, N]."""

    def __init__(self, cards: Sets, scores: Number) -> None:
        self.cards, self.scores = cards, scores
        scores[cards == 0] = NEVER

    def offer(self, suit: int, cards: Sets, scores: Number) -> None:
        """One more candidate a place in this row."""
        better = (scores > self.scores[suit]) & (cards != 0)
        np.copyto(self.cards[suit], cards, where=better)
        np.copyto(self.scores[suit], scores, where=better)

    def of_all(self) -> Sets:
        """The best of all rows, int64 [N]."""
        for suit in range(1, len(self.cards)):
            self.offer(0, self.cards[suit], self.scores[suit])
        first: Sets = self.cards[0]
        return first


# -- moons -------------------------------------------------------------------------------------------------------------


def _moon_attempts(lut: RuleTables, batch: BatchFeatures) -> Ints:
    """The rows where the moon is worth a try."""
    if not lut.moon:
        return np.zeros(0, np.intp)
    seen, side = batch.seen, 1 | (lut.team_moon & 1 << PARTNER)
    clean = np.flatnonzero((batch.now.piles.holders & ~side) == 0)
    limit = limit_to_try(lut, points_taken(lut, batch.now.piles.captured[clean]), batch.now.played[clean])
    return _within(lut, seen.hand, seen.out, clean, limit)


def _within(lut: RuleTables, hand: Sets, out: Sets, rows: Ints, limit: Number) -> Ints:
    """The rows of those given where the hand expects to lose no more tricks than its limit, int64."""
    lost = heart_losses(lut, hand[rows], out[rows])
    may = np.flatnonzero(lost <= limit)
    rows, left = rows[may], (limit - lost)[may]
    within: Ints = rows[other_losses(lut, hand[rows], out[rows]) <= left]
    return within


def _moon_cards(lut: RuleTables, batch: BatchFeatures, rows: Ints) -> Sets:
    seen, led, beats = _take(batch.seen, rows), batch.now.led[rows], batch.beats[rows]
    later = seats_later(lut, batch.now.played[rows])
    follow, above = (seen.hand & at(lut.suit_sets, led)) != 0, seen.legal & beats
    winner = np.where(later == 0, bottom(above), top(above))
    tops = top(seen.legal & lut.suit_sets[EACH_SUIT])
    lead = Best(tops, lead_order(lut, seen, EACH_SUIT)).of_all()
    lows = bottom(spare(lut, seen, EACH_SUIT))
    lose = np.where(follow, bottom(seen.legal), Best(lows, drop_order(lut, seen, EACH_SUIT)).of_all())
    chosen: Sets = np.where(led == NO_SUIT, lead, np.where(above != 0, winner, lose))
    return chosen


# -- passing -----------------------------------------------------------------------------------------------------------


def choose_pick(lut: RuleTables, view: View) -> Ints:
    """The next card to pass for each view of the pass phase, int64 [N]."""
    hand, out = view.legal, lut.deck & ~view.hand
    left = lut.pass_count - count(view.picks)
    held = suit_to_pass(lut, hand, out, left, EACH_SUIT)
    tops = top(either(held.own & ~lut.bonus, held.own))
    spade, hearts = held.own[SPADE], held.own[HEART] & ~tops[HEART]
    worths = _pass_worth(lut, view, held, tops)
    best = Best(tops, worths)
    for suit, cards in ((HEART, top(hearts)), (HEART, bottom(hearts)), (SPADE, spade & QS_SET)):
        part = SuitToPass(*(field[suit] for field in held))
        best.offer(suit, cards, _pass_worth(lut, view, part, cards, suit))
    picked = best.of_all()
    if lut.moon:
        rows = _within(lut, hand, out, np.arange(len(hand)), limit_to_pass(lut, left))
        if len(rows):
            lost = pass_order(lut, hand[rows], out[rows], EACH_SUIT, -(EACH_SUIT == HEART).astype(np.int32))
            picked[rows] = Best(bottom(hand[rows] & lut.suit_sets[EACH_SUIT]), lost).of_all()
    return _card(picked)


def _pass_worth(lut: RuleTables, view: View, held: SuitToPass, cards: Sets, suit: int | None = None) -> Number:
    """The value of passing cards of a suit, or of each suit in its row if None."""
    worth = pass_worth(lut, held, cards)
    if suit is None:
        worth[SPADE] += pass_spade(lut, view.legal, cards[SPADE])
    elif suit == SPADE:
        worth += pass_spade(lut, view.legal, cards)
    return to_partner(lut, worth, view.offset.astype(np.int32), cards) if lut.teams else worth
