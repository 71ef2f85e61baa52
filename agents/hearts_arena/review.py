"""A recorded deal reviewed by an agent: at every decision its own choice, and the loss of what was done."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot

import numpy as np
from rich.table import Table
from rich.text import Text

from hearts_agents.explain import Candidate, explain
from hearts_env.cards import ACTION_NAMES, NUM_CARDS, NUM_RANKS, RANKS, card_set
from hearts_env.game.compiled_rules import CompiledRules, compiled_rules
from hearts_env.game.engine import deal, step
from hearts_env.game.state import MOON, PASS, State
from hearts_env.game.view import View, view
from hearts_env.match.agent import Agent
from hearts_env.text.notation import SUIT_SIGNS, script, show_suits
from hearts_env.text.record import Record
from hearts_env.text.render import coloured
from hearts_env.text.replay import replay

MOST_SHOWN = 4
"""Candidates named at a decision, besides what was done and what would have been."""
SURE = 2.0
"""A loss of so many standard errors is marked."""


@dataclass(frozen=True)
class Decision:
    """One decision of a record that left a choice."""

    seat: int
    when: str
    """`pass`, the number of the trick, or `moon`."""
    actions: tuple[int, ...]
    """The action taken: a card, all cards passed (lowest first), or the moon choice."""
    candidates: list[Candidate]

    @property
    def chosen(self) -> Candidate:
        """The candidate that the agent would have chosen."""
        return next(each for each in self.candidates if each.chosen)

    @property
    def done(self) -> Candidate | None:
        """The candidate that was done, if the agent has considered it."""
        fitting = (each for each in self.candidates if tuple(sorted(each.actions)) == self.actions)
        return min(fitting, key=lambda each: not each.chosen, default=None)

    @property
    def agrees(self) -> bool:
        """Would the agent have done the same?"""
        return tuple(sorted(self.chosen.actions)) == self.actions

    @property
    def loss(self) -> tuple[float, float] | None:
        """By how many points what was done is worse, as the agent reckons, and the standard error; None: no telling."""
        done, chosen = self.done, self.chosen
        if self.agrees:
            return 0.0, 0.0
        if done is None or done.gain is None or chosen.gain is None:
            return None
        return chosen.gain - done.gain, hypot(chosen.error, done.error)


def review(record: Record, agent: Agent, seats: tuple[int, ...] = ()) -> list[Decision]:
    """The decisions of some seats (all if none are given) with the agent's estimates, in the order of the deal.

    The agent sees at each what the seat saw.  Raises RecordError for a record that is wrong.
    """
    replay(record)
    rules = compiled_rules(record.rules)
    state = State.empty(rules, 1)
    key = record.deal_id or 0
    deal(rules, state, np.array([record.hands]), deal_no=[record.deal_no], scores=[record.totals], key=[key])
    decisions = []
    for action in script(rules, record.deal_no, record.passes, record.plays, record.moon):
        seen = view(rules, state)
        done = _done(rules, record, seen, action)
        if done and (not seats or int(seen.seat[0]) in seats):
            (candidates,) = explain(agent, seen, np.array([done]))
            if candidates:
                decisions.append(Decision(int(seen.seat[0]), _when(seen), tuple(done), candidates))
        step(rules, state, np.array([action]))
    return decisions


def _done(rules: CompiledRules, record: Record, seen: View, action: int) -> list[int]:
    """The action or the whole pass decided here; [] where a pass was begun before, or broken off."""
    if seen.phase[0] != PASS:
        return [action]
    cards = sorted(record.passes[int(seen.seat[0])])
    return cards if seen.picks[0] == 0 and len(cards) == rules.pass_count else []


def _when(seen: View) -> str:
    if seen.phase[0] == PASS:
        return "pass"
    return "moon" if seen.phase[0] == MOON else str(int(seen.trick_no[0]) + 1)


# -- for people --------------------------------------------------------------------------------------------------------


def review_table(decisions: list[Decision], agent: str) -> Table:
    """A row a decision: what was done, what the agent would do, the loss, and what it thought of the rest."""
    table = Table("trick", "seat", "done", box=None, pad_edge=False)
    table.add_column(Text(f"{agent} would"))
    table.add_column("loss", justify="right")
    table.add_column("why")
    for each in decisions:
        own = "" if each.agrees else _plan(each.chosen)
        table.add_row(
            each.when, str(each.seat), _shown(_named(each.actions)), _shown(own), _loss(each), _shown(why(each))
        )
    return table


def _loss(decision: Decision) -> Text:
    if decision.agrees:
        return Text("")
    if decision.loss is None:
        return Text("?")
    loss, error = decision.loss
    text = f"{loss:.2f} ± {error:.2f}" if error else f"{loss:.2f}"
    return Text(text, "bold red" if loss > SURE * error else "")


def why(decision: Decision) -> str:
    """The candidates by what they gain over what the agent would do, or by their chance; for rules of thumb, what
    decided between the best two, or between the best and what was done."""
    chosen, others = decision.chosen, [each for each in decision.candidates if not each.chosen]
    if chosen.moon and chosen.reasons:
        return "for the moon: " + ", ".join(f"{name} {number:.1f}" for name, number in chosen.reasons)
    if chosen.probability is not None:
        ranked = sorted(decision.candidates, key=lambda each: -(each.probability or 0.0))
        return "  ".join(f"{_plan(each)} {each.probability:.0%}" for each in ranked[: MOST_SHOWN + 1])
    told = [each for each in others if each.gain is not None]
    ranked = sorted(told, key=lambda each: -(each.gain or 0.0))[:MOST_SHOWN]
    words = [f"{_plan(each)} {(each.gain or 0.0) - (chosen.gain or 0.0):+.2f}" for each in ranked]
    if chosen.worlds:
        words.append(f"({chosen.worlds} worlds)")
    against = decision.done if not decision.agrees and decision.done else (ranked[0] if ranked else None)
    decided = _decided(chosen, against) if against else ""
    return "  ".join([*words, *([f"({decided})"] if decided else [])])


def _decided(chosen: Candidate, against: Candidate) -> str:
    """The reason in which two candidates differ most in favour of the chosen one."""
    other = dict(against.reasons)
    own = dict(chosen.reasons)
    lead = {name: own.get(name, 0.0) - other.get(name, 0.0) for name in {**own, **other}}
    best = max(lead, key=lambda name: lead[name], default="")
    return f"{best} {lead[best]:+.2f}" if best and lead[best] > 0 else ""


def summary(decisions: list[Decision], names: tuple[str, ...] | None, seats: int) -> list[str]:
    """A line a seat: how often the agent would have done the same, and what the rest has cost."""
    lines = []
    for seat in range(seats):
        own = [each for each in decisions if each.seat == seat]
        if not own:
            continue
        losses = [each.loss for each in own if each.loss is not None]
        called = f"seat {seat}" + (f" ({names[seat]})" if names else "")
        total, error = sum(loss for loss, _ in losses), float(np.sqrt(sum(error**2 for _, error in losses)))
        cost = f", {total:.2f} ± {error:.2f} points lost" if error else f", {total:.2f} points lost" if total else ""
        lines.append(f"{called}: {sum(each.agrees for each in own)} of {len(own)} choices are the same{cost}")
    return lines


def _plan(candidate: Candidate) -> str:
    return ("moon " if candidate.moon else "") + _named(candidate.actions)


def _named(actions: tuple[int, ...]) -> str:
    if len(actions) > 1:
        return show_suits(card_set(actions), signs=True)
    action = actions[0]
    return ACTION_NAMES[action] if action >= NUM_CARDS else RANKS[action % NUM_RANKS] + SUIT_SIGNS[action // NUM_RANKS]


def _shown(text: str) -> Text:
    return Text.from_ansi(coloured(text))
