"""Text for hands, actions and positions: what was shown is parsed back, what is wrong is refused."""

from __future__ import annotations

import contextlib
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from hearts_env import Rules
from hearts_env.cards import ACTION_NAMES, ADD, ALL_CARDS, NUM_ACTIONS, SUBTRACT, CardError, cards_in, lowest
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import deal, legal, shuffle, step
from hearts_env.game.state import DEAL_OVER, GAME_OVER, MOON, PASS, PLAY, State
from hearts_env.text.notation import (
    NotationError,
    carry_out,
    dealt_hands,
    parse_action,
    parse_hand,
    parse_position,
    refusal,
    script,
    show_deal,
    show_hand,
    show_position,
    show_suits,
)

STANDARD = compiled_rules(Rules())
# All one card's: somebody shoots the moon in every deal in which the queen is not dead.
ALWAYS_MOON: dict[str, Any] = {"scoring": {"QS": 13}, "moon": "choice"}

card_sets = st.integers(0, ALL_CARDS)


def same(one: State, other: State) -> bool:
    return all(np.array_equal(mine, theirs) for mine, theirs in zip(one, other, strict=True))


def table(rules: Rules, deal_id: int = 5, deal_no: int = 0, scores: Any = 0, key: int = 0) -> State:
    compiled = compiled_rules(rules)
    state = State.empty(compiled, 1)
    deal(compiled, state, shuffle(compiled, [deal_id]), deal_no=[deal_no], scores=scores, key=key)
    return state


def play_on(rules: Rules, state: State, rng: Random, steps: int) -> State:
    """Up to so many random legal actions."""
    compiled = compiled_rules(rules)
    for _ in range(steps):
        if state.over[0]:
            break
        step(compiled, state, np.array([rng.choice(cards_in(int(legal(compiled, state)[0])))]))
    return state


@given(card_sets)
def test_a_hand_shown_by_name_is_parsed_back(cards: int) -> None:
    assert parse_hand(show_hand(cards)) == cards


@given(card_sets, st.booleans())
def test_a_hand_shown_by_suit_is_parsed_back(cards: int, signs: bool) -> None:
    assert parse_hand(show_suits(cards, signs)) == cards


@given(st.integers(0, NUM_ACTIONS - 1))
def test_an_action_shown_by_name_is_parsed_back(action: int) -> None:
    assert parse_action(ACTION_NAMES[action]) == action


def test_a_hand_is_read_in_both_forms_with_signs_tens_and_lower_case() -> None:
    expected = parse_hand("2C TC QS")
    assert show_hand(expected) == "2C TC QS"
    assert show_suits(expected) == "C2T SQ"
    assert show_suits(expected, signs=True) == "♣2T ♠Q"
    for text in ("c210 sq", "qs 10c 2♣", "♣t2 Q♠", "  2C   TC QS "):
        assert parse_hand(text) == expected, text
    assert show_hand(0) == show_suits(0) == "-"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "'' is no card"),
        ("C", "'C' is no card"),
        ("1S", "'1S' is no card"),
        ("CX", "'XC' is no card"),
        ("2C -", "'-' is no card"),
        ("2C C2", "2C stands twice"),
        ("QS Q♠", "QS stands twice"),
        ("2C,3C", "'2C,3C' is no card"),
    ],
)
def test_a_hand_that_is_none_is_refused(text: str, reason: str) -> None:
    with pytest.raises(CardError, match=reason):
        parse_hand(text)


def test_an_action_that_is_none_is_refused() -> None:
    assert (parse_action(" Add "), parse_action("subtract")) == (ADD, SUBTRACT)
    for text in ("noop", "", "53", "shoot"):
        with pytest.raises(CardError, match="is no card"):
            parse_action(text)


@st.composite
def positions(draw: st.DrawFn) -> tuple[Rules, State]:
    """Any table under any rules: 2 to 7 players, every phase, with scores near the target and random keys."""
    rng = Random(draw(st.integers(0, 2**32)))
    if draw(st.booleans()):
        rules = Rules.from_dict({"num_players": draw(st.integers(2, 7)), **draw(st.sampled_from([{}, ALWAYS_MOON]))})
    else:
        rules = Rules.from_dict(oracle.random_rules(rng))
    scores = oracle.random_totals(rng, oracle.rules(**{**rules.changes(), "num_players": rules.num_players}))
    key = draw(st.sampled_from([0, 1, -(2**63), 2**63 - 1]))
    state = table(rules, draw(st.integers(0, 2**63 - 1)), draw(st.integers(0, 9)), [scores], key)
    steps = draw(st.one_of(st.integers(0, 90), st.just(200)))
    return rules, play_on(rules, state, rng, steps)


