"""`check_rules`: that a set of rules can be written, read and played, with the same results by every executor."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from hearts_env.cards import NO_SEAT, NUM_CARDS, Bytes, cards_in, choose, count, parse_card
from hearts_env.executor import available, using
from hearts_env.game.compiled_rules import CompiledRules, compiled_rules
from hearts_env.game.engine import deal, legal, shuffle, single_deal_no, step
from hearts_env.game.rules import Rules
from hearts_env.game.state import PLAY, State
from hearts_env.game.view import view
from hearts_env.observe.encode import action_mask, encode, layout
from hearts_env.testing.contract import Contract


def check_rules(rules: Rules | str, *, deals: int = 64, seed: int = 0) -> None:
    """Raise ContractError unless rules can be written and read again, and deals can be played by them.

    Random deals: every card is dealt once, someone can always act, all cards are played, the points are those of the
    captured cards where nobody shoots the moon, the encoding shows the legal actions, and all executors that can run
    here agree to the last bit.

    Args:
        rules: Rules, or text for `Rules.parse`.
        deals: how many are played.
        seed: of the deals and of the play.

    Raises:
        ContractError: that names the rules and what is wrong with them.
        RulesError: for text that is none.
    """
    game = Rules.parse(rules) if isinstance(rules, str) else rules
    with Contract(f"rules {game.show()}") as contract:
        _check_text(contract, game)
        played = []
        for name in available():
            with using(name):
                played.append((name, *_play(contract, compiled_rules(game), deals, seed)))
        (first, state, seen), *others = played
        for other, theirs, their_seen in others:
            differ = [field.name for field in fields(State) if not _equal(state, theirs, field.name)]
            differ += [] if np.array_equal(seen, their_seen) else ["encodings"]
            contract.require(not differ, f"executors {first} and {other} differ in {', '.join(differ)}")


def _check_text(contract: Contract, rules: Rules) -> None:
    for words, again in (
        ("parse(show())", Rules.parse(rules.show())),
        ("from_dict(changes())", Rules.from_dict(rules.changes())),
    ):
        contract.require(again == rules, f"{words} gives {again.show()}")
        contract.require(hash(again) == hash(rules), f"{words} is equal and has another hash")


def _play(contract: Contract, game: CompiledRules, deals: int, seed: int) -> tuple[State, Bytes]:
    """The tables at the end of random deals, and an encoding of each from the middle of its deal."""
    chance = np.random.default_rng(seed)
    ids = chance.integers(2**62, size=deals, dtype=np.int64)
    hands, state = shuffle(game, ids), State.empty(game, deals)
    _check_hands(contract, game, hands)
    deal(game, state, hands, deal_no=single_deal_no(game, ids), key=ids)
    seen = np.zeros((0, 0), np.uint8)
    picks = game.num_players * game.pass_count
    most = picks + game.num_plays + 1
    for number in range(most + 1):
        over = state.over
        if over.all():
            break
        contract.require(number < most, f"a deal is not over after {most} actions")
        actions = legal(game, state)
        contract.require(bool((actions[~over] != 0).all()), f"nobody can act after {number} actions")
        _check_hand_holds(contract, state, actions)
        if number == most // 2:
            seen = _seen(contract, game, state)
        step(game, state, choose(actions, chance.random(deals)))
    _check_points(contract, game, state)
    return state, seen


def _check_hands(contract: Contract, game: CompiledRules, hands: np.ndarray) -> None:
    whole = np.bitwise_or.reduce(hands, axis=1)
    sizes = count(hands)
    contract.require(bool((sizes == game.hand_size).all()), f"hands have {sizes.min()} to {sizes.max()} cards")
    contract.require(bool((count(whole) == game.num_plays).all()), "a card is dealt twice")
    contract.require(bool((whole & ~game.deck == 0).all()), "a card is dealt that is not in the pack")


def _check_hand_holds(contract: Contract, state: State, actions: np.ndarray) -> None:
    """Check that cards that are legal to play are in the hand of the seat to act."""
    rows = np.flatnonzero(state.phase == PLAY)
    held = state.hands[rows, state.turn[rows]]
    contract.require(bool((actions[rows] & ~held == 0).all()), "a card is legal that is not in the hand")


def _seen(contract: Contract, game: CompiledRules, state: State) -> Bytes:
    where, views = layout(game), view(game, state)
    seen = encode(where, views)
    contract.require(seen.shape == (len(state), where.size), f"encodings are {seen.shape}")
    contract.require(bool((seen <= 1).all()), "an encoding has a byte that is neither 0 nor 1")
    contract.require(
        np.array_equal(seen[:, where["legal"]], action_mask(views.legal)), "encodings do not show the legal actions"
    )
    return seen


def _check_points(contract: Contract, game: CompiledRules, state: State) -> None:
    """Where nobody has shot the moon, the points are those of the cards, and of seats without a trick."""
    rules = game.rules
    worth = np.zeros(NUM_CARDS, np.int64)
    for name, value in rules.card_points:
        worth[parse_card(name)] += value
    if rules.bonus_card:
        worth[parse_card(rules.bonus_card)] += rules.bonus_points
    captured = np.bitwise_or.reduce(state.taken, axis=1)
    contract.require(bool((count(captured) == game.num_plays).all()), "a deal is over with cards that nobody captured")
    idle = (state.taken == 0).sum(axis=1) * rules.no_tricks_bonus
    for row in np.flatnonzero(state.shooter == NO_SEAT):
        expected = int(worth[cards_in(int(captured[row]))].sum() + idle[row])
        found = int(state.points[row].sum())
        contract.require(found == expected, f"a deal is worth {found} points, and its cards {expected}")


def _equal(one: State, other: State, name: str) -> bool:
    mine, theirs = getattr(one, name), getattr(other, name)
    return mine.dtype == theirs.dtype and np.array_equal(mine, theirs)
