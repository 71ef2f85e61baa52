"""The chance to win a game: what any such chance must be, that it is true, and that search plays for it."""

from __future__ import annotations

import numpy as np
import pytest

import win_chance as fit
from deals import VARIANTS, dealt
from hearts_agents import make
from hearts_agents.search.agent import SearchAgent
from hearts_agents.search.candidates import CandidateActions
from hearts_agents.search.rollouts import RolloutPolicies, outcomes
from hearts_agents.win_chance import chances, competitors, curve_of, game_payoff, in_packs, win_chance
from hearts_env.cards import ADD, CARD_NAMES, SUBTRACT, Ints
from hearts_env.executor import using
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import step
from hearts_env.game.rewards import payoff
from hearts_env.game.rules import Rules
from hearts_env.game.scoring import is_over, lowest_seats
from hearts_env.game.state import MOON
from hearts_env.game.view import view
from hearts_env.match.play_match import play
from hearts_env.text.notation import parse_position

INFO = compiled_rules(Rules())
ALL_SEATS = [Rules(num_players=seats) for seats in range(2, 8)]
TEAMS = Rules.preset("partnership")


def some_scores(rules: Rules, rows: int, seed: int = 0) -> Ints:
    """Scores as games have them, some of them over."""
    rng = np.random.default_rng(seed)
    return rng.integers(-26, rules.target + 10, (rows, rules.num_players))


@pytest.mark.parametrize("variant", VARIANTS)
def test_under_all_rules_one_side_wins(variant: str) -> None:
    rules = compiled_rules(Rules.parse(variant))
    found = win_chance(rules, some_scores(rules.rules, 500))
    assert found.shape == (500, rules.num_players)
    assert ((found >= 0) & (found <= 1)).all()
    assert found[:, : competitors(rules)].sum(axis=1) == pytest.approx(1)
    if rules.teams:
        assert np.array_equal(found[:, :2], found[:, 2:])


@pytest.mark.parametrize("rules", ALL_SEATS, ids=lambda rules: str(rules.num_players))
def test_a_chance_depends_on_the_scores_and_not_on_the_seat(rules: Rules) -> None:
    compiled, scores = compiled_rules(rules), some_scores(rules, 500)
    order = np.random.default_rng(1).permutation(rules.num_players)
    assert win_chance(compiled, scores[:, order]) == pytest.approx(win_chance(compiled, scores)[:, order])
    assert win_chance(compiled, np.full((1, rules.num_players), 40)) == pytest.approx(1 / rules.num_players)


@pytest.mark.parametrize("rules", [*ALL_SEATS, TEAMS], ids=lambda rules: rules.show())
def test_more_points_of_ones_own_never_raise_the_chance(rules: Rules) -> None:
    """Point by point, over the end of the game too."""
    compiled, scores = compiled_rules(rules), some_scores(rules, 2000)
    for points in range(1, 60):
        worse = scores.copy()
        worse[:, 0] += points
        before = worse.copy()
        before[:, 0] -= 1
        assert (win_chance(compiled, worse)[:, 0] <= win_chance(compiled, before)[:, 0] + 1e-12).all()


def test_at_the_end_of_a_game_the_lowest_has_won_and_ties_are_shared() -> None:
    scores = np.array([[100, 40, 41, 99], [120, 30, 30, 50], [130, 60, 60, 60], [99, 40, 41, 98]])
    found = win_chance(INFO, scores)
    assert found[0].tolist() == [0, 1, 0, 0]
    assert found[1].tolist() == [0, 0.5, 0.5, 0]
    assert found[2] == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3])
    assert 0.5 < found[3, 1] < 1, "that game goes on"


def test_where_a_tie_is_played_on_both_still_have_a_chance() -> None:
    rules = compiled_rules(Rules(tie="continue"))
    found = win_chance(rules, np.array([[110, 30, 30, 50]]))[0]
    assert found[1] == found[2] < 0.5
    assert found[3] > 0


def test_a_reset_at_the_target_is_reckoned_with() -> None:
    rules = compiled_rules(Rules(exact_reset=50))
    before = np.array([[90, 60, 60, 60]])
    exact, less = (game_payoff(rules, before, np.array([[points, 0, 0, 16]]))[0, 0] for points in (10, 9))
    assert exact > less + 10


def test_where_all_are_level_and_far_from_the_target_a_point_is_worth_a_point() -> None:
    for rules in (*ALL_SEATS, TEAMS):
        compiled = compiled_rules(rules)
        points = np.eye(rules.num_players, dtype=np.int64)
        assert game_payoff(compiled, np.zeros(points.shape, np.int64), points) == pytest.approx(
            payoff(compiled, points), rel=0.12
        )


def test_a_deal_late_in_a_game_is_not_worth_less_than_an_early_one() -> None:
    """What learns from it would else hear little of the deals that decide."""
    rng, ids = np.random.default_rng(0), np.arange(2000)
    points = play(Rules(), [make("rule")], [0] * 4, ids).points.astype(np.int64)
    spread = {}
    for most in (20, 50, 80, 99):
        scores = rng.integers(0, most, (len(ids), 4))
        scores[ids, ids % 4] = most
        spread[most] = game_payoff(INFO, scores, points).std()
    assert all(0.9 * spread[20] < late < 2 * spread[20] for late in spread.values()), spread


