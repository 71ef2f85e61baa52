"""`check_agent`: the contract of `Agent`, tested by play under several rules."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import fields

import numpy as np

from hearts_env.cards import Ints
from hearts_env.game.rules import Rules
from hearts_env.game.view import View
from hearts_env.match.agent import Agent, StochasticAgent, check_actions, policy
from hearts_env.match.play_match import play
from hearts_env.testing.contract import Contract, ContractError

RULES = ("standard", "num_players=2", "three", "omnibus", "partnership", "num_players=7")
"""Rules that an agent should know: all kinds of decisions, from two to seven players."""


def check_agent(
    agent: Agent | Callable[[], Agent],
    rules: Sequence[Rules | str] = RULES,
    *,
    tables: int = 3,
    thoroughness: float = 0.25,
    seed: int = 0,
) -> None:
    """Raise ContractError unless an agent keeps the contract of `hearts_env.Agent`.

    It plays a deal at each table, alone in all seats.  At every decision its actions must be legal and whole numbers,
    one for each view; it leaves its views and the random generators of the process as they are.  Some decisions are
    asked again, of a fresh agent, in other batches: the actions must be the same.

    Args:
        agent: the agent, or a function that makes a fresh one (which finds more: memory from one call to the next).
        rules: which games it plays, as Rules or text.
        tables: deals under each of the rules; more find rarer faults.
        thoroughness: the share of decisions that are asked again, from 0 to 1.
        seed: of the deals and of what is asked again.

    Raises:
        ContractError: that names the agent, the rules and the fault.
    """
    make = _maker(agent)
    for each in rules:
        game = Rules.parse(each) if isinstance(each, str) else each
        ids = np.random.default_rng(seed).integers(2**62, size=tables, dtype=np.int64)
        with Contract(f"agent {_name(make())!r} under {game.show()}") as contract:
            watched = _Watched(make, contract, thoroughness, seed)
            play(game, [watched], [0] * game.num_players, ids)


def _maker(agent: Agent | Callable[[], Agent]) -> Callable[[], Agent]:
    if isinstance(agent, Agent) and not isinstance(agent, type):
        one: Agent = agent
        return lambda: one
    if not callable(agent) or (hasattr(agent, "act") and not isinstance(agent, type)):
        raise ContractError(
            f"agent {agent!r:.60}: must have a name and act(view), or be a function that makes an agent"
        )
    return agent


def _name(agent: Agent) -> str:
    contract = Contract(f"agent {agent!r:.60}")
    contract.require(callable(getattr(agent, "act", None)), "has no act(view)")
    name = getattr(agent, "name", None)
    contract.require(isinstance(name, str) and bool(name), f"its name is {name!r:.60}, and must be a text")
    return agent.name


class _Watched:
    """An agent whose every answer is checked."""

    def __init__(self, make: Callable[[], Agent], contract: Contract, thoroughness: float, seed: int) -> None:
        self._make, self._agent = make, make()
        self.name = self._agent.name
        self._contract = contract
        self._thoroughness = thoroughness
        self._chance = np.random.default_rng(seed)

    def act(self, view: View) -> Ints:
        actions = self._asked(self._agent, view)
        if self._chance.random() < self._thoroughness:
            self._ask_again(view, actions)
            self._check_policy(view)
        return actions

    def _asked(self, agent: Agent, view: View) -> Ints:
        """The agent's actions, once they are checked."""
        before, generators = view.take(slice(None)), _process_generators()
        given = agent.act(view)
        changed = _differences(view, before)
        self._contract.require(not changed, f"act has written to its view: {', '.join(changed)}")
        self._contract.require(
            generators == _process_generators(),
            "act has drawn from or seeded a random generator of the process: see hearts_env.match.agent.uniform",
        )
        return check_actions(before, given, self.name)

    def _ask_again(self, view: View, actions: Ints) -> None:
        """Ask for the same decisions in other batches."""
        rows = np.arange(len(view))
        for words, asked in (
            ("when asked again", rows),
            ("when the tables stand in another order", rows[::-1]),
            ("when a table is asked alone", self._chance.choice(rows, 1)),
        ):
            _draw_elsewhere()
            again = self._asked(self._make(), view.take(asked))
            differ = np.flatnonzero(again != actions[asked])
            self._contract.require(
                not len(differ),
                f"acts otherwise {words}: {again[differ[:1]]} and not {actions[asked[differ[:1]]]}; a choice may "
                "depend on nothing but its view (and on View.key for chance)",
            )

    def _check_policy(self, view: View) -> None:
        """The probabilities of an agent that has some: of legal actions, and the same in any batch."""
        if not isinstance(self._agent, StochasticAgent):
            return
        before = view.take(slice(None))
        table = policy(self._agent, view)
        changed = _differences(view, before)
        self._contract.require(not changed, f"probabilities has written to its view: {', '.join(changed)}")
        row = self._chance.choice(len(view), 1)
        alone = policy(self._agent, view.take(row))
        fine = np.allclose(alone, table[row], atol=1e-4)
        self._contract.require(fine, "probabilities are others when a table is asked alone")


def _differences(one: View, other: View) -> list[str]:
    """The fields in which two views differ."""
    names = [field.name for field in fields(View) if field.name != "rules"]
    return [name for name in names if not np.array_equal(getattr(one, name), getattr(other, name))]


def _process_generators() -> tuple[object, ...]:
    """The state of the generators that everybody in the process shares."""
    _, key, position, *gauss = np.random.get_state()  # noqa: NPY002
    return random.getstate(), np.asarray(key).tobytes(), position, *gauss


def _draw_elsewhere() -> None:
    """Use the generators of the process, as other code does."""
    random.random()
    np.random.random()  # noqa: NPY002
