"""The game as functions of its rules, over whole arrays of tables: what `import hearts_env` offers.

Each takes Rules, or the CompiledRules that `compiled_rules` makes of them, which saves two microseconds a call.
Legality is not checked here: an illegal action corrupts its table.  Shape letters are those of `game.state`.
"""

from __future__ import annotations

from typing import TypeAlias

from numpy.typing import ArrayLike

from hearts_env.cards import Ints, Sets, choose
from hearts_env.game import engine
from hearts_env.game import view as views
from hearts_env.game.compiled_rules import CompiledRules, compiled_rules
from hearts_env.game.rules import Rules
from hearts_env.game.state import Rows, State
from hearts_env.game.view import View
from hearts_env.game.worlds import worlds
from hearts_env.observe import encode as encoding
from hearts_env.observe.encode import Layout, encode

__all__ = ["choose", "deal", "encode", "layout", "legal", "shuffle", "step", "view", "worlds"]

Game: TypeAlias = Rules | CompiledRules
"""Rules, or what is compiled from them."""


def shuffle(rules: Game, deal_ids: ArrayLike) -> Sets:
    """The hands of each deal id, int64 [N, P] card sets: the same for the same id in every batch.

    Args:
        rules: which game is played.
        deal_ids: [N] whole numbers from 0 to 2**63 - 1.
    """
    return engine.shuffle(compiled_rules(rules), deal_ids)


def deal(
    rules: Game,
    state: State,
    hands: Sets,
    *,
    rows: Rows = engine.ALL,
    deal_no: ArrayLike | None = None,
    scores: ArrayLike | None = None,
    key: ArrayLike = 0,
) -> None:
    """Deal hands at some tables, all unless `rows` says which; changes `state`.

    The next deal of the game follows: the deal number goes up and scores stay, and a game that was over begins anew.

    Args:
        rules: which game is played.
        state: N tables.
        hands: int64 [rows, P], as from `shuffle`.
        rows: indices of tables, or a slice.
        deal_no: [rows] numbers of the deals, which decide the pass offset, in place of the next ones.
        scores: [rows, P] scores of the game before the deal, in place of those that stand.
        key: int64 [rows], what agents draw their random numbers from.
    """
    engine.deal(compiled_rules(rules), state, hands, rows=rows, deal_no=deal_no, scores=scores, key=key)


def legal(rules: Game, state: State) -> Sets:
    """The legal actions of the seat to act at each table, int64 [N] sets; 0 where the deal is over."""
    return engine.legal(compiled_rules(rules), state)


def step(rules: Game, state: State, actions: Ints) -> None:
    """Carry out one action at every table whose deal is not over; changes `state`.

    Args:
        rules: which game is played.
        state: N tables.
        actions: int64 [N], a member of `legal` each; read only where a deal is being played.

    Raises:
        ActionTypeError: unless there is a whole number for each table.
    """
    engine.step(compiled_rules(rules), state, actions)


def view(rules: Game, state: State, seats: ArrayLike | None = None) -> View:
    """The view (observation) of one seat at each table, N views: all that an agent is given.

    Args:
        rules: which game is played.
        state: N tables.
        seats: [N] who looks; the seat to act unless given, and seat 0 where the deal is over.

    Raises:
        IndexError: for a seat that is not at the table.
    """
    return views.view(compiled_rules(rules), state, seats)


def layout(rules: Game, *, pad: bool = False, order: bool = False) -> Layout:
    """Where everything lies in an encoding under these rules, for `encode`.

    Args:
        rules: which game is played.
        pad: make room for seven seats, so that one network serves every player count.
        order: add the order of play.
    """
    return encoding.layout(compiled_rules(rules), pad=pad, order=order)
