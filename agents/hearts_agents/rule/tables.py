"""The rule agent's weights under given rules, as whole numbers to look up."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hearts_agents.rule.weights import Weights
from hearts_env.cards import BLACK_MARIA, NUM_CARDS, NUM_RANKS, NUM_SUITS, QS_SET, SUIT_SETS, Numbers, Sets, cards_in
from hearts_env.game.compiled_rules import ALL_ONES, CompiledRules

UNIT = 1024
"""One point, or a chance of one."""
COUNTS = NUM_RANKS + 1
"""The number of different counts of a suit's cards: 0 to 13."""
PLACES = COUNTS * COUNTS
"""The number of pairs of such counts."""
MAX_GUARDS = 3
"""More cards than this below a card of one's own protect it no better."""
STANDARD_POINTS = 26
"""Points of the standard game's penalty cards; the weights are in such points whatever the scoring."""
STANDARD_QUEEN = 13
"""Points of the queen of spades in it."""
MAX_TRICKS = NUM_CARDS // 2
ODDS_STEPS = 16
ODDS_RANGE = 8
ODDS = 2 * ODDS_RANGE * ODDS_STEPS
"""The number of log odds in the table, in steps of 1 / ODDS_STEPS from -ODDS_RANGE on."""
HEART, SPADE = 2, 3
LOW_HEARTS = 4
KINDS = np.array([0, 0, 1, 2, 0], np.int32)
"""Kinds of suits that weights tell apart: clubs and diamonds (and none), hearts, spades."""
ABOVE_QUEEN = SUIT_SETS[SPADE] & -(2 << BLACK_MARIA)
BELOW_QUEEN = SUIT_SETS[SPADE] & (QS_SET - 1)


Whole = NDArray[np.int32]


class RuleTables(NamedTuple):
    """Rules and weights as whole numbers; points and chances in 1/UNIT, masks all ones (-1) or 0."""

    players: int
    others: int
    hand_size: int
    pass_count: int
    deck: int
    penalty: int
    """The set of penalty cards."""
    ban: int
    """Mask: penalty cards are barred from the first trick."""
    bonus: int
    """The set of the bonus card, or 0."""
    over_bonus: int
    """The cards that beat it in its suit."""
    trump: int
    """Mask: hearts are trumps."""
    teams: int
    """Mask: there are teams."""
    moon: int
    """Mask: there are moons."""
    team_moon: int
    """Mask: both of a team make a moon together."""
    seat_bits: int
    """Bit 4 * seat of each seat but the viewer."""
    beats: Sets  # int64 [53]  by card: those that win over it once it is winning; [NO_CARD] is all cards
    points: Whole  # int32 [52]  by card
    suit_sets: Sets  # int64 [5]  [-1] is 0
    kind: Whole  # int32 [5]  of each suit, times COUNTS * PLACES
    num_small: int
    small_sets: Sets  # int64 [52]  penalty cards but the queen of spades, by their points; num_small of them
    small_points: Whole  # int32 [52]
    num_points: int
    point_sets: Sets  # int64 [52]  all cards worth points, by their points; num_points of them
    point_values: Whole  # int32 [52]
    queen_points: int
    # By counts.
    inverse: Whole  # int32 [53]  UNIT over a number; UNIT for 0
    later_bits: Whole  # int32 [7]  the four bits from 4 * seat on of the seats 1 to so many
    share: Whole  # int32 [8 * 8]  at later * 8 + hands: later over hands
    void: Whole  # int32 [8 * 14]  chance that one of so many hands has none of so many cards
    win: Whole  # int32 [2 * 64 * PLACES]  chance that of so many seats none beats a card
    known: Whole  # int32 [4]  chance that the receiver doesn't beat a card: bit 0 it is known that it can, 1 can duck
    danger: Whole  # int32 [3 * COUNTS * PLACES]  at kind + own lower cards * PLACES + place
    short: Whole  # int32 [14]
    spade_danger: Whole  # int32 [14]  of ace and king, by the number of lower spades
    cover: Whole  # int32 [14]  of a low spade under one's own queen, by their number
    losers: Whole  # int32 [14 * PLACES]  at unsure * PLACES + rest * COUNTS + sure: tricks lost in the suit
    tricks: Whole  # int32 [53]  tricks in a pile of so many cards
    chance: Whole  # int32 [ODDS]  of log odds in steps of 1/16, from -8 on
    # Passing.
    pass_row: Whole  # int32 [5]  where the dangers of each suit begin
    pass_rank: Whole  # int32 [3 * PLACES]
    pass_guard: Whole  # int32 [5]  by suit
    pass_size: Whole  # int32 [14 * 14]  at cards of the suit * 14 + cards to pass
    pass_card: Whole  # int32 [52]  extra of a card as such
    pass_spade: Whole  # int32 [3 * PLACES]  at (0 low, 1 queen, 2 high) * PLACES + lower spades * COUNTS + higher ones
    # Single weights.
    give: int
    tempo: int
    dump_small: int
    dump_queen: int
    dump_known: int
    catch: int
    floor: int
    stakes: int
    """Danger in 1/UNIT that each UNIT of points still out adds, times UNIT."""
    queen_shed: int
    flush: int
    flush_bare: int
    flush_known: int
    expose: int
    threat_base: int
    threat_heart: int
    threat_queen: int
    threat_won: int
    threat_lost: int
    threat_lead: int
    stop: int
    feed: int
    spread: int
    keep_high: int
    keep_early: int
    keep_top: int
    keep_heart: int
    hunt: int
    bonus_keep: int
    pass_partner: int
    moon_heart: int
    moon_queen: int
    moon_limit: int
    moon_more: int
    moon_late: Whole  # int32 [27]  by tricks done
    moon_pass: int
    moon_lead_heart: int


