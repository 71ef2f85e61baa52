"""The engine against the oracle on what hypothesis thinks up, so that a difference shrinks to the smallest case."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import oracle
import prove
from hearts_env.game.rules import CHOICES
from hearts_env.game.scoring import winners
from hearts_env.text.notation import parse_position, show_position
from prove import VARIANTS, Prove
from tables import Pair, dealt, random_pair
from witness import DifferenceError, play_out, position

EXAMPLES = 150
SMALL_HAND = 4

TEAM_FIELDS = ("teams", "team_moon", "team_end")
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    **{name: st.sampled_from(values) for name, values in CHOICES.items() if name not in (*TEAM_FIELDS, "bonus_card")},
    "lead_hearts_with_qs": st.booleans(),
    "scoring": st.sampled_from(["standard", "spot", "black_maria", {"QS": 5, "KH": 2, "2C": -3, "AD": 1}]),
    "no_tricks_bonus": st.sampled_from([0, -5]),
    "moon_value": st.sampled_from([None, 30, "available"]),
    "sun_value": st.sampled_from([0, 26]),
    "target": st.sampled_from([100, 20, 50]),
    "end_strict": st.booleans(),
    "exact_reset": st.sampled_from([None, 0, 10]),
}
"""Every field that may take any of its values whatever the others are; left out, it has its default."""


class Case:
    """One table for both witnesses, and the chance that picks the actions."""

    def __init__(self, pair: Pair, chance: random.Random) -> None:
        self.pair, self.chance = pair, chance

    def __repr__(self) -> str:
        # For hypothesis: the error has told rules and position, and the arrays would bury them.
        return "Case"


@st.composite
def packs(draw: st.DrawFn, players: int) -> dict[str, Any]:
    """The pack and how much of it is dealt: a pack from a book, or a few cards for a short deal."""
    kind = draw(
        st.sampled_from(["seed", "small", "small", *(["morehead"] if players in oracle.MOREHEAD_REMOVED else [])])
    )
    if kind != "small":
        return {"deck": kind}
    size, dead = draw(st.integers(1, SMALL_HAND)), draw(st.integers(0, 2))
    kept = draw(
        st.lists(st.integers(0, 51), min_size=players * size + dead, max_size=players * size + dead, unique=True)
    )
    return {"deck": tuple(oracle.name(card) for card in range(52) if card not in kept), "dead_cards": dead}


@st.composite
def rule_changes(draw: st.DrawFn) -> dict[str, Any]:
    """Fields that differ from the defaults, valid together."""
    players = draw(st.sampled_from([4, 2, 3, 5, 6, 7]))
    changes = {"num_players": players, **draw(packs(players)), **draw(st.fixed_dictionaries({}, optional=FIELDS))}
    resolved = oracle.rules(**changes)
    names = [oracle.name(card) for card in oracle.deck(resolved)]
    if sum(name[1] == "C" for name in names) <= resolved["dead_cards"]:
        changes["first_leader"] = "left_of_dealer"
    size = oracle.hand_size(resolved)
    if draw(st.booleans()) or resolved["pass_count"] > size:
        changes["pass_count"] = draw(st.integers(0, min(size, 3)))
    if changes.get("pass_count"):
        changes["pass_cycle"] = draw(st.lists(st.integers(0, players - 1), min_size=1, max_size=4).map(tuple))
    bonus = sorted({"JD", "TD"} & set(names))
    if bonus and draw(st.booleans()):
        changes |= {"bonus_card": draw(st.sampled_from(bonus)), "moon_needs_bonus": draw(st.booleans())}
    if players == 4 and draw(st.booleans()):
        changes |= {name: draw(st.sampled_from(CHOICES[name])) for name in TEAM_FIELDS[1:]} | {"teams": "fixed"}
    plain = oracle.rules(num_players=players)
    return {name: value for name, value in changes.items() if name == "num_players" or value != plain[name]}


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Rules, hands with a bias towards corners, scores often near the target, and the chance that picks actions.

    The Random that hypothesis hands out takes every draw from hypothesis, so the oracle's own deals shrink too.
    """
    changes = draw(rule_changes())
    resolved = oracle.rules(**changes)
    chance = draw(st.randoms(use_true_random=False))
    hands = oracle.random_hands(chance, resolved)
    target = resolved["target"]
    near = st.sampled_from([0, target - 1, target, target - 2, target - 13, -30])
    scores = [draw(near) for _ in hands] if draw(st.booleans()) else [0] * len(hands)
    return Case(dealt(changes, [hands], [draw(st.integers(0, 5))], [scores]), chance)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_the_engine_says_what_the_oracle_says_at_every_decision(case: Case) -> None:
    play_out(case.pair, case.chance)


def test_a_position_told_from_the_oracles_record_is_the_engines_own() -> None:
    chance = random.Random(3)
    for _ in range(20):
        pair = random_pair(chance, 2)
        start = pair.state.copy()
        play_out(pair, chance)
        for row in range(2):
            told = parse_position(pair.compiled, position(pair, start, row))
            pair.state.key[row] = 0
            assert show_position(pair.compiled, told) == show_position(pair.compiled, pair.state, row)


def test_a_difference_names_the_thing_both_answers_the_rules_and_the_position() -> None:
    pair = random_pair(random.Random(4), 1)
    pair.state.broken[0] = True
    with pytest.raises(DifferenceError) as raised:
        play_out(pair, random.Random(0))
    lines = str(raised.value).splitlines()
    assert lines[0].endswith("broken differ")
    assert {"  engine: broken True", "  oracle: broken False", f"  rules: {pair.rules.show()}"} < set(lines)
    assert lines[-1].startswith("  position: deal ")


def test_games_of_every_kind_go_on_from_deal_to_deal_as_the_oracles_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(prove.BATCH, prove.GAMES, 2)
    monkeypatch.setattr(prove, "MAX_ROUNDS", 3)
    # A third of the batches play by the variants.
    assert Prove(deals=0, games=3 * 2 * len(VARIANTS), openspiel_deals=0, seed=1, workers=1).run() == 0


def test_the_proof_fails_and_prints_the_smallest_case_when_the_engine_errs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("witness.winners", lambda info, scores: ~winners(info, scores))
    assert Prove(deals=100, games=0, openspiel_deals=0, workers=1).run() == 1
    said = capsys.readouterr().out
    assert "winners differ" in said
    assert "position: deal " in said
    assert "seed: 0, batch " in said
