"""The agent that plays by a trained network: the one in this package, or one from a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hearts_agents.learned import rules_beside, warn_once
from hearts_agents.net.weights import WEIGHTS_NAME, Floats, NetError, NetSpec, read_net, weights_file
from hearts_agents.settled.guard import undominated
from hearts_env.cards import NUM_ACTIONS, Bools, Ints, Sets, members
from hearts_env.executor import executed, in_threads, override
from hearts_env.game.rules import Rules
from hearts_env.game.view import View
from hearts_env.match.agent import Policy, uniform
from hearts_env.observe.encode import encode_packed, layout, unpack

SHIPPED = Path(__file__).with_name(WEIGHTS_NAME)
"""The weights of the agent `net`."""
SAMPLE = "?sample"
"""Written after `net` or a path, the agent draws its actions from the policy."""
ILLEGAL = -1e9
"""Logit of an illegal action: its probability is exactly 0, and unlike -inf it keeps the entropy finite."""
_ROWS = 1024
"""Decisions at a time: so many activations stay in a core's cache."""
_SALT = 0x4E7
"""So that it draws other numbers than the random agent, which an untrained network would else play like."""
_BELOW_ONE = np.float32(1 - 2.0**-20)


class Net:
    """A network that plays and does not learn: numpy's matrix products, and between them loops.

    One linear layer, residual blocks `h + relu(W h)`, and two linear heads, in float32.  `hearts_train.learn.network`
    has the same in torch; sums are rounded in another order there.  Without numba the first layer is a matrix
    product too.
    """

    def __init__(self, spec: NetSpec, tensors: Mapping[str, NDArray[np.float32]]) -> None:
        """tensors: of the names and shapes in `spec.shapes`."""
        self.spec = spec
        blocks = [f"blocks.{place}" for place in range(spec.blocks)]
        self._stem: Floats = np.ascontiguousarray(tensors["stem.weight"].T)
        self._stem_bias = tensors["stem.bias"]
        self._blocks = [(tensors[f"{block}.weight"].T, tensors[f"{block}.bias"]) for block in blocks]
        self._heads = np.concatenate([tensors["policy.weight"], tensors["value.weight"]]).T
        self._head_bias = np.concatenate([tensors["policy.bias"], tensors["value.bias"]])

    @staticmethod
    def load(path: Path) -> Net:
        """The network in a weights file or a run directory.  Raises NetError."""
        return Net(*read_net(path))

    def outputs(self, packed: Sets) -> tuple[Floats, Floats]:
        """Logits float32 [n, A], illegal actions among them, and values float32 [n], of packed encodings [n, words].

        Values are in units of the reward that was learned from.  In as many threads as `executor.use_threads` says;
        numpy's products may take more of their own.
        """
        out = np.empty((len(packed), NUM_ACTIONS + 1), np.float32)
        _forward(self, packed, out)
        return out[:, :NUM_ACTIONS], out[:, NUM_ACTIONS]

    def _loops(self, packed: Sets, out: Floats) -> None:
        from hearts_agents.net import kernels

        hidden = np.empty((len(packed), self.spec.width), np.float32)
        product = np.empty_like(hidden)
        kernels.stem(packed, self._stem, self._stem_bias, np.empty(len(self._stem), np.uint64), hidden)
        for weights, bias in self._blocks:
            np.matmul(hidden, weights, out=product)
            kernels.residual(product, bias, hidden, hidden)
        np.matmul(hidden, self._heads, out=out)
        kernels.add_bias(out, self._head_bias)

    def _arrays(self, packed: Sets, out: Floats) -> None:
        hidden = unpack(self.spec.layout, packed).astype(np.float32) @ self._stem + self._stem_bias
        np.maximum(hidden, 0, out=hidden)
        for weights, bias in self._blocks:
            hidden += np.maximum(hidden @ weights + bias, 0)
        np.matmul(hidden, self._heads, out=out)
        out += self._head_bias


@executed
def _forward(net: Net, packed: Sets, out: Floats) -> None:
    """Fill `out`, float32 [n, A + 1], with logits and values."""
    _by_parts(net._arrays, packed, out)


@override(_forward)
def _forward_compiled(net: Net, packed: Sets, out: Floats) -> None:
    _by_parts(net._loops, packed, out)


def _by_parts(forward: Callable[[Sets, Floats], None], packed: Sets, out: Floats) -> None:
    def some(rows: slice) -> None:
        for begin in range(rows.start, rows.stop, _ROWS):
            part = slice(begin, min(begin + _ROWS, rows.stop))
            forward(packed[part], out[part])

    in_threads(len(packed), some)


