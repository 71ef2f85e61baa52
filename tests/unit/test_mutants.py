"""The planted bugs of `mutants.py` have each their one place in the library, wherever the lines have moved."""

from __future__ import annotations

from pathlib import Path

import pytest

import mutants
from mutants import MUTANTS, Module, Mutant, library, place_of


@pytest.fixture(scope="module")
def modules() -> list[Module]:
    return library()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.says)
def test_a_bug_can_be_planted_in_one_place(mutant: Mutant, modules: list[Module]) -> None:
    assert place_of(mutant, modules).source


def test_bugs_have_names_of_their_own() -> None:
    assert len({mutant.says for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("name", [*mutants.QUICK, *mutants.SLOWER])
def test_the_tests_that_look_for_bugs_exist(name: str) -> None:
    assert (mutants.ROOT / "tests" / name).is_file()


def written(folder: Path, source: str) -> list[Module]:
    path = folder / mutants.PACKAGE / "deep" / "rule.py"
    path.parent.mkdir(parents=True)
    path.write_text(source, encoding="utf-8")
    return library(folder)


def test_a_place_is_found_however_it_is_laid_out(tmp_path: Path) -> None:
    head = "def legal(hand, led):\n    # a & b\n"
    source = head + '    return either(\n        hand\n        & led,  # "x"\n        other,\n    )\n'
    place = place_of(Mutant("", "return either(hand & led, other)", "return hand"), written(tmp_path, source), tmp_path)
    assert place.path == Path("hearts_env/deep/rule.py")
    assert place.source == head + "    return hand\n"


def test_a_function_tells_places_with_the_same_words_apart(tmp_path: Path) -> None:
    source = "def one():\n    return 1\n\n\nclass A:\n    def two(self):\n        return 1\n"
    modules = written(tmp_path, source)
    with pytest.raises(ValueError, match="stands 2 times in hearts_env, not once"):
        place_of(Mutant("", "return 1", "return 2"), modules, tmp_path)
    place = place_of(Mutant("", "return 1", "return 2", "two"), modules, tmp_path)
    assert place.source == source.removesuffix("1\n") + "2\n"


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("return 3", "return 1", "stands 0 times"),
        ("2", "1 +", "invalid syntax"),
        ("1 + 2", "1  +  2", "changes nothing"),
    ],
)
def test_what_is_no_bug_is_refused(old: str, new: str, error: str, tmp_path: Path) -> None:
    modules = written(tmp_path, "def one():\n    return 1 + 2\n")
    with pytest.raises((ValueError, SyntaxError), match=error):
        place_of(Mutant("", old, new), modules, tmp_path)
