"""The long proof of the rules: the engine against the oracle and OpenSpiel over hundreds of thousands of deals."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import random
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import tyro
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

import support_path  # noqa: F401

# isort: split
import oracle
from hearts_env.game.rules import PRESETS
from tables import Pair, dealt, random_pair
from witness import DifferenceError, deal_next, play_out

DEALS, GAMES, OPENSPIEL = "random deals", "whole games", "OpenSpiel"
BATCH = {DEALS: 48, GAMES: 24, OPENSPIEL: 48}
"""Tables played at once, all under the same rules."""
MAX_ROUNDS = 40
"""A table whose first game goes on for so many deals is left: moons that subtract have no end."""
MAX_FAILURES = 20
NEAR = 0.6
"""The share of first games that begin near the target."""
INTERRUPTED = 130

VARIANTS: dict[str, dict[str, Any]] = {
    **{f"preset {name}": dict(preset.fields) for name, preset in PRESETS.items()},
    "two players to 20": {"num_players": 2, "target": 20},
    "moons subtract": {"moon": "subtract", "first_trick_points": "allowed"},
    "three players, moons subtract": {"num_players": 3, "moon": "subtract"},
    "exactly 100 is 50": {"exact_reset": 50},
    "exactly 30 is 0": {"exact_reset": 0, "target": 30, "num_players": 5},
    "past 50": {"end_strict": True, "target": 50, "num_players": 6},
    "ties played on": {"tie": "continue", "target": 30},
    "seven players play ties on": {"num_players": 7, "tie": "continue", "target": 20, "moon": "auto"},
    "sides play ties on": {"teams": "fixed", "tie": "continue", "target": 60, "team_moon": "team"},
}
"""A third of the whole games are played by these rules in turn, a third by random ones."""
TWO_PLAYERS: dict[str, Any] = {"num_players": 2}
"""The last third: ties at the target are rare, and only two players always play on."""

FIGURES = ("deals", "decisions", "moons added", "moons subtracted", "suns", "games ended", "ties", "all-penalty hands")
"""Counted by part and player count; the last are hands with nothing but penalty cards to discard on a first trick that
forbids them, ties those for the lowest score once the target is reached, shared or played on."""
Tally = Counter[tuple[str, int, str]]


@dataclass(frozen=True)
class Outcome:
    """What came of a batch: figures, and what failed if anything did."""

    part: str
    tally: Tally
    failure: str | None


# -- a batch: a pure function of seed, part and number ---------------------------------------------------------------


def run_batch(batch: tuple[int, str, int]) -> Outcome:
    """Play one batch; whatever is raised is a failure of it."""
    seed, part, number = batch
    chance = random.Random(f"{seed} {part} {number}")
    tally: Tally = Counter()
    try:
        {DEALS: random_deals, GAMES: whole_games, OPENSPIEL: openspiel_deals}[part](chance, number, tally)
    except DifferenceError as error:
        return Outcome(part, tally, f"{error}\n  seed: {seed}, batch {number} of {part}")
    except Exception:
        return Outcome(part, tally, f"{traceback.format_exc()}  seed: {seed}, batch {number} of {part}")
    return Outcome(part, tally, None)


def random_deals(chance: random.Random, _: int, tally: Tally) -> None:
    """Single deals of any number at any scores under random rules."""
    pair = random_pair(chance, BATCH[DEALS])
    count(tally, DEALS, pair, play_out(pair, chance))


def whole_games(chance: random.Random, number: int, tally: Tally) -> None:
    """At each table deal upon deal until every table has ended a game; where one ends early, the next begins."""
    place, kind = divmod(number, 3)
    named = list(VARIANTS.values())[place % len(VARIANTS)]
    changes = (named, oracle.random_rules(chance), TWO_PLAYERS)[kind]
    resolved = oracle.rules(**changes)
    tables = range(BATCH[GAMES])
    pair = dealt(changes, many_hands(chance, resolved), [0 for _ in tables], first_scores(chance, resolved))
    ended = [False for _ in tables]
    for _ in range(MAX_ROUNDS):
        count(tally, GAMES, pair, play_out(pair, chance))
        ended = [before or theirs.game_over for before, theirs in zip(ended, pair.deals, strict=True)]
        if all(ended):
            break
        deal_next(pair, many_hands(chance, resolved))
    tally[GAMES, pair.compiled.num_players, "games left"] += ended.count(False)


def many_hands(chance: random.Random, resolved: oracle.Rules) -> list[list[set[int]]]:
    return [oracle.random_hands(chance, resolved) for _ in range(BATCH[GAMES])]


def first_scores(chance: random.Random, resolved: oracle.Rules) -> list[list[int]]:
    """Scores that games begin at: 0, or so near the target that many end or tie at the first deal."""
    seats, target = resolved["num_players"], resolved["target"]
    scores = []
    for _ in range(BATCH[GAMES]):
        if chance.random() > NEAR:
            scores.append([0] * seats)
        elif seats == 2:
            # The queen and x of the 7 hearts are 6 + 2x more than the rest of the 20: that much apart, they may meet.
            meet, half = target + chance.randint(0, 3), chance.randint(3, 6)
            scores.append(chance.sample([meet - 10 - half, meet - 10 + half], 2))
        else:
            highest = target - chance.randint(1, 12)
            scores.append([highest - 2 * chance.randint(0, 8) for _ in range(seats)])
    return scores


def openspiel_deals(chance: random.Random, number: int, tally: Tally) -> None:
    """Single deals of four players in OpenSpiel and the engine, the combinations of its options in turn."""
    from openspiel_witness import COMBINATIONS, compare

    pair, decisions = compare(COMBINATIONS[number % len(COMBINATIONS)], chance, BATCH[OPENSPIEL])
    tally[OPENSPIEL, 4, "decisions"] += decisions
    tally[OPENSPIEL, 4, "deals"] += len(pair.state)
    tally[OPENSPIEL, 4, "moons added"] += int((pair.state.shooter >= 0).sum())


# -- figures ---------------------------------------------------------------------------------------------------------


def count(tally: Tally, part: str, pair: Pair, decisions: int) -> None:
    """Count what happened in deals that are over, by the oracle's record."""
    players = pair.compiled.num_players
    found: Counter[str] = Counter(deals=len(pair.deals), decisions=decisions)
    for theirs in pair.deals:
        if theirs.moon is not None:
            found[f"moons {theirs.moon}ed"] += 1
        if theirs.shooter is not None:
            found["suns"] += theirs.tricks_won[theirs.shooter] == theirs.hand_size
        found["games ended"] += theirs.game_over
        found["all-penalty hands"] += all_penalty_hands(theirs)
        found["exact resets"] += exact_resets(theirs)
        found["ended below zero"] += theirs.game_over and min(theirs.scores) < 0
        tied = tie(theirs)
        found["ties"] += tied
        found["ties played on"] += tied and not theirs.game_over
    tally.update({(part, players, name): number for name, number in found.items()})


