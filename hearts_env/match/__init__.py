"""Agents at tables: the Agent protocol, and `play`, which plays any mix of agents at many tables."""

from hearts_env.match.play_match import Deals, IllegalActionError, Result, play

__all__ = ["Deals", "IllegalActionError", "Result", "play"]
