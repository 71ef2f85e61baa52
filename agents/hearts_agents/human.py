"""A person at the terminal as an agent: shows what it may know, and asks what it plays."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hearts_agents.rule.agent import RuleAgent
from hearts_env.cards import ACTION_NAMES, NO_CARD, NO_SUIT, RANKS, SUITS, CardError, Ints, bit, cards_in, parse_card
from hearts_env.game.scoring import card_points
from hearts_env.game.state import MOON, PASS
from hearts_env.game.view import View
from hearts_env.match.agent import Agent
from hearts_env.text.notation import NOTHING, SUIT_SIGNS, parse_action, show_suits
from hearts_env.text.render import coloured, headline

HELP = """\
Name a card (qs, Q♠, sq, 10d), or type its number in the list, or a suit or rank that only one of them has.
  hint   what the {adviser} agent would do      ?      this text
  quit   leave the table                        Enter  show the table again"""
LEAVING = ("quit", "exit", "resign")
SUIT_WORDS = ("clubs", "diamonds", "hearts", "spades")


class LeftTableError(ValueError):
    """The person has left the table."""


class HumanAgent:
    """Asks a person for each action."""

    def __init__(
        self,
        name: str = "human",
        *,
        adviser: Agent | None = None,
        ask: Callable[[str], str] = input,
        console: Console | None = None,
        names: Sequence[str] = (),
    ) -> None:
        """adviser: gives the hints; None for the rule agent.  ask: prints a prompt and gives what is typed, or raises
        EOFError.  names: what to call each seat of the table.
        """
        self.name = name
        self._adviser = adviser or RuleAgent()
        self._ask = ask
        self._console = console or Console(markup=False, highlight=False)
        self._names = names

    def act(self, view: View) -> Ints:
        """The person's action for each view in turn, int64 [N].  Raises LeftTableError (a ValueError)."""
        return np.array([self._decide(view.take(np.array([row]))) for row in range(len(view))], np.int64)

    def _decide(self, seen: View) -> int:
        self.show(seen)
        while True:
            self._say(_choices(seen))
            try:
                text = self._ask(f"{_verb(seen)}: ").strip()
            except EOFError:
                raise LeftTableError("the player has left the table") from None
            if text.lower() in LEAVING:
                raise LeftTableError("the player has left the table")
            if not text:
                self.show(seen)
            elif text in ("?", "help"):
                self._say(HELP.format(adviser=self._adviser.name))
            elif text.lower() == "hint":
                self._say(f"{self._adviser.name} would {_verb(seen)} {_signed(int(self._adviser.act(seen)[0]))}")
            else:
                try:
                    return read_action(seen, text)
                except CardError as error:
                    self._say(str(error))

    def show(self, seen: View) -> None:
        """Print the table as this view (of one table) has it."""
        self._say("")
        self._say(headline(seen))
        for line in (passing_line(seen, self._names), trick_line(seen, self._names)):
            if line:
                self._say(line)
        self._console.print(_table(seen, self._names))

    def called(self, seen: View, at: int) -> str:
        """The name of the seat `at` places to the left of the viewer, for people."""
        return _called(seen, at, self._names)

    def _say(self, text: str) -> None:
        self._console.print(Text.from_ansi(coloured(text)) if text else "")


def read_action(seen: View, text: str) -> int:
    """The legal action that a person means by `text`, at one table.

    Raises CardError with a sentence for people where it is none, or could be several.
    """
    legal = cards_in(int(seen.legal[0]))
    word = text.strip().upper()
    if word.isascii() and word.isdigit() and 1 <= int(word) <= len(legal):
        return legal[int(word) - 1]
    try:
        action = _named(text)
    except CardError:
        return _only(legal, word)
    if action not in legal:
        raise CardError(_why_not(seen, action))
    return action


def _named(text: str) -> int:
    """A card with suit and rank in either order, or a moon choice."""
    try:
        return parse_action(text)
    except CardError:
        word = text.strip()
        return parse_card(word[1:] + word[:1])


def _only(legal: list[int], word: str) -> int:
    """The one legal action whose name begins or ends with `word`: a rank, a suit, or the beginning of a choice."""
    sign = word.translate(str.maketrans(SUIT_SIGNS, SUITS)).replace("10", "T")
    names = {action: ACTION_NAMES[action].upper() for action in legal}
    fitting = [action for action, name in names.items() if sign and (name.startswith(sign) or name.endswith(sign))]
    if len(fitting) == 1 and sign != "Q":
        return fitting[0]
    if fitting:
        several = " or ".join(map(_signed, fitting))
        raise CardError(f"{several}? Name the card" + (", or type quit to leave" if sign == "Q" else ""))
    raise CardError(f"{word.lower()[:20]!r} is none of them; name a card, as in qs, or its number (? for help)")


