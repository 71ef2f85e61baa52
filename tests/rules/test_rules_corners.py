"""Corners of the rules that random play seldom reaches, each with the source that decides it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from hearts_env.cards import ADD, SUBTRACT, card_set, lowest, names_in, parse_card
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import deal, legal, shuffle, step
from hearts_env.game.rules import Rules, RulesError
from hearts_env.game.scoring import automatic_choice, deal_points, is_over, reset_exact, shooter, winners
from hearts_env.game.state import DEAL_OVER, GAME_OVER, MOON, State
from hearts_env.observe.blocks import rule_flags
from hearts_env.observe.encode import layout
from hearts_env.text.notation import NotationError, parse_hand, parse_position

TWO_PLAYERS = ("hearts are trumps", "hearts_broken_by=heart", "moon=add", "points may fall on the first trick")
HEARTS = parse_hand("H23456789TJQKA")
FOUR_HANDS = "C23456789TJQKA / D23456789TJQKA / H23456789TJQKA / S23456789TJQKA"


def position(rules: str, text: str) -> tuple[Rules, State]:
    """Rules as text, and the one table that a position describes."""
    made = Rules.parse(rules)
    return made, parse_position(compiled_rules(made), text)


def legal_names(rules: str, text: str) -> str:
    made, state = position(rules, text)
    return " ".join(names_in(legal(compiled_rules(made), state)[0]))


def dealt(hands: str, plays: str = "", number: int = 3) -> str:
    scores = " ".join("0" for _ in hands.split("/"))
    return f"deal {number} | scores {scores} | hands {hands}" + (f" | plays {plays}" if plays else "")


def small(*hands: str, **fields: object) -> str:
    """Rules as text whose pack is just these hands."""
    held = [card for hand in hands for card in names_in(parse_hand(hand))]
    removed = [name for name in names_in((1 << 52) - 1) if name not in held]
    made = Rules(num_players=len(hands), deck=tuple(removed), dead_cards=0, pass_count=0, **fields)  # type: ignore[arg-type]
    return made.show()


# -- what is legal -----------------------------------------------------------------------------------------------------


def test_a_hand_of_hearts_only_may_discard_any_of_them_on_the_first_trick_and_breaks_them() -> None:
    """WC: barred "unless they have no choice at all"; OS: the heart breaks."""
    text = dealt(FOUR_HANDS, "2C 2D")
    assert legal_names("", text).split() == names_in(parse_hand("H23456789TJQKA"))
    assert not position("", text)[1].broken[0]
    assert position("", dealt(FOUR_HANDS, "2C 2D 5H"))[1].broken[0]


def test_a_penalty_hand_with_qs_may_throw_it_on_the_first_trick_but_not_where_a_heart_is_demanded() -> None:
    """WC and OS let it; SE demands a heart."""
    hands = ("C234", "HQK SQ", "D234", "S234")
    everything = dealt(" / ".join(hands), "2C")
    assert legal_names(small(*hands), everything) == "QH KH QS"
    assert legal_names(small(*hands, first_trick_all_points="hearts"), everything) == "QH KH"


def test_the_ban_binds_every_seat_of_the_first_trick_and_none_of_the_second() -> None:
    """SC: "a player with no clubs when the first trick is led may not play a heart or Black Maria"."""
    hands = ("C2 D23", "C3 H2 S2", "D4 H3 SQ", "D5 H4 S3")
    text = small(*hands)
    assert legal_names(text, dealt(" / ".join(hands), "2C")) == "3C"
    assert legal_names(text, dealt(" / ".join(hands), "2C 3C")) == "4D"
    assert legal_names(text, dealt(" / ".join(hands), "2C 3C 4D")) == "5D 3S"
    later = dealt(" / ".join(hands), "2C 3C 4D 5D 2S")
    assert legal_names(text, later) == "QS"
    assert legal_names(text, f"{later} QS 3S") == "2D 3D"


def test_the_bonus_card_may_fall_on_the_first_trick() -> None:
    """OS: the jack of diamonds is no penalty card."""
    hands = ("C234", "DTJ SQ", "D234", "S234")
    text = dealt(" / ".join(hands), "2C")
    assert legal_names(small(*hands, bonus_card="JD"), text) == "TD JD"
    assert legal_names(small(*hands, bonus_card="TD"), text) == "TD JD"


def test_kings_and_aces_of_spades_are_barred_where_they_count() -> None:
    """PA: in Black Maria KS and AS are penalty cards."""
    hands = ("C234", "D2 SKA", "D345", "H234")
    text = dealt(" / ".join(hands), "2C")
    assert legal_names(small(*hands), text) == "2D KS AS"
    assert legal_names(small(*hands, scoring="black_maria"), text) == "2D"


@pytest.mark.parametrize(("other", "free"), [("SQ", True), ("SK", False), ("D9", False)])
def test_only_qs_beside_hearts_frees_them_and_only_where_the_rules_say_so(other: str, free: bool) -> None:
    """YH and PA free the hearts; PG and OS force the queen; nobody frees them for another card."""
    hands = ("C6 H2 " + other, "C3 D23", "C4 D45", "C5 D67")
    text = dealt(" / ".join(hands), "3C 4C 5C 6C")
    card = names_in(parse_hand(other))[0]
    assert legal_names(small(*hands), text) == card
    yahoo = legal_names(small(*hands, lead_hearts_with_qs=True), text)
    assert yahoo == ("2H QS" if free else card)


def test_a_table_may_let_nobody_pass_the_queen() -> None:
    """t_games #474: "high spades may not be passed", an option that one way to pass a card did not ask for."""
    hands = "S23456789TJQKA / C23456789TJQKA / D23456789TJQKA / H23456789TJQKA"
    assert legal_names("standard", dealt(hands, number=0)) == "2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS AS"
    assert legal_names("pass_queen=false", dealt(hands, number=0)) == "2S 3S 4S 5S 6S 7S 8S 9S TS JS KS AS"


