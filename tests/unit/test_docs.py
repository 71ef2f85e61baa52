"""The documents are true: generated parts are up to date, and the README's code does what it prints."""

from __future__ import annotations

import doctest
import importlib.util
from pathlib import Path

import pytest

import module_tables
from measure_house import modules

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page", ["README.md", "docs/environments.md"])
def test_the_code_on_the_page_prints_what_it_says(page: str) -> None:
    result = doctest.testfile(str(ROOT / page), module_relative=False)
    assert result.attempted > 5
    assert result.failed == 0


@pytest.mark.parametrize("path", sorted((ROOT / "docs").glob("*.md")), ids=lambda path: path.name)
def test_the_examples_in_the_documents_print_what_they_say(path: Path) -> None:
    assert doctest.testfile(str(path), module_relative=False).failed == 0


def test_generated_parts_of_the_documents_are_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("build", ROOT / "docs" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        assert build.rewritten(text) == text, f"{path.name}: run make docs"


def test_every_field_of_the_rules_is_documented() -> None:
    text = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    from dataclasses import fields

    from hearts_env import Rules

    for field in fields(Rules):
        assert f"| `{field.name}` |" in text


def test_the_architecture_page_names_every_module_and_every_layer() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for package in module_tables.PACKAGES:
        assert f"<!-- generated: modules_of_{package} -->" in text
    for module, path in modules(ROOT).items():
        where = path.relative_to(module_tables.PACKAGES[module.partition(".")[0]])
        assert path.name == "__init__.py" or f"| `{where.as_posix()}` |" in text, f"{module} is missing: run make docs"
        assert module_tables.first_line(path), f"{module} does not say what it is"
