"""Imports go one way, and importing the package loads nothing heavy."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

LAYERS = [
    ["executor", "registration"],
    ["cards", "variants"],
    ["rules"],
    ["lookup", "explain"],
    ["rulebook"],
    ["tally"],
    ["scoring"],
    ["state"],
    ["engine"],
    ["playout"],
    ["view"],
    ["encode", "notation", "rewards"],
    ["kernel"],
    ["machine_code", "kernels"],
    ["kernels_random", "kernels_view", "kernels_worlds"],
    ["held", "one_table"],
    ["compiled"],
    ["agent"],
    ["worlds", "match", "tree"],
    ["record", "exact", "text_view"],
    ["replay"],
    ["render", "spaces", "dataset"],
    ["scene", "whole"],
    ["picture", "notebook"],
    ["table"],
    ["edge", "opponents"],
    ["seats", "learner"],
    ["aec", "parallel", "vector", "single"],
    ["hearts_v0", "wrappers"],
]
"""The modules of hearts_env, each importing only from layers above its own."""
PACKAGES = ["hearts_env", "hearts_agents", "hearts_train"]
"""Each may import from those before it."""


def folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def imported(path: Path) -> set[str]:
    """Every module that a source file imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} has a relative import"
            found.add(node.module or "")
    return found


def test_every_module_of_the_core_has_a_layer() -> None:
    modules = {path.stem for path in folder("hearts_env").glob("*.py")} - {"__init__"}
    assert modules == {name for layer in LAYERS for name in layer}


@pytest.mark.parametrize("layer", range(len(LAYERS)))
def test_modules_import_only_from_layers_to_their_left(layer: int) -> None:
    left = {f"hearts_env.{name}" for names in LAYERS[:layer] for name in names} | {"hearts_env"}
    for name in LAYERS[layer]:
        ours = {module for module in imported(folder("hearts_env") / f"{name}.py") if module.startswith("hearts_")}
        assert ours <= left, f"{name} imports {sorted(ours - left)}"


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_only_from_packages_to_their_left(package: str) -> None:
    later = PACKAGES[PACKAGES.index(package) + 1 :]
    for path in folder(package).glob("*.py"):
        assert not {module for module in imported(path) if module.split(".")[0] in later}, path.name


def test_adapters_import_the_core_and_not_each_other() -> None:
    core = {f"hearts_env.{name}" for layer in LAYERS for name in layer} | {"hearts_env", "hearts_env.adapters"}
    for path in (folder("hearts_env") / "adapters").glob("*.py"):
        ours = {module for module in imported(path) if module.startswith("hearts_")}
        assert ours <= core, f"{path.name} imports {sorted(ours - core)}"
    for layer in LAYERS:
        for name in layer:
            assert "hearts_env.adapters" not in " ".join(imported(folder("hearts_env") / f"{name}.py")), name


@pytest.mark.parametrize(
    ("adapter", "library"),
    [
        ("openspiel", "pyspiel"),
        ("sb3", "stable_baselines3"),
        ("torchrl", "torchrl"),
        ("tianshou", "tianshou"),
        ("pufferlib", "pufferlib"),
        ("rllib", "ray"),
    ],
)
def test_an_adapter_without_its_library_names_the_extra_to_install(
    adapter: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = f"hearts_env.adapters.{adapter}"
    monkeypatch.delitem(sys.modules, module, raising=False)
    for name in [name for name in sys.modules if name.split(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=r"this adapter needs \S+: install the extra, pip install 'hearts_env\[") as e:
        importlib.import_module(module)
    assert str(e.value).endswith(f"[{adapter}]'")
    assert isinstance(e.value, ValueError)


def test_importing_hearts_env_loads_neither_torch_nor_numba_nor_matplotlib() -> None:
    code = "import sys, hearts_env; print([m for m in ('torch', 'numba', 'matplotlib') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
