import random
import time
from dataclasses import fields

import pytest

from engine.run.importers.import_report import TextError
from engine.run.logs.training import LONGEST_LOG, complete_steps, read_training_log
from tests.engine.run.logs.fuzz import SOURCES, mutated, tried
from tests.engine.run.logs.lines import LINES


@pytest.mark.parametrize("name", LINES)
def test_a_line_says_what_was_meant(name):
    source, text, meant = LINES[name]
    log = read_training_log(text)
    assert (log.source, log.unread) == (source, 0)
    steps = list(complete_steps(log))
    assert len(steps) == len(meant)
    for step, expected in zip(steps, meant, strict=True):
        assert {key: getattr(step, key) for key in expected} == pytest.approx(expected)
        # What the lines do not say, no step says.
        others = {one.name for one in fields(step)} - {"line", "number", *expected}
        assert {getattr(step, name) for name in others} <= {0}


def test_a_step_knows_its_line():
    text = "\n\n" + LINES["DeepSpeed"][1]
    assert read_training_log(text).steps[0].line == 3


def test_a_line_of_memory_without_a_step_says_nothing():
    with pytest.raises(TextError):
        read_training_log("[Rank 0] memory (MB) | max allocated: 1.0 | max reserved: 2.0")


def test_the_software_with_most_steps_is_taken():
    text = LINES["Megatron-DeepSpeed 2022"][1] + LINES["DeepSpeed"][1]
    assert read_training_log(text).source == "Megatron-LM"


def test_a_number_that_no_log_prints_is_an_unread_line():
    text = LINES["DeepSpeed"][1]
    log = read_training_log(text + text.replace("61.35304005128382", "9" * 40))
    assert (len(log.steps), log.unread) == (1, 1)


@pytest.mark.parametrize("text", ["", "hello", "loss: 2.0\n" * 50])
def test_a_text_without_steps_is_refused_with_what_is_read(text):
    with pytest.raises(TextError, match=r"line 1: no step is .* torchtitan \('tps:'\)"):
        read_training_log(text)


def test_a_log_that_is_too_long_is_refused_in_words():
    with pytest.raises(TextError, match="at most 2,000,000"):
        read_training_log("x" * (LONGEST_LOG + 1))


def test_the_longest_log_takes_less_than_two_seconds():
    line = LINES["torchtitan in colors"][1]
    start = time.process_time()
    read_training_log(line * (LONGEST_LOG // len(line)))
    assert time.process_time() - start < 2


@pytest.mark.parametrize("source", SOURCES)
def test_a_damaged_log_is_read_or_refused(source):
    chance = random.Random(f"damaged logs of {source}")
    kinds = {tried(mutated(chance, source)) for _ in range(2000)}
    assert kinds == {"read", "refused"}
