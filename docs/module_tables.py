"""The modules of each package with the first line of each, for docs/architecture.md."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from pathlib import Path

from markdown_table import table

ROOT = Path(__file__).resolve().parent.parent
_FOUND = [path.parent for pattern in ("hearts_*", "*/hearts_*") for path in ROOT.glob(f"{pattern}/__init__.py")]
PACKAGES = {folder.name: folder for folder in sorted(_FOUND)}
"""The folder of each package, by its name."""


def first_line(path: Path) -> str:
    """The first line of a module's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]


def modules(package: str) -> str:
    """The modules of a package, those of its folders behind a line about the folder."""
    folder = PACKAGES[package]
    rows = []
    # A folder's files come before its folders.
    for path in sorted(folder.rglob("*.py"), key=lambda path: (path.parent.parts, path.name)):
        name = path.relative_to(folder).as_posix()
        if path.name != "__init__.py":
            rows.append((f"`{name}`", first_line(path)))
        elif path.parent != folder:
            rows.append((f"**`{name.removesuffix('__init__.py')}`**", f"**{first_line(path)}**"))
    return table(("module", "what it is"), rows)


PARTS: dict[str, Callable[[], str]] = {f"modules_of_{package}": partial(modules, package) for package in PACKAGES}
