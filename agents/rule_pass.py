"""How the rule agent passes: one pick at a time, the most dangerous card first."""

from __future__ import annotations

import numpy as np

from hearts_agents.rule_moon import losers
from hearts_agents.rule_sight import EACH_SUIT, HEART, NEVER, SPADE, pick_best
from hearts_agents.rule_weights import Weights, tables
from hearts_env.cards import BLACK_MARIA, QS_SET, SPADES, Ints, highest, lowest
from hearts_env.rulebook import either
from hearts_env.view import View

_LOW_SPADES = SPADES & ((1 << BLACK_MARIA) - 1)


def choose_pick(view: View, weights: Weights) -> Ints:
    """The next card to pass for each view of the pass phase, int64 [N]."""
    lookup = view.lookup
    tab = tables(lookup, weights)
    hand = view.hand & ~view.picks
    out = lookup.deck & ~view.hand
    suit_sets = lookup.suit_sets[EACH_SUIT]
    own = view.legal & suit_sets
    tops = highest(either(own & ~lookup.bonus, own))
    # The queen under ace or king is an option of its own.
    options = np.concatenate([tops, highest(view.legal & QS_SET)[None, :]])
    order = [0, 1, 2, 3, SPADE]
    size = np.bitwise_count(own)[order]
    above = np.bitwise_count(out & tab.higher[options])
    below = np.bitwise_count(out & tab.lower[options])
    guards = np.bitwise_count(hand & tab.lower[options])
    score = np.float32(weights.pass_rank) * (below - weights.low * above) / (above + below + np.float32(1))
    score -= guards * np.float32(weights.pass_guard)
    score += np.float32(weights.pass_void) / np.maximum(size * size, 1)
    score[HEART] += weights.pass_heart
    cover = np.bitwise_count(hand & _LOW_SPADES) * np.float32(weights.pass_cover)
    spade = options[SPADE:]
    high = np.where(spade == BLACK_MARIA, weights.pass_queen, weights.pass_spade_high) - cover
    score[SPADE:] += (np.where(spade < BLACK_MARIA, -weights.pass_spade_low, high) * tab.queen_share).astype(np.float32)
    score += (tab.points[options] < 0) * np.float32(-100)
    score[options < 0] = NEVER
    picked = pick_best(options, score)
    return _moon_picks(view, weights, hand, out, picked)


def _moon_picks(view: View, weights: Weights, hand: Ints, out: Ints, picked: Ints) -> Ints:
    """The picks, changed where the hand may shoot the moon: there the lowest card of the worst suit goes."""
    if view.lookup.rules.moon == "none":
        return picked
    lost = losers(hand, out, view.lookup.num_players - 1, weights)
    done = np.bitwise_count(view.picks)
    to_pass = view.lookup.pass_count - done
    total = lost.sum(axis=0) + (weights.moon_heart - 1) * lost[HEART] - to_pass
    tries = total <= weights.moon_pass
    if not tries.any():
        return picked
    cards = hand & view.lookup.suit_sets[EACH_SUIT]
    lost[HEART] *= weights.moon_heart
    lost[cards == 0] = -1
    return np.where(tries, pick_best(lowest(cards), lost), picked)
