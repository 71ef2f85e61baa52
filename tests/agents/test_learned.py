"""Rules that an agent has learned: it says once where it plays by other rules, and so does a tournament report."""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path

import numpy as np
import pytest

from hearts_agents import learned, make
from hearts_agents.net.agent import SHIPPED
from hearts_arena.report.html import html, markdown
from hearts_arena.report.screen import remarks
from hearts_arena.run import Options, hold
from hearts_arena.tournament_plan import plan_tournament
from hearts_env.game.rules import Rules
from hearts_env.match.agent import LearnedRules, has_learned
from hearts_env.match.play_match import play

SENTENCE = "has not learned the rules"


@pytest.mark.parametrize("name", ["net", "net?sample", "net+search:2"])
def test_net_has_learned_what_its_card_names(name: str) -> None:
    agent = make(name)
    for preset in ("standard", "four", "two_player", "three", "five", "six", "seven", "omnibus"):
        assert has_learned(agent, Rules.preset(preset))
    for other in ("partnership", "black_maria", "spot", "small_four", "standard,num_players=3"):
        assert has_learned(agent, Rules.parse(other)) == (other == "standard,num_players=3")


@pytest.mark.parametrize("name", ["random", "rule"])
def test_agents_that_learn_nothing_know_all_rules(name: str) -> None:
    assert not isinstance(make(name), LearnedRules)
    assert has_learned(make(name), Rules.preset("partnership"))
    assert has_learned(make("search:2"), Rules.preset("partnership"))


@pytest.mark.parametrize(
    "facts", ["{", "[]", '{"rules": 7}', '{"rules": "none", "also_rules": []}', '{"rules": "omnibus", "also_rules": 3}']
)
def test_files_beside_the_weights_that_say_something_else_add_nothing(tmp_path: Path, facts: str) -> None:
    shutil.copy(SHIPPED, tmp_path / SHIPPED.name)
    (tmp_path / learned.CONFIG_NAME).write_text(facts)
    agent = make(f"net:{tmp_path}")
    assert has_learned(agent, Rules())
    assert not has_learned(agent, Rules.preset("omnibus"))


@pytest.mark.parametrize("group", [None, "game"])
def test_a_run_directory_tells_the_rules_of_its_run(tmp_path: Path, group: str | None) -> None:
    shutil.copy(SHIPPED, tmp_path / SHIPPED.name)
    settings = {"rules": "standard", "also_rules": ["spot"]}
    (tmp_path / learned.CONFIG_NAME).write_text(json.dumps({group: settings} if group else settings))
    assert has_learned(make(f"net:{tmp_path}"), Rules.preset("spot"))


def test_a_network_under_other_rules_says_so_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learned, "_warned", set())
    with caplog.at_level(logging.WARNING):
        for preset in ("standard", "partnership", "partnership"):
            play(Rules.preset(preset), [make("net")], [0] * 4, np.arange(2))
    said = [record.getMessage() for record in caplog.records if SENTENCE in record.getMessage()]
    assert len(said) == 1
    assert 'net has not learned the rules moon="add",teams="fixed"' in said[0]


@pytest.mark.parametrize(("preset", "times"), [("partnership", 1), ("omnibus", 0)])
def test_the_report_of_a_tournament_says_so(preset: str, times: int) -> None:
    content = hold(plan_tournament(Rules.preset(preset), ["net", "rule"], 2), None, Options(workers=1)).content
    assert content is not None
    assert content["unlearned"] == ["net"] * times
    for text in ("\n".join(remarks(content)), html(content, {}), markdown(content, {})):
        assert text.count(f"net {SENTENCE}") == times
