"""The Agent protocol, a policy over batches of views, and how agents are asked for actions and probabilities."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import ACTION_NAMES, NUM_ACTIONS, Bools, Ints, action_numbers, bit, members, names_in
from hearts_env.executor import executed, override
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.random_play import salted, unit
from hearts_env.game.rules import Rules
from hearts_env.game.state import State
from hearts_env.game.view import View

Policy = NDArray[np.float64]
"""Probabilities of the actions in each of N views, float64 [N, A]."""

_ROUNDING = 1e-6


@runtime_checkable
class Agent(Protocol):
    """Chooses an action for each of many views at once.

    An agent keeps no memory between calls that could change its play, and takes its random numbers from
    `uniform`, so that its choices do not depend on which other tables are in the batch.  One that answers for something
    that can fail, such as another program, may count the actions that it chose in its place in an attribute `failures`.
    One that plays well only by rules that it was trained for says so in `learned`: see `LearnedRules`.
    """

    name: str
    """As the agent is called in standings; what `hearts_agents.make` was given."""

    def act(self, view: View) -> Ints:
        """One legal action for each view, int64 [N]: a member of `view.legal`, which is never empty."""
        ...


@runtime_checkable
class StochasticAgent(Agent, Protocol):
    """An agent that draws its actions and can say with which probabilities."""

    def probabilities(self, view: View) -> Policy:
        """The probability of each action in each view, float64 [N, A]; 0 where it is not legal.

        What `act` does for a view depends on chance (`View.key`); this does not.
        """
        ...


Kernel = Callable[[CompiledRules, State, Bools], int]
"""Plays at every table for as long as a seat of `seats` (bool [N, P]) is to act: changes the State, and returns how
many actions were played."""

_PACKAGES = ("hearts_env", "hearts_agents", "hearts_train")
"""The packages of this distribution whose agents may be given a State."""
_KERNELS: dict[type, Callable[[Any, CompiledRules, State, Bools], int]] = {}
AgentClass = TypeVar("AgentClass", bound="type[_HasKernel]")


class _HasKernel(Protocol):
    def play_on(self, rules: CompiledRules, state: State, seats: Bools) -> int: ...


def plays_from_state(agent: AgentClass) -> AgentClass:
    """Register the method `play_on(self, rules, state, seats)` of an agent class of this distribution as its kernel.

    A class decorator.  A match under the compiled executor calls the kernel in place of `act`, which spares it the
    views.  The kernel is handed the State, hidden cards and all, and must play exactly what `act` plays: a test that
    compares the two shows that it doesn't peek.  That is why no other class is trusted with it.

    Raises TypeError for a class that is not of this distribution.
    """
    if agent.__module__.partition(".")[0] not in _PACKAGES:
        raise TypeError(f"{agent.__module__}.{agent.__qualname__}: only agents of this distribution are given a State")
    _KERNELS[agent] = agent.play_on
    return agent


def kernel_of(agent: Agent) -> Kernel | None:
    """The registered kernel of an agent's class, or None: the agent is then asked by `act`, and sees Views alone.

    Only the very class that was registered counts, and the method as it then was.  An agent from elsewhere with a
    method `play_on`, a subclass, and an attribute of an instance are never handed a State.
    """
    kernel = _KERNELS.get(type(agent))
    return None if kernel is None else partial(kernel, agent)


@executed
def run_kernel(kernel: Kernel, rules: CompiledRules, state: State, seats: Bools) -> int:
    """Let a kernel play where it is compiled; how many actions it took, 0 where the agent is to be asked by `act`.

    In numpy a kernel would make the views all the same.
    """
    return 0


@override(run_kernel)
def _run_compiled(kernel: Kernel, rules: CompiledRules, state: State, seats: Bools) -> int:
    return kernel(rules, state, seats)


class IllegalActionError(ValueError):
    """An agent chose an action that is not legal."""


Told = Callable[[int, int, float, int], None]
"""Takes an agent's index, the number of its decisions, the seconds they took, and how many failed."""


