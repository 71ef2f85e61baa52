"""The last choice of a deal, with two cards left: every way that the hidden cards may lie is played out."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hearts_agents.settled.last_seat import Numbers, for_points, no_moon, on_own_side, scoring_cards
from hearts_agents.settled.outcomes import Outcomes, game_bounds, perhaps_better, surely_no_worse, worth
from hearts_env.cards import NUM_SUITS, Bools, Ints, Sets, bit, count, highest, lowest, members
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.scoring import card_points
from hearts_env.game.state import PLAY
from hearts_env.game.view import View

LEFT = 2
"""Cards in hand: one is chosen now, and the other one is forced."""
MOST_LINES = 100
"""Ways of the hidden cards times choices for which a position is worked out."""


def ending(view: View) -> Sets:
    """The cards that are no better in any world, and worse in some, than the other card of two; int64 [N].

    A world is a way in which the hidden cards may lie.  Within each the worst that can follow the one card is
    compared with the best that can follow the other.
    """
    found = np.zeros(len(view), np.int64)
    rows = np.flatnonzero(_in_question(view))
    if len(rows) == 0:
        return found
    behind = view.rules.num_players - 1 - view.count[rows] % view.rules.num_players
    for number in np.unique(behind):
        if lines(view.rules, int(number)) <= MOST_LINES:
            group = rows[behind == number]
            found[group] = _dominated(view.take(group), int(number))
    return found


def ending_patterns(view: View) -> dict[str, Sets]:
    """The dominated cards of `ending` by the name of their pattern, int64 [N] each."""
    last = view.count % view.rules.num_players == view.rules.num_players - 1
    game = view.scores.any(axis=1)
    found = ending(view)
    return {
        "ending_in_a_game": np.where(game, found, 0),
        "ending_last_to_play": np.where(last & ~game, found, 0),
        "ending_with_choices_behind": np.where(~last & ~game, found, 0),
    }


def lines(rules: CompiledRules, behind: int) -> int:
    """Lines of play to work out for one position with so many seats still to play to the trick."""
    worlds = factorial(hidden_cards(rules, behind)) // (2**behind * factorial(rules.rules.dead_cards))
    return int(worlds) << (behind + 1)


def hidden_cards(rules: CompiledRules, behind: int) -> int:
    """Cards that the viewer has not seen: two of each seat still to play, one of each other seat, and dead ones."""
    return rules.num_players - 1 + behind + rules.rules.dead_cards


@cache
def worlds_of(seats: int, behind: int, dead: int) -> NDArray[np.int64]:
    """Every way to share out the hidden cards: which of them each seat has, as sets of places, int64 [W, seats].

    Column 0, the viewer's, has the dead cards.
    """
    sizes = [2 if seat <= behind else 1 for seat in range(1, seats)]
    ways: list[tuple[int, ...]] = [()]
    places = sum(sizes) + dead
    for size in sizes:
        ways = [
            (*way, sum(1 << place for place in chosen))
            for way in ways
            for chosen in combinations([place for place in range(places) if not sum(way) >> place & 1], size)
        ]
    every = (1 << places) - 1
    return np.array([(every & ~sum(way), *way) for way in ways], np.int64)


def _in_question(view: View) -> Bools:
    """Two legal cards, two in hand, and points that are not decided yet, bool [N]."""
    rules = view.rules
    here: Bools = (view.phase == PLAY) & (view.count >= rules.num_players) & (count(view.hand) == LEFT)
    here &= count(view.legal) == LEFT
    if rules.score.no_tricks_bonus:
        here[:] = False
    if here.any():
        here &= ((view.hand | view.out | view.table) & scoring_cards(rules)) != 0
    return here


def _dominated(view: View, behind: int) -> Sets:
    """The dominated cards of N views with so many seats still to play to the trick, int64 [N]."""
    row, hands = _worlds(view, behind)
    low, high = bit(lowest(view.hand)), bit(highest(view.hand))
    # One entry for each card of the viewer, each choice of those behind, and each world.
    ways = 2**behind
    shape = (LEFT, ways, len(row))
    card = np.broadcast_to(np.stack([low[row], high[row]])[:, None], shape).reshape(-1)
    choice = np.broadcast_to(np.arange(ways)[:, None], shape).reshape(-1)
    entry, worlds = np.tile(row, LEFT * ways), np.tile(hands, (LEFT * ways, 1))
    tricks = _played_out(view, entry, worlds, behind, card, choice)
    found = _values(view, entry, tricks).over_all(shape, 1, tricks.fits)
    first, second = (found.at(np.array([card])) for card in range(LEFT))
    game = game_bounds(view.rules, view.scores)
    low[~_never_better(row, first, second, game)] = 0
    high[~_never_better(row, second, first, game)] = 0
    return low | high


def _never_better(row: Ints, this: Outcomes, other: Outcomes, game: tuple[Numbers, Numbers]) -> Bools:
    """Is a card in no world better than the other one, and in some world perhaps worse?  bool [N].

    this, other: [1, L], one entry a world.  game: `game_bounds`, float64 [N] each.
    """
    lost, won = (each[row] for each in game)
    bad = np.bincount(row, ~surely_no_worse(other, this, lost, won)[0], len(game[0]))
    good = np.bincount(row, perhaps_better(other, this)[0], len(game[0]))
    return np.asarray((bad == 0) & (good > 0))


def _worlds(view: View, behind: int) -> tuple[Ints, Sets]:
    """Every world of each view: which view, int64 [L], and the others' hands, int64 [L, P] (the viewer's is empty)."""
    rules, seats = view.rules, view.rules.num_players
    places = hidden_cards(rules, behind)
    cards = np.nonzero(members(view.out))[1].reshape(len(view), places)
    ways = worlds_of(seats, behind, rules.rules.dead_cards)
    hands = np.zeros((len(view), len(ways), seats), np.int64)
    for place in range(places):
        hands |= (ways[None] >> place & 1) << cards[:, place, None, None]
    hands[:, :, 0] = 0
    barred = np.zeros((len(view), seats), np.int64)
    for suit in range(NUM_SUITS):
        barred |= (view.voids >> suit & 1) * rules.suit_sets[suit]
    # A card that was passed on and has not been played is where it was passed to.
    barred |= view.kept[:, None] & ~view.known
    misplaced = ((hands & barred[:, None, :]) != 0).any(axis=2)
    lost = (np.bitwise_or.reduce(hands, axis=2) & view.kept[:, None]) != view.kept[:, None]
    row, way = np.nonzero(~misplaced & ~lost)
    return row, hands[row, way]


def _values(view: View, row: Ints, tricks: _Tricks) -> Outcomes:
    """The value of the deal to the viewer after both tricks, as Outcomes [L]."""
    simple = (for_points(view) & no_moon(view))[row]
    points = -_own_points(view.rules, tricks)
    found = Outcomes.of_points(points, points.copy())
    rows = np.flatnonzero(~simple & tricks.fits)
    if len(rows):
        taken = _captured(view.taken[row[rows]], tricks.at(rows))
        found.put(rows, worth(view.rules, view.scores[row[rows]], taken))
    return found


class _Tricks(NamedTuple):
    """The last two tricks in L worlds, and who gets them."""

    fits: Bools  # bool [L]  the cards may be played so
    first: Sets  # int64 [L]
    winner: Ints  # int64 [L]
    second: Sets  # int64 [L]
    last: Ints  # int64 [L]  the winner of the second

    def at(self, rows: Ints) -> _Tricks:
        first, winner, second, last = (column[rows] for column in self[1:])
        return _Tricks(self.fits[rows], first, winner, second, last)


def _own_points(rules: CompiledRules, tricks: _Tricks) -> Numbers:
    """The points that the viewer's side gets in both tricks, float64 [L].

    Without a moon, and where the deal counts by its points, nothing else decides the payoff: they all go to somebody.
    """
    own = tricks.first * on_own_side(rules, tricks.winner) | tricks.second * on_own_side(rules, tricks.last)
    return card_points(rules, own).astype(np.float64)


def _captured(taken: Sets, tricks: _Tricks) -> Sets:
    """All cards captured when both tricks have been played, int64 [L, P].  Changes `taken`, those before."""
    every = np.arange(len(taken))
    taken[every, tricks.winner] |= tricks.first
    taken[every, tricks.last] |= tricks.second
    return taken


def _played_out(view: View, row: Ints, hands: Sets, behind: int, card: Sets, choice: Ints) -> _Tricks:
    """Both tricks, played to the end; choice: bit n says whether the n-th seat behind plays its higher card.

    row: which view, int64 [L].  hands: int64 [L, P].  card: the viewer's, as a set, int64 [L].  choice: int64 [L].
    """
    rules, every = view.rules, np.arange(len(row))
    table = view.table[row] | card
    led = rules.suit_sets[np.where(view.led[row] >= 0, view.led[row], rules.suit[lowest(card)])]
    best, winner = _over(rules, view.best[row].astype(np.int64), view.best_seat[row], card, 0)
    rest, fits = hands.copy(), np.ones(len(row), np.bool_)
    rest[:, 0] = view.hand[row] & ~card
    for seat in range(1, behind + 1):
        held = rest[:, seat]
        played = bit(np.where(choice >> (seat - 1) & 1, highest(held), lowest(held)))
        fits &= ((played & led) != 0) | ((held & led) == 0)
        best, winner = _over(rules, best, winner, played, seat)
        rest[:, seat] = held & ~played
        table = table | played
    best, last = lowest(rest[every, winner]), winner
    for seat in range(rules.num_players):
        best, last = _over(rules, best, last, rest[:, seat], seat)
    return _Tricks(fits, table, winner, np.bitwise_or.reduce(rest, axis=1), last)


def _over(rules: CompiledRules, best: Ints, winner: Ints, played: Sets, seat: int) -> tuple[Ints, Ints]:
    """The winning card and seat once `seat` has played one card; before a lead `best` is NO_CARD, which all beat."""
    wins = (played & rules.beats[best]) != 0
    return np.where(wins, lowest(played), best), np.where(wins, seat, winner)
