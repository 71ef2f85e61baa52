"""Choices that every book warns of, where no proof is at hand: bonus cards, queens, and points for a partner.

What a card does for the rest of the deal is not worked out here; duplicate deals have shown that to keep to these
patterns does not lose (benchmarks/dominated.py).
"""

from __future__ import annotations

import numpy as np

from hearts_agents.settled.last_seat import Choices, choices_of, may_shoot, plays_last
from hearts_env.cards import BLACK_MARIA, QS_SET, SPADES, Bools, Ints, Sets, count
from hearts_env.game.compiled_rules import PARTNER
from hearts_env.game.scoring import card_points
from hearts_env.game.state import PLAY
from hearts_env.game.view import View

MANY = 3
"""Penalty cards in one seat's hands, and in no other's, from which on it may be after the moon."""
LARGE = 13
"""Points of a trick that nobody wants."""


def bonus_patterns(view: View) -> dict[str, Sets]:
    """Dominated cards where the bonus card is at stake, by the name of their pattern, int64 [N] each."""
    names = ("free_bonus_not_played", "free_bonus_not_taken", "bonus_thrown_away")
    found = {name: np.zeros(len(view), np.int64) for name in names}
    rules = view.rules
    if not rules.bonus:
        return found
    rows = np.flatnonzero(plays_last(view) & (((view.legal | view.table) & rules.bonus) != 0))
    if len(rows) == 0:
        return found
    choices = choices_of(view.take(rows))
    table = choices.view.table[choices.row]
    free = (table & rules.score.penalty) == 0
    bonus = (choices.played & rules.bonus) != 0
    wins = choices.any(bonus & choices.own_side & free)
    found["free_bonus_not_played"][rows] = choices.dominated(wins & ~bonus)
    plain = free & ((table & rules.bonus) != 0) & ((choices.played & rules.score.penalty) == 0)
    takes = choices.any(plain & choices.own_side)
    found["free_bonus_not_taken"][rows] = choices.dominated(takes & ~choices.own_side)
    other = choices.any(~bonus & ~choices.own_side)
    found["bonus_thrown_away"][rows] = choices.dominated(bonus & ~choices.own_side & other)
    return found


def partner_patterns(view: View) -> dict[str, Sets]:
    """QS where it is played on a trick that the partner wins for certain, by the name of the pattern, int64 [N] each.

    Small penalty cards are not among them: to keep off all of them lost 0.28 ± 0.07 a deal in duplicate deals.
    """
    names = ("queen_follows_partner", "queen_discarded_on_partner")
    found = {name: np.zeros(len(view), np.int64) for name in names}
    rules = view.rules
    if not rules.teams:
        return found
    costly = (view.legal & rules.score.penalty & QS_SET) != 0
    rows = np.flatnonzero(plays_last(view) & (view.best_seat == PARTNER) & costly)
    rows = rows[~_after_moon(view.take(rows))[:, PARTNER]]
    if len(rows) == 0:
        return found
    choices = choices_of(view.take(rows))
    given = ~choices.takes & ((choices.played & QS_SET) != 0)
    follows = (choices.view.led == choices.view.rules.suit[BLACK_MARIA])[choices.row]
    cheaper = given & choices.any(~choices.takes & ~given)
    found[names[0]][rows] = choices.dominated(cheaper & follows)
    found[names[1]][rows] = choices.dominated(cheaper & ~follows)
    return found


def queen_patterns(view: View) -> dict[str, Sets]:
    """Dominated cards around a spade that costs points, by the name of their pattern, int64 [N] each."""
    found = {**_costly_spades(view), "queen_led_alone": _led_alone(view)}
    return found


def _costly_spades(view: View) -> dict[str, Sets]:
    names = (
        "costly_spade_kept_under_higher",
        "costly_spade_kept_when_void",
        "costly_spade_wins_own_trick",
        "large_trick_taken_last",
    )
    found = {name: np.zeros(len(view), np.int64) for name in names}
    rules = view.rules
    costly = SPADES & rules.score.penalty
    rows = np.flatnonzero(plays_last(view) & (((view.legal | view.table) & costly) != 0))
    if len(rows) == 0:
        return found
    choices = choices_of(view.take(rows))
    part, row = choices.view, choices.row
    spade = (choices.played & costly) != 0
    given = spade & ~choices.own_side
    hunting = _after_moon(part)
    # To give a penalty card to a seat that is after the moon may be what it needs.
    gives = choices.any(given) & ~hunting[row, part.best_seat[row]]
    spades = (part.led == rules.suit[BLACK_MARIA])[row]
    points = card_points(rules, choices.played)
    follows = gives & spades & ~choices.own_side & (points < _most(choices, points, given))
    void = gives & ((part.legal & rules.suit_sets[part.led]) == 0)[row] & (points < _most(choices, points, given))
    found[names[0]][rows] = choices.dominated(follows)
    found[names[1]][rows] = choices.dominated(void)
    own_moon = may_shoot(part)[row, 0]
    own = spade & choices.takes & ~own_moon
    found[names[2]][rows] = choices.dominated(own & choices.any(~(spade & choices.takes)))
    large = choices.takes & ~own_moon & (card_points(rules, part.table) >= LARGE)[row]
    found[names[3]][rows] = choices.dominated(large & choices.any(~choices.own_side))
    return found


def _led_alone(view: View) -> Sets:
    """QS where it is led with no higher spade in other hands, so that it comes home; int64 [N]."""
    higher = SPADES & ~((QS_SET << 1) - 1)
    sure = (view.phase == PLAY) & (view.table == 0) & ((view.legal & QS_SET) != 0) & ((view.out & higher) == 0)
    rows = np.flatnonzero(sure & (count(view.legal) > 1))
    found = np.zeros(len(view), np.int64)
    if len(rows) and view.rules.score.penalty & QS_SET:
        found[rows] = np.where(may_shoot(view.take(rows))[:, 0], 0, QS_SET)
    return found


def _most(choices: Choices, points: Ints, among: Bools) -> Ints:
    """The most points of the entries `among` of each row, int64 [M]; 0 where there are none."""
    most: Ints = np.zeros(len(choices.view), np.int64)
    np.maximum.at(most, choices.row[among], points[among])
    return most[choices.row]


def _after_moon(view: View) -> Bools:
    """Seats that alone have penalty cards, and many: they may be after the moon.  bool [N, P]."""
    return np.asarray(may_shoot(view) & (count(view.taken & view.rules.score.penalty) >= MANY))
