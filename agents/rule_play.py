"""How the rule agent plays: the expected cost of each card worth a thought, without a loop over tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hearts_agents.rule_moon import plan, shoot
from hearts_agents.rule_sight import EACH_SUIT, HEART, NEVER, SPADE, Sight, pick_best, sight
from hearts_agents.rule_weights import COUNTS, GUARDS, Floats, Weights
from hearts_env.cards import (
    BLACK_MARIA,
    NO_SUIT,
    NUM_RANKS,
    NUM_SUITS,
    QS_SET,
    SPADES,
    Bools,
    Ints,
    Sets,
    highest,
    lowest,
)
from hearts_env.rulebook import either
from hearts_env.scoring import PARTNER
from hearts_env.view import View

_HIGH_SPADES = SPADES & -(2 << BLACK_MARIA)
_LOWEST_SPADE = SPADE * NUM_RANKS


@dataclass(slots=True)
class Suits:
    """What there is to know of S suits at N tables."""

    own: Sets  # int64 [S, N]
    size: NDArray[np.uint8]  # uint8 [S, N]  own cards
    hands: NDArray[np.uint8]  # uint8 [S, N]  other hands that may hold cards of the suit
    later: NDArray[np.uint8]  # uint8 [S, N]  those of them that play to the trick after this one
    falls: Floats  # float32 [S, N]  points expected from the seats after this one, if it wins

    def rows(self, order: list[int]) -> Suits:
        """The suits in this order, one for each row of candidates."""
        return Suits(self.own[order], self.size[order], self.hands[order], self.later[order], self.falls[order])


def choose_card(view: View, weights: Weights) -> Ints:
    """The card to play for each view of the play phase, int64 [N]."""
    seen = sight(view, weights)
    leads = seen.led == NO_SUIT
    follows = (seen.hand & view.lookup.suit_sets[seen.led]) != 0
    tries = plan(seen, weights)
    chosen = np.empty(len(seen), np.int64)
    for rows, choose in (
        (tries, shoot),
        (leads & ~tries, _lead),
        (follows & ~tries, _follow),
        (~leads & ~follows & ~tries, _discard),
    ):
        if rows.all():
            return choose(seen, weights)
        if rows.any():
            places = np.flatnonzero(rows)
            chosen[places] = choose(seen.take(places), weights)
    return chosen


def _lead(seen: Sight, weights: Weights) -> Ints:
    suits = _suits(seen, EACH_SUIT)
    cards = seen.legal & seen.lookup.suit_sets[EACH_SUIT]
    tame = cards & ~np.where(seen.queen_out | seen.queen_held, _HIGH_SPADES | QS_SET, 0)
    options = np.concatenate([lowest(cards), highest(either(tame, cards))])
    score = _scores(seen, weights, suits.rows([0, 1, 2, 3, 0, 1, 2, 3]), options)
    bare = (seen.hand & _HIGH_SPADES) != 0
    flush = seen.queen_out * np.where(bare, -weights.flush_bare, weights.flush) - seen.queen_held * weights.expose
    score[SPADE::NUM_SUITS] += (flush * seen.tables.queen_share).astype(np.float32)
    return pick_best(options, score)


def _follow(seen: Sight, weights: Weights) -> Ints:
    suits = _suits(seen, seen.led[None, :].astype(np.int64))
    bonus = seen.lookup.bonus
    beats = seen.lookup.beats[seen.best]
    above, below = seen.legal & beats, seen.legal & ~beats
    tame = either(above & ~QS_SET, above)
    rows = [highest(either(below & ~bonus, below)), lowest(tame), highest(tame), lowest(below)]
    if bonus:
        rows.append(highest(seen.legal & bonus))
    options = np.stack(rows)
    return pick_best(options, _scores(seen, weights, suits, options))


def _discard(seen: Sight, weights: Weights) -> Ints:
    suits = _suits(seen, EACH_SUIT)
    cards = seen.legal & seen.lookup.suit_sets[EACH_SUIT]
    tops = highest(either(cards & ~seen.lookup.bonus, cards))
    # The queen under ace or king is a candidate of its own.
    options = np.concatenate([tops, highest(seen.legal & QS_SET)[None, :]])
    return pick_best(options, _scores(seen, weights, suits.rows([0, 1, 2, 3, SPADE]), options))


def _suits(seen: Sight, suit: Ints) -> Suits:
    """suit: int64 [S, 1] or [1, N]."""
    seats = seen.lookup.num_players
    sets = seen.lookup.suit_sets[suit]
    own, rest = seen.hand & sets, seen.out & sets
    rest_n = np.bitwise_count(rest)
    voids = (seen.voids >> suit) & _seat_bits(seats)
    hands = (seats - 1) - np.bitwise_count(voids)
    later_bits = _LATER_BITS[seen.later]
    void_later = np.bitwise_count(voids & later_bits)
    later = seen.later.astype(np.uint8) - void_later
    missing = seen.tables.void.take(hands * np.uint8(COUNTS) + rest_n)
    void = later * missing
    following = later - void
    void += void_later
    falls = void * seen.dumped
    for cards, points in seen.tables.small_sets:
        falls += following * (np.bitwise_count(rest & cards) * np.float32(points)) / np.maximum(rest_n, 1)
    return Suits(own, np.bitwise_count(own), hands.astype(np.uint8), later, falls)


def _scores(seen: Sight, weights: Weights, suits: Suits, cards: Ints) -> Floats:
    """The worth of each candidate, float32 [K, N].

    cards: int64 [K, N], NO_CARD where there is none; suits: K rows, or one for all.
    """
    tab = seen.tables
    seats = np.int16(seen.lookup.num_players)
    lower = tab.lower[cards]
    above = np.bitwise_count(seen.out & tab.higher[cards])
    below = np.bitwise_count(seen.out & lower)
    guards = np.minimum(np.bitwise_count(seen.hand & lower), GUARDS - 1)
    place = above * np.int16(COUNTS) + below
    # All places are within the tables; "wrap" is the fastest way to say so.
    wins = tab.win.take((suits.later * seats + suits.hands) * np.int16(COUNTS * COUNTS) + place, mode="wrap")
    if (seen.led != NO_SUIT).any():
        wins *= (seen.lookup.beats[seen.best] >> cards) & 1
    danger = tab.danger.take(guards * np.int16(COUNTS * COUNTS) + place, mode="wrap")
    danger += np.float32(weights.short) / np.maximum(suits.size * suits.size, 1)
    danger *= seen.stakes
    high_spade = (cards > BLACK_MARIA) & seen.queen_out
    danger += high_spade * np.float32(weights.spade_high * tab.queen_share)
    cover = (cards >= _LOWEST_SPADE) & (cards < BLACK_MARIA) & seen.queen_held
    danger -= cover * np.float32(weights.queen_cover * tab.queen_share)
    score: Floats = danger + _in_trick(seen, weights, suits, cards, wins, high_spade)
    if seen.lookup.bonus:
        score += _for_bonus(seen, weights, cards, wins)
    _resist(seen, weights, cards, above, wins, score)
    score[cards < 0] = NEVER
    return score


def _in_trick(seen: Sight, weights: Weights, suits: Suits, cards: Ints, wins: Floats, high_spade: Bools) -> Floats:
    """What the trick itself is worth: points given to others less points taken, float32 [K, N].

    high_spade: bool [K, N]  cards that the queen in another hand may fall under.
    """
    points = seen.tables.points[cards]
    on_table, give = seen.on_table, np.full(len(seen), weights.give, np.float32)
    if seen.lookup.teams:
        # The partner's trick costs the side as much as one's own.
        helps = seen.best_seat == PARTNER
        on_table = np.where(helps, np.float32(0), on_table)
        give = np.where(helps, -give, give)
    cost = suits.falls + points
    cost += on_table + np.float32(weights.tempo)
    held_later = suits.later / np.maximum(suits.hands, 1).astype(np.float32)
    cost += high_spade * held_later * np.float32(weights.catch * seen.tables.queen_points)
    result: Floats = (1 - wins) * points * give - wins * cost
    return result


def _for_bonus(seen: Sight, weights: Weights, cards: Ints, wins: Floats) -> Floats:
    """What cards that beat the bonus card are worth as such, float32 [K, N]."""
    tab, bonus = seen.tables, seen.lookup.bonus
    over = (tab.over_bonus >> np.maximum(cards, 0)) & 1
    out = (seen.out & bonus) != 0
    alive = out | ((seen.hand & bonus) != 0)
    chance = out * seen.later * np.float32(-weights.hunt * tab.bonus_points)
    result: Floats = (over * (wins * chance - alive * np.float32(weights.bonus_keep))).astype(np.float32)
    return result


def _resist(seen: Sight, weights: Weights, cards: Ints, above: NDArray[np.uint8], wins: Floats, score: Floats) -> None:
    """Where one opponent may shoot the moon, add to `score` (float32 [K, N]) what breaks it."""
    rows = np.flatnonzero(seen.shooter)
    if len(rows) == 0:
        return
    penalty, shooter = seen.lookup.play.penalty, seen.shooter[rows]
    keep = seen.share[rows] ** np.float32(weights.keep_power)
    share = seen.share[rows] ** np.float32(weights.stop_power) * seen.won[rows] ** np.float32(weights.trick_power)
    wins, cards = wins[:, rows], cards[:, rows]
    stop = share * np.float32(weights.stop)
    given = (penalty >> np.maximum(cards, 0)) & 1
    feeds = np.where(seen.best_seat[rows] == shooter, -stop, stop * np.float32(weights.spread))
    feeds *= seen.best_seat[rows] >= 0
    change = wins * (seen.bad_trick[rows] | (given != 0)) * stop + (1 - wins) * given * feeds
    change -= share * np.float32(weights.keep_high) * (np.maximum(cards, 0) % NUM_RANKS)
    hearts = (cards >= HEART * NUM_RANKS) & (cards < SPADE * NUM_RANKS)
    worth = np.float32(weights.keep_top) + hearts * np.float32(weights.keep_heart)
    change -= keep * worth * (1 - wins) / (1 + above[:, rows].astype(np.float32))
    score[:, rows] += change


def _seat_bits(seats: int) -> int:
    """Bit 4 * seat of each seat but the viewer."""
    return sum(1 << NUM_SUITS * seat for seat in range(1, seats))


_LATER_BITS = np.array([_seat_bits(later + 1) for later in range(8)], np.int64)
