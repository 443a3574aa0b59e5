"""Logs that were damaged: `python -m tests.engine.run.logs.fuzz [COUNT]` tries so many of each.

Prints per source how many were read and refused, and the slowest by the processor's time; anything
but a `TextError` or steps with finite numbers ends it with the text.
"""

import math
import random
import sys
import time

from engine.run.importers.import_report import TextError
from engine.run.logs.training import read_training_log
from tests.engine.run.logs.lines import LINES

ODD = (
    "<script>", "\x00", "9" * 400, "-1", "nan", "inf", "1e999", "1e-400", "E", ",,,,", "....",
    "\x1b[31m", "\x1b[", "%", "K", "T", "GiB", "|", "\n", "\n\n\n", "step:", "tps:", "\ud83d\ude00",
    "iteration", "elapsed time per iteration (ms):", "CurrSamplesPerSec=", "(step)", " " * 300,
)  # fmt: skip
SOURCES = sorted({source for source, _, _ in LINES.values()})


def mutated(chance: random.Random, source: str) -> str:
    texts = [text for name, text, _ in LINES.values() if name == source]
    text = chance.choice(texts) * chance.choice((1, 1, 3))
    for _ in range(chance.choice((1, 2, 4, 8))):
        place = chance.randrange(len(text) + 1)
        end = min(len(text), place + chance.choice((0, 1, 5, 30, 200)))
        kind = chance.randrange(4)
        if kind == 0:
            text = text[:place] + text[end:]
        elif kind == 1:
            text = text[:place] + chance.choice(ODD) + text[end:]
        elif kind == 2:
            text = text[:place] + text[place:end] * chance.choice((2, 20)) + text[end:]
        else:
            other = chance.choice(texts)
            start = chance.randrange(len(other))
            text = text[:place] + other[start : start + 60] + text[place:]
    return text


def tried(text: str) -> str:
    """Return "read" or "refused"; anything else is a fault."""
    try:
        log = read_training_log(text)
    except TextError:
        return "refused"
    for step in log.steps:
        numbers = (step.time, step.token_rate, step.sample_rate, step.batch, step.allocated)
        numbers += (step.reserved, step.flops, step.mfu)
        assert all(math.isfinite(value) and value >= 0 for value in numbers)
    return "read"


def main(count: int) -> None:
    for source in SOURCES:
        chance, counts, slowest = random.Random(f"logs of {source}"), {}, 0.0
        for _ in range(count):
            text = mutated(chance, source)
            start = time.process_time()
            try:
                kind = tried(text)
            except BaseException:
                print(repr(text))
                raise
            slowest = max(slowest, time.process_time() - start)
            counts[kind] = counts.get(kind, 0) + 1
        print(source, counts, f"slowest {1000 * slowest:.1f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 20_000)
