"""Tuning the rule agent's weights: `python -m hearts_arena.tune OUT.json`.

SPSA (Spall 1992), as chess engines use it: all weights are moved at once, each up or down at random, and the agent so
moved plays duplicate deals against the one moved the other way; the weights then go a little towards the winner.  Now
and then the mean of the weights so far plays the best so far, and takes its place if it wins.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro

from hearts_agents.rule.agent import RuleAgent
from hearts_agents.rule.weights import Weights, WeightsError, limits, load
from hearts_arena.duplicate_evaluation import mean_and_error, payoffs_in
from hearts_arena.formats import roundrobin
from hearts_arena.tournament_plan import deal_ids
from hearts_env.cards import Ints, Numbers
from hearts_env.game.rules import Rules
from hearts_env.text.write_file import write_file

SHARE, SMALLEST = 0.15, 0.1
"""A weight is moved by this share of itself, or by this at least."""
STABLE = 0.602
"""The power by which the steps shrink with the rounds: the one that Spall gives for practice."""
MEMORY = 0.01
"""The share of the newest weights in the mean, once it is old."""


@dataclass(frozen=True)
class TuneOptions:
    """Tune the weights of the rule agent by paired duplicate matches; Ctrl-C keeps the best so far."""

    out: Annotated[Path, tyro.conf.Positional]
    """File for the best weights, as JSON; `rule:OUT.json` plays them."""
    start: Path | None = None
    """Weights to start from, as JSON; those of the agent if not given."""
    minutes: float = 10.0
    """Time limit."""
    deals: int = 1000
    """Deal ids in a round, each played in all seatings of two agents."""
    check_deals: int = 4000
    """Deal ids in the matches that decide which weights are best."""
    check_every: int = 25
    """Rounds between these."""
    rate: float = 0.5
    """Step size: how far the weights move for a payoff of one point, in units of their perturbation."""
    only: tuple[str, ...] = ()
    """Names of the weights to tune; all if none is given."""
    rules: str = "standard"
    """The rules to tune for."""
    seed: int = 1
    """Another one tunes on other deals."""


@dataclass(frozen=True)
class Space:
    """The weights to tune as a vector of steps from those at the start."""

    start: Weights
    names: tuple[str, ...]

    @property
    def steps(self) -> Numbers:
        """The perturbation of each weight, float64 [W]."""
        values = np.array([getattr(self.start, name) for name in self.names])
        steps: Numbers = np.maximum(SHARE * np.abs(values), SMALLEST)
        return steps

    def weights(self, moved: Numbers) -> Weights:
        """The weights so many steps from the start; none leaves its limits."""
        changes = {}
        for name, step, times in zip(self.names, self.steps, moved, strict=True):
            value = getattr(self.start, name) + step * times
            changes[name] = round(float(np.clip(value, *limits(name))), 4)
        return replace(self.start, **changes)


def space(start: Weights, only: tuple[str, ...] = ()) -> Space:
    """The Space of all weights, or of those named.  Raises WeightsError (a ValueError) for a name of none."""
    names = tuple(field.name for field in fields(Weights))
    for name in only:
        if name not in names:
            raise WeightsError(f"weight {name!r:.40}: there is none of this name; there are {', '.join(names)}")
    return Space(start, only or names)


def duel(rules: Rules, first: Weights, second: Weights, ids: Ints) -> Numbers:
    """The payoff of the first weights against the second on each deal id, in all seatings of the two; float64 [K]."""
    return payoffs_in(roundrobin(rules, 2), rules, RuleAgent(first), RuleAgent(second), ids)


def tune(options: TuneOptions) -> Weights:
    """The best weights found, which are in `options.out` as well.  Raises ValueErrors that name what is wrong."""
    rules = Rules.parse(options.rules)
    best = load(options.start) if options.start else Weights()
    around = space(best, options.only)
    save(options.out, best)
    chance = np.random.default_rng(options.seed)
    moved = mean = np.zeros(len(around.names))
    end, used, rounds = time.monotonic() + 60 * options.minutes, 0, 0
    try:
        while time.monotonic() < end:
            ids, used = deal_ids(options.seed, used, used + options.deals), used + options.deals
            way = chance.choice([-1.0, 1.0], len(moved))
            gain = duel(rules, around.weights(moved + way), around.weights(moved - way), ids).mean()
            moved = moved + options.rate / (1 + rounds / 500) ** STABLE * gain * way
            rounds += 1
            mean = mean + (moved - mean) * max(1 / rounds, MEMORY)
            if rounds % options.check_every == 0:
                ids, used = deal_ids(options.seed, used, used + options.check_deals), used + options.check_deals
                gains = duel(rules, around.weights(mean), best, ids)
                lead, error = mean_and_error(gains)
                wins = len(gains) > 1 and lead > error
                best = around.weights(mean) if wins else best
                print(f"round {rounds}: {lead:+.3f} +- {error:.3f} against the best" + ", kept" * wins)
                save(options.out, best)
    except KeyboardInterrupt:
        print(f"stopped after {rounds} rounds: the best so far is in {options.out}")
    return best


def save(path: Path, weights: Weights) -> None:
    """Write weights as JSON.  Raises OSError."""
    write_file(path, json.dumps(asdict(weights), indent=1) + "\n")


def main() -> int:
    """The command line."""
    try:
        tune(tyro.cli(TuneOptions, prog="python -m hearts_arena.tune"))
    except (ValueError, OSError) as wrong:
        print(wrong, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
