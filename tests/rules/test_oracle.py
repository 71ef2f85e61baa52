"""The oracle agrees with the worked cases and keeps the invariants of the rules text."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

import oracle
from cases import CASES, tidy
from oracle import Deal, card, name


def cards(names: list[str]) -> list[int]:
    return [card(c) for c in names]


def names(held: Any) -> list[str]:
    return sorted(name(c) for c in held)


def run_pass(deal: Deal, choices: list[list[int]]) -> None:
    if any(len(picks) != deal.r["pass_count"] for picks in choices):
        raise ValueError("each seat picks exactly pass_count cards")
    for k in range(deal.r["pass_count"]):
        for picks in choices:
            deal.step(picks[k])


def answer_deck(r: oracle.Rules, given: Any) -> Any:
    pack = oracle.deck(r)
    return {
        "size": len(pack),
        "hand": oracle.hand_size(r),
        "dead": r["dead_cards"],
        "total": sum(points for points in oracle.points_of(r).values() if points > 0),
        "removed": names(set(range(52)) - set(pack)),
    }


def answer_leader(r: oracle.Rules, given: Any) -> Any:
    hands = [cards(hand) for hand in given["hands"]]
    leader, opening = oracle.opening(r, hands, given.get("dealer", 0))
    free = opening is None or r["first_lead"] != "forced"
    return {"leader": leader, "card": None if free else names([opening])[0]}


def answer_offsets(r: oracle.Rules, given: Any) -> Any:
    return [oracle.pass_offset(r, deal) for deal in range(given["deals"])]


def answer_pass(r: oracle.Rules, given: Any) -> Any:
    deal = Deal(r, [cards(hand) for hand in given["hands"]], given["deal"])
    run_pass(deal, [cards(picks) for picks in given["choices"]])
    return {"hands": [names(hand) for hand in deal.hands], "leader": deal.leader}


def answer_pass_illegal(r: oracle.Rules, given: Any) -> Any:
    deal = Deal(r, [cards(hand) for hand in given["hands"]], given["deal"])
    with pytest.raises(ValueError, match=r"illegal action|each seat picks"):
        run_pass(deal, [cards(picks) for picks in given["choices"]])
    assert [names(hand) for hand in deal.hands] == [sorted(hand) for hand in given["hands"]]
    return "illegal"


def answer_legal(r: oracle.Rules, given: Any) -> Any:
    opening = card(given["opening"]) if given["opening"] else None
    hand, table = cards(given["hand"]), cards(given["trick"])
    return names(oracle.legal_cards(r, hand, table, given["trick_no"], given["broken"], opening))


def answer_breaks(r: oracle.Rules, given: Any) -> Any:
    return oracle.breaks(r, card(given["card"]), cards(given["trick"]))


def answer_winner(r: oracle.Rules, given: Any) -> Any:
    return oracle.trick_winner(r, cards(given["trick"]))


def answer_score(r: oracle.Rules, given: Any) -> Any:
    taken = [cards(pile) for pile in given["taken"]]
    return oracle.score(r, taken, given["tricks_won"], given["choice"], given["totals"])


def answer_end(r: oracle.Rules, given: Any) -> Any:
    totals, over, winners = oracle.end(r, given["totals"], given["deal"])
    return {"totals": totals, "over": over, "winners": winners}


def answer_play(r: oracle.Rules, given: Any) -> Any:
    deal = Deal({**r, "pass_count": 0}, [cards(h) for h in given["hands"]], given["dealer"])
    for c in cards(given["cards"]):
        deal.step(c)
    raw = oracle.raw_points(r, deal.taken)
    return {"won": deal.tricks_won, "raw": raw, "broken": deal.broken}


ANSWERS = {
    "deck": answer_deck,
    "leader": answer_leader,
    "offsets": answer_offsets,
    "pass": answer_pass,
    "pass_illegal": answer_pass_illegal,
    "legal": answer_legal,
    "breaks": answer_breaks,
    "winner": answer_winner,
    "score": answer_score,
    "end": answer_end,
    "play": answer_play,
}


@pytest.mark.parametrize("case", CASES, ids=[f"{c['id']}-{c['kind']}: {c['why']}" for c in CASES])
def test_the_oracle_answers_the_worked_case(case: dict[str, Any]) -> None:
    answer = ANSWERS[case["kind"]](oracle.rules(**case["rules"]), case["input"])
    assert answer == tidy(case["kind"], case["expect"]), f"{case['why']} ({case['source']})"


def play_at_random(rng: Random, deal: Deal) -> Deal:
    while deal.phase != "over":
        legal = deal.legal()
        assert legal, f"no legal action for seat {deal.turn} in phase {deal.phase}"
        assert legal == sorted(set(legal))
        if deal.phase != "moon":
            assert set(legal) <= deal.hands[deal.turn]
        deal.step(rng.choice(legal))
    return deal


def random_deals(seed: int, count: int) -> list[Deal]:
    rng = Random(seed)
    deals = []
    for _ in range(count):
        r = oracle.rules(**oracle.random_rules(rng))
        hands, totals = oracle.random_hands(rng, r), oracle.random_totals(rng, r)
        deal = Deal(r, hands, rng.randint(0, 12), totals)
        deals.append(play_at_random(rng, deal))
    return deals


DEALS = random_deals(seed=1, count=3000)


def test_random_deals_cover_all_player_counts_and_both_moons() -> None:
    assert set(Counter(deal.n for deal in DEALS)) == {2, 3, 4, 5, 6, 7}
    for n in range(2, 8):
        assert {d.moon for d in DEALS if d.n == n} == {None, "add", "subtract"}, n
    assert any(d.moon and max(d.tricks_won) < d.hand_size for d in DEALS)
    assert any(d.moon and max(d.tricks_won) == d.hand_size and d.r["sun_value"] for d in DEALS)
    assert any(d.moon and d.r["team_moon"] == "team" for d in DEALS)
    assert {d.moon for d in DEALS if d.r["moon"] == "auto"} == {None, "add", "subtract"}
    assert {d.game_over for d in DEALS} == {False, True}
    assert any(len(d.winners) > 1 and not d.r["teams"] for d in DEALS)


def test_every_card_in_play_is_captured_once() -> None:
    for deal in DEALS:
        captured = sorted(c for pile in deal.taken for c in pile)
        assert captured == sorted(set(oracle.deck(deal.r)) - deal.dead)
        assert len(deal.dead) == deal.r["dead_cards"]
        assert sum(deal.tricks_won) == len(deal.trick_winners) == oracle.hand_size(deal.r)
        assert not any(deal.hands)


def test_captured_points_and_dead_points_add_to_those_of_the_pack() -> None:
    for deal in DEALS:
        points = oracle.points_of(deal.r)
        dead = sum(points.get(c, 0) for c in deal.dead)
        assert sum(oracle.raw_points(deal.r, deal.taken)) + dead == sum(points.values())


def test_without_a_moon_the_deal_adds_the_captured_points_and_the_no_tricks_bonus() -> None:
    for deal in DEALS:
        if deal.moon is None:
            bonus = deal.r["no_tricks_bonus"] * deal.tricks_won.count(0)
            assert sum(deal.points) == sum(oracle.raw_points(deal.r, deal.taken)) + bonus


def test_a_plain_moon_adds_its_value_to_each_opponent_or_takes_it_from_the_shooter() -> None:
    for deal in DEALS:
        plain = not deal.r["sun_value"] and min(oracle.points_of(deal.r).values()) > 0
        if deal.moon and plain and deal.r["moon_value"] is None and not deal.r["teams"]:
            worth = sum(oracle.points_of(deal.r).values())
            add = deal.moon == "add"
            assert sum(deal.points) == (worth * (deal.n - 1) if add else -worth)
            assert deal.points[deal.shooter or 0] == (0 if add else -worth)


def test_a_void_seat_never_plays_that_suit_again() -> None:
    for deal in DEALS:
        for start in range(0, len(deal.plays), deal.n):
            led = oracle.suit(deal.plays[start][1])
            for k in range(start, start + deal.n):
                seat, c = deal.plays[k]
                if oracle.suit(c) != led:
                    assert led in deal.voids[seat]
                    later = [d for s, d in deal.plays[k:] if s == seat]
                    assert all(oracle.suit(d) != led for d in later)


def test_the_game_ends_when_a_score_reaches_the_target_and_the_lowest_wins() -> None:
    for deal in DEALS:
        if deal.r["teams"] or deal.r["exact_reset"] is not None:
            continue
        totals = [a + b for a, b in zip(deal.totals, deal.points, strict=True)]
        assert deal.scores == totals
        lowest = [seat for seat in range(deal.n) if totals[seat] == min(totals)]
        ended = max(totals) >= deal.r["target"] + deal.r["end_strict"]
        ended = ended and not (deal.r["tie"] == "continue" and len(lowest) > 1)
        assert deal.game_over == ended
        assert deal.winners == (lowest if ended else [])


def test_an_illegal_action_is_refused_and_changes_nothing() -> None:
    deal = Deal(oracle.rules(pass_count=0), [set(range(s, 52, 4)) for s in range(4)])
    assert [name(c) for c in deal.legal()] == ["2C"]
    with pytest.raises(ValueError, match="illegal action"):
        deal.step(card("QS"))
    assert (deal.turn, deal.plays) == (deal.leader, [])


def test_random_rules_change_every_field() -> None:
    rng = Random(2)
    seen = {field for _ in range(500) for field in oracle.random_rules(rng)}
    assert seen == set(oracle.rules())


def test_random_rules_are_valid() -> None:
    rng = Random(3)
    for _ in range(1000):
        r = oracle.rules(**oracle.random_rules(rng))
        pack = oracle.deck(r)
        assert oracle.hand_size(r) >= max(1, r["pass_count"])
        assert r["teams"] is None or r["num_players"] == 4
        assert r["bonus_card"] is None or card(r["bonus_card"]) in pack
        assert r["bonus_card"] is not None or not r["moon_needs_bonus"]
        assert r["exact_reset"] is None or r["exact_reset"] < r["target"]
        clubs = sum(oracle.suit(c) == oracle.CLUBS for c in pack)
        assert r["first_leader"] == "left_of_dealer" or clubs > r["dead_cards"]
        assert any(points > 0 for points in oracle.points_of(r).values())


def test_random_hands_reach_the_corners() -> None:
    """All-penalty hands on trick 1, hearts + QS leads, dead penalty cards, no live penalty card."""
    rng = Random(4)
    seen = Counter[str]()
    for _ in range(3000):
        r = oracle.rules(**oracle.random_rules(rng))
        hands = oracle.random_hands(rng, r)
        penalty = {c for c, points in oracle.points_of(r).items() if points > 0}
        held = set().union(*hands)
        seen["all penalty"] += any(hand <= penalty for hand in hands)
        seen["void in clubs"] += any(min(hand) > card("AC") for hand in hands)
        seen["hearts + QS"] += any(
            oracle.QS in hand and {oracle.suit(c) for c in hand - {oracle.QS}} == {oracle.HEARTS} for hand in hands
        )
        seen["dead penalty"] += not penalty <= held
        seen["no live penalty"] += not penalty & held
    assert len(seen) == 5
    assert min(seen.values()) > 3, seen


ALL_HEARTS = [c for c in range(52) if oracle.suit(c) == oracle.HEARTS]
MOON = [*ALL_HEARTS, oracle.QS]


def test_left_of_dealer_leads_freely_whatever_first_lead_says() -> None:
    for first_lead in ("forced", "any_club", "any"):
        r = oracle.rules(first_leader="left_of_dealer", first_lead=first_lead, pass_count=0)
        deal = Deal(r, [set(range(s, 52, 4)) for s in range(4)], deal_no=6)
        assert deal.leader == 3
        assert deal.legal() == [c for c in range(3, 52, 4) if oracle.suit(c) != oracle.HEARTS]


def test_a_negative_pass_offset_counts_to_the_right() -> None:
    r = oracle.rules(num_players=5, pass_cycle=[-1, 5, 7])
    assert [oracle.pass_offset(r, deal) for deal in range(4)] == [4, 0, 2, 4]


def test_every_trick_won_adds_the_sun_value_to_the_moon() -> None:
    r = oracle.rules(moon="add", sun_value=26)
    taken = [MOON, [], [], []]
    assert oracle.score(r, taken, [13, 0, 0, 0], None, None) == [0, 52, 52, 52]
    assert oracle.score(r, taken, [12, 1, 0, 0], None, None) == [0, 26, 26, 26]


def test_a_dead_bonus_card_is_not_needed_for_the_slam() -> None:
    r = oracle.rules(num_players=2, bonus_card="TD", moon_needs_bonus=True)
    penalty = list(oracle.points_of(oracle.rules(num_players=2)))
    assert oracle.score(r, [penalty, []], [9, 4], None, None) == [0, 20]
    assert oracle.score(r, [[*penalty, card("TD")], []], [9, 4], None, None) == [0, 20]
    assert oracle.score(r, [penalty, [card("TD")]], [9, 4], None, None) == [20, -10]


def test_negative_cards_count_besides_the_moon() -> None:
    r = oracle.rules(scoring={"QS": 13, "AC": -4}, moon="subtract")
    assert oracle.score(r, [[oracle.QS], [card("AC")], [], []], [9, 4, 0, 0], None, None) == [
        -13,
        -4,
        0,
        0,
    ]


def test_of_a_side_that_shot_the_moon_the_taker_of_the_queen_decides() -> None:
    r = oracle.rules(teams="fixed", team_moon="team", moon="subtract", sun_value=10)
    taken = [ALL_HEARTS, [], [oracle.QS], []]
    assert oracle.find_shooter(r, taken) == 2
    assert oracle.score(r, taken, [6, 0, 7, 0], None, None) == [-36, 0, -36, 0]
    assert oracle.score(r, taken, [6, 1, 6, 0], None, None) == [-26, 0, -26, 0]
    no_queen = [[], ALL_HEARTS[:6], [], ALL_HEARTS[6:]]
    assert oracle.find_shooter(r, no_queen) == 3


def test_auto_looks_at_the_scores_of_the_sides() -> None:
    r = oracle.rules(teams="fixed", moon="auto", target=200)
    taken = [MOON, [], [], []]
    won = [10, 1, 1, 1]
    assert oracle.score(r, taken, won, None, [80, 80, 70, 80]) == [0, 26, 0, 26]
    assert oracle.score(r, taken, won, None, [110, 80, 110, 71]) == [-26, 0, -26, 0]
    assert oracle.score(r, taken, won, None, [110, 80, 110, 10]) == [-26, 0, -26, 0]
    assert oracle.score(r, taken, won, None, [90, 80, 90, 10]) == [0, 26, 0, 26]


def test_sides_end_the_game_by_their_sums_or_by_one_seat() -> None:
    side = oracle.rules(teams="fixed", target=200)
    assert oracle.end(side, [150, 20, 40, 90], [9, 8, 0, 9]) == ([159, 28, 40, 99], False, [])
    assert oracle.end(side, [150, 20, 40, 90], [10, 7, 0, 9])[1:] == (True, [1])
    seat = oracle.rules(teams="fixed", team_end="player")
    assert oracle.end(seat, [95, 40, 10, 80], [5, 5, 5, 5])[1:] == (True, [0])
    tied = oracle.rules(teams="fixed", team_end="player", tie="continue")
    assert oracle.end(tied, [95, 40, 10, 70], [10, 0, 0, 5])[1:] == (False, [])
    reset = oracle.rules(teams="fixed", team_end="player", exact_reset=50)
    assert oracle.end(reset, [90, 0, 0, 0], [10, 0, 0, 0]) == ([50, 0, 0, 0], False, [])
