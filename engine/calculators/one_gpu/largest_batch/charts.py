"""The pictures of the largest batch: the line, the bars, the search, the speed, the lengths."""

from dataclasses import replace
from functools import lru_cache, partial

from engine.basis.text import Text, say
from engine.basis.units import BYTES, COUNT, TOKEN_RATE, TOKENS, Count
from engine.basis.views import Axis, Bar, Bars, Lines, Point, Rule, Scene, Segment, Series, Table
from engine.calculators.one_gpu.largest_batch.inputs import HIGHEST, RECOMPUTE, Inputs, fit
from engine.draw.batch_search import search_scene
from engine.form.memory_bar import parts_of
from engine.formulas.batch import memory_of_batch
from engine.simulate.batch_search import search
from engine.simulate.largest_batch import Fit, memory_of, speed

# No search of the page tries more.
LIMIT = 4096


@lru_cache(maxsize=1)
def _column() -> tuple[float, ...]:
    """Return micro-batches at equal distances on a logarithmic axis."""
    return tuple(HIGHEST ** (step / 64) for step in range(65))


def memory_line(inputs: Inputs, found: Fit) -> Lines:
    """Return memory over the micro-batch: what fits, what does not, and what never changes."""
    top = 1.5 * found.usable
    line = found.line
    at = partial(memory_of_batch, fixed=line.fixed, per_sequence=line.per_sequence)

    inside = [b for b in _column() if at(b) <= found.usable]
    outside = [b for b in _column() if found.usable < at(b) <= top]
    if 1 <= line.room <= HIGHEST:
        inside, outside = [*inside, line.room], [line.room, *outside]
    held = found.held.total
    return Lines(
        title="Memory of the fullest GPU against the micro-batch",
        x=Axis(label="micro-batch, sequences", quantity=COUNT, low=1, high=HIGHEST, scale="log"),
        y=Axis(label="memory", quantity=BYTES, low=0.0, high=top),
        series=(
            _series("fits", "fits", inside, [at(b) for b in inside], "activations"),
            _series("over", "out of memory", outside, [at(b) for b in outside], "buffers"),
            _series("fixed", "without any sequence", [1, HIGHEST], [line.fixed] * 2, "ink")
            if line.fixed <= top
            else _series("fixed", "without any sequence", [], [], "ink"),
        ),
        points=(
            Point(
                key="now",
                label=say("{m}", m=(held, BYTES)),
                x=inputs.micro_batch_size,
                y=held,
            ),
        )
        if held <= top
        else (),
        rules=_rules(found),
        handle="micro_batch_size",
        caption="Drag the handle across the vertical line.",
    )


def _series(key: str, label: str, x: list[float], y: list[float], color: str) -> Series:
    dashed = key != "fits"
    return Series(key=key, label=label, x=tuple(x), y=tuple(y), color=color, dashed=dashed)


def _rules(found: Fit) -> tuple[Rule, ...]:
    usable = Rule(
        key="usable", label=say("usable: {m}", m=(found.usable, BYTES)), axis="y", at=found.usable
    )
    if not 1 <= found.line.room <= HIGHEST:
        return (usable,)
    label = say("largest: {b}", b=(found.largest, COUNT))
    return (usable, Rule(key="largest", label=label, axis="x", at=found.line.room))


def memory_bars(inputs: Inputs, found: Fit) -> Bars:
    """Return what the fullest GPU holds, for some micro-batches up to one that does not fit."""
    batches = _shown(inputs.micro_batch_size, found.largest)
    held = {batch: memory_of(found.run, batch) for batch in batches}
    most = max(found.usable, *(one.total for one in held.values()))
    return Bars(
        title="What the fullest GPU holds",
        axis=Axis(label="memory", quantity=BYTES, low=0.0, high=1.04 * most),
        bars=tuple(
            Bar(
                key=str(batch),
                label=f"{batch:,} {'sequence' if batch == 1 else 'sequences'}"
                + (" (yours)" if batch == inputs.micro_batch_size else "")
                + (", out of memory" if one.total > found.usable else ""),
                segments=parts_of(one),
                links=(f"batch:{batch}",),
            )
            for batch, one in held.items()
        ),
        rules=(
            Rule(
                key="usable",
                label=say("usable: {m}", m=(found.usable, BYTES)),
                axis="x",
                at=found.usable,
            ),
        ),
        caption="Every sequence adds activations, and a little reserve; the rest stays. Beyond the "
        "line, the GPU is out of memory.",
    )


def _shown(mine: Count, largest: Count) -> list[Count]:
    """Return one, the reader's, half of the largest, the largest and the next, without repeats."""
    most = min(largest, LIMIT)
    return sorted({1, mine, max(1, most // 2), max(1, most), most + 1})


def played_search(found: Fit) -> Scene:
    """Return the search for the largest micro-batch by trial, attempt by attempt."""
    run = found.run
    probes = search(lambda batch: memory_of(run, batch).total, found.usable, LIMIT)
    return search_scene(probes, found.usable)


def speed_bars(inputs: Inputs, found: Fit) -> Bars:
    """Return the speed with one sequence and with the largest batch, for all recomputations."""
    bars = []
    for kind, words in RECOMPUTE.items():
        other = fit(replace(inputs, recompute=kind))
        largest = min(other.largest, LIMIT)
        for batch in sorted({min(1, largest), largest} - {0}):
            value = speed(other.run, batch)
            bars.append((f"{kind}{batch}", f"{words}, {batch:,} at once", value))
    most = max((value for _, _, value in bars), default=1.0)
    return Bars(
        title="Speed by what is recomputed, with one sequence and with the most that fit",
        axis=Axis(label="tokens per second per GPU", quantity=TOKEN_RATE, low=0.0, high=most),
        bars=tuple(
            Bar(
                key=key,
                label=label,
                segments=(Segment(key=key, label="speed", value=value, color="compute"),),
            )
            for key, label, value in bars
        ),
        caption="The same tokens per step everywhere; small micro-batches are accumulated.",
    )


def lengths(inputs: Inputs) -> Table:
    """Return how the largest batch answers to the sequence length, with and without fusion."""
    rows: list[tuple[Text, ...]] = []
    for factor in (1 / 4, 1 / 2, 1, 2, 4):
        length = round(inputs.sequence_length * factor)
        fused, kept = (
            fit(replace(inputs, sequence_length=length, flash_attention=switch))
            for switch in (True, False)
        )
        rows.append((say("{s}", s=(length, TOKENS)), _room(fused), _room(kept)))
    return Table(
        title="Longer sequences",
        columns=("Tokens per sequence", "Fused attention", "Scores kept"),
        rows=tuple(rows),
        caption="The whole sequences that fit, and the closed form before it is rounded down.",
    )


def _room(found: Fit) -> Text:
    room = found.line.room
    if room < 0:
        return "0: the states do not fit"
    numbers = {"b": (found.largest, COUNT), "r": (float(f"{room:.4g}"), COUNT)}
    return say("{b} of {r}", **numbers)
