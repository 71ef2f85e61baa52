"""The contract tests that others can call find every fault that is planted, and say which it is."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hearts_env
from hearts_agents import make
from hearts_env.cards import NUM_ACTIONS, Ints, lowest, members
from hearts_env.envs.single import HeartsEnv
from hearts_env.game.rules import Rules
from hearts_env.game.view import View
from hearts_env.testing import ContractError, check_agent, check_env, check_rules
from hearts_env.testing import rules as rules_test

# -- agents ------------------------------------------------------------------------------------------------------------


class Lowest:
    """Plays the lowest legal action, and keeps the contract."""

    name: Any = "lowest"

    def act(self, view: View) -> Any:
        return lowest(view.legal).astype(np.int64)


class Nameless(Lowest):
    name = None


class Illegal(Lowest):
    def act(self, view: View) -> Any:
        return np.where(view.count == 9, 50, super().act(view))


class Short(Lowest):
    def act(self, view: View) -> Any:
        return super().act(view)[:1]


class Fractional(Lowest):
    def act(self, view: View) -> Any:
        return super().act(view).astype(np.float64)


class Scribbling(Lowest):
    def act(self, view: View) -> Any:
        actions = super().act(view)
        view.played[...] = 0
        return actions


class ByPlace(Lowest):
    """Plays another card at every other table of the batch."""

    def act(self, view: View) -> Any:
        rest = view.legal & (view.legal - 1)
        odd = (np.arange(len(view)) % 2 == 1) & (rest != 0)
        return lowest(np.where(odd, rest, view.legal)).astype(np.int64)


class ByBatch(Lowest):
    """Looks at all tables together."""

    def act(self, view: View) -> Any:
        rest = view.legal & (view.legal - 1)
        return lowest(np.where((rest != 0) & (len(view) > 1), rest, view.legal)).astype(np.int64)


class Remembering(Lowest):
    """Plays another card at every other call."""

    calls = 0

    def act(self, view: View) -> Any:
        self.calls += 1
        rest = view.legal & (view.legal - 1)
        return lowest(np.where((rest != 0) & (self.calls % 2 == 0), rest, view.legal)).astype(np.int64)


class Drawing(Lowest):
    def act(self, view: View) -> Any:
        random.random()
        return super().act(view)


class FourOnly(Lowest):
    def act(self, view: View) -> Any:
        if view.rules.num_players != 4:
            raise RuntimeError("I know four players only")
        return super().act(view)


class Unsure(Lowest):
    """Gives every action the same probability, legal or not."""

    def probabilities(self, view: View) -> Any:
        return np.full((len(view), NUM_ACTIONS), 1 / NUM_ACTIONS)


class Moody(Lowest):
    """Gives probabilities that depend on the size of the batch."""

    def probabilities(self, view: View) -> Any:
        legal = members(view.legal, NUM_ACTIONS).astype(np.float64)
        weights = legal * (1 + np.arange(NUM_ACTIONS) * (len(view) == 1))
        return weights / weights.sum(axis=1, keepdims=True)


def test_agents_that_keep_the_contract_pass() -> None:
    check_agent(Lowest())
    check_agent(Lowest)
    check_agent(lambda: make("random"))


@pytest.mark.parametrize(
    ("agent", "fault"),
    [
        (Nameless, "its name is None, and must be a text"),
        (Illegal, r"'lowest' under standard: IllegalActionError: illegal action 50 \(KS\)"),
        (Short, r"must return 3 whole numbers, not int64 \(1,\)"),
        (Fractional, "must return 3 whole numbers, not float64"),
        (Scribbling, "act has written to its view: played"),
        (ByPlace, "acts otherwise when .*; a choice may depend on nothing but its view"),
        (ByBatch, "acts otherwise when a table is asked alone"),
        (Remembering, "acts otherwise when asked again"),
        (Drawing, "act has drawn from or seeded a random generator of the process"),
        (FourOnly, "under num_players=2: RuntimeError: I know four players only"),
        (Unsure, "PolicyError: agent 'lowest' gives an illegal action a probability"),
        (Moody, "probabilities are others when a table is asked alone"),
    ],
)
def test_a_faulty_agent_is_found(agent: type[Lowest], fault: str) -> None:
    with pytest.raises(ContractError, match=fault):
        check_agent(agent())


def test_memory_is_found_by_a_fresh_agent() -> None:
    with pytest.raises(ContractError, match="acts otherwise"):
        check_agent(Remembering, ["standard"], thoroughness=1)


def test_what_is_no_agent_is_refused() -> None:
    for wrong in (5, "rule", object()):
        with pytest.raises(ContractError, match=r"must have a name and act\(view\)"):
            check_agent(wrong)  # type: ignore[arg-type]
    with pytest.raises(ContractError, match=r"has no act\(view\)"):
        check_agent(object)  # type: ignore[arg-type]


# -- environments ------------------------------------------------------------------------------------------------------


class Faulty(HeartsEnv):
    """An environment with one learning seat, whose turns can be spoilt."""

    def __init__(self, **options: Any) -> None:
        super().__init__(opponents="random", **options)

    def reset(self, **given: Any) -> Any:
        return self.spoilt(*super().reset(**given))

    def step(self, action: Any) -> Any:
        seen, reward, terminated, truncated, info = super().step(action)
        seen, info = self.spoilt(seen, info)
        return seen, reward, terminated, truncated, info

    def spoilt(self, seen: Any, info: Any) -> Any:
        return seen, info


class Stale(Faulty):
    """Writes every observation into the same memory."""

    buffer: Any = None

    def spoilt(self, seen: Any, info: Any) -> Any:
        self.buffer = seen.copy() if self.buffer is None else self.buffer
        self.buffer[...] = seen
        return self.buffer, info


class Outside(Faulty):
    def spoilt(self, seen: Any, info: Any) -> Any:
        return seen + 255 * (seen == 2) + 7, info


class Misleading(Faulty):
    """Shows another card as legal than those that are."""

    def spoilt(self, seen: Any, info: Any) -> Any:
        return seen, info | {"action_mask": np.roll(info["action_mask"], 1)}


class Lending(Faulty):
    """Goes by the mask that it has handed out."""

    lent: Any = None

    def step(self, action: Any) -> Any:
        return super().step(int(self.lent.argmax()) if self.lent[52] else action)

    def spoilt(self, seen: Any, info: Any) -> Any:
        self.lent = info["action_mask"]
        return seen, info


class Wide(Faulty):
    def spoilt(self, seen: Any, info: Any) -> Any:
        return seen, info | {"action_mask": info["action_mask"].astype(np.int64)}


class Unmasked(Faulty):
    def spoilt(self, seen: Any, info: Any) -> Any:
        return seen, {key: value for key, value in info.items() if key != "action_mask"}


class Stuck(Faulty):
    def spoilt(self, seen: Any, info: Any) -> Any:
        return seen, info | {"action_mask": 0 * info["action_mask"]}


class Generous(Faulty):
    def spoilt(self, seen: Any, info: Any) -> Any:
        return seen, info | {"rewards": info["rewards"] + 1}


class Unseeded(Faulty):
    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        return super().reset(seed=None, options=options)


class Monotonous(Faulty):
    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        return super().reset(seed=0 if seed is not None else None, options=options)


class Entangled(Faulty):
    def __deepcopy__(self, memo: Any) -> Any:
        return self


class Lenient(Faulty):
    """Takes an illegal action for the lowest legal one."""

    def step(self, action: Any) -> Any:
        return super().step(action if action < NUM_ACTIONS else int(self.action_masks().argmax()))


class Timid(Faulty):
    def step(self, action: Any) -> Any:
        if self.on_illegal == "raise" and action >= NUM_ACTIONS:
            super().step(int(self.action_masks().argmax()))
            raise ValueError("too late")
        return super().step(action)


MAKERS: list[Callable[[], Any]] = [
    lambda: hearts_env.make("aec"),
    lambda: hearts_env.make("aec", on_illegal="raise", mask_in="both"),
    lambda: hearts_env.make("parallel", on_illegal="random", reward="zero_sum"),
    lambda: hearts_env.make("gymnasium", opponents="random", episode="game", max_deals=2),
    lambda: hearts_env.make("vector", opponents="random", num_envs=3),
    lambda: hearts_env.make("vector", opponents="random", num_envs=3, autoreset_mode="Disabled"),
    lambda: hearts_env.make("vector", opponents="random", num_envs=3, autoreset_mode="SameStep"),
    Faulty,
]


@pytest.mark.parametrize("maker", MAKERS)
def test_environments_that_keep_the_contract_pass(maker: Callable[[], Any]) -> None:
    check_env(maker)
    check_env(maker(), episodes=1, seed=5)


@pytest.mark.parametrize(
    ("env", "options", "fault"),
    [
        (Stale, {}, "an array is not fresh"),
        (Outside, {}, "an observation does not lie in its space"),
        (Misleading, {}, "a mask is not what the encoding shows as legal"),
        (Lending, {}, "writing into what has been shown changes what comes"),
        (Wide, {}, r"a mask is int64 \(54,\) and not int8"),
        (Unmasked, {}, "there is no action mask"),
        (Stuck, {}, "a mask is empty where an action is asked for"),
        (Generous, {}, r"the rewards of an episode, .* are neither minus points or scores"),
        (Unseeded, {}, "the same seed gives another episode"),
        (Monotonous, {}, "another seed gives the same episode"),
        (Entangled, {}, "a deep copy goes on otherwise"),
        (Lenient, {}, "on_illegal='terminate', and over is False"),
        (Lenient, {"on_illegal": "raise"}, "an illegal action does not raise"),
        (Timid, {"on_illegal": "raise"}, "raises, and yet changes what comes"),
        (lambda: object(), {}, "TypeError: .* is neither a PettingZoo AECEnv or ParallelEnv nor a gymnasium Env"),
    ],
)
def test_a_faulty_environment_is_found(env: Any, options: Any, fault: str) -> None:
    with pytest.raises(ContractError, match=fault):
        check_env(lambda: env(**options))


# -- rules -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["standard", "two_player", "omnibus", "partnership", "num_players=7", "no_tricks_bonus=-5"]
)
def test_rules_pass(text: str) -> None:
    check_rules(text)
    check_rules(Rules.parse(text), deals=3, seed=1)


class Mumbling(Rules):
    def show(self) -> str:
        return "standard"


def test_rules_whose_text_is_of_others_are_found() -> None:
    with pytest.raises(ContractError, match=r"parse\(show\(\)\) gives standard"):
        check_rules(Mumbling(target=50))


def spoil(monkeypatch: pytest.MonkeyPatch, name: str, change: Callable[..., Any]) -> None:
    """Let `check_rules` use a function whose result is changed: `change(result, game, state or ids)`."""
    right = getattr(rules_test, name)

    def spoilt(game: Any, *given: Any) -> Any:
        return change(right(game, *given), game, given[0])

    monkeypatch.setattr(rules_test, name, spoilt)


def twice(hands: Ints, game: Any, ids: Any) -> Ints:
    hands[:, 1] = hands[:, 0]
    return hands


def dear(result: None, game: Any, state: Any) -> None:
    state.points[state.over] += 1


@pytest.mark.parametrize(
    ("name", "change", "fault"),
    [
        ("shuffle", twice, "a card is dealt twice"),
        ("shuffle", lambda hands, game, ids: hands & (hands - 1), "hands have 12 to 12 cards"),
        ("legal", lambda sets, game, state: 0 * sets, "nobody can act after 0 actions"),
        ("legal", lambda sets, game, state: sets | game.deck * (state.phase == 1), "legal that is not in the hand"),
        ("step", dear, r"a deal is worth \d+ points, and its cards 26"),
    ],
)
def test_a_fault_of_the_game_is_found(monkeypatch: pytest.MonkeyPatch, name: str, change: Any, fault: str) -> None:
    monkeypatch.setattr(rules_test, "available", lambda: ("numpy",))
    spoil(monkeypatch, name, change)
    with pytest.raises(ContractError, match=fault):
        check_rules("standard")


def test_executors_that_differ_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules_test, "available", lambda: ("numpy", "numpy"))
    runs: list[int] = []

    def shuffled_once(hands: Ints, game: Any, ids: Any) -> Ints:
        runs.append(len(runs))
        return hands[::-1] if len(runs) == 2 else hands

    spoil(monkeypatch, "shuffle", shuffled_once)
    with pytest.raises(ContractError, match=r"executors numpy and numpy differ in .*taken"):
        check_rules("standard")
