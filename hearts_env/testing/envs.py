"""`check_env`: what holds for every environment of this library, and for yours that wraps one or stands in for one."""

from __future__ import annotations

import copy
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import NOOP, NUM_ACTIONS
from hearts_env.testing.contract import Contract
from hearts_env.testing.faces import Face, ParallelFace, Sight, face_of

STEPS = 20
"""Steps that a copy and its original are compared over."""
_ROUNDING = 1e-9


def check_env(env: Any | Callable[[], Any], *, episodes: int = 2, seed: int = 0) -> None:
    """Raise ContractError unless an environment keeps the contract of this library's.

    Random legal play: observations lie in their space and masks show legal actions; arrays are fresh at every step; a
    seed gives the same episode again, and the ones after it; a reset in the middle begins anew; a deep copy goes on as
    the original does; rewards are those of its kind; an illegal action has the consequence that `on_illegal` names.

    Args:
        env: PettingZoo's AECEnv or ParallelEnv, or gymnasium's Env or VectorEnv, or a function that makes one.  It is
            reset.
        episodes: how many are played to the end.
        seed: of the episodes and of the play.

    Raises:
        ContractError: that names the environment and the fault.
    """
    made = env() if isinstance(env, type) or (callable(env) and not hasattr(env, "step")) else env
    with Contract(f"environment {made!s:.60}") as contract:
        face = face_of(made)
        _check_begun(contract, face)
        for number in range(episodes):
            _check_episode(contract, face, seed + number)
        _check_seeds(contract, face, seed)
        _check_ownership(contract, face, seed)
        _check_copy(contract, face, seed)
        _check_foul(contract, face, seed)


def _option(face: Face, name: str) -> Any:
    """An option of this library's environments, None where there is no such thing."""
    return getattr(getattr(face.env, "unwrapped", face.env), name, None)


def _check_begun(contract: Contract, face: Face) -> None:
    face.begin(seed=0)
    contract.require(any(sight.asked for sight in face.sights), "after reset nobody is asked for an action")


def _check_episode(contract: Contract, face: Face, seed: int) -> None:
    face.begin(seed=seed)
    kept: list[Any] = []
    total = np.zeros(face.paid.shape)
    for sights in face.episode(Random(seed)):
        for sight in sights:
            _check_sight(contract, face, sight)
            _check_legal_block(contract, face, sight)
        arrays = [array for sight in sights for array in (sight.encoding, *sight.masks)]
        shared = any(np.shares_memory(array, old) for array in arrays for old in kept)
        contract.require(not shared, "an array is not fresh: it shares memory with one of the step before")
        kept = arrays
        total = total + face.paid
        contract.require(bool(np.isfinite(face.paid).all()), f"a reward is not finite: {face.paid.tolist()}")
    if not str(_option(face, "autoreset_mode")).endswith("SAME_STEP"):  # there the last info is of the next episode
        _check_total(contract, total, face.sights[0].info)


def _check_total(contract: Contract, total: NDArray[Any], info: dict[str, Any]) -> None:
    """The rewards of an episode are minus the points of the deal or the scores of the game, or their sum is zero."""
    ends = [-np.asarray(info[name]) for name in ("points", "scores") if name in info]
    if not ends or ends[0].shape != total.shape:
        return
    fine = any(np.array_equal(total, end) for end in ends) or abs(float(total.sum())) < _ROUNDING
    contract.require(fine, f"the rewards of an episode, {total}, are neither minus points or scores nor sum to zero")


def _check_sight(contract: Contract, face: Face, sight: Sight) -> None:
    contract.require(bool(sight.space.contains(sight.observation)), "an observation does not lie in its space")
    contract.require(sight.encoding.dtype == np.uint8, f"an observation is {sight.encoding.dtype} and not uint8")
    contract.require(bool(sight.masks), "there is no action mask, neither in the observation nor in the info")
    size = NUM_ACTIONS + isinstance(face, ParallelFace)
    for mask in sight.masks:
        fine = mask.dtype == np.int8 and mask.shape == (size,)
        contract.require(fine, f"a mask is {mask.dtype} {mask.shape} and not int8 ({size},)")
        contract.require(set(mask.tolist()) <= {0, 1}, "a mask has values other than 0 and 1")
        contract.require(bool(mask.any()) or not sight.asked, "a mask is empty where an action is asked for")


