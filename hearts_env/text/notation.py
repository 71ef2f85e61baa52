"""Text for hands, actions, deals and positions, to show and to parse; what is parsed is checked.

A position is one line that rebuilds a table at any moment, given the rules: the hands as dealt, then what was done.

    deal 3 | scores 0 0 0 0 | hands C25 DTQ H6 SA / ... / ... / ... | plays 2C 5C

Its sections, in this order: `deal` (the number), `scores` (before the deal), `hands` (as dealt), `picks` (to pass, by
seat), `plays` (in order), `moon` (what the shooter chose), `key` (State.key).  The last four stand only where needed.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import (
    ACTION_NAMES,
    ADD,
    CARD_NAMES,
    NO_CARD,
    NO_SEAT,
    SUBTRACT,
    SUIT_SETS,
    CardError,
    Ints,
    Sets,
    bit,
    cards_in,
    names_in,
    parse_card,
)
from hearts_env.cards import NOTHING as NOTHING
from hearts_env.cards import SUIT_SIGNS as SUIT_SIGNS
from hearts_env.cards import parse_hand as parse_hand
from hearts_env.cards import show_suits as show_suits
from hearts_env.game.compiled_rules import CompiledRules, compiled_rules
from hearts_env.game.engine import deal, legal, pass_offset, shuffle, step
from hearts_env.game.rulebook import after_pass, exchanged, giver, picked_by
from hearts_env.game.rules import Rules
from hearts_env.game.scoring import automatic_choice
from hearts_env.game.state import DEAL_OVER, PHASE_NAMES, State

SECTIONS = ("deal", "scores", "hands", "picks", "plays", "moon", "key")
_NUMBER = re.compile("-?[0-9]{1,9}")
_KEY = re.compile("-?[0-9]{1,19}")


class NotationError(ValueError):
    """Text that describes no position, or cards that cannot be dealt or played so."""


# -- hands and actions -----------------------------------------------------------------------------------------------


def show_hand(cards: int) -> str:
    """The cards of a set by name, lowest first, as in `2C 5C QS`; `-` for none."""
    return " ".join(names_in(cards)) or NOTHING


def parse_action(text: str) -> int:
    """The action that `text` names: a card, `add` or `subtract`.  Raises CardError for anything else."""
    choice = text.strip().lower() if isinstance(text, str) else ""
    if choice in (ACTION_NAMES[ADD], ACTION_NAMES[SUBTRACT]):
        return ACTION_NAMES.index(choice)
    return parse_card(text)


# -- deals -----------------------------------------------------------------------------------------------------------


def show_deal(rules: Rules, deal_id: int) -> str:
    """The hands of a deal id for people, a line a seat, and the dead cards if there are any.

    Raises NotationError unless `deal_id` is a whole number from 0 to 2**63 - 1.
    """
    if isinstance(deal_id, bool) or not isinstance(deal_id, int) or not 0 <= deal_id < 2**63:
        raise NotationError(f"deal id {deal_id!r:.40}: must be a whole number from 0 to 2**63 - 1")
    compiled = compiled_rules(rules)
    hands = shuffle(compiled, [deal_id])[0].tolist()
    labels = [f"seat {seat}" for seat in range(compiled.num_players)]
    return "\n".join([f"deal {deal_id}, {rules.show()}", *hand_lines(compiled, hands, labels)])


def hand_lines(rules: CompiledRules, hands: Sequence[int], labels: Sequence[str]) -> list[str]:
    """Hands as dealt for people: label and suits in columns, then the dead cards if the rules have some."""
    dead = rules.deck & ~sum(hands)
    rows = [*zip(labels, hands, strict=True), *([("dead", dead)] if dead else [])]
    cells = [[show_suits(cards & suit, signs=True) for suit in SUIT_SETS] for _, cards in rows]
    cells = [["" if cell == NOTHING else cell for cell in row] for row in cells]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    indent = max(len(label) for label, _ in rows)
    return [
        "  ".join([label.ljust(indent), *(cell.ljust(width) for cell, width in zip(row, widths, strict=True))]).rstrip()
        for (label, _), row in zip(rows, cells, strict=True)
    ]


def dealt_hands(rules: CompiledRules, state: State) -> Sets:
    """The hands as they were dealt, before the pass; int64 [N, P]."""
    offset = pass_offset(rules, np.maximum(state.deal_no, 0))
    passed = after_pass(state.phase, offset)[:, None]
    givers = giver(rules.num_players, np.arange(rules.num_players), offset[:, None])
    got = np.take_along_axis(state.picks, givers, axis=1) & passed
    # The pass backwards.
    dealt: Sets = exchanged(state.start, got, state.picks & passed)
    return dealt


def check_hands(rules: CompiledRules, hands: Sequence[int]) -> None:
    """Raise NotationError unless these card sets, one a seat, are a deal of the pack."""
    if len(hands) != rules.num_players:
        raise NotationError(f"there are {len(hands)} hands; the rules seat {rules.num_players}")
    seen = 0
    for seat, hand in enumerate(hands):
        if hand & ~rules.deck:
            raise NotationError(f"seat {seat} holds {show_hand(hand & ~rules.deck)}, not in the pack of these rules")
        if hand & seen:
            raise NotationError(f"seat {seat} holds {show_hand(hand & seen)}, which another seat holds too")
        if hand.bit_count() != rules.hand_size:
            raise NotationError(f"seat {seat} holds {hand.bit_count()} cards; the rules deal {rules.hand_size}")
        seen |= hand


# -- the checked replay ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trail:
    """The course of play at each of N tables that followed a script of up to K actions."""

    seat: NDArray[np.int8]  # int8 [N, K]  who acted; NO_SEAT beyond
    phase: NDArray[np.int8]  # int8 [N, K]  in which phase; 0 beyond
    legal: Sets  # int64 [N, K]  what was legal; 0 beyond
    done: Ints  # int64 [N]  actions carried out: fewer than there were where the next is not legal


def script(
    rules: CompiledRules, deal_no: int, picks: Sequence[Sequence[int]], plays: Sequence[int], moon: int | None
) -> list[int]:
    """The actions of one deal in order: the picks round the table, the plays, the moon choice.

    picks: the cards of each seat, or empty.  Raises NotationError where the numbers of picks cannot be: all pass
    `pass_count` cards before the first play, and in a pass under way no seat is ahead of its turn.
    """
    seats = rules.num_players
    due = rules.pass_count if pass_offset(rules, np.array([deal_no]))[0] else 0
    counts = [len(cards) for cards in picks] or [0] * seats
    if due == 0 and any(counts):
        raise NotationError(f"seat {np.argmax(counts)} passes cards, but nobody passes in deal number {deal_no}")
    for seat, number in enumerate(counts):
        under_way = not plays and moon is None and number == picked_by(seats, seat, sum(counts))
        if number > due or not (under_way or number == due):
            raise NotationError(f"seat {seat} passes {number} cards; the rules pass {due}")
    rest = [] if moon is None else [moon]
    return [picks[seat][pick] for pick in range(due) for seat in range(seats) if pick < counts[seat]] + [*plays, *rest]


def carry_out(rules: CompiledRules, state: State, scripts: NDArray[np.integer]) -> Trail:
    """Carry out a script of actions at each table as far as it is legal.  Changes `state`.

    scripts: [N, K] actions, NO_CARD behind the last.  A table stays as it is before its first illegal action.
    """
    tables, length = scripts.shape
    trail = Trail(
        seat=np.full((tables, length), NO_SEAT, np.int8),
        phase=np.zeros((tables, length), np.int8),
        legal=np.zeros((tables, length), np.int64),
        done=np.zeros(tables, np.int64),
    )
    going = np.arange(tables)
    for place in range(length):
        actions = scripts[going, place].astype(np.int64)
        allowed = legal(rules, state)[going]
        fine = (actions != NO_CARD) & (bit(np.maximum(actions, 0)) & allowed != 0)
        going, actions = going[fine], actions[fine]
        if len(going) == 0:
            break
        trail.seat[going, place] = state.turn[going]
        trail.phase[going, place] = state.phase[going]
        trail.legal[going, place] = allowed[fine]
        trail.done[going] += 1
        if len(going) == tables:
            step(rules, state, actions)
        else:
            part = state.take(going)
            step(rules, part, actions)
            state.put(going, part)
    return trail


def refusal(rules: CompiledRules, state: State, action: int, row: int = 0) -> str:
    """The sentence on an action that is not legal at a table: `illegal play KH by seat 2: legal are 3S QS`."""
    one = state.take(np.array([row]))
    if one.over[0]:
        return f"{ACTION_NAMES[action]} is one action too many: the deal is over"
    legal_names = " ".join(names_in(legal(rules, one)[0]))
    phase = PHASE_NAMES[one.phase[0]]
    return f"illegal {phase} {ACTION_NAMES[action]} by seat {one.turn[0]}: legal are {legal_names}"


# -- positions -------------------------------------------------------------------------------------------------------


def show_position(rules: CompiledRules, state: State, row: int = 0) -> str:
    """One table as a line of text that `parse_position` reads."""
    one = state.take(np.array([row]))
    parts = [f"deal {one.deal_no[0]}", _numbers("scores", _scores_before(rules, one))]
    plays = [CARD_NAMES[card] for card in one.plays[0] if card != NO_CARD]
    if one.deal_no[0] >= 0:
        parts.append(_by_seat("hands", dealt_hands(rules, one)[0]))
    if one.picks.any():
        parts.append(_by_seat("picks", one.picks[0]))
    if plays:
        parts.append(f"plays {' '.join(plays)}")
    if rules.rules.moon == "choice" and one.choice[0] != NO_CARD:
        parts.append(f"moon {ACTION_NAMES[one.choice[0]]}")
    if one.key[0]:
        parts.append(f"key {one.key[0]}")
    return " | ".join(parts)


def parse_position(rules: CompiledRules, text: str) -> State:
    """The one table that a position describes, found by playing it out; what `show_position` wrote gives that again.

    Raises NotationError that says what is wrong and where, also for an illegal action.
    """
    sections = _sections(text)
    numbers = _parse_numbers("deal", sections["deal"], 1)
    scores = _parse_numbers("scores", sections["scores"], rules.num_players)
    key = sections.get("key", "0")
    if not _KEY.fullmatch(key) or not -(2**63) <= int(key) < 2**63:
        raise NotationError(f"key {key!r:.40}: must be a whole number of 64 bits")
    state = State.empty(rules, 1)
    if numbers == [-1] and not sections.keys() & {"hands", "picks", "plays", "moon"}:
        state.scores[:], state.key[:] = scores, int(key)
        return state
    if numbers[0] < 0 or "hands" not in sections:
        raise NotationError(f"a position needs a deal number from 0 on, and hands: {text!r:.200}")
    try:
        hands = _parse_seats(rules, sections["hands"])
        picks = [cards_in(cards) for cards in _parse_seats(rules, sections.get("picks", ""))]
        plays = [parse_card(word) for word in sections.get("plays", "").split()]
        moon = parse_action(sections["moon"]) if "moon" in sections else None
    except CardError as error:
        raise NotationError(f"{error} (in the position {text!r:.200})") from None
    check_hands(rules, hands)
    deal(rules, state, np.array([hands]), deal_no=numbers, scores=[scores], key=int(key))
    actions = script(rules, numbers[0], picks, plays, moon)
    done = int(carry_out(rules, state, np.array([actions], np.int64)).done[0])
    if done < len(actions):
        raise NotationError(f"{refusal(rules, state, actions[done])} in {show_position(rules, state)}")
    return state


def _scores_before(rules: CompiledRules, one: State) -> Ints:
    """Scores before the deal, int64 [P], from which the deal that is over leads to the scores there are.

    A score that an exact hit of the target put back could have come from two; only moon="auto" can tell which.
    """
    before: Ints = (one.scores - one.points).astype(np.int64)
    if one.phase[0] < DEAL_OVER or one.choice[0] == NO_CARD or rules.rules.moon != "auto":
        before = before[0]
        return before
    back = rules.rules.exact_reset
    ways = [(0, rules.rules.target - back) if back is not None and score == back else (0,) for score in one.scores[0]]
    before = before + np.array(list(itertools.product(*ways)), np.int64)
    every = len(before)
    chosen = automatic_choice(rules, one.taken.repeat(every, 0), one.shooter.repeat(every).astype(np.int64), before)
    fitting: Ints = before[np.argmax(chosen == one.choice[0])]
    return fitting


def _sections(text: str) -> dict[str, str]:
    """The text of each section by its name, in the order of SECTIONS."""
    sections: dict[str, str] = {}
    for part in text.split("|"):
        name, _, rest = part.strip().partition(" ")
        if name not in SECTIONS or name in sections:
            raise NotationError(f"{name!r:.40} begins no (further) section; sections are {' '.join(SECTIONS)}")
        sections[name] = rest.strip()
    if list(sections) != sorted(sections, key=SECTIONS.index) or not {"deal", "scores"} <= sections.keys():
        raise NotationError(f"deal and scores are needed, and sections stand in the order {' '.join(SECTIONS)}")
    return sections


def _numbers(name: str, values: Ints) -> str:
    return f"{name} {' '.join(map(str, values))}"


def _parse_numbers(name: str, text: str, length: int) -> list[int]:
    words = text.split()
    if len(words) != length or not all(map(_NUMBER.fullmatch, words)):
        raise NotationError(f"{name} {text!r:.80}: must be {length} whole numbers of at most 9 digits")
    return [int(word) for word in words]


def _by_seat(name: str, sets: Sets) -> str:
    return f"{name} {' / '.join(map(show_suits, sets))}"


def _parse_seats(rules: CompiledRules, text: str) -> list[int]:
    """One card set a seat; none at all where there is no text."""
    hands = [parse_hand(part) for part in text.split("/")] if text else []
    if hands and len(hands) != rules.num_players:
        raise NotationError(f"{text!r:.200} lists {len(hands)} seats; the rules have {rules.num_players}")
    return hands
