"""The rule agent plays the textbook cards: its thumb rules, each as a position."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hearts_agents import AgentError, make
from hearts_agents.rule.weights import Weights, load
from hearts_env.cards import (
    ADD,
    CARD_NAMES,
    HEARTS,
    NUM_SUITS,
    QS_SET,
    SUBTRACT,
    SUITS,
    card_set,
    cards_in,
    parse_card,
)
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import deal, step
from hearts_env.game.rewards import payoff
from hearts_env.game.rules import Rules
from hearts_env.game.state import MOON, PLAY, State
from hearts_env.game.view import View, view
from hearts_env.match.agent import check_actions
from hearts_env.match.play_match import play


def card(text: str) -> int:
    return card_set(map(parse_card, text.split()))


def position(
    hand: str,
    trick: str = "",
    *,
    taken: dict[int, str] | None = None,
    voids: dict[int, str] | None = None,
    passed: str = "",
    offset: int = 0,
    rules: Rules | None = None,
    broken: bool = True,
) -> View:
    """The view of seat 0 that holds `hand`, after the seats to its right have played `trick`.

    taken: cards that seats have captured, all of them out of the way; what is left is in the other hands.  passed:
    cards that seat 0 has passed to seat `offset`, which still holds them.
    """
    compiled = compiled_rules(rules or Rules())
    seats = compiled.num_players
    state = State.empty(compiled, 1)
    on_table = [parse_card(name) for name in trick.split()]
    gone = {seat: card(text) for seat, text in (taken or {}).items()}
    state.hands[0, 0] = card(hand)
    size = len(hand.split())
    hidden = cards_in(compiled.deck & ~card(hand) & ~card(trick) & ~card(passed) & ~sum(gone.values()))
    state.picks[0, 0] = card(passed)
    state.deal_no[:] = list(compiled.rules.pass_cycle).index(offset)
    for seat in range(1, seats):
        kept = card(passed) if seat == offset else 0
        held = size - (seat >= seats - len(on_table)) - kept.bit_count()
        state.hands[0, seat] = card_set(hidden[:held]) | kept
        hidden = hidden[held:]
        state.voids[0] |= sum(1 << NUM_SUITS * seat + SUITS.index(suit) for suit in (voids or {}).get(seat, ""))
    state.start[:] = state.hands
    for seat, cards in gone.items():
        state.start[0, seat] |= cards
        state.taken[0, seat] = cards
    state.phase[:], state.turn[:], state.broken[:] = PLAY, (seats - len(on_table)) % seats, broken
    state.count[:] = (compiled.hand_size - size) * seats
    state.leaders[0, compiled.hand_size - size] = state.turn[0]
    for played in on_table:
        seat = state.turn[0]
        state.hands[0, seat] |= 1 << played
        state.start[0, seat] |= 1 << played
        step(compiled, state, np.array([played]))
    return view(compiled, state, [0])


def choice(seen: View) -> str:
    actions = make("rule").act(seen)
    check_actions(seen, actions, "rule")
    return CARD_NAMES[actions[0]]


def picks(hand: str, offset: int = 1, rules: Rules | None = None) -> set[str]:
    compiled = compiled_rules(rules or Rules())
    state = State.empty(compiled, 1)
    hands = np.zeros((1, compiled.num_players), np.int64)
    hands[0, 0] = card(hand)
    hidden = cards_in(compiled.deck & ~card(hand))
    for seat in range(1, compiled.num_players):
        hands[0, seat] = card_set(hidden[(seat - 1) :: compiled.num_players - 1][: compiled.hand_size])
    deal(compiled, state, hands, deal_no=list(compiled.rules.pass_cycle).index(offset))
    for _ in range(compiled.pass_count):
        state.turn[:] = 0
        step(compiled, state, make("rule").act(view(compiled, state)))
    return {CARD_NAMES[c] for c in cards_in(state.picks[0, 0])}


def test_rule_ducks_with_the_highest_card_that_loses() -> None:
    assert choice(position("3C 9C KC 5D 6D 2H 4S", "TC 4H 7C", taken={1: "AS KS AH", 2: "2S KH QH"})) == "9C"


def test_rule_wins_a_free_trick_with_its_highest_card_when_last() -> None:
    assert choice(position("3C KC QD AD JH AH 4S 3S", "TC 6C 7C")) == "KC"


def test_rule_plays_high_on_a_first_trick_that_cannot_hurt() -> None:
    assert choice(position("3C 9C AC 5D 6D 2H 4S 3S 7D 8D 9D 3H 4H", "2C 6C 7C", broken=False)) == "AC"


def test_rule_does_not_take_the_queen_when_it_can_duck() -> None:
    assert choice(position("3S 5S AS KS 2D 3D 4D", "TS QS")) in {"3S", "5S"}


def test_rule_gives_the_queen_away_when_void() -> None:
    assert choice(position("QS AS AD KH 3H", "4C 9C 8C")) == "QS"


def test_rule_gives_the_queen_away_under_the_king() -> None:
    assert choice(position("QS 3S AD KH 3H", "4S KS 8S")) == "QS"


def test_rule_sheds_the_ace_of_spades_while_the_queen_is_out() -> None:
    assert choice(position("AS 2S 4D 5D 3H 4H 6D", "4C 9C 8C")) == "AS"


def test_rule_does_not_lead_high_spades_while_the_queen_is_out() -> None:
    assert choice(position("AS KS 3S 4D 5D 6C 3C", "", broken=False)) not in {"AS", "KS"}


def test_rule_leads_low_spades_to_flush_out_the_queen() -> None:
    led = choice(position("JS TS 9S 8S KD QD AC KC", "", broken=False))
    assert led in {"JS", "TS", "9S", "8S"}


def test_rule_leads_a_low_card_where_others_are_void_and_hearts_are_out() -> None:
    assert choice(position("AD 2C 3C", "", voids={1: "D", 2: "D"}, taken={1: "3H", 2: "2H"})) != "AD"


def test_rule_breaks_the_moon_of_the_only_seat_with_points() -> None:
    """Seat 1 has all points but one heart: taking it costs one point, letting it go costs 26."""
    shot = "QS 2H 3H 4H 5H 6H 7H 8H 9H TH JH"
    seen = position("AC 2D", "9C KH 8C", taken={1: shot, 2: "AS KS"})
    assert choice(seen) == "AC"


def test_rule_runs_the_winners_of_a_moon_hand() -> None:
    seen = position("AH KH QH JH AS KS AC KC", "", taken={0: "QS 2H 3H 4H"})
    assert choice(seen) in {"AH", "AS", "AC"}


def test_rule_passes_unguarded_high_spades() -> None:
    assert {"AS", "KS"} <= picks("AS KS 2S 3C 4C 5C 6C 3D 4D 5D 2H 3H 4H")
    assert "QS" in picks("QS 2S 2C 3C 4C 5C 6C 3D 4D 5D 2H 3H 4H")


def test_rule_keeps_a_well_guarded_queen() -> None:
    assert "QS" not in picks("QS JS 8S 5S 3S 2S KC JC KD JD TD AH 2H")


def test_rule_passes_for_a_void() -> None:
    assert {"KD", "JD"} <= picks("KD JD 2C 3C 5C 6C 8C 2S 3S 5S 2H 3H 4H")


def test_rule_keeps_the_bonus_card() -> None:
    rules = Rules.preset("omnibus")
    assert "JD" not in picks("JD AD KD 3C 4C 5C 6C 8C 9C 2H 3H 4H 2S", rules=rules)
    assert choice(position("JD 2D 3C 5C", "9D 4D TD", rules=rules)) == "JD"
    assert choice(position("JD 5D 3H 5S", "4C 9C 8C", rules=rules, taken={1: "QS"})) != "JD"


def test_rule_does_not_dump_the_queen_on_its_partner() -> None:
    rules = Rules.preset("partnership")
    assert choice(position("QS 4D 3D", "AC 9C", rules=rules)) != "QS"
    assert choice(position("QS 4D 3D", "9C AC", rules=rules)) == "QS"


@pytest.mark.parametrize(
    ("scores", "expected"),
    [((0, 0, 0, 0), ADD), ((90, 80, 70, 60), SUBTRACT), ((20, 80, 70, 60), ADD)],
)
def test_rule_adds_to_the_others_unless_that_ends_a_game_it_would_lose(scores: list[int], expected: int) -> None:
    rules = compiled_rules(Rules())
    state = State.empty(rules, 1)
    state.phase[:], state.turn[:], state.shooter[:] = MOON, 2, 2
    state.taken[0, 2] = HEARTS | QS_SET
    state.scores[0] = np.roll(scores, 2)
    assert make("rule").act(view(rules, state))[0] == expected


def test_rule_beats_three_random_agents_by_far() -> None:
    ids = np.arange(200)
    seats = np.array([np.roll([0, 1, 1, 1], turn) for turn in range(4)])
    result = play(Rules(), [make("rule"), make("random")], np.repeat(seats, len(ids), axis=0), np.tile(ids, 4))
    gain = payoff(compiled_rules(Rules()), result.points)[result.lineup == 0].mean()
    assert gain > 5.5


# -- what the second edition knows -----------------------------------------------------------------------------------


def test_rule_plays_its_ace_of_spades_once_the_queen_it_passed_can_no_longer_fall_on_it() -> None:
    """It passed the queen to seat 3, which has just played another spade to this trick."""
    seen = position("AS 2S 9D 8D 3C", "4S 6S", passed="QS", offset=3, taken={1: "AH KH QH 2H"})
    assert choice(seen) == "AS"


def test_rule_ducks_with_its_ace_of_spades_when_the_queen_it_passed_is_still_to_play() -> None:
    seen = position("AS 2S 9D 8D 3C", "4S 6S", passed="QS", offset=1, taken={2: "AH KH QH 2H"})
    assert choice(seen) == "2S"


def test_rule_gives_the_queen_away_under_the_ace_even_with_the_king_in_hand() -> None:
    assert choice(position("QS KS AD KH 3H", "4S AS 8S")) == "QS"


def test_rule_takes_a_heart_from_a_seat_that_has_everything_else() -> None:
    """A heart costs one point, the moon 26: the ace stops it."""
    shot = "QS 2H 3H 4H 5H 6H 7H 8H 9H TH"
    assert choice(position("AH 3C 5D", "KH QH", taken={2: shot})) == "AH"


def test_rule_keeps_its_last_stopper_against_a_moon() -> None:
    """Seat 3 has won all ten tricks, with the queen and nine hearts: a diamond can go, the ace of hearts can't."""
    clubs, spades = "2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC AC", "2S 3S 4S 5S 6S 7S 8S TS JS QS KS AS"
    won = f"2H 3H 4H 5H 6H 7H 8H 9H TH {clubs} {spades} 4D 5D 6D 7D 8D 9D"
    assert choice(position("AH 2D 3D", "9S", taken={3: won})) in {"2D", "3D"}


