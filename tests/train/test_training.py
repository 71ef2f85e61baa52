"""Self-play training: returns, the rollout buffer, runs that stop and go on, and what they leave behind."""

import contextlib
import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import safetensors.numpy  # noqa: E402

from hearts_agents import make  # noqa: E402
from hearts_agents.net.weights import Floats, NetError, read_tensors  # noqa: E402
from hearts_agents.win_chance import win_chance  # noqa: E402
from hearts_arena.duplicate_evaluation import duplicate_payoffs, duplicate_wins, fresh_ids, mean_and_error  # noqa: E402
from hearts_arena.formats import lineups  # noqa: E402
from hearts_cli.main import main  # noqa: E402
from hearts_env import Rules  # noqa: E402
from hearts_env.cards import NUM_ACTIONS, Ints, Sets, count, lowest, members  # noqa: E402
from hearts_env.game.compiled_rules import CompiledRules, compiled_rules  # noqa: E402
from hearts_env.game.engine import deal, legal, shuffle, single_deal_no, step  # noqa: E402
from hearts_env.game.rules import RulesError  # noqa: E402
from hearts_env.game.scoring import is_over, reset_exact  # noqa: E402
from hearts_env.game.state import State  # noqa: E402
from hearts_env.observe.blocks import SCORE_STEPS  # noqa: E402
from hearts_env.observe.encode import layout, unpack  # noqa: E402
from hearts_train import TrainConfig, train  # noqa: E402
from hearts_train.export.release import Release  # noqa: E402
from hearts_train.learn.deals import drawn_scores  # noqa: E402
from hearts_train.learn.network import HeartsNet, packed  # noqa: E402
from hearts_train.learn.returns import advantages, explained_variance  # noqa: E402
from hearts_train.learn.rollout import Rollout, most_decisions  # noqa: E402
from hearts_train.ppo import Learner  # noqa: E402
from hearts_train.run import log as run_log  # noqa: E402
from hearts_train.run.checkpoint import (  # noqa: E402
    CHECKPOINT_NAME,
    CheckpointError,
    Progress,
    load_checkpoint,
    save_checkpoint,
    write_whole,
)
from hearts_train.run.config import TrainError  # noqa: E402
from hearts_train.run.config_file import resumed  # noqa: E402
from hearts_train.run.learning_curve import CurveError, plot  # noqa: E402
from hearts_train.run.log import RunLog, read_metrics  # noqa: E402
from hearts_train.run.process_pool import ProcessPool, WorkerError  # noqa: E402

TINY = TrainConfig().with_options(decisions=600, workers=1, tables=8, width=8, blocks=1, minibatch=64, eval_ids=4)


def tiny(run: Path, **changes: Any) -> TrainConfig:
    return TINY.with_options(out=run, **changes)


# -- returns and rollout ---------------------------------------------------------------------------------------------


def test_advantages_follow_their_definition() -> None:
    rng = np.random.default_rng(0)
    values, counts, reward = rng.normal(size=(50, 6)).astype(np.float32), rng.integers(0, 7, 50), rng.normal(size=50)
    result = advantages(values, counts, reward, 0.9)
    for chain in range(50):
        following = [*values[chain, 1 : counts[chain]], reward[chain]]
        errors = [following[place] - values[chain, place] for place in range(counts[chain])]
        for place in range(counts[chain]):
            expected = sum(0.9 ** (later - place) * errors[later] for later in range(place, counts[chain]))
            assert result[chain, place] == pytest.approx(expected, abs=1e-5)
        assert not result[chain, counts[chain] :].any()


def test_with_lambda_one_the_return_is_the_outcome_alone() -> None:
    values = np.array([[1, 2, 3], [4, 5, 0]], np.float32)
    result = advantages(values, np.array([3, 2]), np.array([10.0, 20.0]), 1.0)
    assert (result + values)[[0, 0, 0, 1, 1], [0, 1, 2, 0, 1]].tolist() == [10, 10, 10, 20, 20]


def test_explained_variance_is_one_for_a_perfect_guess_and_zero_for_the_mean() -> None:
    truth = np.arange(10, dtype=np.float32)
    assert explained_variance(truth, truth) == 1
    assert explained_variance(np.full(10, truth.mean(), np.float32), truth) == 0


def first_legal(info: Any) -> Any:
    def actor(packed: Sets, legal: Sets) -> tuple[Ints, Floats, Floats]:
        rows = unpack(layout(info), packed)
        assert (rows[:, layout(info)["legal"]] == members(legal, NUM_ACTIONS)).all()
        assert (count(legal) > 1).all(), "a forced decision has reached the policy"
        return lowest(legal), np.zeros(len(rows), np.float32), rows.sum(axis=1).astype(np.float32)

    return actor


