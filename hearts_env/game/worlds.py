"""Full states that are consistent with what a seat has seen: the inverse of `view`.

Search and belief models draw them.  A world gives every unseen card to a seat that may hold it: not to one that has
failed to follow its suit, or that could only have played as it did with nothing else in hand; cards that the viewer
has passed are with their receiver until played.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import (
    ALL_CARDS,
    CLUBS,
    NO_CARD,
    NUM_CARDS,
    NUM_SUITS,
    Bools,
    Ints,
    Sets,
    bit,
    card_set,
    cards_in,
    choose,
    count,
)
from hearts_env.executor import executed
from hearts_env.game.engine import mask, mix
from hearts_env.game.random_play import unit
from hearts_env.game.rulebook import (
    absolute,
    after_pass,
    breaks,
    giver,
    held_at_discard,
    held_at_lead,
    legal_picks,
    lowest_club,
    off_suit,
    picked_by,
    receiver,
    relative,
    seat_after,
    select,
)
from hearts_env.game.state import DEAL_OVER, PASS, State
from hearts_env.game.view import ALL_SUITS, View

ATTEMPTS = 32
"""Random deals tried for a world before it is searched for."""
_WORLD_SALT = 0x3017


class NoWorldError(ValueError):
    """No full state fits what a view says."""


def worlds(view: View, times: int, salt: int = 0) -> State:
    """Draw `times` worlds for each of N views: a State of N * times tables, those of one view side by side.

    A pure function of the views (`View.key` is the source of chance), `times` and `salt`, whatever else is in the
    batch.  Cards that nothing is known about are equally likely to be anywhere; where seats are known to be void,
    the distribution is close to uniform over the worlds that fit, but not exactly so.

    Raises ValueError for a view of a deal that is over, and NoWorldError if no world fits.
    """
    if (view.phase >= DEAL_OVER).any():
        raise ValueError("worlds can be drawn while a deal is being played, and one of these deals is over")
    forced, allowed, room = _constraints(view)
    row, key = np.repeat(np.arange(len(view)), times), view.key
    world = np.tile(np.arange(times), len(view)) + _WORLD_SALT + salt * NUM_CARDS * ATTEMPTS
    hands = np.zeros((len(row), room.shape[1]), np.int64)
    todo = np.arange(len(row))
    for attempt in range(ATTEMPTS):
        part = row[todo]
        seed = mix(key[part] + mix((world[todo] * ATTEMPTS + attempt).view(np.uint64)))
        hands[todo], fits = spread(allowed[part], room[part], seed)
        todo = todo[~fits]
        if len(todo) == 0:
            break
    for failed in todo:
        hands[failed] = _search(allowed[row[failed]], room[row[failed]], int(key[row[failed]]) + int(world[failed]))
    return _state(view, hands[:, : view.rules.num_players] | forced[row], times, salt)


def _constraints(view: View) -> tuple[Sets, Sets, Ints]:
    """Constraints on the hidden cards of each view: who holds some, who may hold others, and how many.

    forced: int64 [N, P] the cards known to be in a hand (the viewer's own hand at 0).
    allowed: int64 [N, P + 1] the cards that may be anywhere else, for each place that may have them; place P is
    that of the dead cards.  room: int64 [N, P + 1] how many of them each place takes.
    """
    rules, seats = view.rules, view.rules.num_players
    suits = np.array(rules.suit_sets[:NUM_SUITS])
    void = np.bitwise_or.reduce(np.where(view.voids[..., None] >> np.arange(NUM_SUITS) & 1, suits, 0), axis=2)
    allowed = np.full((len(view), seats + 1), ALL_CARDS, np.int64)
    allowed[:, :seats] = ~void & _only(view)
    opening, opener = _opening(view)
    below = CLUBS & (opening - 1)
    allowed[:, :seats] &= ~np.where(opening != 0, below, 0)[:, None]

    forced = view.known
    forced[:, 0] = view.hand
    held = opening & view.out
    forced[np.arange(len(view)), opener] |= held
    free = view.out & ~np.bitwise_or.reduce(forced, axis=1)
    allowed &= free[:, None]

    room = np.empty((len(view), seats + 1), np.int64)
    playing = view.phase != PASS
    room[:, :seats] = rules.hand_size - count(view.played) * playing[:, None] - count(forced)
    room[:, seats] = rules.rules.dead_cards
    return forced, allowed, room


def _opening(view: View) -> tuple[Sets, Ints]:
    """The lowest club that anybody was dealt, if the viewer can tell, and who holds or held it (relative).

    int64 [N]: the card as a set, or 0 with seat 0.  Only the rules that make its holder lead tell anything.
    """
    rules = view.rules.rules
    nothing = np.zeros(len(view), np.int64)
    playing = view.phase != PASS
    if rules.first_leader != "lowest_club":
        return nothing, nothing
    leader = relative(rules.num_players, view.leaders[:, 0].astype(np.int64), view.seat)
    if rules.first_lead == "forced":
        led = view.plays[:, 0].astype(np.int64)
        own = np.where(leader == 0, lowest_club(view.hand), _lowest_of_the_pack(view))
        card = np.where(led == NO_CARD, own, bit(np.maximum(led, 0)))
    else:
        card = _lowest_of_the_pack(view)
    known = playing & (card != 0)
    return np.where(known, card, 0), np.where(known, leader, 0)


def _lowest_of_the_pack(view: View) -> Sets:
    """The lowest club of the pack where no card is dead, else 0; int64 [N]."""
    return np.full(len(view), lowest_club(view.rules.deck) if view.rules.rules.dead_cards == 0 else 0, np.int64)


def _only(view: View) -> Sets:
    """The cards that each seat can hold after what it has had to do for want of others; int64 [N, P]."""
    compiled, rules = view.rules, view.rules.play
    seats = compiled.num_players
    only = np.full(view.played.shape, ALL_CARDS, np.int64)
    last = int(view.count.max(initial=0)) if (view.phase != PASS).any() else 0
    if last == 0:
        return only
    plays, place = view.plays[:, :last], np.arange(last)
    leads = place % seats == 0
    card = np.where(plays == NO_CARD, 0, bit(np.maximum(plays, 0).astype(np.int64)))
    suits = np.where(plays == NO_CARD, 0, compiled.suit_sets[compiled.suit[plays]])
    led = np.where(leads, 0, suits[:, place - place % seats])
    breaking = breaks(rules, card, off_suit(card, led)) & -(card != 0).astype(np.int64)
    broken = np.zeros_like(card)
    broken[:, 1:] = np.bitwise_or.accumulate(breaking, axis=1)[:, :-1]
    first = mask(place < seats)
    held = select(mask(leads), held_at_lead(rules, card, broken), held_at_discard(rules, card, led, first))
    held |= -(card == 0).astype(np.int64)
    rows, places = np.nonzero(~held)
    np.bitwise_and.at(only, (rows, view.players[rows, places]), held[rows, places])
    return only


@executed
def spread(allowed: Sets, room: Ints, seed: NDArray[np.uint64]) -> tuple[Sets, Bools]:
    """Deal the free cards of M worlds to the places that may hold them.

    Cards with the fewest places go first; each goes to a place with a chance in proportion to the room left there,
    which is uniform where every card may go anywhere.  Returns the sets, int64 [M, places], and which worlds fit.
    """
    places = room.shape[1]
    spots = np.zeros((len(room), NUM_CARDS), np.int64)
    for place in range(places):
        spots += allowed[:, place, None] >> np.arange(NUM_CARDS) & 1
    order = np.argsort(np.where(spots == 0, places + 1, spots), axis=1, kind="stable")
    cards = int((spots > 0).sum(axis=1).max(initial=0))
    rows = np.arange(len(room))
    left = room.copy()
    hands = np.zeros_like(room)
    fits = np.ones(len(room), np.bool_)
    for turn in range(cards):
        card = order[:, turn]
        there = spots[rows, card] > 0
        weight = np.cumsum(left * (allowed >> card[:, None] & 1), axis=1)
        total = weight[:, -1]
        fits &= (total > 0) | ~there
        chance = (mix(seed + np.uint64(turn)) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        place = np.minimum((weight <= (chance * total)[:, None]).sum(axis=1), places - 1)
        gets = there & (total > 0)
        hands[rows, place] |= bit(card) * gets
        left[rows, place] -= gets
    return hands, fits & (left == 0).all(axis=1)


def _search(allowed: Sets, room: Ints, seed: int) -> Sets:
    """One world for one view by augmenting paths (Kuhn): slow, but finds one if there is one.

    allowed, room: int64 [places].  Raises NoWorldError.
    """
    chance = np.random.default_rng(seed)
    cards = chance.permutation(cards_in(int(np.bitwise_or.reduce(allowed))))
    held: list[list[int]] = [[] for _ in room]

    def settle(card: int, tried: set[int]) -> bool:
        open_to = [place for place in range(len(room)) if allowed[place] >> card & 1 and place not in tried]
        for place in chance.permutation(open_to) if open_to else ():
            tried.add(place)
            if len(held[place]) < room[place]:
                held[place].append(card)
                return True
            for other in held[place]:
                if settle(other, tried):
                    held[place][held[place].index(other)] = card
                    return True
        return False

    if not all(settle(int(card), set()) for card in cards):
        raise NoWorldError("no full state fits what the view says")
    return np.array([card_set(cards) for cards in held], np.int64)


def _state(view: View, hands: Sets, times: int, salt: int) -> State:
    """The State that these hands (int64 [N * times, P], relative) complete."""
    seats = view.rules.num_players
    column = relative(seats, np.arange(seats), view.seat[:, None])
    row = np.repeat(np.arange(len(view)), times)

    def by_seat(values: Ints) -> Ints:
        return np.take_along_axis(values, column if len(values) == len(column) else column[row], axis=1)

    def at_table(seat: Ints) -> NDArray[np.int8]:
        there: NDArray[np.int8] = absolute(seats, seat, view.seat).astype(np.int8)
        return there

    shape = (len(view), seats)
    known = State(
        hands=np.zeros(shape, np.int64),
        picks=np.zeros(shape, np.int64),
        start=np.zeros(shape, np.int64),
        taken=by_seat(view.taken),
        table=view.table,
        key=view.table_key,
        scores=by_seat(view.scores).astype(np.int32),
        points=np.zeros(shape, np.int32),
        deal_no=view.deal_no.astype(np.int32),
        voids=((by_seat(view.voids) & ALL_SUITS) << NUM_SUITS * np.arange(seats)).sum(axis=1).astype(np.int32),
        plays=view.plays,
        leaders=view.leaders,
        phase=view.phase,
        turn=at_table(view.turn),
        count=view.count.astype(np.int8),
        led=view.led,
        best=view.best,
        best_seat=at_table(view.best_seat),
        shooter=at_table(view.shooter),
        choice=np.full(len(view), NO_CARD, np.int8),
        broken=view.broken,
    )
    state = known.repeat(times)
    start = hands | view.played[row]
    state.hands[:] = by_seat(hands)
    state.start[:] = by_seat(start)
    state.picks[:] = by_seat(_picks(view, start, times, salt))
    return state


def _picks(view: View, start: Sets, times: int, salt: int) -> Sets:
    """The picks of each seat, int64 [N * times, P], relative: known for the viewer and its giver, else drawn."""
    rules, seats = view.rules, view.rules.num_players
    row, passing = np.repeat(np.arange(len(view)), times), view.phase == PASS
    picks = np.zeros_like(start)
    offset, every = view.offset[row], np.arange(len(start))
    # As `agent.uniform` draws them, all at once.
    numbers = salt * NUM_CARDS + np.arange(seats)[:, None] * rules.hand_size + np.arange(rules.pass_count)
    chance = unit(view.key[:, None, None], mix(numbers.view(np.uint64)))[row]
    for seat in range(1, seats):
        so_far = picked_by(seats, seat_after(seats, view.seat, seat), view.count)
        size = np.where(passing, so_far, rules.pass_count * (view.offset != 0))
        # Once passed, a seat's picks are in its receiver's hand.
        pool = start[every, np.where(passing[row], seat, receiver(seats, seat, offset))]
        for pick in range(int(size.max(initial=0))):
            drawn = choose(legal_picks(rules.play, pool, picks[:, seat]), chance[:, seat, pick])
            picks[:, seat] |= np.where(pick < size[row], bit(np.maximum(drawn, 0)), 0)
    picks[:, 0] = view.picks[row]
    gives = after_pass(view.phase, view.offset)
    from_seat = (giver(seats, 0, view.offset) & gives)[row]
    picks[every, from_seat] = select(gives, view.got, view.picks)[row]
    return picks
