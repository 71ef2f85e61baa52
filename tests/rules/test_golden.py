"""Nothing that was recorded plays differently today: rules, shuffle, scoring, random numbers, encoding."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

import golden
from hearts_env.cards import names_in
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import shuffle
from hearts_env.game.rules import PRESETS, Rules
from hearts_env.match.tables import next_deal_id
from hearts_env.observe.encode import ENCODING_VERSION
from hearts_env.text.record import Record
from hearts_env.text.replay import check_lines

CHANGED = (
    "a change of behaviour: no old result can be compared with a new one.  If it is meant, bump the environment "
    "(hearts_v0 -> hearts_v1), say so in CHANGELOG.md, and run python tests/tools/golden.py; if not, it is a bug"
)

QUICK = ("standard", "two_player", "three", "five", "seven", "partnership")
"""The games that are played again in every run of the tests; the others are slow together."""


def stored(preset: str) -> str:
    return (golden.FOLDER / f"{preset}.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize("preset", PRESETS)
def test_recorded_deals_are_legal_and_end_as_they_did(preset: str) -> None:
    lines = stored(preset).splitlines()
    for line, found in zip(lines, check_lines(lines), strict=True):
        assert found["ok"], f"{preset}.jsonl, line {found['line']}: {found['error']}: {CHANGED}"
        given = json.loads(line)
        assert (found["points"], found["scores"]) == (given["points"], given["scores"]), CHANGED
        assert Record.parse(line).rules == Rules.preset(preset), f"the preset {preset} has other rules: {CHANGED}"


@pytest.mark.parametrize("preset", PRESETS)
def test_deals_played_again_are_recorded_byte_for_byte(preset: str) -> None:
    """Pins what a replay does not: the shuffle of deal ids, and the random numbers of decisions."""
    same_lines(preset, stored(preset).splitlines()[: len(golden.DEALS)], golden.deal_lines(preset))


@pytest.mark.parametrize(
    "preset", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in PRESETS]
)
def test_games_played_again_are_recorded_byte_for_byte(preset: str) -> None:
    same_lines(preset, stored(preset).splitlines()[len(golden.DEALS) :], golden.game_lines(preset))


def same_lines(preset: str, before: list[str], today: list[str]) -> None:
    for old, new in zip(before, today, strict=False):
        assert new == old, f"{preset}.jsonl: {CHANGED}"
    assert len(today) == len(before), f"{preset}.jsonl: {len(today)} deals instead of {len(before)}: {CHANGED}"


@pytest.mark.parametrize("preset", PRESETS)
def test_a_recorded_game_is_a_chain_of_deals_to_the_end(preset: str) -> None:
    lines = stored(preset).splitlines()[len(golden.DEALS) :]
    game, found = [json.loads(line) for line in lines], list(check_lines(lines))
    numbers = np.arange(len(game))
    ids = next_deal_id(np.full(len(game), golden.GAME), numbers)
    assert [deal["deal_id"] for deal in game] == ids.tolist(), CHANGED
    assert [deal["deal_no"] for deal in game] == numbers.tolist()
    hands = shuffle(compiled_rules(Rules.preset(preset)), ids)
    assert [deal["hands"] for deal in game] == [[names_in(hand) for hand in deal] for deal in hands], CHANGED
    for last, following in itertools.pairwise(game):
        assert following["totals"] == last["scores"]
    assert [deal["over"] for deal in found] == [False] * (len(game) - 1) + [True], preset
    assert found[-1]["winners"], preset


def test_encodings_are_those_that_networks_were_trained_on() -> None:
    recorded = json.loads(golden.ENCODINGS.read_text(encoding="utf-8"))
    digests = {preset: golden.encoding_digest(preset) for preset in PRESETS}
    differ = [preset for preset in PRESETS if recorded["sha256"].get(preset) != digests[preset]]
    assert recorded["encoding_version"] == ENCODING_VERSION, "run python tests/tools/golden.py"
    assert not differ, (
        f"other bytes for {', '.join(differ)}: bump ENCODING_VERSION, name it in CHANGELOG.md, run golden"
    )


def test_there_is_a_file_for_every_preset_and_no_other_and_all_are_small() -> None:
    files = {path.name for path in golden.FOLDER.iterdir()}
    assert files == {golden.ENCODINGS.name, *(f"{preset}.jsonl" for preset in PRESETS)}
    assert sum(path.stat().st_size for path in golden.FOLDER.iterdir()) < 1_000_000
