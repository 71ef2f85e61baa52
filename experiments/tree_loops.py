"""The loop of `tree_search`: iterations of information-set Monte-Carlo tree search as machine code, many trees."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hearts_agents.rule.kernels import action_of_state
from hearts_agents.search.candidates import CandidateActions
from hearts_agents.search.kernels import copy_table, decided, settle
from hearts_env.cards import NUM_RANKS, QS_SET, Bools, Ints, Numbers
from hearts_env.fast.jit import Number, bit, inner, kernel, zeros_below
from hearts_env.fast.step import Game, legal_at, step_at
from hearts_env.game.state import MOON, PLAY, State

NONE, OWN, ALL = range(3)
"""Whose choices are in a tree."""
NO_LINE = -1
"""The bound says which line to take."""


class Trees(NamedTuple):
    """V trees of T edges: edge 0 is the root's own, 1 to K are the lines of play, the others cards."""

    first: NDArray[np.int32]  # int32 [V, T]  an edge below; 0 if there is none
    beside: NDArray[np.int32]  # int32 [V, T]  the next edge below the same one; 0 after the last
    card: NDArray[np.int8]  # int8 [V, T]
    seen: NDArray[np.int32]  # int32 [V, T]  how often it could be taken
    visits: NDArray[np.int32]  # int32 [V, T]  how often it was
    value: Numbers  # float64 [V, T]  sum of what that paid the seat that took it
    square: Numbers  # float64 [V, T]  sum of the squares of that
    used: NDArray[np.int32]  # int32 [V]  edges

    @staticmethod
    def of(candidates: CandidateActions, edges: int) -> Trees:
        """Trees with nothing but their candidates."""
        sizes = np.bincount(candidates.owner)
        shape = len(sizes), edges
        first, beside, seen, visits = np.zeros((4, *shape), np.int32)
        value, square = np.zeros((2, *shape))
        first[:, 0] = 1
        beside[:] = np.where(np.arange(edges) < sizes[:, None], np.arange(edges) + 1, 0)
        return Trees(first, beside, np.zeros(shape, np.int8), seen, visits, value, square, (sizes + 1).astype(np.int32))


class Roots(NamedTuple):
    """The positions below which trees grow: V viewers and K candidates."""

    seat: Ints  # int64 [V]  the viewer
    start: Ints  # int64 [V]  its first line
    actions: Ints  # int64 [K, D]
    moon: Bools  # bool [K]


class Bound(NamedTuple):
    """See `Variant`."""

    explore: float
    prior: float


# -- the loop ----------------------------------------------------------------------------------------------------------


@kernel
def grow(
    game: Game,
    luts: NDArray[np.void],
    worlds: State,
    one: State,
    trees: Trees,
    roots: Roots,
    bound: Bound,
    seats: int,
    worth: int,
    world: Ints,
    owner: Ints,
    forced: Ints,
    from_base: Numbers,
    way: Ints,
    points: Ints,
    paid: Numbers,
) -> None:
    """Make I iterations, and fill `paid`, float64 [I], with the viewers' payoffs.

    world, owner, forced: int64 [I], the row of `worlds`, the tree, and the line to take (or NO_LINE).
    from_base: float64 [worlds, P], what payoffs are counted from.
    one: a table to play on.  way: int64 [2, C + 1] and points: int64 [P], to work in.
    """
    for job in range(len(world)):
        n, v, line = world[job], owner[job], forced[job]
        me = roots.seat[v]
        edge = line - roots.start[v] + 1 if line != NO_LINE else chosen(trees, v, 0, -1, 1, bound)
        line = roots.start[v] + edge - 1
        way[0, 0], way[1, 0], depth, at = edge, me, 1, 0
        inside = seats != NONE and not roots.moon[line]
        copy_table(game, worlds, n, one)
        going = one.phase[0] != MOON
        while going:
            turn: Number = np.int64(one.turn[0])
            if turn == me and at < roots.actions.shape[1]:
                action: Number = roots.actions[line, at]
                at += 1
            else:
                action = action_of_state(game, luts[1 if roots.moon[line] and turn == me else 0], one, 0)
                if inside and one.phase[0] == PLAY:
                    options = kinds(game, one, action) if seats == ALL or turn == me else bit(action)
                    favourite = edge_of(trees, v, edge, action)
                    if options & (options - 1) == 0:
                        edge = favourite
                        inside = edge > 0
                    elif with_all(trees, v, edge, options):
                        edge = chosen(trees, v, edge, options, favourite, bound)
                        action = np.int64(trees.card[v, edge])
                        way[0, depth], way[1, depth] = edge, turn
                        depth += 1
                        inside = trees.visits[v, edge] > 0
                    else:
                        inside = False
            going = not step_at(game, one, 0, action) and not decided(game, worth, one)
        settle(game, worlds.scores[n], roots.actions[line, 0], one, points)
        total = np.int64(0)
        for each in range(game.num_players):
            total += points[each]
        paid[job] = _payoff(game, total, points[me])
        for k in range(depth):
            edge, mover = way[0, k], way[1, k]
            gain = _payoff(game, total, points[mover]) - from_base[n, mover]
            trees.visits[v, edge] += 1
            trees.value[v, edge] += gain
            trees.square[v, edge] += gain * gain