def ask(agents: Sequence[Agent], agent_of: NDArray[np.integer], seen: View, on_asked: Told | None = None) -> Ints:
    """Ask each agent, once, for the actions of its own views, and check them; int64 [N].

    agent_of: [N], an index into `agents` for each view.  on_asked: is told of each agent that was asked.
    Raises ActionTypeError and IllegalActionError, both ValueErrors.
    """
    actions = np.empty(len(seen), np.int64)
    for index in np.unique(agent_of):
        mine = np.flatnonzero(agent_of == index)
        part = seen if len(mine) == len(seen) else seen.take(mine)
        failures = getattr(agents[index], "failures", 0)
        start = time.perf_counter()
        given = agents[index].act(part)
        seconds = time.perf_counter() - start
        if on_asked:
            on_asked(index, len(mine), seconds, getattr(agents[index], "failures", 0) - failures)
        actions[mine] = check_actions(part, given, agents[index].name)
    return actions


def check_actions(seen: View, given: object, name: str) -> Ints:
    """The actions that an agent has given, int64 [N], once they are checked.  name: the agent's, for the message.

    Raises ActionTypeError unless there is a whole number for each view, IllegalActionError unless each is legal.
    """
    actions = action_numbers(given, len(seen), f"agent {name!r} must return")
    within = (actions >= 0) & (actions < NUM_ACTIONS)
    fine = within & ((bit(np.where(within, actions, 0)) & seen.legal) != 0)
    if not fine.all():
        row = int(np.argmin(fine))
        action = int(actions[row])
        named = f" ({ACTION_NAMES[action]})" if within[row] else ""
        raise IllegalActionError(
            f"illegal action {action}{named} by agent {name!r} in seat {seen.seat[row]}: "
            f"legal are {' '.join(names_in(seen.legal[row]))}; its hand is {' '.join(names_in(seen.hand[row]))}"
        )
    return actions


@runtime_checkable
class LearnedRules(Agent, Protocol):
    """An agent that was trained, and can say for which rules.  Others play as well by all that they accept."""

    def learned(self, rules: Rules) -> bool:
        """Has it been trained with these rules, the number of seats included?"""
        ...


def has_learned(agent: Agent, rules: Rules) -> bool:
    """Does the agent know these rules?  True for one that has nothing to say about it."""
    return not isinstance(agent, LearnedRules) or agent.learned(rules)


class PolicyError(ValueError):
    """Probabilities that are none, or that give something to an illegal action."""


def policy(agent: Agent, view: View) -> Policy:
    """The probability of each action in each view, float64 [N, A]: what a StochasticAgent says, or 1 for the action
    that any other agent takes.

    Raises PolicyError that names the agent.
    """
    if not isinstance(agent, StochasticAgent):
        table = np.zeros((len(view), NUM_ACTIONS))
        table[np.arange(len(view)), agent.act(view)] = 1
    else:
        table = np.asarray(agent.probabilities(view), np.float64)
    if table.shape != (len(view), NUM_ACTIONS):
        raise PolicyError(f"agent {agent.name!r}: probabilities must be {(len(view), NUM_ACTIONS)}, not {table.shape}")
    if not (np.abs(table.sum(axis=1) - 1) < _ROUNDING).all() or (table < 0).any():
        raise PolicyError(f"agent {agent.name!r}: probabilities must not be negative and sum to 1 for each view")
    if (table * (1 - members(view.legal, NUM_ACTIONS)) > 0).any():
        raise PolicyError(f"agent {agent.name!r} gives an illegal action a probability")
    return table


def uniform(view: View, salt: int = 0) -> NDArray[np.float64]:
    """A random number in [0, 1) for each view, float64 [N]; another one for another `salt`.

    A pure function of the decision (`View.key`) and the salt: the same in every batch.
    """
    chance: NDArray[np.float64] = unit(view.key, salted(salt))
    return chance
