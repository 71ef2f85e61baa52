"""The network's file: what it is given back as, what is refused, and the agent that plays by it."""

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from safetensors.torch import load_file, save, save_file  # noqa: E402

from hearts_agents import AgentError, make  # noqa: E402
from hearts_agents.net.agent import Net, NetAgent, draw, softmax  # noqa: E402
from hearts_agents.net.weights import NetError, NetSpec  # noqa: E402
from hearts_env import Rules  # noqa: E402
from hearts_env.cards import bit, members  # noqa: E402
from hearts_env.executor import EXECUTORS, Executor, available, using  # noqa: E402
from hearts_env.game.compiled_rules import compiled_rules  # noqa: E402
from hearts_env.game.engine import deal, shuffle  # noqa: E402
from hearts_env.game.state import State  # noqa: E402
from hearts_env.game.view import View, view  # noqa: E402
from hearts_env.match.agent import policy  # noqa: E402
from hearts_env.match.play_match import play  # noqa: E402
from hearts_env.observe.encode import encode, encode_packed, layout  # noqa: E402
from hearts_train.learn.network import HeartsNet, packed  # noqa: E402


def small(**fields: object) -> NetSpec:
    return NetSpec(rules=fields.pop("rules", Rules()), width=8, blocks=1, **fields)


def agent_of(net: HeartsNet) -> NetAgent:
    return NetAgent(Net(net.spec, {name: tensor.detach().numpy() for name, tensor in net.state_dict().items()}))


def first_views(rules: Rules, tables: int = 64) -> View:
    compiled = compiled_rules(rules)
    state = State.empty(compiled, tables)
    deal(compiled, state, shuffle(compiled, np.arange(tables)), key=np.arange(tables))
    return view(compiled, state)


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "net.safetensors"
    path.write_bytes(packed(HeartsNet.fresh(small(rules=Rules.preset("omnibus")), seed=3)))
    return path


def test_a_network_comes_back_from_its_file_as_it_was(weights: Path) -> None:
    saved, loaded = HeartsNet.fresh(small(rules=Rules.preset("omnibus")), seed=3), HeartsNet.load(weights)
    assert loaded.spec == saved.spec
    for name, tensor in saved.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], tensor)


def test_a_run_directory_stands_for_its_weights(weights: Path) -> None:
    assert HeartsNet.load(weights.parent).spec == HeartsNet.load(weights).spec


def test_another_seed_gives_other_weights() -> None:
    one, two = (HeartsNet.fresh(small(), seed).stem.weight for seed in (0, 1))
    assert not torch.equal(one, two)


@pytest.mark.parametrize("rules", [Rules(num_players=n) for n in range(2, 8)], ids=lambda rules: rules.show())
def test_an_untrained_network_plays_whole_deals_legally_at_every_player_count(rules: Rules) -> None:
    for pad in (False, True):
        agent = agent_of(HeartsNet.fresh(small(rules=rules, pad=pad), seed=0))
        play(rules, [agent, make("random")], np.arange(rules.num_players) % 2, np.arange(30))


def test_a_padded_network_plays_with_another_number_of_players() -> None:
    agent = agent_of(HeartsNet.fresh(small(pad=True), seed=0))
    play(Rules(num_players=6), [agent], [0] * 6, np.arange(10))


def test_an_unpadded_network_refuses_another_number_of_players(weights: Path) -> None:
    agent = make(f"net:{weights}")
    with pytest.raises(NetError, match="trained for 4 players without padding and cannot play with 3"):
        agent.act(first_views(Rules(num_players=3)))


def test_scores_and_rules_mean_nothing_to_weights_that_have_never_seen_them() -> None:
    net = HeartsNet.fresh(small(), seed=0)
    rows = torch.from_numpy(encode(net.spec.layout, first_views(Rules())))
    other = rows.clone()
    for name in ("scores", "rules"):
        other[:, net.spec.layout[name]] ^= 1
    assert torch.equal(net(rows)[0], net(other)[0])


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize(("rules", "pad"), [("standard", False), ("six", True), ("two_player", False)])
def test_numpy_and_torch_give_the_same_outputs(executor: Executor, rules: str, pad: bool) -> None:
    if executor not in available():
        pytest.skip("the compiled executor needs numba, from the extra fast")
    seen = first_views(Rules.parse(rules))
    torch_net = HeartsNet.fresh(NetSpec(rules=seen.rules.rules, pad=pad, width=32, blocks=2), seed=1)
    with torch.no_grad():
        for parameter in torch_net.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(2)))
        expected, values = torch_net(torch.from_numpy(encode(torch_net.spec.layout, seen)))
    with using(executor):
        logits, mine = agent_of(torch_net).net.outputs(encode_packed(torch_net.spec.layout, seen))
    legal = members(seen.legal, logits.shape[1]).astype(bool)
    assert logits[legal] == pytest.approx(expected.numpy()[legal], rel=1e-4, abs=1e-3)
    assert mine == pytest.approx(values.numpy(), rel=1e-4, abs=1e-3)
    assert softmax(logits, legal) == pytest.approx(expected.softmax(1).numpy(), abs=1e-3)


def test_the_shapes_of_a_file_are_those_of_the_network_in_torch() -> None:
    spec = small(pad=True)
    state = HeartsNet.fresh(spec, 0).state_dict()
    assert {name: tuple(tensor.shape) for name, tensor in state.items()} == spec.shapes


