"""The engine agrees with the worked cases of the rules text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cases import CASES, tidy
from hearts_env import Rules
from hearts_env.cards import (
    ALL_CARDS,
    CARD_NAMES,
    CLUBS,
    NO_CARD,
    NO_SEAT,
    card_set,
    cards_in,
    names_in,
    parse_card,
)
from hearts_env.game.compiled_rules import CompiledRules, compiled_rules
from hearts_env.game.engine import deal, legal, pass_offset, step
from hearts_env.game.scoring import card_points, is_over, reset_exact, winners
from hearts_env.game.state import MOON, PLAY, State
from hearts_env.text.notation import NotationError, carry_out, parse_action, script

pytestmark = pytest.mark.both_executors


def cards(names: list[str]) -> list[int]:
    return [parse_card(name) for name in names]


def hand(names: list[str]) -> int:
    return card_set(cards(names))


def dealt(rules: CompiledRules, hands: list[list[str]], deal_no: int) -> State:
    """A table with these hands, which may be fewer cards than the rules deal: the engine counts only what it holds."""
    state = State.empty(rules, 1)
    deal(rules, state, np.array([[hand(names) for names in hands]]), deal_no=[deal_no])
    return state


def playing(rules: CompiledRules, trick_no: int = 0, broken: bool = False) -> State:
    """A table with empty hands at the beginning of a trick that seat 0 leads."""
    state = State.empty(rules, 1)
    state.phase[:], state.turn[:], state.broken[:] = PLAY, 0, broken
    state.count[:] = trick_no * rules.num_players
    state.leaders[:, trick_no] = 0
    return state


def lay(rules: CompiledRules, state: State, card: str) -> None:
    """The seat to act gets a card and plays it."""
    state.hands[0, state.turn[0]] |= hand([card])
    step(rules, state, np.array([parse_card(card)]))


def answer_deck(rules: Rules, given: Any) -> Any:
    compiled = compiled_rules(rules)
    return {
        "size": compiled.deck.bit_count(),
        "hand": compiled.hand_size,
        "dead": compiled.deck.bit_count() - compiled.num_plays,
        "total": compiled.penalty_points,
        "removed": sorted(names_in(ALL_CARDS & ~compiled.deck)),
    }


def answer_leader(rules: Rules, given: Any) -> Any:
    compiled = compiled_rules(rules.replace(pass_count=0))
    state = dealt(compiled, given["hands"], given.get("dealer", 0))
    allowed = names_in(legal(compiled, state)[0])
    return {"leader": state.turn[0], "card": allowed[0] if len(allowed) == 1 else None}


def answer_offsets(rules: Rules, given: Any) -> Any:
    return pass_offset(compiled_rules(rules), np.arange(given["deals"])).tolist()


def answer_pass(rules: Rules, given: Any) -> Any:
    compiled = compiled_rules(rules)
    state = dealt(compiled, given["hands"], given["deal"])
    picks = script(compiled, given["deal"], [cards(choice) for choice in given["choices"]], [], None)
    trail = carry_out(compiled, state, np.array([picks]))
    assert trail.done[0] == len(picks)
    return {"hands": [sorted(names_in(held)) for held in state.hands[0]], "leader": state.turn[0]}


def answer_pass_illegal(rules: Rules, given: Any) -> Any:
    compiled = compiled_rules(rules)
    state = dealt(compiled, given["hands"], given["deal"])
    try:
        picks = script(compiled, given["deal"], [cards(choice) for choice in given["choices"]], [], None)
    except NotationError:
        return "illegal"
    done = carry_out(compiled, state, np.array([picks])).done[0]
    assert [sorted(names_in(held)) for held in state.hands[0]] == [sorted(names) for names in given["hands"]]
    return "illegal" if done < len(picks) else "legal"


def answer_legal(rules: Rules, given: Any) -> Any:
    compiled = compiled_rules(rules)
    state = playing(compiled, given["trick_no"], given["broken"])
    for card in given["trick"]:
        lay(compiled, state, card)
    state.broken[:] = given["broken"]
    state.hands[0, state.turn[0]] = hand(given["hand"])
    return sorted(names_in(legal(compiled, state)[0]))


def answer_breaks(rules: Rules, given: Any) -> Any:
    compiled = compiled_rules(rules)
    state = playing(compiled)
    for card in given["trick"]:
        lay(compiled, state, card)
    state.broken[:] = False
    lay(compiled, state, given["card"])
    return bool(state.broken[0])


def answer_winner(rules: Rules, given: Any) -> Any:
    compiled = compiled_rules(rules)
    state = playing(compiled)
    for card in given["trick"]:
        lay(compiled, state, card)
    assert state.taken[0].nonzero()[0].tolist() == [state.turn[0]]
    return state.turn[0]


def answer_score(rules: Rules, given: Any) -> Any:
    """The last trick is played with clubs that are worth nothing, won by a seat that has won tricks."""
    compiled = compiled_rules(rules)
    state = playing(compiled, trick_no=compiled.hand_size - 1)
    clubs = [CARD_NAMES[card] for card in cards_in(compiled.deck & CLUBS)]
    last = next(seat for seat, tricks in enumerate(given["tricks_won"]) if tricks)
    for seat, names in enumerate(given["taken"]):
        others = [clubs.pop(0)] if given["tricks_won"][seat] > (seat == last) else []
        state.taken[0, seat] = hand([*names, *others])
    state.scores[:] = given["totals"] or [0] * compiled.num_players
    state.turn[:] = last
    for _ in range(compiled.num_players):
        lay(compiled, state, clubs.pop())
    if state.phase[0] == MOON:
        step(compiled, state, np.array([parse_action(given["choice"])]))
    assert state.over[0]
    return state.points[0].tolist()


def answer_end(rules: Rules, given: Any) -> Any:
    compiled = compiled_rules(rules)
    scores = reset_exact(compiled, np.array([given["totals"]]) + np.array([given["deal"]]))
    won = winners(compiled, scores)[0]
    numbers = np.flatnonzero(won[:2] if compiled.teams else won)
    return {"totals": scores[0].tolist(), "over": bool(is_over(compiled, scores)[0]), "winners": numbers.tolist()}


def answer_play(rules: Rules, given: Any) -> Any:
    compiled = compiled_rules(rules.replace(pass_count=0))
    state = dealt(compiled, given["hands"], given["dealer"])
    plays = np.array([cards(given["cards"])])
    assert carry_out(compiled, state, plays).done[0] == plays.size
    led = [seat for seat in state.leaders[0].tolist() if seat != NO_SEAT]
    assert led[0] == 0
    assert state.plays[0, plays.size] == NO_CARD
    return {
        "won": [led[1:].count(seat) for seat in range(compiled.num_players)],
        "raw": card_points(compiled, state.taken)[0].tolist(),
        "broken": bool(state.broken[0]),
    }


ANSWERS = {
    "deck": answer_deck,
    "leader": answer_leader,
    "offsets": answer_offsets,
    "pass": answer_pass,
    "pass_illegal": answer_pass_illegal,
    "legal": answer_legal,
    "breaks": answer_breaks,
    "winner": answer_winner,
    "score": answer_score,
    "end": answer_end,
    "play": answer_play,
}


@pytest.mark.parametrize("case", CASES, ids=[f"{case['id']}-{case['kind']}: {case['why']}" for case in CASES])
def test_the_engine_answers_the_worked_case(case: dict[str, Any]) -> None:
    answer = ANSWERS[case["kind"]](Rules.from_dict(case["rules"]), case["input"])
    assert answer == tidy(case["kind"], case["expect"]), f"{case['why']} ({case['source']})"


def test_every_kind_of_case_is_asked() -> None:
    assert {case["kind"] for case in CASES} == set(ANSWERS)
