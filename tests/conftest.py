"""The marker `both_executors`, and the time that the tests may take together."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from hearts_env.executor import EXECUTORS, _choice, using

BEGUN = time.monotonic()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--budget", type=float, help="seconds that the tests may take together: told at the end")


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    budget = terminalreporter.config.getoption("--budget")
    if budget:
        took = time.monotonic() - BEGUN
        over = took > budget
        terminalreporter.write_line(
            f"{took:.0f} s of {budget:.0f} s budget"
            + (": too long; make the slowest above cheaper, or mark them slow" if over else ""),
            yellow=over,
            green=not over,
        )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.definition.get_closest_marker("both_executors"):
        metafunc.fixturenames.append("executor")
        metafunc.parametrize("executor", EXECUTORS, indirect=True)


@pytest.fixture
def executor(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "compiled":
        pytest.importorskip("numba", reason="the compiled executor needs numba, from the extra fast")
    with using(request.param) as name:
        yield name


@pytest.fixture
def threads() -> Iterator[None]:
    """Whatever number of threads a test chooses, it is forgotten."""
    yield
    _choice.threads = None
