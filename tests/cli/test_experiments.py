"""The tree search of the experiments: what it shares with `search`, and what its trees count."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tree_search
from deals import dealt
from hearts_agents import make
from hearts_env import Rules
from hearts_env.executor import available
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import step
from hearts_env.game.view import View, view
from tree_search import Variant

pytestmark = pytest.mark.slow  # most of it is compiling what nothing else needs
needs_numba = pytest.mark.skipif("compiled" not in available(), reason="no numba")


def in_play(deals: int) -> View:
    """Views of deals that `rule` has played, each some tricks further than the one before."""
    rules, agent = compiled_rules(Rules()), make("rule")
    state = dealt(Rules(), np.arange(deals))
    for turn in range(12 + 4 * deals):
        rows = np.flatnonzero(turn < 12 + 4 * np.arange(deals))
        part = state.take(rows)
        step(rules, part, agent.act(view(rules, part)))
        state.put(rows, part)
    return view(rules, state)


@needs_numba
def test_a_race_with_nothing_in_its_trees_is_the_search_that_it_stands_beside() -> None:
    seen, agent = in_play(10), tree_search.TreeAgent(Variant(tree_search.NONE, race=True))
    assert agent.act(seen).tolist() == make("search:128").act(seen).tolist()
    assert agent.iterations > 10 * 128


@needs_numba
@pytest.mark.parametrize("name", tree_search.VARIANTS)
def test_a_tree_gives_the_same_card_in_any_batch(name: str) -> None:
    seen, agent = in_play(8), tree_search.TreeAgent(tree_search.VARIANTS[name])
    cards = agent.act(seen)
    assert (1 << cards & seen.legal != 0).all()
    assert cards.tolist() == [int(agent.act(seen.take([row]))[0]) for row in range(len(seen))]
    if not agent.variant.race:
        assert agent.iterations == agent.decisions * agent.variant.iterations


@needs_numba
@pytest.mark.parametrize("seats", [tree_search.OWN, tree_search.ALL])
def test_every_iteration_counts_in_one_line_and_finds_at_most_one_new_edge(
    seats: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    grown: list[Any] = []
    grow = tree_search.grow
    monkeypatch.setattr(tree_search, "grow", lambda *args: (grow(*args), grown.append(args)))
    tree_search.TreeAgent(Variant(seats, paired=False)).act(in_play(3).take([2]))
    trees, paid = grown[0][4], grown[0][-1]
    lines = len(grown[0][5].actions)
    assert trees.visits[0, 1 : lines + 1].sum() == len(paid) == 256
    assert trees.value[0, 1 : lines + 1].sum() == pytest.approx(paid.sum())
    assert trees.square[0, 1 : lines + 1].sum() == pytest.approx((paid**2).sum())
    assert (trees.seen[0] >= trees.visits[0]).all()
    below = trees.visits[0, lines + 1 :]
    assert 0 < (below > 0).sum() <= 256


@needs_numba
def test_variants_of_the_tree_meet_an_opponent_beside_the_search(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tree_search, "MANY", 1)
    tree_search.Comparison(("own", "race"), deals=2).run()
    first, *others = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"search:128: [+-][\d.]+ ± [\d.]+, [\d.]+ ms", first)
    assert [line.split(":")[0] for line in others] == ["own", "race"]
    assert all("256 play-outs" in line for line in others[:1])
