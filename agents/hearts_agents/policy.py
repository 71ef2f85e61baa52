"""A policy that was trained in any library as an agent."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from hearts_env.cards import Bools, Bytes, Ints
from hearts_env.game.view import View
from hearts_env.observe.encode import action_mask, encode, layout

Choose = Callable[[Bytes, Bools], ArrayLike]
"""From observations uint8 [n, F] and masks bool [n, A] to actions, whole numbers [n]."""


class PolicyAgent:
    """Plays what a function chooses that sees what the environments show: an encoding and a mask.

    choose: asked for all tables at once.  pad, order: of the encodings, as given to the environment it was trained in.
    """

    def __init__(self, choose: Choose, name: str = "policy", *, pad: bool = False, order: bool = False) -> None:
        self.name = name
        self._choose, self._pad, self._order = choose, pad, order

    def act(self, view: View) -> Ints:
        """The action chosen for each view, int64 [N]; whether it is legal is checked by who asks."""
        encodings = encode(layout(view.rules, pad=self._pad, order=self._order), view)
        return np.asarray(self._choose(encodings, action_mask(view.legal).view(np.bool_)), np.int64)
