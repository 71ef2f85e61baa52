"""Opponents in the seats that don't learn: agents that never change, and earlier weights of the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hearts_agents import make
from hearts_arena.formats import lineups
from hearts_env.match.agent import Agent
from hearts_env.match.tables import CALLER

PAST = "past"
"""As an opponent's name: earlier weights of the run itself."""
LEARNS = CALLER
"""In a lineup: the policy that learns."""


@dataclass(frozen=True)
class Opponents:
    """Agents that never change, and the seats they have at tables at which not every seat learns."""

    agents: Sequence[Agent]
    lineup: NDArray[np.int64]  # int64 [N, P]  an index into `agents`, or LEARNS


class OpponentPool:
    """The opponents of a run by name, made when they are first met; for one number of players."""

    def __init__(self, num_players: int, seats: int) -> None:
        """seats: of a table, that learn."""
        self._lineups = np.where(lineups(num_players, seats) == 0, LEARNS, 0)
        self._made: dict[str, Agent] = {}

    def seat(self, name: str, tables: int, met: int) -> Opponents:
        """Seat an opponent with learners at the first `met` tables, in every rotation; the rest is self-play."""
        if name not in self._made:
            self._made[name] = make(name)
        lineup = np.full((tables, self._lineups.shape[1]), LEARNS)
        lineup[:met] = self._lineups[np.arange(met) % len(self._lineups)]
        return Opponents([self._made[name]], lineup)


def opponents_now(names: Sequence[str], past: Path, decisions: int) -> list[str]:
    """Return the names of the opponents there are after so many decisions, `past` as the files it stands for."""
    files = sorted(past.glob("*.safetensors")) if PAST in names else []
    earlier = [f"net:{file}" for file in files if int(file.stem) <= decisions]
    return [name for name in names if name != PAST] + earlier


def past_file(past: Path, decisions: int) -> Path:
    """Return the file in which the weights as of so many decisions are kept."""
    return past / f"{decisions:015d}.safetensors"
