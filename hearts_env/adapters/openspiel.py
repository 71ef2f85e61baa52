"""Hearts as a Python game of OpenSpiel, `python_hearts_env`, with agents and policies carried both ways.

    game = load_game("small_two")                                # or pyspiel.load_game("python_hearts_env", {...})
    solver = pyspiel.CFRSolver(game)

A deal begins with a chance node a card of the pack, lowest first: which seat gets it (P, the number of seats, is for
the dead cards)?  So every deal is one way through the chance nodes, however large the pack.  Then seats pick the cards
to pass, one a turn and hidden, play, and the shooter of a moon may have its choice.  Actions have the numbers that they
have in all of hearts_env.  Returns are `rewards.payoff`, which is zero-sum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from hearts_env.adapters import MissingLibraryError
from hearts_env.cards import ACTION_NAMES, CARD_NAMES, NO_CARD, NUM_ACTIONS, Ints, cards_in
from hearts_env.exact.game_tree import count_deals
from hearts_env.game.compiled_rules import CompiledRules, compiled_rules
from hearts_env.game.engine import deal, legal, pass_offset, step
from hearts_env.game.rewards import foul_reward, payoff
from hearts_env.game.rules import Rules
from hearts_env.game.state import PHASE_NAMES, State
from hearts_env.game.view import View, view
from hearts_env.game.worlds import worlds
from hearts_env.match.agent import Agent, Policy, policy, uniform
from hearts_env.observe.encode import encode, layout
from hearts_env.text.notation import dealt_hands, script, show_hand

try:
    import pyspiel
    from open_spiel.python import policy as spiel_policy
except ModuleNotFoundError as error:
    raise MissingLibraryError(str(error.name), "openspiel") from None

NAME = "python_hearts_env"
_WRITTEN, _READ = str.maketrans(",=", ";~"), str.maketrans(";~", ",=")
"""How rules are written in the parameters of a game, where OpenSpiel has another use for `,` and `=`."""
_REMEMBERED_DEALS = 10_000
"""Positions of games with no more deals are kept: algorithms come back to each of them again and again."""

_TYPE = pyspiel.GameType(
    short_name=NAME,
    long_name="Hearts of hearts_env, one deal",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=7,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification={"rules": "standard", "deal_no": 0},
)


def load_game(rules: Rules | str = "standard", deal_no: int = 0) -> Any:
    """The OpenSpiel game of one deal under these rules.  deal_no: decides pass offset and dealer."""
    text = rules.show() if isinstance(rules, Rules) else rules
    return pyspiel.load_game(NAME, {"rules": text.translate(_WRITTEN), "deal_no": deal_no})


class HeartsGame(pyspiel.Game):  # type: ignore[misc]  # pyspiel has no types
    """One deal of Hearts.  Parameters: `rules`, as text with `;` for `,` and `~` for `=`, and `deal_no`."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        """Raises RulesError for rules that cannot be."""
        given = {"rules": "standard", "deal_no": 0, **(params or {})}
        self.rules = compiled_rules(Rules.parse(given["rules"].translate(_READ)))
        self.deal_no = int(given["deal_no"])
        rules, seats = self.rules.rules, self.rules.num_players
        passes = pass_offset(self.rules, np.array([self.deal_no]))[0] != 0
        worst = foul_reward(self.rules, "zero_sum")
        info = pyspiel.GameInfo(
            num_distinct_actions=NUM_ACTIONS,
            max_chance_outcomes=seats + (rules.dead_cards > 0),
            num_players=seats,
            min_utility=worst,
            max_utility=-(seats - 1) * worst,
            utility_sum=0.0,
            max_game_length=seats * rules.pass_count * int(passes) + self.rules.num_plays + (rules.moon == "choice"),
        )
        super().__init__(_TYPE, info, {**given, "rules": given["rules"].translate(_WRITTEN)})
        self.start = _Position(self, (0,) * (seats + 1), 0, None)
        self.remembers = count_deals(self.rules) <= _REMEMBERED_DEALS

    def new_initial_state(self) -> HeartsState:
        """Before the deal."""
        return HeartsState(self)

    def max_chance_nodes_in_history(self) -> int:
        """One a card."""
        return len(self.rules.deck_cards)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> _Observer:
        """The observer of one seat; with perfect recall, also of the past.  Raises ValueError for other kinds."""
        return _Observer(self, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False), params)


class _Position:
    """The position at a history of a game; never changed once made, and so shared by the states that are there."""

    def __init__(self, game: HeartsGame, hands: tuple[int, ...], dealt: int, table: State | None) -> None:
        """hands: of each seat, then the dead cards.  dealt: cards dealt so far.  table: one row, once all are dealt."""
        self.game, self.hands, self.dealt, self.table = game, hands, dealt, table
        self.children: dict[int, _Position] = {}
        self.texts: dict[tuple[int, bool], str] = {}
        self.returns = [0.0] * game.rules.num_players
        self.legal: list[int] = []
        self.player = int(pyspiel.PlayerId.CHANCE)
        if table is not None:
            over = bool(table.over[0])
            self.player = int(pyspiel.PlayerId.TERMINAL) if over else int(table.turn[0])
            self.legal = [] if over else cards_in(legal(game.rules, table)[0])
            if over:
                self.returns = payoff(game.rules, table.points)[0].tolist()

    def __deepcopy__(self, memo: object) -> _Position:
        return self

    def outcomes(self) -> list[tuple[int, float]]:
        """Who may get the next card, and how likely."""
        rules = self.game.rules
        sizes = [rules.hand_size] * rules.num_players + [rules.rules.dead_cards]
        room = [size - hand.bit_count() for size, hand in zip(sizes, self.hands, strict=True)]
        return [(place, left / sum(room)) for place, left in enumerate(room) if left]

    def child(self, action: int) -> _Position:
        """The position after an action or outcome, which must be possible here."""
        found = self.children.get(action)
        if found is None:
            found = self._after(action)
            if self.game.remembers:
                self.children[action] = found
        return found

    def _after(self, action: int) -> _Position:
        rules = self.game.rules
        if self.table is not None:
            table = self.table.copy()
            step(rules, table, np.array([action]))
            return _Position(self.game, self.hands, self.dealt, table)
        hands = list(self.hands)
        hands[action] |= 1 << int(rules.deck_cards[self.dealt])
        dealt = self.dealt + 1
        if dealt < len(rules.deck_cards):
            return _Position(self.game, tuple(hands), dealt, None)
        table = State.empty(rules, 1)
        deal(rules, table, np.array([hands[: rules.num_players]]), deal_no=self.game.deal_no, scores=0)
        return _Position(self.game, tuple(hands), dealt, table)

    def seen(self, player: int) -> View | None:
        """The View of a seat, one row; None before all cards are dealt."""
        return None if self.table is None else view(self.game.rules, self.table, [player])

    def text(self, player: int, perfect_recall: bool) -> str:
        """A seat's knowledge in words: equal for positions that look the same to it, and only for those."""
        key = player, perfect_recall
        if key not in self.texts:
            seen = self.seen(player)
            self.texts[key] = (
                f"seat {player} gets {show_hand(self.hands[player])}" if seen is None else _told(seen, perfect_recall)
            )
        return self.texts[key]


