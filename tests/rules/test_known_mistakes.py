"""Mistakes that public Hearts programs have made, each with a test that would have caught it.

The docstrings name the project, where the mistake was reported or read, and what it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from deals import play_some
from encoding_blocks import as_sets, decoded
from hearts_agents import make
from hearts_env import Rules
from hearts_env.cards import ADD, NUM_SUITS, SUBTRACT, card_set, cards_in, choose, lowest, names_in, parse_card
from hearts_env.envs.aec import HeartsAEC
from hearts_env.game.compiled_rules import CompiledRules, compiled_rules
from hearts_env.game.engine import deal, legal, opening_card, pass_offset, shuffle, step
from hearts_env.game.rules import MOREHEAD_REMOVED
from hearts_env.game.scoring import deal_points, shooter
from hearts_env.game.state import MOON, PASS, PLAY, State
from hearts_env.game.view import View, view
from hearts_env.match.agent import IllegalActionError, check_actions
from hearts_env.match.play_match import play
from hearts_env.match.tables import Deals
from hearts_env.observe.encode import encode, layout
from hearts_env.text.notation import NotationError, carry_out, parse_action, parse_hand, parse_position, show_position
from hearts_env.text.record import Record
from hearts_env.text.replay import check_line
from perft import of_pack


def at(hands: str, plays: str = "", **changes: Any) -> tuple[CompiledRules, State]:
    """The table with these hands and plays, the pack being the cards in the hands; nobody passes."""
    seats = hands.count("/") + 1
    pack = sum(parse_hand(hand) for hand in hands.split("/"))
    given = {"num_players": seats, "pass_count": 0, "dead_cards": 0, **changes}
    rules = compiled_rules(of_pack(" ".join(names_in(pack)), **given))
    played = f" | plays {plays}" if plays else ""
    return rules, parse_position(rules, f"deal 0 | scores {' '.join('0' * seats)} | hands {hands}{played}")


def legal_names(table: tuple[CompiledRules, State]) -> list[str]:
    return names_in(legal(*table)[0])


def go_on(table: tuple[CompiledRules, State], actions: str) -> State:
    """The state after more actions, which must be legal."""
    info, state = table
    script = np.array([[parse_action(word) for word in actions.split()]])
    assert carry_out(info, state, script).done[0] == script.size, show_position(info, state)
    return state


def dealt(rules: Rules, ids: Sequence[int], number: int | None = None) -> tuple[CompiledRules, State]:
    compiled = compiled_rules(rules)
    state = State.empty(compiled, len(ids))
    deal(compiled, state, shuffle(compiled, np.array(ids)), deal_no=None if number is None else [number] * len(ids))
    return compiled, state


def piles(*taken: str) -> np.ndarray:
    """Captured cards of one table, int64 [1, P]."""
    return np.array([[parse_hand(cards) for cards in taken]])


VOID = "C2 D5 S2 / D3 H3 SQ / C3 D4 H4 / C4 D6 H5"
"""Seat 1 cannot follow the opening lead, and has a diamond."""
ALL_PENALTY = "C2 D5 S2 / H36 SQ / C3 D4 H4 / C4 H5 S3"
"""Seat 1 cannot follow the opening lead, and has penalty cards only."""


def test_01_a_void_seat_does_not_throw_points_on_the_first_trick() -> None:
    """html5-hearts #1 and #8: no filter on the first trick, for people and for the program's own players."""
    assert legal_names(at(VOID, "2C")) == ["3D"]
    assert legal_names(at(VOID, "2C 3D 3C 4C 6D 5D")) == ["3H", "QS"], "from the second trick on it may"


def test_02_a_hand_of_penalty_cards_has_a_legal_play_on_the_first_trick() -> None:
    """html5-hearts pull requests 2 and 3: the ban without its exception left such a hand without a move."""
    assert legal_names(at(ALL_PENALTY, "2C")) == ["3H", "6H", "QS"]