@pytest.mark.parametrize("rules", [Rules(num_players=n) for n in range(2, 8)], ids=lambda rules: rules.show())
def test_the_buffer_holds_each_decision_with_a_choice_in_the_order_of_its_seat(rules: Rules) -> None:
    compiled = compiled_rules(rules)
    rollout = Rollout(compiled, layout(compiled), tables=20)
    for first in (0, 7):
        rollout.collect(first + np.arange(20), first_legal(compiled))
        chain, place = rollout.trajectory[: rollout.size], rollout.timestep[: rollout.size]
        assert (np.bincount(chain, minlength=20 * compiled.num_players) == rollout.lengths).all()
        assert rollout.lengths.max() <= most_decisions(compiled)
        for index in np.unique(chain):
            assert place[chain == index].tolist() == list(range(rollout.lengths[index]))
        assert rollout.payoffs.sum(axis=1) == pytest.approx(0, abs=1e-9)
        inputs = unpack(layout(compiled), rollout.packed[: rollout.size])
        mine = inputs[:, layout(compiled)["hand"]].sum(axis=1).astype(int)
        passing = inputs[:, layout(compiled)["phase"]][:, 0]
        for index in np.unique(chain):
            plays = (chain == index) & (passing == 0)
            assert (np.diff(mine[plays]) < 0).all(), "a seat's hand shrinks with every play"


