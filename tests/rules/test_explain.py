"""Rules in words: every preset and every field is explained, and the data on sources holds together."""

from __future__ import annotations

import dataclasses
import json
import re
from random import Random

import pytest

import oracle
from hearts_cli.main import main
from hearts_env.game.explain import NUMBERS, WORDS, cited, differences, field_docs, meaning_of, paragraph
from hearts_env.game.rules import CHOICES, SCORINGS, Rules
from hearts_env.game.variants import PRESETS, READINGS, SOURCES

FIELDS = [field.name for field in dataclasses.fields(Rules)]
SITE = re.compile(r"\w+\.\w+")
STANDARD = (
    "Four players, 52 cards, 13 each. Each player first passes three cards: left, right, across, no pass, deal by "
    "deal. The holder of the lowest club in any hand leads that very card to the first trick. The suit led must be "
    "followed; a seat without it discards what it likes. No penalty card may be discarded on the first trick from a "
    "hand that has others. A hand of nothing but penalty cards may discard any of them there. The highest card of the "
    "suit led wins the trick and leads the next. Hearts may not be led until a heart or QS has been played; a hand of "
    "hearts may lead one. Each heart is worth 1 and QS 13. Whoever takes every penalty card chooses: 26 to each "
    "opponent, or off the own score. The game ends when a score reaches 100; the lowest score wins. Players that tie "
    "for the lowest score share the win."
)
TWO_PLAYERS = (
    "Two players, 28 cards without all 3 5 7 9 J K, 13 each; two more are dead and never seen. Nobody passes cards. "
    "The holder of the lowest club in any hand leads that very card to the first trick. The suit led must be followed; "
    "a seat without it discards what it likes. Penalty cards may be discarded on the first trick too. Hearts are "
    "trumps: the highest heart of a trick wins it. The winner of a trick leads the next. Hearts may not be led until a "
    "heart has been played; QS does not break them; a hand of hearts may lead one. Each heart is worth 1 and QS 13. If "
    "one seat takes every penalty card, each opponent gets 20 and the shooter 0. The game ends when a score reaches "
    "100; the lowest score wins. A tie for the lowest score is broken by further deals."
)


def test_the_standard_and_the_two_player_game_read_as_written_here() -> None:
    assert paragraph(Rules()) == STANDARD
    assert paragraph(Rules(num_players=2)) == TWO_PLAYERS


@pytest.mark.parametrize("name", PRESETS)
def test_every_field_in_which_a_preset_differs_is_named_with_value_meaning_and_source(name: str) -> None:
    rules = Rules.preset(name)
    found = {difference.field: difference for difference in differences(rules)}
    differing = {field for field in FIELDS if getattr(rules, field) != getattr(Rules(), field)}
    assert differing | set(rules.changes()) == set(found)
    for field, difference in found.items():
        assert json.loads(difference.value) == json.loads(json.dumps(rules.changes().get(field, getattr(rules, field))))
        assert json.loads(difference.standard) == json.loads(json.dumps(getattr(Rules(), field)))
        assert len(difference.meaning) > 10
        assert cited(difference.source) or SITE.search(difference.source), f"{field} of {name} names no source"