def test_rule_keeps_trying_a_moon_that_it_has_begun() -> None:
    """It keeps no memory: what made the try worth while is seen again at every lead."""
    hand = ["AH", "KH", "QH", "JH", "TH", "AS", "KS", "AC"]
    for gone in range(1, 5):
        left = position(" ".join(hand[gone:]), "", taken={0: "QS 2H 3H 4H " + " ".join(hand[:gone])})
        assert choice(left) in hand[gone:]
        assert CARD_NAMES.index(choice(left)) % 13 >= CARD_NAMES.index("TH") % 13


def test_rule_gives_a_moon_up_once_another_seat_has_a_heart() -> None:
    """Its queen may now go to whoever takes the trick."""
    hand = "QS AH KH AD 2D"
    assert choice(position(hand, "9C KC 8C", taken={2: "2H 3H", 1: "AC"})) == "QS"


def test_rule_leads_a_card_that_nobody_can_follow_only_if_that_does_not_hurt() -> None:
    """All other diamonds are gone: a lead of one would win the trick with what the others throw away."""
    diamonds = "AD KD QD JD TD 9D 8D 7D 6D 5D 4D"
    seen = position("2D 2C 3C", "", taken={1: diamonds, 2: "2H 3H 4H 5H 6H 7H 8H"}, voids={1: "D", 2: "D", 3: "D"})
    assert choice(seen) != "2D"


