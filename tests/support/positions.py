"""Positions in the middle of a deal, made from what matters in them: a hand, a trick, what was taken, the scores."""

from __future__ import annotations

from collections.abc import Sequence

from hearts_env.cards import NO_CARD, card_set, cards_in, parse_card, parse_hand
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.rules import Rules
from hearts_env.game.state import MOON, PLAY, State
from hearts_env.game.view import View, view


def to_act(
    rules: Rules,
    hand: str,
    trick: str = "",
    *,
    taken: Sequence[str] = (),
    scores: Sequence[int] = (),
    broken: bool = True,
) -> View:
    """The view of a seat that holds `hand` behind the cards of `trick`, in the order in which they were played.

    The viewer is seat 0.  taken: penalty and bonus cards that each seat has captured, the viewer's first; what is not
    named anywhere is in other hands as far as there is room, scoring cards first, or was captured by seat 1.
    """
    compiled = compiled_rules(rules)
    seats = compiled.num_players
    state = State.empty(compiled, 1)
    played = [parse_card(name) for name in trick.split()]
    own, table = parse_hand(hand), card_set(played)
    captured = [parse_hand(text) if text else 0 for text in (*taken, *[""] * (seats - len(taken)))]
    rest = compiled.deck & ~own & ~table & ~sum(captured)
    scoring = sum(cards for cards, _ in compiled.point_sets)
    order = cards_in(rest & scoring) + cards_in(rest & ~scoring)
    left = own.bit_count()
    sizes = [left if seat < seats - len(played) else left - 1 for seat in range(1, seats)]
    hands = [own]
    for size in sizes:
        hands.append(card_set(order[:size]))
        order = order[size:]
    dead = card_set(order[: compiled.rules.dead_cards])
    captured[1] |= card_set(order) & ~dead
    state.hands[0], state.taken[0], state.table[0] = hands, captured, table
    _seat_the_played(compiled.hand_size, state, played, sum(captured))
    state.scores[0] = scores or 0
    state.phase[:], state.turn[:], state.broken[:], state.deal_no[:] = PLAY, 0, broken, 3
    state.count[:] = seats * (compiled.hand_size - left) + len(played)
    for seat, card in enumerate(played, seats - len(played)):
        if state.best[0] == NO_CARD or int(compiled.beats[state.best[0]]) >> card & 1:
            state.best[0], state.best_seat[0] = card, seat
    if played:
        state.led[0] = compiled.suit[played[0]]
    return view(compiled, state, [0])


def moon_choice(rules: Rules, scores: Sequence[int]) -> View:
    """The view of seat 0, which has shot the moon, before its choice."""
    compiled = compiled_rules(rules)
    state = State.empty(compiled, 1)
    state.taken[0, 0] = compiled.deck
    state.scores[0] = scores
    state.phase[:], state.turn[:], state.shooter[:], state.deal_no[:] = MOON, 0, 0, 0
    state.count[:] = compiled.num_plays
    return view(compiled, state, [0])


def _seat_the_played(hand_size: int, state: State, played: list[int], captured: int) -> None:
    """Say who has played what, so that every seat had a full hand; who it was is left open by the position."""
    seats = state.hands.shape[1]
    gone = cards_in(captured)
    for seat in range(seats):
        mine = int(state.hands[0, seat])
        place = seat - (seats - len(played))
        if place >= 0:
            mine |= 1 << played[place]
        missing = hand_size - mine.bit_count()
        mine |= card_set(gone[:missing])
        gone = gone[missing:]
        state.start[0, seat] = mine
