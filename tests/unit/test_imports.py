"""Imports go one way, and importing the package loads nothing heavy.

An import, an arrow from one module to another, is any statement in the file, inside a function or for type checkers
too, and any string that is a module's name, as `import_module` and registries take them.  It is read from the text of
all files; a fresh Python in which every module is imported shows that nothing is missed.  Two things are no arrows:
that Python runs a package's `__init__` before its modules, and entry points in pyproject.toml, which no module names.
"""

from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

import import_arrows
from measure_house import circles, imports, modules, unreadable

ROOT = Path(__file__).resolve().parents[2]

LAYERS = [
    ["hearts_env.executor"],
    ["hearts_env.cards"],
    ["hearts_env.game"],
    ["hearts_env.observe", "hearts_env.match"],
    ["hearts_env.fast", "hearts_env.text", "hearts_env.exact", "hearts_env.functional"],
    ["hearts_env.draw"],
    ["hearts_env.envs"],
    ["hearts_env.adapters", "hearts_env.hearts_v0", "hearts_env.testing"],
    ["hearts_env"],
    ["hearts_agents"],
    ["hearts_arena"],
    ["hearts_train"],
    ["hearts_bench"],
    ["hearts_cli"],
]
"""Packages and modules, each importing only from itself and from the layers above its own."""
FILES = modules(ROOT)
"""Every module of ours and its file."""
GRAPH = imports(FILES)
"""The modules of ours that each one imports."""
MADE_UP_NAMES = {"hearts_env", "hearts_bench.env_layers"}
"""Modules that import by names that come from a table or from outside."""


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


@pytest.fixture(scope="module")
def at_run_time() -> dict[str, list[str]]:
    """The modules that each module imports when it is imported itself, in a fresh Python."""
    script = Path(import_arrows.__file__)
    done = subprocess.run(
        [sys.executable, str(script)], input=json.dumps(sorted(FILES)), capture_output=True, text=True, check=True
    )
    told = json.loads(done.stdout.splitlines()[-1])
    for module, error in told["missing"].items():
        assert "install the extra" in error or "No module named" in error, f"{module}: {error}"
        assert "No module named 'hearts_" not in error, f"{module}: {error}"
    arrows: dict[str, list[str]] = told["arrows"]
    return arrows


@pytest.mark.parametrize("module", sorted(FILES))
def test_modules_import_only_from_their_own_package_and_from_layers_above(module: str) -> None:
    layer, package = layer_of(module)
    for name in GRAPH[module]:
        other, other_package = layer_of(name)
        assert other < layer or other_package == package, f"{module} imports {name}"


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circles(GRAPH) == []


def test_reading_the_files_finds_every_import_that_happens(at_run_time: dict[str, list[str]]) -> None:
    for module, names in at_run_time.items():
        assert set(names) <= GRAPH[module], f"{module} imports by a name that cannot be read in its text"


@pytest.mark.parametrize("module", sorted(FILES))
def test_a_name_given_to_import_module_can_be_read_in_the_text(module: str) -> None:
    assert module in MADE_UP_NAMES or not unreadable(ast.parse(FILES[module].read_text(encoding="utf-8")))


def test_no_module_has_a_relative_import() -> None:
    for path in FILES.values():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level], path.name


def test_entry_points_name_what_there_is() -> None:
    points = distribution("hearts_env").entry_points
    assert len(points) >= 2
    for point in points:
        assert callable(point.load())


def test_adapters_do_not_import_each_other() -> None:
    adapters = "hearts_env.adapters."
    for module in FILES:
        assert not module.startswith(adapters) or not [name for name in GRAPH[module] if name.startswith(adapters)]


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
