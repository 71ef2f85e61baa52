"""A network as ONNX: another runtime plays the same actions from the same bytes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the export needs onnx, from the extra onnx")
runtime = pytest.importorskip("onnxruntime", reason="comes with the extra onnx")

from safetensors.numpy import save_file  # noqa: E402

from hearts_agents import make  # noqa: E402
from hearts_agents.net.agent import ILLEGAL, SHIPPED, Net  # noqa: E402
from hearts_agents.net.weights import NetSpec  # noqa: E402
from hearts_agents.policy import PolicyAgent  # noqa: E402
from hearts_cli.main import main  # noqa: E402
from hearts_env import Rules  # noqa: E402
from hearts_env.cards import members  # noqa: E402
from hearts_env.game.compiled_rules import compiled_rules  # noqa: E402
from hearts_env.game.engine import deal, shuffle  # noqa: E402
from hearts_env.game.state import State  # noqa: E402
from hearts_env.game.view import View, view  # noqa: E402
from hearts_env.match.play_match import play  # noqa: E402
from hearts_env.observe.encode import encode, encode_packed, layout  # noqa: E402


def first_views(rules: Rules) -> View:
    compiled = compiled_rules(rules)
    state = State.empty(compiled, 50)
    deal(compiled, state, shuffle(compiled, np.arange(50)))
    return view(compiled, state)


def test_onnxruntime_plays_the_same_deals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = Net.load(SHIPPED).spec
    assert main(["export", "net", "--onnx", str(tmp_path / "net.onnx")]) == 0
    assert f"encoding [n, {spec.layout.size}] in; logits, action and value out" in capsys.readouterr().out
    session = runtime.InferenceSession(tmp_path / "net.onnx", providers=["CPUExecutionProvider"])
    elsewhere = PolicyAgent(lambda encodings, masks: session.run(["action"], {"encoding": encodings})[0], pad=spec.pad)
    one, other = (play(Rules(), [agent], [0] * 4, np.arange(60)).points for agent in (make("net"), elsewhere))
    assert (one == other).all(axis=1).mean() > 0.95, "rounding may decide between two actions that are equally good"


@pytest.mark.parametrize(("rules", "pad"), [("standard", False), ("two_player", True)])
def test_the_mask_is_in_the_graph_and_the_numbers_are_the_same(rules: str, pad: bool, tmp_path: Path) -> None:
    seen, random = first_views(Rules.parse(rules)), np.random.default_rng(0)
    spec = NetSpec(rules=seen.rules.rules, pad=pad, width=16, blocks=2)
    tensors = {name: random.normal(scale=0.3, size=shape).astype(np.float32) for name, shape in spec.shapes.items()}
    save_file(tensors, tmp_path / "net.safetensors", {"hearts": json.dumps(spec.to_json())})
    assert main(["export", f"net:{tmp_path}", "--onnx", str(tmp_path / "net.onnx")]) == 0
    session = runtime.InferenceSession(tmp_path / "net.onnx", providers=["CPUExecutionProvider"])
    shape = layout(seen.rules, pad=pad)
    logits, value = session.run(["logits", "value"], {"encoding": encode(shape, seen)})
    expected, values = Net(spec, tensors).outputs(encode_packed(shape, seen))
    legal = members(seen.legal, logits.shape[1]).astype(bool)
    assert logits[legal] == pytest.approx(expected[legal], abs=1e-4)
    assert (logits[~legal] == np.float32(ILLEGAL)).all()
    assert value == pytest.approx(values, abs=1e-4)
    assert json.loads(session.get_modelmeta().custom_metadata_map["hearts"]) == spec.to_json()


def test_what_cannot_be_exported_is_refused_in_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "nowhere", "--onnx", str(tmp_path / "a.onnx")]) == 2
    assert "no weights at nowhere" in capsys.readouterr().err
    assert main(["export", str(SHIPPED)]) == 2
    assert "where to? give a second name" in capsys.readouterr().err
    assert main(["export", "net", str(tmp_path / "a.npz"), "--onnx", str(tmp_path / "a.onnx")]) == 2
    assert "--onnx takes a network alone" in capsys.readouterr().err
