"""Importing this puts tests/support on the path, so that the programs beside it run from anywhere."""

import sys
from pathlib import Path

SUPPORT = str(Path(__file__).resolve().parents[1] / "support")
if SUPPORT not in sys.path:
    sys.path.append(SUPPORT)
