"""How the rule agent judges and plays a hand that may take every penalty card."""

from __future__ import annotations

import numpy as np

from hearts_agents.rule_sight import HEART, Sight, pick_best
from hearts_agents.rule_weights import Floats, Weights
from hearts_env.cards import NUM_SUITS, SUIT_SETS, Bools, Ints, Sets, highest, lowest
from hearts_env.rulebook import either


def losers(hand: Sets, out: Sets, others: int, weights: Weights) -> Floats:
    """Tricks that the hand expects to lose if it leads from the top, by suit; float32 [4, N].

    out: cards that others may hold.
    """
    result = np.empty((NUM_SUITS, len(hand)), np.float32)
    drain = max(others * weights.drain, 1.0)
    for suit, cards in enumerate(SUIT_SETS):
        own, rest = hand & cards, out & cards
        covered = _down(rest)
        sure = np.bitwise_count(own & ~covered)
        left = np.maximum(np.bitwise_count(rest) - sure * np.float32(drain), 0)
        result[suit] = np.minimum(np.bitwise_count(own) - sure, left / np.float32(drain))
    return result


def plan(seen: Sight, weights: Weights) -> Bools:
    """Is the moon worth a try?  bool [N]."""
    clean = seen.clean.copy()
    rows = np.flatnonzero(clean)
    if len(rows) == 0:
        return clean
    lost = losers(seen.hand[rows], seen.out[rows], seen.lookup.num_players - 1, weights)
    total = lost.sum(axis=0) + (weights.moon_heart - 1) * lost[HEART]
    clean[rows] = total <= weights.moon_limit
    return clean


def shoot(seen: Sight, weights: Weights) -> Ints:
    """The card to play towards a moon, int64 [N]."""
    lookup = seen.lookup
    suit_sets = np.array(SUIT_SETS, np.int64)[:, None]
    cards = seen.legal & suit_sets
    leads = seen.led < 0
    beats = lookup.beats[seen.best]
    above = seen.legal & beats
    last = seen.later == 0
    follow = (seen.hand & lookup.suit_sets[seen.led]) != 0
    winner = np.where(last, lowest(above), highest(above))
    sure = cards & ~_down(seen.out & suit_sets)
    length = np.bitwise_count(cards).astype(np.float32)
    lead_score = np.where(sure != 0, 100 + length, length)
    lead_score[cards == 0] = -1
    lead = pick_best(highest(cards), lead_score)
    # What cannot win is best rid of where the suit has most losers.
    lost = losers(seen.hand, seen.out, lookup.num_players - 1, weights)
    plain = seen.legal & ~lookup.play.penalty
    spare = either(plain & suit_sets, cards)
    lost[(plain & suit_sets) == 0] -= 20
    lost[cards == 0] = -100
    drop = pick_best(lowest(spare), lost)
    lose = np.where(follow, lowest(seen.legal), drop)
    chosen: Ints = np.where(leads, lead, np.where(above != 0, winner, lose))
    return chosen


def _down(sets: Sets) -> Sets:
    """Each set with every lower bit below its members filled in."""
    filled = sets | sets >> 1
    filled |= filled >> 2
    filled |= filled >> 4
    result: Sets = filled | filled >> 8
    return result