def _told(seen: View, perfect_recall: bool) -> str:
    """A View of one row as text.  The order of the own picks is not told: it changes nothing."""
    parts = [
        f"seat {seen.seat[0]} {PHASE_NAMES[seen.phase[0]]}",
        f"turn {seen.turn[0]}",
        f"hand {show_hand(seen.hand[0])}",
    ]
    if seen.offset[0]:
        parts += [f"to {seen.offset[0]}", f"picks {show_hand(seen.picks[0])}", f"got {show_hand(seen.got[0])}"]
    parts.append(f"trick {' '.join(CARD_NAMES[card] for card in _in_trick(seen))}".rstrip())
    if perfect_recall:
        plays = " ".join(CARD_NAMES[card] for card in seen.plays[0] if card != NO_CARD)
        parts.append(f"leader {seen.leaders[0, 0]} plays {plays}".rstrip())
    else:
        parts += [f"broken {int(seen.broken[0])}", f"points {' '.join(map(str, seen.points[0]))}"]
        parts += [f"out {show_hand(seen.out[0])}", f"voids {' '.join(map(str, seen.voids[0]))}"]
    return " | ".join(parts)


def _in_trick(seen: View) -> list[int]:
    begin = int(seen.trick_no[0]) * seen.rules.num_players
    return [int(card) for card in seen.plays[0, begin:] if card != NO_CARD]


