"""Perft: count every legal way to play on from a position, with the engine and with the oracle.

`data/perft.json` lists positions with the counts that the oracle found: how many sequences of 1, 2, ... actions are
legal (picks, plays and moon choices alike), and of the deals that end within them how many are moons, how many end
the game, and the sum of each seat's points.  A position is text of `hearts_env.text.notation`; `pack` lists the cards
of a small deck.  To add one, write its name, rules, position and depth there and count; or let `--add` find an ending.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import support_path  # noqa: F401

# isort: split
import oracle
from hearts_agents import make
from hearts_env.cards import ACTION_NAMES, Ints, nth
from hearts_env.game.compiled_rules import CompiledRules, compiled_rules
from hearts_env.game.engine import deal, legal, shuffle, single_deal_no, step
from hearts_env.game.rules import Rules
from hearts_env.game.state import GAME_OVER, State
from hearts_env.game.view import view
from hearts_env.text.notation import parse_position, show_position

FILE = Path(__file__).parents[1] / "data" / "perft.json"
CHUNK = 1 << 15
"""Tables that the engine plays on at a time."""
MOST = 6000
"""Continuations that an added ending may have."""


@dataclass
class Tally:
    """What lies below a position."""

    counts: list[int]
    """Legal sequences of 1, 2, ... actions."""
    ends: int = 0
    """Those that end the deal."""
    moons: int = 0
    games: int = 0
    """Those that end the game with it."""
    points: list[int] = field(default_factory=list)
    """What the deals that end add to each score, summed."""


@dataclass(frozen=True)
class Position:
    """An entry of the file."""

    name: str
    rules: str
    position: str
    depth: int
    pack: str | None = None
    tally: Tally | None = None

    def full_rules(self) -> Rules:
        """The rules with the small deck, if there is one."""
        rules = Rules.parse(self.rules)
        return of_pack(self.pack, **rules.changes()) if self.pack else rules


def of_pack(pack: str, **fields: Any) -> Rules:
    """Rules for a small deck, of the cards that `pack` lists as in `C25 SQ`."""
    return Rules.from_dict({**fields, "deck": pack})


def load() -> list[Position]:
    """The positions of the file."""
    entries: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return [Position(**{**entry, "tally": Tally(**entry["tally"]) if "tally" in entry else None}) for entry in entries]


def save(positions: list[Position]) -> None:
    """Write the file, a field a line so that a change of one count is a change of one line."""
    entries = [{name: value for name, value in asdict(item).items() if value is not None} for item in positions]
    lines = [",\n".join(f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in e.items()) for e in entries]
    text = ",\n".join(f" {{\n{line}\n }}" for line in lines)
    FILE.write_text(f"[\n{text}\n]\n", encoding="utf-8")


# -- the engine ------------------------------------------------------------------------------------------------------


def engine_state(item: Position) -> tuple[CompiledRules, State]:
    """The position as one table of the engine."""
    rules = compiled_rules(item.full_rules())
    return rules, parse_position(rules, item.position)


def play_all(rules: CompiledRules, state: State) -> tuple[State, Ints]:
    """Every table once for each of its legal actions, after that action; and the actions, int64."""
    sets = legal(rules, state)
    size = np.bitwise_count(sets).astype(np.int64)
    row = np.repeat(np.arange(len(state)), size)
    place = np.arange(len(row)) - np.repeat(np.cumsum(size) - size, size)
    actions = nth(sets[row], place)
    grown = state.take(row)
    step(rules, grown, actions)
    return grown, actions


def count_engine(rules: CompiledRules, state: State, depth: int) -> Tally:
    """Count with whole batches: all tables of a depth together, or as many as a chunk holds."""
    tally = Tally([0] * depth, points=[0] * rules.num_players)
    _tally_ends(tally, state)
    waiting = [(state, 0)]
    while waiting:
        part, level = waiting.pop()
        if level == depth:
            continue
        grown, _ = play_all(rules, part)
        tally.counts[level] += len(grown)
        _tally_ends(tally, grown)
        waiting += [(grown.take(slice(begin, begin + CHUNK)), level + 1) for begin in range(0, len(grown), CHUNK)]
    return tally


def _tally_ends(tally: Tally, state: State) -> None:
    over = state.over
    tally.ends += int(over.sum())
    tally.moons += int((over & (state.shooter >= 0)).sum())
    tally.games += int((state.phase == GAME_OVER).sum())
    points = state.points[over].sum(axis=0).tolist()
    tally.points = [mine + more for mine, more in zip(tally.points, points, strict=True)]


# -- the oracle ------------------------------------------------------------------------------------------------------


def oracle_deal(item: Position) -> oracle.Deal:
    """The position in the oracle, read without the engine's parser."""
    rules = item.full_rules()
    sections = dict(part.strip().split(" ", 1) for part in item.position.split("|"))
    hands, picks = (_by_suit(sections.get(name, "")) for name in ("hands", "picks"))
    scores = [int(score) for score in sections["scores"].split()]
    fields = {"num_players": rules.num_players, **rules.changes()}
    deal = oracle.Deal(oracle.rules(**fields), hands, int(sections["deal"]), scores)
    turns = max(map(len, picks), default=0)
    actions = [cards[turn] for turn in range(turns) for cards in picks if turn < len(cards)]
    actions += [oracle.card(word) for word in sections.get("plays", "").split()]
    if "moon" in sections:
        actions.append(oracle.ADD if sections["moon"] == "add" else oracle.SUBTRACT)
    for action in actions:
        deal.step(action)
    return deal


