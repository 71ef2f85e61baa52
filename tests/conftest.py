"""Executors: the tests marked `both_executors` run under each of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hearts_env.executor import EXECUTORS, _choice, using


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