def test_a_deal_is_the_same_in_every_batch() -> None:
    rules = compiled_rules(Rules())
    one, many = Rollout(rules, layout(rules), 1), Rollout(rules, layout(rules), 30)
    many.collect(np.arange(30), first_legal(rules))
    for table in range(5):
        one.collect(np.array([table]), first_legal(rules))
        rows = np.flatnonzero(many.trajectory[: many.size] // rules.num_players == table)
        assert (many.packed[rows] == one.packed[: one.size]).all()
        assert (many.payoffs[table] == one.payoffs[0]).all()


@pytest.mark.parametrize("variant", ["standard", "two_player", "seven", "omnibus", "partnership", "new_moon"])
def test_a_deal_within_a_game_shows_its_scores_and_pays_what_it_adds_to_the_chance_to_win(variant: str) -> None:
    rules, ids = compiled_rules(Rules.parse(variant)), np.arange(200)
    scores = drawn_scores(rules, len(ids), 0.5, np.random.default_rng(1))
    assert not is_over(rules, scores).any()
    within = scores.any(axis=1)
    assert 0.3 < within.mean() < 0.6
    rollout, plain = (Rollout(rules, layout(rules), len(ids)) for _ in range(2))
    rollout.collect(ids, first_legal(rules), scores=scores)
    plain.collect(ids, first_legal(rules))
    shown = unpack(layout(rules), rollout.packed[: rollout.size])[:, layout(rules)["scores"]].reshape(
        rollout.size, rules.num_players, SCORE_STEPS
    )
    table, seat = np.divmod(rollout.trajectory[: rollout.size], rules.num_players)
    assert (shown[:, 0].sum(axis=1) == scores[table, seat] * SCORE_STEPS // rules.rules.target).all()
    assert (rollout.payoffs[~within] == plain.payoffs[~within]).all(), "without scores it is a single deal"
    added = win_chance(rules, reset_exact(rules, scores + points_of(rules, ids, scores)))
    gain = (added - win_chance(rules, scores))[within]
    assert np.sign(rollout.payoffs[within]) == pytest.approx(np.sign(gain))
    assert np.corrcoef(rollout.payoffs[within].ravel(), gain.ravel())[0, 1] > 0.7


def points_of(rules: CompiledRules, ids: Ints, scores: Ints) -> Ints:
    """What the deals added where everybody plays the lowest legal action, int64 [N, P]."""
    state = State.empty(rules, len(ids))
    deal(rules, state, shuffle(rules, ids), deal_no=single_deal_no(rules, ids), scores=scores, key=ids)
    while not state.over.all():
        rows = np.flatnonzero(~state.over)
        part = state.take(rows)
        step(rules, part, lowest(legal(rules, part)))
        state.put(rows, part)
    return state.points.astype(np.int64)


def test_scores_are_drawn_at_the_share_of_the_tables_that_was_asked_for(tmp_path: Path) -> None:
    config = tiny(tmp_path, tables=400, game_share=0.5)
    shown = {}
    for share in (0.0, 0.5):
        learner = Learner(config.with_options(game_share=share))
        learner.iterate(0, 0, config.scheduled(Progress()))
        held = unpack(config.spec.layout, learner.rollout.packed[: learner.rollout.size])
        shown[share] = held[:, config.spec.layout["scores"]].any(axis=1).mean()
    assert shown[0.0] == 0
    assert 0.3 < shown[0.5] < 0.55
    with pytest.raises(TrainError, match="game_share=2: must lie between 0 and 1"):
        tiny(tmp_path, game_share=2)


def test_moon_choices_are_decisions_of_the_shooter() -> None:
    rules = compiled_rules(Rules(num_players=2, moon="choice"))
    rollout = Rollout(rules, layout(rules), 400)
    rollout.collect(np.arange(400), first_legal(rules))
    assert rollout.moons.any()
    choosing = unpack(layout(rules), rollout.packed[: rollout.size])[:, layout(rules)["phase"]][:, 2] == 1
    assert choosing.sum() == rollout.moons.sum()
    last = rollout.lengths[rollout.trajectory[: rollout.size][choosing]] - 1
    assert (rollout.timestep[: rollout.size][choosing] == last).all()


def test_the_update_sees_the_probabilities_of_the_rollout() -> None:
    config = tiny(Path(), minibatch=10**9, tables=32)
    learner = Learner(config)
    metrics = learner.iterate(0, 0, config.scheduled(Progress()))
    assert metrics["kl"] == pytest.approx(0, abs=1e-6)
    assert metrics["clip_fraction"] == 0
    assert learner.iterate(1, 32, config.scheduled(Progress()))["policy_loss"] == pytest.approx(0, abs=1e-5), (
        "advantages are normalised"
    )


# -- the league ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_players", range(2, 8))
def test_lineups_rotate_so_that_each_seat_is_taken_equally_often(num_players: int) -> None:
    assert len(set((lineups(num_players) == 0).sum(axis=0).tolist())) == 1


def test_an_agent_against_itself_has_no_payoff() -> None:
    payoffs = duplicate_payoffs(Rules(), make("random"), "random", np.arange(400))
    mean, error = mean_and_error(payoffs)
    assert abs(mean) < 4 * error
    assert error == pytest.approx(payoffs.std() / 20, rel=0.01)


# -- runs ------------------------------------------------------------------------------------------------------------


def test_a_run_leaves_what_the_documents_promise(tmp_path: Path) -> None:
    run = train(tiny(tmp_path / "run"))
    names = {path.name for path in run.iterdir()}
    assert names >= {"config.json", "metrics.jsonl", "checkpoint.safetensors", "net.safetensors"}
    assert any(name.startswith("events.out.tfevents") for name in names)
    lines = read_metrics(run)
    assert [line["kind"] for line in lines[:3]] == ["session", "evaluation", "iteration"]
    assert {"commit", "machine", "versions"} <= lines[0].keys()
    assert lines[-1]["kind"] == "evaluation"
    assert lines[-1]["decisions"] >= 600
    assert {"payoff/random", "payoff_se/random"} <= lines[-1].keys()
    assert plot(run).read_bytes().startswith(b"\x89PNG")
    assert (make(f"net:{run}").name, HeartsNet.load(run).spec.width) == (f"net:{run}", 8)


def test_what_is_shipped_are_a_run_s_weights_with_facts_from_its_files(tmp_path: Path) -> None:
    run = train(tiny(tmp_path / "run"))
    short = Release(run, deals=4, opponents=("random",), games=2, games_against=("random",))
    facts, content = short.prepared()
    assert content == (run / "net.safetensors").read_bytes()
    last = read_metrics(run)[-1]
    assert (facts["training"]["decisions"], facts["training"]["deals"]) == (last["decisions"], last["deals"])
    assert facts["training"]["config"]["width"] == 8
    assert [line["kind"] for line in facts["training"]["sessions"]] == ["session"]
    seatings = [(row["agent"], row["seats"]) for row in facts["evaluation"]["results"]]
    assert seatings == [("net", 2), ("net", 1), ("net", 3), ("net?sample", 2)]
    (game,) = facts["evaluation"]["games"]
    assert (game["opponent"], game["seats"]) == ("random", 2)
    assert 0 <= game["wins"] <= 1
    assert facts["evaluation"]["others"] == []
    assert facts["training"]["start"] is None
    (run / "net.safetensors").write_bytes(packed(HeartsNet.load(run)))
    with pytest.raises(NetError, match="does not say how far it was trained: resume the run"):
        short.prepared()


def test_a_network_for_several_rules_is_measured_under_each_of_them(tmp_path: Path) -> None:
    run = train(tiny(tmp_path / "run", pad=True, also_rules=("three", "standard", "omnibus", "three", "seven")))
    short = Release(run, opponents=(), games=0, games_against=(), other_deals=3, other_opponents=("random", "rule"))
    rows = short.prepared()[0]["evaluation"]["others"]
    assert [(row["rules"], row["seats"], row["players"], row["opponent"]) for row in rows] == [
        (rules, seats, players, opponent)
        for rules, seats, players in (("three", 2, 3), ("omnibus", 2, 4), ("seven", 4, 7))
        for opponent in ("random", "rule")
    ]


def test_a_run_from_trained_weights_says_how_far_these_were_trained_also_after_it_is_resumed(tmp_path: Path) -> None:
    first = train(tiny(tmp_path / "first", decisions=600))
    second = train(resumed(train(tiny(tmp_path / "second", decisions=600, start=str(first))), decisions=1200))
    trained = Release(second, deals=2, opponents=(), games=0, games_against=()).prepared()[0]["training"]
    assert trained["config"]["start"] == first.name, "no folder of this machine is told"
    assert trained["decisions"] >= 1200
    assert trained["start"]["decisions"] == read_metrics(first)[-1]["decisions"]


def test_the_share_of_won_games_is_that_of_the_seats_for_equals_and_more_for_the_better() -> None:
    ids, rules = fresh_ids(6, 1), Rules.parse("standard,target=20")
    for seats in (1, 2, 3):
        # On each deal id: over all rotations every hand is played once from each side, and ties are split.
        assert duplicate_wins(rules, make("rule"), "rule", ids, seats) == pytest.approx(np.full(6, seats / 4))
    assert duplicate_wins(rules, make("rule"), "random", ids, 1).mean() > 0.5


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(tmp_path: Path) -> None:
    runs = [train(tiny(tmp_path / name, seed=seed)) for name, seed in (("a", 1), ("b", 1), ("c", 2))]
    one, same, other = (HeartsNet.load(run).stem.weight for run in runs)
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_a_resumed_run_ends_as_if_it_had_never_stopped(tmp_path: Path) -> None:
    whole = train(tiny(tmp_path / "whole", decisions=1600, lr_final=1e-3, entropy_final=0.1))
    first = train(tiny(tmp_path / "part", decisions=800, lr_final=1e-3, entropy_final=0.1))
    assert train(resumed(first, decisions=1600)) == first
    assert torch.equal(HeartsNet.load(first).stem.weight, HeartsNet.load(whole).stem.weight)
    ends = [[line for line in read_metrics(run) if line["kind"] == "iteration"][-1] for run in (whole, first)]
    assert ends[0]["deals"] == ends[1]["deals"]
    assert ends[0]["policy_loss"] == ends[1]["policy_loss"]


def test_schedules_hold_and_fall_with_the_budget() -> None:
    config = TrainConfig().with_options(decisions=1000, lr=1e-3, lr_final=1e-5, lr_hold=0.5)
    paces = [config.scheduled(Progress(decisions=decisions)) for decisions in (0, 500, 750, 1000)]
    assert [pace.lr for pace in paces] == pytest.approx([1e-3, 1e-3, 1e-4, 1e-5])
    assert [pace.entropy_weight for pace in paces][::3] == pytest.approx([0.1, 0.003])


def test_players_get_an_average_of_the_weights_where_one_is_asked_for(tmp_path: Path) -> None:
    last, mean = (
        train(tiny(tmp_path / name, decisions=2000, ema_decisions=ema)) for name, ema in (("last", 0), ("mean", 2000))
    )
    learned = [Learner(TINY) for _ in range(2)]
    for learner, run in zip(learned, (last, mean), strict=True):
        load_checkpoint(run, learner.parameters, torch.zeros(learner.parameters.size))
    assert torch.equal(learned[0].parameters.weights, learned[1].parameters.weights), (
        "what is learned does not depend on it"
    )
    assert torch.equal(HeartsNet.load(last).stem.weight, learned[0].net.stem.weight)
    start = HeartsNet.fresh(TINY.spec, TINY.seed).stem.weight
    shown, end = HeartsNet.load(mean).stem.weight, learned[1].net.stem.weight
    assert 0.1 < ((shown - start).norm() / (end - start).norm()).item() < 0.9


def test_the_average_goes_on_in_a_resumed_run(tmp_path: Path) -> None:
    first = train(tiny(tmp_path / "part", decisions=1000, ema_decisions=2000, lr_final=1e-3, entropy_final=0.1))
    whole = train(tiny(tmp_path / "whole", decisions=2000, ema_decisions=2000, lr_final=1e-3, entropy_final=0.1))
    train(resumed(first, decisions=2000))
    assert torch.equal(HeartsNet.load(first).stem.weight, HeartsNet.load(whole).stem.weight), "it is resumed as well"


def test_what_is_given_at_a_resume_counts_even_where_it_is_the_default(tmp_path: Path) -> None:
    run = train(tiny(tmp_path / "run", lr=5e-4))
    assert main(["train", "--resume", str(run), "--decisions", "1200", "--lr", "1e-3"]) == 0
    saved = json.loads((run / "config.json").read_text())
    assert (saved["ppo"]["lr"], saved["decisions"], saved["ppo"]["minibatch"]) == (1e-3, 1200, 64)
    assert read_metrics(run)[-1]["decisions"] >= 1200
    assert main(["train", "--resume", str(tmp_path / "nowhere")]) == 2


def test_a_run_made_with_an_option_that_was_removed_goes_on_only_where_the_option_was_off(tmp_path: Path) -> None:
    run = train(tiny(tmp_path / "run"))
    saved = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps(saved | {"aux": 0.0, "critic": False, "same_deal": 1}))
    assert resumed(run, decisions=700).decisions == 700
    (run / "config.json").write_text(json.dumps(saved | {"aux": 0.1}))
    with pytest.raises(
        TrainError, match=r"made with aux=0\.1, an option that was removed; .* ideas-2026-12, or .*--start"
    ):
        resumed(run)
    restarted = train(tiny(tmp_path / "other", start=str(run), decisions=1, lr=1e-9, lr_final=1e-9))
    assert torch.allclose(HeartsNet.load(restarted).stem.weight, HeartsNet.load(run).stem.weight, atol=1e-6)


def test_a_checkpoint_with_an_auxiliary_head_is_read_without_it(tmp_path: Path) -> None:
    learner, file = Learner(TINY), tmp_path / CHECKPOINT_NAME
    save_checkpoint(tmp_path, learner.parameters, torch.zeros(learner.parameters.size), Progress(decisions=5))
    tensors, header = read_tensors(file)
    head = {f"{place}.guess.weight": np.ones((3, 8), np.float32) for place in ("net", "shown")}
    file.write_bytes(safetensors.numpy.save({**tensors, **head}, {"hearts": json.dumps(header)}))
    other = Learner(TINY.with_options(seed=1))
    load_checkpoint(tmp_path, other.parameters, torch.zeros(other.parameters.size))
    assert torch.equal(other.parameters.weights, learner.parameters.weights)


def test_what_cannot_change_in_a_run_is_refused(tmp_path: Path) -> None:
    run = train(tiny(tmp_path / "run"))
    with pytest.raises(TrainError, match=r"width=32: the run in .* has 8, which cannot change"):
        train(resumed(run, width=32))
    with pytest.raises(TrainError, match="holds a run already"):
        train(tiny(run))
    with pytest.raises(TrainError, match="cannot resume"):
        train(resumed(tmp_path / "nowhere"))


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"workers": 0}, TrainError, "workers=0: must be at least 1"),
        ({"minutes": -1.0}, TrainError, r"minutes=-1\.0: must be above 0"),
        ({"seed": -1}, TrainError, "seed=-1"),
        ({"precision": "float16"}, TrainError, "precision=.float16.: must be float32 or bfloat16"),
        ({"rules": "nonsense"}, RulesError, "unknown rules preset"),
    ],
)
def test_a_bad_setting_is_named_before_anything_is_written(
    tmp_path: Path, changes: dict[str, Any], error: type[ValueError], message: str
) -> None:
    with pytest.raises(error, match=message):
        train(tiny(tmp_path / "run", **changes))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("rules", ["two_player", "num_players=7", "partnership"])