class HeartsState(pyspiel.State):  # type: ignore[misc]
    """A history of one deal."""

    def __init__(self, game: HeartsGame) -> None:
        super().__init__(game)
        self.position = game.start

    def current_player(self) -> int:
        """The seat to act, or OpenSpiel's numbers for chance and the end."""
        return self.position.player

    def _legal_actions(self, player: int) -> list[int]:
        return self.position.legal if player == self.position.player else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Who may get the next card, and how likely."""
        return self.position.outcomes()

    def _apply_action(self, action: int) -> None:
        self.position = self.position.child(action)

    def _action_to_string(self, player: int, action: int) -> str:
        if player != pyspiel.PlayerId.CHANCE:
            return ACTION_NAMES[action]
        rules = self.position.game.rules
        card = CARD_NAMES[rules.deck_cards[min(self.position.dealt, len(rules.deck_cards) - 1)]]
        return f"{card} is dead" if action == rules.num_players else f"{card} to seat {action}"

    def is_terminal(self) -> bool:
        """Is the deal over?"""
        return self.position.player == int(pyspiel.PlayerId.TERMINAL)

    def returns(self) -> list[float]:
        """The payoff of each seat; zeros before the end."""
        return self.position.returns

    def __str__(self) -> str:
        """All hands and plays, hidden ones too."""
        hands = " / ".join(map(show_hand, self.position.hands))
        table = self.position.table
        if table is None:
            return f"dealing: {hands}"
        plays = " ".join(CARD_NAMES[card] for card in table.plays[0] if card != NO_CARD)
        picks = " / ".join(show_hand(cards) for cards in table.picks[0])
        return f"dealt: {hands} | picks: {picks} | plays: {plays}"


class _Observer:
    """OpenSpiel's way to ask what a seat sees: `hearts_env.observe.encode` as float32, and text.

    With perfect recall the encoding has the block `order`.  Encodings are seat-relative: seats that see the same from
    where they sit have one tensor.
    """

    def __init__(self, game: HeartsGame, kind: Any, params: Any) -> None:
        if params:
            raise ValueError(f"observers of {NAME} take no parameters, not {params!r:.60}")
        if not kind.public_info or kind.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            raise ValueError(f"observers of {NAME} tell what one seat knows: public_info and SINGLE_PLAYER are needed")
        self._perfect_recall = kind.perfect_recall
        self._layout = layout(game.rules, order=kind.perfect_recall)
        self.tensor = np.zeros(self._layout.size, np.float32)
        self.dict = {"encoding": self.tensor}

    def set_from(self, state: HeartsState, player: int) -> None:
        """Write what the seat knows into `tensor`; zeros while cards are dealt."""
        seen = state.position.seen(player)
        self.tensor[:] = 0 if seen is None else encode(self._layout, seen)[0]

    def string_from(self, state: HeartsState, player: int) -> str:
        """The text of what the seat knows, of the play so far too with perfect recall."""
        return state.position.text(player, self._perfect_recall)


pyspiel.register_game(_TYPE, HeartsGame)


# -- policies and bots, both ways --------------------------------------------------------------------------------------


class AgentPolicy(spiel_policy.Policy):  # type: ignore[misc]
    """An agent of ours as a policy of OpenSpiel, for its tools on `python_hearts_env`."""

    def __init__(self, game: Any, agent: Agent) -> None:
        super().__init__(game, list(range(game.num_players())))
        self._agent = agent
        self._known: dict[str, dict[int, float]] = {}

    def action_probabilities(self, state: HeartsState, player_id: int | None = None) -> dict[int, float]:
        """The probability of each legal action: what the agent says, or 1 for what it does (see `agent.policy`)."""
        player = state.current_player() if player_id is None else player_id
        text = state.position.text(player, True)
        if text not in self._known:
            seen = state.position.seen(player)
            if seen is None:
                raise ValueError("nobody has an action while cards are dealt")
            row = policy(self._agent, seen)[0]
            self._known[text] = {action: float(row[action]) for action in state.position.legal}
        return self._known[text]


class PolicyAgent:
    """A policy of OpenSpiel for `python_hearts_env` as an agent of ours, which can say its probabilities."""

    def __init__(self, spiel: spiel_policy.Policy, name: str = "openspiel") -> None:
        """spiel: a policy that asks nothing of a state but its information state."""
        self.name = name
        self._policy = spiel

    def probabilities(self, view: View) -> Policy:
        """The policy's probability of each action in each view, float64 [N, A]."""
        table = np.zeros((len(view), NUM_ACTIONS))
        for row, state in enumerate(states_of(view)):
            for action, probability in self._policy.action_probabilities(state).items():
                table[row, action] = probability
        return table

    def act(self, view: View) -> Ints:
        """An action drawn from the policy for each view, int64 [N]."""
        heap = self.probabilities(view).cumsum(axis=1)
        mark = uniform(view)[:, None] * heap[:, -1:]
        result: Ints = (heap <= mark).sum(axis=1)
        return result


