"""Agents say what their decisions are made from, and judge recorded deals by it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deals import dealt
from hearts_agents import make
from hearts_agents.explain import explain
from hearts_agents.rule.agent import RuleAgent
from hearts_agents.search.agent import SearchAgent
from hearts_arena.review import review, summary, why
from hearts_cli.main import main
from hearts_env.cards import cards_in
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import step
from hearts_env.game.rules import Rules
from hearts_env.game.state import PASS, PLAY
from hearts_env.game.view import view
from hearts_env.match.play_match import play
from hearts_env.text.record import Record, records_of


def recorded(rules: Rules, names: list[str], ids: range) -> list[Record]:
    """Deals in which these agents sit by turns."""
    found: list[Record] = []
    seated = [[names[seat % len(names)] for seat in range(rules.num_players)]] * len(ids)
    lineup = np.arange(rules.num_players) % len(names)
    agents = [make(name) for name in names]
    play(rules, agents, lineup, np.array(ids), on_deals=lambda deals: found.extend(records_of(rules, deals, seated)))
    return found


@pytest.fixture(scope="module")
def mixed() -> Record:
    """Seats 0 and 2 play by rule, the others at random; cards are passed."""
    return next(record for record in recorded(Rules(), ["rule", "random"], range(4)) if record.passes)


def test_an_agent_agrees_with_its_own_play_and_loses_nothing_by_it(mixed: Record) -> None:
    judged = review(mixed, make("rule"))
    own = [each for each in judged if each.seat % 2 == 0]
    assert all(each.agrees and each.loss == (0.0, 0.0) for each in own)
    assert not all(each.agrees for each in judged)
    assert {each.when for each in judged} >= {"pass", "1", "5"}


def test_only_decisions_of_the_seats_asked_for_are_judged(mixed: Record) -> None:
    everything = review(mixed, make("rule"))
    assert review(mixed, make("rule"), (1, 3)) == [each for each in everything if each.seat in (1, 3)]


@pytest.mark.parametrize("variant", ["standard", "omnibus", "partnership", "two_player", "six"])
def test_the_worth_that_rule_tells_is_the_one_it_chooses_by(variant: str) -> None:
    rules, agent = compiled_rules(Rules.parse(variant)), RuleAgent()
    state = dealt(rules.rules, np.arange(8))
    while not state.over.all():
        seen = view(rules, state)
        actions = agent.act(seen)
        rows = np.flatnonzero((np.arange(8) == state.count % 11) & (seen.phase == PLAY))
        for row, found in zip(rows, agent.explain(seen.take(rows)), strict=True):
            if not found:
                continue
            first = found[0]
            assert first.chosen
            assert first.actions == (actions[row],)
            if not first.moon:
                assert {each.actions[0] for each in found} == set(cards_in(int(seen.legal[row])))
                base = sum(part for _, part in first.reasons)
                for each in found:
                    made_of = sum(part for _, part in each.reasons) - base
                    assert each.gain == pytest.approx(made_of, abs=0.06)  # parts that are next to nothing are left out
        step(rules, state, actions)


def test_what_search_tries_besides_changes_nothing_about_the_others() -> None:
    rules, agent = compiled_rules(Rules()), SearchAgent(16)
    state = dealt(Rules(), 4 * np.arange(4))
    for count in range(12 + 20):
        seen = view(rules, state)
        if count in (0, 20, 31):
            passing = seen.phase == PASS
            lows = [cards_in(int(legal))[: 3 if passing[0] else 1] for legal in seen.legal]
            plain, more = agent.explain(seen), agent.explain(seen, np.array(lows))
            for one, other, low in zip(plain, more, lows, strict=True):
                assert [each for each in other if each in one] == one
                assert not one or tuple(low) in [tuple(sorted(each.actions)) for each in other]
        step(rules, state, RuleAgent().act(seen))


def test_search_counts_what_the_play_of_others_loses(mixed: Record) -> None:
    judged = review(mixed, SearchAgent(16))
    losses = [each.loss for each in judged]
    assert None not in losses
    assert sum(loss[0] for loss, each in zip(losses, judged, strict=True) if loss and each.seat % 2) > 5
    assert any("worlds" in why(each) for each in judged)


def test_agents_that_say_nothing_are_asked_for_their_chances_or_their_choice() -> None:
    rules = compiled_rules(Rules())
    state = dealt(Rules(), np.array([3]))  # nobody passes
    step(rules, state, RuleAgent().act(view(rules, state)))
    seen = view(rules, state)
    (found,) = explain(make("random"), seen)
    assert sum(each.probability or 0 for each in found) == pytest.approx(1)
    assert found[0].chosen

    class Silent:
        name = "silent"
        act = staticmethod(make("rule").act)

    assert [each.actions for each in explain(Silent(), seen)[0]] == [(make("rule").act(seen)[0],)]
    passing = view(rules, dealt(Rules(), np.array([4])))
    (picks,) = explain(make("random"), passing)
    assert len(set(picks[0].actions)) == 3


@pytest.mark.parametrize("variant", ["two_player", "partnership", "six", "moon=choice"])
def test_deals_of_other_rules_are_judged_too(variant: str) -> None:
    for record in recorded(Rules.parse(variant), ["rule", "random"], range(2)):
        for agent in (make("rule"), SearchAgent(2)):
            assert review(record, agent)


def test_a_deal_that_stops_early_is_judged_as_far_as_it_goes(mixed: Record) -> None:
    stopped = replace(mixed, plays=mixed.plays[:9], points=None, scores=None, moon=None)
    judged = review(stopped, make("rule"))
    assert {each.when for each in judged} <= {"pass", "1", "2", "3"}
    whole = [each for each in review(mixed, make("rule")) if each.when in ("pass", "1", "2")]
    assert [each for each in judged if each.when != "3"] == whole
    passing = replace(stopped, plays=(), passes=tuple(each[:1] for each in mixed.passes))
    assert review(passing, make("rule")) == []


def test_a_summary_names_each_seat_once(mixed: Record) -> None:
    lines = summary(review(mixed, make("rule")), ("a", "b", "c", "d"), 4)
    assert [line.split(":")[0] for line in lines] == ["seat 0 (a)", "seat 1 (b)", "seat 2 (c)", "seat 3 (d)"]
    assert lines[1].endswith("points lost")


def test_show_prints_what_an_agent_would_have_done(
    mixed: Record, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text(mixed.to_json() + "\n", encoding="utf-8")
    assert main(["show", str(file), "--agent", "rule", "--seat", "1"]) == 0
    out = capsys.readouterr().out
    assert "rule would" in out
    assert "seat 1" in out.splitlines()[-1]
    assert "choices are the same" in out.splitlines()[-1]
    assert main(["show", str(file), "--agent", "rule", "--seat", "4"]) == 2
    assert main(["show", str(file), "--agent", "nobody"]) == 2