def test_03_cards_go_left_right_across_and_are_then_held() -> None:
    """html5-hearts pull request 4: passed right, across, left, and never held."""
    for number, offset in enumerate((1, 3, 2)):
        info, state = dealt(Rules(), [7], number)
        before = state.hands[0].copy()
        for _ in range(12):
            step(info, state, lowest(legal(info, state)))
        for giver in range(4):
            three = card_set(cards_in(before[giver])[:3])
            assert state.hands[0, (giver + offset) % 4] & three == three
            assert state.hands[0, giver] & three == 0
    _, held = dealt(Rules(), [7], 3)
    assert held.phase[0] == PLAY
    assert held.start.tolist() == shuffle(compiled_rules(Rules()), [7]).tolist()


def test_04_a_moon_is_a_set_of_cards_and_no_sum_of_points() -> None:
    """t_games #436: 16 points (26 - 10) were called a moon, because the bonus was always taken for granted."""
    rules = compiled_rules(Rules.preset("omnibus"))
    sixteen = piles("SQ H234", "H56789TJQKA DJ", "-", "-")
    assert shooter(rules, sixteen).tolist() == [-1]
    assert deal_points(rules, sixteen, np.array([-1]), np.array([ADD])).tolist() == [[16, 0, 0, 0]]
    assert shooter(rules, piles("SQ H23456789TJQKA DJ", "-", "-", "-")).tolist() == [0]
    assert shooter(rules, piles("DJ", "SQ H23456789TJQKA", "-", "-")).tolist() == [1]


def test_05_the_opening_card_is_not_asked_for_once_a_card_is_led() -> None:
    """t_games #374: 2C was demanded from its holder although a heart was led, and then neither was legal."""
    table = at("C3 D3 / H35 / C2 H4 / C4 H6", "3H", first_leader="left_of_dealer", hearts_broken_by="free")
    assert legal_names(table) == ["4H"]
    assert legal_names((table[0], go_on(table, "4H 6H"))) == ["3C", "3D"]
    assert legal_names((table[0], go_on(table, "3D"))) == ["4C"], "nor on the second trick"


def test_06_the_opening_leader_is_found_on_hold_deals_too() -> None:
    """t_games #475: it was set at the end of the pass, so never where nothing is passed."""
    for rules, number in ((Rules(), 3), (Rules(pass_count=0), 0), (Rules(num_players=2), 0)):
        info, state = dealt(rules, range(50), number)
        opening = opening_card(state.hands)
        assert (state.phase == PLAY).all()
        assert len(set(state.turn.tolist())) == info.num_players
        assert (state.hands[np.arange(50), state.turn] & opening == opening).all()
        assert legal(info, state).tolist() == opening.tolist()


def test_07_neither_fewer_nor_more_cards_are_passed_than_the_rules_say() -> None:
    """t_games #440: too few cards could be passed through one of two ways in."""
    info, state = dealt(Rules(), [7], 0)
    for turn in range(12):
        assert state.phase[0] == PASS, turn
        assert legal(info, state)[0] & state.picks[0, state.turn[0]] == 0, "no card twice"
        step(info, state, lowest(legal(info, state)))
    assert state.phase[0] == PLAY
    picks = [names_in(picked) for picked in state.picks[0]]
    _, fresh = dealt(Rules(), [7], 0)
    hands = [names_in(hand) for hand in fresh.hands[0]]
    short = {"format": "hearts-record/1", "hands": hands, "passes": [picks[0][:2], *picks[1:]], "plays": ["2C"]}
    assert "seat 0 passes 2 cards; the rules pass 3" in check_line(Record.parse(short).to_json())["error"]
    with pytest.raises(NotationError, match="seat 0 passes 2 cards"):
        parse_position(info, show_position(info, fresh) + " | picks 2C 3C / - / - / - | plays 2C")


