"""Deals under many rules, fresh or some actions old, for the tests of everything that looks at a State."""

from __future__ import annotations

import random

import numpy as np

from hearts_env.cards import Ints
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import deal, shuffle, step
from hearts_env.game.rules import PRESETS, Rules
from hearts_env.game.state import State
from tables import random_actions

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
"""Every preset, and rules that no preset has, as `Rules.parse` reads them."""


def dealt(rules: Rules, ids: Ints) -> State:
    """The deals of these ids, before the first action; an id tells the deal's number and its random numbers too."""
    compiled = compiled_rules(rules)
    state = State.empty(compiled, len(ids))
    deal(compiled, state, shuffle(compiled, ids), deal_no=ids % len(rules.pass_cycle), key=ids)
    return state


def play_some(players: int, tables: int, steps: int, seed: int = 0, **fields: object) -> tuple[Rules, State]:
    """The deals of ids 0, 1, ... after so many random actions.  fields: of the rules."""
    rules = Rules(num_players=players, **fields)  # type: ignore[arg-type]
    compiled = compiled_rules(rules)
    state = State.empty(compiled, tables)
    deal(compiled, state, shuffle(compiled, np.arange(tables)))
    chance = random.Random(seed)
    for _ in range(steps):
        step(compiled, state, random_actions(chance, compiled, state))
    return rules, state
