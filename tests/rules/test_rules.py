"""Rules values: defaults, checks that say what is wrong, text and presets."""

from __future__ import annotations

import contextlib
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hearts_env.game.rules import PRESETS, Rules, RulesError

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"num_players": 1}, "num_players=1: must be a whole number from 2 to 7"),
    ({"num_players": 8}, "num_players=8"),
    ({"num_players": "4"}, "num_players='4'"),
    ({"num_players": True}, "num_players=True"),
    ({"moon": "maybe"}, "moon='maybe': must be one of 'choice'"),
    ({"trump": "S"}, "trump='S'"),
    ({"deck": "short"}, "deck='short'"),
    ({"deck": ("2C", "2C", "3C", "4C")}, "names a card twice"),
    ({"deck": ("1C",)}, "is no card"),
    ({"deck": ("2C",)}, "cannot be dealt evenly to 4 seats"),
    ({"num_players": 7, "deck": "morehead"}, "there is no such pack for num_players=7"),
    ({"dead_cards": -4}, "must not be negative"),
    ({"dead_cards": 3}, "cannot be dealt evenly"),
    ({"deck": tuple(rank + "C" for rank in "23456789TJQK"), "dead_cards": 4}, "first_leader='lowest_club'"),
    ({"pass_count": 14}, "pass_count=14: must lie between 0 and the 13 cards of a hand"),
    ({"pass_count": 2.0}, "pass_count=2.0: must be a whole number"),
    ({"pass_cycle": ()}, "pass_cycle=()"),
    ({"pass_cycle": (4,)}, "offsets lie between -3 and 3"),
    ({"pass_cycle": 1}, "pass_cycle=1"),
    ({"scoring": "double"}, "scoring='double'"),
    ({"scoring": {"QQ": 1}}, "is no card"),
    ({"scoring": {"QS": 1.5}}, "QS must be worth a whole number"),
    ({"scoring": {"JD": 3}, "bonus_card": "JD"}, "scoring gives this card points of its own"),
    ({"bonus_card": "QD"}, "bonus_card='QD'"),
    ({"num_players": 2, "bonus_card": "JD"}, "this card is not in the pack"),
    ({"bonus_points": 10}, "bonus_points=10: must not be positive"),
    ({"no_tricks_bonus": 5}, "no_tricks_bonus=5: must not be positive"),
    ({"moon_needs_bonus": True}, "moon_needs_bonus=True: needs a bonus_card"),
    ({"moon_value": 0}, "moon_value=0"),
    ({"moon_value": "all"}, "moon_value='all'"),
    ({"sun_value": -1}, "sun_value=-1"),
    ({"teams": "fixed", "num_players": 5}, "teams='fixed': needs num_players=4, not 5"),
    ({"team_moon": "team"}, "team_moon='team': needs teams='fixed'"),
    ({"team_end": "player"}, "team_end='player': needs teams='fixed'"),
    ({"target": 0}, "target=0: must be positive"),
    ({"target": 10**9}, "target=1000000000"),
    ({"exact_reset": 100}, "exact_reset=100: must be None or a whole number below the target 100"),
    ({"lead_hearts_with_qs": 1}, "lead_hearts_with_qs=1: must be True or False"),
    ({"colour": "red"}, "colour='red': unknown field; fields are"),
]


@pytest.mark.parametrize(("fields", "message"), WRONG, ids=[message for _, message in WRONG])
def test_wrong_rules_name_the_field_the_value_and_the_reason(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(RulesError) as raised:
        Rules.from_dict(fields)
    assert message in str(raised.value)
    assert isinstance(raised.value, ValueError)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_survives_text_dict_and_pickle(name: str) -> None:
    rules = Rules.preset(name)
    assert Rules.parse(name) == rules
    assert Rules.parse(rules.show()) == rules
    assert Rules.from_dict(rules.changes()) == rules
    assert pickle.loads(pickle.dumps(rules)) == rules
    assert hash(pickle.loads(pickle.dumps(rules))) == hash(rules)


def test_text_combines_a_preset_and_fields() -> None:
    rules = Rules.parse("omnibus, target=50, pass_cycle=[1,0]")
    assert (rules.bonus_card, rules.target, rules.pass_cycle) == ("JD", 50, (1, 0))
    assert Rules.parse('scoring={"QS": 5, "KH": 2},trump=null').scoring == (("KH", 2), ("QS", 5))
    assert Rules.parse("") == Rules()


@pytest.mark.parametrize("text", ["hearts", "target=50,omnibus", "target=fifty", "=3", "target", "pass_cycle=[1,"])
def test_text_that_is_no_rules_is_refused(text: str) -> None:
    with pytest.raises(RulesError):
        Rules.parse(text)


@given(st.text(alphabet="omnibus,target=[]{}()\"'0123456789 :", max_size=40))
@settings(max_examples=300, deadline=None)
def test_any_text_gives_rules_or_a_rules_error(text: str) -> None:
    with contextlib.suppress(RulesError):
        Rules.parse(text)


def test_defaults_follow_the_player_count() -> None:
    two = Rules(num_players=2)
    assert (two.dead_cards, two.pass_count, two.trump, two.moon, two.tie) == (2, 0, "H", "add", "continue")
    assert Rules(num_players=2, trump=None).trump is None
    assert Rules(num_players=5).replace(num_players=3).hand_size == 17
    assert Rules(pass_cycle=(-1,)).pass_cycle == (3,)
