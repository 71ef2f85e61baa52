"""Nobody but registered kernels of this distribution is handed a State, hidden cards and all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hearts_agents.random_agent import RandomAgent
from hearts_agents.rule.agent import RuleAgent
from hearts_env.envs.single import HeartsEnv
from hearts_env.envs.vector import HeartsVectorEnv
from hearts_env.executor import using
from hearts_env.game.rules import Rules
from hearts_env.game.view import View
from hearts_env.match import play
from hearts_env.match.agent import kernel_of, plays_from_state

pytest.importorskip("numba", reason="kernels of agents are called under the compiled executor, by the extra fast")


class Stranger:
    """An agent that would peek; it keeps what it is given."""

    name = "stranger"

    def __init__(self) -> None:
        self.given: list[Any] = []

    def act(self, view: View) -> Any:
        self.given.append(view)
        return RandomAgent().act(view)

    def play_on(self, rules: Any, state: Any, seats: Any) -> int:
        self.given.append(state)
        return 0


class Heir(RandomAgent):
    """A subclass of an agent that is trusted."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[Any] = []

    act = Stranger.act
    play_on = Stranger.play_on


def dressed_up() -> Any:
    """A trusted agent whose method has been replaced in the instance alone."""
    agent: Any = RandomAgent()
    agent.given = []
    agent.play_on = lambda *given: agent.given.append(given[1]) or 0
    return agent


def match(agent: Any) -> None:
    play(Rules(), [agent, RandomAgent()], [0, 1, 0, 1], np.arange(3))


def single(agent: Any) -> None:
    env = HeartsEnv(opponents=agent)
    _, info = env.reset(seed=1)
    for _ in range(5):
        _, _, _, _, info = env.step(int(np.argmax(info["action_mask"])))


def vector(agent: Any) -> None:
    envs = HeartsVectorEnv(3, opponents=[agent, RandomAgent()])
    envs.reset(seed=1)
    for _ in range(5):
        envs.step(envs.sample())


@pytest.mark.parametrize("way", [match, single, vector])
@pytest.mark.parametrize("made", [Stranger, Heir, dressed_up])
def test_an_agent_from_elsewhere_sees_views_alone(made: Callable[[], Any], way: Callable[[Any], None]) -> None:
    agent = made()
    with using("compiled"):
        way(agent)
    assert all(isinstance(each, View) for each in agent.given)
    assert bool(agent.given) == (made is not dressed_up)


def test_a_method_that_is_replaced_later_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(RandomAgent, "play_on", lambda *given: seen.append(given) or 0)
    with using("compiled"):
        match(RandomAgent())
    assert not seen


def test_the_shipped_agents_have_kernels_and_no_other_class_can_register_one() -> None:
    assert kernel_of(RandomAgent())
    assert kernel_of(RuleAgent())
    assert kernel_of(Heir()) is None
    with pytest.raises(TypeError, match=r"Stranger: only agents of this distribution"):
        plays_from_state(Stranger)
