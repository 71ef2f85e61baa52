"""A network as an ONNX file: encodings in; masked logits, the best action and the value out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from hearts_agents.net.agent import ILLEGAL
from hearts_agents.net.weights import Floats, NetSpec, read_net
from hearts_env.cards import NUM_ACTIONS
from hearts_train.run.checkpoint import write_whole

OPSET = 17
IR_VERSION = 8
"""Version of the format that runtimes since 2022 read."""


def export(weights: Path, out: Path) -> NetSpec:
    """Write the network of a weights file or run directory as ONNX, and return what it was made for.

    The graph's input is `encoding`, uint8 [n, F] as `hearts_env.observe.encode` makes it.  Its outputs are `logits`,
    float32 [n, A] with illegal actions at -1e9, `action`, int64 [n], the most probable one, and `value`, float32 [n].
    The header of the weights file stands in the metadata as `hearts`.  Raises NetError or CheckpointError.
    """
    spec, tensors = read_net(weights)
    write_whole(out, model(spec, tensors).SerializeToString())
    return spec


def model(spec: NetSpec, tensors: dict[str, Floats]) -> Any:
    """Return a network as an onnx.ModelProto; see `export` for its inputs and outputs."""
    legal = spec.layout["legal"]
    constants: dict[str, NDArray[Any]] = {
        "legal.start": np.array([legal.start]),
        "legal.stop": np.array([legal.stop]),
        "columns": np.array([1]),
        "illegal": np.array([ILLEGAL], np.float32),
    }
    inputs = [helper.make_tensor_value_info("encoding", TensorProto.UINT8, ["n", spec.layout.size])]
    outputs = [
        helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", NUM_ACTIONS]),
        helper.make_tensor_value_info("action", TensorProto.INT64, ["n"]),
        helper.make_tensor_value_info("value", TensorProto.FLOAT, ["n"]),
    ]
    arrays = [numpy_helper.from_array(array, name) for name, array in {**tensors, **constants}.items()]
    graph = helper.make_graph(_nodes(spec), "hearts", inputs, outputs, arrays)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    helper.set_model_props(made, {"hearts": json.dumps(spec.to_json())})
    onnx.checker.check_model(made)
    return made


def _nodes(spec: NetSpec) -> list[Any]:
    def node(kind: str, inputs: list[str], output: str, **attributes: Any) -> Any:
        return helper.make_node(kind, inputs, [output], **attributes)

    def linear(name: str, hidden: str, output: str) -> Any:
        return node("Gemm", [hidden, f"{name}.weight", f"{name}.bias"], output, transB=1)

    nodes = [node("Cast", ["encoding"], "rows", to=TensorProto.FLOAT), linear("stem", "rows", "stem")]
    nodes.append(node("Relu", ["stem"], "hidden.0"))
    for place in range(spec.blocks):
        nodes += [
            linear(f"blocks.{place}", f"hidden.{place}", f"product.{place}"),
            node("Relu", [f"product.{place}"], f"change.{place}"),
            node("Add", [f"hidden.{place}", f"change.{place}"], f"hidden.{place + 1}"),
        ]
    last = f"hidden.{spec.blocks}"
    return [
        *nodes,
        linear("policy", last, "bare"),
        node("Slice", ["encoding", "legal.start", "legal.stop", "columns"], "legal.bytes"),
        node("Cast", ["legal.bytes"], "legal", to=TensorProto.BOOL),
        node("Where", ["legal", "bare", "illegal"], "logits"),
        node("ArgMax", ["logits"], "action", axis=1, keepdims=0),
        linear("value", last, "values"),
        node("Squeeze", ["values", "columns"], "value"),
    ]