def test_08_an_action_that_is_not_legal_is_refused_on_every_way_in() -> None:
    """t_games #474: an option was enforced in one way in and not in another."""
    info, state = at(VOID, "2C")
    queen = parse_action("QS")
    hands = [names_in(hand) for hand in state.start[0]]
    env = HeartsAEC(info.rules, on_illegal="raise")
    env.reset(options={"hands": hands})
    env.step(parse_action("2C"))
    with pytest.raises(IllegalActionError, match=r"QS.* by seat 1: legal are 3D"):
        env.step(queen)
    with pytest.raises(NotationError, match="illegal play QS by seat 1: legal are 3D"):
        parse_position(info, show_position(info, state) + " QS")
    with pytest.raises(IllegalActionError, match="QS"):
        check_actions(view(info, state), np.array([queen]), "somebody")
    record = {"format": "hearts-record/1", "rules": info.rules.changes(), "hands": hands, "plays": ["2C", "QS"]}
    answer = check_line(Record.parse(record).to_json())
    assert (answer["ok"], answer["at"]) == (False, 1)


def test_09_a_moon_can_take_a_score_below_zero_and_is_worth_26_whoever_has_the_bonus_card() -> None:
    """t_games, hearts_game.py: scores were held at 0 or above, and with a bonus card a moon was always worth 36."""
    rules = compiled_rules(Rules.preset("omnibus"))
    for holder, points in ((0, [-36, 0, 0, 0]), (1, [-26, -10, 0, 0])):
        taken = piles("SQ H23456789TJQKA", "-", "-", "-")
        taken[0, holder] |= parse_hand("JD")
        assert deal_points(rules, taken, np.array([0]), np.array([SUBTRACT])).tolist() == [points]
    table = at("C2 H3 / C3 D4 / C4 D3 / C5 SQ", moon="subtract", moon_value=26)
    state = go_on(table, "2C 3C 4C 5C QS 3H 4D 3D")
    assert state.scores.tolist() == [[0, 0, 0, -26]]


def test_10_every_card_may_break_hearts_wherever_it_falls_in_the_trick() -> None:
    """OpenSpiel pull request 260: the flag was wrong, and so were the legal leads."""
    hands = "C2 D2 H7 / C3 H23 / C4 D3 H4 / C5 D5 S2"
    table = at(hands, "2C 3C 4C 5C 5D 2D")
    assert legal_names(table) == ["2H", "3H"]
    assert not table[1].broken[0]
    broken = go_on(table, "2H")
    assert broken.broken[0], "at once, in the middle of the trick"
    assert go_on(table, "3D").broken[0]
    deal(table[0], broken, broken.start)
    assert not broken.broken[0], "and not in the next deal"
    for by, breaks in (("heart_or_qs", True), ("heart", False), ("void", True)):
        table = at("C2 D2 H7 / C3 H2 SQ / C4 D3 H4 / C5 D5 S2", "2C 3C 4C 5C 5D 2D QS", hearts_broken_by=by)
        assert table[1].broken[0] == breaks, by


OTHER_VALUES: dict[str, Any] = {
    **{"num_players": 3, "deck": "morehead", "dead_cards": 4, "pass_count": 2, "pass_cycle": (2,), "pass_queen": False},
    **{"first_leader": "left_of_dealer", "first_lead": "any_club", "first_trick_points": "allowed"},
    **{"first_trick_all_points": "hearts", "hearts_broken_by": "void", "lead_hearts_with_qs": True, "trump": "H"},
    **{"scoring": "spot", "bonus_card": "JD", "bonus_points": -7, "no_tricks_bonus": -5, "moon": "add"},
    **{"moon_value": 20, "moon_needs_bonus": True, "sun_value": 26, "teams": "fixed", "team_moon": "team"},
    **{"team_end": "player", "target": 50, "end_strict": True, "exact_reset": 50, "tie": "continue"},
}
TEAMS = {"teams": "fixed"}
NEEDS = {"moon_needs_bonus": {"bonus_card": "JD"}, "team_moon": TEAMS, "team_end": TEAMS}


