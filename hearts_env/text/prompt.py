"""A View in words, and answers in words as actions: what an agent that reads and writes text needs."""

from __future__ import annotations

import re

from hearts_env.cards import (
    ACTION_NAMES,
    ADD,
    CARD_NAMES,
    NO_CARD,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SUITS,
    RANKS,
    SUBTRACT,
    SUIT_SETS,
    SUITS,
    CardError,
    cards_in,
    names_in,
)
from hearts_env.game.explain import paragraph
from hearts_env.game.state import MOON, PASS
from hearts_env.game.view import View
from hearts_env.text.notation import parse_action

RANK_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king", "ace")
SUIT_WORDS = ("clubs", "diamonds", "hearts", "spades")


class AnswerError(ValueError):
    """An answer that is not one legal action; its text is a sentence to send back to whoever answered."""


def card_words(card: int) -> str:
    """A card as people say it: `queen of spades`."""
    return f"{RANK_WORDS[card % NUM_RANKS]} of {SUIT_WORDS[card // NUM_RANKS]}"


# -- a position in words -----------------------------------------------------------------------------------------------


def rules_text(view: View) -> str:
    """The rules of the game in a few sentences, for the head of a prompt."""
    return paragraph(view.rules.rules)


def show_view(view: View, row: int = 0) -> str:
    """A View in words, with a question at the end where the seat is to act.

    Seats are named as the viewer counts them: `you`, then `seat +1` to the left, and so on.  Nothing is said that the
    View does not hold.
    """
    lines = [
        _standing(view, row),
        *_passed(view, row),
        *_history(view, row),
        f"Your hand: {_by_suit(int(view.hand[row]))}.",
        *_facts(view, row),
    ]
    if view.legal[row]:
        lines.append(question(view, row))
    return "\n".join(lines)


def question(view: View, row: int = 0) -> str:
    """The question to the seat to act, with every legal answer by name."""
    names = ", ".join(names_in(int(view.legal[row])))
    if view.phase[row] == MOON:
        return f"You shot the moon. Answer add (to the others' scores) or subtract (from yours). Legal: {names}."
    if view.phase[row] == PASS:
        done, due = int(view.picks[row]).bit_count(), view.rules.pass_count
        to = _seat(int(view.offset[row]))
        return f"Choose card {done + 1} of {due} to pass to {to}. Answer with one card. Legal: {names}."
    return f"Which card do you play? Answer with one card. Legal: {names}."


def _seat(relative: int) -> str:
    return "you" if relative == 0 else f"seat +{relative}"


def _standing(view: View, row: int) -> str:
    def listed(numbers: list[int]) -> str:
        return ", ".join(f"{_seat(seat)} {number}" for seat, number in enumerate(numbers))

    scores, points = listed(view.scores[row].tolist()), listed(view.points[row].tolist())
    return (
        f"{view.rules.num_players} players; seat +1 sits to your left. "
        f"Deal number {view.deal_no[row] + 1} of the game. "
        f"Scores: {scores}. Points in this deal: {points}."
    )


def _passed(view: View, row: int) -> list[str]:
    offset, picks = int(view.offset[row]), int(view.picks[row])
    if offset == 0:
        return ["Nobody passes cards in this deal."]
    if view.phase[row] == PASS:
        return [f"You have chosen to pass so far: {' '.join(names_in(picks)) or 'nothing'}."]
    giver = _seat(-offset % view.rules.num_players)
    got = " ".join(names_in(int(view.got[row])))
    return [f"You passed {' '.join(names_in(picks))} to {_seat(offset)}, and got {got} from {giver}."]


def _history(view: View, row: int) -> list[str]:
    """A line a trick."""
    seats, lines = view.rules.num_players, []
    players = view.players[row].tolist()
    plays = [int(card) for card in view.plays[row] if card != NO_CARD]
    for begin in range(0, len(plays), seats):
        cards = plays[begin : begin + seats]
        said = ", ".join(
            f"{_seat(player)} {CARD_NAMES[card]}" for player, card in zip(players[begin:], cards, strict=False)
        )
        number = begin // seats + 1
        if len(cards) < seats:
            lines.append(f"Trick {number}, on the table: {said}.")
        else:
            lines.append(f"Trick {number}: {said}; taken by {_seat(_taker(view, row, cards[0]))}.")
    return lines


def _taker(view: View, row: int, card: int) -> int:
    return next(seat for seat, taken in enumerate(view.taken[row].tolist()) if taken >> card & 1)