def test_other_games_train_as_well(tmp_path: Path, rules: str) -> None:
    train(tiny(tmp_path / "run", rules=rules, decisions=100, pad=rules == "num_players=7"))


def test_a_run_imitates_an_agent_at_first_and_then_learns_by_itself(tmp_path: Path) -> None:
    steady = tiny(tmp_path / "run", tables=64, width=64, lr=3e-3, lr_final=3e-3)
    run = train(steady.with_options(imitate="rule", imitate_decisions=20_000, decisions=24_000))
    lines = [line for line in read_metrics(run) if line["kind"] == "iteration"]
    assert [line["imitates"] for line in lines] == [
        line["decisions"] - lines[0]["decisions"] < 20_000 for line in lines
    ]
    taught = [line["policy_loss"] for line in lines if line["imitates"]]
    assert taught[0] > taught[-1] + 0.2, "less surprise at the agent's choices, in nats"
    assert [line["clip_fraction"] > 0 for line in lines] == [not line["imitates"] for line in lines]
    with pytest.raises(ValueError, match="nobody"):
        train(tiny(tmp_path / "other", imitate="nobody"))


@pytest.mark.parametrize("name", ["rule", "search:2"])
def test_what_is_imitated_are_the_agent_s_choices_at_decisions_of_the_one_that_learns(name: str) -> None:
    rules, teacher = compiled_rules(Rules()), make(name)
    plain, taught = (Rollout(rules, layout(rules), 30) for _ in range(2))
    plain.collect(np.arange(30), first_legal(rules))
    taught.collect(np.arange(30), first_legal(rules), teacher=teacher)
    held = slice(plain.size)
    assert (taught.packed[held] == plain.packed[held]).all(), "the policy plays, not the agent"
    assert (taught.actions[held] == plain.actions[held]).all()
    choices = taught.batch(1.0, 1.0).taught
    assert (taught.legal[held] >> choices & 1).all()
    assert 0.05 < (choices == plain.actions[held]).mean() < 0.7
    batch = plain.batch(1.0, 1.0)
    assert (batch.taught == batch.actions).all(), "without a teacher"


