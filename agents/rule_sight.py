"""What the rule agent sees in a view: the sets, chances and threats that its choices are made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hearts_agents.rule_weights import STANDARD_POINTS, Floats, Tables, Weights, tables
from hearts_env.cards import NUM_SUITS, QS_SET, Bools, Ints, Sets
from hearts_env.lookup import Lookup
from hearts_env.scoring import PARTNER
from hearts_env.view import View

EACH_SUIT = np.arange(NUM_SUITS)[:, None]
"""int64 [4, 1]: for arrays of one row a suit."""
HEART, SPADE = 2, 3
NEVER = np.float32(-1e9)
"""The score of a candidate that is not there."""


@dataclass(slots=True)
class Sight:
    """What the choice of a card looks at: N decisions."""

    lookup: Lookup
    tables: Tables
    hand: Sets  # int64 [N]
    legal: Sets  # int64 [N]
    out: Sets  # int64 [N]  cards in other hands, or dead
    voids: Ints  # int64 [N]  bit 4 * seat + suit: this seat has failed to follow this suit
    later: Ints  # int64 [N]  seats that play to the trick after this one
    best_seat: Ints  # int64 [N]
    best: NDArray[np.int8]  # int8 [N]  card that is winning the trick
    led: NDArray[np.int8]  # int8 [N]
    on_table: Floats  # float32 [N]  points in the trick
    bad_trick: Bools  # bool [N]  there is a penalty card in the trick
    dumped: Floats  # float32 [N]  points expected from each void seat
    stakes: Floats  # float32 [N]  how much danger is left, as a share
    queen_out: Bools  # bool [N]
    queen_held: Bools  # bool [N]
    clean: Bools  # bool [N]  the other side has no penalty card
    shooter: NDArray[np.intp]  # [N]  the only seat with penalty cards if that is a threat, else 0
    share: Floats  # float32 [N]  its share of all penalty points
    won: Floats  # float32 [N]  its share of the tricks

    def __len__(self) -> int:
        return len(self.hand)

    def take(self, rows: NDArray[np.intp]) -> Sight:
        """Some of the decisions."""
        names = self.__slots__[2:]
        return Sight(self.lookup, self.tables, *(getattr(self, name)[rows] for name in names))


def sight(view: View, weights: Weights) -> Sight:
    """What there is to see in views of the play phase."""
    info, tab = view.lookup, tables(view.lookup, weights)
    out = info.deck & ~(view.hand | np.bitwise_or.reduce(view.played, axis=1))
    queen_out = (out & QS_SET) != 0
    small, number = _points_in(tab.small_sets, out), np.bitwise_count(out & info.play.penalty & ~QS_SET)
    queen = queen_out * np.float32(tab.queen_points)
    others = info.num_players - 1
    dumped = small * (np.float32(weights.dump_small) / np.maximum(number, others + 1))
    dumped += queen * np.float32(weights.dump_queen / others)
    if info.play.ban:
        dumped[view.count <= others] = 0
    has = (view.taken & info.play.penalty) != 0
    clean, shooter, share, won = _threat(view, weights, has)
    return Sight(
        lookup=info,
        tables=tab,
        hand=view.hand,
        legal=view.legal,
        out=out,
        voids=view.voids @ (1 << NUM_SUITS * np.arange(info.num_players)),
        later=others - view.count % info.num_players,
        best_seat=view.best_seat,
        best=view.best,
        led=view.led,
        on_table=_points_in(tab.point_sets, view.table),
        bad_trick=(view.table & info.play.penalty) != 0,
        dumped=dumped,
        stakes=(small + queen) * np.float32((1 - weights.floor) / STANDARD_POINTS) + np.float32(weights.floor),
        queen_out=queen_out,
        queen_held=(view.hand & QS_SET) != 0,
        clean=clean,
        shooter=shooter,
        share=share,
        won=won,
    )


def _threat(view: View, weights: Weights, has: Bools) -> tuple[Bools, NDArray[np.intp], Floats, Floats]:
    """The fields clean, shooter, share and won of a Sight.  has: bool [N, P]  seats with penalty cards."""
    rules = view.lookup.rules
    tables_n = len(view)
    share, won = np.zeros(tables_n, np.float32), np.zeros(tables_n, np.float32)
    if rules.moon == "none":
        return np.zeros(tables_n, np.bool_), np.zeros(tables_n, np.intp), share, won
    number = has.sum(axis=1, dtype=np.int8)
    own = has[:, 0] | has[:, PARTNER] if rules.team_moon == "team" else has[:, 0]
    mine = has[:, 0] + has[:, PARTNER].astype(np.int8) if rules.team_moon == "team" else has[:, 0]
    clean = number == mine
    threat = (number == 1) & ~own
    if rules.teams:
        threat &= ~has[:, PARTNER]
    rows = np.flatnonzero(threat)
    seat = np.argmax(has[rows], axis=1)
    part = view.points[rows, seat].astype(np.float32) / np.float32(view.lookup.penalty_points)
    real = part >= weights.threat_from
    rows, seat = rows[real], seat[real]
    shooter = np.zeros(tables_n, np.intp)
    shooter[rows] = seat
    share[rows] = part[real]
    piles = np.bitwise_count(view.taken[rows])
    won[rows] = piles[np.arange(len(rows)), seat] / piles.sum(axis=1, dtype=np.float32)
    return clean, shooter, share, won


def _points_in(point_sets: tuple[tuple[int, float], ...], cards: Sets) -> Floats:
    total = np.zeros(len(cards), np.float32)
    for members, points in point_sets:
        total += np.bitwise_count(cards & members) * np.float32(points)
    return total


def pick_best(options: Ints, score: Floats) -> Ints:
    """The candidate with the highest score at each table, the first of equals; int64 [N]."""
    card: Ints = options[0]
    top = score[0]
    for row in range(1, len(options)):
        better = score[row] > top
        card = np.where(better, options[row], card)
        top = np.maximum(top, score[row])
    return card
