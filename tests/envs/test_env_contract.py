"""What holds for every environment: AEC, Parallel, gymnasium's Env and VectorEnv, in all their modes."""

from __future__ import annotations

import copy
import warnings
from random import Random
from typing import Any

import numpy as np
import pytest

from env_kinds import COPIES, KINDS, Disabled, Kind, Parallel, SameStep, Single, Vector
from hearts_env.envs.options import EnvError
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.rewards import foul_reward
from hearts_env.game.rules import Rules, RulesError
from hearts_env.match.agent import IllegalActionError
from hearts_env.testing import check_env

MASKS = ["observation", "info", "both"]
every_kind = pytest.mark.parametrize("kind", KINDS)


@every_kind
@pytest.mark.parametrize("players", [2, 3, 4, 5, 6, 7])
def test_the_contract_is_kept_with_any_number_of_players(kind: type[Kind], players: int) -> None:
    check_env(kind(rules=Rules(num_players=players)).env, seed=players, episodes=1)


@every_kind
@pytest.mark.parametrize("mask_in", MASKS)
def test_the_contract_is_kept_wherever_the_mask_stands(kind: type[Kind], mask_in: Any) -> None:
    face = kind(mask_in=mask_in)
    check_env(face.env)
    face.begin(seed=1)
    for sights in face.episode(Random(1)):
        for sight in sights:
            assert len(sight.masks) == (2 if mask_in == "both" else 1)
            assert mask_in != "both" or not np.shares_memory(*sight.masks)


@every_kind
@pytest.mark.parametrize("on_illegal", ["terminate", "random", "raise"])
def test_the_contract_is_kept_over_whole_games_and_with_every_answer_to_illegal_actions(
    kind: type[Kind], on_illegal: Any
) -> None:
    check_env(kind(rules="target=30", episode="game", on_illegal=on_illegal).env, episodes=1)


@pytest.mark.parametrize("kind", [Vector, SameStep, Disabled])
def test_masks_do_not_depend_on_what_is_written_into_those_that_were_shown(kind: type[Kind]) -> None:
    face = kind(mask_in="both")
    face.begin(seed=1)
    before = face.env.masks()
    for sight in face.sights:
        for mask in sight.masks:
            mask[...] = 1
    assert (face.env.masks() == before).all()


@every_kind
@pytest.mark.parametrize("reward", ["points", "tricks", "zero_sum", "rank"])
@pytest.mark.parametrize("players", [2, 4, 7])
def test_rewards_of_an_episode_are_what_their_kind_promises(kind: type[Kind], players: int, reward: Any) -> None:
    if issubclass(kind, SameStep):
        pytest.skip("the points that it shows are those of the next episode; its final_info is tested by itself")
    face = kind(rules=Rules(num_players=players), reward=reward)
    for seed in range(2):
        face.begin(seed=seed)
        total = np.zeros(players)
        for _ in face.episode(Random(seed)):
            total += face.paid
        points = face.sights[0].info["points"]
        if reward in ("points", "tricks"):
            assert total.tolist() == [-each for each in points]
        else:
            assert abs(total.sum()) < 1e-9
            assert total[int(np.argmin(points))] == total.max()


@every_kind
@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("steps", [0, 17])
def test_a_copy_goes_on_as_the_original_does_and_on_its_own(kind: type[Kind], copied: Any, steps: int) -> None:
    face = kind(rules="target=26", episode="game", on_illegal="random")
    face.begin(seed=13)
    face.trace(Random(1), steps)
    other = copy.copy(face)
    other.env = copied(face)
    first = face.trace(Random(2), 20)
    assert first == other.trace(Random(2), 20)
    for one in (face, other):
        one.begin()
        one.foul()
    assert face.trace(Random(3), 5) == other.trace(Random(3), 5)


@every_kind
def test_unknown_options_of_reset_are_ignored_and_of_the_environment_refused(kind: type[Kind]) -> None:
    face = kind()
    face.begin(seed=1, options={"options": 1, "no such option": None})
    face.begin(options={})
    with pytest.raises(TypeError, match="unexpected keyword argument 'no_such_option'"):
        kind(no_such_option=1)


