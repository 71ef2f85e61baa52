"""The content of `standings.json`: everything that a report says, in plain JSON values."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from hearts_arena.standings import MEASURES, Difference, Standing, Standings
from hearts_arena.stats import estimates
from hearts_arena.stats.agreement import Agreement, identical
from hearts_arena.stats.estimates import CONFIDENCE, Estimate
from hearts_arena.stats.ratings import MISSING, Online, Rating, adjusted_ratings, plackett_luce
from hearts_arena.stats.sequential import Question, Sequential
from hearts_env.match.agent import Agent, has_learned

POWERS = (0.8, 0.9)
"""Chances of finding a difference for which the number of deal ids is told."""
FORMAT = "hearts-standings/1"


def to_json(
    standings: Standings,
    *,
    agreement: Agreement | None = None,
    online: Online | None = None,
    until: tuple[Question, Sequential] | None = None,
) -> dict[str, Any]:
    """The content of `standings.json` from the standings and other results.  Needs at least one deal."""
    planned = standings.tournament
    about = planned.to_json()
    content: dict[str, Any] = {
        "format": FORMAT,
        "deals": standings.deals,
        "deals_asked": about.pop("deals_asked"),
        "rules": about.pop("rules"),
        "seatings": len(planned.seatings),
        "agents": [_agent(line) for line in standings.standings],
        "differences": [_difference(line) for line in standings.differences],
        "meetings": [
            {
                "seats": [list(seat) for seat in meeting.seats],
                "payoffs": [_interval(one) for one in meeting.payoffs],
            }
            for meeting in standings.meetings
        ],
        "ratings": ratings(standings, online),
        "identical": _identical(standings, agreement),
        "unlearned": [label for label, agent in _players(standings) if not has_learned(agent, planned.rules)],
        "points": {
            label: {str(value): count for value, count in sorted(counter.items())}
            for label, counter in zip(planned.labels, standings.points, strict=True)
        },
        "seats": _seats(standings),
        "tournament": {**about, "names": list(planned.labels)},
        "method": {"confidence": CONFIDENCE, "bootstrap": estimates.REPLICATES, "sample": "deal id"},
    }
    if agreement:
        shares = np.round(agreement.shares, 6).tolist()
        content["agreement"] = {"decisions": agreement.decisions, "names": list(planned.labels), "shares": shares}
    if until:
        question, test = until
        content["until"] = {**asdict(question), "verdict": test.verdict, "mean": test.mean, "radius": test.radius}
    return content


def ratings(standings: Standings, online: Online | None) -> dict[str, Any]:
    """Each kind of ratings, or a sentence on what it lacks."""
    content: dict[str, Any] = {"adjusted": _rated(adjusted_ratings(standings))}
    try:
        content["plackett_luce"] = _rated(plackett_luce(standings))
    except ModuleNotFoundError:
        content["plackett_luce"] = MISSING.format("choix")
    content["openskill"] = _rated(online.ratings()) if online else MISSING.format("openskill")
    return content


def new_online(standings: Standings) -> Online | None:
    """Ratings that follow the deals, if openskill is there."""
    try:
        return Online(standings.tournament)
    except ModuleNotFoundError:
        return None


def _agent(line: Standing) -> dict[str, Any]:
    return {
        "agent": line.agent,
        "points": line.points.mean,
        "points_se": line.points.se,
        "payoff": line.payoff.mean,
        "payoff_se": line.payoff.se,
        "win_share": line.win_share.mean,
        "moons": line.moons,
        "seat_deals": line.seat_deals,
        "seconds_per_decision": line.seconds_per_decision,
        "failures": line.failures,
        "win_share_se": line.win_share.se,
        "moon_rate": line.moon_rate.mean,
        "moon_rate_se": line.moon_rate.se,
        "intervals": {name: _bounds(getattr(line, name)) for name in MEASURES},
    }


def _difference(line: Difference) -> dict[str, Any]:
    content: dict[str, Any] = {
        "agent": line.agent,
        "other": line.other,
        "payoff": line.payoff.mean,
        "payoff_se": line.payoff.se,
        "interval": _bounds(line.payoff),
        "p": line.payoff.p,
        "p_corrected": line.p_corrected,
        "deals": line.payoff.count,
        "sd": line.payoff.sd,
    }
    if line.payoff.se:
        content["detectable"] = {str(power): estimates.detectable(line.payoff.se, power) for power in POWERS}
    if line.controlled and line.payoff.se:
        mean, se = line.controlled
        content["controlled"] = {"payoff": mean, "payoff_se": se, "factor": (line.payoff.se / se) ** 2 if se else None}
    return content


def _interval(one: Estimate) -> dict[str, Any]:
    return {"payoff": one.mean, "payoff_se": one.se, "interval": _bounds(one)}


def _bounds(one: Estimate) -> list[float] | None:
    return None if one.low is None or one.high is None else [one.low, one.high]


def _rated(lines: list[Rating]) -> list[dict[str, Any]]:
    return [asdict(line) for line in lines]


def _identical(standings: Standings, agreement: Agreement | None) -> list[dict[str, Any]]:
    """Pairs of agents that seem to be one and the same, and what shows it."""
    found: dict[tuple[str, str], list[str]] = {}
    for pair in standings.twins:
        found.setdefault(pair, []).append(f"the same points in each other's seats on all {standings.deals} deal ids")
    for pair in identical(standings.tournament, agreement) if agreement else []:
        assert agreement is not None
        found.setdefault(pair, []).append(
            f"the same choice in all {agreement.decisions} decisions that both were asked"
        )
    return [{"agents": list(pair), "because": because} for pair, because in found.items()]


def _players(standings: Standings) -> list[tuple[str, Agent]]:
    """Every agent of the tournament with its label."""
    planned = standings.tournament
    return list(zip(planned.labels, planned.agents, strict=True))


def _seats(standings: Standings) -> dict[str, Any]:
    """Payoff of each agent in each seat, with standard errors over deal ids."""
    unit = standings.tournament.rules.num_players - 1
    content: dict[str, Any] = {}
    for agent, label in enumerate(standings.tournament.labels):
        ids, total, squares = standings.seat_payoff[:, agent].astype(np.float64)
        games = np.maximum(standings.seat_count[agent], 1) * unit
        spread = np.maximum(squares - total**2 / np.maximum(ids, 1), 0) * ids / np.maximum(ids - 1, 1)
        content[label] = {"payoff": (total / games).tolist(), "payoff_se": (np.sqrt(spread) / games).tolist()}
    return content