@pytest.mark.parametrize("rules", [Rules(), Rules(num_players=3), TEAMS], ids=lambda rules: rules.show())
def test_in_games_that_it_was_not_fitted_to_the_chances_come_true(rules: Rules) -> None:
    compiled = compiled_rules(rules)
    scores, won, _ = fit.standings(rules, 1000, first_id=77_000_000)
    sides = won[:, : competitors(compiled)] / won[:, : competitors(compiled)].sum(axis=1, keepdims=True)
    told = fit.truth(win_chance(compiled, scores)[:, : sides.shape[1]], sides)
    assert told["brier"] < 0.8 * told["brier_of_base_rate"]
    for row in told["reliability"]:
        if row["seats"] > 400:
            assert row["won"] == pytest.approx(row["chance"], abs=0.08)


def test_fitting_finds_the_curve_that_the_games_were_drawn_from() -> None:
    curve = curve_of(INFO)
    rng = np.random.default_rng(5)
    scores = rng.integers(0, 100, (60_000, 4))
    truth = chances(curve, *in_packs(INFO, scores))
    winner = (rng.random((len(scores), 1)) > truth.cumsum(axis=1)).sum(axis=1)
    found = chances(fit.fitted(INFO, scores, np.eye(4)[winner]), *in_packs(INFO, scores))
    assert np.abs(found - truth).max() < 0.06


# -- search plays for it ----------------------------------------------------------------------------------------------


def test_a_single_deal_is_played_for_its_points() -> None:
    state = dealt(Rules(), np.arange(6))
    for _ in range(12 + 20):
        seen = view(INFO, state)
        to_win = SearchAgent(8).explain(seen)
        assert to_win == SearchAgent(8, to_win=False).explain(seen)
        step(INFO, state, make("rule").act(seen))


def test_what_a_line_is_worth_in_a_game_is_what_the_deal_adds_to_the_chance_under_both_executors() -> None:
    pytest.importorskip("numba")
    state = dealt(Rules(), np.arange(8) * 4 + 3)
    for _ in range(20):
        step(INFO, state, make("rule").act(view(INFO, state)))
    state.scores[:] = some_scores(Rules(target=90), 8)
    seen, every = view(INFO, state), np.arange(8)
    lines = CandidateActions(every, make("rule").act(seen)[:, None], np.zeros(8, np.bool_), np.zeros(8, np.bool_))
    quick = outcomes(INFO, RolloutPolicies.of(make("rule"), to_win=True), state, every, seen.seat, lines, every)
    with using("numpy"):
        slow = outcomes(INFO, RolloutPolicies.of(make("rule"), to_win=True), state, every, seen.seat, lines, every)
    assert np.array_equal(quick, slow)
    end = state.copy()
    make("rule").play_on(INFO, end, np.ones(end.hands.shape, np.bool_))
    after, before = (win_chance(INFO, scores.astype(np.int64)) for scores in (end.scores, state.scores))
    gained = (after - before)[every, seen.seat]
    assert (np.sign(quick.round(9)) == np.sign(gained.round(9))).all()
    assert np.abs(gained).max() > 0.02


GAMES = (
    (
        "deal 3 | scores 40 54 50 95 | hands CJQK D2489JK H78Q S9 / C56 D567TQA H239 S4K / C378 H45TJ S3567JQ / "
        "C249TA D3 H6KA S28TA | plays 2C JC 6C 8C 9S 4S 7S AS 3D 2D AD QS KS JS TS QH 5C 7C 4C QC KC 9H 3C 9C 4D 5D JH "
        "AH 2H 4H 6H 7H 8H 3H 5H KH 2S KD QD 3S | key 1623",
        "TH",
        "5S",
    ),
    (
        "deal 3 | scores 67 35 96 41 | hands C467T D26Q H79QA S39 / C9J D38TJ H2346 S6QA / C2 D579K H5TJK S57TJ / "
        "C358QKA D4A H8 S248K | plays 2C AC TC 9C AD QD JD KD 4D 6D TD 9D JC KH 8C 7C AS JS KS 9S 6H 5H 8H 7H 2S 3S 6S "
        "5S 2H TH KC 9H 7S 4S QH QS 3H JH 8S AH 2D | key 10903",
        "3D",
        "8D",
    ),
)
"""The last heart is in the hand of a seat with 50 that has to do with 45 and with 99, whom one more point would end the
game by; what is played for the game, which is to keep that heart from the 99, and what for points."""


@pytest.mark.parametrize(("text", "to_win", "for_points"), GAMES)
def test_a_game_that_would_be_lost_is_not_ended(text: str, to_win: str, for_points: str) -> None:
    seen = view(INFO, parse_position(INFO, text))
    assert CARD_NAMES[make("search:32").act(seen)[0]] == to_win
    assert CARD_NAMES[make("search:32?points").act(seen)[0]] == for_points


@pytest.mark.parametrize(("scores", "choice"), [((96, 10, 12, 14), SUBTRACT), ((60, 73, 75, 73), ADD)])
def test_whoever_is_far_behind_after_a_moon_makes_the_game_longer(scores: tuple[int, ...], choice: int) -> None:
    """The differences are the same by either choice; how far the target is then is not."""
    state = dealt(Rules(), np.array([3]))
    state.start[:] = state.hands
    state.hands[:], state.taken[:] = 0, 0
    state.taken[0, 0] = INFO.deck
    state.phase[:], state.turn[:], state.shooter[:], state.count[:] = MOON, 0, 0, INFO.num_plays
    state.scores[:] = scores
    assert make("search:16").act(view(INFO, state))[0] == choice


def test_games_can_be_played_for_points_by_name() -> None:
    rules = Rules(target=40)
    result = play(rules, [make("search:2"), make("search:2?points")], [0, 1, 0, 1], np.arange(8), games=True)
    assert is_over(compiled_rules(rules), result.points.astype(np.int64)).all()
    assert np.array_equal(result.winners, lowest_seats(compiled_rules(rules), result.points.astype(np.int64)))
    assert make("search:2?points").name == "search:2?points"
