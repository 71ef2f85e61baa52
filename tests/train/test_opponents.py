"""Seats that don't learn: rollouts and runs with opponents, evaluations, and learned best responses."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hearts_agents import AgentError, make  # noqa: E402
from hearts_agents.net.agent import SHIPPED  # noqa: E402
from hearts_agents.net.weights import read_net  # noqa: E402
from hearts_arena.formats import lineups  # noqa: E402
from hearts_cli.main import main  # noqa: E402
from hearts_env import Rules  # noqa: E402
from hearts_env.cards import Ints, Sets, lowest  # noqa: E402
from hearts_env.executor import EXECUTORS, Executor, available, using  # noqa: E402
from hearts_env.game.compiled_rules import compiled_rules  # noqa: E402
from hearts_env.game.rewards import payoff  # noqa: E402
from hearts_env.game.view import View  # noqa: E402
from hearts_env.match.play_match import play  # noqa: E402
from hearts_env.observe.encode import encode, layout  # noqa: E402
from hearts_train import TrainConfig, train  # noqa: E402
from hearts_train.exploit.exploiter import plans, respond  # noqa: E402
from hearts_train.learn.network import HeartsNet, packed  # noqa: E402
from hearts_train.learn.opponents import LEARNS, OpponentPool, Opponents, opponents_now, past_file  # noqa: E402
from hearts_train.learn.rollout import Rollout  # noqa: E402
from hearts_train.run.config import TrainError, flat_options  # noqa: E402
from hearts_train.run.config_file import opened, resumed  # noqa: E402
from hearts_train.run.evaluation import BEST, MOST_SHARE, EvaluationSchedule  # noqa: E402
from hearts_train.run.log import read_metrics  # noqa: E402
from hearts_train.run.workers import Worker  # noqa: E402

TINY = TrainConfig().with_options(
    decisions=600,
    workers=1,
    tables=8,
    width=8,
    blocks=1,
    minibatch=64,
    eval_ids=4,
    eval_against=("random",),
    eval_slow=(),
)


class Lowest:
    name = "lowest"

    def act(self, view: View) -> Ints:
        return lowest(view.legal)


class Watched(Lowest):
    def __init__(self) -> None:
        self.views: list[View] = []

    def act(self, view: View) -> Ints:
        self.views.append(view)
        return super().act(view)


def lowest_actor(packed: Sets, legal: Sets) -> tuple[Ints, Any, Any]:
    return lowest(legal), np.zeros(len(legal), np.float32), np.zeros(len(legal), np.float32)


@pytest.mark.parametrize("num_players", range(2, 8))
def test_any_number_of_seats_is_spread_and_turned_so_that_each_seat_has_it_equally_often(num_players: int) -> None:
    for seats in range(1, num_players):
        turns = lineups(num_players, seats)
        assert ((turns == 0).sum(axis=1) == seats).all()
        assert len(set((turns == 0).sum(axis=0).tolist())) == 1
    assert lineups(4, 2).tolist() == [[0, 1, 0, 1], [1, 0, 1, 0]]


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("opponent", ["rule", "net"])
def test_a_rollout_with_opponents_plays_the_deals_of_a_match_and_keeps_what_learns(
    executor: Executor, opponent: str
) -> None:
    if executor not in available():
        pytest.skip("the compiled executor needs numba, from the extra fast")
    rules, ids = compiled_rules(Rules()), np.arange(24)
    others = OpponentPool(4, seats=1).seat(opponent, 24, met=16)
    with using(executor):
        rollout = Rollout(rules, layout(rules), 24)
        rollout.collect(ids, lowest_actor, others)
        result = play(Rules(), [make(opponent), Lowest()], np.where(others.lineup == LEARNS, 1, 0), ids)
    assert rollout.payoffs == pytest.approx(payoff(rules, result.points))
    learns = (others.lineup == LEARNS).reshape(-1)
    assert learns.sum() == 16 + 8 * 4
    assert (rollout.lengths[~learns] == 0).all()
    assert (rollout.lengths[learns] > 3).all()
    assert set(rollout.trajectory[: rollout.size].tolist()) == set(np.flatnonzero(learns).tolist())


def test_two_kinds_of_opponents_may_sit_at_one_table() -> None:
    rules, ids = compiled_rules(Rules()), np.arange(12)
    lineup = np.tile([0, LEARNS, 1, 0], (12, 1))
    rollout = Rollout(rules, layout(rules), 12)
    rollout.collect(ids, lowest_actor, Opponents([make("rule"), Lowest()], lineup))
    result = play(Rules(), [make("rule"), Lowest()], [0, 1, 1, 0], ids)
    assert rollout.payoffs == pytest.approx(payoff(rules, result.points))


# -- runs --------------------------------------------------------------------------------------------------------------


def test_a_run_meets_named_agents_and_its_own_past(tmp_path: Path) -> None:
    config = TINY.with_options(
        out=tmp_path / "run", opponents=("random", "past"), opponent_share=0.5, past_every_decisions=200
    )
    run = train(config)
    lines = [line for line in read_metrics(run) if line["kind"] == "iteration"]
    assert all("payoff_opponents" in line for line in lines)
    # Half of the tables with one seat that learns, the others with four.
    assert lines[0]["decisions"] < 0.8 * 8 * 4 * 13
    kept = sorted(int(path.stem) for path in (run / "past").glob("*.safetensors"))
    assert kept[0] == 0
    assert len(kept) > 1
    assert opponents_now(("rule", "past"), run / "past", kept[1]) == [
        "rule",
        *(f"net:{past_file(run / 'past', decisions)}" for decisions in kept[:2]),
    ]
    assert opponents_now(("rule",), run / "past", 10**9) == ["rule"]
    goes_on = resumed(run, decisions=900)
    assert goes_on.opponents.names == ("random", "past")
    train(goes_on)


def test_self_play_is_not_changed_by_what_could_be_asked_for(tmp_path: Path) -> None:
    plain = train(TINY.with_options(out=tmp_path / "plain"))
    none_met = train(TINY.with_options(out=tmp_path / "none", opponents=("rule",), opponent_share=0.0))
    assert torch.equal(HeartsNet.load(plain).stem.weight, HeartsNet.load(none_met).stem.weight)


def test_a_run_from_before_there_were_opponents_goes_on(tmp_path: Path) -> None:
    run = train(TINY.with_options(out=tmp_path / "run"))
    saved = flat_options(json.loads((run / "config.json").read_text()))
    new = ("start", "opponents", "opponent_share", "learning_seats", "past_every_decisions", "eval_against")
    new += ("eval_slow", "eval_slow_every_minutes")
    (run / "config.json").write_text(json.dumps({name: value for name, value in saved.items() if name not in new}))
    goes_on = resumed(run, decisions=700)
    measured = goes_on.evaluation
    assert (measured.eval_against, measured.eval_slow) == (("rule", "random"), ("search:64",))
    assert goes_on.opponents.names == ()
    assert read_metrics(train(goes_on.with_options(eval_ids=1)))[-1]["decisions"] >= 700


def test_a_run_may_begin_with_other_weights(tmp_path: Path) -> None:
    other = HeartsNet.fresh(TINY.spec, seed=9)
    (tmp_path / "net.safetensors").write_bytes(packed(other))
    run = train(TINY.with_options(out=tmp_path / "run", start=str(tmp_path), decisions=1, lr=1e-9, lr_final=1e-9))
    assert torch.allclose(HeartsNet.load(run).stem.weight, other.stem.weight, atol=1e-6)


@pytest.mark.parametrize("changes", [{"pad": True}, {"rules": "five"}, {"pad": True, "rules": "two_player"}])
def test_weights_for_four_players_begin_a_network_for_others_which_plays_the_same_at_four(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    four = HeartsNet.fresh(TINY.spec, seed=9)
    with torch.no_grad():
        torch.nn.init.normal_(four.stem.weight, generator=torch.Generator().manual_seed(1))  # also the unseen inputs
    (tmp_path / "net.safetensors").write_bytes(packed(four))
    begun = TINY.with_options(start=str(tmp_path), decisions=1, lr=1e-9, lr_final=1e-9, eval_ids=1, **changes)
    other = HeartsNet.load(train(begun.with_options(out=tmp_path / "run")))
    shapes = (TINY.spec.layout, begun.spec.layout)
    if begun.network.pad:
        watched = Watched()
        play(Rules(), [watched], [0] * 4, range(4))
        rows = [torch.from_numpy(np.concatenate([encode(shape, view) for view in watched.views])) for shape in shapes]
        for now, before in zip(other(rows[1]), four(rows[0]), strict=True):
            torch.testing.assert_close(now, before, atol=1e-4, rtol=1e-4)
    taken = [other.stem.weight[:, shapes[1]["played"]], four.stem.weight[:, shapes[0]["played"]]]
    for seat in range(begun.spec.layout.seats):
        now, before = taken[0][:, 52 * seat :][:, :52], taken[1][:, 52 * min(seat, 3) :][:, :52]
        torch.testing.assert_close(now, before, atol=1e-6, rtol=0)
    count = other.stem.weight[:, shapes[1]["rules"]][:, :6]
    assert torch.allclose(count, four.stem.weight[:, shapes[0]["rules"]][:, 2:3].expand(-1, 6), atol=1e-6)


def test_a_wider_network_begins_as_the_narrower_one_that_it_starts_with(tmp_path: Path) -> None:
    narrow = HeartsNet.fresh(TINY.spec, seed=9)
    (tmp_path / "net.safetensors").write_bytes(packed(narrow))
    wider = TINY.with_options(width=2 * TINY.network.width, start=str(tmp_path), decisions=1, lr=1e-9, lr_final=1e-9)
    wide = HeartsNet.load(train(wider.with_options(out=tmp_path / "run")))
    rows = torch.randint(0, 2, (50, TINY.spec.layout.size), dtype=torch.uint8)
    for now, before in zip(wide(rows), narrow(rows), strict=True):
        torch.testing.assert_close(now, before, atol=1e-4, rtol=1e-4)
    assert (wide.stem.weight[TINY.network.width :] != 0).any(), "the new units must be able to learn"


def test_a_deeper_network_begins_all_but_as_the_one_that_it_starts_with(tmp_path: Path) -> None:
    shallow = HeartsNet.fresh(TINY.spec, seed=9)
    (tmp_path / "net.safetensors").write_bytes(packed(shallow))
    deeper = TINY.with_options(blocks=TINY.network.blocks + 2, start=str(tmp_path), decisions=1, lr=1e-9, lr_final=1e-9)
    deep = HeartsNet.load(train(deeper.with_options(out=tmp_path / "run")))
    rows = torch.randint(0, 2, (50, TINY.spec.layout.size), dtype=torch.uint8)
    before = shallow.body(rows)
    assert (deep.body(rows) - before).norm() < 0.03 * before.norm()
    assert all((block.weight != 0).any() for block in deep.blocks), "the new blocks must be able to learn"


@pytest.mark.parametrize("larger", [{"blocks": TINY.network.blocks + 1}, {"width": 2 * TINY.network.width}])
def test_a_run_is_at_least_as_large_as_the_network_that_it_starts_with(tmp_path: Path, larger: dict[str, int]) -> None:
    spec = dataclasses.replace(TINY.spec, **larger)
    (tmp_path / "net.safetensors").write_bytes(packed(HeartsNet.fresh(spec, seed=9)))
    assert HeartsNet.load(train(TINY.with_options(start=str(tmp_path), out=tmp_path / "run"))).spec == spec


def test_a_run_from_the_network_in_the_package_needs_no_word_of_its_size(tmp_path: Path) -> None:
    config, _ = opened(TrainConfig().with_options(start="net", out=tmp_path / "run"))
    shipped, _ = read_net(SHIPPED)
    assert (config.network.width, config.network.blocks) == (shipped.width, shipped.blocks)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"opponents": ("nobody",)}, AgentError, "unknown agent 'nobody'"),
        ({"eval_slow": ("search:x",)}, AgentError, "no whole number"),
        ({"learning_seats": 4}, TrainError, "learning_seats=4: must be from 1 to 3"),
        ({"opponent_share": 1.5}, TrainError, r"opponent_share=1\.5: must lie between 0 and 1"),
    ],
)
def test_bad_opponents_are_named_before_anything_is_written(
    tmp_path: Path, changes: dict[str, Any], error: type[ValueError], message: str
) -> None:
    with pytest.raises(error, match=message):
        train(TINY.with_options(out=tmp_path / "run", **changes))
    assert not (tmp_path / "run").exists()


# -- evaluations -------------------------------------------------------------------------------------------------------


def test_evaluations_take_under_a_tenth_of_the_time_and_slow_ones_wait() -> None:
    config = TrainConfig().with_options(eval_every_minutes=0.1, eval_slow=("search:64",), eval_slow_every_minutes=10)
    now, spent, met = 0.0, 0.0, {"rule": 0, "random": 0, BEST: 0, "search:64": 0}
    schedule = EvaluationSchedule(config, lambda: now)
    assert schedule.due() == ["rule", "random"]
    assert "search:64" not in schedule.at_end()
    while now < 4 * 3600:
        now += 2
        for name in schedule.due():
            assert name != "search:64" or now >= 600
            cost = {"rule": 3.0, "random": 0.1, BEST: 1.0, "search:64": 40.0}[name]
            now, spent = now + cost, spent + cost
            schedule.met(name, cost)
            met[name] += 1
    assert spent < MOST_SHARE * now
    assert met["random"] > met["rule"] > met["search:64"] > 5
    assert schedule.at_end() == ["rule", "random", BEST, "search:64"]


@pytest.mark.parametrize(("gain", "kept"), [(1.0, True), (0.01, False), (-1.0, False)])
def test_weights_that_beat_the_best_before_them_beyond_an_error_are_kept(
    gain: float, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    met: list[str] = []

    def evaluate(self: Worker, opponent: str, rules: Rules) -> np.ndarray:
        met.append(opponent)
        return np.array([gain - 0.1, gain + 0.1])

    monkeypatch.setattr(Worker, "evaluate", evaluate)
    run = train(TINY.with_options(out=tmp_path / "run", eval_every_minutes=1e-9))
    assert met[0] == "random"
    assert BEST in met
    assert (run / "best.safetensors").exists() == kept
    assert {"payoff/best", "payoff_se/best"} <= read_metrics(run)[-1].keys()
    if kept:
        assert make(f"net:{run / 'best.safetensors'}").name
        assert torch.equal(HeartsNet.load(run / "best.safetensors").stem.weight, HeartsNet.load(run).stem.weight)


def test_the_best_weights_are_those_of_the_file_after_a_resume(tmp_path: Path) -> None:
    run = train(TINY.with_options(out=tmp_path / "run"))
    best = HeartsNet.fresh(TINY.spec, seed=5)
    (run / "best.safetensors").write_bytes(packed(best))
    seen: list[Any] = []
    evaluate = Worker.evaluate

    def spied(self: Worker, opponent: str, rules: Rules) -> Any:
        seen.append(self.learner.parameters.named(self.shared.best)["stem.weight"].clone())
        return evaluate(self, opponent, rules)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Worker, "evaluate", spied)
        train(resumed(run, decisions=700))
    assert torch.equal(seen[0], best.stem.weight)


# -- best responses ----------------------------------------------------------------------------------------------------


def test_a_learner_of_best_responses_begins_with_the_victim_or_the_network_of_the_package() -> None:
    one, two = plans(("net?sample",), (1, 2), rules="standard", minutes=1)
    (other,) = plans(("rule",), (1,), rules="num_players=3", minutes=1)
    assert (one.start, one.opponents.learning_seats, two.opponents.learning_seats) == ("net", 1, 2)
    assert one.opponents.names == ("net?sample",)
    assert (one.opponents.opponent_share, one.eval_seats(Rules()), one.evaluates_best) == (1.0, 1, False)
    assert (other.start, other.spec.layout.size) == (
        "net",
        layout(compiled_rules(Rules(num_players=3)), pad=other.network.pad).size,
    )
    assert two.with_options(learning_seats=3).eval_seats(Rules.parse("two_player")) == 1, "never all seats"
    with pytest.raises(TrainError, match=r"minutes=-1: must be above 0"):
        plans(("rule",), (1,), rules="standard", minutes=-1)


def test_a_short_best_response_is_measured_on_fresh_deals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["exploit", "random", "--minutes", "0.01", "--seats", "2", "--start", "", "--deals", "6"]
    assert main([*arguments, "--workers", "1", "--out", str(tmp_path / "runs")]) == 0
    assert "gain a deal" in (said := capsys.readouterr().out)
    assert "random" in said
    assert (tmp_path / "runs" / "0-2" / "net.safetensors").exists()
    assert main(["exploit", "random", "--minutes", "1", "--deals", "1"]) == 2
    assert "--deals 1: a standard error needs 2 or more" in capsys.readouterr().err


@pytest.mark.slow
def test_a_learner_finds_that_random_can_be_beaten(tmp_path: Path) -> None:
    (plan,) = plans(("random",), (1,), rules="standard", minutes=0.5, start="", out=tmp_path)
    answer = respond(plan.with_options(minutes=None, decisions=500_000), 200)
    assert answer.gain > 2 + 3 * answer.error
