"""A person and agents at one table, deal after deal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hearts_agents.human import HumanAgent, LeftTableError
from hearts_env.game.compiled_rules import lookup
from hearts_env.game.engine import deal, shuffle, single_deal_no, step
from hearts_env.game.rules import Rules
from hearts_env.game.scoring import winners
from hearts_env.game.state import DEAL_OVER, GAME_OVER, State
from hearts_env.game.view import view
from hearts_env.match.agent import Agent
from hearts_env.match.play_match import Deals, check_actions, next_deal_id
from hearts_env.text.record import records_of

Say = Callable[[str], None]


@dataclass(frozen=True)
class Start:
    """Which deals are played."""

    deal_id: int
    games: bool
    """A whole game, which this deal begins."""
    key: int
    """What the agents draw their random numbers from."""


class Sitting:
    """One table with a person at it; the agents play as in `match.play`, and every deal can be recorded."""

    def __init__(self, rules: Rules, table: Sequence[Agent], human: HumanAgent, start: Start) -> None:
        """table: the agent in each seat, `human` in one of them; an agent may have several."""
        self._info = lookup(rules)
        self._rules = rules
        self._table = table
        self._human = human
        self._start = start
        self._state = State.empty(self._info, 1)
        self._deal_id = start.deal_id
        self._totals = self._state.scores.astype(np.int64)

    def play(self, say: Say, ask: Callable[[str], str], record: Path | None = None) -> bool:
        """Play the deal or game, and add its deals to the records; was it played to the end?

        say: prints a line.  ask: prints a prompt and gives what is typed.  Raises what an agent raises, and OSError.
        """
        try:
            while True:
                self._play_deal()
                self._finish(say, record)
                if not self._start.games or self._state.phase[0] == GAME_OVER:
                    return True
                if ask("Enter for the next deal, quit to leave: ").strip().lower().startswith("q"):
                    raise LeftTableError("between two deals")
        except (LeftTableError, EOFError, KeyboardInterrupt):
            self._leave(say, record)
            return False

    def _play_deal(self) -> None:
        state, games = self._state, self._start.games
        first = np.array([self._start.deal_id])
        number = state.deal_no + 1 if games else single_deal_no(self._info, first)
        ids = next_deal_id(first, number) if games else first
        self._deal_id = int(ids[0])
        self._totals = state.scores.astype(np.int64)
        deal(self._info, state, shuffle(self._info, ids), deal_no=number, key=self._deal_id ^ self._start.key)
        while not state.over[0]:
            agent = self._table[state.turn[0]]
            seen = view(self._info, state)
            actions = np.asarray(agent.act(seen))
            check_actions(seen, actions, agent.name)
            step(self._info, state, actions)

    def _finish(self, say: Say, record: Path | None) -> None:
        """The deal is over: tell how it ended, and write it down."""
        self._save(record)
        seat = self._table.index(self._human)
        seen = view(self._info, self._state, [seat])
        self._human.show(seen)
        if self._state.shooter[0] >= 0:
            say(f"The moon was shot by {self._human.called(seen, int(seen.shooter[0]))}.")
        if self._state.phase[0] == GAME_OVER:
            won = np.flatnonzero(winners(self._info, seen.scores)[0])
            say(f"The game is over; won by {' and '.join(self._human.called(seen, int(at)) for at in won)}.")

    def _leave(self, say: Say, record: Path | None) -> None:
        """Say goodbye; what was played of a deal goes to the records."""
        unfinished = self._state.deal_no[0] >= 0 and self._state.phase[0] < DEAL_OVER
        if unfinished:
            self._save(record)
        where = f"; the deal until here is in {record}" if unfinished and record else ""
        say(f"\nYou leave the table{where}.")

    def _save(self, record: Path | None) -> None:
        if record is None:
            return
        hands = shuffle(self._info, [self._deal_id])
        deals = Deals(np.array([0]), np.array([self._deal_id]), hands, self._totals, self._state)
        line = records_of(self._rules, deals, [[agent.name for agent in self._table]])[0].to_json()
        with record.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
