"""The engine counts as many ways to play on as the oracle did, from small deals and endings of every variant."""

from __future__ import annotations

import json
from typing import Any

import pytest

import perft
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.rules import CHOICES, PRESETS, Rules
from hearts_env.text.notation import parse_position, show_position

POSITIONS = perft.load()
SMALL = 700
"""Positions with at most so many continuations are counted by the oracle again."""


@pytest.mark.parametrize("item", POSITIONS, ids=[item.name for item in POSITIONS])
def test_the_engine_counts_what_the_oracle_counted(item: perft.Position) -> None:
    info, state = perft.engine_state(item)
    assert perft.count_engine(info, state, item.depth) == item.tally, perft.report(item)


def test_the_file_holds_what_the_oracle_counts() -> None:
    small = [item for item in POSITIONS if item.tally is not None and sum(item.tally.counts) <= SMALL]
    assert len(small) > 20
    for item in small:
        assert perft.count_oracle(perft.oracle_deal(item), item.depth) == item.tally, item.name


def test_a_position_is_written_as_the_notation_writes_it() -> None:
    for item in POSITIONS:
        info, state = perft.engine_state(item)
        assert show_position(info, state) == item.position, item.name


def test_every_preset_every_number_of_players_and_every_choice_of_the_rules_is_counted() -> None:
    presets = {item.rules for item in POSITIONS}
    assert set(PRESETS) <= presets, "python tests/tools/perft.py --add PRESET"
    counted = [item.full_rules() for item in POSITIONS]
    assert {rules.num_players for rules in counted} == set(range(2, 8))
    for name, values in CHOICES.items():
        assert {getattr(rules, name) for rules in counted} == set(values), name


def test_fields_of_the_rules_change_the_tally_of_the_same_deal() -> None:
    """A position is worth little if the rule that it is there for does not decide anything in it."""
    groups: dict[str, list[perft.Position]] = {}
    for item in POSITIONS:
        groups.setdefault(item.name.partition(":")[0], []).append(item)
    for name, items in groups.items():
        if len(items) > 1:
            found = {
                json.dumps(item.tally.counts + item.tally.points + [item.tally.games]) for item in items if item.tally
            }
            assert len(found) > 1, name


def wrong(item: perft.Position, **fields: Any) -> str:
    """What is said about an engine that plays by other rules than the oracle."""
    rules = item.full_rules()
    compiled = compiled_rules(Rules.from_dict({**rules.changes(), "num_players": rules.num_players, **fields}))
    return perft.explain(compiled, parse_position(compiled, item.position), perft.oracle_deal(item), item.depth)


def test_a_difference_is_divided_by_move_down_to_the_position_where_it_begins() -> None:
    item = next(item for item in POSITIONS if item.name == "three players, breaking hearts: hearts_broken_by=never")
    text = wrong(item, hearts_broken_by="free")
    *_, last = text.split("under ")[1].split("\ndeal ")
    position, _, *moves = last.splitlines()
    assert " | plays " in position
    assert any("oracle illegal" in move for move in moves)
    lines = [line for line in text.splitlines() if line.endswith("<- differs")]
    assert len(lines) > 3, "one at least on the way down, and more in the last position"
    assert wrong(item).count("\n") == 0, "nothing to divide where they agree"


def test_a_difference_in_the_scoring_is_found_at_the_last_action() -> None:
    item = next(item for item in POSITIONS if item.name == "seats without a trick: no_tricks_bonus=-5")
    text = wrong(item, no_tricks_bonus=0)
    assert "  to 1 more actions:" in text
    assert "1 ends" in text.splitlines()[-1]


def test_the_command_compares_and_tells_rates(capsys: pytest.CaptureFixture[str]) -> None:
    assert perft.main(["--name", "whole hands"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("ok ") == 2
    assert "engine: " in printed
    assert "oracle: " in printed
    assert perft.main(["--name", "whole hands", "--divide", "--depth", "2"]) == 0
    assert " ends " in capsys.readouterr().out
