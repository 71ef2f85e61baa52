"""Random deals under random rules by both executors, whole States compared to the last bit.

    python tests/tools/compare_executors.py [--deals 100000]

So many deals of every player count.  Exits with 1 at the first difference, which it names.
"""

from __future__ import annotations

import argparse
import dataclasses
import random
import sys
import time

import numpy as np

import support_path  # noqa: F401

# isort: split
import oracle
from hearts_env.executor import EXECUTORS, using
from hearts_env.game.compiled_rules import CompiledRules, compiled_rules
from hearts_env.game.engine import deal, shuffle
from hearts_env.game.random_play import play_random
from hearts_env.game.rules import Rules
from hearts_env.game.state import State

PLAYERS = range(2, 8)
BATCH = 1000
"""Deals under the same random rules."""
SEED = 0


def random_lookup(chance: random.Random, players: int) -> CompiledRules:
    """Random rules for so many players."""
    while True:
        changes = oracle.random_rules(chance)
        if changes.get("num_players", 4) == players:
            return compiled_rules(Rules.from_dict(changes))


def dealt(rules: CompiledRules, ids: np.ndarray) -> State:
    """A deal at each table, at scores near the target: a pure function of the ids."""
    state = State.empty(rules, len(ids))
    rng = np.random.default_rng(ids.tolist())
    scores = rng.integers(-30, rules.rules.target, (len(ids), rules.num_players))
    near = rng.random(len(ids)) < 0.5
    scores[near] = rules.rules.target - rng.integers(1, 30, (int(near.sum()), rules.num_players))
    deal(rules, state, shuffle(rules, ids), deal_no=ids % 12, scores=scores, key=ids * 7919)
    return state


def differences(mine: State, theirs: State) -> list[str]:
    """The arrays that differ in any bit."""
    names = [field.name for field in dataclasses.fields(State)]
    pairs = [(name, getattr(mine, name), getattr(theirs, name)) for name in names]
    return [name for name, ours, other in pairs if ours.dtype != other.dtype or ours.tobytes() != other.tobytes()]


def compare(rules: CompiledRules, ids: np.ndarray) -> list[str]:
    """What differs after random play of these deals: half way, where only some seats play, and at the end."""
    played = []
    for name in EXECUTORS:
        with using(name):
            state = dealt(rules, ids)
            some = np.random.default_rng(len(ids)).random((len(ids), rules.num_players)) < 0.9
            first = play_random(rules, state, some, SEED)
            half = state.copy()
            played.append((first, half, play_random(rules, state, seed=SEED), state))
    mine, theirs = played
    counts = ["actions played"] if (mine[0], mine[2]) != (theirs[0], theirs[2]) else []
    assert mine[3].over.all()
    return counts + differences(mine[1], theirs[1]) + differences(mine[3], theirs[3])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--deals", type=int, default=100_000, help="of every player count, at least")
    wanted = parser.parse_args().deals
    for players in PLAYERS:
        begin = time.monotonic()
        batches = -(-wanted // BATCH)
        for number in range(batches):
            info = random_lookup(random.Random(f"{SEED} {players} {number}"), players)
            found = compare(info, np.arange(number * BATCH, (number + 1) * BATCH))
            if found:
                print(f"{players} players, batch {number}: {', '.join(found)} differ under {info.rules.show()}")
                return 1
        print(
            f"{players} players: {batches * BATCH:,} deals, no difference ({time.monotonic() - begin:.0f} s)",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
