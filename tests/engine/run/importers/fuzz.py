"""Texts that were damaged: `python -m tests.engine.run.importers.fuzz [COUNT]`.

Prints how many of so many mutations were read, refused, or took over two seconds; anything but a
`TextError` or an answer ends it with the text.
"""

import json
import random
import sys
import time

from engine.run.importers.assemble import DGX_H100, ImportDefaults, import_run
from engine.run.importers.import_report import TextError
from tests.engine.catalog.recent_files import FILES as RECENT
from tests.engine.run.importers.format_texts import FORMATS
from tests.engine.run.importers.hf_files import FILES
from tests.engine.run.importers.real_files import MEANT, real
from tests.engine.run.importers.texts import TEXTS

SEEDS = (
    [text for text, _ in TEXTS.values()]
    + [text for _, text, _ in FORMATS.values()]
    + [real(name) for name in MEANT]
    + [json.dumps(one[1], indent=1) for one in FILES]
    + [json.dumps(keys, indent=1) for keys in RECENT.values()]
)
ODD = (
    "<script>alert(1)</script>", "\x00", "9" * 30, "-1", "NaN", "1e999", "[" * 50, "{" * 50, "\\",
    "$((1/0))", "${X:-${Y}}", '"', "'", "\t", "--", "=", ": ", "0", "null", "\u202e",
    "\ud83d\ude00",    "((((", "\n---\n", "True", "999999999999", "2", "*" * 40, "|" * 40, "t*999",
)  # fmt: skip
DEFAULTS = ImportDefaults(model="llama-3-8b", cluster=DGX_H100)


def mutated(source: random.Random) -> str:
    text = source.choice(SEEDS)
    for _ in range(source.choice((1, 1, 2, 4, 8))):
        place = source.randrange(len(text) + 1)
        end = min(len(text), place + source.choice((0, 1, 3, 20, 200)))
        kind = source.randrange(5)
        if kind == 0:
            text = text[:place] + text[end:]
        elif kind == 1:
            text = text[:place] + source.choice(ODD) + text[end:]
        elif kind == 2:
            other = source.choice(SEEDS)
            start = source.randrange(len(other))
            text = text[:place] + other[start : start + 100] + text[place:]
        elif kind == 3:
            text = text[:place] + text[place:end] * source.choice((2, 3, 30)) + text[end:]
        else:
            words = text.split(" ")
            words[source.randrange(len(words))] = source.choice(ODD)
            text = " ".join(words)
    return text


def tried(text: str) -> str:
    """Return "read", "contradicted" or "refused"; anything else is a fault."""
    try:
        found = import_run(text, DEFAULTS)
    except TextError:
        return "refused"
    assert found.run is not None or found.contradictions
    assert all(len(entry.value) <= 80 and "\n" not in entry.value for entry in found.entries)
    return "read" if found.run else "contradicted"


def main(count: int) -> None:
    source, counts, slowest = random.Random("importers"), {}, 0.0
    for _ in range(count):
        text = mutated(source)
        start = time.perf_counter()
        try:
            kind = tried(text)
        except BaseException:
            print(repr(text))
            raise
        slowest = max(slowest, time.perf_counter() - start)
        counts[kind] = counts.get(kind, 0) + 1
    print(counts, f"slowest {1000 * slowest:.0f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 20_000)
