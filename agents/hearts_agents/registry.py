"""Agents by name: `make("rule")`, `make("net:runs/first")`, `make("exec:./my_agent")`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hearts_agents.random_agent import RandomAgent
from hearts_agents.rule.agent import RuleAgent
from hearts_agents.rule.weights import WeightsError, load
from hearts_agents.search.agent import MOST_WORLDS, SearchAgent
from hearts_env.match.agent import Agent

FOR_POINTS = "?points"
"""Written after `search`, the agent plays each deal of a game for its points."""


class AgentError(ValueError):
    """A name that stands for no agent, or an agent that cannot be made here."""


@dataclass(frozen=True)
class Entry:
    """A kind of agent: the form of its name, what it is, what it needs, and how it is made."""

    form: str
    summary: str
    needs: str
    build: Callable[[str, str], Agent]
    """Makes the agent from its full name and what stands after the colon ('' if nothing), a question mark included."""


def _random(name: str, detail: str) -> Agent:
    return RandomAgent(_number(name, detail, default=0), name)


def _rule(name: str, detail: str) -> Agent:
    try:
        return RuleAgent(load(Path(detail)) if detail else None, name)
    except WeightsError as error:
        raise AgentError(f"agent {name!r:.60}: {error}") from None


def _search(name: str, detail: str) -> Agent:
    worlds, seconds = _limits(name, detail.removesuffix(FOR_POINTS))
    return SearchAgent(worlds, name, seconds=seconds, to_win=not detail.endswith(FOR_POINTS))


def _net(name: str, detail: str) -> Agent:
    from hearts_agents.net.agent import net_agent
    from hearts_agents.net.weights import NetError

    try:
        return net_agent(name)
    except NetError as error:
        raise AgentError(f"agent {name!r:.60}: {error}") from None


def _net_search(name: str, detail: str) -> Agent:
    from hearts_agents.net.agent import agent_from, weights_of
    from hearts_agents.net.weights import NetError

    first, _, rest = detail.partition(":")
    told = re.fullmatch(r"(\d+)(ms)?", first, re.ASCII) is not None
    limit, path = (first, rest) if told else ("", detail)
    try:
        net = agent_from(weights_of(path or "net"), "net", settled=False)
    except NetError as error:
        raise AgentError(f"agent {name!r:.60}: {error}") from None
    worlds, seconds = _limits(name, limit)
    return SearchAgent(worlds, name, seconds=seconds, base=net, leaf_value=net.values, to_win=net.net.spec.games)


def _exec(name: str, detail: str) -> Agent:
    from hearts_agents.external.agent import ExecAgent, ExecError

    try:
        return ExecAgent(detail, name)
    except ExecError as error:
        raise AgentError(str(error)) from None


def _human(name: str, detail: str) -> Agent:
    from hearts_agents.human import HumanAgent

    if detail:
        raise AgentError(f"agent {name!r:.60}: 'human' takes nothing after a colon")
    return HumanAgent(name=name)


AGENTS: dict[str, Entry] = {
    "random": Entry("random[:SEED]", "uniformly random legal actions", "nothing", _random),
    "rule": Entry(
        "rule[:PATH]",
        "heuristics with tuned weights: ducks, sheds, counts and shoots the moon",
        "nothing",
        _rule,
    ),
    "search": Entry(
        "search[:N[ms]][?points]",
        "Monte-Carlo search over N determinizations (or as many as N ms allow) with `rule` as the roll-out policy; "
        "it deviates from `rule` only for a significant gain",
        "nothing; hearts_env[fast] to be quick",
        _search,
    ),
    "net": Entry(
        "net[:PATH][?sample]",
        "a network trained by self-play: the one in this package, for 2 to 7 players, or that of a run or a file",
        "nothing; hearts_env[fast] to be quick",
        _net,
    ),
    "net+search": Entry(
        "net+search[:N[ms]][:PATH]",
        "Monte-Carlo search like `search`, with `net` (or the network at PATH) as the roll-out policy",
        "nothing; hearts_env[fast] to be quick",
        _net_search,
    ),
    "exec": Entry("exec:COMMAND", "another program, over hearts-agent/1 (docs/protocol.md)", "the program", _exec),
    "human": Entry("human", "a person at the terminal", "a person", _human),
}
"""The kinds of agents by the first word of their name."""


def make(name: str) -> Agent:
    """The agent of that name: a kind, and after a colon (or a question mark) what that kind takes.

    Raises AgentError (a ValueError) with the names there are.
    """
    kind = re.split("[:?]", name, maxsplit=1)[0]
    detail = name[len(kind) :].removeprefix(":")
    if kind not in AGENTS:
        forms = ", ".join(entry.form for entry in AGENTS.values())
        raise AgentError(f"unknown agent {name!r:.60}; there are {forms}")
    return AGENTS[kind].build(name, detail)


def _limits(name: str, detail: str) -> tuple[int, float | None]:
    """The limits that N means: the most worlds, and the most seconds or None."""
    limit = _number(name, detail.removesuffix("ms") or detail, default=32)
    if not 1 <= limit <= MOST_WORLDS:
        raise AgentError(f"agent {name!r:.60}: {limit} must be from 1 to {MOST_WORLDS}")
    return (MOST_WORLDS, limit / 1000) if detail.endswith("ms") else (limit, None)


def _number(name: str, detail: str, default: int) -> int:
    if not detail:
        return default
    if not detail.isascii() or not detail.isdigit():
        raise AgentError(f"agent {name!r:.60}: {detail!r:.40} is no whole number")
    return int(detail)
