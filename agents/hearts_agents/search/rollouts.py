"""Lines of play followed to the end of the deal, or to where an estimate ends them, each in a world of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from hearts_agents.rule.agent import RuleAgent
from hearts_agents.rule.weights import LARGEST
from hearts_agents.search.candidates import Lines
from hearts_agents.search.payoffs import Numbers, cards_that_count, payoffs
from hearts_env.cards import Bools, Ints, lowest
from hearts_env.executor import chosen
from hearts_env.game.compiled_rules import Lookup
from hearts_env.game.engine import legal, step
from hearts_env.game.state import PASS, PLAY, State
from hearts_env.game.view import View, view
from hearts_env.match.agent import Agent

Judge = Callable[[View], Numbers]
"""The payoff that each viewer may expect, in points, float64 [N]; it is asked where there is a choice to make."""
ROWS = 4096
"""Tables played out in one go: what they take up fits into a processor's cache."""
JUDGED_TRICKS = 3
"""A judge ends a play-out at the viewer's next choice after so many tricks, the one that is being played included."""
_CLOSER = RuleAgent()
"""Plays on where nothing hangs on the cards any more."""


@dataclass(frozen=True)
class Policies:
    """Who plays the worlds out."""

    base: Agent
    shooter: RuleAgent
    """The viewer's policy in lines for the moon."""
    judge: Judge | None = None
    """None: play-outs go on to the end of the deal."""
    to_win: bool = False
    """In the middle of a game a deal is worth what it adds to the chance to win; else it is worth its payoff.  A judge
    should see it the same way."""

    @staticmethod
    def of(base: Agent, judge: Judge | None = None, to_win: bool = False) -> Policies:
        """The policies of a search that starts from `base`."""
        return Policies(base, shooting(base if isinstance(base, RuleAgent) else _CLOSER), judge, to_win)

    @property
    def compiled(self) -> bool:
        """Is there a compiled loop that plays these policies?"""
        return chosen() == "compiled" and isinstance(self.base, RuleAgent) and self.judge is None


def shooting(base: RuleAgent) -> RuleAgent:
    """A rule agent with its mind set on the moon: it tries as long as no opponent has a penalty card."""
    always = replace(base.weights, moon_limit=LARGEST, moon_more=0, moon_late=0, moon_pass=LARGEST)
    return RuleAgent(always, f"{base.name}, for the moon")


def outcomes(
    info: Lookup, policies: Policies, worlds: State, world: Ints, seat: Ints, lines: Lines, line: Ints
) -> Numbers:
    """The viewers' payoffs of L deals that are played out, float64 [L]; `worlds` stays as it is.

    world: int64 [L], the row of `worlds` that each begins in.  seat: int64 [L], whose line it is.  line: int64 [L],
    which of `lines`.
    """
    actions, moon = lines.actions[line], lines.moon[line]
    if policies.compiled and isinstance(policies.base, RuleAgent):
        from hearts_agents.search import kernels

        minds = policies.base.weights, policies.shooter.weights
        points = kernels.outcomes(info, minds, worlds, world, seat, actions, moon)
        return payoffs(info, policies.to_win, worlds.scores[world], points, seat)
    state = worlds.take(world)
    judged = play_out(info, state, seat, actions, moon, policies)
    paid = payoffs(info, policies.to_win, worlds.scores[world], state.points, seat)
    return np.where(np.isnan(judged), paid, judged)


def play_out(info: Lookup, state: State, seat: Ints, actions: Ints, moon: Bools, policies: Policies) -> Numbers:
    """Play all tables on: one seat its next actions, then everybody by policy.  Changes `state`.

    seat: int64 [N].  actions: int64 [N, D].  moon: bool [N], the seat then plays for the moon, and to the end.
    Returns what the judge has said, float64 [N]; NaN for the deals that are over.
    """
    passing = state.phase == PASS
    if passing.any():
        # Nobody sees the picks of others, so all may as well be made anew.
        state.picks[:], state.count[:], state.turn[:] = 0, 0, 0
    tricks = np.where(passing, 0, state.count // info.num_players) + JUDGED_TRICKS
    own = np.arange(info.num_players) == seat[:, None]
    for column in actions.T:
        while len(others := np.flatnonzero(~state.over & (state.turn != seat))):
            _turn(info, state, others, policies.base)
        step(info, state, column)
    judged, going = np.full(len(state), np.nan), np.arange(len(state))
    while True:
        _close(info, state)
        if moon.any():
            policies.shooter.play_on(info, state, own & moon[:, None])
        going = going[~state.over[going]]
        if policies.judge:
            ends = _ends(info, state, going[state.turn[going] == seat[going]], tricks)
            judged[ends] = policies.judge(view(info, state.take(ends)))
            going = going[np.isnan(judged[going])]
        if len(going) == 0:
            return judged
        _turn(info, state, going, policies.base)


def _turn(info: Lookup, state: State, rows: Ints, base: Agent) -> None:
    """One action at some tables; where there is no choice, nobody is asked."""
    part = state.take(rows)
    allowed = legal(info, part)
    actions = lowest(allowed)
    free = np.flatnonzero(allowed & (allowed - 1))
    if len(free):
        actions[free] = base.act(view(info, part.take(free)))
    step(info, part, actions)
    state.put(rows, part)


def _ends(info: Lookup, state: State, rows: Ints, tricks: Ints) -> Ints:
    """Which of these rows have played so many tricks (int64 [N]) and leave a choice to the seat to act."""
    far = rows[(state.phase[rows] == PLAY) & (state.count[rows] >= tricks[rows] * info.num_players)]
    allowed = legal(info, state.take(far))
    ends: Ints = far[allowed & (allowed - 1) != 0]
    return ends


def _close(info: Lookup, state: State) -> None:
    """Play the deals to their end in which no hand has a card left that could change the points."""
    left = np.bitwise_or.reduce(state.hands, axis=1) & cards_that_count(info)
    rows = np.flatnonzero((state.phase == PLAY) & (state.table == 0) & (left == 0))
    if len(rows):
        part = state.take(rows)
        _CLOSER.play_on(info, part, np.ones(part.hands.shape, np.bool_))
        state.put(rows, part)
