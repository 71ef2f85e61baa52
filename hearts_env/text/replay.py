"""Records played again: what came out of them, what is wrong with them, and how they look to people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from hearts_env.cards import ACTION_NAMES, NO_CARD, NUM_RANKS, RANKS, bit, names_in
from hearts_env.game.compiled_rules import CompiledRules, compiled_rules
from hearts_env.game.engine import deal, legal, pass_offset
from hearts_env.game.rulebook import receiver
from hearts_env.game.rules import Rules
from hearts_env.game.scoring import card_points, winners
from hearts_env.game.state import GAME_OVER, PHASE_NAMES, State
from hearts_env.text.notation import SUIT_SIGNS, NotationError, Trail, carry_out, hand_lines, refusal, script
from hearts_env.text.record import MAX_LINE, Record, RecordError

_CHUNK_RECORDS = 1024
_CHUNK_BYTES = 1 << 24


@dataclass(frozen=True)
class Replay:
    """The result of a record that has been played through."""

    points: tuple[int, ...]
    """The points that the deal has added to each score; those that each seat has taken so far where it is not over."""
    scores: tuple[int, ...]
    tricks: tuple[int, ...]
    """The winner of each trick."""
    broken: bool
    over: bool
    """The game is over, by these scores."""
    winners: tuple[int, ...]
    """The seats that have won the game; none where it goes on."""
    decisions: tuple[tuple[int, str, list[str], str], ...]
    """(seat, phase, names of the legal actions, name of the action) in order; empty unless asked for."""
    next: tuple[int, str, list[str]] | None
    """(seat, phase, names of the legal actions) where the record stops early, else None."""


def replay(record: Record, decisions: bool = True) -> Replay:
    """Play a record.  Raises RecordError for what is not legal or does not add up."""
    result = replay_all([record], decisions)[0]
    if isinstance(result, RecordError):
        raise result
    return result


def replay_all(records: Sequence[Record], decisions: bool = False) -> list[Replay | RecordError]:
    """Play many records, those of equal rules together; a wrong one gives its error.  In the order of `records`."""
    results: dict[int, Replay | RecordError] = {}
    groups: dict[Rules, tuple[list[int], list[list[int]]]] = {}
    for place, record in enumerate(records):
        try:
            actions = script(compiled_rules(record.rules), record.deal_no, record.passes, record.plays, record.moon)
        except NotationError as error:
            results[place] = RecordError(str(error))
            continue
        places, scripts = groups.setdefault(record.rules, ([], []))
        places.append(place)
        scripts.append(actions)
    for rules, (places, scripts) in groups.items():
        group = [records[place] for place in places]
        results.update(zip(places, _replay_group(compiled_rules(rules), group, scripts, decisions), strict=True))
    return [results[place] for place in range(len(records))]


def _replay_group(
    rules: CompiledRules, records: list[Record], scripts: list[list[int]], decisions: bool
) -> list[Replay | RecordError]:
    state = State.empty(rules, len(records))
    hands = np.array([record.hands for record in records], np.int64)
    totals = np.array([record.totals for record in records], np.int64)
    deal(rules, state, hands, deal_no=[record.deal_no for record in records], scores=totals)
    longest = max(map(len, scripts))
    padded = np.array([actions + [NO_CARD] * (longest - len(actions)) for actions in scripts], np.int64)
    trail = carry_out(rules, state, padded.reshape(len(scripts), longest))
    points = np.where(state.over[:, None], state.points, card_points(rules, state.taken))
    won = winners(rules, state.scores.astype(np.int64)) & (state.phase == GAME_OVER)[:, None]
    firsts = state.plays[:, :: rules.num_players].astype(np.int64)
    takers = np.argmax(state.taken[:, None] & bit(np.maximum(firsts, 0))[..., None] != 0, axis=2)
    allowed = legal(rules, state)
    results: list[Replay | RecordError] = []
    for row, (record, actions) in enumerate(zip(records, scripts, strict=True)):
        if trail.done[row] < len(actions):
            results.append(_error(rules, state, row, record, actions, int(trail.done[row])))
            continue
        seat, phase = int(state.turn[row]), PHASE_NAMES[state.phase[row]]
        result = Replay(
            points=tuple(points[row].tolist()),
            scores=tuple(state.scores[row].tolist()),
            tricks=tuple(takers[row, : len(record.plays) // rules.num_players].tolist()),
            broken=bool(state.broken[row]),
            over=bool(state.phase[row] == GAME_OVER),
            winners=tuple(np.flatnonzero(won[row]).tolist()),
            decisions=_decisions(trail, row, actions) if decisions else (),
            next=None if state.over[row] else (seat, phase, names_in(allowed[row])),
        )
        results.append(_disagreement(record, result) or result)
    return results


def _error(rules: CompiledRules, state: State, row: int, record: Record, actions: list[int], done: int) -> RecordError:
    """On the first action that is not legal."""
    at = done - (len(actions) - len(record.plays) - (record.moon is not None))
    if at == len(record.plays):
        choice = ACTION_NAMES[actions[done]]
        return RecordError(f"moon is {choice!r}, but no shooter had a choice to make: it must be null")
    return RecordError(refusal(rules, state, actions[done], row), at if at >= 0 else None)


def _disagreement(record: Record, result: Replay) -> RecordError | None:
    for key, given, found in (
        ("points", record.points, result.points),
        ("scores", record.scores, result.scores),
    ):
        if given is not None and result.next is not None:
            return RecordError(f"{key} are given, but the deal is not over: next is a {result.next[1]} action")
        if given is not None and given != found:
            return RecordError(f"{key} are {list(found)}, but the record says {list(given)}")
    return None


def _decisions(trail: Trail, row: int, actions: list[int]) -> tuple[tuple[int, str, list[str], str], ...]:
    return tuple(
        (int(seat), PHASE_NAMES[phase], names_in(legal_set), ACTION_NAMES[action])
        for seat, phase, legal_set, action in zip(
            trail.seat[row], trail.phase[row], trail.legal[row].tolist(), actions, strict=False
        )
    )


# -- checking files --------------------------------------------------------------------------------------------------


def read_lines(stream: BinaryIO) -> Iterator[bytes]:
    """The lines of a binary stream without their ends; of a line that is too long, no more than shows that it is."""
    while line := stream.readline(MAX_LINE + 2):
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = stream.readline(MAX_LINE)
        yield line.rstrip(b"\r\n")


def check_line(line: str | bytes, number: int = 1, decisions: bool = False) -> dict[str, Any]:
    """The answer of `hearts check` on one line, as JSON values: what came out, or the error."""
    return next(check_lines([line], decisions, number))


def check_lines(lines: Iterable[str | bytes], decisions: bool = False, first: int = 1) -> Iterator[dict[str, Any]]:
    """The answer on each line in order; `first` is the number of the first line.

    Works on about a thousand lines at a time, so that memory does not grow with the number of lines.
    """
    chunk: list[Record | RecordError] = []
    size = 0
    for line in lines:
        try:
            chunk.append(Record.parse(line.rstrip("\r\n") if isinstance(line, str) else line.rstrip(b"\r\n")))
        except RecordError as error:
            chunk.append(error)
        size += len(line)
        if len(chunk) == _CHUNK_RECORDS or size > _CHUNK_BYTES:
            yield from _answers(chunk, decisions, first)
            first += len(chunk)
            chunk, size = [], 0
    yield from _answers(chunk, decisions, first)


def _answers(chunk: list[Record | RecordError], decisions: bool, first: int) -> Iterator[dict[str, Any]]:
    replays = iter(replay_all([item for item in chunk if isinstance(item, Record)], decisions))
    for number, item in enumerate(chunk, first):
        result = next(replays) if isinstance(item, Record) else item
        if isinstance(result, RecordError):
            yield {"line": number, "ok": False, "at": result.at, "error": str(result)}
        else:
            yield _answer(number, result, decisions)


def _answer(number: int, result: Replay, decisions: bool) -> dict[str, Any]:
    answer: dict[str, Any] = {"line": number, "ok": True}
    for key in ("points", "scores", "tricks"):
        answer[key] = list(getattr(result, key))
    answer.update(broken=result.broken, over=result.over, winners=list(result.winners))
    if decisions:
        answer["decisions"] = [list(decision) for decision in result.decisions]
    if result.next:
        answer["next"] = dict(zip(("seat", "phase", "legal"), result.next, strict=True))
    return answer


# -- for people ------------------------------------------------------------------------------------------------------


def show(record: Record) -> str:
    """A record for people, trick by trick.  Raises RecordError where it is wrong."""
    result = replay(record)
    rules = compiled_rules(record.rules)
    seats = [f"seat {seat}" for seat in range(rules.num_players)]
    names = record.names or ("",) * rules.num_players
    labels = [f"{seat} {name}".rstrip() for seat, name in zip(seats, names, strict=True)]
    title = "a deal" if record.deal_id is None else f"deal {record.deal_id}"
    lines = [f"{title}, number {record.deal_no} of its game, {record.rules.show()}"]
    lines += ["", *hand_lines(rules, record.hands, labels), "", *_pass_lines(rules, record, seats)]
    lines += [*_trick_lines(rules, record, result, seats), ""]
    if record.moon is not None:
        lines.append(f"moon    {ACTION_NAMES[record.moon]}")
    lines += [_columns("points", result.points), _columns("scores", result.scores)]
    if result.over:
        lines.append(f"the game is over; won by {' and '.join(seats[seat] for seat in result.winners)}")
    if result.next:
        seat, phase, actions = result.next
        lines.append(f"next: {phase} by {seats[seat]}, legal are {' '.join(actions)}")
    return "\n".join(lines)


def _pass_lines(rules: CompiledRules, record: Record, seats: list[str]) -> list[str]:
    offset = int(pass_offset(rules, np.array([record.deal_no]))[0])
    if not record.passes:
        return ["no pass", ""] if offset == 0 else []
    to = [seats[receiver(rules.num_players, seat, offset)] for seat in range(rules.num_players)]
    lines = [
        f"{seats[seat]} passes {' '.join(map(_card, sorted(cards)))} to {to[seat]}"
        for seat, cards in enumerate(record.passes)
        if cards
    ]
    return [*lines, ""]


def _trick_lines(rules: CompiledRules, record: Record, result: Replay, seats: list[str]) -> list[str]:
    """A line a trick: `>` marks the leader's card, `*` the winner's; then the points of the cards."""
    lines = ["trick   " + "".join(seat.ljust(8) for seat in seats) + "points"]
    players = [seat for seat, phase, _, _ in result.decisions if phase == "play"]
    for begin in range(0, len(record.plays), rules.num_players):
        cards = record.plays[begin : begin + rules.num_players]
        number = begin // rules.num_players
        winner = result.tricks[number] if number < len(result.tricks) else None
        cells = {}
        for player, card in zip(players[begin:], cards, strict=False):
            lead = ">" if player == players[begin] else " "
            cells[player] = f"{lead}{_card(card)}{'*' if player == winner else ''}"
        points = int(card_points(rules, bit(np.array(cards))).sum())
        row = "".join(cells.get(seat, "").ljust(8) for seat in range(rules.num_players))
        lines.append(f"{number + 1:5}   {row}{points or ''}".rstrip())
    return lines


def _columns(label: str, values: Sequence[int]) -> str:
    return (f"{label:8}" + "".join(f" {value}".ljust(8) for value in values)).rstrip()


def _card(card: int) -> str:
    return RANKS[card % NUM_RANKS] + SUIT_SIGNS[card // NUM_RANKS]