def all_penalty_hands(theirs: oracle.Deal) -> int:
    """Hands that met the first trick's ban on penalty cards with nothing else to play."""
    if theirs.r["first_trick_points"] == "allowed":
        return 0
    points = oracle.points_of(theirs.r)
    led = oracle.suit(theirs.plays[0][1])
    bare = 0
    for seat, _ in theirs.plays[1 : theirs.n]:
        hand = [card for player, card in theirs.plays if player == seat]
        bare += all(oracle.suit(card) != led and points.get(card, 0) > 0 for card in hand)
    return bare


def exact_resets(theirs: oracle.Deal) -> int:
    if theirs.r["exact_reset"] is None:
        return 0
    after = [total + points for total, points in zip(theirs.totals, theirs.points, strict=True)]
    return after.count(theirs.r["target"])


def tie(theirs: oracle.Deal) -> bool:
    """Has the target been reached with more than one lowest, whether that is shared or played on?"""
    _, over, lowest = oracle.end({**theirs.r, "tie": "shared"}, theirs.totals, theirs.points)
    return over and len(lowest) > 1


def figures(tally: Tally) -> Table:
    """A row for each part and player count, short enough for 80 columns."""
    table = Table("players", box=SIMPLE_HEAD, padding=0, show_edge=False)
    table.columns[0].no_wrap = True
    for name in FIGURES:
        table.add_column(name.replace(" ", "\n").replace("-", "-\n"), justify="right")
    for part in (DEALS, GAMES, OPENSPIEL):
        table.add_row(f"[bold]{part}")
        for players in sorted({players for where, players, _ in tally if where == part}):
            table.add_row(str(players), *(f"{tally[part, players, name]:,}" for name in FIGURES))
    table.add_row("[bold]all", *(f"{total(tally, name):,}" for name in FIGURES))
    return table