def test_11_an_option_lands_in_its_own_field_and_cannot_be_given_by_place() -> None:
    """OpenSpiel pull request 245: two option arguments were swapped on their way to the state."""
    with pytest.raises(TypeError):
        Rules(4, "seed")  # type: ignore[misc]
    assert set(OTHER_VALUES) == {field.name for field in fields(Rules)}
    for name, value in OTHER_VALUES.items():
        given = {**NEEDS.get(name, {}), name: value}
        if name == "deck":
            given["num_players"] = 6
        rules = Rules(**given)
        plain = Rules(num_players=rules.num_players)
        changed = {field.name for field in fields(Rules) if getattr(rules, field.name) != getattr(plain, field.name)}
        assert getattr(rules, name) == value
        assert changed - {"num_players"} == set(given) - {"num_players"}, name
        assert compiled_rules(rules).rules == rules
        assert Rules.parse(rules.show()) == rules


def test_12_what_a_network_sees_is_read_back_from_the_state_itself() -> None:
    """OpenSpiel pull request 254: an "important bug fix" in the tensor of the information state."""
    for players, steps in ((2, 9), (4, 7), (4, 33), (7, 30)):
        rules, state = play_some(players, 8, steps, seed=steps)
        compiled = compiled_rules(rules)
        shape = layout(compiled)
        for seat in range(players):
            rows = encode(shape, view(compiled, state, np.full(8, seat)))
            around = (seat + np.arange(players)) % players
            for row, seen in enumerate(rows):
                played = state.start[row] & ~state.hands[row]
                voids = [int(state.voids[row]) >> NUM_SUITS * other & 15 for other in around]
                assert as_sets(decoded(shape, seen, "hand")) == state.hands[row, seat]
                assert as_sets(decoded(shape, seen, "played")).tolist() == played[around].tolist()
                assert as_sets(decoded(shape, seen, "trick")) == state.table[row]
                assert as_sets(decoded(shape, seen, "picks")) == state.picks[row, seat]
                assert as_sets(decoded(shape, seen, "voids")).tolist() == voids
                assert decoded(shape, seen, "broken")[0] == state.broken[row]


def test_13_where_nothing_is_passed_nobody_is_asked_to_pass_and_everything_says_so() -> None:
    """OpenSpiel 2.0.2: without passing, legal actions said hold, but chance outcomes still had all directions.

    Here the direction is no chance event: the number of the deal decides it, and a hold deal has no pass phase.
    """
    for rules in (Rules(pass_count=0), Rules(pass_cycle=(0,)), Rules(num_players=2)):
        for number in range(5):
            info, state = dealt(rules, [3], number)
            seen = view(info, state)
            bytes_seen = encode(layout(info), seen)[0]
            assert pass_offset(info, state.deal_no).tolist() == seen.offset.tolist() == [0]
            assert np.flatnonzero(decoded(layout(info), bytes_seen, "offset")).tolist() == [0]
            assert np.flatnonzero(decoded(layout(info), bytes_seen, "phase")).tolist() == [PLAY]
        result = play(rules, [make("random")], [0] * rules.num_players, range(8))
        assert info.num_plays * 8 <= result.decisions[0] <= (info.num_plays + 1) * 8, "plays and moon choices only"


def test_14_no_void_follower_is_ever_offered_points_on_the_first_trick_while_it_holds_others() -> None:
    """hearts-gym: it was, in 234 of 234 cases, and playing one counted as legal."""
    cases = 0
    for players in (3, 4, 5, 6, 7):
        info, state = dealt(Rules(num_players=players, pass_count=0), range(3000))
        rng = np.random.default_rng(players)
        for _ in range(players):
            hand, allowed = state.hands[np.arange(3000), state.turn], legal(info, state)
            void = (state.led >= 0) & (hand & info.suit_sets[state.led] == 0)
            has_others = void & (hand & ~info.play.penalty != 0)
            assert (allowed[has_others] & info.play.penalty == 0).all()
            assert (allowed[void & ~has_others] == hand[void & ~has_others]).all()
            cases += int(has_others.sum())
            step(info, state, choose(allowed, rng.random(3000)))
    assert cases > 500