WIN_SEATS = 8


@lru_cache(maxsize=256)
def rule_tables(rules: CompiledRules, weights: Weights) -> RuleTables:
    """The RuleTables for these rules and weights, always the same one for the same two."""
    scale = STANDARD_POINTS / max(rules.penalty_points, 1)
    value = {card: each * scale for cards, each in rules.point_sets for card in cards_in(cards)}
    points = [float(np.clip(value.get(card, 0.0), -STANDARD_POINTS, STANDARD_POINTS)) for card in range(NUM_CARDS)]
    return RuleTables(
        **_of_rules(rules),
        **_by_card(rules, points),
        **_by_count(rules, weights, points),
        **_for_passing(rules, weights, points),
        **_single(rules, weights, points),
        **_for_moons(rules, weights),
    )


@lru_cache(maxsize=256)
def rule_record(rules: CompiledRules, weights: Weights) -> NDArray[np.void]:
    """The RuleTables as one record, [1], for kernels: they take it by its address, whatever is in it."""
    lut = rule_tables(rules, weights)
    fields = [(name, *_kind(value)) for name, value in lut._asdict().items()]
    return np.array([tuple(lut)], np.dtype(fields, align=True))


def _kind(value: int | Sets | Whole) -> tuple[object, ...]:
    return (np.int64,) if isinstance(value, int) else (value.dtype, value.shape)


Fields: TypeAlias = dict[str, Any]


def _of_rules(compiled: CompiledRules) -> Fields:
    rules = compiled.rules
    return {
        "players": compiled.num_players,
        "others": compiled.num_players - 1,
        "hand_size": compiled.hand_size,
        "pass_count": compiled.pass_count,
        "deck": compiled.deck,
        "penalty": compiled.play.penalty,
        "ban": compiled.play.ban,
        "bonus": compiled.bonus,
        "over_bonus": _higher(cards_in(compiled.bonus)[0]) if compiled.bonus else 0,
        "trump": _mask(rules.trump is not None),
        "teams": _mask(compiled.teams),
        "moon": _mask(rules.moon != "none"),
        "team_moon": _mask(rules.team_moon == "team"),
        "seat_bits": _seat_bits(compiled.num_players),
    }


def _by_card(rules: CompiledRules, points: list[float]) -> Fields:
    valued = [cards for cards, _ in rules.point_sets]
    small = [cards & ~QS_SET for cards, each in rules.point_sets if each > 0 and cards & ~QS_SET]
    return {
        "beats": rules.beats,
        "points": _whole(points),
        "suit_sets": rules.suit_sets,
        "kind": KINDS * np.int32(COUNTS * PLACES),
        "num_small": len(small),
        "small_sets": _sets(small),
        "small_points": _whole(_values(small, points)),
        "num_points": len(valued),
        "point_sets": _sets(valued),
        "point_values": _whole(_values(valued, points)),
        "queen_points": _one(_queen(points)),
    }