def test_a_position_in_which_the_queen_was_passed_is_refused_where_nobody_may() -> None:
    """t_games #474: the option holds on every path, that of a record too."""
    hands = "S23456789TJQKA / C23456789TJQKA / D23456789TJQKA / H23456789TJQKA"
    text = dealt(hands, number=0) + " | picks SQ / C2 / D2 / H2"
    assert legal_names("standard", text) == "2S 3S 4S 5S 6S 7S 8S 9S TS JS KS AS"
    with pytest.raises(NotationError, match="illegal pass QS by seat 0: legal are 2S 3S"):
        position("pass_queen=false", text)


def test_a_hand_that_passes_all_of_its_cards_cannot_keep_the_queen() -> None:
    with pytest.raises(RulesError, match="pass_queen=False: needs a pass_count below the 2 cards of a hand"):
        Rules.parse('deck="C23 D2 H2 SJQKA",pass_count=2,pass_queen=false')
    assert Rules.parse('deck="C23 D2 H2 SJQKA",pass_count=1,pass_queen=false').pass_count == 1


def test_qs_may_be_led_at_any_time() -> None:
    """SC: "Black Maria may be led at any time"."""
    hands = ("C6 D9 SQ", "C3 D23", "C4 D45", "C5 D67")
    assert legal_names(small(*hands), dealt(" / ".join(hands), "3C 4C 5C 6C")) == "9D QS"


