"""The network's file: what it is given back as, what is refused, and the agent that plays by it."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from safetensors.torch import load_file, save, save_file  # noqa: E402

from hearts_agents import AgentError, make  # noqa: E402
from hearts_agents.net import HeartsNet, NetAgent, NetError, NetSpec, draw, load_net, packed  # noqa: E402
from hearts_env import Rules  # noqa: E402
from hearts_env.agent import policy  # noqa: E402
from hearts_env.cards import bit  # noqa: E402
from hearts_env.encode import encode, layout  # noqa: E402
from hearts_env.engine import deal, shuffle  # noqa: E402
from hearts_env.lookup import lookup  # noqa: E402
from hearts_env.match import play  # noqa: E402
from hearts_env.state import State  # noqa: E402
from hearts_env.view import View, view  # noqa: E402


def small(**fields: object) -> NetSpec:
    return NetSpec(rules=fields.pop("rules", Rules()), width=8, blocks=1, **fields)


def first_views(rules: Rules, tables: int = 64) -> View:
    info = lookup(rules)
    state = State.empty(info, tables)
    deal(info, state, shuffle(info, np.arange(tables)), key=np.arange(tables))
    return view(info, state)


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "net.safetensors"
    path.write_bytes(packed(HeartsNet.fresh(small(rules=Rules.preset("omnibus")), seed=3)))
    return path


def test_a_network_comes_back_from_its_file_as_it_was(weights: Path) -> None:
    saved, loaded = HeartsNet.fresh(small(rules=Rules.preset("omnibus")), seed=3), load_net(weights)
    assert loaded.spec == saved.spec
    for name, tensor in saved.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], tensor)


def test_a_run_directory_stands_for_its_weights(weights: Path) -> None:
    assert load_net(weights.parent).spec == load_net(weights).spec


def test_another_seed_gives_other_weights() -> None:
    one, two = (HeartsNet.fresh(small(), seed).stem.weight for seed in (0, 1))
    assert not torch.equal(one, two)


@pytest.mark.parametrize("rules", [Rules(num_players=n) for n in range(2, 8)], ids=lambda rules: rules.show())
def test_an_untrained_network_plays_whole_deals_legally_at_every_player_count(rules: Rules) -> None:
    for pad in (False, True):
        agent = NetAgent(HeartsNet.fresh(small(rules=rules, pad=pad), seed=0))
        play(rules, [agent, make("random")], np.arange(rules.num_players) % 2, np.arange(30))


def test_a_padded_network_plays_with_another_number_of_players() -> None:
    agent = NetAgent(HeartsNet.fresh(small(pad=True), seed=0))
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


def test_illegal_actions_have_no_probability() -> None:
    seen = first_views(Rules())
    net = HeartsNet.fresh(small(), seed=0)
    logits, values = net(torch.from_numpy(encode(layout(seen.lookup), seen)))
    chances = logits.softmax(1).detach().numpy()
    legal = (seen.legal[:, None] >> np.arange(chances.shape[1]) & 1).astype(bool)
    assert (chances[~legal] == 0).all()
    assert (chances[legal] > 0).all()
    assert values.shape == (len(seen),)


@pytest.mark.parametrize("uniform", [0.0, 0.5, 1 - 2.0**-24])
def test_only_actions_of_some_probability_are_drawn_even_at_the_ends(uniform: float) -> None:
    logits = torch.tensor([[-1e9, 0.0, -1e9, 1.0, -1e9]]).repeat(1000, 1) + torch.rand(1000, 1)
    assert set(draw(logits, torch.full((1000,), uniform)).tolist()) <= {1, 3}


def test_actions_are_drawn_as_often_as_their_probability_says() -> None:
    logits = torch.tensor([0.1, 0.2, 0.0, 0.7]).log().repeat(40000, 1)
    drawn = draw(logits, (torch.arange(40000) + 0.5) / 40000).bincount(minlength=4) / 40000
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
    with pytest.raises(AgentError, match="needs weights"):
        make("net")


def test_without_torch_the_agent_names_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "hearts_agents.net")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(AgentError, match=r"needs torch: install the extra, pip install 'hearts_env\[train\]'"):
        make("net:anything")


@pytest.mark.parametrize("keep", [0, 5, 100, -1])
def test_a_truncated_file_is_refused_in_a_sentence(weights: Path, keep: int) -> None:
    weights.write_bytes(weights.read_bytes()[:keep])
    with pytest.raises(NetError, match="cut off or damaged"):
        load_net(weights)


def test_a_foreign_file_is_refused(tmp_path: Path) -> None:
    save_file({"a": torch.zeros(3)}, tmp_path / "foreign.safetensors")
    with pytest.raises(NetError, match="was not written by `hearts train`"):
        load_net(tmp_path / "foreign.safetensors")


def changed_header(weights: Path, **changes: object) -> None:
    spec = {**load_net(weights).spec.to_json(), **changes}
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
        load_net(weights)


def test_weights_that_are_not_numbers_are_refused(weights: Path) -> None:
    net = load_net(weights)
    with torch.no_grad():
        net.value.bias.fill_(float("nan"))
    weights.write_bytes(packed(net))
    with pytest.raises(NetError, match="not finite"):
        load_net(weights)
