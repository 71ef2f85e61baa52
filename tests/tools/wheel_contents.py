"""Check what is in a built wheel: the packages with their data, and nothing else.

    python tests/tools/wheel_contents.py dist/hearts_env-*.whl

Prints a line about each package.  Exits with 1 if something is missing, or should not be there.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import PurePosixPath

PACKAGES = ("hearts_env", "hearts_agents", "hearts_arena", "hearts_train", "hearts_bench", "hearts_cli")
DATA = {
    "hearts_agents/net/net.safetensors",
    "hearts_agents/net/net.json",
    "hearts_agents/win_chance.json",
    *(f"{package}/py.typed" for package in PACKAGES),
}


def complaints(names: list[str]) -> list[str]:
    """Complaints about the names of a wheel's files."""
    files = [PurePosixPath(name) for name in names if not name.endswith("/")]
    ours = [path for path in files if not path.parts[0].endswith(".dist-info")]
    missing = [f"{name} is missing" for name in sorted(DATA - set(names))]
    missing += [f"{package} is missing" for package in PACKAGES if f"{package}/__init__.py" not in names]
    strange = [f"{path} should not be there" for path in ours if not _belongs(path)]
    return missing + strange


def _belongs(path: PurePosixPath) -> bool:
    return path.parts[0] in PACKAGES and (path.suffix == ".py" or str(path) in DATA)


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        infos = wheel.infolist()
    found = complaints([info.filename for info in infos])
    for sentence in found:
        print(f"wheel_contents.py: {sentence}", file=sys.stderr)
    for package in PACKAGES:
        sizes = [info.file_size for info in infos if info.filename.startswith(f"{package}/")]
        print(f"{package}: {len(sizes)} files, {sum(sizes):,} bytes")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
