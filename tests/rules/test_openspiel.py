"""The engine against OpenSpiel's hearts, under every combination of its eight options."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: pip install open_spiel")

import pyspiel

import openspiel_witness
from hearts_env.cards import CARD_NAMES, parse_card
from hearts_env.game.rules import Rules
from openspiel_witness import COMBINATIONS, NAMES, OURS, compare, rules_of
from witness import DifferenceError

DEALS = 2


def test_openspiel_has_the_eight_options_that_the_rules_cover() -> None:
    assert set(pyspiel.load_game("hearts").get_parameters()) == set(NAMES)


def test_openspiel_names_its_cards_as_the_mapping_says() -> None:
    state = pyspiel.load_game("hearts").new_initial_state()
    state.apply_action(0)
    assert [parse_card(state.action_to_string(card)) for card in range(len(CARD_NAMES))] == [
        OURS[card] for card in range(len(CARD_NAMES))
    ]


def test_the_default_options_are_the_preset_named_openspiel_but_for_the_pass_cycle() -> None:
    options = pyspiel.load_game("hearts").get_parameters()
    assert Rules.from_dict(rules_of(options)).replace(pass_cycle=(1, 3, 2, 0)) == Rules.preset("openspiel")


@pytest.mark.parametrize("passing", [True, False])
def test_legal_cards_and_returns_are_openspiels_under_every_combination_of_its_options(passing: bool) -> None:
    chance = random.Random(passing)
    combinations = [options for options in COMBINATIONS if options["pass_cards"] == passing]
    assert len(combinations) == len(COMBINATIONS) // 2
    for options in combinations:
        compare(options, chance, DEALS)


def test_a_difference_from_openspiel_is_told_with_rules_and_position(monkeypatch: pytest.MonkeyPatch) -> None:
    options = dict(COMBINATIONS[0], no_pts_on_first_trick=False)
    mistaken = dict(rules_of(options), first_trick_points="forbidden")
    monkeypatch.setattr(openspiel_witness, "rules_of", lambda _: mistaken)
    with pytest.raises(
        DifferenceError, match=r"(?s)legal cards differ.*openspiel: .*rules: .*position: deal . \| scores"
    ):
        compare(options, random.Random(0), 64)