def test_one_network_learns_several_rules_by_turns_and_is_evaluated_under_each(tmp_path: Path) -> None:
    mixed = tiny(
        tmp_path / "run",
        also_rules=("num_players=3", "two_player", "standard"),
        pad=True,
        decisions=1500,
        ema_decisions=500,
    )
    with pytest.raises(TrainError, match=r"other numbers of players need a padded encoding: --pad"):
        train(mixed.with_options(pad=False))
    run = train(mixed)
    lines = read_metrics(run)
    per_deal = np.diff([0, *(line["decisions"] for line in lines if line["kind"] == "iteration")]) / 8
    of_four, of_three, of_two, again = per_deal[:4]
    assert of_two < 0.6 * of_four < 0.8 * of_three, "hands are larger, and two players have fewer in all"
    assert again == pytest.approx(of_four, rel=0.2)
    names = {"payoff/rule", "payoff/rule num_players=3", "payoff/best num_players=3"}
    assert names < {key for key in lines[-1] if key.startswith("payoff/")}
    assert "payoff/rule standard" not in lines[-1], "played twice as often, and evaluated once"
    assert make(f"net:{run}").name == f"net:{run}"
    for number in (2, 3, 4, 7):
        duplicate_payoffs(Rules(num_players=number), make(f"net:{run}"), "random", np.arange(2))


