"""The numbers that the rule agent weighs its choices with, and the tables made from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import BLACK_MARIA, NUM_CARDS, NUM_RANKS, QS_SET, SUIT_SETS, Sets, cards_in
from hearts_env.lookup import Lookup

Floats = NDArray[np.float32]

COUNTS = NUM_RANKS + 1
"""How many cards of a suit there can be: 0 to 13."""
STANDARD_POINTS = 26.0
"""What the penalty cards of the standard game make; the weights are in such points whatever the scoring."""
STANDARD_QUEEN = 13.0
"""What the queen of spades costs in it."""
GUARDS = 4
"""More cards than this (less one) below a card of one's own protect it no better."""


@dataclass(frozen=True)
class Weights:
    """What the rule agent cares about, in points of the deal unless a line says otherwise."""

    willing: float = 0.35
    """Chance that a seat that could duck takes the trick all the same."""
    give: float = 0.95
    """Worth of putting one point on somebody else, in points."""
    tempo: float = 0.4
    """Cost of winning a trick, that is of having to lead."""
    dump_queen: float = 1.5
    """How much it counts that a void seat may discard the queen; 1 would be its bare expectation."""
    dump_small: float = 1.0
    """The same for other penalty cards."""
    catch: float = 1.8
    """The same for the queen that a later seat may play under a higher spade."""
    shed: float = 2.0
    """Worth of getting rid of a card that is sure to win one trick too many."""
    low: float = 0.6
    """Worth of keeping a card that loses to everything, relative to `shed`."""
    guard: float = 0.12
    """How much each lower card in the suit takes off a card's danger, as a share."""
    floor: float = 0.3
    """Danger that remains when no penalty card is out, as a share."""
    spade_high: float = 4.0
    """Danger of the ace and king of spades while the queen is in another hand."""
    short: float = 1.0
    """Worth of playing the only card of a suit; less by its square for longer suits."""
    queen_cover: float = 0.8
    """Worth of keeping a spade under one's own queen."""
    flush: float = 1.9
    """Worth of leading a spade below the queen while another hand has it."""
    flush_bare: float = 2.0
    """Cost of leading spades that guard one's own ace or king while the queen is in another hand."""
    expose: float = 5.7
    """Cost of leading spades while holding the queen."""
    stop: float = 13.333
    """Worth of a penalty card that breaks a moon, times a power of the share of points its shooter has."""
    stop_power: float = 4.0
    """That power."""
    trick_power: float = 3.0
    """The power of its share of the tricks that goes with it."""
    spread: float = 0.75
    """How much of that it is worth to give a penalty card to a third seat."""
    keep_high: float = 0.18
    """Worth of each rank of a card kept to stop a moon, times the same share."""
    keep_top: float = 1.176
    """Worth of holding the highest card of a suit back, times the share of points of the only seat with any."""
    keep_heart: float = 2.667
    """The same for hearts, on top."""
    keep_power: float = 1.5
    """The power of the share in these two."""
    threat_from: float = 0.3
    """Share of all penalty points in one pile that makes a moon a threat."""
    hunt: float = 0.15
    """Chance that a trick that could hold the bonus card does."""
    bonus_keep: float = 2.0
    """Worth of keeping a card that beats the bonus card."""
    pass_rank: float = 7.0
    """Passing: worth of the danger of a card."""
    pass_guard: float = 1.0
    """Passing: what each lower card of the suit takes off that."""
    pass_void: float = 7.5
    """Passing: worth of the last card of a suit; less by its square for longer suits."""
    pass_heart: float = 1.5
    """Passing: extra for hearts."""
    pass_queen: float = 10.7
    """Passing: worth of passing the queen of spades with no other spade."""
    pass_cover: float = 5.2
    """Passing: what each spade below the queen takes off the worth of passing Q, K or A."""
    pass_spade_high: float = 14.0
    """Passing: worth of passing the ace or king of spades with no lower spade, besides its danger."""
    pass_spade_low: float = 6.0
    """Passing: worth of keeping a spade below the queen."""
    drain: float = 0.8
    """Moon: cards of a suit that each opponent still has to play to a round of it."""
    moon_heart: float = 3.0
    """Moon: how much worse a lost trick in hearts is than another."""
    moon_limit: float = 1.5
    """Moon: expected losers up to which it is tried."""
    moon_pass: float = 2.2
    """Moon: expected losers up to which one passes for it, the cards to pass not counted."""