def softmax(logits: Floats, legal: Bools) -> Floats:
    """Probabilities float32 [n, A]: exactly 0 where not legal, bool [n, A]."""
    masked = np.where(legal, logits, np.float32(ILLEGAL))
    exponentials: Floats = np.exp(masked - masked.max(axis=1, keepdims=True))
    exponentials /= exponentials.sum(axis=1, keepdims=True)
    return exponentials


def draw(chances: Floats, uniforms: Floats) -> Ints:
    """Actions drawn from a policy, int64 [n].  chances: float32 [n, A].  uniforms: float32 [n] in [0, 1)."""
    heap = chances.cumsum(axis=1)
    mark = (uniforms * _BELOW_ONE)[:, None] * heap[:, -1:]
    # The first action whose heap passes the mark: an illegal one adds nothing to the heap, so it is never first.
    drawn: Ints = (heap <= mark).sum(axis=1)
    return drawn


class NetAgent:
    """Plays the most probable action of a network, or draws from its policy.

    Sums of floats depend a little on the size of the batch: between two actions that are equally good to the last
    bits, the choice may differ from batch to batch.
    """

    def __init__(
        self,
        net: Net,
        name: str = "net",
        *,
        sample: bool = False,
        settled: bool = False,
        rules: frozenset[Rules] = frozenset(),
    ) -> None:
        """sample: draw actions from the policy.  settled: never choose an action that another one dominates.

        rules: what it has learned besides the rules in its header.
        """
        self.name = name
        self.net = net
        self._sample = sample
        self._settled = settled
        self._rules = rules | {net.spec.rules}

    def learned(self, rules: Rules) -> bool:
        """Has the network been trained with these rules?"""
        return rules in self._rules

    def act(self, view: View) -> Ints:
        """A legal action for each view, int64 [N].  Raises NetError where the rules have another player count."""
        logits, legal = self._logits(view)
        if self._sample:
            return draw(softmax(logits, legal), uniform(view, _SALT).astype(np.float32))
        best: Ints = np.where(legal, logits, np.float32(ILLEGAL)).argmax(axis=1)
        return best

    def probabilities(self, view: View) -> Policy:
        """The probability of each action, float64 [N, A]; without `sample` all of it on the most probable action."""
        if self._sample:
            chances: Policy = softmax(*self._logits(view)).astype(np.float64)
            chances /= chances.sum(axis=1, keepdims=True)
            return chances
        certain: Policy = np.eye(NUM_ACTIONS)[self.act(view)]
        return certain

    def values(self, view: View) -> NDArray[np.float64]:
        """The payoff that each viewer may expect, in points, float64 [N].

        It has learned them at decisions with a choice, with copies of itself in the other seats.  In a game with scores
        they are what the deal adds to the chance to win, where `spec.games` says so.
        """
        _, values, _ = self._outputs(view)
        return values.astype(np.float64) / self.net.spec.reward_scale

    def _logits(self, view: View) -> tuple[Floats, Bools]:
        logits, _, legal = self._outputs(view)
        if self._settled:
            legal = members(undominated(view), NUM_ACTIONS).view(np.bool_)
        return logits, legal

    def _outputs(self, view: View) -> tuple[Floats, Floats, Bools]:
        """Logits float32 [N, A], values float32 [N], and which actions are legal, bool [N, A]."""
        spec = self.net.spec
        if not spec.pad and view.rules.num_players != spec.rules.num_players:
            raise NetError(
                f"agent {self.name!r} was trained for {spec.rules.num_players} players without padding and cannot "
                f"play with {view.rules.num_players}: train one with pad=True, or for {view.rules.num_players}"
            )
        if not self.learned(view.rules.rules):
            warn_once(self.name, view.rules.rules)
        packed = encode_packed(layout(view.rules, pad=spec.pad), view)
        return *self.net.outputs(packed), members(view.legal, NUM_ACTIONS).view(np.bool_)


def net_agent(name: str, *, settled: bool = True) -> NetAgent:
    """The agent `net` or `net:PATH`, either of them perhaps with `?sample`.  Raises NetError.

    settled: it never chooses an action that another one dominates.
    """
    sample = name.endswith(SAMPLE)
    # Whoever draws wants the policy as it was learned: to learn from it, or to measure it.
    return agent_from(weights_of(name), name, sample=sample, settled=settled and not sample)


def agent_from(path: Path, name: str, *, sample: bool = False, settled: bool = True) -> NetAgent:
    """The agent with the weights in a file or a run directory, which also tell what it has learned."""
    net, file = Net.load(path), weights_file(path)
    return NetAgent(net, name, sample=sample, settled=settled, rules=rules_beside(file, net.spec.rules))


def weights_of(name: str) -> Path:
    """The path of the weights of an agent `net...`; a name without `net` in front is a path itself."""
    path = name.removesuffix(SAMPLE)
    return SHIPPED if path == "net" else Path(path.removeprefix("net:"))