def _by_count(rules: CompiledRules, w: Weights, points: list[float]) -> Fields:
    number, seats = np.arange(COUNTS), np.arange(WIN_SEATS)
    share = _queen(points) / STANDARD_QUEEN
    return {
        "inverse": _whole([1 / max(count, 1) for count in range(NUM_CARDS + 1)]),
        "later_bits": np.array([_seat_bits(later + 1) * 15 for later in range(WIN_SEATS - 1)], np.int32),
        "share": _whole(np.minimum(seats[:, None] / np.maximum(seats, 1), 1.0)),
        "void": _whole(_void(8)),
        "win": _whole([_win(w.willing_clean), _win(w.willing)]),
        "known": _whole([1.0, w.known_over, w.known_under, w.known_both]),
        "danger": _whole([_danger(shed, w) for shed in (w.shed, w.shed_heart, w.shed_spade)]),
        "short": _whole(w.short / np.maximum(number, 1) ** 2),
        "spade_danger": _whole(share * w.spade_high * np.maximum(1 - w.spade_guard * number, 0.0)),
        "cover": _whole(share * w.queen_cover * 2 / np.maximum(number, 1)),
        "losers": _whole(_losers((rules.num_players - 1) * w.drain)),
        "tricks": np.arange(NUM_CARDS + 1, dtype=np.int32) // np.int32(rules.num_players),
        "chance": _whole(1 / (1 + np.exp(-(np.arange(ODDS) / ODDS_STEPS - ODDS_RANGE)))),
    }


def _for_passing(rules: CompiledRules, w: Weights, points: list[float]) -> Fields:
    dangers = (w.pass_rank, w.pass_rank_heart, w.pass_rank_spade)
    return {
        "pass_row": KINDS * np.int32(PLACES),
        "pass_rank": _whole([_exposure(w.pass_low) * each for each in dangers]),
        "pass_guard": _whole([w.pass_guard, w.pass_guard, w.pass_guard_heart, w.pass_guard, 0.0]),
        "pass_size": _whole(_pass_size(w)),
        "pass_card": _whole(_pass_card(rules, w, points)),
        "pass_spade": _whole(_pass_spade(w) * _queen(points) / STANDARD_QUEEN),
    }


def _single(rules: CompiledRules, w: Weights, points: list[float]) -> Fields:
    queen = _queen(points)
    share = queen / STANDARD_QUEEN
    bonus = points[cards_in(rules.bonus)[0]] if rules.bonus else 0.0
    return {
        "give": _one(w.give),
        "tempo": _one(w.tempo),
        "dump_small": _one(w.dump_small),
        "dump_queen": _one(w.dump_queen * queen / (rules.num_players - 1)),
        "dump_known": _one(w.dump_known * queen),
        "catch": _one(w.catch * queen),
        "floor": _one(w.floor),
        "stakes": _one((1 - w.floor) / STANDARD_POINTS * UNIT),
        "queen_shed": _one(w.queen_shed * share),
        "flush": _one(w.flush * share),
        "flush_bare": _one(w.flush_bare * share),
        "flush_known": _one(w.flush_known * share),
        "expose": _one(w.expose * share),
        "hunt": _one(-w.hunt * bonus),
        "bonus_keep": _one(w.bonus_keep),
        "pass_partner": _one(w.pass_partner),
    }


def _for_moons(rules: CompiledRules, w: Weights) -> Fields:
    return {
        "threat_base": _one(w.threat_base + ODDS_RANGE),
        "threat_heart": _one(w.threat_heart),
        "threat_queen": _one(w.threat_queen),
        "threat_won": _one(w.threat_won),
        "threat_lost": _one(w.threat_lost),
        "threat_lead": _one(w.threat_lead),
        "stop": _one(w.stop),
        "feed": _one(w.feed),
        "spread": _one(w.spread),
        "keep_high": _one(w.keep_high),
        "keep_early": _one(w.keep_early),
        "keep_top": _one(w.keep_top),
        "keep_heart": _one(w.keep_heart),
        "moon_heart": _one(w.moon_heart - 1),
        "moon_queen": _one(w.moon_queen),
        "moon_limit": _one(w.moon_limit),
        "moon_more": _one(w.moon_more / STANDARD_POINTS),
        "moon_late": _whole(w.moon_late * np.arange(MAX_TRICKS + 1) / rules.hand_size),
        "moon_pass": _one(w.moon_pass),
        "moon_lead_heart": _one(w.moon_lead_heart),
    }


