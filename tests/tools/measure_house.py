"""Measure how the code is built: modules, imports, what is written twice, and how many files a call runs through.

    python tests/tools/measure_house.py [--root DIR] [--executor compiled] [--json]

`--root` is any checkout of this repository, also one from before the packages had folders of their own.

modules             Python files of the installed packages.
floors              the longest chain of modules that import each other, a circle counting as one floor.
circles             modules that import each other in a ring.  An import is a statement anywhere in a file (inside a
                    function, or for type checkers only), or a string that names a module of ours, as
                    `import_module` and entry points take.
shared lines        code lines of the functions in the numpy modules that a kernel module uses too, and of all functions
                    of the same file that these call.
twin lines          code lines of the other functions: of engine, random play, view and encode in numpy, and of the
                    kernel modules, which do the same one table at a time.
journeys            distinct files of ours whose functions are entered in one kind of call, after a first call; how
                    many of them stand outside the core, whose verbs a reader takes as given; and hops, the pairs of
                    files between which calls go.  With the numpy executor unless told otherwise.
readme words        words of README.md.

Code lines have neither docstrings, comments nor blanks.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
Graph = dict[str, set[str]]
"""The modules that each module imports."""
NUMPY = {
    "old": ("engine", "playout", "view", "encode"),
    "new": ("game.engine", "game.random_play", "game.view", "observe.encode"),
}
"""The modules of the numpy executor that have twins, by the layout of the repository."""
FORMULAS = {"old": ("", "cards"), "new": ("game", "observe", "cards")}
"""Where the functions that both executors share may stand."""
BLOCKS = "hearts_env.observe.blocks"
"""The table of the encoding, from which both writers are made: all of it is shared."""
CORE = re.compile(
    r"hearts_env/((game|fast)/|(cards|executor|functional)\.py$"
    r"|(rules|lookup|rulebook|tally|scoring|state|engine|playout|view|worlds|rewards|variants)\.py$"
    r"|(compiled|kernel\w*|machine_code|one_table|held)\.py$)"
)
"""The files of the core, by either layout: the game and its two executors."""
KERNELS = re.compile(r"hearts_env\.(kernels\w*|fast\.(step|rollout|view|encode|worlds))$")


# -- what there is -------------------------------------------------------------------------------------------------


def packages(root: Path) -> dict[str, Path]:
    """The folder of each installed package."""
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    mapped = re.search(r"\[tool\.setuptools\.package-dir\]\n((?:\w.*\n)+)", text)
    if mapped:
        return {name: root / place for name, place in re.findall(r'(\w+) = "([\w/]+)"', mapped[1])}
    return {path.parent.name: path.parent for path in sorted([*root.glob("hearts_*/__init__.py"), *_inner(root)])}


def _inner(root: Path) -> Iterator[Path]:
    return root.glob("*/hearts_*/__init__.py")


def modules(root: Path) -> dict[str, Path]:
    """Every module and its file."""
    found = {}
    for package, folder in packages(root).items():
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            found[".".join((package, *parts)).removesuffix(".__init__")] = path
    return found


# -- imports ---------------------------------------------------------------------------------------------------------


def imports(files: dict[str, Path]) -> Graph:
    """The modules of ours that each one imports, by statement or by name in a string."""
    return {name: _imported(name, path, files) for name, path in files.items()}


def _imported(module: str, path: Path, files: dict[str, Path]) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: set[str] = set(_by_name(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found.update(name if name in files else str(node.module) for name in names)
    return {name for name in found if name in files and name != module}


def _by_name(tree: ast.Module) -> Iterator[str]:
    """Strings that may name modules.  That of a whole package stands for anything, so only where imported."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "." in node.value:
            yield node.value.partition(":")[0]
    for given in _given_to_import_module(tree):
        yield str(given.value if isinstance(given, ast.Constant) else _texts(tree).get(ast.unparse(given)))


def unreadable(tree: ast.Module) -> list[str]:
    """Arguments of `import_module` that are neither a string nor the name of one in the same file."""
    given = [each for each in _given_to_import_module(tree) if not isinstance(each, ast.Constant)]
    return [text for text in map(ast.unparse, given) if text not in _texts(tree)]


def _given_to_import_module(tree: ast.Module) -> list[ast.expr]:
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
    return [call.args[0] for call in calls if ast.unparse(call.func).endswith(("import_module", "__import__"))]