@pytest.mark.parametrize(
    ("by", "after_heart", "after_queen", "after_other"),
    [
        ("heart_or_qs", True, True, False),
        ("heart", True, False, False),
        ("void", True, True, True),
        ("free", False, False, False),
        ("never", False, False, False),
    ],
)
def test_a_discard_breaks_hearts_as_the_source_of_the_field_says(
    by: str, after_heart: bool, after_queen: bool, after_other: bool
) -> None:
    """SC, MS, GR to the letter, OS option, GK; tested on the discards of a second trick."""
    hands = ("C69 D9", "C3 H2 SK", "C4 H3 SQ", "C5 H4 S3")
    text = small(*hands, hearts_broken_by=by, first_trick_points="allowed")
    for discard, breaks in (("2H QS 3S", after_heart), ("KS QS 3S", after_queen), ("KS", after_other)):
        plays = f"3C 4C 5C 6C 9C {discard}"
        assert bool(position(text, dealt(" / ".join(hands), plays))[1].broken[0]) == breaks, (by, discard)


def test_following_suit_with_qs_or_a_heart_breaks_and_a_queen_led_does_too() -> None:
    """SC: until a heart or Black Maria "has been played", however that came."""
    hands = ("C6 S2 D9", "C3 SQ D2", "C4 S4 D4", "C5 S5 D7")
    assert position(small(*hands), dealt(" / ".join(hands), "3C 4C 5C 6C 2S QS"))[1].broken[0]
    lead = ("C6 SQ D9", "C3 S2 D2", "C4 S4 D4", "C5 S5 D7")
    assert position(small(*lead), dealt(" / ".join(lead), "3C 4C 5C 6C QS"))[1].broken[0]
    assert not position(small(*lead, hearts_broken_by="heart"), dealt(" / ".join(lead), "3C 4C 5C 6C QS"))[1].broken[0]


def test_a_heart_led_from_a_hand_of_hearts_breaks_them() -> None:
    """PG, OS: a hand of hearts may lead one; it has then been played."""
    hands = ("C6 H29", "C3 S2 D2", "C4 S4 D4", "C5 S5 D7")
    rules, text = small(*hands), dealt(" / ".join(hands), "3C 4C 5C 6C")
    assert legal_names(rules, text) == "2H 9H"
    assert position(rules, f"{text} 2H")[1].broken[0]


def test_the_seat_left_of_the_dealer_leads_what_it_likes_but_an_unbroken_heart() -> None:
    """PA, Black Maria: eldest hand leads; no club is asked for."""
    hands = ("C2 D9 H9", "C3 H2 D2", "C4 H3 D4", "C5 H4 D7")
    text = small(*hands, first_leader="left_of_dealer", first_lead="any")
    for number in range(4):
        rules, state = position(text, dealt(" / ".join(hands), number=number))
        seat = (number + 1) % 4
        assert state.turn[0] == seat
        assert names_in(legal(compiled_rules(rules), state)[0]) == names_in(
            parse_hand(" ".join(hands[seat].split())) & ~HEARTS
        )


def test_a_trick_in_trumps_goes_to_the_highest_heart_and_not_to_the_last() -> None:
    """GR: "whoever plays the highest heart, or the highest card in the suit led, wins the trick"."""
    hands = ("C2 D9 HK", "S23 H9", "S45 HT", "S67 H2")
    text = small(*hands, trump="H", first_trick_points="allowed")
    assert position(text, dealt(" / ".join(hands), "2C 9H TH 2H"))[1].turn[0] == 2
    plain = small(*hands, first_trick_points="allowed")
    assert position(plain, dealt(" / ".join(hands), "2C 9H TH 2H"))[1].turn[0] == 0


# -- points and moons --------------------------------------------------------------------------------------------------

ALL_HEARTS = "H23456789TJQKA"


def points(rules: Rules, taken: Sequence[str], choice: int = ADD, scores: Sequence[int] | None = None) -> list[int]:
    """What a deal in which these cards were captured adds to each score."""
    compiled = compiled_rules(rules)
    sets = np.array([[card_set(map(parse_card, names_in(parse_hand(cards)))) for cards in taken]], np.int64)
    shooters = shooter(compiled, sets)
    choices = np.array([choice])
    if rules.moon == "auto" and shooters[0] >= 0:
        choices = automatic_choice(compiled, sets, shooters, np.array([scores or [0] * compiled.num_players]))
    return deal_points(compiled, sets, shooters, choices)[0].tolist()


