"""How much of a paired difference does anything explain that could be subtracted from it as a control variate?

    python experiments/variance_reduction.py [AGENT ...] [--deals N] [--keep FOLDER]

Each agent meets `rule`.  A factor is by how much longer a plain tournament would have to be, with coefficients fitted
on other deal ids and as if each control's expectation were known: no control does better in practice.  Prints a line
each and writes experiments/results/variance_reduction.json.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hearts_agents.registry import make
from hearts_agents.rule.agent import RuleAgent
from hearts_agents.rule.weights import CHANCES, LARGEST, Weights
from hearts_arena.provenance import commit, machine, versions
from hearts_arena.standings import Standings
from hearts_arena.stats import control_variate
from hearts_arena.tournament_plan import Tournament
from hearts_env import Rules
from hearts_env.cards import NUM_ACTIONS, NUM_CARDS, NUM_RANKS, SUITS, members
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import deal, shuffle, single_deal_no, step
from hearts_env.game.rewards import payoff
from hearts_env.game.state import State
from hearts_env.game.view import view
from hearts_env.match.agent import Agent, StochasticAgent, policy
from hearts_train.run.checkpoint import write_whole

OUT = Path(__file__).parent / "results" / "variance_reduction.json"
FIRST_ID = 5_000_000
MOVED = 16
"""Rule agents with other weights."""
FOLDS = 10
Numbers = NDArray[np.float64]


def differences(agent: Agent, deals: int, seed: int = 0, alone: bool = False) -> Numbers:
    """The payoff of the agent less that of `rule` on each deal id, float64 [K].

    alone: it plays each deal in four seatings with `rule` in all other seats, else in six with `rule` in two.
    """
    rule = make("rule")
    if alone:
        planned = Tournament(
            Rules(), (agent, rule, rule), deals, seed=seed, first_id=FIRST_ID, format="ladder", field=(2,)
        )
    else:
        planned = Tournament(Rules(), (agent, rule), deals, seed=seed, first_id=FIRST_ID, format="roundrobin")
    standings = Standings(planned)
    parts = [planned.play(at, min(at + 50, deals), planned.seatings) for at in range(0, deals, 50)]
    return np.concatenate([standings.differences_by_id(part, 0, 1) for part in parts])


def kept(folder: Path | None, name: str, seed: int, deals: int, alone: bool = False) -> Numbers:
    """The same of an agent by name; what lies in the folder is not played again."""
    path = folder and folder / f"{name.replace(':', '_').replace('/', '_')}-{'alone' if alone else seed}.npy"
    if path and path.exists() and len(found := np.load(path)) >= deals:
        return found[:deals]
    found = differences(make(name), deals, seed, alone)
    if path:
        np.save(path, found)
    return found


def factor(values: Numbers, controls: Numbers) -> float:
    """Variance without the controls over that with them, least squares by cross-fitting; controls [K, F]."""
    fold = np.arange(len(values)) % FOLDS
    centred = controls - controls.mean(axis=0)
    left = np.empty(len(values))
    for one in range(FOLDS):
        train, test = fold != one, fold == one
        design = np.column_stack([np.ones(len(values)), centred])
        fit = np.linalg.lstsq(design[train], values[train], rcond=None)[0]
        left[test] = values[test] - centred[test] @ fit[1:]
    return float(values.var() / left.var())


# -- controls ----------------------------------------------------------------------------------------------------------


def moved_rules(deals: int) -> Numbers:
    """How rule agents with other weights do against `rule` on the same deal ids: their mean, float64 [K, 1]."""
    rng, plain = np.random.default_rng(0), Weights()
    found = []
    for number in range(MOVED):
        weights = {}
        for one in fields(Weights):
            value = getattr(plain, one.name) * np.exp(rng.normal(0, 0.3 if number % 2 else 0.6))
            weights[one.name] = float(min(value, 1.0 if one.name in CHANCES else LARGEST))
        found.append(differences(RuleAgent(replace(plain, **weights), f"rule moved {number}"), deals))
    return np.mean(found, axis=0)[:, None]


def described(deals: int) -> Numbers:
    """What the hands look like, whoever holds them (only that can matter, as all seatings are played); [K, F]."""
    rules, ids = compiled_rules(Rules()), np.arange(FIRST_ID, FIRST_ID + deals)
    cards = members(shuffle(rules, ids), NUM_CARDS).reshape(deals, 4, len(SUITS), NUM_RANKS).astype(float)
    lengths, high = cards.sum(axis=3), cards[..., -4:].sum(axis=3)
    spades = cards[:, :, 2, -3:]
    passes = single_deal_no(rules, ids)[:, None] % 4 == np.arange(3)
    kinds = [
        (lengths**2).sum(axis=(1, 2)),  # how uneven the suits lie
        (lengths == 0).sum(axis=(1, 2)),
        (lengths == 1).sum(axis=(1, 2)),
        (high.sum(axis=2) ** 2).sum(axis=1),  # how uneven the high cards lie
        high.sum(axis=2).max(axis=1),
        (high[:, :, 3] ** 2).sum(axis=1),
        (spades.sum(axis=2) ** 2).sum(axis=1),
        (spades[..., 0] * lengths[..., 2]).sum(axis=1),  # what guards the queen
    ]
    return np.column_stack([*kinds, passes]).astype(np.float64)


def drawn(name: str, deals: int) -> tuple[Numbers, Numbers]:
    """The difference on each deal id, and in it the luck of what the agent drew; float64 [K] both.

    As AIVAT has it: after each draw, what it is worth less what a draw is worth on average, where the worth is that
    of play by `rule` to the end.
    """
    agent, base = make(name), make("rule")
    assert isinstance(base, RuleAgent)
    planned = Tournament(Rules(), (agent, base), deals, first_id=FIRST_ID, format="roundrobin")
    rules, seatings = compiled_rules(Rules()), planned.seatings
    ids = np.repeat(planned.ids(0, deals), len(seatings))
    mine = np.tile(seatings == 0, (deals, 1))
    state = State.empty(rules, len(ids))
    deal(rules, state, shuffle(rules, ids), deal_no=single_deal_no(rules, ids), key=np.arange(len(ids)))
    luck = np.zeros(len(ids))
    while base.play_on(rules, state, ~mine) or not state.over.all():
        rows = np.flatnonzero(~state.over)
        part = state.take(rows)
        seen = view(rules, part)
        chances, actions = policy(agent, seen), agent.act(seen)
        at, action = np.nonzero(chances)
        tried = part.take(at)
        step(rules, tried, action)
        base.play_on(rules, tried, np.ones_like(mine[rows[at]]))
        worth = np.zeros((len(rows), NUM_ACTIONS))
        worth[at, action] = _leads(tried.points, mine[rows[at]])
        luck[rows] += worth[np.arange(len(rows)), actions] - (worth * chances).sum(axis=1)
        step(rules, part, actions)
        state.put(rows, part)
    means = [each.reshape(deals, -1).mean(axis=1) for each in (_leads(state.points, mine), luck)]
    return means[0], means[1]


def _leads(points: NDArray[np.integer], mine: NDArray[np.bool_]) -> Numbers:
    """The payoff of one side less that of the other at each table, float64 [N]."""
    paid = payoff(compiled_rules(Rules()), points)
    return np.where(mine, paid, -paid).sum(axis=1) / 2


# -- all of them -------------------------------------------------------------------------------------------------------


def explained(name: str, deals: int, folder: Path | None) -> dict[str, Any]:
    """What is to be had for one agent against `rule`."""
    values, again = (kept(folder, name, seed, deals) for seed in (0, 1))
    same = float(np.corrcoef(values, again)[0, 1])
    ids = np.arange(FIRST_ID, FIRST_ID + deals)
    controls: dict[str, Callable[[], Numbers]] = {
        "shipped": lambda: control_variate.features(Rules(), make("rule"), ids, 0).astype(np.float64),
        "hands": lambda: described(deals),
        "moved rules": lambda: moved_rules(deals),
    }
    if name.startswith("search:"):
        controls["search:8"] = lambda: kept(folder, "search:8", 0, deals)[:, None]
    found = {"mean": float(values.mean()), "sd": float(values.std(ddof=1)), "same deals again": same}
    found |= {kind: factor(values, columns()) for kind, columns in controls.items()}
    if same < 0.999:
        found["most from deals"] = 1 / (1 - same)
    if isinstance(make(name), StochasticAgent) and same < 0.999:
        lead, luck = drawn(name, deals)
        found["draws"] = factor(lead, luck[:, None])
        found["draws, whole"] = float(lead.var() / (lead - luck).var())
    one = kept(folder, name, 0, deals, alone=True)
    needed = (values.mean() / values.std()) ** 2 / (one.mean() / one.std()) ** 2  # deal ids, for the same t
    return found | {
        "alone, mean": float(one.mean()),
        "alone, deals": needed * 4 / 6,
        "alone, its seats": needed * 4 / 12,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("agents", nargs="*", default=["random", "search:32"], help="each meets rule")
    parser.add_argument("--deals", type=int, default=500, help="deal ids")
    parser.add_argument("--keep", type=Path, help="folder for what was played, so that it need not be again")
    options = parser.parse_args()
    found = {}
    for name in options.agents:
        label = name.partition(":")[0] + "?sample" * name.endswith("?sample") if name.startswith("net:") else name
        found[label] = explained(name, options.deals, options.keep)
        print(label, json.dumps({kind: round(value, 3) for kind, value in found[label].items()}), flush=True)
    about = {"commit": commit(), "machine": machine(), "versions": versions(), "deals": options.deals}
    write_whole(OUT, (json.dumps({**about, **found}, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
