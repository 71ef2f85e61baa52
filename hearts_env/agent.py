"""What an agent is: a policy over batches of views."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import Ints
from hearts_env.engine import mix
from hearts_env.view import View

_TO_UNIT = 2.0**-53


@runtime_checkable
class Agent(Protocol):
    """Chooses an action for each of many views at once.

    An agent keeps no memory between calls that could change its play, and takes its random numbers from
    `uniform`, so that its choices do not depend on which other tables are in the batch.  One that answers for something
    that can fail, such as another program, may count the actions that it chose in its place in an attribute `failures`.
    """

    name: str
    """As the agent is called in standings; what `hearts_agents.make` was given."""

    def act(self, view: View) -> Ints:
        """One legal action for each view, int64 [N]: a member of `view.legal`, which is never empty."""
        ...


def uniform(view: View, salt: int = 0) -> NDArray[np.float64]:
    """A random number in [0, 1) for each view, float64 [N]; another one for another `salt`.

    A pure function of the decision (`View.key`) and the salt: the same in every batch.
    """
    keys = mix(view.key ^ mix(np.array([salt], np.int64).view(np.uint64)))
    return (keys >> np.uint64(11)).astype(np.float64) * _TO_UNIT