def test_rule_leads_no_spade_while_it_holds_the_queen_bare() -> None:
    assert choice(position("QS 3S 4C 5C 6D 7D", "", broken=False, taken={1: "2H 3H"})) not in {"QS", "3S"}


def test_rule_passes_two_cards_of_a_suit_that_the_pass_can_empty() -> None:
    """The second pick counts on the first: one of two diamonds alone would be worth little."""
    assert {"JD", "TD"} <= picks("JD TD 2C 3C 4C 5C 7C 2S 3S 4S 2H 3H 4H")


def test_rule_keeps_the_spades_under_its_queen() -> None:
    assert not {"9S", "7S", "5S", "2S"} & picks("QS 9S 7S 5S 2S KC JC KD JD TD AH 2H 9H")


def test_rule_does_not_discard_a_heart_that_would_win_the_trick_as_a_trump() -> None:
    rules = Rules.preset("two_player")
    assert choice(position("2H 4S 6S", "8C", rules=rules, taken={0: "AH", 1: "QH TH"})) != "2H"


def test_weights_are_read_from_a_file_and_wrong_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    path.write_text(json.dumps({"give": 0.5}))
    assert load(path) == Weights(give=0.5)
    assert make(f"rule:{path}").weights == Weights(give=0.5)  # type: ignore[attr-defined]
    for wrong in ("[", "[1]", '{"gvie": 1}', '{"give": "1"}', '{"give": 1e9}', '{"give": NaN}', '{"give": true}'):
        path.write_text(wrong)
        with pytest.raises(AgentError):
            make(f"rule:{path}")
    with pytest.raises(AgentError):
        make(f"rule:{tmp_path / 'nothing.json'}")