def _check_legal_block(contract: Contract, face: Face, sight: Sight) -> None:
    """The encoding shows the legal actions as the masks do, where a layout says where."""
    layout = _option(face, "layout")
    if layout is None or sight.encoding.shape != (layout.size,):
        return
    told = sight.encoding[layout["legal"]]
    for mask in sight.masks:
        if told.any():
            fine = np.array_equal(mask[:NUM_ACTIONS], told)
        elif isinstance(face, ParallelFace):
            fine = np.flatnonzero(mask).tolist() == [NOOP]
        else:  # at the end of an episode
            fine = not sight.asked or bool(mask.all())
        contract.require(fine, "a mask is not what the encoding shows as legal")


def _check_seeds(contract: Contract, face: Face, seed: int) -> None:
    """A seed is an episode and those after it, whatever has been played before."""
    traces = []
    for number in (seed, seed, seed + 1):
        face.begin(seed=number)
        first = face.trace(Random(seed))
        face.begin()
        traces.append((first, face.trace(Random(seed), STEPS)))
        face.begin(seed=number)
        face.trace(Random(seed + 1), STEPS // 4)
    contract.require(traces[0][0] == traces[1][0], "the same seed gives another episode")
    contract.require(traces[0][1] == traces[1][1], "the episode after that of a seed is another one the second time")
    contract.require(traces[0] != traces[2], "another seed gives the same episode")


def _check_ownership(contract: Contract, face: Face, seed: int) -> None:
    """Check that arrays which an environment has shown are the caller's, to write in as well."""
    traces = []
    for scribbles in (False, True):
        face.begin(seed=seed)
        chance, seen = Random(seed), face.shown()
        while not face.over:
            actions = face.choices(chance)
            for sight in face.sights if scribbles else ():
                for array in (sight.encoding, *sight.masks):
                    array[...] = 1
            face.send(actions)
            seen += face.shown()
        traces.append(seen)
    contract.require(traces[0] == traces[1], "writing into what has been shown changes what comes")


def _check_copy(contract: Contract, face: Face, seed: int) -> None:
    face.begin(seed=seed)
    face.trace(Random(seed), STEPS // 2)
    other = copy.deepcopy(face)
    same = face.trace(Random(seed), STEPS) == _trace_or_error(other, seed)
    contract.require(same, "a deep copy goes on otherwise than the original does")


def _trace_or_error(face: Face, seed: int) -> list[Any]:
    """The trace of some steps, or the error; a bad copy may be at an end already."""
    try:
        return face.trace(Random(seed), STEPS)
    except Exception as error:
        return [repr(error)]


def _check_foul(contract: Contract, face: Face, seed: int) -> None:
    """An illegal action ends the episode at the offender's cost, is replaced, or raises and changes nothing."""
    policy = _option(face, "on_illegal")
    face.begin(seed=seed)
    if policy == "raise":
        other, raised = copy.deepcopy(face), False
        try:
            face.foul()
        except ValueError:
            raised = True
        contract.require(raised, "on_illegal='raise', and an illegal action does not raise a ValueError")
        same = face.trace(Random(seed), 2) == other.trace(Random(seed), 2)
        contract.require(same, "an illegal action raises, and yet changes what comes")
    elif policy is not None:
        face.foul()
        contract.require(face.over == (policy == "terminate"), f"on_illegal={policy!r}, and over is {face.over}")
        if policy == "terminate":
            fouls = int((face.paid < 0).sum())
            contract.require(fouls == 1, f"an illegal action costs {face.paid.tolist()}, and not one offender alone")