class BotAgent:
    """A bot of OpenSpiel as an agent of ours.

    A bot is given a whole state, hidden cards too.  Here they are drawn at random among those that fit what the seat
    knows (see `worlds`), so a bot that looks at them learns nothing.  Bots must answer from the state alone: what
    happened since their last turn is not told them.
    """

    def __init__(self, make_bot: Callable[[Any, int], Any], name: str = "openspiel") -> None:
        """make_bot: the bot for a game (a pyspiel.Game) and a seat."""
        self.name = name
        self._make = make_bot
        self._bots: dict[tuple[CompiledRules, int, int], Any] = {}

    def act(self, view: View) -> Ints:
        """The bot's action for each view, int64 [N]."""
        return np.array([self._bot(state).step(state) for state in states_of(view)], np.int64)

    def _bot(self, state: HeartsState) -> Any:
        game, seat = state.position.game, state.position.player
        key = game.rules, game.deal_no, seat
        if key not in self._bots:
            self._bots[key] = self._make(game, seat)
        return self._bots[key]


def states_of(view: View, salt: int = 0) -> list[HeartsState]:
    """For each view an OpenSpiel state in which the seat knows just that; what it does not know is drawn at random."""
    rules = view.rules
    table = worlds(view, 1, salt)
    hands = dealt_hands(rules, table).tolist()
    return [_state(rules, table, row, hands[row]) for row in range(len(view))]


def _state(rules: CompiledRules, table: State, row: int, hands: Sequence[int]) -> HeartsState:
    number = int(table.deal_no[row])
    state: HeartsState = _game(rules, number).new_initial_state()
    for card in rules.deck_cards:
        holder = [seat for seat, hand in enumerate(hands) if hand >> int(card) & 1]
        state.apply_action(holder[0] if holder else rules.num_players)
    picks = [cards_in(cards) for cards in table.picks[row]]
    plays = [int(card) for card in table.plays[row] if card != NO_CARD]
    for action in script(rules, number, picks, plays, None):
        state.apply_action(action)
    return state


@lru_cache(maxsize=64)
def _game(rules: CompiledRules, deal_no: int) -> Any:
    return load_game(rules.rules, deal_no)
