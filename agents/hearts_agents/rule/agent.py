"""The rule agent: sound Hearts by weighing, for each card, what it may cost against what it is good for."""

from __future__ import annotations

import numpy as np

from hearts_agents.explain import Candidate, before_picks, picks_of
from hearts_agents.rule import kernels
from hearts_agents.rule.batch import choose_card, choose_pick
from hearts_agents.rule.tables import rule_tables
from hearts_agents.rule.weights import Weights
from hearts_env.cards import Bools, Ints, bit, count, lowest
from hearts_env.executor import executed, override
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.scoring import automatic_choice
from hearts_env.game.state import MOON, PASS, PLAY, State
from hearts_env.game.view import View, view
from hearts_env.match.agent import plays_from_state
from hearts_env.match.tables import turn


@plays_from_state
class RuleAgent:
    """Plays by rules of thumb with weights; the same view always gives the same action."""

    def __init__(self, weights: Weights | None = None, name: str = "rule") -> None:
        """weights: what it cares about; None for the best known."""
        self.name = name
        self.weights = weights or Weights()

    def act(self, view: View) -> Ints:
        """The chosen action for each view, int64 [N]."""
        actions = np.empty(len(view), np.int64)
        _choose_cards(view.rules, self.weights, view, actions)
        moon = view.phase == MOON
        if moon.any():
            actions[moon] = _choose_moon(view.take(moon))
        return actions

    def explain(self, view: View, also: Ints | None = None) -> list[list[Candidate]]:
        """Every card with its worth to this agent, and what that is made of; of a pass just what it would pass.

        See `hearts_agents.explain.Explains`.  Where it plays for the moon, how many tricks it expects to lose.
        """
        from hearts_agents.rule.explain import explain_play

        found: list[list[Candidate]] = [[] for _ in range(len(view))]
        for row in np.flatnonzero(count(view.legal) > 1):
            one = view.take(np.array([row]))
            if one.phase[0] == PLAY:
                found[row] = explain_play(view.rules, self.weights, one)
            else:
                acts = picks_of(self, before_picks(one)) if one.phase[0] == PASS else self.act(one)[:, None]
                found[row] = [Candidate(tuple(sorted(acts[0].tolist())), chosen=True)]
        return found

    def play_on(self, rules: CompiledRules, state: State, seats: Bools) -> int:
        """Play at every table for as long as a seat of `seats` (bool [N, P]) is to act.  Changes `state`.

        The actions are those of `act`.  The compiled executor makes them in one loop, without views.  Returns how
        many there were.
        """
        return _play_on(rules, self.weights, state, seats)


@executed
def _choose_cards(rules: CompiledRules, weights: Weights, view: View, actions: Ints) -> None:
    """Fill `actions`, int64 [N], where a card is to be picked or played."""
    lut = rule_tables(rules, weights)
    for phase, choose in ((PLAY, choose_card), (PASS, choose_pick)):
        here = view.phase == phase
        if here.all():
            actions[:] = choose(lut, view)
        elif here.any():
            actions[here] = choose(lut, view.take(here))


@executed
def _play_on(rules: CompiledRules, weights: Weights, state: State, seats: Bools) -> int:
    agent, made = RuleAgent(weights), 0
    while len(rows := np.flatnonzero(~state.over & seats[np.arange(len(state)), state.turn])):
        turn(rules, state, rows, lambda part: agent.act(view(rules, part)))
        made += len(rows)
    return made


override(_choose_cards)(kernels.act)
override(_play_on)(kernels.play_on)


def _choose_moon(view: View) -> Ints:
    """Add to the others, unless that ends the game without winning it.  The viewer is seat 0 of its view.

    A search may leave it one choice.
    """
    choices = automatic_choice(view.rules, view.taken, np.zeros(len(view), np.int64), view.scores)
    return np.where(bit(choices) & view.legal, choices, lowest(view.legal))
