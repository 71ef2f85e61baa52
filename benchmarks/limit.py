"""A C program that plays nothing but the standard game, to see how far the engine is from what a core can do.

First it must play the same game: tens of thousands of deals, of the engine's ids and by a policy that both follow, have
to give the same points seat by seat.  Then both play at random and are timed by turns.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro

import comparison
from comparison import Entry
from hearts_bench.timing import Batch, Contender, Work, repeat
from hearts_env.cards import Sets, nth
from hearts_env.executor import available
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import deal, legal, mix, shuffle, single_deal_no, step
from hearts_env.game.rules import Rules
from hearts_env.game.state import State

SOURCE = Path(__file__).with_name("limit.c")
RESULTS = Path(__file__).parent / "results" / "limit.json"
OPTIONS = ("-O3", "-march=native", "-std=gnu11", "-shared", "-fPIC")
CHECKED_DEALS = 50_000
DEALS = 8192
"""Deals of a batch."""
SEATS = 4
HALF = np.uint64(32)

ASKED = "deal, legal actions, random choice, play, score: nothing else is kept, no other rules"


class LimitError(ValueError):
    """The C program cannot be built, or plays another game."""


def compiler() -> str | None:
    """The C compiler: CC, or cc."""
    return shutil.which(os.environ.get("CC", "cc"))


def build(source: Path = SOURCE) -> ctypes.CDLL:
    """Compile the program, here and now for this processor, and load it.  Raises LimitError."""
    command = compiler()
    if command is None:
        raise LimitError("no C compiler here: install one as cc, or name one in CC")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "limit.so"
        done = subprocess.run([command, *OPTIONS, str(source), "-o", str(library)], capture_output=True, text=True)
        if done.returncode:
            raise LimitError(f"{command} cannot compile {source.name}: {done.stderr.strip()}")
        return ctypes.CDLL(str(library))


def random_batch(library: ctypes.CDLL) -> Batch:
    """Random play by the C program."""
    totals = np.zeros(4, np.int64)

    def batch(first: int) -> Work:
        library.limit_random(ctypes.c_uint64(first), ctypes.c_int64(DEALS), _pointer(totals))
        decisions, _, scored, points = totals.tolist()
        return Work(DEALS, decisions, scored, points)

    return batch


def check(library: ctypes.CDLL, deals: int = CHECKED_DEALS) -> dict[str, int]:
    """Play the same deals in the engine and the C program by the same policy.

    How many deals, decisions and moons agreed.  Raises LimitError at the first deal that differs.
    """
    ids = np.arange(deals)
    hands, points, decisions = by_policy(ids)
    names, dealt = ids.astype(np.uint64), hands.astype(np.uint64)
    their_points, their_decisions = np.empty((deals, SEATS), np.int64), np.empty(deals, np.int64)
    library.limit_policy(
        _pointer(names), _pointer(dealt), ctypes.c_int64(deals), _pointer(their_points), _pointer(their_decisions)
    )
    same = (points == their_points).all(axis=1) & (decisions == their_decisions)
    if not same.all():
        row = int(np.argmin(same))
        raise LimitError(
            f"deal {row}: the engine gives {points[row].tolist()} after {decisions[row]} decisions, "
            f"the C program {their_points[row].tolist()} after {their_decisions[row]}"
        )
    moons = np.count_nonzero(points.sum(axis=1) != compiled_rules(Rules()).penalty_points)
    return {"deals": deals, "decisions": int(decisions.sum()), "moons": int(moons)}


def by_policy(ids: np.ndarray) -> tuple[Sets, np.ndarray, np.ndarray]:
    """Deals of the engine by the policy of limit.c: a hash of (deal id, decision) picks among the legal actions.

    Hands as dealt and points, int64 [N, 4]; decisions, int64 [N].
    """
    rules = compiled_rules(Rules())
    hands = shuffle(rules, ids)
    state = State.empty(rules, len(ids))
    deal(rules, state, hands, deal_no=single_deal_no(rules, ids))
    decisions = np.zeros(len(ids), np.uint64)
    while not (over := state.over).all():
        sets = legal(rules, state)
        number = mix(ids.astype(np.uint64) + mix(decisions))
        index = ((number >> HALF) * np.bitwise_count(sets).astype(np.uint64)) >> HALF
        step(rules, state, np.where(over, 0, nth(sets, index.astype(np.int64))))
        decisions += (~over).astype(np.uint64)
    return hands, state.points.astype(np.int64), decisions.astype(np.int64)


def entry(library: ctypes.CDLL) -> Entry:
    """The C program among others, compared with our engine under both executors."""
    batch = random_batch(library)
    contender = Contender("limit.c", lambda first, seconds: repeat(batch, first, seconds))
    return Entry(contender, ASKED, against=tuple(f"engine {executor}" for executor in available()), rules=Rules())


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)


@dataclass(frozen=True)
class Limit:
    """Compare the engine with a C program that plays nothing but the standard game."""

    quick: bool = False
    """Runs of a tenth of a second, and fewer deals in the check."""
    json: Path = RESULTS
    """Write the results there."""

    def run(self) -> int:
        """Build, check, measure, write; says so where there is no compiler."""
        try:
            library = build()
        except LimitError as error:
            print(f"limit.py: left out: {error}", file=sys.stderr)
            return 0
        agreed = check(library, CHECKED_DEALS // 50 if self.quick else CHECKED_DEALS)
        print("the same points in {deals:,} deals, {decisions:,} decisions, {moons:,} moons".format(**agreed))
        entries = [*comparison.ours("engine"), entry(library)]
        comparison.run(entries, self.json, quick=self.quick, agreed=agreed)
        return 0


if __name__ == "__main__":
    sys.exit(tyro.cli(Limit).run())