def test_15_every_number_of_players_can_be_reset_and_played_with_either_pack() -> None:
    """hearts-gym: 3, 5 and 6 players with the default pack died in reset with an IndexError of a card."""
    for players in range(2, 8):
        for deck in ("seed", "morehead") if players in MOREHEAD_REMOVED else ("seed",):
            env = HeartsAEC(Rules(num_players=players, deck=deck, moon="add"))
            env.reset(seed=players)
            for agent in env.agent_iter():
                observation, _, ended, _, _ = env.last()
                env.step(None if ended else int(env.action_space(agent).sample(observation["action_mask"])))
            assert not env.agents


def test_16_cards_are_passed_a_game_has_many_deals_and_the_queen_may_fall_from_a_hand_of_penalty_cards() -> None:
    """SerenityOS #7375 and #7374: no passing, one round only; then a penalty hand that could never play QS."""
    _, state = dealt(Rules(), [5], 0)
    assert state.phase[0] == PASS
    result = play(Rules(), [make("random")], [0] * 4, range(5), games=True)
    assert (result.deals > 4).all()
    assert "QS" in legal_names(at(ALL_PENALTY, "2C"))
    assert legal_names(at(ALL_PENALTY, "2C", first_trick_all_points="hearts")) == ["3H", "6H"], "their reading"


def test_17_the_direction_of_the_pass_follows_the_number_of_the_deal_through_a_game() -> None:
    """danielcorin/Hearts: the direction was looked up by the trick, always 0, so all deals passed left."""
    offsets: list[int] = []

    def look(finished: Deals) -> None:
        before, picks, start = finished.hands[0], finished.state.picks[0], finished.state.start[0]
        if (before == start).all():
            offsets.append(0)
        else:
            offsets.append(next(k for k in range(1, 4) if picks[0] & ~start[k] == 0))

    play(Rules(), [make("random")], [0] * 4, [81723], games=True, on_deals=look)
    assert len(offsets) > 5
    assert offsets == [(1, 3, 2, 0)[number % 4] for number in range(len(offsets))]


def test_18_three_players_never_pass_across_and_five_players_keep_the_two_of_spades() -> None:
    """TabletopGames pull request 256: across was n/2, left for three; five dropped 2S; hold deals asked for cards."""
    assert Rules(num_players=3).pass_cycle == (1, 2)
    assert [pass_offset(compiled_rules(Rules(num_players=5)), np.array([number]))[0] for number in range(4)] == [
        1,
        4,
        1,
        4,
    ]
    assert Rules(num_players=5).removed == ("2C", "2D")
    result = play(Rules(pass_cycle=(0,), moon="add"), [make("random")], [0] * 4, [1, 2])
    assert result.decisions.tolist() == [2 * 52]


def test_19_every_card_of_a_hand_of_hearts_can_be_led_and_every_one_is_accepted() -> None:
    """cards-ts: the check refused every card of such a hand, and a fixed other card was played for the player."""
    info, state = at("C2 D2 S2 / CA H23 / C4 D3 S5 / C5 D4 S3", "2C AC 4C 5C")
    assert not state.broken[0]
    assert legal_names((info, state)) == ["2H", "3H"]
    for card in ("2H", "3H"):
        env = HeartsAEC(info.rules, on_illegal="raise")
        env.reset(options={"hands": [names_in(hand) for hand in state.start[0]]})
        for name in ("2C", "AC", "4C", "5C", card):
            env.step(parse_card(name))
        assert env.view("seat_0").plays[0, 4] == parse_card(card)


def one_view(hands: str, plays: str, **changes: Any) -> View:
    return view(*at(hands, plays, **changes))


