"""What a seat cannot see, for guesses and a critic: what is true, what is asked, and that players get none of it."""

import dataclasses
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from safetensors.torch import load_file  # noqa: E402

from hearts_agents import make  # noqa: E402
from hearts_agents.net.weights import read_net  # noqa: E402
from hearts_env.cards import BLACK_MARIA, NUM_CARDS, Bools, Sets, cards_in  # noqa: E402
from hearts_env.game.engine import step  # noqa: E402
from hearts_env.game.view import view  # noqa: E402
from hearts_env.observe.blocks import POINT_STEPS  # noqa: E402
from hearts_env.observe.encode import WORD_BITS, unpack  # noqa: E402
from hearts_train import train  # noqa: E402
from hearts_train.learn.auxiliary_targets import (  # noqa: E402
    ENDING,
    asked_and_true,
    critic_words,
    endings,
    from_seat,
    num_guesses,
    seen_by_critic,
    unseen,
)
from hearts_train.learn.network import HeartsNet  # noqa: E402
from hearts_train.ppo import Learner, _loss_metrics  # noqa: E402
from hearts_train.run.checkpoint import Progress  # noqa: E402
from hearts_train.run.config import TrainConfig, resumed  # noqa: E402
from hearts_train.run.log import read_metrics  # noqa: E402
from tables import random_actions, random_pair  # noqa: E402

TINY = TrainConfig(decisions=600, workers=1, tables=8, width=8, blocks=1, minibatch=64, eval_ids=4, aux=0.1)


def guessing(rules: str, tables: int = 40, **changes: object) -> Learner:
    config = dataclasses.replace(TINY, rules=rules, tables=tables, **changes)  # type: ignore[arg-type]
    learner = Learner(config)
    learner.rollout.collect(np.arange(tables), learner._policy(np.random.default_rng(0)))
    return learner


# -- what is true ------------------------------------------------------------------------------------------------------


def named(numbers: Bools, seats: int) -> list[dict[tuple[int, object], bool]]:
    """A row of outputs as what they say: (seat, card or ENDING) -> bool."""
    keys = [(seat, guess) for seat in range(seats) for guess in (*range(NUM_CARDS), *ENDING)][NUM_CARDS:]
    return [dict(zip(keys, row.tolist(), strict=True)) for row in numbers]


@pytest.mark.parametrize("rules", ["standard", "two_player", "num_players=7", "omnibus"])
@pytest.mark.parametrize("pad", [False, True])
def test_a_guess_is_true_where_the_seat_holds_the_card_and_asked_of_unseen_cards_alone(rules: str, pad: bool) -> None:
    learner = guessing(rules, pad=pad)
    info, form, batch = learner.rollout.lookup, learner.rollout.layout, learner.rollout.batch(0.95, 0.1)
    asked, true = (named(bits, form.seats) for bits in asked_and_true(batch.unseen, batch.endings, form.seats))
    assert len(asked[0]) == num_guesses(form.seats)
    seen = unpack(form, batch.packed)
    for row in range(0, len(seen), 97):
        out = np.flatnonzero(seen[row, form["out"]])
        held = {card: [s for s in range(1, info.num_players) if true[row][s, card]] for card in out.tolist()}
        assert sum(not seats for seats in held.values()) == info.rules.dead_cards
        assert all(len(seats) <= 1 for seats in held.values()), "a card lies in one hand"
        of_cards = {key for key, is_asked in asked[row].items() if is_asked and isinstance(key[1], int)}
        assert of_cards == {(seat, card) for seat in range(1, info.num_players) for card in out}
        assert {key[0] for key, is_asked in asked[row].items() if is_asked} == set(range(info.num_players))


