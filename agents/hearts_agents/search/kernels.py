"""Kernels of the roll-outs: each candidate in its world, from a copy of it to the points of the deal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hearts_agents.rule.kernels import action_of_state
from hearts_agents.rule.tables import rule_record
from hearts_agents.rule.weights import Weights
from hearts_agents.search.payoffs import cards_that_count
from hearts_env.cards import NO_CARD, NO_SEAT, Bools, Ints
from hearts_env.fast.jit import Number, inner, kernel
from hearts_env.fast.step import Game, game, step_at, tables
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.rulebook import deal_points, shooter, unasked_choice
from hearts_env.game.state import MOON, PASS, PLAY, State


def outcomes(
    rules: CompiledRules,
    weights: tuple[Weights, Weights],
    worlds: State,
    world: Ints,
    seat: Ints,
    actions: Ints,
    moon: Bools,
) -> Ints:
    """The points of L roll-outs, int64 [L, P], as `search.rollouts.roll_out` plays them; `worlds` stays as it is.

    Args:
        weights: of the roll-out policy, and of a viewer who plays for the moon.
        world: int64 [L], the row of `worlds` that each begins in.
        seat: int64 [L], the viewer's.
        actions: int64 [L, D], the viewer's next ones.
        moon: bool [L], the viewer then plays for the moon.
    """
    points = np.empty((len(world), rules.num_players), np.int64)
    luts = np.concatenate([rule_record(rules, each) for each in weights])
    one = State.empty(rules, 1)
    cards = cards_that_count(rules)
    _outcomes(
        game(rules), luts, tables(worlds), tables(one), world, seat, np.ascontiguousarray(actions), moon, cards, points
    )
    return points


@kernel
def _outcomes(
    game: Game,
    luts: NDArray[np.void],
    worlds: State,
    one: State,
    world: Ints,
    seat: Ints,
    actions: Ints,
    moon: Bools,
    worth: int,
    points: Ints,
) -> None:
    """Fill `points`.  one: a table to play on."""
    for k in range(len(world)):
        n, me, at = world[k], seat[k], 0
        copy_table(game, worlds, n, one)
        going = one.phase[0] != MOON
        while going:
            turn = one.turn[0]
            if turn == me and at < actions.shape[1]:
                action: Number = actions[k, at]
                at += 1
            else:
                action = action_of_state(game, luts[1 if moon[k] and turn == me else 0], one, 0)
            going = not step_at(game, one, 0, action)
            going = going and not decided(game, worth, one)
        settle(game, worlds.scores[n], actions[k, 0], one, points[k])


@inner
def copy_table(game: Game, worlds: State, n: Number, one: State) -> None:
    """Copy table n to `one`; in the pass, as it was before the first pick."""
    passing = worlds.phase[n] == PASS
    for seat in range(game.num_players):
        one.hands[0, seat] = worlds.hands[n, seat]
        one.picks[0, seat] = 0 if passing else worlds.picks[n, seat]
        one.taken[0, seat] = worlds.taken[n, seat]
    one.table[0] = worlds.table[n]
    one.voids[0] = worlds.voids[n]
    one.deal_no[0] = worlds.deal_no[n]
    one.phase[0] = worlds.phase[n]
    one.turn[0] = 0 if passing else worlds.turn[n]
    one.count[0] = 0 if passing else worlds.count[n]
    one.led[0] = worlds.led[n]
    one.best[0] = worlds.best[n]
    one.best_seat[0] = worlds.best_seat[n]
    one.broken[0] = worlds.broken[n]


@inner
def decided(game: Game, worth: int, one: State) -> bool:
    """True once a trick is over and no hand has a card left that could change the points."""
    left = np.int64(0)
    for seat in range(game.num_players):
        left |= one.hands[0, seat]
    return bool(one.table[0] == 0 and one.phase[0] == PLAY and left & worth == 0)


@inner
def settle(game: Game, scores: Ints, chosen: Number, one: State, points: Ints) -> None:
    """Fill `points`, int64 [P], with those of the deal on the table.

    scores: int32 [P], before the deal.  chosen: the moon choice, where the table waits for one.
    """
    taken = one.taken[0]
    shot: Number = np.int64(shooter(game.score, taken))
    choice: Number = np.int64(NO_CARD)
    if one.phase[0] == MOON:
        choice = chosen
    elif shot != NO_SEAT:
        choice = np.int64(unasked_choice(game.score, taken, shot, scores, points))
    deal_points(game.score, taken, shot, choice, points)