def total(tally: Tally, name: str, part: str | None = None, players: int | None = None) -> int:
    return sum(
        number
        for (where, seats, what), number in tally.items()
        if what == name and part in (None, where) and players in (None, seats)
    )


# -- the command -----------------------------------------------------------------------------------------------------


class Rate(ProgressColumn):
    """Tables a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f}/s", style="progress.data.speed")


@dataclass(frozen=True)
class Prove:
    """Compare the engine with the oracle and with OpenSpiel, decision by decision; exit 1 if they ever differ."""

    deals: int = 200_000
    """Single deals under random rules, at least."""
    games: int = 6_000
    """Whole games to the target, at least: every preset, random rules, close ends."""
    openspiel_deals: int = 25_000
    """Deals with OpenSpiel, at least (needs open_spiel; 0 to do without)."""
    seed: int = 0
    """The same seed gives the same deals, however many workers play them."""
    workers: int = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    """Processes to share the work."""

    def run(self) -> int:
        """Play it all; the exit status."""
        console = Console()
        if self.openspiel_deals > 0 and importlib.util.find_spec("pyspiel") is None:
            console.print("OpenSpiel is not installed: pip install open_spiel, or give --openspiel-deals 0")
            return 2
        tally: Tally = Counter()
        failures: list[str] = []
        started = time.monotonic()
        try:
            self.play(console, tally, failures)
            stopped = False
        except KeyboardInterrupt:
            stopped = True
        self.report(console, tally, failures, time.monotonic() - started)
        if failures:
            return 1
        if stopped:
            console.print("Stopped before the end.")
        return INTERRUPTED if stopped else 0

    def batches(self) -> list[tuple[int, str, int]]:
        wanted = {OPENSPIEL: self.openspiel_deals, GAMES: self.games, DEALS: self.deals}
        return [(self.seed, part, number) for part, size in wanted.items() for number in range(-(-size // BATCH[part]))]

    def play(self, console: Console, tally: Tally, failures: list[str]) -> None:
        """Run all batches, adding up figures and failures as they come."""
        batches = self.batches()
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
        with Progress(*columns, console=console) as progress:
            sizes = Counter(part for _, part, _ in batches)
            bars = {part: progress.add_task(part, total=size * BATCH[part]) for part, size in sizes.items()}
            for outcome in self.outcomes(batches):
                progress.advance(bars[outcome.part], BATCH[outcome.part])
                tally.update(outcome.tally)
                if outcome.failure is not None:
                    failures.append(outcome.failure)
                if len(failures) >= MAX_FAILURES:
                    return

    def outcomes(self, batches: list[tuple[int, str, int]]) -> Iterator[Outcome]:
        if self.workers <= 1:
            yield from map(run_batch, batches)
            return
        # Ctrl-C is for this process alone: it ends the workers.
        with multiprocessing.get_context("spawn").Pool(
            self.workers, signal.signal, (signal.SIGINT, signal.SIG_IGN)
        ) as pool:
            yield from pool.imap_unordered(run_batch, batches)

    def report(self, console: Console, tally: Tally, failures: list[str], seconds: float) -> None:
        console.print(figures(tally))
        played_on, resets = total(tally, "ties played on"), total(tally, "exact resets")
        console.print(
            f"{total(tally, 'games ended', GAMES):,} whole games: {total(tally, 'games left', GAMES):,} left after "
            f"{MAX_ROUNDS} deals, {total(tally, 'ended below zero', GAMES):,} ended with a score below zero. "
            f"In all {played_on:,} ties at the target were played on, {total(tally, 'ties played on', None, 2):,} of "
            f"them by two players; {resets:,} scores hit the target exactly and fell back."
        )
        if failures:
            smallest = min(failures, key=len)
            console.print(f"The smallest failing case of {len(failures)}:\n{smallest}", markup=False, soft_wrap=True)
            console.print("`pytest tests/rules/test_witness.py` may shrink it further.")
        console.print(
            f"{len(failures)} differences in {total(tally, 'deals'):,} deals, {total(tally, 'decisions'):,} decisions; "
            f"{seconds:.0f} s, workers: {self.workers}, seed: {self.seed}"
        )


if __name__ == "__main__":
    sys.exit(tyro.cli(Prove, description=__doc__, config=(tyro.conf.FlagCreatePairsOff,)).run())