@dataclass(frozen=True, eq=False)
class Tables:
    """The weights and rules as arrays to look up.  `tables(lookup, weights)` makes it."""

    points: Floats  # float32 [53]  points of each card, scaled so that the penalty cards make 26; 0 for NO_CARD
    higher: Sets  # int64 [53]  cards of its suit above each card; 0 for NO_CARD
    lower: Sets  # int64 [53]  cards of its suit below each card; 0 for NO_CARD
    void: Floats  # float32 [P * 14]  chance that one of so many hands has none of so many cards
    win: Floats  # float32 [P * P * 14 * 14]  chance that none of k of so many hands beats a card
    danger: Floats  # float32 [4 * 14 * 14]  of a card with so many guards, higher and lower cards out
    point_sets: tuple[tuple[int, float], ...]
    """As in Lookup, the points scaled."""
    small_sets: tuple[tuple[int, float], ...]
    """(set, scaled points) of the penalty cards but the queen of spades."""
    queen_points: float
    """Scaled points of the queen of spades."""
    queen_share: float
    """These as a share of what they are in the standard game."""
    over_bonus: int
    """The cards that beat the bonus card in its suit."""
    bonus_points: float
    """Scaled points of the bonus card."""


@lru_cache(maxsize=256)
def tables(lookup: Lookup, weights: Weights) -> Tables:
    """The Tables of these rules and weights, always the same one for the same two."""
    scale = STANDARD_POINTS / max(lookup.penalty_points, 1)
    points = np.zeros(NUM_CARDS + 1, np.float32)
    for cards, value in lookup.point_sets:
        points[cards_in(cards)] += value * scale
    suits = [SUIT_SETS[card // NUM_RANKS] for card in range(NUM_CARDS)]
    higher = [suit & -(2 << card) for card, suit in enumerate(suits)]
    lower = [suit & ((1 << card) - 1) for card, suit in enumerate(suits)]
    others = lookup.num_players
    hands, cards_out = np.ogrid[:others, :COUNTS]
    miss = 1 - 1 / np.maximum(hands, 1)
    void = np.where(hands == 0, 1.0, miss**cards_out)
    small = ((cards & ~QS_SET, value * scale) for cards, value in lookup.point_sets if value > 0)
    queen = max(float(points[BLACK_MARIA]), 0.0)
    return Tables(
        points=points,
        higher=np.array([*higher, 0], np.int64),
        lower=np.array([*lower, 0], np.int64),
        void=void.astype(np.float32).reshape(-1),
        win=_win(others, weights.willing),
        danger=_danger(weights),
        point_sets=tuple((cards, value * scale) for cards, value in lookup.point_sets),
        small_sets=tuple(pair for pair in small if pair[0]),
        queen_points=queen,
        queen_share=queen / STANDARD_QUEEN,
        over_bonus=int(higher[cards_in(lookup.bonus)[0]]) if lookup.bonus else 0,
        bonus_points=float(points[cards_in(lookup.bonus)[0]]) if lookup.bonus else 0.0,
    )


def _win(seats: int, willing: float) -> Floats:
    later, hands, above, below = np.ogrid[:seats, :seats, :COUNTS, :COUNTS]
    miss = 1 - 1 / np.maximum(hands, 1)
    beats = (1 - miss**above) * (willing + (1 - willing) * miss**below)
    return ((1 - beats) ** later).astype(np.float32).reshape(-1)


def _danger(weights: Weights) -> Floats:
    guards, above, below = np.ogrid[:GUARDS, :COUNTS, :COUNTS]
    exposed = (below - weights.low * above) / (above + below + 1.0)
    shielded = np.where(exposed > 0, exposed * np.maximum(1 - weights.guard * guards, 0), exposed)
    return (weights.shed * shielded).astype(np.float32).reshape(-1)
