"""What holds in every deal under all rules, as properties of random games; docs/testing.md lists them all."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import oracle
from encoding_blocks import as_sets
from equality import assert_same_views
from hearts_agents import make
from hearts_env.cards import (
    ADD,
    ALL_CARDS,
    CARD_NAMES,
    MOON_CHOICES,
    NO_SEAT,
    QS_SET,
    SUIT_SETS,
    SUITS,
    Ints,
    cards_in,
    parse_card,
)
from hearts_env.envs.aec import HeartsAEC
from hearts_env.game.compiled_rules import CompiledRules, compiled_rules
from hearts_env.game.engine import deal, legal, step
from hearts_env.game.rules import Rules
from hearts_env.game.scoring import card_points, side_scores
from hearts_env.game.state import DEAL_OVER, MOON, PASS, PLAY, State
from hearts_env.game.view import view
from hearts_env.match.tables import Deals
from hearts_env.observe.encode import action_mask, encode, layout
from hearts_env.text.record import Record, records_of
from hearts_env.text.replay import check_line
from tables import random_actions, random_pair

TABLES = 6

seeds = st.integers(0, 2**32 - 1)
"""A seed stands for random rules, with hands and scores near the corners, and for the play."""
often = settings(max_examples=30, deadline=None)


@dataclass
class Moment:
    """Tables before their next actions."""

    rules: CompiledRules
    state: State
    actions: Ints


def moments(seed: int) -> Iterator[Moment]:
    """Some deals under random rules, played at random: the tables before every step and after the last."""
    chance = random.Random(seed)
    pair = random_pair(chance, TABLES)
    while True:
        actions = random_actions(chance, pair.compiled, pair.state)
        yield Moment(pair.compiled, pair.state, actions)
        if pair.state.over.all():
            return
        step(pair.compiled, pair.state, actions)


def ended(seed: int) -> tuple[CompiledRules, State]:
    """The same deals when all are over."""
    *_, last = moments(seed)
    return last.rules, last.state


def moon_worth(compiled: CompiledRules, state: State, row: int) -> int:
    """What the moon shot at a table is worth, spelled out from the fields of the rules."""
    rules = compiled.rules
    captured = int(np.bitwise_or.reduce(state.taken[row]))
    points = oracle.points_of(oracle.rules(**{**rules.changes(), "num_players": rules.num_players}))
    penalties = {card: value for card, value in points.items() if value > 0}
    worth = {None: sum(penalties.values()), "available": sum(penalties[c] for c in penalties if captured >> c & 1)}
    side = [seat for seat in range(compiled.num_players) if on_side(compiled, seat, int(state.shooter[row]))]
    took_all = rules.team_moon == "team" and sum(int(state.taken[row, seat]) for seat in side) == captured
    sun = rules.sun_value if took_all or int(state.taken[row, state.shooter[row]]) == captured else 0
    return int(worth.get(rules.moon_value, rules.moon_value)) + sun  # type: ignore[call-overload, arg-type]


def on_side(rules: CompiledRules, seat: int, shooter: int) -> bool:
    return seat % 2 == shooter % 2 if rules.teams else seat == shooter


@often
@given(seeds)
def test_points_are_conserved(seed: int) -> None:
    """Section "Points" of docs/rules.md: no moon, the pack's points less the dead ones; a moon, its value moved."""
    info, state = ended(seed)
    captured = np.bitwise_or.reduce(state.taken, axis=1)
    for row in range(len(state)):
        total = int(state.points[row].sum())
        if state.shooter[row] == NO_SEAT:
            idle = int((state.taken[row] == 0).sum())
            assert total == card_points(info, captured[[row]])[0] + idle * info.rules.no_tricks_bonus
            continue
        shooters = sum(on_side(info, seat, int(state.shooter[row])) for seat in range(info.num_players))
        worth = moon_worth(info, state, row)
        moved = worth * (info.num_players - shooters) if state.choice[row] == ADD else -worth * shooters
        extras = info.score.moon_extras.tolist()
        besides = sum(value * (int(captured[row]) & cards).bit_count() for cards, value in extras)
        assert total == moved + besides


@often
@given(seeds)
def test_points_in_play_and_dead_points_are_those_of_the_pack(seed: int) -> None:
    info, state = ended(seed)
    captured = np.bitwise_or.reduce(state.taken, axis=1)
    whole = card_points(info, np.array([info.deck]))[0]
    assert (card_points(info, state.taken).sum(axis=1) + card_points(info, info.deck & ~captured) == whole).all()


@often
@given(seeds)
def test_every_card_in_play_is_captured_once_in_whole_tricks(seed: int) -> None:
    info, state = ended(seed)
    captured = np.bitwise_or.reduce(state.taken, axis=1)
    assert (state.taken.sum(axis=1) == captured).all(), "no card twice"
    assert (np.bitwise_count(captured) == info.num_plays).all()
    assert (np.bitwise_or.reduce(state.start, axis=1) == captured).all()
    assert (np.bitwise_count(state.taken) % info.num_players == 0).all()
    assert not state.hands.any()
    assert not state.table.any()


