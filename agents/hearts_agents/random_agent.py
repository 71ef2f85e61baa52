"""The random agent: every legal action is equally likely."""

from __future__ import annotations

from hearts_env.cards import NUM_ACTIONS, Bools, Ints, choose, members
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.random_play import play_random
from hearts_env.game.state import State
from hearts_env.game.view import View
from hearts_env.match.agent import Policy, plays_from_state, uniform


@plays_from_state
class RandomAgent:
    """Plays any legal action with equal probability."""

    def __init__(self, seed: int = 0, name: str = "random") -> None:
        """seed: another one plays differently on the same deals."""
        self.name = name
        self._seed = seed

    def act(self, view: View) -> Ints:
        """A random legal action for each view, int64 [N]."""
        return choose(view.legal, uniform(view, self._seed))

    def probabilities(self, view: View) -> Policy:
        """The probability of each action, float64 [N, A]: equal for all legal ones."""
        legal = members(view.legal, NUM_ACTIONS)
        result: Policy = legal / legal.sum(axis=1, keepdims=True)
        return result

    def play_on(self, rules: CompiledRules, state: State, seats: Bools) -> int:
        """Play as `act` does while a seat of `seats` (bool [N, P]) is to act; how many actions.  Changes `state`."""
        return play_random(rules, state, seats, self._seed)
