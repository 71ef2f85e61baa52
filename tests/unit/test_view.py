"""What a seat sees: everything it may know, and nothing that it may not."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pytest

from deals import play_some
from equality import assert_same_views
from hearts_env.cards import NO_CARD, cards_in
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import deal, shuffle, step
from hearts_env.game.rules import Rules
from hearts_env.game.state import PASS, State
from hearts_env.game.view import View, view
from hearts_env.observe.encode import encode, layout
from tables import random_actions, random_pair

pytestmark = pytest.mark.both_executors


def hide_and_seek(state: State, viewer: np.ndarray, chance: np.random.Generator) -> State:
    """The same tables with all cards that the viewer has not seen dealt anew among the other seats (and the dead).

    The others' picks are drawn anew too, except those that the viewer received.
    """
    other = state.copy()
    seats = state.hands.shape[1]
    for row in range(len(state)):
        me = int(viewer[row])
        hidden = [seat for seat in range(seats) if seat != me]
        pool = [card for seat in hidden for card in cards_in(state.hands[row, seat])]
        chance.shuffle(pool)
        for seat in hidden:
            size = len(cards_in(state.hands[row, seat]))
            played = state.start[row, seat] & ~state.hands[row, seat]
            other.hands[row, seat] = sum(1 << card for card in pool[:size])
            other.start[row, seat] = other.hands[row, seat] | played
            pool = pool[size:]
    return other


@pytest.mark.parametrize("players", range(2, 8))
@pytest.mark.parametrize("steps", [0, 1, 5, 30])
def test_a_view_and_its_encoding_do_not_change_when_hidden_cards_do(players: int, steps: int) -> None:
    rules, state = play_some(players, 32, min(steps, 20 if players == 2 else 30), pass_cycle=(1, 0))
    compiled = compiled_rules(rules)
    chance = np.random.default_rng(0)
    for viewer in range(players):
        seats = np.full(32, viewer)
        other = hide_and_seek(state, seats, chance)
        if (state.phase == PASS).all():
            other.picks[:] = 0  # what the others have picked is hidden
            other.picks[:, viewer] = state.picks[:, viewer]
        mine, theirs = view(compiled, state, seats), view(compiled, other, seats)
        # The leader's forced first card is known to nobody but the leader.
        mine.legal[state.turn != viewer] = theirs.legal[state.turn != viewer] = 0
        assert_same_views(mine, theirs)
        for pad in (False, True):
            shape = layout(compiled, pad=pad, order=True)
            np.testing.assert_array_equal(encode(shape, mine), encode(shape, theirs))


def test_a_view_counts_seats_from_the_viewer() -> None:
    _, state = play_some(4, 16, 40)
    rules = compiled_rules(Rules())
    for viewer in range(4):
        seen = view(rules, state, np.full(16, viewer))
        for seat in range(4):
            np.testing.assert_array_equal(seen.taken[:, seat], state.taken[:, (viewer + seat) % 4])
            np.testing.assert_array_equal(seen.scores[:, seat], state.scores[:, (viewer + seat) % 4])
        np.testing.assert_array_equal(seen.hand, state.hands[:, viewer])
        np.testing.assert_array_equal((seen.turn + viewer) % 4, state.turn)


def test_cards_got_and_passed_are_seen_only_after_the_pass() -> None:
    rules = compiled_rules(Rules())
    _, before = play_some(4, 8, 11)
    _, after = play_some(4, 8, 12)
    held = view(rules, before, np.full(8, 1))
    assert (before.phase[:3] == PASS).all()
    assert held.got[:3].tolist() == [0, 0, 0]
    assert (np.bitwise_count(held.picks[:3]) == 3).all()
    seen = view(rules, after, np.full(8, 1))
    passed = seen.offset != 0
    givers = (1 - seen.offset) % 4
    np.testing.assert_array_equal(seen.got, np.where(passed, after.picks[np.arange(8), givers], 0))
    np.testing.assert_array_equal(seen.kept & ~after.hands[np.arange(8), (1 + seen.offset) % 4], 0)


def test_the_order_of_play_names_who_played_what() -> None:
    chance = random.Random(3)
    for _ in range(20):
        pair = random_pair(chance, 4)
        for _ in range(40):
            actions = random_actions(chance, pair.compiled, pair.state)
            for row in np.flatnonzero(~pair.state.over):
                pair.deals[row].step(int(actions[row]))
            step(pair.compiled, pair.state, actions)
        seats = np.full(4, 1)
        seen = view(pair.compiled, pair.state, seats)
        for row, theirs in enumerate(pair.deals):
            order = [
                ((player + 1) % pair.rules.num_players, card)
                for player, card in zip(seen.players[row], seen.plays[row], strict=True)
                if card != NO_CARD
            ]
            assert order == theirs.plays
            trick = {(seat - 1) % pair.rules.num_players: card for seat, card in theirs.table}
            assert {s: c for s, c in enumerate(seen.trick[row]) if c != NO_CARD} == trick


def test_random_numbers_of_a_decision_do_not_depend_on_the_batch() -> None:
    _, state = play_some(4, 16, 20)
    state.key[:] = np.arange(16)
    rules = compiled_rules(Rules())
    keys = view(rules, state).key
    assert len(set(keys.tolist())) == 16
    for row in range(16):
        assert view(rules, state.take([row])).key[0] == keys[row]


@pytest.mark.parametrize("seat", [4, -1, 300])
def test_a_seat_that_is_not_at_the_table_sees_nothing(seat: int) -> None:
    rules = compiled_rules(Rules())
    state = State.empty(rules, 2)
    deal(rules, state, shuffle(rules, [1, 2]))
    with pytest.raises(IndexError, match=f"seat {seat} at table 1: seats are 0 to 3"):
        view(rules, state, [3, seat])


def test_a_view_shares_no_memory_with_the_state() -> None:
    _, state = play_some(4, 4, 20)
    rules = compiled_rules(Rules())
    seen = view(rules, state)
    for field in dataclasses.fields(View):
        if field.name != "rules":
            assert not any(np.shares_memory(getattr(seen, field.name), array) for array in state), field.name