def test_a_moon_is_every_penalty_card_and_not_26_points() -> None:
    """SC: "all 13 hearts and Black Maria"; a sum can reach 26 otherwise where the cards count differently."""
    rules = Rules(scoring={"QS": 13, "KS": 13, "2H": 1, "3H": -1})
    assert points(rules, ("SQK H3", "H2", "C2", "C3")) == [25, 1, 0, 0]
    assert points(rules, ("SQK H2", "H3", "C2", "C3")) == [0, 26, 27, 27]


def test_dead_penalty_cards_do_not_prevent_a_moon_which_is_worth_20_all_the_same() -> None:
    """GR, FB: "stick with awarding 20"; FB's other way is what is not dead."""
    taken = ("H2468T SQ", "C2")
    assert points(Rules(num_players=2), taken) == [0, 20]
    assert points(Rules(num_players=2, moon_value="available"), taken) == [0, 18]


def test_a_deal_whose_penalty_cards_are_all_dead_has_no_moon() -> None:
    """Our ruling: there is nothing to shoot."""
    rules = Rules(num_players=2, scoring={"QS": 13}, no_tricks_bonus=-5)
    assert points(rules, ("C2 D4", "-")) == [0, -5]


@pytest.mark.parametrize("shooting_seat", range(4))
def test_whoever_shot_the_moon_and_nobody_else_makes_the_choice(shooting_seat: int) -> None:
    """SC: the shooter "may choose"."""
    hands = [f"C{rank} S{rank}" for rank in "234"]
    hands.insert(shooting_seat, "C5 SQ")
    rules, state = position(small(*hands, scoring={"QS": 13}, first_trick_points="allowed"), dealt(" / ".join(hands)))
    compiled = compiled_rules(rules)
    while state.phase[0] != MOON:
        step(compiled, state, lowest(legal(compiled, state)))
    assert state.turn[0] == shooting_seat
    step(compiled, state, np.array([SUBTRACT]))
    assert state.scores[0].tolist() == [-13 * (seat == shooting_seat) for seat in range(4)]


def test_the_bonus_card_counts_besides_a_moon_or_is_part_of_it() -> None:
    """PG, OS: it plays no part; BI: all fifteen cards are needed, and 26 replaces everything."""
    shot = (f"{ALL_HEARTS} SQ DJT", "C2", "C3", "C4")
    without = (f"{ALL_HEARTS} SQ", "DJT", "C3", "C4")
    assert points(Rules(bonus_card="JD"), shot) == [-10, 26, 26, 26]
    assert points(Rules(bonus_card="JD"), shot, SUBTRACT) == [-36, 0, 0, 0]
    assert points(Rules(bonus_card="JD"), without) == [0, 16, 26, 26]
    bicycle = Rules.preset("omnibus_bicycle")
    assert points(bicycle, shot) == [0, 26, 26, 26]
    assert points(bicycle, shot, SUBTRACT) == [-26, 0, 0, 0]
    assert points(bicycle, without) == [26, -10, 0, 0]


def test_a_seat_without_a_trick_has_its_bonus_only_where_no_moon_was_shot() -> None:
    """OS: the bonus for no tricks isn't given besides a moon."""
    rules = Rules(no_tricks_bonus=-5, moon="add")
    assert points(rules, (f"{ALL_HEARTS} SQ", "C2", "-", "-")) == [0, 26, 26, 26]
    assert points(rules, ("H2", "H3456789TJQKA SQ", "-", "-")) == [1, 25, -5, -5]


