"""An action is a whole number, or an array of exactly one, at every door; anything else is a TypeError."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hearts_env
from hearts_env import hearts_v0
from hearts_env.cards import ACTION_NAMES, ActionTypeError, action_number, action_numbers, names_in
from hearts_env.envs.single import HeartsEnv
from hearts_env.envs.vector import HeartsVectorEnv
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.rules import Rules
from hearts_env.game.state import State
from hearts_env.match import play

RULES = "num_players=3,pass_count=0"
Door = Callable[[Any, Any], None]


class Pair:
    """Two numbers, as the tensors of other libraries hold them."""

    dtype, shape = "strange.int64", (2,)

    def item(self) -> int:
        raise RuntimeError("a tensor of 2 elements has no single item")


class One(Pair):
    """A tensor of one number that is no numpy array."""

    shape = (1,)

    def __init__(self, number: Any) -> None:
        self.number = number

    def item(self) -> Any:
        return self.number

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array([self.number], dtype)


NUMBERS: list[Callable[[int], Any]] = [
    int,
    np.int8,
    np.uint64,
    np.array,
    lambda number: np.array([number], np.int32),
    lambda number: np.array([[number]]),
    One,
]
SLIPS = [
    (True, "bool"),
    (np.bool_(False), "bool"),
    (2.0, "float"),
    (np.float64(3), "float64"),
    ("2C", "str"),
    (None, "NoneType"),
    (np.array([3.0]), r"float64 \(1,\)"),
    (np.array([1, 2]), r"int64 \(2,\)"),
    (np.array([]), r"float64 \(0,\)"),
    (np.array(True), r"bool \(\)"),
    (np.array(5, "m8[ns]"), "timedelta64"),
    (Pair(), r"strange.int64 \(2,\)"),
    (One(True), r"strange.int64 \(1,\)"),
    ([3], "list"),
    ({}, "dict"),
]


def aec(on_illegal: Any, action: Any) -> None:
    env = hearts_v0.env(RULES, on_illegal=on_illegal)
    env.reset(seed=1)
    send(env.state, env.step, action(env.infos[env.agent_selection]["legal"]))


def parallel(on_illegal: Any, action: Any) -> None:
    env = hearts_v0.parallel_env(RULES, on_illegal=on_illegal)
    seen, infos = env.reset(seed=1)
    agent = next(agent for agent in env.agents if not seen[agent]["action_mask"][-1])
    send(env.state, lambda given: env.step({agent: given}), action(infos[agent]["legal"]))


def waiting(on_illegal: Any, action: Any) -> None:
    """A seat of the Parallel environment that is not to act."""
    env = hearts_v0.parallel_env(RULES, on_illegal=on_illegal)
    seen, _ = env.reset(seed=1)
    agents = sorted(env.agents, key=lambda agent: int(seen[agent]["action_mask"][-1]))
    first = int(seen[agents[0]]["action_mask"].argmax())
    send(env.state, lambda given: env.step({agents[0]: first, agents[1]: given}), action(["noop"]))


def single(on_illegal: Any, action: Any) -> None:
    env = HeartsEnv(RULES, "random", on_illegal=on_illegal)
    env.reset(seed=1)
    send(lambda: env.view().hand, env.step, action(names_in(env.view().legal[0])))


def vector(on_illegal: Any, action: Any) -> None:
    env = HeartsVectorEnv(2, RULES, "random", on_illegal=on_illegal)
    env.reset(options={"deal_id": 5})
    send(lambda: env.view().hand, lambda given: env.step([given] * 2), action(names_in(env.view().legal[0])))


def engine(on_illegal: Any, action: Any) -> None:
    rules = Rules.parse(RULES)
    state = State.empty(compiled_rules(rules), 2)
    hearts_env.deal(rules, state, hearts_env.shuffle(rules, [7, 7]))
    legal = names_in(hearts_env.legal(rules, state)[0])
    send(lambda: state.hands, lambda given: hearts_env.step(rules, state, [given] * 2), action(legal))


def match(on_illegal: Any, action: Any) -> None:
    class Entrant:
        name = "entrant"

        def act(self, view: Any) -> Any:
            return [action(names_in(legal)) for legal in view.legal]

    play(Rules.parse(RULES), [Entrant()], [0] * 3, [1, 2])


DOORS: list[Door] = [aec, parallel, waiting, single, vector, engine, match]


def send(state: Callable[[], Any], step: Callable[[Any], Any], action: Any) -> None:
    """Step, and where that raises see that nothing has changed."""
    before = state().copy()
    try:
        step(action)
    except ActionTypeError:
        assert (state() == before).all()
        raise


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", NUMBERS)
def test_a_whole_number_of_any_kind_is_an_action_at_every_door(door: Door, kind: Callable[[int], Any]) -> None:
    door("raise", lambda legal: kind(ACTION_NAMES.index(legal[0])))


@pytest.mark.parametrize("on_illegal", ["terminate", "random", "raise"])
@pytest.mark.parametrize("door", DOORS)
def test_a_slip_of_type_is_no_move_and_names_the_type_at_every_door(door: Door, on_illegal: Any) -> None:
    for slip, name in SLIPS:
        with pytest.raises(TypeError, match=rf"must be a whole number.* not {name}"):
            door(on_illegal, lambda _, slip=slip: slip)


@pytest.mark.parametrize(
    "actions", [np.zeros(3), np.zeros(3, bool), ["2C"] * 3, [0, True, 0], None, np.zeros((3, 2), int)]
)
def test_a_batch_of_another_type_or_size_is_refused(actions: Any) -> None:
    env = HeartsVectorEnv(3, RULES, "random")
    env.reset(seed=1)
    with pytest.raises(TypeError, match=r"must be (3|a) whole number.* not (float64|bool|str|NoneType|int64)"):
        env.step(actions)


def test_tensors_are_actions_by_the_same_rule() -> None:
    torch = pytest.importorskip("torch")
    assert action_number(torch.tensor(3)) == action_number(torch.tensor([3], dtype=torch.uint8)) == 3
    assert action_numbers(torch.tensor([[4], [5]]), 2).tolist() == [4, 5]
    for slip in (torch.tensor(True), torch.tensor(3.0), torch.tensor([1, 2])):
        with pytest.raises(TypeError, match=r"must be a whole number.* not torch\.(bool|float32|int64)"):
            action_number(slip)


def test_numbers_that_64_bits_cannot_hold_stay_illegal() -> None:
    assert action_number(10**30) == 10**30
    for actions in ([10**30, -(10**30)], np.array([2**64 - 1, 2**63], np.uint64)):
        assert all(not 0 <= number < 56 for number in action_numbers(actions, 2).tolist())
