"""The network in the package: it plays after a plain install, and its card is about these very weights."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hearts_agents import AgentError, make
from hearts_agents.net import agent as net_module
from hearts_agents.net.agent import SHIPPED, Net, NetAgent
from hearts_agents.net.weights import NetError, NetSpec
from hearts_arena.duplicate_evaluation import duplicate_payoffs
from hearts_env import Rules
from hearts_env.cards import bit
from hearts_env.executor import EXECUTORS, Executor, using
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import deal, legal, shuffle, step
from hearts_env.game.state import State
from hearts_env.game.view import View, view
from hearts_env.match.play_match import play
from hearts_env.observe.encode import encode_packed, layout

FACTS = SHIPPED.with_suffix(".json")


OTHERS = ("standard", "omnibus", "moon=none", "black_maria")
"""Rules under which whole games are played by the slow tests alone."""


def views(rules: Rules, steps: int = 30, tables: int = 64) -> View:
    compiled = compiled_rules(rules)
    state = State.empty(compiled, tables)
    deal(compiled, state, shuffle(compiled, np.arange(tables)), key=np.arange(tables))
    first = make("random")
    for _ in range(steps):
        step(compiled, state, first.act(view(compiled, state)))
    assert (legal(compiled, state) != 0).all()
    return view(compiled, state)


def test_it_plays_without_torch_and_without_numba() -> None:
    code = """
import sys
sys.modules.update(torch=None, numba=None, llvmlite=None)
from hearts_agents import make
from hearts_env.match.play_match import play
from hearts_env.game.rules import Rules
print(play(Rules(), [make("net"), make("net?sample")], [0, 1, 0, 1], range(8)).points.sum() > 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True"]


@pytest.mark.parametrize(
    "variant", ["spot", "partnership", *(pytest.param(each, marks=pytest.mark.slow) for each in OTHERS)]
)
def test_it_plays_legally_also_under_rules_that_it_has_not_learned(variant: str) -> None:
    rules = Rules.parse(variant)
    play(rules, [make("net"), make("net?sample")], [0, 1, 0, 1][: rules.num_players], np.arange(20), games=True)


@pytest.mark.parametrize("players", [2, 3, 5, 6, 7])
def test_a_network_without_padding_refuses_other_numbers_of_players_in_a_sentence(players: int) -> None:
    spec = NetSpec(rules=Rules(), width=4, blocks=1)
    four = NetAgent(Net(spec, {name: np.zeros(shape, np.float32) for name, shape in spec.shapes.items()}))
    with pytest.raises(NetError, match=f"trained for 4 players without padding and cannot play with {players}"):
        four.act(views(Rules(num_players=players), 0))


@pytest.mark.parametrize("steps", [0, 12, 40])
def test_loops_and_arrays_give_the_same_outputs(steps: int) -> None:
    pytest.importorskip("numba", reason="the compiled executor needs numba, from the extra fast")
    net, seen = Net.load(SHIPPED), views(Rules(), steps)
    packed = encode_packed(layout(seen.rules, pad=net.spec.pad), seen)

    def outputs(executor: Executor) -> np.ndarray:
        with using(executor):
            return np.column_stack(net.outputs(packed))

    one, other = map(outputs, EXECUTORS)
    assert one == pytest.approx(other, abs=1e-4)
    assert one.std() > 1


@pytest.mark.parametrize(
    ("players", "least"),
    [(2, 3), (4, 3), *(pytest.param(*each, marks=pytest.mark.slow) for each in ((3, 4), (5, 2), (6, 1.5), (7, 1.2)))],
)
def test_it_is_far_better_than_random_and_better_than_the_rule_agent(players: int, least: float) -> None:
    rules, ids = Rules(num_players=players), np.arange(400)
    assert duplicate_payoffs(rules, make("net"), "random", ids).mean() > least
    assert duplicate_payoffs(rules, make("net"), "rule", ids).mean() > 0.3


def test_with_sample_it_draws() -> None:
    seen = views(Rules())
    drawn, best = make("net?sample"), make("net")
    assert drawn.name == "net?sample"
    assert ((bit(drawn.act(seen)) & seen.legal) != 0).all()
    chances = drawn.probabilities(seen)  # type: ignore[attr-defined]
    assert (chances.argmax(axis=1) == best.act(seen)).all()
    assert 0.5 < (drawn.act(seen) == best.act(seen)).mean() < 1


@pytest.mark.parametrize("keep", [0, 100, 100_000, -1])
def test_weights_that_are_cut_off_are_refused_in_a_sentence(
    keep: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = tmp_path / "net.safetensors"
    cut.write_bytes(SHIPPED.read_bytes()[:keep])
    monkeypatch.setattr(net_module, "SHIPPED", cut)
    with pytest.raises(AgentError, match=r"agent 'net': .*net\.safetensors cannot be read .* cut off or damaged"):
        make("net")


def test_foreign_or_missing_weights_are_refused_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from safetensors.numpy import save_file

    foreign = tmp_path / "net.safetensors"
    monkeypatch.setattr(net_module, "SHIPPED", foreign)
    with pytest.raises(AgentError, match="agent 'net': no weights at"):
        make("net")
    save_file({"a": np.zeros(3, np.float32)}, foreign)
    with pytest.raises(AgentError, match=r"agent 'net': .* was not written by `hearts train`"):
        make("net")


@pytest.mark.parametrize("wrong", ["nets", "net.safetensors", "net:nowhere", "net:nowhere?sample", "net?draw"])
def test_names_that_stand_for_no_network_are_refused(wrong: str) -> None:
    with pytest.raises(AgentError):
        make(wrong)


def test_the_card_s_facts_are_about_these_weights() -> None:
    facts, content = json.loads(FACTS.read_text(encoding="utf-8")), SHIPPED.read_bytes()
    assert facts["weights"]["sha256"] == hashlib.sha256(content).hexdigest()
    assert facts["weights"]["bytes"] == len(content) <= 10_000_000
    assert facts["weights"]["parameters"] == sum(
        int(np.prod(shape)) for shape in Net.load(SHIPPED).spec.shapes.values()
    )
    assert facts["training"]["decisions"] > 0
    assert {row["opponent"] for row in facts["evaluation"]["results"]} >= {"random", "rule"}
    assert all(row["payoff_se"] > 0 for row in facts["evaluation"]["results"])