def _texts(tree: ast.Module) -> dict[str, object]:
    """The constants of a module by their names."""
    return {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def circles(graph: Graph) -> list[list[str]]:
    """The rings of modules that import each other, the largest first."""
    rings = [ring for ring in _components(graph) if len(ring) > 1]
    return sorted((sorted(ring) for ring in rings), key=lambda ring: (-len(ring), ring))


def floors(graph: Graph) -> int:
    """The longest chain of imports, in modules; a circle is one floor."""
    height: dict[str, int] = {}
    # Components come after all that they import.
    for ring in _components(graph):
        below = {height[other] for name in ring for other in graph[name] if other not in ring}
        for name in ring:
            height[name] = 1 + max(below, default=0)
    return max(height.values())


def _components(graph: Graph) -> list[list[str]]:
    """Strongly connected components, each after all that it points to (Tarjan, SIAM J. Comput. 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(graph[name]):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            place = stack.index(name)
            found.append(stack[place:])
            del stack[place:]

    for name in sorted(graph):
        if name not in index:
            visit(name)
    return found


# -- what is written twice -------------------------------------------------------------------------------------------


@dataclass
class Source:
    """The functions of one module."""

    path: Path
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    code: set[int] = field(default_factory=set)
    """The numbers of the lines with code."""

    def lines(self, names: Iterable[str]) -> int:
        """Code lines of some functions."""
        spans = (self.functions[name] for name in names)
        return len({line for node in spans for line in range(_begin(node), (node.end_lineno or 0) + 1)} & self.code)


def _begin(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(mark.lineno for mark in node.decorator_list)])


def read(path: Path) -> Source:
    """The functions and code lines of a file."""
    text = path.read_text(encoding="utf-8")
    tree, source = ast.parse(text), Source(path)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            source.functions.setdefault(node.name, node)
    spoken = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    silent = {tokenize.NL, tokenize.COMMENT, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in silent:
            source.code.update(range(token.start[0], token.end[0] + 1))
    source.code -= spoken
    return source


def written_twice(files: dict[str, Path]) -> dict[str, int]:
    """Code lines of the rules that both executors share, and of those that each has for itself."""
    layout = "new" if "hearts_env.game" in files else "old"
    numpy = {f"hearts_env.{name}" for name in NUMPY[layout]}
    kernels = {name: read(path) for name, path in files.items() if KERNELS.match(name)}
    formulas = {name: read(path) for name, path in files.items() if _may_hold(name, layout) and name not in kernels}
    used = {name: _closed(source, _taken_from(name, kernels, files)) for name, source in formulas.items()}
    if BLOCKS in formulas:
        used[BLOCKS] = set(formulas[BLOCKS].functions)
    return {
        "shared_lines": sum(source.lines(used[name]) for name, source in formulas.items()),
        "numpy_twin_lines": sum(formulas[name].lines(set(formulas[name].functions) - used[name]) for name in numpy),
        "kernel_twin_lines": sum(source.lines(source.functions) for source in kernels.values()),
    }


def _may_hold(module: str, layout: str) -> bool:
    parts = module.split(".")
    if parts[0] != "hearts_env" or len(parts) < 2 or parts[-1] == "jit":
        return False
    return parts[1] in FORMULAS["new"] if layout == "new" else len(parts) == 2 and parts[1] not in ("kernel", "held")


def _taken_from(module: str, kernels: dict[str, Source], files: dict[str, Path]) -> set[str]:
    """The names of a module that kernels use, imported as they are or through the module."""
    names: set[str] = set()
    package, _, last = module.rpartition(".")
    for kernel in kernels:
        tree = ast.parse(files[kernel].read_text(encoding="utf-8"))
        aliases: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == module:
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module == package:
                aliases.update(alias.asname or alias.name for alias in node.names if alias.name == last)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases:
                names.add(node.attr)
    return names


def _closed(source: Source, names: set[str]) -> set[str]:
    """Those of the names that are functions of this file, and the functions of the file that these call."""
    found: set[str] = set()
    todo = [name for name in names if name in source.functions]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            called = {node.id for node in ast.walk(source.functions[name]) if isinstance(node, ast.Name)}
            todo += [other for other in called if other in source.functions]
    return found


# -- journeys --------------------------------------------------------------------------------------------------------

PROBE = '''
import os, sys, threading
from pathlib import Path

ours = [os.path.realpath(place) + os.sep for place in sys.argv[2].split(os.pathsep)]
names = {}

def name_of(code):
    path = code.co_filename
    if path not in names:
        real = os.path.realpath(path)
        here = [real[len(os.path.dirname(place[:-1])) + 1:] for place in ours if real.startswith(place)]
        names[path] = here[0] if here else ""
    return names[path]

def watched(call):
    """The files that a call enters, and the pairs of files between which calls go."""
    files, hops = set(), set()
    def note(frame, event, _):
        if event != "call" or frame.f_code.co_name == "<module>":
            return
        here = name_of(frame.f_code)
        if here:
            files.add(here)
            back = frame.f_back
            while back is not None and not name_of(back.f_code):
                back = back.f_back
            if back is not None and name_of(back.f_code) != here:
                hops.add((name_of(back.f_code), here))
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return files, hops

def aec():
    from hearts_env import hearts_v0
    env = hearts_v0.env()
    def deal(around):
        env.reset(seed=1)
        while not all(env.terminations.values()):
            seen = env.last()[0]
            action = int(seen["action_mask"].argmax())
            around(lambda: env.step(action))
    deal(lambda step: step())
    files, hops = set(), set()
    def noted(step):
        some, pairs = watched(step)
        files.update(some)
        hops.update(pairs)
    deal(noted)
    return files, hops

def match():
    import numpy as np
    from hearts_agents import make
    from hearts_env import Rules
    try:
        from hearts_env.match import play
    except ImportError:
        from hearts_env.match.play_match import play
    def once():
        play(Rules(), [make("rule")], [0] * 4, np.arange(8))
    once()
    agent = make("rule")
    return watched(lambda: play(Rules(), [agent], [0] * 4, np.arange(8)))

def learner(only_learning):
    import numpy as np
    from hearts_train import ppo
    from hearts_train.ppo import Learner, TrainConfig
    try:
        from hearts_train.run.checkpoint import Progress
    except ImportError:
        from hearts_train.checkpoint import Progress
    small = {"decisions": 600, "workers": 1, "tables": 8, "width": 8, "blocks": 1, "minibatch": 64, "eval_ids": 4}
    nested = hasattr(TrainConfig, "with_options")
    config = TrainConfig().with_options(**small) if nested else TrainConfig(**small)
    try:
        made = Learner(config)
    except TypeError:  # a checkout from before it knew nothing of the other workers
        if hasattr(ppo, "shared_state"):
            shared_state = ppo.shared_state
        else:
            from hearts_train.run.session import shared_state
        made = Learner(0, config, shared_state(config))
    pace = config.scheduled(Progress()) if nested else config.pace(Progress())
    made.watch.start()
    made.iterate(0, 0, pace)
    if only_learning:
        return watched(lambda: (getattr(made, "update", None) or made._update)(np.random.default_rng(0), pace))
    return watched(lambda: made.iterate(1, 8, pace))

JOURNEYS = {"aec": aec, "match": match, "update": lambda: learner(True), "iteration": lambda: learner(False)}
files, hops = JOURNEYS[sys.argv[1]]()
import json
print(json.dumps({"files": sorted(files), "hops": len(hops)}))
'''
JOURNEYS = {
    "aec": "AEC `step`",
    "match": "`match.play` with `rule`",
    "update": "one PPO update",
    "iteration": "one PPO iteration, play included",
}


def journey(name: str, root: Path, executor: str) -> dict[str, object]:
    """The files that a call goes through, and the number of hops between them."""
    found = packages(root)
    with tempfile.TemporaryDirectory() as folder:
        for package, place in found.items():
            (Path(folder) / package).symlink_to(place.resolve())
        env = {**os.environ, "PYTHONPATH": folder, "HEARTS_EXECUTOR": executor}
        command = [sys.executable, "-c", PROBE, name, os.pathsep.join(map(str, found.values()))]
        done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        return {"files": [], "hops": 0, "error": done.stderr.strip().splitlines()[-1]}
    told: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return told


# -- the answer ------------------------------------------------------------------------------------------------------


def measure(root: Path, executor: str = "numpy", journeys: bool = True) -> dict[str, object]:
    """All figures of a checkout."""
    files = modules(root)
    graph = imports(files)
    words = re.findall(r"\S+", (root / "README.md").read_text(encoding="utf-8"))
    return {
        "modules": len(files),
        "floors": floors(graph),
        "circles": circles(graph),
        **written_twice(files),
        "journeys": {name: journey(name, root, executor) for name in (JOURNEYS if journeys else ())},
        "readme_words": len(words),
    }


def table(found: dict[str, object]) -> str:
    """The figures as lines of text."""
    rings = found["circles"]
    assert isinstance(rings, list)
    lines = [f"{name.replace('_', ' '):34} {found[name]}" for name in ("modules", "floors")]
    sizes = f", of {', '.join(str(len(ring)) for ring in rings)} modules" if rings else ""
    lines.append(f"{'circles':34} {len(rings)}{sizes}")
    lines += [f"{'':34}   {' '.join(ring)}" for ring in rings]
    for name in ("shared_lines", "numpy_twin_lines", "kernel_twin_lines", "readme_words"):
        lines.append(f"{name.replace('_', ' '):34} {found[name]}")
    journeys = found["journeys"]
    assert isinstance(journeys, dict)
    for name, told in journeys.items():
        around = [path for path in told["files"] if not CORE.match(path)]
        figures = told.get("error") or (
            f"{len(around)} files around the core, {len(told['files'])} in all, {told['hops']} hops"
        )
        lines += [f"{JOURNEYS[name]:34} {figures}", *(f"{'':34}   {path}" for path in told["files"])]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout to measure")
    parser.add_argument("--executor", choices=["numpy", "compiled"], default="numpy", help="which one the journeys run")
    parser.add_argument("--no-journeys", action="store_true", help="only what can be read without running anything")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args()
    found = measure(given.root.resolve(), given.executor, not given.no_journeys)
    print(json.dumps(found, indent=1) if given.json else table(found))


if __name__ == "__main__":
    main()
