"""What a seat may not know and its network can learn to guess: the other hands, and how the deal ends.

A guess is one yes or no, and its logit one output of the network.  Seat by seat from the own one on they are: whether
it holds the card, for each card (asked of those that the own seat has not seen), then its ENDING.  Those about one's
own cards are left out.
"""

from __future__ import annotations

import numpy as np

from hearts_env.cards import BLACK_MARIA, NUM_CARDS, Bools, Ints, Sets, members
from hearts_env.game.compiled_rules import Lookup
from hearts_env.game.state import State
from hearts_env.observe.blocks import POINT_BITS, POINT_STEPS
from hearts_env.observe.encode import Layout

ENDING = ("takes QS", "shoots the moon", *(f"gets at least {step} points" for step in POINT_STEPS))
"""The guesses about the end of the deal for a seat, which are also bits of a number, from the lowest on."""

SEAT_GUESSES = NUM_CARDS + len(ENDING)


def num_guesses(seats: int) -> int:
    """Outputs of a network that sees so many seats."""
    return seats * SEAT_GUESSES - NUM_CARDS


def unseen(state: State, out: Sets) -> Sets:
    """What the seats to act don't know of the cards: int64 [N, P], `out` and behind it the hands of the opponents.

    out: int64 [N]  cards that the seat has not seen.
    """
    hands = from_seat(state.hands, state.turn.astype(np.int64))
    hands[:, 0] = out
    return hands


def critic_words(layout: Layout) -> int:
    """64-bit words of what a critic sees."""
    return layout.words + layout.seats - 1


def seen_by_critic(layout: Layout, packed: Sets, unseen: Sets) -> Sets:
    """An encoding and behind it the hands of the opponents, int64 [n, `critic_words`].

    packed: int64 [n, words].  unseen: int64 [n, P]  see `unseen`.
    """
    seen = np.zeros((len(packed), critic_words(layout)), np.int64)
    seen[:, : layout.words] = packed
    seen[:, layout.words : layout.words + unseen.shape[1] - 1] = unseen[:, 1:]
    return seen


def endings(lookup: Lookup, state: State) -> Sets:
    """How these deals, which are over, have ended: ENDING as a number for each seat, int64 [N, P]."""
    queen = state.taken >> BLACK_MARIA & 1
    moon = np.arange(lookup.num_players) == state.shooter[:, None]
    result: Sets = queen | moon.astype(np.int64) << 1 | POINT_BITS.take(state.points, mode="clip") << 2
    return result


def from_seat(columns: Sets, seat: Ints) -> Sets:
    """The columns [N, P] as the seats [N] count them: the own one first."""
    places = (seat[:, None] + np.arange(columns.shape[1])) % max(1, columns.shape[1])
    return np.take_along_axis(columns, places, axis=1)


def asked_and_true(unseen: Sets, endings: Sets, seats: int) -> tuple[Bools, Bools]:
    """Which guesses are asked, and which are true: bool [n, `num_guesses(seats)`] each.

    unseen: int64 [n, P]  see `unseen`.  endings: int64 [n, P]  see `endings`; the own seat first.  seats: P or more.
    """
    size, players = unseen.shape
    asked, true = np.zeros((2, size, seats, SEAT_GUESSES), np.bool_)
    asked[:, :players, :NUM_CARDS] = members(unseen[:, :1], NUM_CARDS)
    asked[:, :players, NUM_CARDS:] = True
    true[:, :players, :NUM_CARDS] = members(unseen, NUM_CARDS)
    true[:, :players, NUM_CARDS:] = members(endings, len(ENDING))
    return asked.reshape(size, -1)[:, NUM_CARDS:], true.reshape(size, -1)[:, NUM_CARDS:]
