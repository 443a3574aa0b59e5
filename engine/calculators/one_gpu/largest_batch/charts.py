"""The pictures of the largest batch: the line, the bars, the search, the speed, the lengths."""

from collections.abc import Sequence

from engine.calculators.one_gpu.largest_batch.result import HIGHEST, RECOMPUTE, Inputs, Result
from engine.core.outputs import Presenter
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, SHARE, TOKEN_RATE, TOKENS, Bytes
from engine.core.views import (
    Axis,
    Bar,
    Bars,
    Frame,
    Line,
    Lines,
    Rule,
    Scale,
    Scene,
    Segment,
    Shape,
    Table,
)
from engine.form.memory_fit import memory_segments
from engine.simulate.step.batch_search import Probe
from engine.simulate.step.largest_batch import BatchFit

# Micro-batches at equal distances on a logarithmic axis.
_COLUMN = tuple(HIGHEST ** (step / 64) for step in range(65))


def memory_line(present: Presenter, fit: BatchFit) -> Lines:
    """Return the chart of memory over the micro-batch size, with fixed part and capacity."""
    top = 1.5 * fit.usable
    line = fit.line
    inside = [b for b in _COLUMN if line.memory(b) <= fit.usable]
    outside = [b for b in _COLUMN if fit.usable < line.memory(b) <= top]
    if 1 <= line.max_sequences <= HIGHEST:
        inside, outside = [*inside, line.max_sequences], [line.max_sequences, *outside]
    over = map(line.memory, outside)
    fixed = (1, HIGHEST) if line.fixed <= top else ()
    least = [line.fixed] * len(fixed)
    total = fit.memory.total
    return present.curve(
        "Memory of the GPU that holds most against the micro-batch",
        over=Scale(COUNT, "micro-batch, sequences", 1, HIGHEST, log=True),
        shows=Scale(BYTES, "memory", 0.0, top),
        lines=(
            Line("fits", "fits", map(line.memory, inside), "activations", x=inside),
            Line("over", "out of memory", over, "buffers", dashed=True, x=outside),
            Line("fixed", "without any sequence", least, "ink", dashed=True, x=fixed),
        ),
        handle="micro_batch_size",
        at=total,
        marked=total <= top,
        rules=_rules(fit),
        caption="Drag the handle across the vertical line.",
    )


def _rules(fit: BatchFit) -> tuple[Rule, ...]:
    usable = Rule(
        key="usable", label=say("usable: {m}", m=(fit.usable, BYTES)), axis="y", at=fit.usable
    )
    if not 1 <= fit.line.max_sequences <= HIGHEST:
        return (usable,)
    label = say("largest: {b}", b=(fit.largest, COUNT))
    return (usable, Rule(key="largest", label=label, axis="x", at=fit.line.max_sequences))