def _by_suit(text: str) -> list[list[int]]:
    """`C25 SQ / - / H3` as lists of cards."""
    hands = []
    for hand in text.split("/") if text else []:
        words = [word for word in hand.split() if word != "-"]
        hands.append([oracle.card(rank + word[0]) for word in words for rank in word[1:]])
    return hands


def branch(deal: oracle.Deal, action: int) -> oracle.Deal:
    """The deal after an action; the one given stays as it is."""
    other = copy.copy(deal)
    for name in ("hands", "picks", "taken", "voids"):
        setattr(other, name, [type(cards)(cards) for cards in getattr(deal, name)])
    for name in ("plays", "table", "tricks_won", "trick_winners"):
        setattr(other, name, list(getattr(deal, name)))
    other.step(action)
    return other


def count_oracle(deal: oracle.Deal, depth: int) -> Tally:
    """Count one action at a time, depth first."""
    tally = Tally([0] * depth, points=[0] * deal.n)
    waiting = [(deal, 0)]
    while waiting:
        here, level = waiting.pop()
        if here.phase == "over":
            tally.ends += 1
            tally.moons += here.shooter is not None
            tally.games += here.game_over
            tally.points = [mine + more for mine, more in zip(tally.points, here.points, strict=True)]
        elif level < depth:
            grown = [(branch(here, action), level + 1) for action in here.legal()]
            tally.counts[level] += len(grown)
            waiting += grown
    return tally


# -- where they differ -----------------------------------------------------------------------------------------------


def divide_engine(rules: CompiledRules, state: State, depth: int) -> dict[int, Tally]:
    """What lies below each legal action of one table, to `depth` actions with it."""
    grown, actions = play_all(rules, state)
    return {
        action: count_engine(rules, grown.take(np.array([row])), depth - 1)
        for row, action in enumerate(actions.tolist())
    }


def divide_oracle(deal: oracle.Deal, depth: int) -> dict[int, Tally]:
    """The same from the oracle."""
    return {action: count_oracle(branch(deal, action), depth - 1) for action in deal.legal()}


def explain(rules: CompiledRules, state: State, deal: oracle.Deal, depth: int) -> str:
    """Where engine and oracle part: divided by move, and on through the moves that differ to where they begin to.

    The last position printed is the one whose legal actions differ, or after whose last action the scoring does.
    """
    lines = [f"under {rules.rules.show()}"]
    for left in range(_first_difference(rules, state, deal, depth), 0, -1):
        lines.append(f"{show_position(rules, state)}\n  to {left} more actions:")
        ours, theirs = divide_engine(rules, state, left), divide_oracle(deal, left)
        for action in sorted({*ours, *theirs}):
            mark = "" if ours.get(action) == theirs.get(action) else "   <- differs"
            name = ACTION_NAMES[action].rjust(8)
            lines.append(f"  {name}  engine {_line(ours.get(action))}  oracle {_line(theirs.get(action))}{mark}")
        differ = [action for action in ours if action in theirs and ours[action] != theirs[action]]
        if ours.keys() != theirs.keys() or not differ:
            break
        state, deal = state.copy(), branch(deal, differ[0])
        step(rules, state, np.array([differ[0]]))
    return "\n".join(lines)


def _first_difference(rules: CompiledRules, state: State, deal: oracle.Deal, depth: int) -> int:
    """The fewest actions after which the two differ; 0 if they do not."""
    for fewer in range(1, depth + 1):
        if count_engine(rules, state, fewer) != count_oracle(deal, fewer):
            return fewer
    return 0


def _line(tally: Tally | None) -> str:
    if tally is None:
        return "illegal"
    below = " ".join(map(str, tally.counts))
    return f"[{below}] {tally.ends} ends {tally.moons} moons {tally.games} games {tally.points}"


