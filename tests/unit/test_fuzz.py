"""A few thousand wrong inputs of every kind, and proof that the fuzzer would notice; `fuzz.py` runs a million."""

from __future__ import annotations

import json
import time
import warnings
from random import Random

import pytest

import fuzz
import oracle
from hearts_env import Rules
from hearts_env.text.replay import check_line

CHUNKS = 4


@pytest.fixture(scope="module")
def samples() -> list[fuzz.Sample]:
    return fuzz.corpus(seed=1, size=16)


@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_wrong_input_is_refused_with_the_documented_error_and_nothing_wrong_is_accepted(
    kind: str, samples: list[fuzz.Sample]
) -> None:
    inputs = accepted = 0
    for number in range(CHUNKS):
        outcome = fuzz.run_chunk(samples, 1, number, kind)
        assert not outcome.failures, outcome.failures[0]
        inputs += outcome.inputs
        accepted += outcome.accepted
    assert inputs == CHUNKS * fuzz.CHUNK
    assert 0 < accepted < inputs / 2, "mutations should mostly be wrong, but not all"


def test_inputs_depend_on_nothing_but_the_seed(samples: list[fuzz.Sample]) -> None:
    for make in fuzz.KINDS.values():
        inputs = make(Random("5 7"), samples)[0]
        assert repr(inputs) == repr(make(Random("5 7"), samples)[0])
        assert repr(inputs) != repr(make(Random("5 8"), samples)[0])
    again = fuzz.corpus(seed=1, size=4)
    assert [sample.positions for sample in again] == [sample.positions for sample in samples[:4]]
    assert [sample.records for sample in again] == [sample.records for sample in samples[:4]]


def test_every_record_of_the_corpus_is_right_for_the_oracle_and_every_other_answer_is_not(
    samples: list[fuzz.Sample],
) -> None:
    for sample in samples:
        for record in sample.records:
            line = json.dumps(record).encode()
            answer = check_line(line)
            assert fuzz.check_answer(line, answer)
            for key, other in (("points", [1] * 9), ("tricks", []), ("broken", not answer["broken"]), ("next", {})):
                with pytest.raises(fuzz.WrongError, match="but the oracle says"):
                    fuzz.check_answer(line, {**answer, key: other})


def test_a_wrong_record_that_is_accepted_would_be_noticed(samples: list[fuzz.Sample]) -> None:
    record = samples[0].records[0]
    right = check_line(json.dumps(record))
    wrong = {**record, "plays": record["plays"][::-1]}
    with pytest.raises(fuzz.WrongError, match="accepted, but"):
        fuzz.check_answer(json.dumps(wrong).encode(), right)
    wrong = {**record, "scores": [0] * 4}
    with pytest.raises(fuzz.WrongError, match="scores are"):
        fuzz.check_answer(json.dumps(wrong).encode(), right)


def fails(kind: str, check) -> fuzz.Outcome:
    outcome = fuzz.Outcome(kind)
    fuzz._alone(outcome, kind, "the input", check)
    return outcome


def test_a_traceback_a_warning_and_a_hang_are_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "SECONDS_AN_INPUT", 0.05)

    def raises(text: str) -> bool:
        raise ZeroDivisionError(text)

    def hangs(text: str) -> bool:
        while True:
            time.sleep(0.01)

    assert "ZeroDivisionError: the input" in fails("kind", raises).failures[0]
    assert "no answer within 0.05 s" in fails("kind", hangs).failures[0]
    assert not fails("kind", lambda text: True).failures

    def warns(text: str) -> bool:
        warnings.warn("overflow", RuntimeWarning, stacklevel=1)
        return True

    monkeypatch.setitem(fuzz.KINDS, "warns", lambda chance, samples: (["one", "two"], warns))
    assert len(fuzz.run_chunk([], 0, 0, "warns").failures) == 2


def test_rules_that_the_oracle_takes_for_others_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fuzz.check_rules(Rules)
    monkeypatch.setattr(oracle, "hand_size", lambda rules: 12)
    with pytest.raises(fuzz.WrongError, match="another hand size"):
        fuzz.check_rules(Rules)