@every_kind
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"episode": "round"}, "episode='round': must be one of 'deal', 'game'"),
        ({"mask_in": None}, "mask_in=None: must be one of 'observation'"),
        ({"reward": "score"}, "reward='score': must be one of 'points'"),
        ({"on_illegal": "ignore"}, "on_illegal='ignore'"),
        ({"max_deals": 1.5}, "max_deals=1.5"),
        ({"max_deals": 0}, "max_deals=0"),
        ({"rules": 4}, "rules=4: must be Rules"),
        ({"rules": "omnibus,moon=maybe"}, "moon='maybe'"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused_with_the_choices(
    kind: type[Kind], parameters: Any, message: str
) -> None:
    with pytest.raises((EnvError, RulesError), match=message):
        kind(**parameters)


@every_kind
def test_the_deal_id_which_tells_all_hands_is_in_the_infos_only_when_asked_for(kind: type[Kind]) -> None:
    for asked in (False, True):
        face = kind(deal_id_in_info=asked)
        face.begin(options={"deal_id": 3})
        assert {int(sight.info.get("deal_id", -2)) for sight in face.sights} == {3 if asked else -2}
        for sights in face.episode(Random(1)):
            assert {"deal_id" in sight.info for sight in sights} == {asked}


@every_kind
def test_before_reset_every_call_says_so(kind: type[Kind]) -> None:
    env = kind(render_mode="ansi").env
    for call in ("step", "render"):
        with pytest.raises(EnvError, match=rf"{call}: no cards are dealt yet: call reset\(\) first"):
            getattr(env, call)(*[{}][: call == "step"])


@every_kind
def test_a_start_that_cannot_be_is_refused_and_changes_nothing(kind: type[Kind]) -> None:
    face = kind()
    face.begin(seed=4)
    other = copy.deepcopy(face)
    for options in ({"deal_id": -1}, {"scores": [1]}, {"hands": ["2C"]}, 5):
        with pytest.raises(ValueError, match=r"option|holds|hands"):
            face.env.reset(options=options)
    assert face.trace(Random(1), 5) == other.trace(Random(1), 5)


@every_kind
@pytest.mark.parametrize("reward", ["points", "rank"])
def test_an_illegal_action_ends_the_episode_at_the_offender_s_cost(kind: type[Kind], reward: Any) -> None:
    face = kind(reward=reward)
    face.begin(options={"deal_id": 3, "deal_no": 0})
    face.foul()
    assert face.over
    foul = foul_reward(compiled_rules(face.env.rules), reward)
    assert sorted(face.paid.tolist()) == [foul, 0, 0, 0]


@every_kind
def test_an_illegal_action_can_be_replaced(kind: type[Kind]) -> None:
    face = kind(on_illegal="random")
    face.begin(seed=5)
    while not face.over:
        face.foul()
    assert sum(face.paid) <= 0


@every_kind
def test_an_illegal_action_can_raise_and_change_nothing(kind: type[Kind]) -> None:
    face = kind(on_illegal="raise")
    face.begin(seed=6)
    other = copy.deepcopy(face)
    with pytest.raises(IllegalActionError, match=r"illegal action 999 by seat \d.*: legal are .* in deal"):
        face.foul()
    assert face.trace(Random(1), 5) == other.trace(Random(1), 5)


@every_kind
def test_padded_encodings_have_one_size_for_every_player_count(kind: type[Kind]) -> None:
    shapes = set()
    for players in (2, 5):
        face = kind(rules=Rules(num_players=players), pad=True, order=True)
        face.begin(seed=1)
        face.trace(Random(1), 20)
        shapes |= {sight.encoding.shape for sight in face.sights}
    assert len(shapes) == 1


@every_kind
def test_a_game_is_truncated_after_max_deals(kind: type[Kind]) -> None:
    face = kind(rules="target=10000", episode="game", max_deals=2)
    face.begin(seed=2)
    numbers = {int(sights[0].info["deal_no"]) for sights in face.episode(Random(2))}
    assert face.over
    assert numbers == {0, 1}


def test_after_the_end_each_library_s_convention_holds() -> None:
    parallel, single, disabled = Parallel(), Single(), Disabled()
    for face in (parallel, single, disabled):
        face.begin(seed=1)
        face.trace(Random(1))
    assert parallel.env.agents == []
    assert parallel.env.step({}) == ({}, {}, {}, {}, {})
    with pytest.raises(EnvError, match=r"the episode is over: call reset\(\)"):
        single.env.step(0)
    with pytest.raises(EnvError, match="episode of table 0 is over"):
        disabled.env.step(np.zeros(3, np.int64))


@every_kind
def test_an_unknown_render_mode_is_refused_with_the_choices(kind: type[Kind]) -> None:
    modes = kind().env.metadata["render_modes"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # gymnasium.make says so too
        with pytest.raises(EnvError, match=f"render_mode='svg': must be one of {', '.join(map(repr, modes))}"):
            kind(render_mode="svg")
