"""Agents that play Hearts, and `make`, which finds one by its name."""

from hearts_agents.registry import AGENTS, AgentError, make

__all__ = ["AGENTS", "AgentError", "make"]
