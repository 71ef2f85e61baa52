"""The encoding is its layout: every block, read back, is what the view says."""

from __future__ import annotations

import random

import numpy as np
import pytest

from encoding_blocks import as_sets, decoded
from hearts_env.cards import HEARTS, NUM_CARDS, QS_SET, cards_in, choose
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import deal, legal, shuffle, single_deal_no, step
from hearts_env.game.rules import Rules
from hearts_env.game.state import DEAL_OVER, PASS, PLAY, State
from hearts_env.game.view import View, view
from hearts_env.observe.blocks import MAX_SEATS, MAX_TRICKS, POINT_STEPS, SCORE_STEPS, rule_flags
from hearts_env.observe.encode import (
    Layout,
    action_mask,
    encode,
    encode_packed,
    encode_tables,
    layout,
    unpack,
)
from tables import random_actions, random_pair

pytestmark = pytest.mark.both_executors


def views(seed: int, groups: int) -> list[View]:
    """Views of the seat to act under random rules, from the first pick to the moon choice."""
    chance = random.Random(seed)
    found = []
    for _ in range(groups):
        pair = random_pair(chance, 4)
        while not pair.state.over.all():
            if chance.random() < 0.1:
                found.append(view(pair.compiled, pair.state))
            step(pair.compiled, pair.state, random_actions(chance, pair.compiled, pair.state))
    return found


def one_hot(values: np.ndarray) -> int:
    """The place of the 1, or -1."""
    places = np.flatnonzero(values)
    assert len(places) <= 1
    return int(places[0]) if len(places) else -1


def check_row(shape: Layout, seen: View, at: int, row: np.ndarray) -> None:
    def block(name: str) -> np.ndarray:
        return decoded(shape, row, name)

    seats = seen.rules.num_players
    for name in ("hand", "out", "picks", "got", "kept", "legal"):
        assert as_sets(block(name)) == getattr(seen, name)[at], name
    assert as_sets(block("trick")) == seen.table[at]
    assert one_hot(block("best")) == seen.best[at]
    assert as_sets(block("played"))[:seats].tolist() == seen.played[at].tolist()
    assert one_hot(block("phase")) == (seen.phase[at] if seen.phase[at] < DEAL_OVER else -1)
    picked = min(len(cards_in(seen.picks[at])), 3) if seen.phase[at] == PASS else -1
    assert one_hot(block("pick_no")) == picked
    assert block("trick_no").sum() == seen.trick_no[at] <= MAX_TRICKS
    position = len(cards_in(seen.table[at])) if seen.phase[at] == PLAY else -1
    assert one_hot(block("position")) == position
    assert one_hot(block("led")) == seen.led[at]
    assert one_hot(block("winning")[:, 0]) == seen.best_seat[at]
    assert one_hot(block("offset")) == seen.offset[at]
    assert as_sets(block("voids"))[:seats].tolist() == seen.voids[at].tolist()
    points = [[int(value >= least) for least in POINT_STEPS] for value in seen.points[at]]
    assert block("points")[:seats].tolist() == points
    assert block("queen")[:seats, 0].tolist() == (seen.taken[at] & QS_SET != 0).tolist()
    assert block("bonus")[:seats, 0].tolist() == (seen.taken[at] & seen.rules.bonus != 0).tolist()
    target = seen.rules.rules.target
    tenths = [[int(score * SCORE_STEPS >= target * (k + 1)) for k in range(SCORE_STEPS)] for score in seen.scores[at]]
    assert block("scores")[:seats].tolist() == tenths
    assert block("broken")[0] == seen.broken[at]
    assert block("rules").tolist() == [int(flag) for flag in rule_flags(seen.rules).values()]
    order = block("order").astype(np.int64) - 1
    assert order[: seen.rules.num_plays].tolist() == seen.plays[at].tolist()
    assert order[NUM_CARDS : NUM_CARDS + seen.rules.num_plays].tolist() == seen.players[at].tolist()
    if shape.seats > seats:
        for about_seats in shape:
            if about_seats.per_seat:
                assert not block(about_seats.name)[seats:].any(), "seats that are not there are zeros"