def test_illegal_actions_have_no_probability() -> None:
    seen = first_views(Rules())
    net = HeartsNet.fresh(small(), seed=0)
    logits, values = net(torch.from_numpy(encode(layout(seen.rules), seen)))
    chances = logits.softmax(1).detach().numpy()
    legal = (seen.legal[:, None] >> np.arange(chances.shape[1]) & 1).astype(bool)
    assert (chances[~legal] == 0).all()
    assert (chances[legal] > 0).all()
    assert values.shape == (len(seen),)


@pytest.mark.parametrize("uniform", [0.0, 0.5, 1 - 2.0**-24])
def test_only_actions_of_some_probability_are_drawn_even_at_the_ends(uniform: float) -> None:
    logits = np.float32([[0.0, 0.0, 3.0, 1.0, 0.0]]) + np.random.default_rng(0).random((1000, 1), np.float32)
    chances = softmax(logits, np.array([[False, True, False, True, False]]))
    assert set(draw(chances, np.full(1000, uniform, np.float32)).tolist()) <= {1, 3}


def test_actions_are_drawn_as_often_as_their_probability_says() -> None:
    logits = np.tile(np.log(np.float32([0.1, 0.2, 1e-30, 0.7])), (40000, 1))
    chances = softmax(logits, np.ones((1, 4), np.bool_))
    drawn = np.bincount(draw(chances, (np.arange(40000, dtype=np.float32) + 0.5) / 40000), minlength=4) / 40000
    assert drawn.tolist() == pytest.approx([0.1, 0.2, 0.0, 0.7], abs=1e-3)


def test_a_sampling_agent_draws_the_same_in_any_order(weights: Path) -> None:
    agent, seen = make(f"net:{weights}?sample"), first_views(Rules.preset("omnibus"))
    order = np.random.default_rng(0).permutation(len(seen))
    actions = agent.act(seen)
    assert (agent.act(seen.take(order)) == actions[order]).mean() > 0.95  # floats may differ in the last bits
    assert (bit(actions) & seen.legal).all()
    assert (make(f"net:{weights}").act(seen) != actions).any()


def test_a_sampling_agent_says_the_probabilities_that_it_draws_from(weights: Path) -> None:
    agent, one = make(f"net:{weights}?sample"), first_views(Rules.preset("omnibus"), 1)
    many = one.take(np.zeros(20000, np.int64))
    many.table_key[:] = np.arange(20000)
    chances = policy(agent, many)
    assert (chances == chances[0]).all(axis=1).mean() > 0.9  # floats may differ in the last bits
    drawn = np.bincount(agent.act(many), minlength=chances.shape[1]) / len(many)
    assert drawn == pytest.approx(chances[0], abs=0.02)
    greedy = make(f"net:{weights}")
    assert (policy(greedy, one).argmax(axis=1) == greedy.act(one)).all()
    assert policy(greedy, one).max() == 1


def test_missing_weights_are_named() -> None:
    with pytest.raises(AgentError, match=r"no weights at nowhere/net\.safetensors|no weights at nowhere"):
        make("net:nowhere")


@pytest.mark.parametrize("keep", [0, 5, 100, -1])
def test_a_truncated_file_is_refused_in_a_sentence(weights: Path, keep: int) -> None:
    weights.write_bytes(weights.read_bytes()[:keep])
    with pytest.raises(NetError, match="cut off or damaged"):
        HeartsNet.load(weights)


def test_a_foreign_file_is_refused(tmp_path: Path) -> None:
    save_file({"a": torch.zeros(3)}, tmp_path / "foreign.safetensors")
    with pytest.raises(NetError, match="was not written by `hearts train`"):
        HeartsNet.load(tmp_path / "foreign.safetensors")


def changed_header(weights: Path, **changes: object) -> None:
    spec = {**HeartsNet.load(weights).spec.to_json(), **changes}
    weights.write_bytes(save(load_file(weights), {"hearts": json.dumps(spec)}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "hearts-net/9"}, "has format 'hearts-net/9'"),
        ({"encoding_version": 999}, "reads encodings of version 999, this package writes"),
        ({"inputs": 7}, "reads 7 bytes, this package encodes its rules in"),
        ({"rules": {"num_players": 99}}, "its header is damaged"),
        ({"width": 10**9}, "do not match its header"),
        ({"blocks": "many"}, "its header is damaged"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_with_the_difference(
    weights: Path, changes: dict[str, object], message: str
) -> None:
    changed_header(weights, **changes)
    with pytest.raises(NetError, match=message):
        HeartsNet.load(weights)


def test_weights_that_are_not_numbers_are_refused(weights: Path) -> None:
    net = HeartsNet.load(weights)
    with torch.no_grad():
        net.value.bias.fill_(float("nan"))
    weights.write_bytes(packed(net))
    with pytest.raises(NetError, match="not finite"):
        HeartsNet.load(weights)


def test_values_are_in_points_whatever_the_scale_of_the_reward(tmp_path: Path) -> None:
    """The file tells the scale; one that doesn't, as from an earlier version, has a tenth."""
    views, path = first_views(Rules()), tmp_path / "net.safetensors"
    fresh = HeartsNet.fresh(small(reward_scale=0.5), seed=0)
    path.write_bytes(packed(fresh))
    half = NetAgent(Net.load(path)).values(views)
    assert half == pytest.approx(Net.load(path).outputs(encode_packed(fresh.spec.layout, views))[1] * 2)
    header = fresh.spec.to_json()
    path.write_bytes(save(load_file(path), {"hearts": json.dumps(header | {"reward_scale": 0})}))
    with pytest.raises(NetError, match="reward_scale"):
        Net.load(path)
    del header["reward_scale"]
    path.write_bytes(save(load_file(path), {"hearts": json.dumps(header)}))
    assert NetAgent(Net.load(path)).values(views) == pytest.approx(half * 5)
