"""The tests of the core run under both executors."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hearts_env.executor import EXECUTORS, _choice, using

CORE = {"test_engine", "test_view", "test_encode", "test_worlds", "test_cases", "test_one_table"}
"""Test modules; the others run under the executor that a user would get."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.module.__name__ in CORE:
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