@often
@given(seeds)
def test_no_legal_set_is_empty_before_the_end_and_all_are_sound(seed: int) -> None:
    """Cards held, not picked yet, that may be passed, of the suit led where there is one; moon choices in theirs."""
    for moment in moments(seed):
        info, state = moment.rules, moment.state
        allowed, rows = legal(info, state), np.arange(len(state))
        assert ((allowed != 0) == ~state.over).all()
        hand, picked = state.hands[rows, state.turn], state.picks[rows, state.turn]
        passed = hand & ~picked & ~kept_back(info)
        assert (allowed[state.phase == PASS] == passed[state.phase == PASS]).all()
        assert (allowed[state.phase == MOON] == MOON_CHOICES).all()
        plays = state.phase == PLAY
        assert (allowed[plays] & ~hand[plays] == 0).all()
        follow = hand & info.suit_sets[state.led]
        can = plays & (follow != 0)
        assert (allowed[can] == follow[can]).all()


@often
@given(seeds)
def test_engine_view_encoding_and_mask_have_the_same_legal_actions(seed: int) -> None:
    for moment in moments(seed):
        if moment.actions.sum() % 3 and not moment.state.over.all():
            continue
        allowed = legal(moment.rules, moment.state)
        seen = view(moment.rules, moment.state)
        shape = layout(moment.rules)
        assert (seen.legal == allowed).all()
        assert (as_sets(encode(shape, seen)[:, shape["legal"]]) == allowed).all()
        assert (as_sets(action_mask(seen.legal)) == allowed).all()
        for seat in range(moment.rules.num_players):
            others = view(moment.rules, moment.state, np.full(TABLES, seat))
            assert (others.legal == np.where(moment.state.turn == seat, allowed, 0)).all()


@settings(max_examples=12, deadline=None)
@given(seeds)
def test_the_mask_of_an_environment_is_the_legal_set_of_the_engine(seed: int) -> None:
    chance = random.Random(seed)
    rules = Rules.from_dict(oracle.random_rules(chance))
    env = HeartsAEC(rules, mask_in="both", on_illegal="raise")
    env.reset(seed=seed)
    compiled, state = compiled_rules(rules), State.empty(compiled_rules(rules), 1)
    hands = [env.view(agent).hand[0] for agent in env.possible_agents]
    deal(compiled, state, np.array([hands]), deal_no=[env.infos["seat_0"]["deal_no"]])
    while not state.over[0]:
        agent = env.agent_selection
        observation = env.observe(agent)
        assert isinstance(observation, dict)
        allowed = cards_in(legal(compiled, state)[0])
        assert np.flatnonzero(observation["action_mask"]).tolist() == allowed
        assert np.flatnonzero(env.infos[agent]["action_mask"]).tolist() == allowed
        action = chance.choice(allowed)
        env.step(action)
        step(compiled, state, np.array([action]))
    assert env.infos["seat_0"]["points"] == state.points[0].tolist()


@settings(max_examples=15, deadline=None)
@given(seeds)
def test_a_batch_is_its_rows_one_by_one(seed: int) -> None:
    for moment in moments(seed):
        if moment.actions.sum() % 7:
            continue
        info, state = moment.rules, moment.state
        seen, allowed = view(info, state), legal(info, state)
        shape = layout(info, pad=True, order=True)
        encoded = encode(shape, seen)
        after = state.copy()
        step(info, after, moment.actions)
        for row in range(len(state)):
            one = state.take(np.array([row]))
            assert legal(info, one)[0] == allowed[row]
            alone = view(info, one)
            assert_same_views(alone, seen.take(np.array([row])))
            np.testing.assert_array_equal(encode(shape, alone)[0], encoded[row])
            step(info, one, moment.actions[[row]])
            for mine, theirs in zip(one, after.take(np.array([row])), strict=True):
                np.testing.assert_array_equal(mine, theirs)


@often
@given(seeds)
def test_only_deal_and_step_change_a_state(seed: int) -> None:
    for moment in moments(seed):
        if moment.actions.sum() % 5:
            continue
        before = moment.state.copy()
        seen = view(moment.rules, moment.state)
        seen_before = seen.take(np.arange(len(seen)))
        legal(moment.rules, moment.state)
        encode(layout(moment.rules, order=True), seen)
        for mine, theirs in zip(moment.state, before, strict=True):
            np.testing.assert_array_equal(mine, theirs)
        assert_same_views(seen, seen_before)


