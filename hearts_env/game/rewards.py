"""Rewards from points and scores: what the environments pay out.

Rewards are float64 with one column a seat; higher is better.  The four kinds:

`points`    minus the deal's points, paid at the end of the deal.
`tricks`    minus the points as tricks are taken; the last step of a deal pays what is missing, so that the rewards of
            a deal sum to minus its points, moon and bonuses included.
`zero_sum`  `payoff` of the deal's points, paid at its end.
`rank`      `rank` of the final scores, paid at the end of the game; where the episode is one deal, of its points.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import Ints
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.scoring import PARTNER, card_points, side_scores
from hearts_env.game.state import GAME_OVER, State

Reward = Literal["points", "tricks", "zero_sum", "rank"]
REWARDS: tuple[Reward, ...] = ("points", "tricks", "zero_sum", "rank")
Episode = Literal["deal", "game"]
EPISODES: tuple[Episode, ...] = ("deal", "game")
Rewards = NDArray[np.float64]


def payoff(rules: CompiledRules, points: NDArray[np.integer]) -> Rewards:
    """Zero-sum payoff: the mean of the opponents' points minus one's own; with teams, of the sides' sums.

    points: integers [N, P]; float64 [N, P].
    """
    if rules.teams:
        side = side_scores(rules, points.astype(np.int64))
        result: Rewards = side.sum(axis=-1, keepdims=True) / 2 - 2 * side
    else:
        total = points.sum(axis=-1, keepdims=True)
        result = (total - points) / (rules.num_players - 1) - points
    return result


def rank(rules: CompiledRules, points: NDArray[np.integer]) -> Rewards:
    """The share of opponents with more points minus the share with fewer: 1 alone in front, -1 alone at the end.

    The places between are evenly spaced (four seats: 1, 1/3, -1/3, -1), seats that are level share the mean of their
    places, and the sum is zero.  With teams the sides' sums compete: both partners get 1, 0 or -1.

    points: integers [N, P], of a deal or the scores of a game; float64 [N, P].
    """
    side = side_scores(rules, points.astype(np.int64))
    ahead = np.sign(side[:, None, :] - side[:, :, None]).sum(axis=2)
    opponents = rules.num_players - (PARTNER if rules.teams else 1)
    shares: Rewards = ahead / opponents
    return shares


def points_so_far(rules: CompiledRules, state: State) -> Ints:
    """The points of the cards captured in this deal; what the deal has added once it is over.  int64 [N, P]."""
    captured = card_points(rules, state.taken)
    over = state.over
    return np.where(over[:, None], state.points, captured) if over.any() else captured


def step_rewards(rules: CompiledRules, state: State, before: Ints, *, reward: Reward, episode: Episode) -> Rewards:
    """The reward of each seat for the step that led to `state`, in which the next deal is not dealt yet.

    before: int64 [N, P]  `points_so_far` before that step, read for `tricks` only.  float64 [N, P].
    """
    if reward == "tricks":
        return (before - points_so_far(rules, state)).astype(np.float64)
    pays = state.phase == GAME_OVER if reward == "rank" and episode == "game" else state.over
    if not pays.any():
        return np.zeros(state.points.shape)
    if reward == "points":
        amounts: Rewards = -state.points.astype(np.float64)
    elif reward == "zero_sum":
        amounts = payoff(rules, state.points)
    else:
        amounts = rank(rules, state.scores if episode == "game" else state.points)
    return np.where(pays[:, None], amounts, 0.0) + 0.0


def foul_reward(compiled: CompiledRules, reward: Reward) -> float:
    """The reward for an illegal action that ends the episode: the worst that any deal could bring the seat.

    The worst is to take all penalty cards without a moon while the others take every bonus, or a moon of others.
    With `rank` it is -1, the last place.
    """
    if reward == "rank":
        return -1.0
    rules, seats = compiled.rules, compiled.num_players
    value = rules.moon_value if isinstance(rules.moon_value, int) else compiled.penalty_points
    value += rules.sun_value
    adds, subtracts = rules.moon in ("choice", "add", "auto"), rules.moon in ("choice", "subtract", "auto")
    if reward != "zero_sum":
        return -float(max(compiled.penalty_points, value if adds else 0))
    side = PARTNER if compiled.teams else 1
    share = 1.0 if compiled.teams else 1 / (seats - 1)
    bonuses = sum(cards.bit_count() * points for cards, points in compiled.point_sets if points < 0)
    plain = share * (bonuses + rules.no_tricks_bonus * (seats - side)) - compiled.penalty_points
    added = share * (bonuses + value * (seats - 2 * side)) - side * value
    subtracted = share * (bonuses - side * value)
    return min(plain, added if adds else 0.0, subtracted if subtracts else 0.0)
