"""The pictures of the largest batch: the line, the bars, the search, the speed, the lengths."""

from engine.calculators.one_gpu.largest_batch.batch_search import search_scene
from engine.calculators.one_gpu.largest_batch.inputs import HIGHEST, RECOMPUTE, Inputs
from engine.calculators.one_gpu.largest_batch.result import Result
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, TOKEN_RATE, TOKENS
from engine.core.views import Axis, Bar, Bars, Lines, Point, Rule, Scene, Segment, Series, Table
from engine.form.memory_bar import memory_segments
from engine.simulate.step.largest_batch import BatchFit

# Micro-batches at equal distances on a logarithmic axis.
_COLUMN = tuple(HIGHEST ** (step / 64) for step in range(65))


def memory_line(inputs: Inputs, fit: BatchFit) -> Lines:
    """Return the chart of memory over the micro-batch size, with fixed part and capacity."""
    top = 1.5 * fit.usable
    line = fit.line
    inside = [b for b in _COLUMN if line.memory(b) <= fit.usable]
    outside = [b for b in _COLUMN if fit.usable < line.memory(b) <= top]
    if 1 <= line.max_sequences <= HIGHEST:
        inside, outside = [*inside, line.max_sequences], [line.max_sequences, *outside]
    total = fit.memory.total
    return Lines(
        title="Memory of the fullest GPU against the micro-batch",
        x=Axis(label="micro-batch, sequences", quantity=COUNT, low=1, high=HIGHEST, scale="log"),
        y=Axis(label="memory", quantity=BYTES, low=0.0, high=top),
        series=(
            _series("fits", "fits", inside, list(map(line.memory, inside)), "activations"),
            _series("over", "out of memory", outside, list(map(line.memory, outside)), "buffers"),
            _series("fixed", "without any sequence", [1, HIGHEST], [line.fixed] * 2, "ink")
            if line.fixed <= top
            else _series("fixed", "without any sequence", [], [], "ink"),
        ),
        points=(
            Point(
                key="now",
                label=say("{m}", m=(total, BYTES)),
                x=inputs.micro_batch_size,
                y=total,
            ),
        )
        if total <= top
        else (),
        rules=_rules(fit),
        handle="micro_batch_size",
        caption="Drag the handle across the vertical line.",
    )


def _series(key: str, label: str, x: list[float], y: list[float], color: str) -> Series:
    dashed = key != "fits"
    return Series(key=key, label=label, x=tuple(x), y=tuple(y), color=color, dashed=dashed)


def _rules(fit: BatchFit) -> tuple[Rule, ...]:
    usable = Rule(
        key="usable", label=say("usable: {m}", m=(fit.usable, BYTES)), axis="y", at=fit.usable
    )
    if not 1 <= fit.line.max_sequences <= HIGHEST:
        return (usable,)
    label = say("largest: {b}", b=(fit.largest, COUNT))
    return (usable, Rule(key="largest", label=label, axis="x", at=fit.line.max_sequences))


def memory_bars(inputs: Inputs, result: Result) -> Bars:
    """Return the memory bars of the fullest GPU for micro-batches up to the first overflow."""
    by_batch, usable = result.held(), result.usable
    most = max(usable, *(memory.total for memory in by_batch.values()))
    return Bars(
        title="What the fullest GPU holds",
        axis=Axis(label="memory", quantity=BYTES, low=0.0, high=1.04 * most),
        bars=tuple(
            Bar(
                key=str(batch),
                label=f"{batch:,} {'sequence' if batch == 1 else 'sequences'}"
                + (" (yours)" if batch == inputs.micro_batch_size else "")
                + (", out of memory" if memory.total > usable else ""),
                segments=memory_segments(memory),
                links=(f"batch:{batch}",),
            )
            for batch, memory in by_batch.items()
        ),
        rules=(
            Rule(
                key="usable",
                label=say("usable: {m}", m=(usable, BYTES)),
                axis="x",
                at=usable,
            ),
        ),
        caption="Every sequence adds activations, and a little reserve; the rest stays. Beyond the "
        "line, the GPU is out of memory.",
    )


def search_animation(result: Result) -> Scene:
    """Return the search for the largest micro-batch by trial, attempt by attempt."""
    return search_scene(result.probes(), result.usable)


def speed_bars(result: Result) -> Bars:
    """Return the speed at micro-batch 1 and at the largest micro-batch, for each recomputation."""
    speeds = result.speeds()
    return Bars(
        title="Speed by what is recomputed, with one sequence and with the most that fit",
        axis=Axis(
            label="tokens per second per GPU",
            quantity=TOKEN_RATE,
            low=0.0,
            high=max(speeds.values(), default=1.0),
        ),
        bars=tuple(
            Bar(
                key=f"{kind}{batch}",
                label=f"{RECOMPUTE[kind]}, {batch:,} at once",
                segments=(
                    Segment(key=f"{kind}{batch}", label="speed", value=value, color="compute"),
                ),
            )
            for (kind, batch), value in speeds.items()
        ),
        caption="The same tokens per step everywhere; small micro-batches are accumulated.",
    )


def largest_by_length(result: Result) -> Table:
    """Return the largest micro-batch over the sequence length, with and without fused attention."""
    return Table(
        title="Longer sequences",
        columns=("Tokens per sequence", "Fused attention", "Scores kept"),
        rows=tuple(
            (say("{s}", s=(length, TOKENS)), _largest_words(fused), _largest_words(kept))
            for length, (fused, kept) in result.lengths().items()
        ),
        caption="The whole sequences that fit, and the closed form before it is rounded down.",
    )


def _largest_words(fit: BatchFit) -> Text:
    room = fit.line.max_sequences
    if room < 0:
        return "0: the states do not fit"
    numbers = {"b": (fit.largest, COUNT), "r": (float(f"{room:.4g}"), COUNT)}
    return say("{b} of {r}", **numbers)
