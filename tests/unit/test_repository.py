"""The repository keeps its own order: what tests import, and what the Makefile and the workflows name."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
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