@pytest.mark.parametrize("pad", [False, True])
def test_every_block_read_back_is_what_the_view_says(pad: bool) -> None:
    for seen in views(seed=1, groups=25):
        shape = layout(seen.rules, pad=pad, order=True)
        encoded = encode(shape, seen)
        for at in range(len(seen)):
            check_row(shape, seen, at, encoded[at])


def test_blocks_follow_each_other_without_gaps() -> None:
    for players in range(2, 8):
        for pad in (False, True):
            shape = layout(compiled_rules(Rules(num_players=players)), pad=pad)
            offset = 0
            for block in shape:
                assert block.offset == offset
                offset += block.size
            assert shape.size == offset
            assert shape.seats == (MAX_SEATS if pad else players)


def test_padded_encodings_have_one_size_for_all_player_counts() -> None:
    assert len({layout(compiled_rules(Rules(num_players=players)), pad=True).size for players in range(2, 8)}) == 1


def test_packed_encodings_unpack_to_the_bytes() -> None:
    for seen in views(seed=2, groups=3):
        shape = layout(seen.rules)
        np.testing.assert_array_equal(unpack(shape, encode_packed(shape, seen)), encode(shape, seen))


def test_encodings_are_written_into_the_buffer_given() -> None:
    seen = views(seed=3, groups=1)[0]
    shape = layout(seen.rules)
    buffer = np.full((len(seen) + 2, shape.size), 9, np.uint8)
    encode(shape, seen, buffer[1:-1])
    np.testing.assert_array_equal(buffer[1:-1], encode(shape, seen))
    assert (buffer[[0, -1]] == 9).all()


def test_tables_are_encoded_as_their_views_are() -> None:
    chance = random.Random(4)
    for _ in range(8):
        pair = random_pair(chance, 4)
        shape = layout(pair.compiled, pad=chance.random() < 0.5, order=chance.random() < 0.5)
        buffer = np.full((4, shape.size + 1), 9, np.uint8)
        while not pair.state.over.all():
            if chance.random() < 0.15:
                seats = None if chance.random() < 0.5 else [chance.randrange(pair.rules.num_players) for _ in range(4)]
                expected = encode(shape, view(pair.compiled, pair.state, seats))
                np.testing.assert_array_equal(encode_tables(shape, pair.compiled, pair.state, seats), expected)
                encode_tables(shape, pair.compiled, pair.state, seats, buffer[:, 1:])
                np.testing.assert_array_equal(buffer[:, 1:], expected)
                assert (buffer[:, 0] == 9).all()
            step(pair.compiled, pair.state, random_actions(chance, pair.compiled, pair.state))


def test_more_tables_than_are_encoded_at_a_time_are_encoded_as_each_alone() -> None:
    rules, ids = compiled_rules(Rules()), np.arange(5000)
    state = State.empty(rules, len(ids))
    deal(rules, state, shuffle(rules, ids), deal_no=single_deal_no(rules, ids))
    for _ in range(30):
        step(rules, state, choose(legal(rules, state), np.random.default_rng(0).random(len(ids))))
    shape, seen = layout(rules, order=True), view(rules, state)
    rows = encode_tables(shape, rules, state)
    np.testing.assert_array_equal(rows, encode(shape, seen))
    np.testing.assert_array_equal(rows[:, : shape.bits], unpack(shape, encode_packed(shape, seen)))
    for row in (0, 511, 512, 4095, 4096, 4999):
        np.testing.assert_array_equal(rows[[row]], encode_tables(shape, rules, state.take(np.array([row]))))


def test_65536_tables_with_observations_fit_in_a_gibibyte() -> None:

    rules = compiled_rules(Rules())
    tables = 65_536
    assert State.empty(rules, tables).nbytes + tables * layout(rules).size < 2**30


def test_the_mask_is_the_legal_set() -> None:
    mask = action_mask(np.array([HEARTS, 1 << 53, 0]))
    assert mask.dtype == np.int8
    assert [np.flatnonzero(row).tolist() for row in mask] == [list(range(26, 39)), [53], []]
