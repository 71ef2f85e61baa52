"""Agents that play Hearts: `make` finds one by its name, and `PolicyAgent` is one of a policy trained in any library.

The names in `__all__` are public; whatever else is in this package may move without notice.
"""

from hearts_agents.policy import PolicyAgent
from hearts_agents.registry import AGENTS, AgentError, make

__all__ = ["AGENTS", "AgentError", "PolicyAgent", "make"]