def memory_bars(inputs: Inputs, result: Result) -> Bars:
    """Return the bars of the GPU that holds most, for micro-batches up to the first overflow."""
    by_batch, usable = result.held(), result.usable
    most = max(usable, *(memory.total for memory in by_batch.values()))
    return Bars(
        title="Memory of the GPU that holds most",
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


# Animation of the search for the largest batch: a row per attempt, against the capacity.

_WIDTH, _ROW, _TOP = 720.0, 32.0, 40.0
_LEFT, _RIGHT = 108.0, 20.0
_FONT = 21.1  # still read on a phone, where the sheet is half as wide


def search_scene(probes: Sequence[Probe], usable: Bytes) -> Scene:
    """Return the search animation: each frame adds an attempt and the bounds known after it."""
    most = max(usable, *(probe.needed for probe in probes))
    scale = (_WIDTH - _LEFT - _RIGHT) / most
    height = _TOP + _ROW * len(probes) + 40
    line = _line(_LEFT + usable * scale, height - 36)
    frames = [_frame(probes, now, usable, scale, line) for now in range(len(probes))]
    return Scene(
        title="Trying until memory runs out",
        width=_WIDTH,
        height=height,
        frames=tuple(frames),
        opening=min(2, len(frames) - 1),
        caption="Double the batch until it does not fit; then halve the gap between the largest "
        "that fits and the smallest that does not.",
    )


def _frame(
    probes: Sequence[Probe], now: int, usable: Bytes, scale: float, line: list[Shape]
) -> Frame:
    rows = [
        shape
        for row, probe in enumerate(probes)
        for shape in _row(row, probe, usable, scale, shown=row <= now)
    ]
    known = _text(
        "known", _WIDTH / 2, _TOP + _ROW * len(probes) + 30, _FONT, _known_range(probes, now)
    )
    return Frame(caption=_caption(probes, now, usable), shapes=(*rows, *line, known))


def _row(row: int, probe: Probe, usable: Bytes, scale: float, *, shown: bool) -> list[Shape]:
    """Return the name of an attempt, its bar and its verdict, which wait for its turn."""
    top = _TOP + row * _ROW
    color = "activations" if probe.fits else "buffers"
    width = probe.needed * scale
    share = f"{100 * probe.needed / usable:,.0f} %"
    verdict = f"{share}, fits" if probe.fits else f"{share}, out of memory"
    # The verdict stands behind a short bar and on a long one.
    behind = width < 0.55 * (_WIDTH - _LEFT - _RIGHT)
    at = _LEFT + width + 8 if behind else _LEFT + 10
    opacity = "1" if shown else "0"
    link = f"batch:{probe.batch}"
    bar = Shape(
        key=f"bar{row}",
        tag="rect",
        attributes={
            "x": f"{_LEFT:g}",
            "y": f"{top + 4:g}",
            "width": f"{width if shown else 0:.1f}",
            "height": f"{_ROW - 8:g}",
            "class": f"sent c-{color}",
            "fill-opacity": "0.3",
            "data-links": link,
        },
    )
    called = f"b = {probe.batch:,}" if shown else f"no. {row + 1}"
    name = _text(f"name{row}", _LEFT - 10, top + 22, _FONT, called, "end", "1" if shown else "0.6")
    words = _text(f"verdict{row}", at, top + 22, _FONT, verdict, "start", opacity)
    return [bar, name, words]


def _line(x: float, bottom: float) -> list[Shape]:
    rule = Shape(
        key="capacity",
        tag="line",
        attributes={
            "x1": f"{x:.1f}",
            "x2": f"{x:.1f}",
            "y1": f"{_TOP - 8:g}",
            "y2": f"{bottom:g}",
            "class": "c-ink",
            "stroke": "currentColor",
            "stroke-width": "2",
        },
    )
    anchor = "middle" if x < _WIDTH - 80 else "end"
    return [rule, _text("usable", min(x, _WIDTH - 4), _TOP - 18, _FONT, "usable memory", anchor)]


def _text(
    key: str,
    x: float,
    y: float,
    size: float,
    text: str,
    anchor: str = "middle",
    opacity: str = "1",
) -> Shape:
    return Shape(
        key=key,
        tag="text",
        attributes={
            "x": f"{x:.1f}",
            "y": f"{y:g}",
            "font-size": f"{size:g}",
            "text-anchor": anchor,
            "class": "c-ink",
            "opacity": opacity,
        },
        text=text,
    )


def _known_range(probes: Sequence[Probe], now: int) -> str:
    low, high = probes[now].low, probes[now].high
    if now == len(probes) - 1:
        return f"answer: {low:,}" if low else "not even one sequence fits"
    return f"at least {low:,}, less than {high:,}" if high else f"at least {low:,}"


def _caption(probes: Sequence[Probe], now: int, usable: Bytes) -> Text:
    probe = probes[now]
    outcome = "It fits." if probe.fits else "Out of memory."
    end = ""
    if now == len(probes) - 1:
        end = f" After {len(probes)} attempts the answer is {probe.low:,}."
    elif probe.high:
        end = f" The answer lies between {probe.low:,} and {probe.high:,}."
    needs = "sequence needs" if probe.batch == 1 else "sequences at once need"
    return say(
        f"{{b}} {needs} {{m}}, {{u}} of what there is. {outcome}{end}",
        b=(probe.batch, COUNT),
        m=(probe.needed, BYTES),
        u=(probe.needed / usable, SHARE),
    )
