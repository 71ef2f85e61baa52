"""A trained policy as an agent: it sees what the environments show, and its payoff is that of duplicate deals."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from hearts_agents import PolicyAgent, make
from hearts_arena import duplicate
from hearts_env.game.rules import Rules
from hearts_env.match.agent import IllegalActionError


@pytest.mark.parametrize("players", [2, 4, 7])
def test_an_agent_beside_itself_wins_and_loses_nothing(players: int) -> None:
    rules = Rules(num_players=players)
    lowest = PolicyAgent(lambda encodings, masks: masks.argmax(axis=1), "lowest")
    result = duplicate(lowest, lowest, deals=20, rules=rules)
    assert abs(result.payoff) < 1e-9
    assert result.error < 1e-9


def test_the_rule_agent_beats_random_and_is_beaten_by_it_the_other_way_round() -> None:
    better, worse = duplicate(make("rule"), "random", deals=100), duplicate(make("random"), "rule", deals=100)
    assert better.payoff > 5 * better.error
    assert worse.payoff < -5 * worse.error
    assert str(better).startswith(f"rule against random: payoff {better.payoff:+.2f} ± ")


def test_a_policy_sees_what_the_environment_shows() -> None:
    shown: list[Any] = []

    def choose(encodings: Any, masks: Any) -> Any:
        shown.append((encodings.copy(), masks.copy()))
        return masks.argmax(axis=1)

    env = gymnasium.make("hearts_env/Hearts-v0", opponents="random", pad=True, order=True).unwrapped
    observation, info = env.reset(seed=1)
    action = PolicyAgent(choose, pad=True, order=True).act(env.view())
    ((encodings, masks),) = shown
    assert encodings.tolist() == [observation.tolist()]
    assert masks.tolist() == [info["action_mask"].astype(bool).tolist()]
    assert action.tolist() == [int(info["action_mask"].argmax())]


def test_an_illegal_choice_is_told_with_the_policy_s_name() -> None:
    with pytest.raises(IllegalActionError, match=r"illegal action .* by agent 'blind'"):
        duplicate(PolicyAgent(lambda encodings, masks: np.zeros(len(masks), np.int64), "blind"), deals=2)
