"""OpenSpiel's hearts beside the engine: the same cards, picks and plays in both, legal actions and returns compared.

OpenSpiel (google-deepmind/open_spiel) numbers cards rank by rank, 4 * rank + suit, with our order of suits.  Its chance
nodes draw the pass direction, which is our pass offset, and then deal card by card round the table.  Each seat passes
its three cards in turn, and its return is 26 less the points of the deal.
"""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pyspiel

import oracle
from hearts_env.cards import CARD_NAMES, cards_in, names_in
from hearts_env.game.engine import legal, pass_offset, step
from hearts_env.game.state import PASS
from hearts_env.text.notation import dealt_hands, show_position
from tables import Pair, dealt, random_actions
from witness import difference

Options = dict[str, bool]

FIELDS: dict[str, tuple[str, Any, Any]] = {
    "pass_cards": ("pass_count", 3, 0),
    "no_pts_on_first_trick": ("first_trick_points", "forbidden", "allowed"),
    "can_lead_any_club": ("first_lead", "any_club", "forced"),
    "jd_bonus": ("bonus_card", "JD", None),
    "avoid_all_tricks_bonus": ("no_tricks_bonus", -5, 0),
    "can_lead_hearts_instead_of_qs": ("lead_hearts_with_qs", True, False),
}
"""For an OpenSpiel option our field, and its values where the option is on and off."""
NAMES = (*FIELDS, "must_break_hearts", "qs_breaks_hearts")
COMBINATIONS = tuple(dict(zip(NAMES, on, strict=True)) for on in itertools.product((True, False), repeat=len(NAMES)))
CYCLE = (0, 1, 2, 3)
"""The deal's number is its pass offset, which OpenSpiel draws."""
PAR = 26


def rules_of(options: Options) -> dict[str, Any]:
    """The rules' fields that differ from the defaults, to play as OpenSpiel does with these options."""
    changes = {field: on if options[name] else off for name, (field, on, off) in FIELDS.items()}
    broken_by = "heart_or_qs" if options["qs_breaks_hearts"] else "heart"
    changes["hearts_broken_by"] = broken_by if options["must_break_hearts"] else "free"
    return {"moon": "add", "pass_cycle": CYCLE, **changes}


def theirs(card: int) -> int:
    """OpenSpiel's number of a card."""
    suit, rank = divmod(card, len(oracle.RANKS))
    return rank * len(oracle.SUITS) + suit


OURS = {theirs(card): card for card in range(len(CARD_NAMES))}


def compare(options: Options, chance: random.Random, tables: int) -> tuple[Pair, int]:
    """Play deals biased towards corners in both; the tables as they end and the number of decisions.

    Raises Difference at the first thing on which the two differ.
    """
    changes = rules_of(options)
    hands = [oracle.random_hands(chance, oracle.rules(**changes)) for _ in range(tables)]
    numbers = [chance.choice(CYCLE) if options["pass_cards"] else 0 for _ in hands]
    pair = dealt(changes, hands, numbers, [[0, 0, 0, 0]] * tables)
    spiel = pyspiel.load_game("hearts", options)
    games = [Game(spiel, pair, row) for row in range(tables)]
    decisions = 0
    while not pair.state.over.all():
        actions = random_actions(chance, pair.compiled, pair.state)
        sets = legal(pair.compiled, pair.state).tolist()
        for row in np.flatnonzero(~pair.state.over).tolist():
            games[row].act(int(pair.state.turn[row]), sets[row], int(actions[row]))
            decisions += 1
        step(pair.compiled, pair.state, actions)
    for game in games:
        game.check_returns()
    return pair, decisions


class Game:
    """One deal in OpenSpiel, and the table of the engine that it stands beside."""

    def __init__(self, spiel: pyspiel.Game, pair: Pair, row: int) -> None:
        self.pair, self.row = pair, row
        self.state = spiel.new_initial_state()
        # The picks wait here until all have been made: in the engine they go round the table.
        self.picks: list[tuple[int, int, int]] = []
        self.draw(int(pass_offset(pair.compiled, pair.state.deal_no[[row]])[0]))
        hands = [cards_in(cards) for cards in dealt_hands(pair.compiled, pair.state)[row]]
        for card in itertools.chain.from_iterable(zip(*hands, strict=True)):
            self.draw(theirs(card))

    def draw(self, outcome: int) -> None:
        """Take one way out of a chance node."""
        self.check("chance node", True, self.state.is_chance_node())
        self.check(f"chance outcome {outcome}", True, outcome in self.state.legal_actions())
        self.state.apply_action(outcome)

    def act(self, seat: int, allowed: int, action: int) -> None:
        """One decision of the engine: who makes it, out of what, and what was chosen."""
        if self.pair.state.phase[self.row] == PASS:
            self.picks.append((seat, allowed, action))
            if len(self.picks) == self.pair.compiled.num_players * self.pair.compiled.pass_count:
                for pick in sorted(self.picks, key=lambda pick: pick[0]):
                    self.apply(*pick)
        else:
            self.apply(seat, allowed, action)

    def apply(self, seat: int, allowed: int, action: int) -> None:
        self.check("turn", seat, self.state.current_player())
        cards = sorted(OURS[card] for card in self.state.legal_actions())
        self.check("legal cards", names_in(allowed), [CARD_NAMES[card] for card in cards])
        self.state.apply_action(theirs(action))

    def check_returns(self) -> None:
        """At the end of the deal."""
        self.check("deal over", True, self.state.is_terminal())
        self.check(
            "returns", [PAR - int(points) for points in self.pair.state.points[self.row]], list(self.state.returns())
        )

    def check(self, thing: str, ours: Any, openspiel: Any) -> None:
        if ours != openspiel:
            position = show_position(self.pair.compiled, self.pair.state, self.row)
            raise difference(self.pair.rules, position, {thing: {"engine": ours, "openspiel": openspiel}})
