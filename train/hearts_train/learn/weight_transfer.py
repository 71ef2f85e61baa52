"""Weights of one network as the first weights of another, which may be larger or see more seats."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from hearts_agents.net.weights import NetSpec, read_net
from hearts_env.cards import Ints
from hearts_env.observe.blocks import MAX_SEATS
from hearts_train.learn.parameters import FlatParameters

_FAINT = 0.01
"""Factor of the first weights of added blocks."""


def transfer(weights: Path, parameters: FlatParameters, vector: Tensor) -> None:
    """Put the weights of a file into a vector [S or more] of a network that is at least as large.  Raises NetError.

    A narrower network takes the first units of each layer.  The others keep their weights, and nothing listens to
    them yet: the network is at first the same function (Chen et al., Net2Net, arXiv 1511.05641).  One with fewer blocks
    takes the first ones; the others add next to nothing to what goes through them (with weights of 0 they would not
    learn).  The inputs may be laid out for other seats, see `same_inputs`.
    """
    spec, tensors = read_net(weights)
    tensors["stem.weight"] = tensors["stem.weight"][:, same_inputs(spec, parameters.net.spec)]
    places = parameters.named(vector)
    for name, tensor in tensors.items():
        units, *inputs = tensor.shape
        place = places[name][:units]
        if inputs:
            place[:, inputs[0] :] = 0
            place = place[:, : inputs[0]]
        place.copy_(torch.from_numpy(tensor))
    for added in range(spec.blocks, parameters.net.spec.blocks):
        places[f"blocks.{added}.weight"] *= _FAINT


def same_inputs(old: NetSpec, new: NetSpec) -> Ints:
    """Return for each input of one network the input of another that means the same, int64 [F of `new`].

    At a table like the old one's they are the same bits.  A seat that the old one has not is taken for its last one,
    and a number of players that it was not made for is taken for its own.
    """
    found = np.arange(new.layout.size)
    if new.layout == old.layout:
        return found
    for block, before in zip(new.layout.blocks, old.layout.blocks, strict=True):
        place = np.arange(block.size)
        if block.per_seat:
            seat, bit = np.divmod(place, block.per_seat)
            place = np.minimum(seat, old.layout.seats - 1) * block.per_seat + bit
        elif block.name == "rules" and not old.pad:
            place[: MAX_SEATS - 1] = old.rules.num_players - 2  # the block begins with the numbers of players, 2 to 7
        found[block.offset : block.offset + block.size] = before.offset + place
    return found