def test_20_points_can_lie_on_the_first_trick_and_the_rule_agent_ducks_them() -> None:
    """TricksterBots pull request 363: the player took for granted that the first trick has none."""
    with_queen = one_view("C26 D5 S2 / H367 SQ / C58 D4 H4 / C3A H5 S3", "2C QS 5C")
    without = one_view("C26 D5 S2 / D3 H67 SQ / C58 D4 H4 / C3A H5 S3", "2C 3D 5C")
    assert names_in(with_queen.legal[0]) == names_in(without.legal[0]) == ["3C", "AC"]
    assert make("rule").act(with_queen).tolist() == [parse_card("3C")]
    assert make("rule").act(without).tolist() == [parse_card("AC")]


def test_21_every_agent_plays_the_queen_when_it_is_its_last_card() -> None:
    """TricksterBots #316: "two or more legal cards, one is not QS" gave nothing when QS was the last card."""
    leads = ("C2 SQ / C3 D3 / C4 D4 / C5 D5", "2C 3C 4C 5C 5D")
    for hands, plays in (leads, ("C5 SQ / C3 D3 / C4 D4 / C2 D5", "2C 5C 3C 4C")):
        seen = one_view(hands, plays)
        assert names_in(seen.legal[0]) == ["QS"]
        for name in ("random", "rule"):
            assert make(name).act(seen).tolist() == [parse_card("QS")], name


def test_22_a_deal_is_played_out_because_tricks_without_points_can_count() -> None:
    """TricksterBots #239, the wish to stop once no points are left: safe only without a bonus for no tricks or for all.

    Both penalty cards fall on the first trick; who takes the second decides about -5.
    """
    rules: dict[str, Any] = {"first_trick_points": "allowed", "no_tricks_bonus": -5, "moon": "none"}
    hands = "C2 D4 / C3 D3 / H2 D2 / D5 SQ"
    table = at(hands, "2C 3C 2H QS", **rules)
    assert (table[1].taken & parse_hand("2H QS")).sum() == parse_hand("2H QS")
    assert table[1].phase[0] == PLAY
    assert go_on(table, "3D 2D 5D 4D").points.tolist() == [[-5, 14, -5, 0]]
    table = at(hands, "2C 3C 2H QS 3D 2D 5D", **{**rules, "moon": "choice", "sun_value": 26})
    assert go_on(table, "4D").phase[0] == MOON
    assert go_on(table, "add").points.tolist() == [[14, 0, 14, 14]], "one trick of two: no sun"


def test_23_the_lowest_club_in_play_leads_whichever_that_is() -> None:
    """CardsWithCats: the leader was the holder of 2C also where 2C is out, which gave place -1 and no moves."""
    for rules in (Rules(num_players=5), Rules(num_players=3, deck="morehead"), Rules(num_players=6, deck="morehead")):
        info, state = dealt(rules.replace(pass_count=0), range(20))
        lowest_club = "4C" if rules.num_players == 6 else "3C"
        assert {tuple(names_in(cards)) for cards in legal(info, state)} == {(lowest_club,)}
    info, state = dealt(Rules(num_players=2), range(3000))
    found = {tuple(names_in(cards)) for cards in legal(info, state)}
    assert found == {("2C",), ("4C",), ("6C",)}, "with two dead cards, rarely even 6C"


def test_24_a_void_is_in_the_suit_led_trumps_or_not() -> None:
    """jskat #40: voids were inferred from the wrong suit where a trick was in trumps."""
    clubs, diamonds, hearts = 1, 2, 4
    for plays, voids in (
        ("2C 3C 4D 3H", [diamonds, 0]),  # a ruff shows the void in the suit led, and none in trumps
        ("2C 3C 4D 3H 4H 5D", [diamonds, hearts]),  # trumps led and not followed
    ):
        table = at("C2 H34 / C3 D45", plays, trump="H")
        assert view(*table, seats=[0]).voids.tolist() == [voids]
        assert view(*table, seats=[1]).voids.tolist() == [voids[::-1]]
    first = at("C24 D2 / D3 H2 S2", "2C 2H", trump="H", first_trick_points="allowed")
    assert view(*first, seats=[0]).voids.tolist() == [[0, clubs]]
