"""The rule agent over whole arrays of views: the candidates as rows, scored by the formulas all at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from hearts_agents.rule.features import (
    BITS,
    LITTLE,
    NEVER,
    Number,
    Sight,
    Suit,
    Threat,
    at,
    bottom,
    chances,
    count,
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
from hearts_agents.rule.passing import Held, held_of, pass_spade, pass_worth, to_partner
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
from hearts_agents.rule.tables import ABOVE_QUEEN, HEART, SPADE, Brain
from hearts_env.cards import HEARTS, NO_SUIT, NUM_SUITS, QS_SET, Bools, Ints, Sets
from hearts_env.game.rulebook import either
from hearts_env.game.scoring import PARTNER
from hearts_env.game.view import View

EACH_SUIT = np.arange(NUM_SUITS)[:, None]
"""int64 [4, 1]: for arrays of one row a suit."""


def choose_card(brain: Brain, view: View) -> Ints:
    """The card to play for each view of the play phase, int64 [N]."""
    chosen = view.legal.copy()
    choices, leads = (view.legal & (view.legal - 1)) != 0, view.led == NO_SUIT
    for here, options in ((choices & leads, _to_lead), (choices & ~leads, _to_a_trick)):
        rows = np.flatnonzero(here)
        if len(rows):
            scene = _scene(brain, view, rows)
            cards = _best(brain, scene, options)
            shoots = _tries(brain, scene)
            if len(shoots):
                cards[shoots] = _shoot(brain, scene, shoots)
            chosen[rows] = cards
    return _card(chosen)


def worths(brain: Brain, view: View, cards: Sets) -> Ints:
    """What the play of some legal cards is worth in one view of the play phase, int64 [C], in 1/UNIT of a point.

    cards: int64 [C], sets of one.
    """
    scene = _scene(brain, view, np.zeros(1, np.intp))
    hands = _hands(brain, scene)
    hand = np.argmax(cards[:, None] & hands.own != 0, axis=1)
    worth: Ints = _scores(brain, scene, hands, hand, cards).astype(np.int64)
    return worth


def shoots(brain: Brain, view: View) -> tuple[int, int] | None:
    """Where the agent plays one view for the moon: tricks it expects to lose, and how many it may; in 1/UNIT."""
    scene, one = _scene(brain, view, np.zeros(1, np.intp)), np.zeros(1, np.intp)
    if not len(_tries(brain, scene)):
        return None
    hand, out = scene.seen.hand[one], scene.seen.out[one]
    lost = heart_losses(brain, hand, out) + other_losses(brain, hand, out)
    limit = limit_to_try(brain, points_taken(brain, scene.captured), scene.played)
    return int(lost[0]), int(limit[0])


def _card(sets: Sets) -> Ints:
    """The only member of each set, int64."""
    return np.bitwise_count(sets - 1).astype(np.int64)


# -- what there is to see ----------------------------------------------------------------------------------------------


class Scene(NamedTuple):
    """Some views, with what the agent sees."""

    seen: Sight
    table: Sets  # int64 [N]
    captured: Sets  # int64 [N]
    holders: Number  # int32 [N]  bit `seat` of the seats with penalty cards
    offset: Number  # int32 [N]
    voids: Number  # int32 [N]
    played: Number  # int32 [N]
    led: NDArray[np.int8]  # int8 [N]
    beats: Sets  # int64 [N]  cards that win over the best so far
    best_seat: Number  # int32 [N]
    lead: Number  # int32 [N]  worth of leading a low spade, where one leads
    foes: Ints  # int64 [K]  rows where another may shoot the moon
    threat: Threat  # of these


def _scene(brain: Brain, view: View, rows: Ints) -> Scene:
    taken = [pile.take(rows) for pile in view.taken.T]
    captured, holders = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int32)
    for seat, pile in enumerate(taken):
        captured |= pile
        holders |= ((pile & brain.penalty) != 0) * np.int32(1 << seat)
    offset, table, played = view.offset.take(rows), view.table.take(rows), view.count.take(rows).astype(np.int32)
    kept = view.picks.take(rows) & ~view.played.T[offset, rows]
    voids = np.zeros(len(rows), np.int32)
    for seat in range(1, brain.players):
        voids |= view.voids.T[seat].take(rows).astype(np.int32) << NUM_SUITS * seat
    best_seat = view.best_seat.take(rows).astype(np.int32)
    foe = other_holder(brain, holders)
    foes = np.flatnonzero(foe)
    danger = threat(brain, foe[foes], view.taken.T[foe[foes], rows[foes]], played[foes], best_seat[foes])
    real = np.flatnonzero(danger.chance > LITTLE)
    seen, led = sight(brain, view.hand.take(rows), view.legal.take(rows), kept, captured | table), view.led.take(rows)
    return Scene(
        seen,
        table,
        captured,
        holders,
        offset.astype(np.int32),
        voids,
        played,
        led,
        at(brain.beats, view.best.take(rows)),
        best_seat,
        spade_lead(brain, seen) * (led == NO_SUIT),
        foes[real],
        Threat(*(field[real] for field in danger)),
    )


def _take(fields: Fields, rows: Ints) -> Fields:
    """Some places of each of the arrays."""
    parts = [field.take(rows) for field in fields]
    return cast(Fields, type(fields)(*parts) if hasattr(fields, "_fields") else tuple(parts))


Fields = TypeVar("Fields", bound=tuple[Number, ...])


# -- candidates --------------------------------------------------------------------------------------------------------


class Hands(NamedTuple):
    """The suits of which a table has a legal card, one after the other."""

    row: Ints  # int64 [S]  which table
    suit: Ints  # int64 [S]
    own: Sets  # int64 [S]  the legal cards
    winning: Sets  # int64 [S]  those of them that win for now
    follows: Bools  # bool [S]  it is the suit led
    seen: Sight
    facts: Suit


def _hands(brain: Brain, scene: Scene) -> Hands:
    legal = scene.seen.legal & brain.suit_sets[EACH_SUIT]
    flat = np.flatnonzero(legal)
    suit, row = np.divmod(flat, len(scene.led))
    suit = suit.astype(np.int32)
    own, seen = legal.reshape(-1)[flat], _take(scene.seen, row)
    winning = own & scene.beats[row]
    return Hands(row, suit, own, winning, scene.led[row] == suit, seen, suit_facts(brain, seen, suit))


Options: TypeAlias = Callable[[Brain, Hands], list[Sets]]


def _to_lead(brain: Brain, hands: Hands) -> list[Sets]:
    """The candidates of each suit as sets of one, each only once, in the order in which the first of equals is best."""
    own = hands.own
    low, high = bottom(own), top(either(own & ~(ABOVE_QUEEN | QS_SET), own))
    return [low, high & ~low, top(own & ABOVE_QUEEN) & ~(low | high)]


def _to_a_trick(brain: Brain, hands: Hands) -> list[Sets]:
    own, over = hands.own, np.where(hands.follows, hands.winning, 0)
    under = own & ~over
    tame = either(over & ~QS_SET, over)
    duck, low, high = top(either(under & ~brain.bonus, under)), bottom(tame), top(tame)
    least = bottom(np.where(hands.follows, under, under & HEARTS)) & ~duck
    options = [duck, low, high & ~low, least, own & QS_SET & ~(duck | low | high | least)]
    if brain.bonus:
        special = np.where(hands.follows, own & brain.bonus, 0)
        options.append(special & ~(duck | low | high | least))
    return options


def _best(brain: Brain, scene: Scene, options: Options) -> Sets:
    """The best candidate of each table as a set of one, int64 [N]."""
    hands = _hands(brain, scene)
    offered = np.stack(options(brain, hands))
    flat = np.flatnonzero(offered)
    slot, hand = np.divmod(flat, len(hands.row))
    card, row = offered.reshape(-1)[flat], hands.row[hand]
    score = _scores(brain, scene, hands, hand, card).astype(np.int64)
    # The first of equals: suit by suit, and in a suit by the order of the options.
    order = (score << ORDER_BITS) - (hands.suit[hand] * len(offered) + slot)
    highest = np.full(len(scene.led), np.iinfo(np.int64).min)
    np.maximum.at(highest, row, order)
    chosen, best = np.empty(len(highest), np.int64), np.flatnonzero(order == highest[row])
    chosen[row[best]] = card[best]
    return chosen


ORDER_BITS = 5


def _scores(brain: Brain, scene: Scene, hands: Hands, hand: Ints, card: Sets) -> Number:
    """What the play of each candidate is worth, int32 [C].  hand: int64 [C], where in `hands` it is."""
    row, facts = hands.row[hand], _take(hands.facts, hand)
    above, points = higher(facts, card), points_of(brain, card)
    gain = gain_of(brain, points, scene.best_seat[row])
    score = ease(brain, hands.seen.stakes[hand], facts, card, above) + (gain << BITS)
    won = np.flatnonzero(card & hands.winning[hand])
    hopes = _hopes(brain, scene, hands, hand[won])
    wins = np.zeros(len(card), np.int32)
    wins[won] = chance = _chance(brain, hopes, facts, hands.seen.kept[hand], card, above, won)
    score[won] -= chance * (gain[won] + points[won] + hopes.falls + hopes.cost)
    score >>= BITS
    over = np.flatnonzero(card[won] & ABOVE_QUEEN)
    if len(over):
        high = _take((hopes.share, hopes.receiver, card[won], chance), over)
        score[won[over]] -= caught(brain, _take(hands.seen, hand[won[over]]), *high)
    spades = np.flatnonzero(hands.suit[hand] == SPADE)
    lead = scene.lead[row[spades]]
    score[spades] += spade_worth(brain, _take(hands.seen, hand[spades]), card[spades], lead)
    if brain.bonus:
        score += for_bonus(brain, _take(hands.seen, hand), seats_later(brain, scene.played[row]), card, wins)
    if len(scene.foes):
        falls, bad = np.zeros(len(card), np.int32), np.zeros(len(card), np.int32)
        falls[won], bad[won] = hopes.falls, hopes.bad
        which = np.full(len(scene.led), -1)
        which[scene.foes] = np.arange(len(scene.foes))
        at_foe = np.flatnonzero(which[row] >= 0)
        danger, parts = _take(scene.threat, which[row[at_foe]]), _take((falls, bad, card, above, wins), at_foe)
        score[at_foe] += resist(brain, danger, _take(facts, at_foe), *parts)
    return score


class Hopes(NamedTuple):
    """What may come of candidates that win for now."""

    row: Number
    falls: Number
    share: Number
    """See `Chances`."""
    receiver: Number
    cost: Number
    bad: Number
    """Not 0 where there is a penalty card in the trick."""


def _hopes(brain: Brain, scene: Scene, hands: Hands, hand: Ints) -> Hopes:
    """For candidates of these hands, int64 [W]."""
    may = np.flatnonzero(hands.winning)
    row, seen = hands.row[may], _take(hands.seen, may)
    offset, voids, table, played, best_seat = (
        field[row] for field in (scene.offset, scene.voids, scene.table, scene.played, scene.best_seat)
    )
    there = trick(brain, seen, offset, voids, table, played, best_seat)
    comes = chances(brain, seen, there, _take(hands.facts, may), hands.suit[may])
    place = np.empty(len(hands.row), np.intp)
    place[may] = np.arange(len(may))
    return _take(Hopes(*comes, there.receiver, there.cost, there.row), place[hand])


def _chance(brain: Brain, hopes: Hopes, facts: Suit, kept: Sets, card: Sets, above: Number, won: Ints) -> Number:
    """The chance to win of those candidates that win for now, int32 [W]."""
    chance = wins_with(brain, hopes.row, above[won])
    kept = kept[won] & hopes.receiver
    knows = np.flatnonzero(kept)
    if len(knows):
        rows = won[knows]
        chance[knows] = known_wins(brain, kept[knows], _take(facts, rows), card[rows], chance[knows])
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


def _tries(brain: Brain, scene: Scene) -> Ints:
    """The rows where the moon is worth a try."""
    if not brain.moon:
        return np.zeros(0, np.intp)
    seen, side = scene.seen, 1 | (brain.team_moon & 1 << PARTNER)
    clean = np.flatnonzero((scene.holders & ~side) == 0)
    limit = limit_to_try(brain, points_taken(brain, scene.captured[clean]), scene.played[clean])
    return _within(brain, seen.hand, seen.out, clean, limit)


def _within(brain: Brain, hand: Sets, out: Sets, rows: Ints, limit: Number) -> Ints:
    """Those of some rows where the hand loses no more tricks than its limit."""
    lost = heart_losses(brain, hand[rows], out[rows])
    may = np.flatnonzero(lost <= limit)
    rows, left = rows[may], (limit - lost)[may]
    within: Ints = rows[other_losses(brain, hand[rows], out[rows]) <= left]
    return within


def _shoot(brain: Brain, scene: Scene, rows: Ints) -> Sets:
    seen, led, beats = _take(scene.seen, rows), scene.led[rows], scene.beats[rows]
    later = seats_later(brain, scene.played[rows])
    follow, above = (seen.hand & at(brain.suit_sets, led)) != 0, seen.legal & beats
    winner = np.where(later == 0, bottom(above), top(above))
    tops = top(seen.legal & brain.suit_sets[EACH_SUIT])
    lead = Best(tops, lead_order(brain, seen, EACH_SUIT)).of_all()
    lows = bottom(spare(brain, seen, EACH_SUIT))
    lose = np.where(follow, bottom(seen.legal), Best(lows, drop_order(brain, seen, EACH_SUIT)).of_all())
    chosen: Sets = np.where(led == NO_SUIT, lead, np.where(above != 0, winner, lose))
    return chosen


# -- passing -----------------------------------------------------------------------------------------------------------


def choose_pick(brain: Brain, view: View) -> Ints:
    """The next card to pass for each view of the pass phase, int64 [N]."""
    hand, out = view.legal, brain.deck & ~view.hand
    left = brain.pass_count - count(view.picks)
    held = held_of(brain, hand, out, left, EACH_SUIT)
    tops = top(either(held.own & ~brain.bonus, held.own))
    spade, hearts = held.own[SPADE], held.own[HEART] & ~tops[HEART]
    worths = _pass_worth(brain, view, held, tops)
    best = Best(tops, worths)
    for suit, cards in ((HEART, top(hearts)), (HEART, bottom(hearts)), (SPADE, spade & QS_SET)):
        part = Held(*(field[suit] for field in held))
        best.offer(suit, cards, _pass_worth(brain, view, part, cards, suit))
    picked = best.of_all()
    if brain.moon:
        rows = _within(brain, hand, out, np.arange(len(hand)), limit_to_pass(brain, left))
        if len(rows):
            lost = pass_order(brain, hand[rows], out[rows], EACH_SUIT, -(EACH_SUIT == HEART).astype(np.int32))
            picked[rows] = Best(bottom(hand[rows] & brain.suit_sets[EACH_SUIT]), lost).of_all()
    return _card(picked)


def _pass_worth(brain: Brain, view: View, held: Held, cards: Sets, suit: int | None = None) -> Number:
    """What it is worth to pass cards of a suit, or of each suit in its row, if None."""
    worth = pass_worth(brain, held, cards)
    if suit is None:
        worth[SPADE] += pass_spade(brain, view.legal, cards[SPADE])
    elif suit == SPADE:
        worth += pass_spade(brain, view.legal, cards)
    return to_partner(brain, worth, view.offset.astype(np.int32), cards) if brain.teams else worth
