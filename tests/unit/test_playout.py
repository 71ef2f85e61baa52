"""Whole deals in one call: the same play as the random agent's, by both executors, in any number of threads."""

from __future__ import annotations

import random

import numpy as np
import pytest

import compare_executors
from compare_executors import compare, dealt, differences, random_lookup
from hearts_agents import make
from hearts_agents.random_agent import RandomAgent
from hearts_env import executor
from hearts_env.cards import NUM_ACTIONS, Ints, choose, lowest
from hearts_env.executor import THREADS, ExecutorError, in_threads, use_threads, using
from hearts_env.fast.rollout import choose_whole
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import legal, step
from hearts_env.game.random_play import FRACTION_BITS, play_random
from hearts_env.game.rules import Rules
from hearts_env.game.state import State
from hearts_env.game.view import View, view
from hearts_env.match.agent import kernel_of
from hearts_env.match.play_match import Result, play
from hearts_env.observe.encode import encode, encode_tables, layout

needs_numba = pytest.mark.skipif(
    "compiled" not in executor.available(), reason="the compiled executor needs numba, from the extra fast"
)


class ActsOnly:
    """The random agent without its loop."""

    name = "acts only"

    def __init__(self, seed: int) -> None:
        self.agent = RandomAgent(seed)

    def act(self, view: View) -> Ints:
        return self.agent.act(view)


class Lowest:
    """Always plays the lowest."""

    name = "lowest"

    def act(self, view: View) -> Ints:
        return choose(view.legal, np.zeros(len(view)))


