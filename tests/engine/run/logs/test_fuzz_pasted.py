"""Damaged NCCL texts and counters, and two kinds in one paste: a verdict or a refusal."""

import random

import pytest

from engine.run.logs.training import read_training_log
from tests.engine.run.logs.fuzz import SOURCES
from tests.engine.run.logs.fuzz_pasted import TEXTS, mutated, tried
from tests.engine.run.logs.lines import LINES


@pytest.mark.parametrize("kind", TEXTS)
def test_damaged_texts_get_a_verdict_or_are_refused(kind):
    chance = random.Random(f"a few damaged {kind}")
    titles = {tried(kind, mutated(chance, kind)) for _ in range(300)}
    assert {"refused", "Cannot say"} < titles


def test_two_logs_in_one_paste_are_read_as_one_of_them():
    chance = random.Random("two logs")
    for _ in range(300):
        first, second = (LINES[name] for name in chance.sample(sorted(LINES), 2))
        log = read_training_log(first[1] * 3 + second[1])
        assert log.source in (first[0], second[0])
        numbers = {
            own["number"]
            for source, _, meant in (first, second)
            for own in meant
            if source == log.source
        }
        assert {step.number for step in log.steps} <= numbers | {-1}


def test_every_source_has_lines():
    assert len(SOURCES) == 16
