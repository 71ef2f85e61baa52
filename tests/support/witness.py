"""The engine beside the oracle at the same tables: all that can be known compared after every action."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

import oracle
from hearts_env.cards import ACTION_NAMES, ADD, SUBTRACT
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.engine import deal, legal, step
from hearts_env.game.rules import Rules
from hearts_env.game.scoring import winners
from hearts_env.game.state import PHASE_NAMES, State
from hearts_env.text.notation import show_hand, show_position, show_suits
from tables import Hands, Pair, as_sets, random_actions

MOMENT = ("phase", "turn", "legal", "hand", "table", "taken", "broken", "voids", "scores")
"""Compared before every decision and once more after the last.  `hand` is that of the seat to act; `taken` tells
who won each trick, and is compared between tricks."""
RESULT = ("points", "scores", "winners", "shooter", "choice", "plays", "leaders", "picks", "start", "deal_no")
"""Compared when a deal is over; whether the game is over stands in `phase`."""
SETS = ("legal", "hand", "picks", "table", "taken", "start")
_BIT = tuple(1 << action for action in range(SUBTRACT + 1)).__getitem__


class DifferenceError(AssertionError):
    """Two witnesses differ: on what, their answers, the rules and the position."""


def difference(rules: Rules, position: str, answers: dict[str, dict[str, Any]]) -> DifferenceError:
    """The error that reports it.  answers: for each thing they differ on, what each witness says, by its name."""
    lines = [f"{' and '.join(answers)} differ"]
    for thing, said in answers.items():
        lines += [f"  {who}: {thing} {_shown(thing, answer)}" for who, answer in said.items()]
    return DifferenceError("\n".join([*lines, f"  rules: {rules.show()}", f"  position: {position}"]))


def _shown(thing: str, answer: Any) -> str:
    if thing == "legal":
        return show_hand(answer)
    if thing == "plays":
        return show_cards(answer)
    if thing not in SETS:
        return str(answer)
    return " / ".join(map(show_suits, answer if isinstance(answer, Sequence) else [answer]))


def show_cards(cards: Iterable[int]) -> str:
    return " ".join(ACTION_NAMES[card] for card in cards)


# -- tables for both -------------------------------------------------------------------------------------------------


def deal_next(pair: Pair, hands: Hands) -> None:
    """Deal on at every table, where a game is over a new one; number and scores are each witness's own."""
    pair.deals = [
        oracle.Deal(old.r, cards) if old.game_over else oracle.Deal(old.r, cards, old.deal_no + 1, old.scores)
        for old, cards in zip(pair.deals, hands, strict=True)
    ]
    deal(pair.compiled, pair.state, as_sets(hands))


# -- the comparison --------------------------------------------------------------------------------------------------


def play_out(pair: Pair, chance: random.Random) -> int:
    """Play every deal to its end by random legal actions and compare all the way; the number of decisions.

    Raises DifferenceError at the first that comes up.
    """
    start = pair.state.copy()
    decisions = 0
    playing = list(range(len(pair.deals)))
    while playing:
        ours = engine_moments(pair.compiled, pair.state)
        for row in playing:
            theirs = oracle_moment(pair.deals[row])
            if ours[row] != theirs:
                raise _difference(pair, start, row, MOMENT, ours[row], theirs)
        playing = _check_ended(pair, start, playing)
        actions = random_actions(chance, pair.compiled, pair.state)
        for row in playing:
            pair.deals[row].step(int(actions[row]))
        step(pair.compiled, pair.state, actions)
        decisions += len(playing)
    return decisions


def _check_ended(pair: Pair, start: State, playing: list[int]) -> list[int]:
    """Compare the results of the deals that are over; those that are not."""
    ended = [row for row in playing if pair.deals[row].phase == "over"]
    if not ended:
        return playing
    results = engine_results(pair.compiled, pair.state)
    for row in ended:
        theirs = oracle_result(pair.deals[row])
        if results[row] != theirs:
            raise _difference(pair, start, row, RESULT, results[row], theirs)
    return [row for row in playing if pair.deals[row].phase != "over"]