def test_choosing_in_whole_numbers_gives_what_choosing_by_float64_does() -> None:
    whole = 1 << FRACTION_BITS
    for size in range(1, NUM_ACTIONS + 1):
        cards = (1 << size) - 1
        bounds = [-(-whole * place // size) + off for place in range(size + 1) for off in range(-9, 10)]
        numbers = [0, *(number for number in bounds if 0 <= number < whole)]
        chances = np.array(numbers, np.float64) * 2.0**-FRACTION_BITS
        chosen = choose(np.full(len(numbers), cards), chances).tolist()
        assert [choose_whole(cards, number) for number in numbers] == chosen


@needs_numba
@pytest.mark.parametrize("players", range(2, 8))
def test_both_executors_play_the_same_deals_under_random_rules(players: int) -> None:
    for number in range(8):
        info = random_lookup(random.Random(f"{players} {number}"), players)
        assert compare(info, np.arange(60) + number) == [], info.rules.show()


def test_a_difference_in_one_bit_is_found() -> None:
    rules = compiled_rules(Rules())
    mine, theirs = dealt(rules, np.arange(3)), dealt(rules, np.arange(3))
    assert differences(mine, theirs) == []
    theirs.voids[2] ^= 1
    assert differences(mine, theirs) == ["voids"]


def test_the_comparison_goes_over_every_player_count(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr("sys.argv", ["compare_executors.py", "--deals", "20"])
    monkeypatch.setattr(compare_executors, "BATCH", 20)
    assert compare_executors.main() == 0
    assert capsys.readouterr().out.count("20 deals, no difference") == 6
    monkeypatch.setattr(compare_executors, "compare", lambda info, ids: ["voids"])
    assert compare_executors.main() == 1
    assert "2 players, batch 0: voids differ under" in capsys.readouterr().out


@needs_numba
@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_number_of_threads_changes_nothing(number: int, threads: None) -> None:
    rules = compiled_rules(Rules(num_players=3, moon="auto"))
    with using("numpy"):
        plain = dealt(rules, np.arange(400))
        made = play_random(rules, plain)
    use_threads(number)
    with using("compiled"):
        state = dealt(rules, np.arange(400))
        assert play_random(rules, state) == made
    assert differences(plain, state) == []


def results(lineup: list[int] | list[list[int]], agents: list, **options: object) -> list[Result]:
    """The match by numpy, and by the loops where there are some."""
    found = []
    for name in executor.available():
        with using(name):
            found.append(play(Rules(target=30), agents, lineup, np.arange(12), **options))  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize("games", [False, True])
@pytest.mark.parametrize("lineup", [[0, 0, 0, 0], [0, 1, 0, 1], [0, 1, 2, 2], [2, 2, 3, 2], [3, 3, 0, 1]])
def test_a_match_comes_out_the_same_whether_its_agents_play_on_or_act(lineup: list[int], games: bool) -> None:
    agents = [make("random"), make("random:5"), Lowest(), ActsOnly(5)]
    assert [kernel_of(agent) is not None for agent in agents] == [True, True, False, False]
    plain = [ActsOnly(0), ActsOnly(5), Lowest(), ActsOnly(5)]
    wanted = results(lineup, plain, games=games)[0]
    for found in results(lineup, agents, games=games):
        for name in ("points", "winners", "moons", "deals", "decisions"):
            np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name), name)


@needs_numba
def test_a_match_of_agents_that_play_on_asks_none_of_them_to_act(monkeypatch: pytest.MonkeyPatch) -> None:
    def act(self: RandomAgent, view: View) -> Ints:
        raise AssertionError("act was called")

    monkeypatch.setattr(RandomAgent, "act", act)
    with using("compiled"):
        assert play(Rules(), [make("random"), make("random:1")], [0, 1, 1, 0], [7]).decisions.sum() in (52, 64)


@pytest.mark.parametrize("name", executor.EXECUTORS)
@pytest.mark.parametrize("seats", [np.ones((4, 3), bool), np.ones((4, 4), np.int8), np.ones(4, bool)])
def test_seats_of_another_shape_are_refused(name: str, seats: np.ndarray) -> None:
    if name not in executor.available():
        pytest.skip("the compiled executor needs numba, from the extra fast")
    rules = compiled_rules(Rules())
    with using(name), pytest.raises(ValueError, match=r"seats are .*: must be bool, .*\(4, 4\)"):
        play_random(rules, State.empty(rules, 4), seats)


def test_nothing_is_played_where_every_deal_is_over_or_nobody_plays() -> None:
    rules = compiled_rules(Rules())
    assert play_random(rules, State.empty(rules, 5)) == 0
    assert play_random(rules, State.empty(rules, 0)) == 0
    state = dealt(rules, np.arange(5))
    assert play_random(rules, state, np.zeros((5, 4), bool)) == 0


# -- threads -----------------------------------------------------------------------------------------------------------


def test_one_thread_runs_unless_the_variable_or_the_call_says_more(
    monkeypatch: pytest.MonkeyPatch, threads: None
) -> None:
    monkeypatch.delenv(THREADS, raising=False)
    assert use_threads(None) == 1
    monkeypatch.setenv(THREADS, "3")
    assert use_threads(None) == executor.threads() == 3
    assert use_threads(2) == executor.threads() == 2


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5", "2000", "٣"])
def test_what_is_no_number_of_threads_is_refused(text: str, monkeypatch: pytest.MonkeyPatch, threads: None) -> None:
    monkeypatch.setenv(THREADS, text)
    with pytest.raises(ExecutorError, match=f"from {THREADS}"):
        use_threads(None)
    with pytest.raises(ExecutorError, match="must be a whole number from 1"):
        use_threads(0)


@pytest.mark.parametrize("size", [0, 1, 127, 128, 1000])
def test_threads_share_all_rows_and_each_row_once(size: int, threads: None) -> None:
    use_threads(3)
    parts = in_threads(size, lambda rows: list(range(size))[rows])
    assert [row for part in parts for row in part] == list(range(size))
    assert len(parts) == max(1, min(3, size // executor.LEAST_ROWS))


def test_a_thread_that_would_share_its_rows_does_them_alone(threads: None) -> None:
    use_threads(2)
    parts = in_threads(1000, lambda rows: in_threads(rows.stop - rows.start, lambda some: some))
    assert parts[1] == [slice(0, 500)]


@needs_numba
def test_threads_change_nothing_of_views_encodings_and_steps(threads: None) -> None:
    rules = compiled_rules(Rules())
    shown, seats = layout(rules), np.arange(40_000) % 4
    seen = []
    for number in (1, 2):
        use_threads(number)
        with using("compiled"):
            state = dealt(rules, np.arange(40_000))
            for _ in range(30):
                step(rules, state, lowest(legal(rules, state)))
            seen.append((state, encode_tables(shown, rules, state), encode(shown, view(rules, state, seats))))
    (plain, *before), (state, *after) = seen
    assert differences(plain, state) == []
    assert all(np.array_equal(mine, theirs) for mine, theirs in zip(before, after, strict=True))


@needs_numba
def test_what_is_out_of_range_is_named_by_its_table_whatever_thread_finds_it(threads: None) -> None:
    rules = compiled_rules(Rules())
    bad = np.zeros(40_000, np.int64)
    bad[39_000] = 99
    use_threads(2)
    with using("compiled"):
        state = dealt(rules, np.arange(40_000))
        with pytest.raises(IndexError, match="seat 99 at table 39000"):
            view(rules, state, bad)
        with pytest.raises(IndexError, match="seat 99 at table 39000"):
            encode_tables(layout(rules), rules, state, bad)
        with pytest.raises(IndexError, match="action 99 at table 39000"):
            step(rules, state, bad)


def test_what_goes_wrong_in_a_thread_is_raised(threads: None) -> None:
    def fails(rows: slice) -> None:
        if rows.start:
            raise KeyError(rows.start)

    use_threads(2)
    with pytest.raises(KeyError):
        in_threads(1000, fails)