@often
@given(seeds, st.integers(1, 6))
def test_seats_have_no_numbers(seed: int, turn: int) -> None:
    """Everybody moves some seats on, with hands and scores: the same cards are legal, and the points move along.

    Not where the number of the deal tells who leads, nor where a side's moon falls to the lower of two level seats.
    """
    chance = random.Random(seed)
    pair = random_pair(chance, TABLES)
    rules, compiled, state = pair.rules, pair.compiled, pair.state
    assume(rules.first_leader == "lowest_club" and rules.team_moon == "player")
    dealt = np.array([[sum(1 << card for card in hand) for hand in theirs.hands] for theirs in pair.deals])
    moved = State.empty(compiled, TABLES)
    scores = np.roll(state.scores, turn, axis=1)
    deal(compiled, moved, np.roll(dealt, turn, axis=1), deal_no=state.deal_no, scores=scores)
    while (state.phase == PASS).any():  # one at a time round the table from seat 0: picks are in another order
        picked = random_picks(chance, compiled, state)
        pass_cards(compiled, state, picked)
        pass_cards(compiled, moved, np.roll(picked, turn, axis=1))
    while not state.over.all():
        assert (legal(compiled, state) == legal(compiled, moved)).all()
        active = ~state.over
        assert ((state.turn + turn) % compiled.num_players == moved.turn)[active].all()
        actions = random_actions(chance, compiled, state)
        step(compiled, state, actions)
        step(compiled, moved, actions)
    np.testing.assert_array_equal(np.roll(state.points, turn, axis=1), moved.points)
    np.testing.assert_array_equal(np.roll(state.scores, turn, axis=1), moved.scores)
    np.testing.assert_array_equal(state.phase, moved.phase)


def kept_back(rules: CompiledRules) -> int:
    """The cards that nobody may pass."""
    return 0 if rules.rules.pass_queen else QS_SET


def random_picks(chance: random.Random, rules: CompiledRules, state: State) -> np.ndarray:
    """Cards for every seat to pass, int64 [N, P, pass_count]."""
    return np.array(
        [
            [chance.sample(cards_in(hand & ~kept_back(rules)), rules.pass_count) for hand in hands]
            for hands in state.hands
        ],
        np.int64,
    )


def pass_cards(rules: CompiledRules, state: State, picks: np.ndarray) -> None:
    """Carry out all picks; tables that hold stay as they are."""
    rows = np.flatnonzero(state.phase == PASS)
    part = state.take(rows)
    for place in range(rules.pass_count):
        for seat in range(rules.num_players):
            step(rules, part, picks[rows, seat, place])
    state.put(rows, part)


@often
@given(seeds)
def test_scores_grow_by_the_points_of_the_deal_or_are_reset(seed: int) -> None:
    info, state = ended(seed)
    pair = random_pair(random.Random(seed), TABLES)
    grown = pair.state.scores + state.points
    if info.rules.exact_reset is not None:
        grown = np.where(grown == info.rules.target, info.rules.exact_reset, grown)
    assert (state.scores == grown).all()
    competing = side_scores(info, state.scores) if info.rules.team_end == "team" else state.scores
    reached = competing.max(axis=1) >= info.rules.target + info.rules.end_strict
    assert (reached | (state.phase == DEAL_OVER)).all(), "no game ends before the target"


@given(seeds)
def test_rules_shown_are_parsed_back(seed: int) -> None:
    rules = Rules.from_dict(oracle.random_rules(random.Random(seed)))
    assert Rules.parse(rules.show()) == rules
    assert Rules.from_dict(rules.changes()) == rules


@given(st.integers(0, len(CARD_NAMES) - 1), st.sampled_from(["{}", " {} ", "lower", "10", "♣♦♥♠", "♧♢♡♤"]))
def test_a_card_is_parsed_back_in_every_spelling(card: int, spelling: str) -> None:
    name = CARD_NAMES[card]
    text = {"lower": name.lower(), "10": name.replace("T", "10")}.get(spelling)
    if text is None:
        text = spelling.format(name) if "{" in spelling else name.translate(str.maketrans(SUITS, spelling))
    assert parse_card(text) == card
    assert sum(SUIT_SETS) == ALL_CARDS
    assert SUIT_SETS[SUITS.index(name[1])] >> card & 1


@often
@given(seeds)
def test_records_of_any_rules_are_parsed_back_and_replay_to_the_same_end(seed: int) -> None:
    chance = random.Random(seed)
    pair = random_pair(chance, TABLES)
    hands = np.array([[sum(1 << card for card in hand) for hand in theirs.hands] for theirs in pair.deals])
    totals = pair.state.scores.astype(np.int64)
    while not pair.state.over.all():
        step(pair.compiled, pair.state, random_actions(chance, pair.compiled, pair.state))
    deals = Deals(np.arange(TABLES), np.arange(TABLES), hands, totals, pair.state)
    for row, record in enumerate(records_of(pair.rules, deals, [["a"] * pair.rules.num_players] * TABLES)):
        assert Record.parse(record.to_json()) == Record.parse(record.to_dict()) == record
        found = check_line(record.to_json())
        assert found["ok"], found
        assert found["points"] == pair.state.points[row].tolist()


@pytest.mark.parametrize("name", ["random", "random:7", "rule"])
def test_an_agent_is_called_what_it_was_asked_for(name: str) -> None:
    assert make(name).name == name