def report(item: Position) -> str:
    """How the engine differs from the oracle at this position, for the message of a test."""
    info, state = engine_state(item)
    found = explain(info, state, oracle_deal(item), item.depth)
    return f"{item.name}: the engine counts other continuations than the file says\n{found}"


# -- a new position --------------------------------------------------------------------------------------------------


def ending(rules: str, deal_id: int) -> Position:
    """The last tricks of a deal that the random agent has played: as many as give at most MOST continuations."""
    compiled, agent = compiled_rules(Rules.parse(rules)), make("random")
    ids = np.array([deal_id])
    state = State.empty(compiled, 1)
    deal(compiled, state, shuffle(compiled, ids), deal_no=single_deal_no(compiled, ids), key=ids)
    passed = []
    while not state.over[0]:
        passed.append(state.copy())
        step(compiled, state, agent.act(view(compiled, state)))
    found = passed[-1]
    for earlier in passed[:: -compiled.num_players]:
        if _is_larger(compiled, earlier, MOST):
            break
        found = earlier
    found.key[:] = 0  # the agent's, not the position's
    depth = compiled.num_plays - int(found.count[0]) + (compiled.rules.moon == "choice")
    return Position(f"an ending of {rules}", rules, show_position(compiled, found), depth)


def _is_larger(rules: CompiledRules, state: State, most: int) -> bool:
    below = 0
    while len(state) and below <= most:
        state, _ = play_all(rules, state)
        below += len(state)
    return below > most


# -- the command -----------------------------------------------------------------------------------------------------


def timed(count: Callable[[], Tally]) -> tuple[Tally, float]:
    """What it counts, and the seconds it took."""
    begin = time.perf_counter()
    tally = count()
    return tally, time.perf_counter() - begin


def compare(positions: list[Position], with_oracle: bool) -> int:
    """Count all, print a line each and the rates; 1 if the engine is wrong anywhere."""
    spent = {"engine": [0, 0.0], "oracle": [0, 0.0]}
    wrong = 0
    for item in positions:
        info, state = engine_state(item)
        ours, seconds = timed(lambda info=info, state=state, item=item: count_engine(info, state, item.depth))
        spent["engine"] = [spent["engine"][0] + sum(ours.counts), spent["engine"][1] + seconds]
        expected = item.tally
        if with_oracle:
            deal = oracle_deal(item)
            expected, seconds = timed(lambda deal=deal, item=item: count_oracle(deal, item.depth))
            spent["oracle"] = [spent["oracle"][0] + sum(expected.counts), spent["oracle"][1] + seconds]
        fine = ours == expected == item.tally
        print(f"{'ok   ' if fine else 'WRONG'} {max(ours.counts, default=0):8}  {item.name}")
        if not fine:
            wrong = 1
            print(report(item) if ours != expected else "the file is out of date: python tests/tools/perft.py --count")
    for name, (nodes, seconds) in spent.items():
        if seconds:
            print(f"{name}: {nodes} positions in {seconds:.2f} s, {nodes / seconds:,.0f} a second")
    return wrong


def main(arguments: list[str] | None = None) -> int:
    """The program: compare, or count anew, or divide one position by move."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", action="store_true", help="count with the oracle and write the file anew")
    parser.add_argument("--add", metavar="RULES", help="add an ending of a deal under these rules, and count it")
    parser.add_argument("--deal-id", type=int, default=0, help="for --add: the deal")
    parser.add_argument("--engine-only", action="store_true", help="compare with the file, without the slow oracle")
    parser.add_argument("--name", default="", help="only the positions whose name contains this")
    parser.add_argument("--divide", action="store_true", help="the engine's counts below each legal action")
    parser.add_argument("--depth", type=int, help="for --divide: so many actions instead of the file's")
    asked = parser.parse_args(arguments)
    positions = load()
    chosen = [item for item in positions if asked.name in item.name]
    if asked.add is not None:
        chosen = [ending(asked.add, asked.deal_id)]
        positions = [item for item in positions if item.name != chosen[0].name] + chosen
    if asked.count or asked.add is not None:
        counted = {item.name: replace(item, tally=count_oracle(oracle_deal(item), item.depth)) for item in chosen}
        save([counted.get(item.name, item) for item in positions])
        return 0
    if asked.divide:
        for item in chosen:
            info, state = engine_state(item)
            print(f"{item.name}: {info.rules.show()}\n{item.position}")
            for action, tally in divide_engine(info, state, asked.depth or item.depth).items():
                print(f"  {ACTION_NAMES[action].rjust(8)}  {_line(tally)}")
        return 0
    return compare(chosen, with_oracle=not asked.engine_only)


if __name__ == "__main__":
    sys.exit(main())