@pytest.mark.parametrize("name", PRESETS)
def test_the_program_explains_a_preset(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", name]) == 0
    out = capsys.readouterr().out
    words = " ".join(out.split())
    preset = PRESETS[name]
    assert words.startswith(f"{name}: {preset.summary} (source: {preset.source}) {paragraph(Rules.preset(name))}")
    for difference in differences(Rules.preset(name)):
        assert f"{difference.field}={difference.value} (standard: {difference.standard})" in words
        assert f"{difference.meaning} [{difference.source}]" in words
    assert preset.note in words
    for tag in preset.source.split(", "):
        assert f"{tag}: {SOURCES[tag].title}" in words
    assert max(map(len, out.splitlines())) <= 120


def test_the_program_explains_any_rules_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "omnibus,target=50"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert words.startswith("Four players, 52 cards")
    assert "JD adds -10 to its taker's score" in words
    assert "The game ends when a score reaches 50" in words


def test_any_rules_can_be_put_in_words() -> None:
    rng = Random(3)
    for _ in range(300):
        rules = Rules.from_dict(oracle.random_rules(rng))
        text = paragraph(rules)
        assert text.startswith(NUMBERS[rules.num_players].capitalize())
        assert "{" not in text
        assert str(rules.target) in text
        assert all(difference.meaning and difference.source for difference in differences(rules))


def test_every_value_of_every_choice_has_its_words() -> None:
    for field, values in CHOICES.items():
        if field in WORDS:
            assert set(values) == set(WORDS[field]), field
    assert set(WORDS["scoring"]) == set(SCORINGS)
    for field in FIELDS:
        meaning, source = meaning_of(Rules(), field)
        assert meaning
        assert source


def test_words_that_the_paragraph_depends_on_change_it() -> None:
    texts = [paragraph(Rules.preset(name)) for name in PRESETS if name not in ("four", "old_moon")]
    assert len(set(texts)) == len(texts), "two variants that differ read alike"


def test_every_field_has_its_text() -> None:
    assert list(field_docs()) == FIELDS


# -- the data on sources -----------------------------------------------------------------------------------------------


def test_every_source_of_a_preset_is_in_the_list_of_sources() -> None:
    for name, preset in PRESETS.items():
        assert all(tag in SOURCES for tag in preset.source.split(", ")), name


@pytest.mark.parametrize("reading", READINGS, ids=[reading.point for reading in READINGS])
def test_a_reading_has_one_default_and_others_that_their_fields_select(reading) -> None:
    base = {"num_players": reading.num_players, **(reading.base or {})}
    default = Rules.from_dict(base)
    assert reading.ways[0].fields == {}
    seen = [default]
    for way in reading.ways[1:]:
        assert way.fields != {}
        if way.fields is not None:
            rules = Rules.from_dict({**base, **way.fields})
            assert rules not in seen
            assert set(rules.changes()) - set(default.changes()) == set(way.fields)
            seen.append(rules)


def test_every_tag_in_a_docstring_of_a_field_is_a_source() -> None:
    for field, text in field_docs().items():
        inside = " ".join(re.findall(r"\(([^)]*)\)", text)) + " ".join(re.findall(r"(?:Source|Yes|No): ([^.]*)", text))
        for tag in re.findall(r"\b[A-Z]{2}\b", inside):
            assert tag in SOURCES or tag in ("JD", "TD", "QS", "KS", "AS"), (field, tag)


# -- the presets play what they claim ----------------------------------------------------------------------------------

# Section 7 of the rules text, row by row: what each variant changes, whatever the presets are made of.
CLAIMS = {
    "microsoft": {"hearts_broken_by": "heart", "moon": "add"},
    "pagat": {"hearts_broken_by": "heart", "first_trick_points": "allowed"},
    "yahoo": {"lead_hearts_with_qs": True},
    "openspiel": {"moon": "add"},
    "hearts_gym": {"deck": "morehead", "pass_count": 0, "hearts_broken_by": "heart", "first_trick_points": "allowed"},
    "omnibus": {"bonus_card": "JD", "bonus_points": -10, "moon_needs_bonus": False},
    "omnibus_bicycle": {"bonus_card": "TD", "bonus_points": -10, "moon_needs_bonus": True},
    "spot": {"scoring": "spot", "target": 500},
    "black_maria": {"num_players": 3, "scoring": "black_maria", "pass_cycle": (2,), "pass_count": 3, "moon": "none"},
    "partnership": {"teams": "fixed", "moon": "add", "target": 200, "team_moon": "player", "team_end": "team"},
    "partnership_pagat": {"teams": "fixed", "team_end": "player", "target": 100},
    "partnership_parlett": {"teams": "fixed", "team_moon": "player"},
    "greek": {"hearts_broken_by": "never", "pass_cycle": (3,), "pass_count": 3},
    "koupes": {"hearts_broken_by": "never", "pass_count": 0},
    "goldsmith": {"moon": "auto", "exact_reset": 50, "target": 100, "hearts_broken_by": "heart"},
    "two_player_pass": {"num_players": 2, "pass_count": 1, "pass_cycle": (1, 0), "trump": "H"},
    "morehead": {"removed": ("2C",)},
    "old_moon": {"moon": "add"},
    "new_moon": {"moon": "subtract"},
    "fifty": {"target": 50},
    "no_pass": {"pass_count": 0},
}


@pytest.mark.parametrize("name", CLAIMS)
def test_a_preset_changes_what_its_variant_changes(name: str) -> None:
    rules = Rules.preset(name)
    assert {field: getattr(rules, field) for field in CLAIMS[name]} == CLAIMS[name]


def test_every_preset_by_player_count_deals_its_cards() -> None:
    sizes = {"two_player": 13, "three": 17, "four": 13, "five": 10, "six": 8, "seven": 7}
    assert {name: Rules.preset(name).hand_size for name in sizes} == sizes


def test_passing_right_is_to_the_right_for_every_number_of_players() -> None:
    for seats in range(3, 8):
        assert Rules.parse(f"greek,num_players={seats}").pass_cycle == (seats - 1,)
        assert Rules.parse(f"black_maria,num_players={seats}").pass_cycle == (seats - 1,)
