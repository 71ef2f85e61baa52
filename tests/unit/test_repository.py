"""The repository keeps its own order: what tests import, and what the Makefile and the workflows name."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import wheel_contents

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
    """Code that two tests need is in tests/support."""
    assert not [name for name in imported(path) if name.startswith("test_")]


def test_test_modules_have_names_of_their_own() -> None:
    """They lie in folders that are no packages, so pytest imports each by its bare name."""
    names = [path.name for path in TEST_MODULES]
    assert len(set(names)) == len(names)
    assert {path.parent.parent for path in TEST_MODULES} == {TESTS}


# -- what lies in the repository -------------------------------------------------------------------------------------


def scripts(folder: str) -> set[str]:
    """The programs of a folder, without what they import."""
    found = (ROOT / folder).glob("*.py")
    return {path.name for path in found if "__main__" in path.read_text(encoding="utf-8")}


def text_of(*names: str) -> str:
    return "\n".join((ROOT / name).read_text(encoding="utf-8") for name in names)


def pages() -> str:
    """Everything that users read, and the Makefile, which runs what they are told to run."""
    return text_of(
        "README.md", "CONTRIBUTING.md", "Makefile", *(f"docs/{path.name}" for path in ROOT.glob("docs/*.md"))
    )


@pytest.mark.parametrize("name", sorted(scripts("benchmarks")))
def test_every_benchmark_is_cited(name: str) -> None:
    """Others are experiments."""
    assert f"benchmarks/{name}" in pages()


def test_every_experiment_has_its_line_and_every_result_its_experiment() -> None:
    list_of = text_of("experiments/README.md")
    assert set(re.findall(r"python experiments/(\w+\.py)", list_of)) == scripts("experiments")
    results = {path.name for path in (ROOT / "experiments" / "results").iterdir()}
    assert set(re.findall(r"\(results/([\w.]+)\)", list_of)) == results


def test_every_picture_has_its_command_and_its_page() -> None:
    pictures = {path.name for path in (ROOT / "docs" / "images").glob("*.png")}
    listed = set(re.findall(r"`(\w+\.png)`", text_of("docs/images/README.md")))
    assert pictures == listed
    assert not [name for name in pictures if f"images/{name}" not in pages()]


def test_there_are_no_weights_but_those_that_are_shipped() -> None:
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a checkout")
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    weights = [
        name for name in done.stdout.splitlines() if name.endswith((".safetensors", ".pt", ".pth", ".npz", ".onnx"))
    ]
    assert weights == ["agents/hearts_agents/net/net.safetensors"]


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["benchmarks", "experiments"])
def test_every_script_tells_its_options(folder: str) -> None:
    for name in sorted(scripts(folder)):
        command = [sys.executable, f"{folder}/{name}", "--help"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert "--help" in done.stdout, name


# -- what the Makefile and the workflows name ------------------------------------------------------------------------

TARGET = re.compile(r"^([a-z-]+):(?! *=)(.*)$", re.MULTILINE)
"""A target that somebody would ask for: files have dots or variables in their names."""
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def targets() -> dict[str, str]:
    """The targets of the Makefile, each with the rest of its line."""
    return dict(TARGET.findall(text_of("Makefile")))


def asked_for(text: str) -> set[str]:
    """The targets that the `make` commands of a workflow, or of lines like its own, ask for."""
    found: set[str] = set()
    for command in re.findall(r"(?:run|entry): make (.*)$", text, re.MULTILINE):
        words = re.sub(r"\$\{\{ *matrix\.(\w+) *\}\}", lambda match: values_of(text, match[1]), command).split()
        found |= {word for word in words if "=" not in word}
    return found


def values_of(text: str, name: str) -> str:
    """The values of a matrix, with spaces between them."""
    return re.findall(rf"^ *{name}: \[(.*)\]$", text, re.MULTILINE)[0].replace(",", " ").replace('"', " ")


def commands_of(path: Path) -> str:
    """The lines that run something."""
    return "\n".join(re.findall(r"^ *(?:- )?(?:run|entry|target): .*$", path.read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / ".pre-commit-config.yaml"], ids=lambda path: path.name)
def test_workflows_ask_for_targets_that_the_makefile_has(path: Path) -> None:
    asked = asked_for(commands_of(path))
    assert asked
    assert asked <= targets().keys()


def test_every_push_runs_the_checks_on_every_python_that_we_support() -> None:
    text = text_of(".github/workflows/ci.yml")
    assert {"lint", "type", "test"} <= asked_for(commands_of(ROOT / ".github/workflows/ci.yml"))
    assert ".ci/run" in text
    (least,) = re.findall(r'requires-python = ">=3\.(\d+)"', text_of("pyproject.toml"))
    assert values_of(text, "python").split() == [f"3.{minor}" for minor in range(int(least), 15)]


def test_every_night_runs_what_is_too_long_for_a_push() -> None:
    asked = asked_for(commands_of(ROOT / ".github/workflows/nightly.yml"))
    assert asked >= {"test-slow", "prove", "fuzz", "mutants", "perft"}


def test_the_script_of_a_release_asks_for_targets_that_the_makefile_has() -> None:
    asked = {name for line in re.findall(r"^make (.*)$", text_of(".ci/run"), re.MULTILINE) for name in line.split()}
    assert asked >= {"lint", "type", "test"}
    assert asked <= targets().keys()


def test_make_help_lists_every_target() -> None:
    phony = {
        name for line in re.findall(r"^\.PHONY: (.*)$", text_of("Makefile"), re.MULTILINE) for name in line.split()
    }
    assert targets().keys() == phony
    assert [name for name, rest in targets().items() if "## " not in rest] == []


def test_files_that_the_makefile_runs_exist() -> None:
    named = re.findall(r"\b((?:tests|benchmarks|docs)/[\w/.-]+)", text_of("Makefile", ".ci/run"))
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_documents_name_targets_and_files_that_exist() -> None:
    text = pages()
    asked = {name for line in re.findall(r"^\$ make ([a-z -]+)", text, re.MULTILINE) for name in line.split()}
    assert asked <= targets().keys()
    named = set(re.findall(r"\b((?:tests|benchmarks|experiments|examples)/[\w/-]+\.(?:py|json|c|txt))\b", text))
    assert sorted(name for name in named if not (ROOT / name).exists()) == []


# -- what is in the wheel --------------------------------------------------------------------------------------------


def test_what_is_missing_in_a_wheel_or_should_not_be_there_is_told() -> None:
    right = [*wheel_contents.DATA, *(f"{package}/__init__.py" for package in wheel_contents.PACKAGES)]
    assert wheel_contents.complaints([*right, "hearts_env-1.dist-info/METADATA", "hearts_env/game/rules.py"]) == []
    wrong = [*right[1:], "tests/test_one.py", "hearts_train/best.safetensors"]
    assert wheel_contents.complaints(wrong) == [
        f"{right[0]} is missing",
        "tests/test_one.py should not be there",
        "hearts_train/best.safetensors should not be there",
    ]
