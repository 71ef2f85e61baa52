"""The repository keeps its own order: what tests import, and what the Makefile and the workflows name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
TEST_MODULES = sorted(TESTS.rglob("test_*.py"))


def imported(path: Path) -> set[str]:
    """The first part of the name of every module that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").split(".")[0])
    return found


@pytest.mark.parametrize("path", sorted(TESTS.rglob("*.py")), ids=lambda path: path.stem)
def test_no_test_imports_a_test(path: Path) -> None:
    """What two tests need is in tests/support."""
    assert not [name for name in imported(path) if name.startswith("test_")]


def test_test_modules_have_names_of_their_own() -> None:
    """They lie in folders that are no packages, so pytest imports each by its bare name."""
    names = [path.name for path in TEST_MODULES]
    assert len(set(names)) == len(names)
    assert {path.parent.parent for path in TEST_MODULES} == {TESTS}