@settings(max_examples=60, deadline=None)
@given(positions())
def test_a_position_shown_is_parsed_back_to_the_same_state(position: tuple[Rules, State]) -> None:
    rules, state = position
    text = show_position(compiled_rules(rules), state)
    assert "\n" not in text
    assert same(parse_position(compiled_rules(rules), text), state), text


@pytest.mark.parametrize("seats", range(2, 8))
def test_every_phase_is_parsed_back_for_every_number_of_players(seats: int) -> None:
    found = set()
    for deal_id, (score, fields) in enumerate(((0, {}), (0, ALWAYS_MOON), (99, {}))):
        rules = Rules(num_players=seats, pass_count=2, pass_cycle=(1, 0), **fields)
        compiled = compiled_rules(rules)
        state = table(rules, deal_id, deal_id % 2, [[score] * seats])
        phase = -1
        for number in range(100):
            if number % 13 == 0 or state.phase[0] != phase:
                assert same(parse_position(compiled, show_position(compiled, state)), state)
            phase = int(state.phase[0])
            found.add(phase)
            play_on(rules, state, Random(number), 1)
    assert found == {PASS, PLAY, MOON, DEAL_OVER, GAME_OVER}


def test_a_table_at_which_nothing_has_been_dealt_is_parsed_back() -> None:
    state = State.empty(STANDARD, 1)
    assert show_position(STANDARD, state) == "deal -1 | scores 0 0 0 0"
    assert same(parse_position(STANDARD, show_position(STANDARD, state)), state)


def test_an_exact_hit_of_the_target_does_not_confuse_the_automatic_moon() -> None:
    """The shooter stands at 50, from 113 by the reset or from 63: only the choice tells which.

    Before a deal a score is past the target when a tie is played on, or in a record of other people's.
    """
    rules = Rules(scoring={"QS": 13}, moon="auto", exact_reset=50, pass_count=0)
    compiled = compiled_rules(rules)
    for scores in ([113, 113, 113, 70], [87, 37, 87, 99]):
        state = State.empty(compiled, 8)
        deal(compiled, state, shuffle(compiled, np.arange(8)), deal_no=[0] * 8, scores=[scores] * 8)
        while not state.over.all():
            step(compiled, state, lowest(legal(compiled, state)))
        assert (state.scores == 50).any()
        for row in range(8):
            text = show_position(compiled, state, row)
            assert same(parse_position(compiled, text), state.take(np.array([row]))), text


def test_a_position_reads_as_documented() -> None:
    state = play_on(Rules(), table(Rules(), 81723, deal_no=3, scores=[[5, 0, 0, 21]]), Random(1), 5)
    text = show_position(STANDARD, state)
    assert text == (
        "deal 3 | scores 5 0 0 21 | "
        f"hands {' / '.join(show_suits(hand) for hand in dealt_hands(STANDARD, state)[0])} | "
        f"plays {' '.join(ACTION_NAMES[card] for card in state.plays[0, :5])}"
    )


def test_hands_as_dealt_are_found_again_from_any_moment() -> None:
    for deal_no in range(4):
        hands = shuffle(STANDARD, [11])
        for steps in (0, 5, 12, 13, 40, 99):
            state = play_on(Rules(), table(Rules(), 11, deal_no), Random(3), steps)
            assert np.array_equal(dealt_hands(STANDARD, state), hands)


SUITS_EACH = ("C23456789TJQKA", "D23456789TJQKA", "H23456789TJQKA", "S23456789TJQKA")


