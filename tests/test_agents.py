"""Every agent keeps the contract of `Agent`, and the rule agent plays the textbook cards."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from hearts_agents import AGENTS, AgentError, make
from hearts_env.agent import Agent
from hearts_env.cards import (
    ADD,
    CARD_NAMES,
    HEARTS,
    NUM_SUITS,
    QS_SET,
    SUBTRACT,
    SUITS,
    Ints,
    card_set,
    cards_in,
    parse_card,
)
from hearts_env.engine import deal, shuffle, step
from hearts_env.lookup import lookup
from hearts_env.match import check_actions, play
from hearts_env.rewards import payoff
from hearts_env.rules import PRESETS, Rules
from hearts_env.state import MOON, PLAY, State
from hearts_env.view import View, view

NAMES = ("random", "rule")
VARIANTS = (
    *PRESETS,
    "moon=none,bonus_card=JD",
    "bonus_card=TD,teams=fixed,team_moon=team",
    "num_players=5,first_trick_points=allowed,pass_cycle=[2,0]",
    "num_players=7,pass_count=5,no_tricks_bonus=-5",
    'scoring={"7C":10,"AD":-4}',
    'scoring={"QS":0,"KH":3},moon=auto',
    "num_players=2,pass_count=1,pass_cycle=[1],trump=null",
    "trump=H,sun_value=26",
)


def dealt(rules: Rules, ids: Ints) -> State:
    info = lookup(rules)
    state = State.empty(info, len(ids))
    deal(info, state, shuffle(info, ids), deal_no=ids % len(rules.pass_cycle), key=ids)
    return state


def redealt(state: State, rng: np.random.Generator) -> State:
    """The same tables with the hidden cards dealt anew among the hands that the seat to act cannot see."""
    other = state.copy()
    for row in np.flatnonzero(~state.over):
        seats = [seat for seat in range(state.hands.shape[1]) if seat != state.turn[row]]
        hidden = rng.permutation([card for seat in seats for card in cards_in(state.hands[row, seat])])
        for seat in seats:
            size = int(state.hands[row, seat]).bit_count()
            hand, hidden = card_set(map(int, hidden[:size])), hidden[size:]
            other.start[row, seat] = (state.start[row, seat] & ~state.hands[row, seat]) | hand
            other.hands[row, seat] = hand
    return other


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_an_agent_plays_only_legal_actions_in_every_variant(name: str, variant: str) -> None:
    rules = Rules.parse(variant)
    agents = [make(name), make("random:1")]
    lineup = np.arange(rules.num_players) % 2
    result = play(rules, agents, np.tile(np.array([lineup, 0 * lineup]), (12, 1)), np.arange(24))
    assert (result.deals == 1).all()


@pytest.mark.parametrize("name", NAMES)
def test_an_agent_plays_whole_games(name: str) -> None:
    result = play(Rules(target=40), [make(name)], [0] * 4, np.arange(3), games=True)
    assert result.winners.any(axis=1).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("variant", ["standard", "two_player", "omnibus", "six"])
def test_an_agent_acts_the_same_in_any_batch_and_whatever_the_hidden_cards(name: str, variant: str) -> None:
    rules = Rules.parse(variant)
    info, agent, rng = lookup(rules), make(name), np.random.default_rng(1)
    state = dealt(rules, np.arange(20))
    while not state.over.all():
        rows = np.flatnonzero(~state.over)
        seen = view(info, state).take(rows)
        actions = agent.act(seen)
        check_actions(seen, actions, name)
        alone = int(rng.integers(len(rows)))
        assert agent.act(seen.take(np.array([alone])))[0] == actions[alone]
        blind = view(info, redealt(state, rng)).take(rows)
        assert all(np.array_equal(getattr(seen, f.name), getattr(blind, f.name)) for f in fields(View)[1:])
        assert np.array_equal(agent.act(blind), actions)
        chosen = np.zeros(len(state), np.int64)
        chosen[rows] = actions
        step(info, state, chosen)


@pytest.mark.parametrize("name", NAMES)
def test_an_agent_leaves_its_view_as_it_was(name: str) -> None:
    seen = view(lookup(Rules()), dealt(Rules(), np.arange(20)))
    before = seen.take(np.arange(20))
    make(name).act(seen)
    assert all(np.array_equal(getattr(seen, f.name), getattr(before, f.name)) for f in fields(View)[1:])


def test_agents_are_made_by_name_and_wrong_names_are_refused() -> None:
    assert set(NAMES) <= set(AGENTS)
    for name in (*NAMES, "random:3"):
        agent = make(name)
        assert isinstance(agent, Agent)
        assert agent.name == name
    for wrong in ("", "rul", "rule:x", "random:x"):
        with pytest.raises(AgentError):
            make(wrong)


# -- the rule agent, position by position ----------------------------------------------------------------------------


def card(text: str) -> int:
    return card_set(map(parse_card, text.split()))


def position(
    hand: str,
    trick: str = "",
    *,
    taken: dict[int, str] | None = None,
    voids: dict[int, str] | None = None,
    rules: Rules | None = None,
    broken: bool = True,
) -> View:
    """The view of seat 0 that holds `hand`, after the seats to its right have played `trick`.

    taken: cards that seats have captured, all of them out of the way; what is left is in the other hands.
    """
    info = lookup(rules or Rules())
    seats = info.num_players
    state = State.empty(info, 1)
    on_table = [parse_card(name) for name in trick.split()]
    gone = {seat: card(text) for seat, text in (taken or {}).items()}
    state.hands[0, 0] = card(hand)
    size = len(hand.split())
    hidden = cards_in(info.deck & ~card(hand) & ~card(trick) & ~sum(gone.values()))
    for seat in range(1, seats):
        held = size - (seat >= seats - len(on_table))
        state.hands[0, seat] = card_set(hidden[:held])
        hidden = hidden[held:]
        state.voids[0] |= sum(1 << NUM_SUITS * seat + SUITS.index(suit) for suit in (voids or {}).get(seat, ""))
    state.start[:] = state.hands
    for seat, cards in gone.items():
        state.start[0, seat] |= cards
        state.taken[0, seat] = cards
    state.phase[:], state.turn[:], state.broken[:] = PLAY, (seats - len(on_table)) % seats, broken
    state.count[:] = (info.hand_size - size) * seats
    state.leaders[0, info.hand_size - size] = state.turn[0]
    for played in on_table:
        seat = state.turn[0]
        state.hands[0, seat] |= 1 << played
        state.start[0, seat] |= 1 << played
        step(info, state, np.array([played]))
    return view(info, state, [0])


def choice(seen: View) -> str:
    actions = make("rule").act(seen)
    check_actions(seen, actions, "rule")
    return CARD_NAMES[actions[0]]


def picks(hand: str, offset: int = 1, rules: Rules | None = None) -> set[str]:
    info = lookup(rules or Rules())
    state = State.empty(info, 1)
    hands = np.zeros((1, info.num_players), np.int64)
    hands[0, 0] = card(hand)
    hidden = cards_in(info.deck & ~card(hand))
    for seat in range(1, info.num_players):
        hands[0, seat] = card_set(hidden[(seat - 1) :: info.num_players - 1][: info.hand_size])
    deal(info, state, hands, deal_no=list(info.rules.pass_cycle).index(offset))
    for _ in range(info.pass_count):
        state.turn[:] = 0
        step(info, state, make("rule").act(view(info, state)))
    return {CARD_NAMES[c] for c in cards_in(state.picks[0, 0])}


def test_rule_ducks_with_the_highest_card_that_loses() -> None:
    assert choice(position("3C 9C KC 5D 6D 2H 4S", "TC 4H 7C", taken={1: "AS KS 2S", 2: "AH KH QH"})) == "9C"


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
    assert choice(position("AD 2C 3C", "", voids={1: "D", 2: "D"}, taken={1: "QS"})) != "AD"


def test_rule_breaks_the_moon_of_the_only_seat_with_points() -> None:
    """Seat 1 has all points but one heart: taking it costs one point, letting it go costs 26."""
    shot = "QS 2H 3H 4H 5H 6H 7H 8H 9H TH JH"
    seen = position("AC 2D", "9C KH 8C", taken={1: shot, 2: "AS KS"})
    assert choice(seen) == "AC"
    feeds = position("AH 2D 3D", "9S", taken={3: "QS 2H 3H 4H 5H 6H 7H 8H 9H TH"}, voids={3: "D"})
    assert choice(feeds) != "AH"


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
    info = lookup(Rules())
    state = State.empty(info, 1)
    state.phase[:], state.turn[:], state.shooter[:] = MOON, 2, 2
    state.taken[0, 2] = HEARTS | QS_SET
    state.scores[0] = np.roll(scores, 2)
    assert make("rule").act(view(info, state))[0] == expected


def test_rule_beats_three_random_agents_by_far() -> None:
    ids = np.arange(200)
    seats = np.array([np.roll([0, 1, 1, 1], turn) for turn in range(4)])
    result = play(Rules(), [make("rule"), make("random")], np.repeat(seats, len(ids), axis=0), np.tile(ids, 4))
    gain = payoff(lookup(Rules()), result.points)[result.lineup == 0].mean()
    assert gain > 5.5
