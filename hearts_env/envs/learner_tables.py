"""Many tables with a learner in one seat of each: opponents play on until it decides again."""

from __future__ import annotations

import copy
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import Bools, Ints, Sets, lowest
from hearts_env.envs.opponents import Opponents, opponent_pool
from hearts_env.envs.table import EnvError, Start, Table
from hearts_env.game.engine import deal, legal, shuffle, single_deal_no, step
from hearts_env.game.rewards import Episode, Reward, Rewards, payoff, points_so_far, step_rewards
from hearts_env.game.rules import Rules
from hearts_env.game.scoring import lowest_seats
from hearts_env.game.state import GAME_OVER, State
from hearts_env.game.view import View, view
from hearts_env.match.agent import Agent
from hearts_env.match.play_match import MAX_DEALS, NO_DEAL_ID, Loops, ask, next_deal_id

SeatChoice = int | Literal["rotating", "all"]


class LearnerTables:
    """N tables played deal after deal, each up to the next decision of its learner.

    Only `start`, `act` and `abandon` change them.  `act` trusts its actions.

    rules, episode, reward, max_deals: see `table.Table`.
    opponents: who sits in the other seats.
    seat: the learner's seat; "rotating" moves it one seat on at each episode, and table n begins in seat n;
        "all" makes every seat a learner's, and nobody is asked.
    skip_forced: the learner's decisions with a single legal action are made for it, except the first of an episode
        (so that every episode has one).

    Raises EnvError or RulesError.
    """

    def __init__(
        self,
        tables: int,
        rules: Rules | str = Rules(),
        episode: Episode = "deal",
        reward: Reward = "points",
        *,
        opponents: Opponents = "rule",
        seat: SeatChoice = 0,
        skip_forced: bool = False,
        max_deals: int = MAX_DEALS,
    ) -> None:
        # A single table checks what they have in common.
        checked = Table(rules, episode, reward, max_deals)
        self.lookup, self.episode, self.reward = checked.lookup, checked.episode, checked.reward
        self.max_deals = checked.max_deals
        if isinstance(tables, bool) or not isinstance(tables, (int, np.integer)) or tables < 1:
            raise EnvError(f"num_envs={tables!r:.60}: must be a positive whole number")
        seats = self.lookup.num_players
        self.seat_choice = checked_seat(seat, seats)
        self.skip_forced = bool(skip_forced)
        self.agents: tuple[Agent, ...] = () if self.all_seats else opponent_pool(opponents)
        size = int(tables)
        self.state = State.empty(self.lookup, size)
        self.seat = np.zeros(size, np.int64)  # [N]  whose decision it is
        self.lineup = np.zeros((size, seats), np.int16)  # [N, P]  an index into `agents` for each seat
        self.episodes = np.zeros(size, np.int64)  # [N]  begun
        self.length = np.zeros(size, np.int64)  # [N]  decisions of the learner in this episode
        self.deals = np.zeros(size, np.int64)  # [N]  finished in this episode
        self.deal_id = np.full(size, NO_DEAL_ID, np.int64)  # [N]
        self.terminated = np.zeros(size, np.bool_)  # [N]
        self.truncated = np.zeros(size, np.bool_)  # [N]
        self.paid: Rewards = np.zeros((size, seats))  # [N, P]  by the last `start` or `act`
        self.total: Rewards = np.zeros((size, seats))  # [N, P]  paid in this episode
        self._first_id = np.zeros(size, np.int64)
        self._tally = np.zeros((size, seats), np.int64)
        self._loops = Loops((), self.lineup[:0])

    def __len__(self) -> int:
        return len(self.state)

    @property
    def all_seats(self) -> bool:
        """Every seat is a learner's."""
        return self.seat_choice == "all"

    @property
    def over(self) -> Bools:
        """bool [N]: the episode is over."""
        return self.terminated | self.truncated

    @property
    def points(self) -> Ints:
        """int64 [N, P]: points so far in this deal; what it has added once it is over."""
        return points_so_far(self.lookup, self.state)

    def start(self, rows: Ints, deal_ids: Ints, random: np.random.Generator, start: Start | None = None) -> None:
        """Begin an episode at tables `rows` (int64 [K]) with deals `deal_ids` (int64 [K]), or as `start` says.

        Deal numbers and later deals are as in `table.Table.start`.  random: draws the opponents where there is a pool.
        """
        info, size, start = self.lookup, len(rows), start or Start()
        ids = deal_ids if start.deal_id is None else np.full(size, start.deal_id)
        number: Any = start.deal_no
        if number is None:
            single = self.episode == "deal" and start.hands is None
            number = single_deal_no(info, ids) if single else 0
        hands = shuffle(info, ids) if start.hands is None else np.broadcast_to(start.hands, (size, info.num_players))
        deal(
            info,
            self.state,
            hands,
            rows=rows,
            deal_no=number,
            scores=0 if start.scores is None else start.scores,
            key=ids,
        )
        self._first_id[rows] = ids
        self.deal_id[rows] = ids if start.hands is None else NO_DEAL_ID
        for array in (self.length, self.deals, self.terminated, self.truncated, self.paid, self.total, self._tally):
            array[rows] = 0
        if len(self.agents) > 1:
            self.lineup[rows] = random.integers(len(self.agents), size=(size, info.num_players), dtype=np.int16)
        if self.seat_choice == "rotating":
            self.seat[rows] = (rows + self.episodes[rows]) % info.num_players
        elif not self.all_seats:
            self.seat[rows] = self.seat_choice
        self.episodes[rows] += 1
        others = np.arange(self.lookup.num_players) != self.seat[:, None]
        self._loops = Loops(self.agents, np.where(others, self.lineup, -1))
        self._play_on(rows)

    def act(self, rows: Ints, actions: Ints) -> None:
        """Carry out the learner's legal actions (int64 [K]) at tables `rows` (int64 [K]), where no episode is over."""
        self.length[rows] += 1
        self.paid[rows] = 0.0
        if len(rows) == len(self):
            step(self.lookup, self.state, actions)
        else:
            part = self.state.take(rows)
            step(self.lookup, part, actions)
            self.state.put(rows, part)
        self._finish(rows)
        self._play_on(rows)
        if self.reward == "tricks":
            self._pay_tricks(rows)
        self.total[rows] += self.paid[rows]

    def abandon(self, rows: Ints, amount: float) -> None:
        """End the episodes at tables `rows`, where the seat to act gets `amount`."""
        self.length[rows] += 1
        self.paid[rows] = 0.0
        self.paid[rows, self.seat[rows]] = amount
        self.total[rows] += self.paid[rows]
        self.terminated[rows] = True

    def view(self, rows: Ints | None = None) -> View:
        """What the seat to decide may know at each table, or at tables `rows`; of the last one where all is over."""
        if rows is None:
            return view(self.lookup, self.state, self.seat)
        return view(self.lookup, self.state.take(rows), self.seat[rows])

    def legal(self) -> Sets:
        """The legal actions at each table, int64 [N]; 0 where the episode is over."""
        sets: Sets = legal(self.lookup, self.state)
        sets[self.over] = 0
        return sets

    def summary(self) -> dict[str, NDArray[Any]]:
        """What came out of the episode at each table, [N, ...]; right where it is over.

        points, scores: [N, P].  For the learner [N], where every seat learns for each seat [N, P]:
        return: the sum of rewards; payoff: in points, see `rewards.payoff`; won: has it the lowest points or score?
        length: decisions of the learner.  deals: finished.  seat: the learner's, or the last to decide.
        """
        final = self.points if self.episode == "deal" else self.state.scores.astype(np.int64)
        return {
            "points": self.points,
            "scores": self.state.scores.astype(np.int64),
            "return": self.of_learner(self.total),
            "payoff": self.of_learner(payoff(self.lookup, final)),
            "won": self.of_learner(lowest_seats(self.lookup, final)),
            "length": self.length.copy(),
            "deals": self.deals.copy(),
            "seat": self.seat.copy(),
        }

    def of_learner(self, values: NDArray[Any]) -> NDArray[Any]:
        """The learner's column of [N, P] as [N]; a copy of all where every seat learns."""
        return values.copy() if self.all_seats else values[np.arange(len(self)), self.seat]

    def copy(self) -> LearnerTables:
        """The same tables, sharing nothing that changes."""
        other = copy.copy(self)
        for name, value in self.__dict__.items():
            if isinstance(value, (State, np.ndarray)):
                setattr(other, name, value.copy())
        return other

    # -- within ------------------------------------------------------------------------------------------------------

    def _play_on(self, rows: Ints) -> None:
        """Let others act at tables `rows` until the learner is to decide or the episode is over."""
        while len(rows := self._waiting(rows)):
            # Nobody of theirs is to act at tables that are not among `rows`.
            if self._loops.play_on(self.lookup, self.state):
                self._finish(rows)
                continue
            part = self.state.take(rows)
            seen = view(self.lookup, part)
            step(self.lookup, part, self._answers(rows, seen))
            self.state.put(rows, part)
            self._finish(rows)

    def _waiting(self, rows: Ints) -> Ints:
        """Those of `rows` where the next action is not the learner's to decide."""
        rows = rows[~self.over[rows]]
        turn = self.state.turn[rows]
        if self.all_seats:
            self.seat[rows] = turn
        waiting = turn != self.seat[rows]
        if self.skip_forced:
            mine = np.flatnonzero(~waiting & (self.length[rows] > 0))
            if len(mine):
                waiting[mine] = ~_several(legal(self.lookup, self.state.take(rows[mine])))
        result: Ints = rows[waiting]
        return result

    def _answers(self, rows: Ints, seen: View) -> Ints:
        """The actions of the seats to act.  Where there is just one, nobody is asked."""
        free = _several(seen.legal)
        if free.all():
            return ask(self.agents, self.lineup[rows, seen.seat], seen)
        actions: Ints = lowest(seen.legal)
        asked = np.flatnonzero(free)
        if len(asked):
            actions[asked] = ask(self.agents, self.lineup[rows[asked], seen.seat[asked]], seen.take(asked))
        return actions

    def _finish(self, rows: Ints) -> None:
        """Pay for the deals that are over at tables `rows`, and deal the next ones of games that go on."""
        rows = rows[self.state.over[rows]]
        if len(rows) == 0:
            return
        info, part = self.lookup, self.state.take(rows)
        self.paid[rows] += step_rewards(info, part, self._tally[rows], reward=self.reward, episode=self.episode)
        self._tally[rows] = 0
        self.deals[rows] += 1
        done = (part.phase == GAME_OVER) | (self.episode == "deal")
        self.terminated[rows] = done
        self.truncated[rows] = ~done & (self.deals[rows] >= self.max_deals)
        again = rows[~self.over[rows]]
        if len(again):
            ids = next_deal_id(self._first_id[again], self.deals[again])
            self.deal_id[again] = ids
            deal(info, self.state, shuffle(info, ids), rows=again, key=ids)

    def _pay_tricks(self, rows: Ints) -> None:
        """Pay for the tricks of the deals that go on."""
        rows = rows[~self.over[rows]]
        now = points_so_far(self.lookup, self.state.take(rows))
        self.paid[rows] += self._tally[rows] - now
        self._tally[rows] = now


def check_one_learner(tables: LearnerTables, library: str) -> None:
    """Raise EnvError where every seat is a learner's, for a library that takes a table's steps for one learner's."""
    if tables.all_seats:
        raise EnvError(
            f"seat='all': {library} would take the steps of all seats for those of one learner: give a seat or "
            "'rotating', and opponents"
        )


def _several(sets: Sets) -> Bools:
    """Has each set more than one member?"""
    several: Bools = (sets & (sets - 1)) != 0
    return several


def checked_seat(seat: object, seats: int) -> SeatChoice:
    """`seat` as the choice that it is at a table of so many seats.  Raises EnvError for anything else."""
    if seat == "rotating":
        return "rotating"
    if seat == "all":
        return "all"
    if isinstance(seat, (int, np.integer)) and not isinstance(seat, bool) and 0 <= seat < seats:
        return int(seat)
    raise EnvError(f"seat={seat!r:.60}: must be a whole number from 0 to {seats - 1}, 'rotating' or 'all'")
