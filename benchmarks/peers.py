"""Our layers beside what else plays Hearts or cards from Python, all by turns in one process, at random.

What each was asked to do stands beside its number, and it is compared with those of our layers that do the same kind of
work.  Whatever is not installed is left out with a sentence; benchmarks/requirements-peers.txt has them all.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import io
import random
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

import comparison
import limit
from comparison import Entry, Unit
from hearts_bench.timing import Batch, Contender, Work, repeat
from hearts_env.executor import available
from hearts_env.game.rules import Rules

RESULTS = Path(__file__).parent / "results" / "peers.json"
PACKAGES = ("open_spiel", "Shimmy", "pettingzoo", "rlcard", "gym", "gym-hearts", "HeartsGym")
SEATS = 4
PAR = 26
"""OpenSpiel's returns are this less the points."""
CALLS = 50
"""Deals of a batch where one call plays a whole deal."""

chance = random.Random(0)


def any_of(actions: Any) -> int:
    """One of them, all equally likely."""
    return int(actions[int(chance.random() * len(actions))])


# -- OpenSpiel -------------------------------------------------------------------------------------------------------


def openspiel_loop() -> Batch:
    """Its C++ loop plays the whole deal."""
    import pyspiel

    game = pyspiel.load_game("hearts")
    bots = [pyspiel.make_uniform_random_bot(seat, seat + 1) for seat in range(SEATS)]

    def batch(first: int) -> Work:
        done = Work(0, 0, 0, 0)
        for seed in range(first, first + CALLS):
            state = game.new_initial_state()
            returns = pyspiel.evaluate_bots(state, bots, seed % (1 << 31))
            # One chance node for the direction of the pass, one a card.
            done += _work(returns, state.move_number() - 53)
        return done

    return batch


def openspiel_python(see: Callable[[Any, Any], None] = lambda state, seat: None) -> Batch:
    """A loop in Python: legal actions, a choice, apply."""
    import pyspiel

    game = pyspiel.load_game("hearts")

    def batch(first: int) -> Work:
        state = game.new_initial_state()
        decisions = 0
        while not state.is_terminal():
            if not state.is_chance_node():
                see(state, state.current_player())
                decisions += 1
            state.apply_action(any_of(state.legal_actions()))
        return _work(state.returns(), decisions)

    return batch


def openspiel_tensor() -> Batch:
    """The same, and the information state of the seat to act written into one numpy array."""
    import pyspiel
    from open_spiel.python.observation import make_observation

    kind = pyspiel.IIGObservationType(perfect_recall=True)
    return openspiel_python(make_observation(pyspiel.load_game("hearts"), kind).set_from)


def openspiel_environment() -> Batch:
    """Its environment for reinforcement learning."""
    from open_spiel.python import rl_environment

    env = rl_environment.Environment("hearts")

    def batch(first: int) -> Work:
        step, decisions = env.reset(), 0
        while not step.last():
            seat = step.observations["current_player"]
            step = env.step([any_of(step.observations["legal_actions"][seat])])
            decisions += 1
        return _work(step.rewards, decisions)

    return batch


def shimmy() -> Batch:
    """Shimmy's PettingZoo AEC environment around OpenSpiel's Hearts."""
    from shimmy.openspiel_compatibility import OpenSpielCompatibilityV0

    env = OpenSpielCompatibilityV0(game_name="hearts")

    def mask(seen: Any, info: Any) -> Any:
        # It counts the 53 chance nodes as moves too, and would truncate every deal after eleven decisions.
        env.game_length = 1
        return info["action_mask"]

    def batch(first: int) -> Work:
        decisions, _ = _agent_iter(env, first, mask)
        # Not from `last`, which counts a reward once more for each agent that was done before.
        return _work(env.game_state.returns(), decisions)

    return batch


def _work(returns: Any, decisions: int) -> Work:
    points = round(SEATS * PAR - sum(returns))
    return Work(1, decisions, int(points == PAR), PAR if points == PAR else 0)


# -- other environments ----------------------------------------------------------------------------------------------


def heartsgym() -> Batch:
    """HeartsGym's environment: all legal actions by asking for each, then step, which makes an observation."""
    env = importlib.import_module("HeartsGym").Hearts()

    def batch(first: int) -> Work:
        env.reset()
        decisions, done = 0, False
        while not done:
            _, _, done = env.step(any_of([card for card in range(13) if env.isActionValid(card)]))
            decisions += 1
        return Work(1, decisions, 0, 0)

    return batch


def gymhearts() -> Batch:
    """gym-hearts' environment: its observation is a dict with the legal cards."""
    module = importlib.import_module("gymhearts.env")

    class Chooser:
        def watch(self, *seen: Any) -> None:
            pass

        def move(self, seen: dict[str, Any]) -> int:
            # It sometimes knows of no legal card, such as a lead from a hand of hearts.
            return any_of(seen["valid_hand_cards"] or seen["hand_cards"])

    def batch(first: int) -> Work:
        env = module.HeartsEnv()
        env.enable_shooting_the_moon()
        for _ in range(SEATS):
            env.add_player(Chooser())
        env.start()
        decisions, over = 0, False
        while not over:
            _, _, _, info = env.step(env.move())
            decisions, over = decisions + 1, info["is_new_round"]
        return Work(1, decisions, 0, 0)

    return batch


def pettingzoo(module: str) -> Batch:
    """One of PettingZoo's card tables."""
    env = importlib.import_module(f"pettingzoo.classic.{module}").env()

    def batch(first: int) -> Work:
        decisions, _ = _agent_iter(env, first, lambda seen, info: seen["action_mask"])
        return Work(1, decisions, 0, 0)

    return batch