def _why_not(seen: View, action: int) -> str:
    card = _signed(action)
    if not int(seen.hand[0]) >> action & 1:
        return f"you do not hold {card}"
    if seen.phase[0] == PASS:
        picked = int(seen.picks[0]) >> action & 1
        return f"{card} is picked already" if picked else f"these rules do not let {card} be passed"
    led = int(seen.led[0])
    if led == NO_SUIT:
        reason = "must be led first" if len(cards_in(int(seen.legal[0]))) == 1 else "may be led"
        return f"{card} cannot be led now: {_listed(seen)} {reason}"
    if int(seen.hand[0]) & seen.rules.suit_sets[led]:
        return f"{SUIT_WORDS[led]} are led and you hold some: you must follow with {_listed(seen)}"
    return f"{card} is not allowed on the first trick: {_listed(seen)} may be discarded"


# -- what is shown ---------------------------------------------------------------------------------------------------


def passing_line(seen: View, names: Sequence[str] = ()) -> str:
    """The cards passed and received in a sentence, until the first trick is over; "" after that."""
    if seen.phase[0] == PASS or seen.offset[0] == 0 or seen.trick_no[0] > 0:
        return ""
    seats, offset = seen.rules.num_players, int(seen.offset[0])
    there, here = _called(seen, offset, names), _called(seen, (seats - offset) % seats, names)
    gave, got = (show_suits(int(cards[0]), signs=True) for cards in (seen.picks, seen.got))
    return f"You passed {gave} to {there} and received {got} from {here}"


def trick_line(seen: View, names: Sequence[str] = ()) -> str:
    """The last complete trick in the order of play, and who took it; "" if there is none."""
    seats = seen.rules.num_players
    end = (int(np.count_nonzero(seen.plays[0] != NO_CARD))) // seats * seats
    if end == 0:
        return ""
    cards, players = seen.plays[0, end - seats : end], seen.players[0, end - seats : end]
    taker = int(np.argmax(seen.taken[0] & bit(cards[:1].astype(np.int64)) != 0))
    points = int(card_points(seen.rules, bit(cards.astype(np.int64))).sum())
    played = "  ".join(f"{_called(seen, int(seat), names)} {_signed(int(card))}"
                       for seat, card in zip(players, cards, strict=True))  # fmt: skip
    verb = "take" if taker == 0 else "takes"
    return f"Trick {end // seats}: {played}; {_called(seen, taker, names)} {verb} it for {points}"


def _table(seen: View, names: Sequence[str]) -> Table:
    """A row a seat from the viewer on, and the viewer's hand by suit."""
    table = Table("", "seat", box=None, pad_edge=False)
    for column in ("score", "points", "cards"):
        table.add_column(column, justify="right")
    table.add_column("trick")
    table.add_column("known to you")
    for at in range(seen.rules.num_players):
        card = int(seen.trick[0, at])
        known = int(seen.known[0, at]) if at else int(seen.hand[0])
        table.add_row(
            ">" if at == seen.turn[0] else "",
            _called(seen, at, names),
            str(seen.scores[0, at]),
            str(seen.points[0, at]),
            str(seen.rules.hand_size - int(seen.played[0, at]).bit_count()),
            _coloured(_signed(card)) if card != NO_CARD else Text(""),
            _coloured(show_suits(known, signs=True) if known else ""),
        )
    return table


def _choices(seen: View) -> str:
    return "  ".join(f"{number} {_signed(action)}" for number, action in enumerate(cards_in(int(seen.legal[0])), 1))


def _verb(seen: View) -> str:
    if seen.phase[0] == PASS:
        picked = int(seen.picks[0])
        return "pass" + (f" (beside {show_suits(picked, signs=True)})" if picked else "")
    return "choose" if seen.phase[0] == MOON else "play"


def _called(seen: View, at: int, names: Sequence[str]) -> str:
    """The name of the seat `at` places to the left, for people."""
    if at == 0:
        return "you"
    seat = (int(seen.seat[0]) + at) % seen.rules.num_players
    return f"seat {seat} {names[seat]}" if names else f"seat {seat}"


def _listed(seen: View) -> str:
    return show_suits(int(seen.legal[0]), signs=True)


def _signed(action: int) -> str:
    """♠Q, or the name of a moon choice."""
    if action >= len(SUITS) * len(RANKS):
        return ACTION_NAMES[action]
    return show_suits(1 << action, signs=True) or NOTHING


def _coloured(text: str) -> Text:
    return Text.from_ansi(coloured(text))
