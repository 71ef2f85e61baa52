"""The public names: all there, documented, taking Rules, and loaded only when they are used."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import hearts_env
from hearts_agents import AgentError
from hearts_arena import duplicate, tournament
from hearts_env import EnvError, Rules, State, choose, deal, encode, functional, layout, legal, shuffle, step, view
from hearts_env.envs.aec import HeartsAEC
from hearts_env.envs.parallel import HeartsParallel
from hearts_env.envs.single import HeartsEnv
from hearts_env.envs.vector import HeartsVectorEnv
from hearts_env.game import engine
from hearts_env.game import view as views
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.observe import encode as encoding


def test_every_public_name_is_there_and_says_what_it_is() -> None:
    for name in hearts_env.__all__:
        assert inspect.getdoc(getattr(hearts_env, name)), name
    assert set(hearts_env.__all__) <= set(dir(hearts_env))


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'hearts_env' has no attribute 'no_such_name'"):
        _ = hearts_env.no_such_name


def test_names_are_loaded_when_they_are_used() -> None:
    code = "import sys, hearts_env; print('hearts_env.match' in sys.modules, hearts_env.play.__name__)"
    assert run(code) == "False play"
    assert run("from hearts_env import *; print(deal.__name__, hearts_v0.__name__)") == "deal hearts_env.hearts_v0"


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("text", ["standard", "num_players=2", "omnibus", "num_players=7"])
def test_the_functions_take_rules_and_compiled_rules_alike(text: str) -> None:
    rules = Rules.parse(text)
    ends = []
    for game in (rules, compiled_rules(rules)):
        state = State.empty(game, 5)
        deal(game, state, shuffle(game, np.arange(5)), key=np.arange(5))
        chance = np.random.default_rng(0)
        seen = []
        while not state.over.all():
            seen.append(encode(layout(game), view(game, state)))
            step(game, state, choose(legal(game, state), chance.random(5)))
        ends.append((np.stack(seen), state.points))
    assert all(np.array_equal(one, other) for one, other in zip(*ends, strict=True))
    assert compiled_rules(compiled_rules(rules)) is compiled_rules(rules)


@pytest.mark.parametrize("name", ["shuffle", "deal", "legal", "step", "view", "layout"])
def test_the_functions_are_those_of_the_core_but_for_the_rules(name: str) -> None:
    cores = {"view": views, "layout": encoding}
    mine = [*inspect.signature(getattr(functional, name)).parameters.values()]
    core = [*inspect.signature(getattr(cores.get(name, engine), name)).parameters.values()]
    assert mine[0].name == "rules"
    assert mine[1:] == core[1:]


@pytest.mark.parametrize(
    ("kind", "made", "options"),
    [
        ("aec", HeartsAEC, {"rules": "omnibus"}),
        ("parallel", HeartsParallel, {"passing": "simultaneous"}),
        ("gymnasium", HeartsEnv, {"opponents": "random", "seat": 2}),
        ("vector", HeartsVectorEnv, {"opponents": "random", "num_envs": 3}),
    ],
)
def test_environments_are_made_by_kind(kind: str, made: type, options: dict[str, Any]) -> None:
    env = hearts_env.make(kind, **options)
    assert type(env) is made
    env.reset(seed=1)


def test_a_kind_that_is_none_is_refused_with_those_there_are() -> None:
    with pytest.raises(EnvError, match=r"kind='rule': environments are 'aec', .*'vector'; .* by hearts_agents\.make"):
        hearts_env.make("rule")


@pytest.mark.parametrize(
    ("package", "names"),
    [
        ("hearts_agents", {"make", "AGENTS", "PolicyAgent", "AgentError"}),
        ("hearts_arena", {"tournament", "duplicate", "Standings"}),
        ("hearts_train", {"train", "TrainConfig"}),
    ],
)
def test_the_other_packages_have_their_public_names(package: str, names: set[str]) -> None:
    module = importlib.import_module(package)
    assert names <= set(module.__all__) <= set(dir(module)) | names
    if package == "hearts_train":
        pytest.importorskip("torch")
    for name in names - {"AGENTS"}:
        assert callable(getattr(module, name))


def test_a_tournament_and_a_duplicate_match_in_one_call_each() -> None:
    standings = tournament(["rule", "random"], 20, seed=1)
    assert [line.agent for line in standings.standings] == ["rule", "random"]
    assert standings.deals == 20
    found = duplicate("rule", deals=20)
    assert found.payoff > 3 * found.error > 0
    with pytest.raises(AgentError, match="unknown agent 'nobody'"):
        tournament(["rule", "nobody"], 1)
