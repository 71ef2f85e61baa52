"""Worlds drawn from a view fit it, and are spread as they should be."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from deals import play_some
from equality import assert_same_views
from hearts_env.cards import NO_CARD, cards_in
from hearts_env.game.compiled_rules import CompiledRules, compiled_rules
from hearts_env.game.engine import deal, legal, shuffle, step
from hearts_env.game.rules import Rules
from hearts_env.game.state import PASS, PLAY, State
from hearts_env.game.view import view
from hearts_env.game.worlds import worlds
from tables import random_actions, random_pair

pytestmark = pytest.mark.both_executors


def check_past(compiled: CompiledRules, world: State) -> None:
    """The plays of a world (one table) were legal from the hands that it says were held after the pass."""
    rules = compiled.rules.replace(pass_count=0)
    if compiled.rules.dead_cards and (compiled.rules.first_lead != "forced" or world.count[0] == 0):
        return  # who holds the lowest club is then not known
    again = State.empty(compiled_rules(rules), 1)
    deal(compiled_rules(rules), again, world.start, deal_no=world.deal_no)
    for card in world.plays[0][: world.count[0]]:
        assert legal(compiled_rules(rules), again)[0] >> int(card) & 1
        step(compiled_rules(rules), again, np.array([int(card)]))
    np.testing.assert_array_equal(again.hands, world.hands)
    np.testing.assert_array_equal(again.taken, world.taken)


@pytest.mark.parametrize("seed", range(3))
def test_a_world_gives_the_same_view_and_could_have_been_played(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(40):
        pair = random_pair(chance, 4)
        while not pair.state.over.all():
            active = pair.state.take(~pair.state.over)
            if chance.random() < 0.15:
                seats = (
                    None
                    if chance.random() < 0.5
                    else np.array([chance.randrange(pair.rules.num_players)] * len(active))
                )
                seen = view(pair.compiled, active, seats)
                drawn = worlds(seen, 3)
                assert_same_views(
                    view(pair.compiled, drawn, np.repeat(seen.seat, 3)), seen.take(np.repeat(np.arange(len(seen)), 3))
                )
                for row in np.flatnonzero(drawn.phase == PLAY)[::3]:
                    check_past(pair.compiled, drawn.take([row]))
            step(pair.compiled, pair.state, random_actions(chance, pair.compiled, pair.state))


def test_worlds_of_a_view_differ_and_do_not_depend_on_the_batch() -> None:
    rules, state = play_some(4, 8, 20)
    state.key[:] = np.arange(8)
    seen = view(compiled_rules(rules), state)
    many = worlds(seen, 16)
    assert len({tuple(hands) for hands in many.hands[:16].tolist()}) == 16
    for row in range(8):
        alone = worlds(seen.take([row]), 16)
        np.testing.assert_array_equal(alone.hands, many.hands[16 * row : 16 * row + 16])
    assert (worlds(seen, 16, salt=1).hands != many.hands).any()


def test_where_nothing_is_known_every_card_is_equally_likely_in_every_other_hand() -> None:
    rules = compiled_rules(Rules())
    state = State.empty(rules, 1)
    deal(rules, state, shuffle(rules, [7]), deal_no=3)
    step(rules, state, np.array([cards_in(legal(rules, state)[0])[0]]))
    seen = view(rules, state)
    drawn = worlds(seen, 6000)
    leader = int(state.leaders[0, 0])
    others = [seat for seat in range(4) if seat not in (leader, int(seen.seat[0]))]
    share = [np.bitwise_count(drawn.hands[:, leader] & (1 << card)).mean() for card in cards_in(int(seen.out[0]))]
    assert abs(np.array(share) - 12 / 38).max() < 0.03
    for seat in others:
        share = [np.bitwise_count(drawn.hands[:, seat] & (1 << card)).mean() for card in cards_in(int(seen.out[0]))]
        assert abs(np.array(share) - 13 / 38).max() < 0.03


def test_small_endings_are_spread_over_all_worlds_that_fit() -> None:
    """Two tricks from the end with a void seat: every world that fits is drawn, none more than twice its share."""
    rules, state = play_some(4, 200, 12 + 44, seed=9)
    compiled = compiled_rules(rules)
    state = state.take(state.phase == PLAY)
    seen = view(compiled, state)
    for row in range(0, len(seen), 20):
        one = seen.take([row])
        found = Counter(tuple(hands) for hands in worlds(one, 3000).hands.tolist())
        expected = 3000 / len(found)
        assert max(found.values()) < 2 * expected + 60, found


def test_views_of_a_deal_that_is_over_have_no_worlds() -> None:
    rules, state = play_some(4, 1, 70)
    with pytest.raises(ValueError, match="over"):
        worlds(view(compiled_rules(rules), state), 2)


def test_picks_of_others_are_drawn_while_the_pass_goes_on() -> None:
    rules, state = play_some(4, 8, 6)
    compiled = compiled_rules(rules)
    state = state.take(state.phase == PASS)
    drawn = worlds(view(compiled, state), 4)
    np.testing.assert_array_equal(np.bitwise_count(drawn.picks), np.bitwise_count(np.repeat(state.picks, 4, axis=0)))
    assert (drawn.picks & ~drawn.hands == 0).all()
    assert (drawn.plays == NO_CARD).all()
