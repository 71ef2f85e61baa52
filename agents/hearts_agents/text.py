"""An agent that asks in words and reads the answer: for language models, or anybody who reads and writes text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from hearts_env.cards import Ints, choose, lowest
from hearts_env.game.view import View
from hearts_env.match.agent import IllegalActionError, uniform
from hearts_env.text.prompt import AnswerError, question, read_answer, rules_text, show_view


class TextAgent:
    """Asks for each decision in words, one after the other; asks again, with the reason, where the answer is no action.

    A prompt holds everything: the rules, what the seat knows, and the question.  Where just one action is legal, nobody
    is asked.  A model that answers differently to the same prompt makes deals that cannot be played again.
    """

    def __init__(
        self,
        ask: Callable[[str], str],
        retries: int = 2,
        *,
        name: str = "text",
        on_failure: Literal["random", "raise"] = "random",
    ) -> None:
        """ask: the answer to a prompt.  retries: how often a decision is asked again.

        on_failure: what happens when no answer was legal: a "random" legal action, or "raise" IllegalActionError.
        """
        self.name = name
        self.asked = 0
        """Prompts sent."""
        self.wrong = 0
        """Answers that were not one legal action."""
        self.failures = 0
        """Decisions in which all answers were wrong."""
        self._ask, self._retries, self._on_failure = ask, retries, on_failure

    def act(self, view: View) -> Ints:
        """A legal action for each view, int64 [N].  Raises IllegalActionError if told to."""
        actions = np.empty(len(view), np.int64)
        for row in range(len(view)):
            one = view.take(slice(row, row + 1))
            forced = int(one.legal[0]).bit_count() == 1
            actions[row] = lowest(one.legal)[0] if forced else self._decide(one)
        return actions

    def _decide(self, view: View) -> int:
        start = f"You play Hearts. {rules_text(view)}\n\n{show_view(view)}"
        prompt, reason = start, ""
        for _ in range(self._retries + 1):
            answer = self._ask(prompt)
            self.asked += 1
            try:
                return read_answer(answer, view)
            except AnswerError as error:
                self.wrong += 1
                reason = str(error)
                prompt = f"{start}\n\nYou answered: {answer.strip()}\n{reason}\n{question(view)}"
        self.failures += 1
        if self._on_failure == "raise":
            raise IllegalActionError(f"agent {self.name!r} gave no legal answer in {self._retries + 1} tries: {reason}")
        return int(choose(view.legal, uniform(view))[0])
