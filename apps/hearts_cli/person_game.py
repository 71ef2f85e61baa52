"""A person and agents at one table, deal after deal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from hearts_agents.human import HumanAgent, LeftTableError
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.rules import Rules
from hearts_env.game.scoring import winners
from hearts_env.game.state import GAME_OVER
from hearts_env.game.view import view
from hearts_env.match.agent import Agent
from hearts_env.match.tables import Tables
from hearts_env.text.record import records_of

Say = Callable[[str], None]


class PersonGame:
    """One table with a person at it; the agents play as in `match.play`, and every deal can be recorded."""

    def __init__(
        self, rules: Rules, seats: Sequence[Agent], human: HumanAgent, deal_id: int, *, game: bool, key: int
    ) -> None:
        """A table at which nothing is dealt yet.

        seats: the agent in each seat, `human` in one of them; an agent may have several.  game: a whole game is
        played, which deal `deal_id` begins, and not that deal alone.  key: the agents draw their random numbers from
        it.
        """
        self._info = compiled_rules(rules)
        self._rules = rules
        self._seats = seats
        self._human = human
        self._deal_id = deal_id
        self._tables = Tables(
            self._info,
            1,
            agents=seats,
            lineup=np.arange(len(seats)),
            episode="game" if game else "deal",
            keys=lambda ids, _: ids ^ key,
            ask_forced=True,
        )

    def play(self, say: Say, ask: Callable[[str], str], record: Path | None = None) -> bool:
        """Play the deal or game, and add its deals to the records; was it played to the end?

        say: prints a line.  ask: prints a prompt and gives what is typed.  Raises what an agent raises, and OSError.
        """
        tables, row = self._tables, np.array([0])
        try:
            tables.start(row, np.array([self._deal_id]))
            while True:
                tables.play_on()
                self._finish(say, record)
                if tables.over[0]:
                    return True
                if ask("Enter for the next deal, quit to leave: ").strip().lower().startswith("q"):
                    raise LeftTableError("between two deals")
                tables.next_deal(row)
        except (LeftTableError, EOFError, KeyboardInterrupt):
            self._leave(say, record)
            return False

    def _finish(self, say: Say, record: Path | None) -> None:
        """The deal is over: tell how it ended, and write it down."""
        self._save(record)
        seat = self._seats.index(self._human)
        seen = view(self._info, self._tables.state, [seat])
        self._human.show(seen)
        if seen.shooter[0] >= 0:
            say(f"The moon was shot by {self._human.called(seen, int(seen.shooter[0]))}.")
        if seen.phase[0] == GAME_OVER:
            won = np.flatnonzero(winners(self._info, seen.scores)[0])
            say(f"The game is over; won by {' and '.join(self._human.called(seen, int(at)) for at in won)}.")

    def _leave(self, say: Say, record: Path | None) -> None:
        """Say goodbye; what was played of a deal goes to the records."""
        state = self._tables.state
        unfinished = state.deal_no[0] >= 0 and not state.over[0]
        if unfinished:
            self._save(record)
        where = f"; the deal until here is in {record}" if unfinished and record else ""
        say(f"\nYou leave the table{where}.")

    def _save(self, record: Path | None) -> None:
        if record is None:
            return
        deals = self._tables.finished(np.array([0]))
        line = records_of(self._rules, deals, [[agent.name for agent in self._seats]])[0].to_json()
        with record.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
