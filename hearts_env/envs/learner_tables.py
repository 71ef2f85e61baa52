"""Many tables with a learner in one seat of each: opponents play on until it decides again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import Ints, Sets
from hearts_env.envs.opponents import Opponents, opponent_pool
from hearts_env.envs.options import EnvError, EnvOptions, MaskIn, forwarded
from hearts_env.game.engine import legal
from hearts_env.game.rewards import Reward, Rewards, payoff
from hearts_env.game.scoring import lowest_seats
from hearts_env.game.view import View, view
from hearts_env.match.agent import Agent
from hearts_env.match.tables import CALLER, FROM_DEAL_ID, Start, Tables, several

SeatChoice = int | Literal["rotating", "all"]


@dataclass(frozen=True)
class LearnerOptions(EnvOptions):
    """The options of every environment, and those of one with a learner in a seat and opponents in the others."""

    mask_in: MaskIn = "info"
    opponents: Opponents = "rule"
    """Who sits in the other seats."""
    seat: SeatChoice = 0
    """The learner's seat.  "rotating" moves it one seat on at each episode, and table n begins in seat n; "all" makes
    every seat a learner's, and nobody is asked."""
    skip_forced: bool = False
    """The learner's decisions with a single legal action are made for it, except the first of an episode, so that every
    episode has one."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "seat", checked_seat(self.seat, self.compiled.num_players))

    def agents(self) -> tuple[Agent, ...]:
        """The opponents to draw from.  Raises EnvError, and what the maker of agents raises for a name."""
        return () if self.seat == "all" else opponent_pool(self.opponents)


class LearnerTables(Tables):
    """N tables played deal after deal, each up to the next decision of its learner.

    Only `begin`, `act` and `foul` change them.  `act` trusts its actions.
    """

    reward: Reward

    def __init__(self, size: int, options: LearnerOptions) -> None:
        """Raises EnvError for a `size` that is no positive whole number, or opponents that are none."""
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
            raise EnvError(f"num_envs={size!r:.60}: must be a positive whole number")
        size, rules = int(size), options.compiled
        super().__init__(rules, size, episode=options.episode, reward=options.reward, max_deals=options.max_deals)
        self.seat_choice: SeatChoice = options.seat
        self.skip_forced = bool(options.skip_forced)
        self.agents: Sequence[Agent] = options.agents()
        self.seat = np.zeros(size, np.int64)  # [N]  whose decision it is
        self.episodes = np.zeros(size, np.int64)  # [N]  begun
        self.length = np.zeros(size, np.int64)  # [N]  decisions of the learner in this episode
        self.total: Rewards = np.zeros((size, rules.num_players))  # [N, P]  paid in this episode

    @property
    def all_seats(self) -> bool:
        """Every seat is a learner's."""
        return self.seat_choice == "all"

    def begin(self, rows: Ints, deal_ids: Ints, random: np.random.Generator, start: Start = FROM_DEAL_ID) -> None:
        """Begin an episode at tables `rows` (int64 [K]) and play to the learner's first decision.

        deal_ids, start: see `Tables.start`.  random: draws the opponents where there is a pool.
        """
        self.start(rows, deal_ids, start)
        seats = self.rules.num_players
        self.length[rows], self.total[rows] = 0, 0
        if self.seat_choice == "rotating":
            self.seat[rows] = (rows + self.episodes[rows]) % seats
        elif not self.all_seats:
            self.seat[rows] = self.seat_choice
        self.episodes[rows] += 1
        lineup = self.lineup
        lineup[rows] = CALLER if self.all_seats else 0
        if len(self.agents) > 1:
            lineup[rows] = random.integers(len(self.agents), size=(len(rows), seats), dtype=np.int16)
        lineup[rows, self.seat[rows]] = CALLER
        self.seat_agents(self.agents, lineup)
        self.play_on(rows)

    def act(self, rows: Ints, actions: Ints) -> None:
        """Carry out the learner's legal actions (int64 [K]) at tables `rows` (int64 [K]), where no episode is over."""
        self.length[rows] += 1
        self.paid[rows] = 0.0
        self.step(rows, actions)
        self.play_on(rows)
        if self.reward == "tricks":
            self.pay_tricks(self.going(rows))
        self.total[rows] += self.paid[rows]

    def foul(self, rows: Ints, amount: float) -> None:
        """End the episodes at tables `rows`, where the seat to act gets `amount`."""
        self.length[rows] += 1
        self.paid[rows] = 0.0
        self.paid[rows, self.seat[rows]] = amount
        self.total[rows] += self.paid[rows]
        self.abandon(rows)

    def settle(self, rows: Ints) -> Ints:
        """Pay for the deals of `rows` that have just ended, and deal the next ones of games that go on."""
        ended = super().settle(rows)
        self.next_deal(ended[~self.over[ended]])
        return ended

    def not_callers(self, rows: Ints) -> Ints:
        """Those of `rows` (int64 [K]) whose next action is not the learner's to decide."""
        rows = self.going(rows)
        turn = self.state.turn[rows]
        if self.all_seats:
            self.seat[rows] = turn
        waiting = turn != self.seat[rows]
        if self.skip_forced:
            mine = np.flatnonzero(~waiting & (self.length[rows] > 0))
            if len(mine):
                free = several(legal(self.rules, self.state.take(rows[mine])))
                waiting[np.delete(mine, free)] = True
        result: Ints = rows[waiting]
        return result

    def view(self, rows: Ints | None = None) -> View:
        """The View of the seat to decide at each table or at tables `rows`; of the last to decide where all is over."""
        if rows is None:
            return view(self.rules, self.state, self.seat)
        return view(self.rules, self.state.take(rows), self.seat[rows])

    def legal(self) -> Sets:
        """The legal actions at each table, int64 [N]; 0 where the episode is over."""
        sets: Sets = legal(self.rules, self.state)
        sets[self.over] = 0
        return sets

    def summary(self) -> dict[str, NDArray[Any]]:
        """The results of the episode at each table, arrays [N, ...]; final where it is over.

        points, scores: [N, P].  For the learner [N], where every seat learns for each seat [N, P]:
        return: the sum of rewards; payoff: in points, see `rewards.payoff`; won: has it the lowest points or score?
        length: decisions of the learner.  deals: finished.  seat: the learner's, or the last to decide.
        """
        final = self.points if self.episode == "deal" else self.state.scores.astype(np.int64)
        return {
            "points": self.points,
            "scores": self.state.scores.astype(np.int64),
            "return": self.of_learner(self.total),
            "payoff": self.of_learner(payoff(self.rules, final)),
            "won": self.of_learner(lowest_seats(self.rules, final)),
            "length": self.length.copy(),
            "deals": self.deals.copy(),
            "seat": self.seat.copy(),
        }

    def of_learner(self, values: NDArray[Any]) -> NDArray[Any]:
        """The learner's column of [N, P] as [N]; a copy of all where every seat learns."""
        return values.copy() if self.all_seats else values[np.arange(len(self)), self.seat]


def vector_options(adapter: str, options: Mapping[str, Any], *fixed: str) -> dict[str, Any]:
    """The `options` of an adapter that holds a `HeartsVectorEnv`, checked to be among those of that environment.

    fixed: options that the adapter sets itself.  Raises EnvError that names an option which is not there.
    """
    return forwarded(adapter, options, LearnerOptions, more=("copy",), fixed=fixed)


def check_one_learner(tables: LearnerTables, library: str) -> None:
    """Raise EnvError where every seat is a learner's, for a library that takes a table's steps for one learner's."""
    if tables.all_seats:
        raise EnvError(
            f"seat='all': {library} would take the steps of all seats for those of one learner: give a seat or "
            "'rotating', and opponents"
        )


def checked_seat(seat: object, seats: int) -> SeatChoice:
    """`seat` as the choice that it is at a table of so many seats.  Raises EnvError for anything else."""
    if seat == "rotating":
        return "rotating"
    if seat == "all":
        return "all"
    if isinstance(seat, (int, np.integer)) and not isinstance(seat, bool) and 0 <= seat < seats:
        return int(seat)
    raise EnvError(f"seat={seat!r:.60}: must be a whole number from 0 to {seats - 1}, 'rotating' or 'all'")