@pytest.mark.parametrize("seed", range(20))
def test_hands_and_endings_are_those_of_an_independent_game_under_any_rules(seed: int) -> None:
    chance = random.Random(seed)
    pair = random_pair(chance, 8)
    seats = pair.lookup.num_players
    while not pair.state.over.all():
        for row in np.flatnonzero(~pair.state.over):
            one, game = pair.state.take(np.array([row])), pair.deals[row]
            own, *others = [game.hands[(game.turn + seat) % seats] for seat in range(seats)]
            cards = unseen(one, view(pair.lookup, one).out)[0]
            assert set(cards_in(cards[0])) == set(game.dead).union(*others)
            assert [set(cards_in(hand)) for hand in cards[1:]] == others
            assert not set(cards_in(cards[0])) & own
        actions = random_actions(chance, pair.lookup, pair.state)
        going = np.flatnonzero(~pair.state.over)
        part = pair.state.take(going)
        step(pair.lookup, part, actions[going])
        pair.state.put(going, part)
        for row in going:
            pair.deals[row].step(int(actions[row]))
    for game, ending in zip(pair.deals, endings(pair.lookup, pair.state), strict=True):
        for seat in range(seats):
            told = dict(zip(ENDING, (bool(ending[seat] >> bit & 1) for bit in range(len(ENDING))), strict=True))
            assert told.pop("takes QS") == (BLACK_MARIA in game.taken[seat])
            assert told.pop("shoots the moon") == (game.shooter == seat)
            assert list(told.values()) == [game.points[seat] >= least for least in POINT_STEPS]


@pytest.mark.parametrize("rules", ["standard", "two_player", "num_players=7"])
@pytest.mark.parametrize("pad", [False, True])
def test_a_critic_sees_what_the_seat_sees_and_all_other_hands(rules: str, pad: bool) -> None:
    learner = guessing(rules, pad=pad)
    info, form, batch = learner.rollout.lookup, learner.rollout.layout, learner.rollout.batch(0.95, 0.1)
    seen = seen_by_critic(form, batch.packed, batch.unseen)
    assert seen.shape == (len(batch.actions), critic_words(form))
    assert (seen[:, : form.words] == batch.packed).all()
    hands = seen[:, form.words :]
    assert (hands[:, : info.num_players - 1] == batch.unseen[:, 1:]).all()
    assert not hands[:, info.num_players - 1 :].any(), "seats that are not there hold nothing"
    bits = learner._seen_by_critic(batch.packed, batch.unseen).numpy()
    for row in range(0, len(seen), 97):
        words = bits[row].reshape(-1, WORD_BITS)[form.words :]
        assert [np.flatnonzero(word).tolist() for word in words] == [cards_in(int(hand)) for hand in hands[row]]


def test_every_seat_counts_the_endings_from_itself() -> None:
    columns = np.array([[10, 11, 12, 13]] * 4)
    assert from_seat(columns, np.arange(4)).tolist() == [
        [10, 11, 12, 13],
        [11, 12, 13, 10],
        [12, 13, 10, 11],
        [13, 10, 11, 12],
    ]
    rollout = guessing("standard").rollout
    batch = rollout.batch(1.0, 1.0)
    outcome = np.array([hearts_points(row) for row in batch.endings])
    first = rollout.payoffs.reshape(-1)[rollout.chain[: rollout.size]]
    assert np.corrcoef(outcome, first)[0, 1] < -0.9, "many points are a bad payoff of the own seat"


def hearts_points(row: Sets) -> int:
    """How many steps of the points the first seat reaches."""
    return int(row[0] >> 2).bit_count()


# -- what is learned, and where it stands ------------------------------------------------------------------------------


def test_a_run_learns_to_guess_better_than_by_how_often_each_guess_is_true(tmp_path: Path) -> None:
    run = train(dataclasses.replace(TINY, out=tmp_path / "run", tables=64, width=32, decisions=30_000, lr_final=1e-3))
    losses = [line["guess_loss"] for line in read_metrics(run) if line["kind"] == "iteration"]
    batch = guessing("standard", tables=64).rollout.batch(1.0, 1.0)
    asked, true = asked_and_true(batch.unseen, batch.endings, 4)
    times = asked.sum(axis=0)
    share = np.clip((asked & true).sum(axis=0) / times, 1e-9, 1 - 1e-9)
    counting = -(times * (share * np.log(share) + (1 - share) * np.log(1 - share))).sum() / len(asked)
    assert losses[-1] < counting - 3 < losses[0]


EXTRAS = [{"critic": True}, {"aux": 0.0, "critic": True}, {"aux": 0.1}]


@pytest.mark.parametrize("extras", EXTRAS, ids=str)
def test_the_files_for_players_are_without_guesses_and_critic_and_the_agent_plays(
    tmp_path: Path, extras: dict[str, Any]
) -> None:
    steady = dataclasses.replace(TINY, **extras)
    run = train(dataclasses.replace(steady, out=tmp_path / "run", opponents=("past",), past_every_decisions=100))
    for file in (run / "net.safetensors", *(run / "past").iterdir()):
        spec, tensors = read_net(file)
        assert tensors.keys() == spec.shapes.keys()
    net = HeartsNet.load(run)
    assert (net.guess, net.critic, make(f"net:{run}").name) == (None, None, f"net:{run}")


