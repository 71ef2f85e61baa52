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
    ["hearts_env.executor"],
    ["hearts_env.cards"],
    ["hearts_env.game"],
    ["hearts_env.observe", "hearts_env.match"],
    ["hearts_env.fast", "hearts_env.text", "hearts_env.exact"],
    ["hearts_env.draw"],
    ["hearts_env.envs"],
    ["hearts_env.adapters", "hearts_env.hearts_v0"],
    ["hearts_env"],
    ["hearts_agents"],
    ["hearts_arena"],
    ["hearts_train"],
    ["hearts_bench"],
    ["hearts_cli"],
]
"""Packages and modules, each importing only from itself and from the layers above its own."""
PACKAGES = ["hearts_env", "hearts_agents", "hearts_arena", "hearts_train", "hearts_bench", "hearts_cli"]


def layer_of(module: str) -> tuple[int, str]:
    """The layer of a module, and the package or module of LAYERS that it belongs to: the longest that fits."""
    fits = [
        (len(name), layer, name)
        for layer, names in enumerate(LAYERS)
        for name in names
        if module == name or module.startswith(f"{name}.")
    ]
    _, layer, name = max(fits)
    return layer, name


def folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def modules() -> dict[str, Path]:
    """Every module of ours and its file."""
    found = {}
    for package in PACKAGES:
        here = folder(package)
        for path in here.rglob("*.py"):
            parts = path.relative_to(here).with_suffix("").parts
            found[".".join((package, *parts)).removesuffix(".__init__")] = path
    return found


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


@pytest.mark.parametrize("module", sorted(modules()))
def test_modules_import_only_from_their_own_package_and_from_layers_above(module: str) -> None:
    layer, package = layer_of(module)
    for name in imported(modules()[module]):
        # The top package's own names (Rules) come from the game.
        if name.startswith("hearts_") and name != "hearts_env":
            other, other_package = layer_of(name)
            assert other < layer or other_package == package, f"{module} imports {name}"


def test_adapters_do_not_import_each_other() -> None:
    for path in (folder("hearts_env") / "adapters").glob("*.py"):
        assert not [name for name in imported(path) if name.startswith("hearts_env.adapters.")], path.name


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