@inner
def _payoff(game: Game, total: Number, own: Number) -> Number:
    return np.float64(total - own) / (game.num_players - 1) - own


@inner
def chosen(trees: Trees, v: Number, above: Number, options: Number, favourite: Number, by: Bound) -> Number:
    """The edge with the best bound of those for `options`; what hasn't been visited is taken first, or by its share."""
    size, visits, value = 0, 0, 0.0
    edge = np.int64(trees.first[v, above])
    while edge > 0:
        if options >> trees.card[v, edge] & 1:
            trees.seen[v, edge] += 1
            size += 1
            visits += trees.visits[v, edge]
            value += trees.value[v, edge]
        edge = np.int64(trees.beside[v, edge])
    best, best_bound = np.int64(0), -np.inf
    edge = np.int64(trees.first[v, above])
    while edge > 0:
        if options >> trees.card[v, edge] & 1:
            tried, seen = np.float64(trees.visits[v, edge]), np.float64(trees.seen[v, edge])
            mean = trees.value[v, edge] / tried if tried > 0 else value / max(visits, 1)
            if by.prior > 0:
                share = by.prior if edge == favourite else (1 - by.prior) / (size - 1)
                bound = mean + by.explore * share * np.sqrt(seen) / (1 + tried)
            elif tried > 0:
                bound = mean + by.explore * np.sqrt(np.log(seen) / tried)
            else:
                bound = 1e6 + (edge == favourite)
            if bound > best_bound:
                best, best_bound = edge, bound
        edge = np.int64(trees.beside[v, edge])
    return best


@inner
def with_all(trees: Trees, v: Number, above: Number, options: Number) -> bool:
    """Make the edges for these cards below another; was there room?"""
    made = True
    while options:
        made &= edge_of(trees, v, above, zeros_below(options)) > 0
        options &= options - 1
    return made


@inner
def edge_of(trees: Trees, v: Number, above: Number, card: Number) -> Number:
    """The edge of a card below another, made if it isn't there; 0 if there is no room."""
    edge = np.int64(trees.first[v, above])
    while edge > 0 and trees.card[v, edge] != card:
        edge = np.int64(trees.beside[v, edge])
    if edge == 0 and trees.used[v] < trees.first.shape[1]:
        edge = np.int64(trees.used[v])
        trees.used[v] += 1
        trees.card[v, edge], trees.first[v, edge] = card, 0
        trees.beside[v, edge], trees.first[v, above] = trees.first[v, above], edge
    return edge


@inner
def kinds(game: Game, one: State, favourite: Number) -> Number:
    """One card of each kind that the seat to act may play, as `hearts_agents.search.candidates.kinds`; a set."""
    barrier, found, last, kept = one.table[0], np.int64(0), np.int64(-1), np.int64(0)
    for seat in range(game.num_players):
        barrier |= one.hands[0, seat] if seat != one.turn[0] else 0
    left = legal_at(game, one, 0)
    while left:
        card = zeros_below(left)
        left &= left - 1
        same_suit = last >= 0 and card // NUM_RANKS == last // NUM_RANKS
        if not same_suit or barrier & (bit(card) - bit(last)) or QS_SET & (bit(card) | bit(last)):
            found, kept = found | bit(card), card
        elif card == favourite:
            found, kept = found ^ bit(kept) | bit(card), card
        last = card
    return found