def _facts(view: View, row: int) -> list[str]:
    if view.phase[row] == PASS:
        return []
    lines = []
    if view.led[row] >= 0:
        winning = f"{CARD_NAMES[view.best[row]]} of {_seat(int(view.best_seat[row]))}"
        lines.append(f"Led: {SUIT_WORDS[view.led[row]]}. Winning so far: {winning}.")
    elif view.turn[row] == 0 and view.phase[row] != MOON:
        lines.append("You lead.")
    lines.append(f"Hearts are {'' if view.broken[row] else 'not '}broken.")
    for seat, voids in enumerate(view.voids[row].tolist()):
        suits = [word for suit, word in enumerate(SUIT_WORDS) if voids >> suit & 1]
        if suits and seat:
            lines.append(f"{_seat(seat)} has no {' and no '.join(suits)} left.".capitalize())
    lines.append(f"Cards you have not seen: {_by_suit(int(view.out[row]))}.")
    return lines


def _by_suit(cards: int) -> str:
    parts = [" ".join(names_in(cards & suit)) for suit in SUIT_SETS if cards & suit]
    return ", ".join(parts) or "none"


# -- an answer in words ------------------------------------------------------------------------------------------------

_RANKS = {
    **{rank: place for place, rank in enumerate(RANKS.lower())},
    **{str(place + 2): place for place in range(NUM_RANKS)},
    **{word: place for place, word in enumerate(RANK_WORDS)},
    **{"1": NUM_RANKS - 1, "deuce": 0, "knave": RANKS.index("J")},
}
_SUITS = {
    **{suit: place for place, suit in enumerate(SUITS.lower())},
    **{sign: place % NUM_SUITS for place, sign in enumerate("♣♦♥♠♧♢♡♤")},
    **{word: place for place, word in enumerate(SUIT_WORDS)},
    **{word[:-1]: place for place, word in enumerate(SUIT_WORDS)},
}
_WORD = "|".join((*RANK_WORDS, "deuce", "knave"))
# Letters must be capitals (`AS`, `AH`), since `as` and `ah` are words, and a rank in words wants its `of`, since
# `a heart` and `two hearts` are no cards.
_CARD = re.compile(
    r"(?<!\w)(?:"
    r"(?P<digits>10|[2-9])(?P<letter>[cdhsCDHS])(?!\w)|(?P<capital>[TJQKA])(?P<capital_suit>[CDHS])(?!\w)"
    r"|(?P<before>10|[2-9tjqkaTJQKA])\s?(?P<sign>[♣♦♥♠♧♢♡♤])"
    r"|(?P<first_sign>[♣♦♥♠♧♢♡♤])\ufe0f?\s?(?P<after>10|[2-9tjqkaTJQKA])(?!\w)"
    rf"|(?P<said>(?i:{_WORD}|1[0-4]|[1-9tjqka]))[\s-]+(?i:of)[\s-]+(?P<suit>(?i:(?:club|diamond|heart|spade)s?))(?!\w)"
    r")"
)
_CHOICE = re.compile(r"(?<!\w)(?:(?P<add>add)|(?P<subtract>subtract))(?!\w)", re.IGNORECASE)


def named_actions(text: str) -> list[int]:
    """The different actions that a text names, in order: cards however written, `add` and `subtract`."""
    try:
        return [parse_action(text.strip(" \n\t.!*`\"'"))]  # nothing but a name, in whatever case
    except CardError:
        pass
    found: list[tuple[int, int]] = []
    for match in _CARD.finditer(text):
        rank = match["digits"] or match["capital"] or match["before"] or match["after"] or match["said"]
        suit = match["letter"] or match["capital_suit"] or match["sign"] or match["first_sign"] or match["suit"]
        found.append((match.start(), _SUITS[suit.lower()] * NUM_RANKS + _RANKS[rank.lower()]))
    found += [(match.start(), ADD if match["add"] else SUBTRACT) for match in _CHOICE.finditer(text)]
    return list(dict.fromkeys(action for _, action in sorted(found)))


def read_answer(text: str, view: View, row: int = 0) -> int:
    """The legal action that an answer names: `I'd play the queen of spades`, `QS`, `Q♠`, `12 of spades`.

    Where the last line names just one action it is that, so that a model may think aloud before; else the whole answer
    must name just one.  Raises AnswerError with a sentence to send back where it does not, or where that is not legal.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    last = named_actions(lines[-1]) if lines else []
    named = last if len(last) == 1 else named_actions(text)
    if view.phase[row] != MOON:
        named = [action for action in named if action < NUM_CARDS] or named
    legal = cards_in(int(view.legal[row]))
    if len(named) == 1 and named[0] in legal:
        return named[0]
    names = ", ".join(ACTION_NAMES[action] for action in legal)
    said = " and ".join(ACTION_NAMES[action] for action in named)
    if not named:
        raise AnswerError(f"Your answer names no card or choice. Answer with exactly one of: {names}.")
    if len(named) > 1:
        raise AnswerError(f"Your answer names {said}. Answer with exactly one of: {names}.")
    raise AnswerError(f"{said} is not legal here. Answer with exactly one of: {names}.")
