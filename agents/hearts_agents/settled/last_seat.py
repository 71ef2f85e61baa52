"""Facts about seats that play last to a trick: which cards take it, who gets it, and who may shoot the moon."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import Bools, Ints, Sets, bit, count, members
from hearts_env.game.compiled_rules import PARTNER, CompiledRules
from hearts_env.game.scoring import side_scores
from hearts_env.game.state import PLAY
from hearts_env.game.view import View

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Choices:
    """The legal cards of N seats that play last to their tricks; M entries, one a card, in order of row and card."""

    view: View
    """The N seats."""
    row: Ints  # int64 [M]  which of the seats
    card: Ints  # int64 [M]
    played: Sets  # int64 [M]  the card as a set
    takes: Bools  # bool [M]  it wins the trick
    taker: Ints  # int64 [M]  who gets the trick, as the viewer counts the seats

    @property
    def own_side(self) -> Bools:
        """bool [M]: the trick goes to the viewer or its partner."""
        return on_own_side(self.view.rules, self.taker)

    def dominated(self, found: Bools) -> Sets:
        """The sets of actions for which `found` (bool [M]) holds, int64 [N]."""
        sets = np.zeros(len(self.view), np.int64)
        np.bitwise_or.at(sets, self.row[found], self.played[found])
        return sets

    def any(self, found: Bools) -> Bools:
        """Does `found` hold for some card of the same seat?  bool [M]."""
        seats = np.bincount(self.row[found], minlength=len(self.view)) > 0
        return np.asarray(seats[self.row])


def plays_last(view: View) -> Bools:
    """The viewer is the last to play to the trick and has a choice, bool [N]."""
    players = view.rules.num_players
    last: Bools = (view.phase == PLAY) & (view.count % players == players - 1) & (count(view.legal) > 1)
    return last


def choices_of(view: View) -> Choices:
    """The choices at views that are all of seats that play last."""
    row, card = np.nonzero(members(view.legal))
    played = bit(card)
    takes = (view.rules.beats[view.best][row] & played) != 0
    return Choices(view, row, card, played, takes, np.where(takes, 0, view.best_seat[row]))


def on_own_side(rules: CompiledRules, seat: Ints) -> Bools:
    """Is the seat (as the viewer counts) the viewer itself, or its partner?  bool, the shape of `seat`."""
    own: Bools = seat % (PARTNER if rules.teams else rules.num_players) == 0
    return own


def may_shoot(view: View) -> Bools:
    """Seats that may still shoot the moon: no other seat (or side) has a penalty card.  bool [N, P]."""
    rules = view.rules
    if not rules.score.moons:
        return np.zeros(view.taken.shape, np.bool_)
    held = view.taken & rules.score.penalty
    columns = [held[:, seat] for seat in range(rules.num_players)]
    if rules.score.team_moon:
        columns = [columns[seat] | columns[seat ^ PARTNER] for seat in range(rules.num_players)]
    everything = reduce(or_, columns)
    return np.stack([everything == column for column in columns], axis=1)


def no_moon(view: View) -> Bools:
    """Nobody can shoot the moon any more, bool [N]."""
    return ~np.asarray(may_shoot(view).any(axis=1))


def for_points(view: View) -> Bools:
    """The deal counts by its points alone: it cannot end the game, or no game is under way.  bool [N].

    A seat whose table has no scores yet plays a single deal, or the first of a game.
    """
    rules, compiled = view.rules.rules, view.rules
    moon = rules.moon_value if isinstance(rules.moon_value, int) else compiled.penalty_points
    most = max(compiled.penalty_points, moon + rules.sun_value) * (PARTNER if compiled.teams else 1)
    highest = np.maximum(side_scores(compiled, view.scores), view.scores).max(axis=1)
    points: Bools = ~view.scores.any(axis=1) | (highest + most < compiled.score.end)
    return points


def weight(rules: CompiledRules, cards: Sets) -> Ints:
    """The points of the cards without their signs, int64, the shape of `cards`."""
    total = np.zeros(cards.shape, np.int64)
    for of, points in rules.point_sets:
        total += count(cards & of) * abs(points)
    return total


def scoring_cards(rules: CompiledRules) -> int:
    """The set of cards that are worth points, bonus card included."""
    return reduce(or_, (cards for cards, _ in rules.point_sets), 0)
