"""Views in words, answers in words, and the agent that plays by them."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hearts_agents import make
from hearts_agents.text import TextAgent
from hearts_env.cards import ACTION_NAMES, ADD, CARD_NAMES, NUM_CARDS, SUBTRACT, cards_in, names_in, parse_card
from hearts_env.exact.game_tree import grow
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import deal, shuffle, step
from hearts_env.game.rules import Rules
from hearts_env.game.state import MOON, State
from hearts_env.game.view import View, view
from hearts_env.game.worlds import worlds
from hearts_env.match.agent import IllegalActionError
from hearts_env.match.play_match import play
from hearts_env.text.prompt import AnswerError, card_words, named_actions, read_answer, show_view

PRESETS = ("standard", "two_player_pass", "three", "partnership", "small_three")


def some_views(preset: str, tables: int = 3) -> list[View]:
    """The views of all decisions of some deals."""
    rules = compiled_rules(Rules.preset(preset))
    table = State.empty(rules, tables)
    deal(rules, table, shuffle(rules, np.arange(tables)), deal_no=np.arange(tables), key=np.arange(tables))
    found = []
    while not table.over.any():
        found.append(view(rules, table))
        step(rules, table, make("random").act(found[-1]))
    return found


@pytest.mark.parametrize("preset", PRESETS)
def test_no_hidden_card_changes_a_word(preset: str) -> None:
    for seen in some_views(preset):
        others = worlds(seen, 3)
        again = view(seen.rules, others)
        for row in range(len(seen)):
            texts = {show_view(again, row * 3 + world) for world in range(3)}
            assert texts == {show_view(seen, row)}


@pytest.mark.parametrize("preset", PRESETS)
def test_the_text_names_own_cards_legal_cards_plays_and_nothing_as_held_by_others(preset: str) -> None:
    for seen in some_views(preset):
        for row in range(len(seen)):
            text = show_view(seen, row)
            assert re.search(r"Your hand: (.*)\.", text)[1].replace(",", "").split() == names_in(seen.hand[row])  # type: ignore[index]
            assert re.search(r"Legal: (.*)\.", text)[1].split(", ") == names_in(seen.legal[row])  # type: ignore[index]
            plays = re.findall(r"(?:you|seat \+\d) (\w\w)[,;.]", "\n".join(re.findall(r"(?m)^Trick .*", text)))
            assert plays == [CARD_NAMES[card] for card in seen.plays[row] if card >= 0]
            if seen.phase[row] == 1:
                unseen = re.search(r"not seen: (.*)\.", text)[1].replace(",", "").split()  # type: ignore[index]
                assert unseen == (names_in(seen.out[row]) or ["none"])


def test_the_moon_choice_is_asked_in_words() -> None:
    level = grow(Rules.preset("small_three")).levels[-2]
    seen = level.views.take(level.views.phase == MOON)
    assert len(seen) > 0
    assert "You shot the moon" in show_view(seen)
    assert read_answer("I'd rather subtract.", seen) == SUBTRACT
    assert read_answer("Add it to theirs: add", seen) == ADD
    with pytest.raises(AnswerError, match="names no card or choice"):
        read_answer("neither", seen)


WAYS = (
    lambda card: CARD_NAMES[card],
    lambda card: CARD_NAMES[card].lower(),
    lambda card: f"I'd play the {card_words(card)}.",
    lambda card: f"**{CARD_NAMES[card]}**",
    lambda card: f"My answer: {CARD_NAMES[card]}!",
    lambda card: CARD_NAMES[card][0] + "♣♦♥♠"[card // 13],
    lambda card: "♣♦♥♠"[card // 13] + CARD_NAMES[card][0].replace("T", "10"),
    lambda card: f"{card % 13 + 2} of {card_words(card).split()[-1].upper()}",
    lambda card: f"{CARD_NAMES[card][0].replace('T', '10')} of {card_words(card).split()[-1][:-1]}",
    lambda card: card_words(card).title(),
    lambda card: f"The 2C and QS are out,\nah, as a last resort I throw a heart or two hearts.\n\n{CARD_NAMES[card]}\n",
)


@pytest.mark.parametrize("card", range(NUM_CARDS))
def test_every_card_is_read_however_it_is_written(card: int) -> None:
    for way in WAYS[:-1]:
        assert named_actions(way(card)) == [card], way(card)


@pytest.mark.parametrize(
    "text", ["", "pass", "Ah, as a start, a heart", "I have two hearts and 3 spades", "class 2 dogs"]
)
def test_words_that_look_like_cards_are_none(text: str) -> None:
    assert named_actions(text) == []


def standard_view() -> View:
    return some_views("standard", 1)[20]


@pytest.mark.parametrize("way", WAYS)
def test_legal_answers_are_taken_and_all_others_refused_with_what_is_legal(way: object) -> None:
    seen = standard_view()
    legal = cards_in(int(seen.legal[0]))
    for card in range(NUM_CARDS):
        text = way(card)  # type: ignore[operator]
        if card in legal:
            assert read_answer(text, seen) == card
        else:
            with pytest.raises(AnswerError, match=f"{CARD_NAMES[card]} is not legal here.*{ACTION_NAMES[legal[0]]}"):
                read_answer(text, seen)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "names no card or choice. Answer with exactly one of: "),
        ("QS or KS", "names QS and KS. Answer with exactly one of: "),
        ("Not QS.\nRather KS than AS", "names QS and KS and AS. Answer"),
    ],
)
def test_answers_that_name_none_or_several_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(AnswerError, match=sentence):
        read_answer(text, standard_view())


@settings(max_examples=100, deadline=None)
@given(
    st.text()
    | st.lists(st.sampled_from([*CARD_NAMES, "of", "hearts", "queen", "add", "10", "♠", "\n", "as"])).map(" ".join)
)
def test_any_answer_is_one_legal_action_or_an_error(text: str) -> None:
    try:
        action = read_answer(text, SEEN)
    except AnswerError:
        return
    assert int(SEEN.legal[0]) >> action & 1


SEEN = standard_view()


def answering(chance: random.Random, wrong: float) -> object:
    def ask(prompt: str) -> str:
        legal = re.findall(r"Legal: (.*)\.", prompt)[-1].split(", ")
        name = chance.choice(legal)
        if chance.random() < wrong:
            return chance.choice(["I cannot say.", "QS or KS", "3X"])
        return name if name in ("add", "subtract") else f"I'll take the {card_words(parse_card(name))}."

    return ask


@pytest.mark.parametrize("preset", PRESETS)
def test_an_agent_that_writes_plays_whole_deals(preset: str) -> None:
    agent = TextAgent(answering(random.Random(0), 0.0))  # type: ignore[arg-type]
    rules = Rules.preset(preset)
    result = play(rules, [agent, make("random")], [0] + [1] * (rules.num_players - 1), np.arange(3))
    assert (result.deals == 1).all()
    assert (agent.wrong, agent.failures) == (0, 0)
    assert agent.asked > 0


def test_wrong_answers_are_told_why_asked_again_and_counted() -> None:
    prompts: list[str] = []
    answers = iter(["hm", "KS or QS", "1 of clubs"] * 100)

    def ask(prompt: str) -> str:
        prompts.append(prompt)
        return next(answers)

    agent = TextAgent(ask, retries=1)
    action = agent.act(SEEN)[0]
    assert int(SEEN.legal[0]) >> int(action) & 1
    assert (agent.asked, agent.wrong, agent.failures) == (2, 2, 1)
    assert "You answered: hm\nYour answer names no card or choice." in prompts[1]
    assert prompts[1].startswith(prompts[0])
    with pytest.raises(IllegalActionError, match="agent 'llm' gave no legal answer in 1 tries: "):
        TextAgent(lambda _: "pass", retries=0, name="llm", on_failure="raise").act(SEEN)


def test_some_wrong_answers_do_not_stop_a_deal() -> None:
    agent = TextAgent(answering(random.Random(1), 0.5), retries=1)  # type: ignore[arg-type]
    play(Rules(), [agent], [0, 0, 0, 0], np.arange(2))
    assert 0 < agent.failures < agent.wrong < agent.asked
