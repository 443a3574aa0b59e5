"""Traces that were damaged: `python -m tests.engine.run.traces.fuzz [COUNT]` tries so many.

Prints how many were read and refused, and the slowest by the processor's time; anything but a
`TextError` or finite numbers ends it with the text.
"""

import math
import random
import sys
import time

from engine.run.importers.import_report import TextError
from engine.simulate.profile_analysis.check import check_trace
from engine.simulate.profile_analysis.collectives import collective_kinds
from engine.simulate.profile_analysis.rules import RULES
from tests.engine.run.traces.files import collective, event, kineto, step, together

ODD = (
    "<script>", "\x00", "9" * 400, "-1", "NaN", "Infinity", "1e999", "1e-400", "null", "true",
    "[", "]", "{", "}", ",", ":", '"', "\\", "\\ud83d", "é", "\n", "[[[[[", '"ts":', '"dur": -5,',
    "ProfilerStep#", "--- x ---", " " * 300, '{"trace":1,', "\ufeff",
)  # fmt: skip


def base(chance: random.Random) -> str:
    """Return a small sound trace."""
    files = []
    for rank in range(chance.choice((1, 1, 2))):
        events, at = [], 1000.0
        for number in range(3):
            begin = at
            for _ in range(chance.randrange(1, 5)):
                length = chance.uniform(1, 30)
                kind = chance.choice(("gemm", "elementwise", "nccl", "copy"))
                if kind == "nccl":
                    events.append(collective(at - 3, length))
                elif kind == "copy":
                    events.append(event("Memcpy DtoD", at, length, kind="gpu_memcpy"))
                else:
                    events.append(event(kind, at, length))
                at += length + chance.choice((0, 0, 4))
            events.append(step(number, begin - 2, at - begin, device=chance.random() < 0.5))
        files.append(kineto(events, rank=rank))
    return files[0] if len(files) == 1 else together(*files)


def mutated(chance: random.Random) -> str:
    """Return a trace with a few damages."""
    text = base(chance)
    for _ in range(chance.choice((1, 1, 2, 4))):
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
            digits = [at for at, letter in enumerate(text) if letter.isdigit()]
            at = chance.choice(digits) if digits else 0
            text = text[:at] + chance.choice(ODD) + text[at + 1 :]
    return text


def tried(text: str) -> str:
    """Return "read" or "refused"; anything else is a fault."""
    try:
        found = check_trace(text, RULES)
    except TextError:
        return "refused"
    for place, uses in enumerate(found.uses):
        for use in uses:
            parts = (use.compute, use.exposed, use.copies, use.idle, use.hidden, use.length)
            assert all(math.isfinite(value) and value >= -1e-9 for value in parts)
            if use.length > 0:
                slack = 1e-9 * (1 + use.length)
                assert abs(sum(parts[:4]) - use.length) < slack
        collective_kinds(found.ranks[place], (0.0, 1e30), place, found.collectives)
    return "read"


def main(count: int) -> None:
    chance, counts, slowest = random.Random("traces"), {}, 0.0
    for _ in range(count):
        text = mutated(chance)
        start = time.process_time()
        try:
            kind = tried(text)
        except BaseException:
            print(repr(text))
            raise
        slowest = max(slowest, time.process_time() - start)
        counts[kind] = counts.get(kind, 0) + 1
    print(counts, f"slowest {1000 * slowest:.1f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 20_000)
