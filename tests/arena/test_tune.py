"""The tuner finds better weights, keeps the best so far, and can be stopped."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hearts_agents.rule.weights import Weights, WeightsError, limits, load
from hearts_arena import tune as tuner
from hearts_arena.tune import TuneOptions, duel, space, tune
from hearts_env.executor import using
from hearts_env.game.rules import Rules


@pytest.fixture(autouse=True)
def _numpy() -> object:
    """Loops would take longer to compile than these matches take."""
    with using("numpy"):
        yield


def test_a_duel_of_equals_is_a_draw_on_every_deal() -> None:
    assert np.allclose(duel(Rules(), Weights(), Weights(), np.arange(20)), 0)


def test_a_duel_is_won_by_the_better_weights() -> None:
    careless = replace(Weights(), dump_queen=0.0, catch=0.0, pass_queen=-16.0, shed=-5.0, stop=0.0, tempo=-2.0)
    assert duel(Rules(), Weights(), careless, np.arange(200)).mean() > 0.5


def test_weights_move_by_steps_and_stay_within_their_limits() -> None:
    around = space(Weights())
    for moved in (-50.0, 0.0, 50.0):
        weights = around.weights(np.full(len(around.names), moved))
        for name in around.names:
            least, most = limits(name)
            assert least <= getattr(weights, name) <= most
    assert around.weights(np.zeros(len(around.names))) == Weights()
    assert space(Weights(), ("give",)).weights(np.ones(1)) != Weights()
    with pytest.raises(WeightsError):
        space(Weights(), ("gvie",))


def test_tuning_repairs_a_weight_that_is_far_off(tmp_path: Path) -> None:
    """An agent that pays to win tricks loses so much that a few rounds show which way to go."""
    start, out = tmp_path / "start.json", tmp_path / "out.json"
    start.write_text(json.dumps({"tempo": -12.0}))
    few = {"minutes": 0.15, "deals": 24, "check_deals": 60, "check_every": 3}
    found = tune(TuneOptions(out, start=start, only=("tempo",), **few))
    assert found.tempo > -12.0
    assert load(out) == found


def test_tuning_that_is_interrupted_keeps_the_best_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tuner, "duel", interrupted)
    out = tmp_path / "out.json"
    assert tune(TuneOptions(out)) == Weights()
    assert load(out) == Weights()


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hearts_arena.tune", str(tmp_path / "out.json"), "--rules", "nonsense"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "nonsense" in done.stderr
    assert "Traceback" not in done.stderr
