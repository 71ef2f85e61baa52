"""Contract tests for agents, environments and rules of your own: each raises ContractError, and needs no pytest."""

from hearts_env.testing.agents import check_agent
from hearts_env.testing.contract import ContractError
from hearts_env.testing.envs import check_env
from hearts_env.testing.rules import check_rules

__all__ = ["ContractError", "check_agent", "check_env", "check_rules"]
