"""Whatever numba is there, and whatever has become of the machine code on disk, results are the same."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hearts_env.executor import VARIABLE

numba = pytest.importorskip("numba", reason="the compiled executor needs numba, from the extra fast")

from hearts_env.fast import compiler, numba_backend  # noqa: E402


def add(first: int, second: int) -> int:
    """A kernel that takes little to compile."""
    return first + second


def hits(function: Callable[[int, int], int] = add) -> int:
    """How often machine code was found on disk by a kernel that is compiled anew."""
    dispatcher = compiler.compiled(function)
    assert dispatcher(2, 3) == 5
    return sum(dispatcher.stats.cache_hits.values())


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """The warnings since it was last asked, as if every time were a new process."""
    numba_backend._warned().clear()

    def since() -> list[str]:
        numba_backend._warned().clear()
        found = [each.message for each in caplog.records if each.levelno >= logging.WARNING]
        caplog.clear()
        return [message for message in found if "compiling loops" not in message]

    return since


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where machine code is kept."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    return tmp_path


def directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES = {
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "cut in its head": lambda path: path.write_bytes(path.read_bytes()[:30]),
    "one bit changed": lambda path: path.write_bytes(path.read_bytes()[:-9] + b"\x55" + path.read_bytes()[-8:]),
    "random bytes": lambda path: path.write_bytes(np.random.default_rng(1).bytes(3000)),
    "empty": lambda path: path.write_bytes(b""),
    "a directory": directory,
}


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_costs_one_warning_and_is_replaced(
    ending: str, damage: str, folder: Path, warnings: Callable[[], list[str]]
) -> None:
    assert (hits(), hits(), warnings()) == (0, 1, [])
    (file,) = folder.rglob(f"*.{ending}")
    DAMAGES[damage](file)
    assert hits() == 0
    assert len(warnings()) == 1
    if file.is_file():
        assert (hits(), warnings()) == (1, [])


def test_a_file_that_is_gone_is_written_again(folder: Path, warnings: Callable[[], list[str]]) -> None:
    hits()
    (data,) = folder.rglob("*.nbc")
    data.unlink()
    assert (hits(), hits(), warnings()) == (0, 1, [])


def test_a_folder_that_cannot_be_made_is_named_in_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warnings: Callable[[], list[str]]
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "file" / "below"))
    hits()
    (message,) = warnings()
    assert f"NUMBA_CACHE_DIR={tmp_path}/file/below is no folder" in message


def test_where_no_folder_can_be_written_to_every_process_compiles_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warnings: Callable[[], list[str]]
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    (tmp_path / "cache").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "__pycache__").write_text("no folder")
    (tmp_path / "alone.py").write_text("def add(first, second):\n    return first + second\n")
    names: dict[str, Callable[[int, int], int]] = {}
    source = tmp_path / "alone.py"
    exec(compile(source.read_text(), str(source), "exec"), names)
    assert hits(names["add"]) == 0
    (message,) = warnings()
    assert "every process compiles its loops anew" in message


# -- other versions of numba, and none ---------------------------------------------------------------------------------


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = {key: value for key, value in os.environ.items() if key != VARIABLE} | environment
    code = textwrap.dedent(code)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=variables)


CHOOSE = """
import numpy as np
from hearts_env.cards import choose, members
from hearts_env.executor import using
sets = np.random.default_rng(0).integers(1, 1 << 52, 3000)
random = np.random.default_rng(1).random(3000)
with using("numpy"):
    wanted = choose(sets, random), members(sets)
for found, right in zip((choose(sets, random), members(sets)), wanted):
    assert (found == right).all()
import sys
print(*(sys.modules.get(f"hearts_env.fast.{name}") is not None for name in ("numba_backend", "compiler")))
"""
UNKNOWN = "import numba; numba.__version__ = '9.9.9'\n"
GONE = "import sys; sys.modules['hearts_env.fast.numba_backend'] = None\n"


@pytest.mark.parametrize("change", [UNKNOWN, GONE])
def test_with_other_inner_parts_numba_compiles_without_them(change: str, tmp_path: Path) -> None:
    done = run(change + CHOOSE, NUMBA_CACHE_DIR=str(tmp_path), **{VARIABLE: "compiled"})
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["False", "True"]
    assert done.stderr.count("hearts_env: compiled loops are slower, since numba") == 1
    assert len(done.stderr.splitlines()) == 2, "and one line says that loops are compiled"


def test_numpy_runs_where_numba_compiles_nothing() -> None:
    broken = "import numba.extending; del numba.extending.overload\n"
    done = run(broken + CHOOSE)
    assert (done.returncode, done.stdout.split()) == (0, ["False", "False"]), done.stderr
    assert done.stderr.count("hearts_env: numpy runs in place of compiled loops") == 1
    assert len(done.stderr.splitlines()) == 1
    refused = run(broken + CHOOSE, **{VARIABLE: "compiled"})
    assert refused.returncode == 1
    assert "ExecutorError: executor 'compiled' needs numba" in refused.stderr


def test_kernels_run_as_python_where_compiling_is_switched_off() -> None:
    done = run(
        """
        import gymnasium, sys
        import numpy as np
        import hearts_env
        from hearts_env.executor import using
        from hearts_env.game.compiled_rules import compiled_rules
        from hearts_env.game.engine import deal, legal, shuffle, step
        from hearts_env.game.random_play import play_random
        from hearts_env.game.rules import Rules
        from hearts_env.game.state import State
        from hearts_env.cards import choose
        from hearts_env.observe.encode import encode_tables, layout

        def played():
            rules, found = compiled_rules(Rules()), []
            state = State.empty(rules, 3)
            deal(rules, state, shuffle(rules, [1, 2, 3]), deal_no=[0, 1, 3])
            random = np.random.default_rng(0)
            while not state.over.all():
                found += [encode_tables(layout(rules), rules, state), *(array.copy() for array in state)]
                step(rules, state, choose(legal(rules, state), random.random(3)))
            deal(rules, state, shuffle(rules, [4, 5, 6]))
            play_random(rules, state)
            env = gymnasium.make("hearts_env/Hearts-v0", opponents="rule")
            seen, told = env.reset(seed=0)
            while "summary" not in told:
                found.append(seen)
                seen, _, _, _, told = env.step(int(np.flatnonzero(told["action_mask"])[-1]))
            return [*found, *state, told["points"]]

        results = []
        for name in ("numpy", "compiled"):
            with using(name):
                results.append(played())
        for mine, theirs in zip(*results, strict=True):
            np.testing.assert_array_equal(mine, theirs)
        print("hearts_env.fast.uncompiled" in sys.modules, "hearts_env.fast.compiler" in sys.modules)
        """,
        NUMBA_DISABLE_JIT="1",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "False"]
    assert done.stderr == ""


# -- starting ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("opponents", ["random", "rule"])
def test_a_program_that_plays_a_deal_does_not_wait_for_numba(opponents: str) -> None:
    done = run(f"""
        import gymnasium, sys
        import numpy as np
        import hearts_env
        from hearts_env.executor import WARM_UP, chosen
        env = gymnasium.make("hearts_env/Hearts-v0", opponents={opponents!r})
        _, told = env.reset(seed=0)
        while "summary" not in told:
            _, _, _, _, told = env.step(int(np.flatnonzero(told["action_mask"])[0]))
        print(chosen(), "numba" in sys.modules)
        hearts_env.cards.choose(np.ones(WARM_UP, np.int64), np.zeros(WARM_UP))
        print("numba" in sys.modules)
        """)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["compiled", "False", "True"]
