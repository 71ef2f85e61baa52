"""The compiled update against the plain one in torch: the same policy, the same gradient, the same learning."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numba", reason="the compiled update needs numba, from the extra fast")

from hearts_bench.learning import learning  # noqa: E402
from hearts_env.cards import lowest  # noqa: E402
from hearts_env.executor import Executor, using  # noqa: E402
from hearts_train.learn.compiled_update import ROWS  # noqa: E402
from hearts_train.learn.network import HeartsNet  # noqa: E402
from hearts_train.learn.parameters import FlatParameters, state_size  # noqa: E402
from hearts_train.learn.rollout import Batch  # noqa: E402
from hearts_train.ppo import Learner  # noqa: E402
from hearts_train.run.checkpoint import Progress, load_checkpoint, save_checkpoint  # noqa: E402
from hearts_train.run.config import TrainConfig  # noqa: E402

CONFIG = TrainConfig().with_options(workers=1, tables=48, width=32, blocks=2)
GAMES = ["standard", "two_player", "partnership", "omnibus"]
NETS = [
    {"blocks": 0},
    {"blocks": 1},
    {"blocks": 3},
    {"pad": True},
]


def learner(executor: Executor, **changes: Any) -> Learner:
    config = CONFIG.with_options(**changes)
    with using(executor):
        made = Learner(config)
        assert (made.compiled is not None) == (executor == "compiled")
        # Away from the start, where the policy is uniform and no unit of a bias is set.
        noise = torch.randn(made.parameters.size, generator=torch.Generator().manual_seed(1))
        with torch.no_grad():
            made.parameters.weights.add_(0.1 * noise)
    return made


def played(made: Learner) -> Batch:
    """Decisions of a policy, with advantages and probabilities that reach every branch of the loss."""
    made.rollout.collect(np.arange(made.config.tables), made.actor(np.random.default_rng(0)))
    batch = made.rollout.batch(0.95, 0.1)
    shift = np.random.default_rng(1).normal(scale=0.3, size=len(batch.actions)).astype(np.float32)
    return batch._replace(log_probs=batch.log_probs + shift)


@pytest.mark.parametrize("rules", GAMES)
@pytest.mark.parametrize("changes", [{}, {"pad": True}], ids=str)
def test_both_policies_draw_the_same_actions(rules: str, changes: dict[str, Any]) -> None:
    fast, plain = (learner(executor, rules=rules, **changes) for executor in ("compiled", "numpy"))
    batch = played(plain)
    assert fast.compiled is not None
    uniforms = np.random.default_rng(2).random(len(batch.actions), np.float32)
    seen = (batch.packed, batch.legal, uniforms)
    mine, theirs = fast.compiled.act(*seen), plain.act(*seen)
    same = mine[0] == theirs[0]
    assert same.mean() > 0.999, "rounding decides only where a draw falls between two actions"
    assert (batch.legal >> mine[0] & 1).all()
    assert mine[1][same] == pytest.approx(theirs[1][same], abs=1e-4)
    assert mine[2] == pytest.approx(theirs[2], abs=1e-4)


@pytest.mark.parametrize("rules", GAMES)
@pytest.mark.parametrize("changes", NETS)
def test_both_gradients_and_losses_agree(rules: str, changes: dict[str, Any]) -> None:
    fast, plain = (learner(executor, rules=rules, **changes) for executor in ("compiled", "numpy"))
    batch = played(plain)
    assert len(batch.actions) > ROWS, "more than one chunk, the last one smaller"
    terms = [made.gradient(batch, 0.02) for made in (fast, plain)]
    assert terms[0] == pytest.approx(terms[1], rel=1e-4, abs=1e-5)
    assert 0.2 < terms[0][4] < 0.8, "ratios on both sides of the clip"
    largest = float(plain.parameters.grad.abs().max())
    assert torch.allclose(fast.parameters.grad, plain.parameters.grad, rtol=1e-3, atol=1e-5 * largest)


def test_both_gradients_agree_where_a_teacher_is_imitated() -> None:
    fast, plain = (learner(executor) for executor in ("compiled", "numpy"))
    batch = played(plain)
    batch = batch._replace(taught=lowest(batch.legal))
    terms = [made.gradient(batch, 0.02, imitates=True) for made in (fast, plain)]
    assert terms[0] == pytest.approx(terms[1], rel=1e-4, abs=1e-5)
    assert terms[0][3:5] == [0, 0], "no ratio counts"
    largest = float(plain.parameters.grad.abs().max())
    assert torch.allclose(fast.parameters.grad, plain.parameters.grad, rtol=1e-3, atol=1e-5 * largest)


def test_in_bfloat16_gradient_and_policy_are_about_the_same() -> None:
    plain = learner("numpy")
    config = CONFIG.with_options(precision="bfloat16")
    rough = Learner(config)
    assert rough.compiled is None, "the compiled update knows float32 alone"
    rough.parameters.state.copy_(plain.parameters.state)
    batch = played(plain)
    seen = (batch.packed, batch.legal, np.full(len(batch.actions), 0.5, np.float32))
    mine, theirs = rough.act(*seen), plain.act(*seen)
    assert mine[2] == pytest.approx(theirs[2], abs=0.1)
    assert (mine[0] == theirs[0]).mean() > 0.9
    assert {column.dtype for column in mine} == {column.dtype for column in theirs}
    terms = [made.gradient(batch, 0.02) for made in (rough, plain)]
    assert terms[0] == pytest.approx(terms[1], rel=0.05, abs=0.02)
    assert rough.parameters.grad.dtype == torch.float32
    assert float(torch.cosine_similarity(rough.parameters.grad, plain.parameters.grad, dim=0)) > 0.99


def test_a_gradient_is_added_to_the_one_that_stands() -> None:
    made = learner("compiled")
    batch = played(made)
    made.gradient(batch, 0.02)
    once = made.parameters.grad.clone()
    made.gradient(batch, 0.02)
    assert torch.allclose(made.parameters.grad, 2 * once, rtol=1e-4, atol=1e-6)


def test_actions_of_almost_no_probability_give_finite_gradients() -> None:
    fast, plain = (learner(executor) for executor in ("compiled", "numpy"))
    for made in (fast, plain):
        with torch.no_grad():
            made.net.policy.weight.mul_(1000)
    batch = played(plain)
    batch = batch._replace(actions=lowest(batch.legal))
    terms = [made.gradient(batch, 0.02) for made in (fast, plain)]
    assert terms[0] == pytest.approx(terms[1], rel=1e-3)
    assert terms[0][3] > 10, "the policy has moved far away from these actions"
    assert fast.parameters.grad.isfinite().all()


def test_both_learn_the_same_from_the_same_deals() -> None:
    fast, plain = (learner(executor, minibatch=128) for executor in ("compiled", "numpy"))
    metrics = [made.iterate(0, 0, made.config.scheduled(Progress())) for made in (fast, plain)]
    assert metrics[0]["decisions"] == metrics[1]["decisions"]
    for name in ("policy_loss", "value_loss", "entropy", "kl", "grad_norm", "explained_variance"):
        assert metrics[0][name] == pytest.approx(metrics[1][name], rel=0.01, abs=1e-3), name
    assert torch.allclose(fast.parameters.weights, plain.parameters.weights, atol=2e-3)


# -- one vector --------------------------------------------------------------------------------------------------------


def test_a_flat_network_is_the_network_that_it_was() -> None:
    spec = CONFIG.spec
    net, same = HeartsNet.fresh(spec, 0), HeartsNet.fresh(spec, 0)
    flat = FlatParameters(net)
    for name, tensor in same.state_dict().items():
        assert torch.equal(net.state_dict()[name], tensor)
        assert torch.equal(flat.named(flat.state)[name], tensor)
    assert flat.state.numel() == state_size(spec)
    assert float(flat.weights.detach().abs().sum()) == pytest.approx(
        sum(float(tensor.abs().sum()) for tensor in same.state_dict().values()), rel=1e-5
    )


def test_a_step_of_adam_on_the_vector_is_one_on_the_parameters() -> None:
    spec = CONFIG.spec
    net, same = HeartsNet.fresh(spec, 0), HeartsNet.fresh(spec, 0)
    optimizers = [FlatParameters(net).adam(), torch.optim.Adam(same.parameters(), eps=1e-5)]
    rows = torch.randint(0, 2, (64, spec.layout.size), dtype=torch.uint8)
    for _ in range(3):
        for each, optimizer in zip((net, same), optimizers, strict=True):
            optimizer.zero_grad(set_to_none=False)
            logits, values = each(rows)
            (logits.log_softmax(1)[:, 0].mean() + values.square().mean()).backward()
            optimizer.step()
    for name, tensor in same.state_dict().items():
        assert torch.allclose(net.state_dict()[name], tensor, atol=1e-5), name


def test_a_checkpoint_holds_moments_by_the_name_of_the_parameter(tmp_path: Path) -> None:
    made = learner("compiled")
    made.iterate(0, 0, made.config.scheduled(Progress()))
    save_checkpoint(tmp_path, made.parameters, made.parameters.weights, Progress())
    other = learner("numpy", seed=5)
    load_checkpoint(tmp_path, other.parameters, torch.zeros(other.parameters.size))
    assert torch.equal(other.parameters.state, made.parameters.state)
    assert float(made.parameters.state[-1]) > 0


def test_the_benchmark_of_learning_tells_where_the_time_goes() -> None:
    results = learning(CONFIG.with_options(tables=8), ("compiled", "numpy"))
    for result in results:
        assert result.decisions_per_s == pytest.approx(1e6 / sum(result.microseconds.values()), rel=0.5)
        assert {"rollout: network", "update: forward", "update: backward"} < result.microseconds.keys()
        assert result.products > 0
