"""Two texts pasted at once: `python -m tests.engine.run.importers.fuzz_pairs [COUNT]`.

They stand below one another, with and without a line between them, or their lines are mixed. No
answer may hold a default of a software that the text does not name, and none may leave a text out
without a word. Prints how many pairs were answered, contradicted and refused.
"""

import random
import re
import sys
from collections import Counter

from engine.run.importers.assemble import DGX_H100, ImportDefaults, ImportedRun, import_run
from engine.run.importers.dialects import BY_NAME, DIALECTS
from engine.run.importers.import_report import TextError
from tests.engine.run.importers.format_texts import FORMATS
from tests.engine.run.importers.real_files import MEANT, real
from tests.engine.run.importers.texts import TEXTS

# How a software's defaults are signed -> the software of the dialects that may use them.
SIGNED = {
    "Megatron Core": {"Megatron-LM", "Megatron-Bridge", "ms-swift", "Primus", "LLaMA-Factory",
                      "NeMo", "verl", "GPT-NeoX", "Megatron"},
    "torchtitan": {"torchtitan"},
    "DeepSpeed": {"DeepSpeed", "Hugging Face Trainer", "LLaMA-Factory", "axolotl", "ms-swift",
                  "accelerate", "GPT-NeoX"},
    "accelerate": {"accelerate", "Hugging Face Trainer", "LLaMA-Factory", "axolotl", "ms-swift"},
    "ms-swift": {"ms-swift"},
    "LLaMA-Factory": {"LLaMA-Factory"},
    "axolotl": {"axolotl"},
    "verl": {"verl"},
    "GPT-NeoX": {"GPT-NeoX"},
    "NeMo": {"NeMo"},
    "Primus": {"Primus", "Megatron"},
}  # fmt: skip
TEXT = (
    [text for text, _ in TEXTS.values()]
    + [text for _, text, _ in FORMATS.values()]
    + [real(name) for name in MEANT]
)
DEFAULTS = ImportDefaults(model="llama-3-8b", cluster=DGX_H100)


def pair(source: random.Random) -> tuple[str, str, str]:
    """Return two texts, and both as one."""
    first, second = source.choice(TEXT), source.choice(TEXT)
    kind = source.randrange(4)
    if kind == 0:
        return first, second, f"{first.rstrip()}\n--- second ---\n{second}"
    if kind == 1:
        return first, second, f"{first.rstrip()}\n{second}"
    lines, others = first.splitlines(), second.splitlines()
    if kind == 2:
        place = source.randrange(len(lines) + 1)
        return first, second, "\n".join([*lines[:place], *others, *lines[place:]])
    part = others[: source.randrange(1, len(others) + 1)]
    return first, second, "\n".join([*lines, *part])


def dialects_of(text: str) -> set[str]:
    """Return the dialects of a text alone."""
    try:
        return set(import_run(text, DEFAULTS).dialects)
    except TextError:
        return set()


def mixed(found: ImportedRun) -> list[str]:
    """Return the defaults of an answer that no software of its dialects has."""
    software = {BY_NAME[name].software for name in found.dialects}
    wrong = []
    for entry in found.entries:
        if entry.kind != "assumed":
            continue
        signed = re.search(r"\(([A-Z]?[\w-]+(?: Core)?)[ )]", entry.meaning)
        allowed = SIGNED.get(signed[1]) if signed else None
        if allowed is not None and not any(
            name.startswith(tuple(allowed)) for name in software if name
        ):
            wrong.append(f"{entry.key}: {entry.meaning}")
    return wrong


def tried(first: str, second: str, both: str) -> str:
    """Return what became of two texts at once; an answer that is none fails."""
    try:
        found = import_run(both, DEFAULTS)
    except TextError:
        return "refused"
    if found.run is None:
        assert found.contradictions
        return "contradicted"
    assert not found.unread
    assert mixed(found) == []
    named = {BY_NAME[name].software for name in found.dialects} - {""}
    joined = [one for one in DIALECTS if one.software in named]
    assert len(named) == 1 or any(named <= {one.software, *one.joins} for one in joined)
    return "answered"


def main(count: int) -> None:
    source, counts = random.Random("pairs"), Counter[str]()
    for _ in range(count):
        texts = pair(source)
        try:
            counts[tried(*texts)] += 1
        except BaseException:
            print(texts[2])
            raise
    print(dict(counts))


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 5_000)
