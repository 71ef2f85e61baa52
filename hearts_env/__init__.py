"""Hearts for research: a vectorised core for 2 to 7 players, and the environments around it."""

from hearts_env.envs.registration import register
from hearts_env.fast import compiled as _compiled  # noqa: F401  # registers its functions; numba is loaded later
from hearts_env.game.rules import Rules, RulesError

__all__ = ["Rules", "RulesError", "register"]

register()
