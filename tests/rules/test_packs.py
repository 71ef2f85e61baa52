"""Packs said by the cards that are in: read, shown, checked, and the same for the oracle."""

from __future__ import annotations

import pytest

import oracle
from hearts_env.cards import ALL_CARDS, CARD_NAMES, cards_in, names_in, parse_hand
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.rules import PRESETS, Rules, RulesError
from hearts_env.text.record import Record

SMALL = [name for name in PRESETS if name.startswith("small_")]


@pytest.mark.parametrize("text", ["C24 H3A SQ", "SQ HA3 C42", "♣24 ♥3A ♠Q", "2C 4C 3H AH QS", "c24 h3a sq"])
def test_a_pack_may_be_said_by_suit_or_by_card_in_any_order(text: str) -> None:
    rules = Rules(num_players=2, deck=text, dead_cards=1)
    assert rules.deck == "C24 H3A SQ"
    assert rules == Rules(num_players=2, deck="C24 H3A SQ", dead_cards=1)
    assert rules.hand_size == 2
    assert names_in(compiled_rules(rules).deck) == ["2C", "4C", "3H", "AH", "QS"]


def test_saying_what_is_in_is_saying_what_is_out() -> None:
    kept = Rules(num_players=2, deck="C24 H3A SQ", dead_cards=1)
    out = Rules(num_players=2, deck=tuple(names_in(ALL_CARDS & ~parse_hand("C24 H3A SQ"))), dead_cards=1)
    assert kept.removed == out.removed
    assert compiled_rules(kept).deck == compiled_rules(out).deck


@pytest.mark.parametrize("name", SMALL)
def test_small_rules_survive_text_json_and_records_and_the_oracle_has_the_same_pack(name: str) -> None:
    rules = Rules.preset(name)
    assert Rules.parse(rules.show()) == rules
    assert Rules.from_dict(rules.changes()) == rules
    pack = cards_in(compiled_rules(rules).deck)
    assert 8 <= len(pack) <= 20
    plain = oracle.rules(**{**rules.changes(), "num_players": rules.num_players})
    assert oracle.deck(plain) == pack
    assert oracle.hand_size(plain) == rules.hand_size
    size = rules.hand_size
    hands = [[CARD_NAMES[card] for card in pack[seat * size :][:size]] for seat in range(rules.num_players)]
    line = {"format": "hearts-record/1", "rules": rules.changes(), "hands": hands, "plays": []}
    assert Record.parse(line).rules == rules
    assert Record.parse(Record.parse(line).to_json()) == Record.parse(line)


@pytest.mark.parametrize(
    ("deck", "sentence"),
    [
        ("seeds", "must be 'seed', 'morehead', the cards to remove"),
        ("C24 H3 C2", "2C stands twice"),
        ("C24 X9", "is no card"),
        ("", "is no card"),
        (5, "neither text nor a list of cards"),
        ("C24 H3A SQ", "5 cards less 2 dead cannot be dealt evenly"),
        ("C23 H34", "needs more clubs in the pack than dead cards"),
    ],
)
def test_a_pack_that_cannot_be_is_refused(deck: object, sentence: str) -> None:
    with pytest.raises(RulesError, match=sentence):
        Rules(num_players=2, deck=deck)  # type: ignore[arg-type]
