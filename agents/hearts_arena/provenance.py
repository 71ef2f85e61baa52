"""The provenance of a number: the commit, the machine, and the versions of what ran on it."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

PACKAGES = ("hearts_env", "numpy", "numba", "gymnasium", "pettingzoo", "torch")


def commit() -> str:
    """The commit of the checkout that this file runs from, with `-dirty` after it if files have changed.

    The version of the package where it runs from no checkout.
    """
    here = Path(__file__).resolve()
    describe = ("describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    try:
        _git(here.parent, "ls-files", "--error-unmatch", here.name)
        return _git(here.parent, *describe)
    except (OSError, subprocess.CalledProcessError):
        return importlib.metadata.version("hearts_env")


def machine() -> dict[str, Any]:
    """Processor, its number of cores, the load average over the last minute, and the operating system."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "system": platform.platform(),
    }


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that are installed of those that matter."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _git(folder: Path, *arguments: str) -> str:
    run = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)
    return run.stdout.strip()


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()