def engine_moments(rules: CompiledRules, state: State) -> list[tuple[Any, ...]]:
    """What the engine says before a decision, a row a table, in the order of MOMENT."""
    phases = [PHASE_NAMES[phase] for phase in state.phase.tolist()]
    hand = state.hands[np.arange(len(state)), state.turn]
    arrays = (state.turn, legal(rules, state), hand, state.table)
    taken = [cards if table == 0 else None for cards, table in zip(state.taken.tolist(), state.table, strict=True)]
    rest = (state.broken.tolist(), state.voids.tolist(), state.scores.tolist())
    return list(zip(phases, *(array.tolist() for array in arrays), taken, *rest, strict=True))


def oracle_moment(theirs: oracle.Deal) -> tuple[Any, ...]:
    """The same from the oracle."""
    over = "game over" if theirs.game_over else "deal over"
    return (
        over if theirs.phase == "over" else theirs.phase,
        theirs.turn,
        _set(theirs.legal()),
        _set(theirs.hands[theirs.turn]),
        _set([card for _, card in theirs.table]),
        None if theirs.table else list(map(_set, theirs.taken)),
        theirs.broken,
        sum([1 << 4 * seat + suit for seat, suits in enumerate(theirs.voids) for suit in suits]),
        theirs.scores or theirs.totals,
    )


def engine_results(rules: CompiledRules, state: State) -> list[tuple[Any, ...]]:
    """What the engine says when deals are over, a row a table, in the order of RESULT."""
    won = winners(rules, state.scores.astype(np.int64))
    arrays = (state.shooter, state.choice, state.plays, state.leaders, state.picks, state.start, state.deal_no)
    winning = [np.flatnonzero(row).tolist() for row in won]
    rest = (array.tolist() for array in arrays)
    return list(zip(state.points.tolist(), state.scores.tolist(), winning, *rest, strict=True))


def oracle_result(theirs: oracle.Deal) -> tuple[Any, ...]:
    """The same from the oracle."""
    choices = {None: -1, "add": ADD, "subtract": SUBTRACT}
    return (
        theirs.points,
        theirs.scores,
        theirs.winners,
        -1 if theirs.shooter is None else theirs.shooter,
        choices[theirs.moon],
        [card for _, card in theirs.plays],
        [seat for seat, _ in theirs.plays[:: theirs.n]],
        list(map(_set, theirs.picks)),
        [_set(card for player, card in theirs.plays if player == seat) for seat in range(theirs.n)],
        theirs.deal_no,
    )


def _set(cards: Iterable[int]) -> int:
    return sum(map(_BIT, cards))


def _difference(
    pair: Pair, start: State, row: int, things: Sequence[str], ours: Sequence[Any], theirs: Sequence[Any]
) -> DifferenceError:
    answers = {
        thing: {"engine": mine, "oracle": other}
        for thing, mine, other in zip(things, ours, theirs, strict=True)
        if mine != other
    }
    return difference(pair.rules, position(pair, start, row), answers)


def position(pair: Pair, start: State, row: int) -> str:
    """A position in notation from the table as dealt and the oracle's record: the engine's own may be what is wrong."""
    theirs = pair.deals[row]
    dealt = start.take([row])
    dealt.key[:] = 0
    parts = [show_position(pair.compiled, dealt)]
    if any(theirs.picks):
        parts.append(f"picks {' / '.join(show_suits(_set(cards)) for cards in theirs.picks)}")
    if theirs.plays:
        parts.append(f"plays {show_cards(card for _, card in theirs.plays)}")
    if theirs.r["moon"] == "choice" and theirs.moon is not None:
        parts.append(f"moon {theirs.moon}")
    return " | ".join(parts)