def test_the_extra_for_every_trick_is_for_every_trick() -> None:
    """WC: shooting the sun."""
    rules = Rules(sun_value=26, moon="add")
    assert points(rules, (f"{ALL_HEARTS} SQ", "C2", "-", "-")) == [0, 26, 26, 26]
    assert points(rules, (f"{ALL_HEARTS} SQ C2", "-", "-", "-")) == [0, 52, 52, 52]


def test_partners_pay_nothing_for_a_moon_and_both_gain_where_it_subtracts() -> None:
    """WP: 52 to the other side; by symmetry, which is our ruling, 52 off their own."""
    taken = (f"{ALL_HEARTS} SQ", "C2", "C3", "C4")
    assert points(Rules(teams="fixed", moon="add"), taken) == [0, 26, 0, 26]
    assert points(Rules(teams="fixed", moon="subtract"), taken, SUBTRACT) == [-26, 0, -26, 0]


def test_a_side_shoots_the_moon_together_only_where_it_may_and_the_taker_of_qs_is_the_shooter() -> None:
    """PA, WP: it must fall to one player; that QS decides is our ruling."""
    together = ("H23456789TJQKA", "C2", "SQ", "C4")
    rules = compiled_rules(Rules(teams="fixed", team_moon="team"))
    sets = np.array([[parse_hand(cards) for cards in together]], np.int64)
    assert shooter(rules, sets).tolist() == [2]
    assert shooter(compiled_rules(Rules(teams="fixed")), sets).tolist() == [-1]
    by_hearts = compiled_rules(Rules(teams="fixed", team_moon="team", scoring={"2H": 1, "3H": 1, "4H": 1}))
    hearts = np.array([[parse_hand(cards) for cards in ("H2", "C2", "H34", "C4")]], np.int64)
    assert shooter(by_hearts, hearts).tolist() == [2]


def test_the_automatic_moon_adds_unless_that_would_lose_the_game_reset_included() -> None:
    """GO: add, unless that would end the game with the shooter not lowest; exactly 100 goes back to 50."""
    taken = (f"{ALL_HEARTS} SQ", "C2", "C3", "C4")
    rules = Rules(moon="auto")
    assert points(rules, taken, scores=[0, 0, 0, 0]) == [0, 26, 26, 26]
    assert points(rules, taken, scores=[60, 80, 70, 10]) == [-26, 0, 0, 0]
    assert points(rules, taken, scores=[36, 80, 70, 10]) == [0, 26, 26, 26]
    assert points(rules, taken, scores=[60, 74, 70, 10]) == [-26, 0, 0, 0]
    assert points(Rules.preset("goldsmith"), taken, scores=[60, 74, 70, 10]) == [0, 26, 26, 26]


# -- the end of a game -------------------------------------------------------------------------------------------------


def ended(rules: Rules, scores: Sequence[int]) -> tuple[bool, list[int]]:
    compiled = compiled_rules(rules)
    array = np.array([scores])
    return bool(is_over(compiled, array)[0]), np.flatnonzero(winners(compiled, array)[0]).tolist()


def test_a_score_may_go_below_zero() -> None:
    """SC: "subtract 26 from their own score" has no floor."""
    rules = Rules(scoring={"QS": 13}, deck=small_pack("C2 SQ", "C3 SK"), num_players=2, dead_cards=0, moon="subtract")
    compiled = compiled_rules(rules)
    state = parse_position(compiled, "deal 0 | scores 0 5 | hands C2 SQ / C3 SK | plays 2C 3C KS")
    step(compiled, state, np.array([parse_card("QS")]))
    assert state.scores[0].tolist() == [0, -8]


def small_pack(*hands: str) -> tuple[str, ...]:
    held = {card for hand in hands for card in names_in(parse_hand(hand))}
    return tuple(name for name in names_in((1 << 52) - 1) if name not in held)


def test_the_target_is_reached_or_passed() -> None:
    """SC: "reaches or passes"."""
    assert ended(Rules(), [100, 3, 2, 1]) == (True, [3])
    assert ended(Rules(end_strict=True), [100, 3, 2, 1]) == (False, [])
    assert ended(Rules(end_strict=True), [101, 3, 2, 1]) == (True, [3])
    assert ended(Rules(), [99, 3, 2, 1]) == (False, [])