def test_the_running_line_shows_the_run_s_own_rules_and_an_evaluation_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_log, "_PLAIN_EVERY_S", -1)
    place = {"decisions": 9, "minutes": 1.0, "decisions_per_s": 5.0}
    met = {f"{key}/{name}": 1.5 for name in ("rule", "rule num_players=3", "random") for key in ("payoff", "payoff_se")}
    with contextlib.closing(RunLog(tmp_path, 0)) as told:
        told.evaluation({**place, **met})
        told.iteration(place, 0.5)
    evaluated, running = capsys.readouterr().out.splitlines()
    assert "rule num_players=3 +1.50 ± 1.50, random" in evaluated
    assert running.endswith("5/s  vs rule +1.50 ± 1.50  vs random +1.50 ± 1.50")


def test_workers_play_different_rules_at_the_same_time() -> None:
    config = tiny(Path(), workers=2, also_rules=("moon=none",))
    learners = [Learner(config, rank) for rank in range(2)]
    for iteration in range(2):
        for learner in learners:
            learner.iterate(iteration, 0, config.scheduled(Progress()))
        moons = [learner.rollout.rules.rules.moon for learner in learners]
        assert sorted(moons) == sorted([Rules().moon, "none"])


# -- what is on disk -------------------------------------------------------------------------------------------------