def position(*, hands: tuple[str, ...] = SUITS_EACH, number: int = 3, rest: str = "") -> str:
    return f"deal {number} | scores 0 0 0 0 | hands {' / '.join(hands)}{rest}"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "begins no"),
        ("deal 3", "deal and scores are needed"),
        ("scores 0 0 0 0 | deal 3", "stand in the order"),
        ("deal 3 | scores 0 0 0 0", "and hands"),
        ("deal 3 | deal 3 | scores 0 0 0 0", "'deal' begins no"),
        ("deal -2 | scores 0 0 0 0", "from 0 on"),
        ("deal three | scores 0 0 0 0", "deal 'three': must be 1 whole numbers"),
        ("deal 3 | scores 0 0 0", "scores '0 0 0': must be 4 whole numbers"),
        ("deal 3 | scores 0 0 0 1.5", "must be 4 whole numbers"),
        ("deal 3 | scores 0 0 0 9999999999", "at most 9 digits"),
        (position(hands=SUITS_EACH[:3]), "lists 3 seats"),
        (position(hands=("C2", *SUITS_EACH[1:])), "seat 0 holds 1 cards; the rules deal 13"),
        (position(hands=(SUITS_EACH[0], *SUITS_EACH[:3])), "which another seat holds too"),
        (position(hands=("CZ", *SUITS_EACH[1:])), "'ZC' is no card"),
        (position(rest=" | plays 2C 3C"), "illegal play 3C by seat 1: legal are 2D .* in deal 3 .* plays 2C$"),
        (position(rest=" | plays 3C"), "illegal play 3C by seat 0: legal are 2C in deal 3"),
        (position(rest=" | plays 2C | moon add"), "illegal play add by seat 1"),
        (position(rest=" | plays 2C | moon 2C"), "illegal play 2C by seat 1"),
        (position(rest=" | picks C2 / - / - / -"), "nobody passes in deal number 3"),
        (position(rest=" | key 9999999999999999999"), "must be a whole number of 64 bits"),
        (position(rest=" | plays 2C | plays 2C"), "'plays' begins no"),
        (position(rest=" | names a b c d"), "'names' begins no"),
        (position(number=0, rest=" | plays 2C"), "seat 0 passes 0 cards; the rules pass 3"),
        (position(number=0, rest=" | picks C23 / D2 / H2 / -"), "seat 0 passes 2 cards"),
        (position(number=0, rest=" | picks C2345 / D234 / H234 / S234"), "seat 0 passes 4 cards"),
        (position(number=0, rest=" | picks D2 / - / - / -"), "illegal pass 2D by seat 0: legal are 2C"),
    ],
)
def test_a_position_that_cannot_be_is_refused(text: str, reason: str) -> None:
    with pytest.raises(NotationError, match=reason):
        parse_position(STANDARD, text)


@given(st.text(alphabet="deal scorhnpiky|/0123C-SQ ", max_size=80))
def test_any_text_is_a_position_or_is_refused(text: str) -> None:
    with contextlib.suppress(NotationError):
        parse_position(STANDARD, text)


def test_a_card_outside_the_pack_is_named() -> None:
    rules = compiled_rules(Rules(num_players=3))
    text = show_position(rules, table(Rules(num_players=3)))
    with pytest.raises(NotationError, match="seat 0 holds 2D, not in the pack"):
        parse_position(rules, text.replace("hands ", "hands D2 "))


def test_a_script_stops_before_its_first_illegal_action_and_the_other_tables_go_on() -> None:
    state = State.empty(STANDARD, 2)
    hands = np.array([[parse_hand(hand) for hand in SUITS_EACH]] * 2)
    deal(STANDARD, state, hands, deal_no=[3, 3])
    good = script(STANDARD, 3, [], [parse_action(card) for card in ("2C", "2D", "2S", "2S")], None)
    scripts = np.array([good, [*good[:2], parse_action("2H"), good[3]]])
    trail = carry_out(STANDARD, state, scripts)
    assert trail.done.tolist() == [2, 4]
    assert trail.seat.tolist() == [[0, 1, -1, -1], [0, 1, 2, 3]]
    state = State.empty(STANDARD, 2)
    deal(STANDARD, state, hands, deal_no=[3, 3])
    scripts[1, 0] = parse_action("3C")
    assert carry_out(STANDARD, state, scripts).done.tolist() == [2, 0]
    assert refusal(STANDARD, state, parse_action("3C"), 1) == "illegal play 3C by seat 0: legal are 2C"
    assert state.count.tolist() == [2, 0]


def test_a_deal_is_shown_a_line_a_seat_with_its_dead_cards() -> None:
    text = show_deal(Rules(num_players=2), 81723)
    assert text.splitlines() == [
        "deal 81723, num_players=2",
        "seat 0  ♣48TQ  ♦4TA  ♥2468T  ♠4",
        "seat 1  ♣26A   ♦6Q   ♥QA     ♠268TQA",
        "dead           ♦28",
    ]
    assert len(show_deal(Rules(), 0).splitlines()) == 5


@pytest.mark.parametrize("deal_id", [-1, 2**63, True, 1.0, "1"])
def test_a_deal_id_out_of_range_is_refused(deal_id: Any) -> None:
    with pytest.raises(NotationError, match="must be a whole number from 0"):
        show_deal(Rules(), deal_id)