def _queen(points: list[float]) -> float:
    """Points of the queen of spades; 0 if she is no penalty card."""
    return max(points[BLACK_MARIA], 0.0)


def _higher(card: int) -> int:
    """The cards of its suit above this one."""
    return SUIT_SETS[card // NUM_RANKS] & -(2 << card)


def _sets(sets: list[int]) -> Sets:
    """int64 [52]: always as many, so that the same loops take the rules of any game."""
    return np.array(sets + [0] * (NUM_CARDS - len(sets)), np.int64)


def _values(sets: list[int], points: list[float]) -> list[float]:
    """The points of a card of each set."""
    return [points[cards_in(cards)[0]] for cards in sets] + [0.0] * (NUM_CARDS - len(sets))


def _one(number: float) -> int:
    return round(number * UNIT)


def _whole(numbers: object) -> Whole:
    """Rounded to 1/UNIT, flat."""
    return np.rint(np.asarray(numbers, np.float64) * UNIT).astype(np.int32).reshape(-1)


def _mask(holds: bool) -> int:
    return ALL_ONES if holds else 0


def _seat_bits(seats: int) -> int:
    return sum(1 << NUM_SUITS * seat for seat in range(1, seats))


def _void(seats: int) -> Numbers:
    hands, cards_out = np.ogrid[:seats, :COUNTS]
    miss = 1 - 1 / np.maximum(hands, 1)
    return np.where(hands == 0, 1.0, miss**cards_out)


def _win(willing: float) -> Numbers:
    """Chance that a card holds, by later seats, hands with the suit, higher cards and lower cards."""
    later, hands, above, below = np.ogrid[:WIN_SEATS, :WIN_SEATS, :COUNTS, :COUNTS]
    miss = 1 - 1 / np.maximum(hands, 1)
    beats = (1 - miss**above) * (willing + (1 - willing) * miss**below)
    return np.asarray((1 - beats) ** later)


def _exposure(low: float) -> Numbers:
    """The danger of a card by the numbers of higher and lower cards out: 1 the most, -low the least; [14, 14]."""
    above, below = np.ogrid[:COUNTS, :COUNTS]
    return np.asarray((below - low * above) / (above + below + 1.0))


def _danger(shed: float, weights: Weights) -> Numbers:
    exposed = _exposure(weights.low)
    shield = np.maximum(1 - weights.guard * np.minimum(np.arange(COUNTS), MAX_GUARDS), 0)[:, None, None]
    return shed * np.where(exposed > 0, exposed * shield, exposed)


def _losers(drain: float) -> Numbers:
    """Tricks that a suit loses when it is led from the top, by unsure cards, cards of others, and sure winners."""
    unsure, rest, sure = np.ogrid[:COUNTS, :COUNTS, :COUNTS]
    drain = max(drain, 1.0)
    return np.asarray(np.minimum(unsure, np.maximum(rest - sure * drain, 0) / drain))


def _pass_size(weights: Weights) -> Numbers:
    size, left = np.ogrid[:COUNTS, :COUNTS]
    worth = np.where(size <= left, weights.pass_void, weights.pass_short)
    return np.asarray(worth / np.maximum(size, 1) ** 2)


def _pass_card(rules: CompiledRules, weights: Weights, points: list[float]) -> list[float]:
    extra = [weights.pass_heart * (card // NUM_RANKS == HEART) for card in range(NUM_CARDS)]
    ace = NUM_RANKS * (HEART + 1) - 1
    extra[ace] += weights.pass_heart_top
    extra[ace - 1] += weights.pass_heart_king
    extra[ace - 2] += weights.pass_heart_queen
    for card in range(ace - NUM_RANKS + 1, ace - NUM_RANKS + 1 + LOW_HEARTS):
        extra[card] += weights.pass_heart_low
    return [worth - 100 * (value < 0) for worth, value in zip(extra, points, strict=True)]


def _pass_spade(weights: Weights) -> Numbers:
    lows, highs = np.ogrid[:COUNTS, :COUNTS]
    low = -weights.pass_spade_low + 0.0 * lows * highs
    queen = weights.pass_queen - weights.pass_cover * lows - weights.pass_cover_high * highs
    high = weights.pass_spade_high - weights.pass_cover * lows + 0.0 * highs
    return np.stack([low, queen, high])