def rlcard(game: str) -> Batch:
    """One of RLCard's games through its own interface."""
    env = importlib.import_module("rlcard").make(game)

    def batch(first: int) -> Work:
        state, _ = env.reset()
        decisions = 0
        while not env.is_over():
            state, _ = env.step(any_of(list(state["legal_actions"])))
            decisions += 1
        return Work(1, decisions, 0, 0)

    return batch


def _agent_iter(env: Any, seed: int, mask: Callable[[Any, Any], Any]) -> tuple[int, list[float]]:
    """Play one AEC episode; decisions, and each agent's last reward."""
    env.reset(seed=seed % (1 << 31))
    decisions, rewards = 0, []
    for _ in env.agent_iter():
        seen, reward, terminated, truncated, info = env.last()
        if terminated or truncated:
            rewards.append(reward)
            env.step(None)
            continue
        env.step(any_of(mask(seen, info).nonzero()[0]))
        decisions += 1
    return decisions, rewards


# -- who is asked, and what for --------------------------------------------------------------------------------------

OPENSPIEL = Rules.preset("openspiel")
BARE, SEEING, SINGLE = ("engine",), ("encode",), ("aec", "encode")


@dataclass(frozen=True)
class Peer:
    """Who, how it is made, what it is asked to do, and which of our layers do that kind of work."""

    name: str
    make: Callable[[], Batch]
    asked: str
    layers: tuple[str, ...]
    unit: Unit = "deals"
    rules: Rules | None = None


PEERS = (
    Peer(
        "OpenSpiel, C++ loop",
        openspiel_loop,
        "its C++ evaluate_bots with its C++ random bots: one call from Python a deal, no observations",
        BARE,
        rules=OPENSPIEL,
    ),
    Peer(
        "OpenSpiel, Python loop",
        openspiel_python,
        "legal_actions, random choice, apply_action; no observations",
        BARE,
        rules=OPENSPIEL,
    ),
    Peer(
        "OpenSpiel, Python loop, tensor",
        openspiel_tensor,
        "the same, and the information state (5,088 floats) of the seat to act, written into one array by C++",
        SEEING,
        rules=OPENSPIEL,
    ),
    Peer(
        "OpenSpiel, rl_environment",
        openspiel_environment,
        "its Environment: reset and step; makes the information state of all four seats at every step",
        SINGLE,
        rules=OPENSPIEL,
    ),
    Peer(
        "Shimmy over OpenSpiel",
        shimmy,
        "PettingZoo AEC: reset, last, step, with information state and mask at every decision; its count of moves is "
        "put back at each, since it would else truncate a deal after eleven decisions",
        SINGLE,
        rules=OPENSPIEL,
    ),
    Peer(
        "HeartsGym",
        heartsgym,
        "its isActionValid for 13 places, random choice, step with observation; its game has no pass, and points may "
        "fall on the first trick",
        SINGLE,
    ),
    Peer(
        "gym-hearts",
        gymhearts,
        "its move and step with a dict as observation; its game has no pass",
        SINGLE,
    ),
    Peer(
        "RLCard bridge",
        lambda: rlcard("bridge"),
        "bridge, another game: reset, step, state with legal actions and observation",
        ("aec",),
        unit="decisions",
    ),
    Peer(
        "PettingZoo texas_holdem",
        lambda: pettingzoo("texas_holdem_v4"),
        "Texas hold'em, another game: AEC reset, last, step, with observation and mask",
        ("aec",),
        unit="decisions",
    ),
    Peer(
        "PettingZoo leduc_holdem",
        lambda: pettingzoo("leduc_holdem_v4"),
        "Leduc hold'em, another game: AEC reset, last, step, with observation and mask",
        ("aec",),
        unit="decisions",
    ),
)


def entry(peer: Peer) -> Entry:
    """That peer, ready.  Raises ImportError where it, or something that it needs, is missing."""
    # gym, which some are made of, complains about itself when it is imported.
    with contextlib.redirect_stderr(io.StringIO()):
        batch = peer.make()
    against = tuple(f"{layer} {executor}" for layer in peer.layers for executor in available())
    contender = Contender(peer.name, lambda first, seconds: repeat(batch, first, seconds))
    return Entry(contender, peer.asked, against, peer.unit, peer.rules)


def entries() -> tuple[list[Entry], list[str]]:
    """Ours, the limit and all peers that are here; and a sentence on each that is not."""
    found, left_out = comparison.ours("engine", "encode", "aec"), []
    try:
        found.append(limit.entry(limit.build()))
    except limit.LimitError as error:
        left_out.append(f"limit.c: {error}")
    for peer in PEERS:
        try:
            found.append(entry(peer))
        except ImportError as error:
            left_out.append(f"{peer.name}: {error}")
    return found, left_out


@dataclass(frozen=True)
class Compare:
    """Compare our layers with OpenSpiel, Shimmy, card tables of PettingZoo and RLCard, and other Hearts packages."""

    quick: bool = False
    """Runs of a tenth of a second, in place of runs of a second."""
    json: Path = RESULTS
    """Write the results there."""

    def run(self) -> int:
        """Measure, print, write."""
        warnings.simplefilter("ignore")
        found, left_out = entries()
        for sentence in left_out:
            print(f"peers.py: left out: {sentence}", file=sys.stderr)
        comparison.run(found, self.json, quick=self.quick, left_out=left_out, peer_versions=peer_versions())
        return 0


def peer_versions() -> dict[str, str]:
    """Versions of the peers that are installed."""
    found = {}
    for name in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


if __name__ == "__main__":
    sys.exit(tyro.cli(Compare).run())