def test_ties_are_shared_or_played_on() -> None:
    """GO and HG share; PA plays on, and so do two players (GR)."""
    assert ended(Rules(), [100, 3, 3, 9]) == (True, [1, 2])
    assert ended(Rules(tie="continue"), [100, 3, 3, 9]) == (False, [])
    assert ended(Rules(num_players=2), [104, 104]) == (False, [])
    assert ended(Rules(num_players=2), [104, 103]) == (True, [1])
    assert ended(Rules.preset("partnership").replace(tie="continue"), [150, 10, 60, 20]) == (True, [1, 3])
    assert ended(Rules.preset("partnership").replace(tie="continue"), [150, 110, 60, 100]) == (False, [])


def test_a_side_or_a_player_ends_the_game_of_sides_and_the_sums_decide() -> None:
    """WP: the sides' scores; PG: a player at 100."""
    assert ended(Rules.preset("partnership"), [120, 10, 70, 90]) == (False, [])
    assert ended(Rules.preset("partnership"), [120, 10, 80, 90]) == (True, [1, 3])
    assert ended(Rules.preset("partnership_pagat"), [99, 60, 99, 60]) == (False, [])
    assert ended(Rules.preset("partnership_pagat"), [100, 60, 9, 60]) == (True, [0, 2])


def test_the_next_game_begins_with_scores_of_zero() -> None:
    """SC: the game ends when the target is reached; what follows is another one."""
    rules = compiled_rules(Rules())
    state = State.empty(rules, 2)
    state.deal_no[:], state.phase[:], state.scores[:] = 6, [GAME_OVER, DEAL_OVER], [[100, 3, 2, 1], [99, 3, 2, 1]]
    deal(rules, state, shuffle(rules, [1, 2]))
    assert state.scores.tolist() == [[0, 0, 0, 0], [99, 3, 2, 1]]
    assert state.deal_no.tolist() == [0, 7]


def test_exactly_the_target_goes_back_and_more_does_not() -> None:
    """GO: exactly 100 becomes 50."""
    rules = compiled_rules(Rules.preset("goldsmith"))
    assert reset_exact(rules, np.array([[100, 101, 99, 0]])).tolist() == [[50, 101, 99, 0]]
    assert reset_exact(compiled_rules(Rules()), np.array([[100, 101, 99, 0]])).tolist() == [[100, 101, 99, 0]]


# -- what a network is told of the rules -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ("two_player", {"2 players", *TWO_PLAYERS}),
        ("yahoo", {"hearts may be led from hearts and QS"}),
        ("omnibus_bicycle", {"bonus_card=TD", "a moon needs the bonus card"}),
        ("no_tricks_bonus=-5", {"a seat without a trick gets a bonus"}),
        ("teams=fixed,team_moon=team", {"fixed teams", "a team may shoot the moon"}),
        ("num_players=3,moon=none,scoring=black_maria", {"3 players", "moon=none", "scoring=black_maria"}),
        ("first_trick_points=allowed", {"points may fall on the first trick"}),
    ],
)
def test_a_network_is_told_what_differs_from_the_standard_game_and_nothing_else(changes: str, told: set[str]) -> None:
    standard = {"4 players", "hearts_broken_by=heart_or_qs", "moon=choice", "scoring=standard"}
    flags = {says for says, holds in rule_flags(compiled_rules(Rules())).items() if holds}
    assert flags == standard
    now = {says for says, holds in rule_flags(compiled_rules(Rules.parse(changes))).items() if holds}
    assert told <= now
    assert now - told <= standard
    shape = layout(compiled_rules(Rules()))
    assert shape["rules"].stop - shape["rules"].start == len(rule_flags(compiled_rules(Rules())))