@pytest.mark.parametrize("extras", EXTRAS, ids=str)
def test_a_resumed_run_with_guesses_or_a_critic_ends_as_if_it_had_never_stopped(
    tmp_path: Path, extras: dict[str, Any]
) -> None:
    steady = dataclasses.replace(TINY, lr_final=1e-3, entropy_final=0.1, ema_decisions=2000, **extras)
    whole = train(dataclasses.replace(steady, out=tmp_path / "whole", decisions=1600))
    part = train(dataclasses.replace(steady, out=tmp_path / "part", decisions=800))
    train(resumed(part, decisions=1600))
    for name in ("net.safetensors", "checkpoint.safetensors"):
        one, other = (load_file(run / name) for run in (part, whole))
        assert one.keys() == other.keys()
        assert all(torch.equal(one[key], other[key]) for key in one)


@pytest.mark.parametrize(("before", "after"), [(0.0, 0.1), (0.1, 0.0)])
def test_a_run_can_take_up_guesses_or_leave_them_off(tmp_path: Path, before: float, after: float) -> None:
    run = train(dataclasses.replace(TINY, out=tmp_path / "run", aux=before))
    old = HeartsNet.load(run).stem.weight.clone()
    train(resumed(run, decisions=1200, aux=after))
    lines = [line for line in read_metrics(run) if line["kind"] == "iteration"]
    assert [("guess_loss" in line) for line in (lines[0], lines[-1])] == [before > 0, after > 0]
    assert not torch.equal(HeartsNet.load(run).stem.weight, old)


@pytest.mark.parametrize("before", [False, True])
def test_a_run_can_take_up_a_critic_or_leave_it_off(tmp_path: Path, before: bool) -> None:
    run = train(dataclasses.replace(TINY, out=tmp_path / "run", critic=before))
    train(resumed(run, decisions=1200, critic=not before))
    lines = [line for line in read_metrics(run) if line["kind"] == "iteration"]
    assert [("critic_loss" in line) for line in (lines[0], lines[-1])] == [before, not before]


def test_a_critic_learns_what_depends_on_a_card_in_another_hand_and_the_value_cannot() -> None:
    learner = guessing("standard", tables=80, aux=0.0, critic=True, width=32)
    learner.optimizer.param_groups[0]["lr"] = 3e-3
    names, seen = _loss_metrics(learner.config), []
    for first in range(0, 80 * 60, 80):  # fresh deals at each step, so that none is learned by heart
        learner.rollout.collect(first + np.arange(80), learner._policy(np.random.default_rng(first)))
        batch = learner.rollout.batch(1.0, 1.0)
        holds_queen = (batch.unseen[:, 1] >> BLACK_MARIA & 1).astype(np.float32)
        batch = batch._replace(returns=holds_queen, advantages=np.zeros_like(holds_queen))
        terms = learner._gradient_step(batch, learner.config.pace(Progress()))
        seen.append(dict(zip(names, terms, strict=True)))
    value, critic = (np.mean([losses[name] for losses in seen[-10:]]) for name in ("value_loss", "critic_loss"))
    assert critic < 0.02 < 0.05 < value


def test_a_run_with_guesses_starts_from_any_weights_for_players(tmp_path: Path) -> None:
    first = train(dataclasses.replace(TINY, out=tmp_path / "first", aux=0.0))
    config = dataclasses.replace(TINY, out=tmp_path / "second", start=str(first), decisions=1, lr=1e-9, lr_final=1e-9)
    second = HeartsNet.load(train(config)).state_dict()
    for name, tensor in HeartsNet.load(first).state_dict().items():
        assert torch.allclose(second[name], tensor, atol=1e-6), name


def test_guesses_and_critic_change_neither_the_first_weights_nor_the_first_deals() -> None:
    plain, other = guessing("standard", aux=0.0), guessing("standard", critic=True)
    for name, tensor in plain.flat.named(plain.flat.state).items():
        assert torch.equal(other.flat.named(other.flat.state)[name], tensor), name
    assert (plain.rollout.actions[: plain.rollout.size] == other.rollout.actions[: other.rollout.size]).all()