def test_a_full_disk_leaves_the_old_file_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_whole(path, b"old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CheckpointError, match=r"cannot write .*file: No space left .*; the one before is intact"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert [found.name for found in tmp_path.iterdir()] == ["file"]


def test_a_checkpoint_from_before_there_were_weights_for_players_has_the_last_ones(tmp_path: Path) -> None:
    learner, file = Learner(TINY), tmp_path / CHECKPOINT_NAME
    save_checkpoint(tmp_path, learner.parameters, torch.zeros(learner.parameters.size), Progress())
    tensors, header = read_tensors(file)
    kept = {name: tensor for name, tensor in tensors.items() if not name.startswith("shown.")}
    file.write_bytes(safetensors.numpy.save(kept, {"hearts": json.dumps(header)}))
    other = Learner(TINY.with_options(seed=1))
    published = torch.zeros(other.parameters.size)
    load_checkpoint(tmp_path, other.parameters, published)
    assert torch.equal(published, learner.parameters.weights)


def test_a_damaged_or_unfitting_checkpoint_is_refused(tmp_path: Path) -> None:
    learner = Learner(TINY)
    published = torch.zeros(learner.parameters.size)
    save_checkpoint(tmp_path, learner.parameters, published, Progress(decisions=5))
    assert load_checkpoint(tmp_path, learner.parameters, published).decisions == 5
    wide = Learner(TINY.with_options(width=16))
    with pytest.raises(CheckpointError, match="its checkpoint has width=8, the run needs 16"):
        load_checkpoint(tmp_path, wide.parameters, torch.zeros(wide.parameters.size))
    file = tmp_path / "checkpoint.safetensors"
    file.write_bytes(file.read_bytes()[:-7])
    with pytest.raises(CheckpointError, match="cut off or damaged"):
        load_checkpoint(tmp_path, learner.parameters, published)


def test_a_line_cut_off_by_a_kill_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text('{"kind": "iteration", "decisions": 1}\n{"kind": "ite')
    assert read_metrics(tmp_path) == [{"kind": "iteration", "decisions": 1}]
    with pytest.raises(CurveError, match="holds no evaluation yet"):
        plot(tmp_path)


# -- processes -------------------------------------------------------------------------------------------------------


class Worker:
    def __init__(self, rank: int) -> None:
        self.rank = rank

    def double(self) -> int:
        return 2 * self.rank

    def fail(self) -> None:
        if self.rank == 1:
            raise RuntimeError("no luck")

    def die(self) -> None:
        if self.rank == 1:
            os._exit(7)


def test_workers_run_a_task_together_and_the_pool_tells_who_failed_or_died() -> None:
    with ProcessPool(2, Worker) as pool:
        assert pool.each(Worker.double) == [0, 2]
        with pytest.raises(WorkerError, match=r"worker 1 has failed(?s:.*)no luck"):
            pool.each(Worker.fail)
    with ProcessPool(2, Worker) as pool:
        with pytest.raises(WorkerError, match=r"worker 1 has died \(exit code 7\)"):
            pool.each(Worker.die)
        with pytest.raises(WorkerError, match="worker 1 has died"):
            pool.each(Worker.double)


POOL = """
import os, signal
from hearts_train.run.process_pool import ProcessPool
from hearts_arena.interrupt import stop_requests
class Worker:
    def __init__(self, rank):
        if rank == 0:  # worker 1 is still starting
            os.killpg(os.getpgid(0), signal.SIGINT)
    def answer(self):
        return 7
if __name__ == "__main__":
    with stop_requests() as stop, ProcessPool(2, Worker) as pool:
        print(pool.each(Worker.answer), stop.is_set())
"""


def test_ctrl_c_while_workers_are_starting_ends_none_of_them(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(POOL)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, start_new_session=True, timeout=120)
    assert done.stdout.strip() == "[7, 7] True", done.stderr


SCRIPT = """
import sys
from pathlib import Path
from hearts_train.learn.network import HeartsNet, packed  # noqa: E402
from hearts_train import TrainConfig, train
if __name__ == "__main__":
    config = TrainConfig(out=Path(sys.argv[1]), minutes=5, tables=8)
    train(config.with_options(workers=2, width=8, blocks=1, minibatch=64,
                              eval_ids=4, eval_against=("random",), save_every_minutes=0.001))
"""


def started(tmp_path: Path) -> tuple[subprocess.Popen[str], Path, list[int]]:
    """A run of two workers in a process group of its own, once it is under way; and the ids of its processes."""
    script, run = tmp_path / "script.py", tmp_path / "run"
    script.write_text(SCRIPT)
    process = subprocess.Popen([sys.executable, script, run], stdout=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 200
    while len(read_metrics(run)) < 5 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.1)
    listing = subprocess.run(["ps", "-eo", "pid=,pgid="], capture_output=True, text=True, check=True).stdout
    ids = [int(line.split()[0]) for line in listing.splitlines() if int(line.split()[1]) == process.pid]
    assert len(ids) > 1
    return process, run, ids


def wait_until_gone(ids: list[int]) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        states = subprocess.run(["ps", "-o", "stat=", "-p", ",".join(map(str, ids))], capture_output=True, text=True)
        if not [state for state in states.stdout.split() if not state.startswith("Z")]:
            return
        time.sleep(0.1)
    raise AssertionError(f"still running: {ids}")


def test_ctrl_c_saves_and_ends_every_process(tmp_path: Path) -> None:
    process, run, ids = started(tmp_path)
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert "stopped at" in output
    assert f"saved in {run}" in output.replace("\n", "")
    HeartsNet.load(run)
    wait_until_gone(ids)


@pytest.mark.slow
def test_a_killed_run_leaves_no_process_and_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    process, run, ids = started(tmp_path)
    process.kill()
    process.communicate(timeout=30)
    wait_until_gone(ids)
    seen = [line["decisions"] for line in read_metrics(run)]
    target = seen[-1] + 1000
    train(resumed(run, decisions=target, minutes=10, workers=1))
    lines = read_metrics(run)
    decisions = [line["decisions"] for line in lines if line["kind"] == "iteration"]
    assert decisions == sorted(set(decisions)), "every step stands once"
    assert decisions[-1] >= target
    assert resumed(run).machine.workers == 1


@pytest.mark.slow
def test_a_short_run_beats_random_play_by_far(tmp_path: Path) -> None:
    config = TrainConfig(out=tmp_path / "run", decisions=250_000, tables=256)
    run = train(config.with_options(workers=1, minibatch=256, width=128))
    assert read_metrics(run)[-1]["payoff/random"] > 2


# -- torchrun ----------------------------------------------------------------------------------------------------------

TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "--no-python"]
HEARTS = [sys.executable, "-c", "import sys; from hearts_cli.main import main; sys.exit(main())", "train"]
SMALL = ["--workers", "1", "--tables", "8", "--width", "8", "--blocks", "1", "--minibatch", "64", "--eval-ids", "4"]
STEADY = ["--lr-final", "1e-3", "--entropy-final", "0.1"]


