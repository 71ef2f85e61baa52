"""`hearts play`: a person at the table, against agents."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from hearts_arena.report.console import console
from hearts_cli.arguments import RulesText
from hearts_cli.exit_codes import INTERRUPTED


@dataclass(frozen=True)
class Play:
    """Play against agents: a whole game to the target, or with --deal a single deal."""

    agents: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="AGENT ...")] = ("rule",)
    """The agents from your left round the table; a single one takes all the other seats."""
    rules: RulesText = "standard"
    deal: int | None = None
    """Play only this deal id; with --game, a game that begins with it."""
    game: bool = False
    """Play to the target; the default unless --deal is given."""
    seed: int | None = None
    """Random seed of the first deal and of the agents; random if omitted."""
    seat: int = 0
    """Your seat."""
    record: Path | None = None
    """Append every deal to this file of records, also one that you leave."""

    def run(self) -> int:
        """Play in the terminal."""
        return 0 if self.play(input) else INTERRUPTED

    def play(self, ask: Callable[[str], str]) -> bool:
        """Play; True if it came to the end, False if the person left.  ask: prints a prompt and gives what is typed.

        Raises ValueError for what cannot be played.
        """
        from hearts_agents import make
        from hearts_agents.external.agent import Limits, limited
        from hearts_agents.human import HumanAgent
        from hearts_cli.person_game import PersonGame
        from hearts_env.game.rules import Rules

        rules = Rules.parse(self.rules)
        names = self._names(rules.num_players)
        others = {name: make(name) for name in names if name}
        out = console()
        called = [name or "you" for name in names]
        human = HumanAgent(ask=ask, console=out, names=called)
        chance = random.Random(self.seed)
        first = chance.getrandbits(62) if self.deal is None else self.deal
        game, key = self.game or self.deal is None, chance.getrandbits(62)
        seats = [others.get(name, human) for name in names]
        if self.record:
            self.record.parent.mkdir(parents=True, exist_ok=True)
        out.print(f"Deal {first}, {rules.show()}; you are in seat {self.seat}. Type ? for help.", soft_wrap=True)
        with limited(others.values(), Limits()):
            return PersonGame(rules, seats, human, first, game=game, key=key).play(out.print, ask, self.record)

    def _names(self, seats: int) -> list[str]:
        """The name of the agent in each seat, "" for the person.  Raises ValueError."""
        for option, value, limit in (
            ("seat", self.seat, seats),
            ("deal", self.deal, 2**63),
            ("seed", self.seed, 2**63),
        ):
            if value is not None and not 0 <= value < limit:
                raise ValueError(f"--{option} {value}: must be a whole number from 0 to {limit - 1}")
        names = self.agents * (seats - 1) if len(self.agents) == 1 else self.agents
        if len(names) != seats - 1:
            raise ValueError(f"{len(names)} agents: the rules seat {seats - 1} beside you; one alone takes all seats")
        around = ["", *names]
        return [around[(seat - self.seat) % seats] for seat in range(seats)]
