"""The environments behind one face, for the tests that hold for all of them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium

from hearts_env import hearts_v0
from hearts_env.testing.faces import AecFace, Face, ParallelFace, SingleFace, VectorFace

Kind = Face
"""One environment, driven by random legal actions; those of KINDS are made from its options."""
ID = "hearts_env/Hearts-v0"


class Aec(AecFace):
    def __init__(self, **options: Any) -> None:
        super().__init__(hearts_v0.env(**options))


class Parallel(ParallelFace):
    def __init__(self, **options: Any) -> None:
        super().__init__(hearts_v0.parallel_env(**options))


class SequentialParallel(Parallel):
    def __init__(self, **options: Any) -> None:
        super().__init__(passing="sequential", **options)


class Single(SingleFace):
    def __init__(self, **options: Any) -> None:
        given = {"opponents": "random", "mask_in": "observation"} | options
        super().__init__(gymnasium.make(ID, **given).unwrapped)


class AllSeats(Single):
    """The caller plays every seat."""

    def __init__(self, **options: Any) -> None:
        super().__init__(seat="all", **options)


class Vector(VectorFace):
    """Three tables; the episode of this face ends when the first table's does."""

    mode = "NextStep"

    def __init__(self, **options: Any) -> None:
        given = {"opponents": "random", "mask_in": "observation", "autoreset_mode": self.mode} | options
        super().__init__(gymnasium.make_vec(ID, num_envs=3, **given))


class SameStep(Vector):
    mode = "SameStep"


class Disabled(Vector):
    """Tables that are over are reset by hand."""

    mode = "Disabled"


KINDS: list[Callable[..., Kind]] = [Aec, Parallel, SequentialParallel, Single, AllSeats, Vector, SameStep, Disabled]


def cloned(kind: Kind) -> Any:
    return kind.env.clone()


def restored(kind: Kind) -> Any:
    other = copy.deepcopy(kind.env)
    other.set_state(pickle.loads(pickle.dumps(kind.env.get_state())))
    return other


COPIES: list[Callable[[Kind], Any]] = [
    cloned,
    restored,
    lambda kind: copy.deepcopy(kind.env),
    lambda kind: pickle.loads(pickle.dumps(kind.env)),
]