def under_torchrun(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*TORCHRUN, *HEARTS, *arguments], capture_output=True, text=True, timeout=400)


@pytest.mark.slow
def test_two_processes_of_torchrun_learn_what_two_workers_learn_also_resumed(tmp_path: Path) -> None:
    workers = train(tiny(tmp_path / "workers", workers=2, decisions=3000, lr_final=1e-3, entropy_final=0.1))
    run = tmp_path / "torchrun"
    first = under_torchrun("--out", str(run), "--decisions", "1500", *SMALL, *STEADY)
    assert first.returncode == 0, first.stderr
    assert first.stdout.count("done: ") == 1, "one process tells what comes of it"
    assert under_torchrun("--resume", str(run), "--decisions", "3000").returncode == 0
    lines = read_metrics(run)
    assert [line["processes"] for line in lines if line["kind"] == "session"] == [2, 2]
    assert lines[-1]["deals"] == read_metrics(workers)[-1]["deals"]
    assert lines[-1]["payoff/rule"] == read_metrics(workers)[-1]["payoff/rule"], (
        "each plays its share of the evaluation"
    )
    for name, tensor in HeartsNet.load(workers).state_dict().items():
        assert torch.equal(HeartsNet.load(run).state_dict()[name], tensor), name


def under_way(run: Path) -> tuple[subprocess.Popen[str], list[int]]:
    """A run of two processes of torchrun, and the ids of these two."""
    arguments = ["--out", str(run), "--minutes", "9", "--save-every-minutes", "0.001", *SMALL]
    process = subprocess.Popen(
        [*TORCHRUN, *HEARTS, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    deadline = time.monotonic() + 300
    while len(read_metrics(run)) < 5 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.1)
    listing = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    ids = [int(line.split()[0]) for line in listing.splitlines() if int(line.split()[1]) == process.pid]
    assert len(ids) == 2, process.communicate()[0]
    return process, sorted(ids)


@pytest.mark.slow
@pytest.mark.parametrize("asked", ["torchrun", "one process"])
def test_ctrl_c_for_one_saves_and_ends_all_processes_of_torchrun(tmp_path: Path, asked: str) -> None:
    process, ids = under_way(tmp_path / "run")
    os.kill(process.pid if asked == "torchrun" else ids[1], signal.SIGINT)
    output = process.communicate(timeout=120)[0]
    assert f"saved in {tmp_path / 'run'}" in output.replace("\n", "")
    wait_until_gone(ids)
    HeartsNet.load(tmp_path / "run")


@pytest.mark.slow
def test_a_killed_process_of_torchrun_ends_the_others_and_the_run_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    run = tmp_path / "run"
    process, ids = under_way(run)
    os.kill(ids[1], signal.SIGKILL)
    output = process.communicate(timeout=120)[0]
    assert process.returncode != 0
    assert "another process of the run has ended or cannot be reached" in output
    assert "Traceback" not in output.split("hearts: another")[0]
    wait_until_gone(ids)
    seen = read_metrics(run)[-1]["decisions"]
    train(resumed(run, decisions=seen + 500, minutes=None))
    assert read_metrics(run)[-1]["decisions"] >= seen + 500


@pytest.mark.slow
def test_what_is_wrong_is_told_once_and_ends_all_processes_of_torchrun(tmp_path: Path) -> None:
    done = under_torchrun("--out", str(tmp_path / "run"), "--rules", "nonsense", *SMALL)
    assert done.returncode != 0
    assert done.stderr.count("unknown rules preset") == 1
    assert "the first process of the run has failed" in done.stderr
