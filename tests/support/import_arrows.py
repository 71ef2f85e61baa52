"""Import every module named on standard input, and print as JSON which of them each one imports while it runs.

Run as a program, in a fresh Python: both ways of importing are watched, the statement and `import_module`.
"""

from __future__ import annotations

import builtins
import importlib
import json
import sys
from typing import Any


def main() -> None:
    """Print {"arrows": {module: [modules]}, "missing": {module: the error for want of a library}}."""
    names = json.load(sys.stdin)
    arrows: dict[str, set[str]] = {name: set() for name in names}
    by_statement, by_function = builtins.__import__, importlib.import_module

    def note(importer: str | None, name: str, members: Any = ()) -> None:
        if importer in arrows:
            inner = {f"{name}.{member}" for member in members or ()} & arrows.keys()
            # Members that are modules are what is meant; for others, the module that has them.
            whole = {name} if not members or len(inner) < len(members) else set()
            arrows[importer].update(((inner | whole) & arrows.keys()) - {importer})

    def statement(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        if level == 0:
            note((globals or {}).get("__name__"), name, fromlist)
        return by_statement(name, globals, locals, fromlist, level)

    def function(name: str, package: str | None = None) -> Any:
        note(sys._getframe(1).f_globals.get("__name__"), name)
        return by_function(name, package)

    builtins.__import__, importlib.import_module = statement, function
    missing = {}
    for name in names:
        try:
            by_function(name)
        except ImportError as error:
            missing[name] = str(error)
    print(json.dumps({"arrows": {name: sorted(found) for name, found in arrows.items()}, "missing": missing}))


if __name__ == "__main__":
    main()
