"""Hearts for research: a vectorised core for 2 to 7 players, and the environments around it.

The names in `__all__` are the public interface: Rules and State, the functions of the game over many tables, agents'
matches, and `make` for environments.  So are those of the modules `hearts_v0`, `testing`, and all others with an
`__all__`.  Whatever is in none may move without notice.  What needs more than numpy and gymnasium is imported when it
is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hearts_env.envs.registration import register
from hearts_env.fast import compiled as _compiled  # noqa: F401  # registers its functions; numba is loaded later
from hearts_env.game.rules import Rules, RulesError

if TYPE_CHECKING:
    from hearts_env import hearts_v0, testing
    from hearts_env.cards import ActionTypeError, CardError
    from hearts_env.envs.make import make
    from hearts_env.envs.options import EnvError
    from hearts_env.executor import ExecutorError
    from hearts_env.functional import choose, deal, encode, layout, legal, shuffle, step, view, worlds
    from hearts_env.game.state import State
    from hearts_env.game.view import View
    from hearts_env.game.worlds import NoWorldError
    from hearts_env.match import IllegalActionError, play
    from hearts_env.match.agent import Agent, PolicyError
    from hearts_env.text.notation import NotationError
    from hearts_env.text.record import RecordError

__all__ = [
    "ActionTypeError",
    "Agent",
    "CardError",
    "EnvError",
    "ExecutorError",
    "IllegalActionError",
    "NoWorldError",
    "NotationError",
    "PolicyError",
    "RecordError",
    "Rules",
    "RulesError",
    "State",
    "View",
    "choose",
    "deal",
    "encode",
    "hearts_v0",
    "layout",
    "legal",
    "make",
    "play",
    "register",
    "shuffle",
    "step",
    "testing",
    "view",
    "worlds",
]

_HOMES = {
    "hearts_env.cards": ("ActionTypeError", "CardError"),
    "hearts_env.envs.make": ("make",),
    "hearts_env.envs.options": ("EnvError",),
    "hearts_env.executor": ("ExecutorError",),
    "hearts_env.functional": (
        "choose",
        "deal",
        "encode",
        "layout",
        "legal",
        "shuffle",
        "step",
        "view",
        "worlds",
    ),
    "hearts_env.game.state": ("State",),
    "hearts_env.game.view": ("View",),
    "hearts_env.game.worlds": ("NoWorldError",),
    "hearts_env.match": ("IllegalActionError", "play"),
    "hearts_env.match.agent": ("Agent", "PolicyError"),
    "hearts_env.text.notation": ("NotationError",),
    "hearts_env.text.record": ("RecordError",),
}
"""The modules that have the names which are imported at first use."""
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

register()


def __getattr__(name: str) -> Any:
    """A name of `__all__` at its first use (PEP 562)."""
    if name in ("hearts_v0", "testing"):
        return import_module(f"hearts_env.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULE_OF[name]), name)
    return value


def __dir__() -> list[str]:
    """All public names, those not yet imported too."""
    return sorted({*globals(), *__all__})
