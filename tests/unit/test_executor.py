"""The two executors do the same to the last bit, and one of them is chosen."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from equality import assert_equal, assert_same_states, assert_same_views
from hearts_env import executor
from hearts_env.cards import choose, members
from hearts_env.executor import EXECUTORS, VARIABLE, ExecutorError, _places, executed, override, use, using
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import deal, legal, shuffle, single_deal_no, step
from hearts_env.game.rules import PRESETS, Rules
from hearts_env.game.state import State
from hearts_env.game.view import view
from hearts_env.observe.encode import encode, encode_packed, layout
from tables import random_pair

needs_numba = pytest.mark.skipif(
    "compiled" not in executor.available(), reason="the compiled executor needs numba, from the extra fast"
)


def by_both(function: Callable[..., Any], *args: Any) -> tuple[Any, Any]:
    """What a function returns under each executor."""
    results = []
    for name in EXECUTORS:
        with using(name):
            results.append(function(*args))
    return results[0], results[1]


def step_some(state: State, info: Any, rows: np.ndarray, actions: np.ndarray) -> State:
    """The tables after a step of some of them."""
    after = state.copy()
    moved = after.take(rows)
    step(info, moved, actions[rows])
    after.put(rows, moved)
    return after


@needs_numba
@pytest.mark.parametrize("shape", [(0,), (1,), (9,), (3, 5), (2, 0, 3)])
def test_sets_are_spelled_out_alike_in_any_shape_and_size(shape: tuple[int, ...]) -> None:
    sets = np.random.default_rng(0).integers(-(2**63), 2**63, shape)
    for size in (0, 1, 7, 8, 9, 31, 32, 33, 52, 54, 55, 63, 64, 70):
        assert_equal(*by_both(members, sets, size), f"size {size}")


@needs_numba
@pytest.mark.parametrize("seed", range(3))
def test_states_are_the_same_after_every_step_under_random_rules_in_mixed_phases(seed: int) -> None:
    chance, rng = random.Random(seed), np.random.default_rng(seed)
    for _ in range(7):
        pair = random_pair(chance, 8)
        rules, state = pair.compiled, pair.state
        while not state.over.all():
            sets = by_both(legal, rules, state)
            assert_equal(*sets)
            actions = by_both(choose, sets[0], rng.random(8))
            assert_equal(*actions)
            rows = np.flatnonzero(rng.random(8) < 0.7)
            state, theirs = by_both(step_some, state, rules, rows, actions[0])
            assert_same_states(state, theirs, pair.rules)


@needs_numba
@pytest.mark.parametrize("players", range(2, 8))
def test_states_are_the_same_after_thousands_of_random_deals(players: int) -> None:
    def played(info: Any) -> State:
        rng = np.random.default_rng(players)
        ids = np.arange(3000) * 7919
        state = State.empty(info, len(ids))
        deal(info, state, shuffle(info, ids), deal_no=single_deal_no(info, ids))
        while not state.over.all():
            step(info, state, choose(legal(info, state), rng.random(len(ids))))
        return state

    assert_same_states(*by_both(played, compiled_rules(Rules(num_players=players))), players)


@needs_numba
@pytest.mark.parametrize("seed", range(2))
def test_views_and_encodings_are_the_same_in_every_layout(seed: int) -> None:
    chance, rng = random.Random(seed), np.random.default_rng(seed)
    for _ in range(10):
        pair = random_pair(chance, 4)
        rules, state = pair.compiled, pair.state
        shapes = [layout(rules, pad=pad, order=order) for pad in (False, True) for order in (False, True)]
        while True:
            if chance.random() < 0.2 or state.over.all():
                seats = None if chance.random() < 0.5 else rng.integers(pair.rules.num_players, size=4)
                mine, theirs = by_both(view, rules, state, seats)
                assert_same_views(mine, theirs)
                for shape in shapes:
                    assert_equal(*by_both(encode, shape, mine))
                    assert_equal(encode(shape, mine), encode(shape, theirs))
                    assert_equal(*by_both(encode_packed, shape, theirs))
            if state.over.all():
                break
            rows = np.flatnonzero(rng.random(4) < 0.7)
            state = step_some(state, rules, rows, choose(legal(rules, state), rng.random(4)))


@needs_numba
@pytest.mark.parametrize("name", PRESETS)
def test_deal_ids_are_the_same_deals(name: str) -> None:
    assert_equal(*by_both(shuffle, compiled_rules(Rules.preset(name)), [0, 5, 81723, 2**63 - 1]))


@needs_numba
def test_encodings_are_written_into_buffers_of_any_kind() -> None:
    rules = compiled_rules(Rules())
    state = State.empty(rules, 4)
    deal(rules, state, shuffle(rules, np.arange(4)))
    shape, seen = layout(rules), view(rules, state)
    wide = np.full((4, shape.size + 2), 9, np.uint8)
    with using("compiled"):
        encode(shape, seen, wide[:, 1:-1])
        with pytest.raises(ValueError, match="out has shape"):
            encode(shape, seen, wide)
    with using("numpy"):
        assert_equal(wide[:, 1:-1], encode(shape, seen))
    assert (wide[:, [0, -1]] == 9).all()


@needs_numba
def test_what_is_out_of_range_is_refused_before_it_is_used_as_an_index() -> None:
    rules = compiled_rules(Rules())
    state = State.empty(rules, 2)
    deal(rules, state, shuffle(rules, [1, 2]))
    with using("compiled"):
        with pytest.raises(IndexError, match="action 52 at table 1"):
            step(rules, state, np.array([int(choose(legal(rules, state), np.zeros(2))[0]), 52]))
        with pytest.raises(IndexError, match="seat 4 at table 1"):
            view(rules, state, [3, 4])
        with pytest.raises(ValueError, match="actions must be"):
            step(rules, state, np.array([1]))


@needs_numba
def test_a_kernel_works_where_there_is_no_folder_to_keep_it_in(monkeypatch: pytest.MonkeyPatch) -> None:
    from hearts_env.fast import jit as kernel
    from hearts_env.fast import numba_backend as machine_code

    def no_folder(function: object) -> None:
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(machine_code, "_Cache", no_folder)
    assert kernel.kernel(lambda first, second: first + second)(2, 3) == 5


@needs_numba
def test_the_nth_member_is_the_same_by_an_instruction_of_the_processor_and_by_a_loop() -> None:
    from hearts_env.fast import jit as kernel

    nth = kernel.nth
    by_loop = kernel.kernel(nth)

    @kernel.kernel
    def by_instruction(bits: int, index: int) -> int:
        return nth(bits, index)

    bits = 1 << 0 | 1 << 7 | 1 << 31 | 1 << 32 | 1 << 52 | 1 << 53
    for index, card in enumerate((0, 7, 31, 32, 52, 53)):
        assert (by_instruction(bits, index), by_loop(bits, index), nth(bits, index)) == (card, card, card)


KEPT = "import numpy as np; from hearts_env.cards import choose; choose(np.ones(1, np.int64), np.zeros(1))"
CHANGED = "import hearts_env.fast.numba_backend; hearts_env.fast.numba_backend._source_hash = lambda *_: 'another'; "


@needs_numba
def test_machine_code_is_kept_for_later_processes_until_a_source_changes(tmp_path: Path) -> None:
    kept = {"NUMBA_CACHE_DIR": str(tmp_path), VARIABLE: "compiled"}
    import_only = run("import hearts_env.fast.compiled", **kept)
    assert import_only.returncode == 0
    assert not [path for path in tmp_path.rglob("*") if path.is_file()], "importing compiles nothing"
    first, second, changed = (run(code, **kept).stderr for code in (KEPT, KEPT, CHANGED + KEPT))
    assert first.count("hearts_env: compiling loops") == 1
    assert second == ""
    assert changed.count("hearts_env: compiling loops") == 1


@needs_numba
def test_every_module_that_kernels_take_code_from_is_watched() -> None:
    from hearts_env.fast import numba_backend as machine_code

    folder = Path(machine_code.__file__).parent
    loops = ("step", "rollout", "view", "encode", "worlds", "single")
    compiled_ones = ("jit", "formulas", "compiler", "numba_backend", *loops)
    imports = {line for name in compiled_ones for line in (folder / f"{name}.py").read_text().splitlines()}
    words = [line.split() for line in imports if line.startswith("from hearts_env.")]
    top = folder.parent
    files = {path for _, module, _, name, *_ in words for path in (f"{module}/{name}", module)}
    named = {path.replace(".", "/").removeprefix("hearts_env/") for path in files}
    named.discard("executor")  # it calls kernels, and is part of none
    assert {name for name in named if (top / f"{name}.py").is_file()} <= set(machine_code._SOURCES)


# -- the registry ------------------------------------------------------------------------------------------------------


@executed
def doubled(number: int, times: int = 1) -> int:
    return number * 2**times


@needs_numba
def test_an_override_runs_where_the_compiled_executor_is_chosen_and_nowhere_else() -> None:
    @executed
    def halved(number: int) -> int:
        return number // 2

    with using("compiled"):
        assert halved(8) == 4, "nothing has been registered"

        @override(halved)
        def _(number: int) -> int:
            return -number

        assert halved(8) == -8
    with using("numpy"):
        assert halved(8) == 4
    with pytest.raises(ExecutorError, match="has been overridden by"):
        override(halved)(lambda number: number)


@pytest.mark.parametrize(
    "other",
    [
        lambda number: number,
        lambda number, times=2: number,
        lambda count, times=1: count,
        lambda number, *, times=1: number,
        lambda times, number=1: number,
    ],
)
def test_an_override_with_other_parameters_is_refused(other: Callable[..., int]) -> None:
    with pytest.raises(ExecutorError, match=r"cannot take the place of test_executor\.doubled\(number, times=1\)"):
        override(doubled)(other)
    assert doubled(3) == 6


def test_only_a_function_that_is_marked_can_be_overridden() -> None:
    with pytest.raises(ExecutorError, match="random_pair is not marked executed"):
        override(random_pair)


def test_whatever_is_executed_in_the_library_has_an_override() -> None:
    without = [run.__qualname__ for run, place in _places.items() if place.compiled is None]
    assert [name for name in without if "<locals>" not in name] == ["doubled"]


# -- choosing ----------------------------------------------------------------------------------------------------------


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = {key: value for key, value in os.environ.items() if key != VARIABLE} | environment
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=variables)


ASK = "from hearts_env.executor import chosen; print(chosen())"
WITHOUT_NUMBA = "import sys; sys.modules['numba'] = None; "


@needs_numba
def test_the_compiled_executor_runs_where_numba_is_there() -> None:
    assert run(ASK).stdout.strip() == "compiled"


def test_the_numpy_executor_runs_where_numba_is_not() -> None:
    assert run(WITHOUT_NUMBA + ASK).stdout.strip() == "numpy"


def test_the_environment_variable_chooses() -> None:
    done = run("import sys; " + ASK + "; print('numba' in sys.modules)", **{VARIABLE: "numpy"})
    assert done.stdout.split() == ["numpy", "False"]


@pytest.mark.parametrize(("name", "says"), [("fast", "must be one of numpy, compiled"), ("compiled", "needs numba")])
def test_an_executor_that_cannot_run_is_refused_and_why(name: str, says: str) -> None:
    done = run(WITHOUT_NUMBA + ASK, **{VARIABLE: name})
    assert done.returncode == 1
    assert "ExecutorError" in done.stderr
    assert says in done.stderr


def test_an_argument_goes_before_the_environment_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "no such thing")
    with using("numpy"):
        assert use("numpy") == executor.chosen() == "numpy"
    with pytest.raises(ExecutorError, match="no such thing"), using(None):
        pass


def test_a_choice_for_a_while_ends() -> None:
    before = executor.chosen()
    with pytest.raises(KeyError), using("numpy"):
        raise KeyError
    assert executor.chosen() == before


def test_what_older_sources_left_on_disk_is_thrown_away_even_where_it_names_classes_that_are_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba")
    from hearts_env.fast import numba_backend as machine_code
    from hearts_env.fast import view as kernels_view

    class Gone:
        """Pickled by its name, under which there is nothing when it is read."""

    Gone.__qualname__, Gone.__module__ = "Gone", kernels_view.__name__
    stamp = ("an older one", "of other sources")
    old = machine_code._Files(cache_path=str(tmp_path), filename_base="kernel", source_stamp=stamp)
    monkeypatch.setattr(kernels_view, "Gone", Gone, raising=False)
    old._save_index({(Gone,): "kernel.1.nbc"})
    assert old._load_index()
    monkeypatch.delattr(kernels_view, "Gone")
    assert machine_code._Files(str(tmp_path), "kernel", ("now", "now"))._load_index() == {}
