"""Agents at tables: the Agent protocol, the driver of episodes, and `play`, which plays any mix of agents."""

from hearts_env.match.agent import IllegalActionError
from hearts_env.match.play_match import Result, play
from hearts_env.match.tables import Deals

__all__ = ["Deals", "IllegalActionError", "Result", "play"]
