"""The pictures and tables of the modeler."""

from engine.basis.numbers import show
from engine.basis.text import Text, say
from engine.basis.units import BYTES, COUNT, LINK_SPEED, SECONDS, SHARE, Count
from engine.basis.views import Axis, Bar, Bars, Lines, Point, Rule, Scene, Segment, Series, Table
from engine.calculators.splitting_the_model.parallelism_modeler.inputs import (
    MOST_MICROBATCHES,
    Inputs,
)
from engine.calculators.splitting_the_model.parallelism_modeler.result import Result
from engine.draw.grip import Grip
from engine.draw.stage_strip import Box, strip_scene
from engine.form.memory_bar import parts_of
from engine.simulate.modeled_plan import Modeled, Stage

# What a published calculator calls too low.
THRESHOLD = 0.8
_SHOWN = 16
_WAITS = (("bubble", "muted"), ("optimizer", "memory"), ("other", "ink"))


def bandwidths(found: Modeled) -> Bars:
    """Return for every axis the bandwidth that it needs and that of its wire."""
    bars = []
    for axis in found.axes:
        label = f"{axis.label} of {axis.ranks:,}"
        bars += [
            _bar(f"{axis.key}_needs", f"{label} needs", axis.needed, axis.key),
            _bar(f"{axis.key}_has", f"{label} has, {axis.wire}", axis.has, "muted"),
        ]
    if not bars:
        bars = [_bar("none", "one GPU sends nothing", 0.0, "muted")]
    most = max(part.value for bar in bars for part in bar.segments) or 1.0
    return Bars(
        title="Bandwidth of a GPU, needed and available",
        axis=Axis(
            label="bandwidth per GPU, one way", quantity=LINK_SPEED, low=0.0, high=1.02 * most
        ),
        bars=tuple(bars),
        caption="Needed: what lets sending take no longer than computing. Available: what large "
        "messages were measured to reach on that link, less than its datasheet says.",
    )


def _bar(key: str, label: str, value: float, color: str) -> Bar:
    return Bar(
        key=key,
        label=label,
        segments=(Segment(key=key, label="bandwidth", value=value, color=color),),
    )


def axes(found: Modeled) -> Table:
    """Return bytes, messages, and times of every axis in words."""
    rows: list[tuple[Text, ...]] = [
        (
            f"{axis.label} of {axis.ranks:,}: {axis.what}",
            say("{b}", b=(axis.sent, BYTES)),
            say("{n}", n=(round(axis.messages), COUNT)),
            say("{e} of {t}", e=(axis.exposed, SECONDS), t=(axis.alone, SECONDS)),
        )
        for axis in found.axes
    ]
    return Table(
        title="What a GPU sends in a step",
        columns=("Axis", "Bytes", "Messages", "Exposed, of alone"),
        rows=tuple(rows),
        caption="A GPU of a middle stage. SP is not an axis of its own: it cuts the all-reduces "
        "of TP into two halves.",
    )


def breakdown(found: Modeled) -> Bars:
    """Return the step as planned, and with nothing hidden."""
    step = found.step
    rest = [(key, key, getattr(step, key), color) for key, color in _WAITS]

    def bar(key: str, label: str, *, alone: bool) -> Bar:
        sent = [(a.key, a.label, a.alone if alone else a.exposed, a.key) for a in found.axes]
        parts = [("compute", "compute", step.compute, "compute"), *sent, *rest]
        segments = [Segment(key=k, label=w, value=v, color=c) for k, w, v, c in parts]
        return Bar(key=key, label=label, segments=tuple(segments))

    bars = (bar("set", "as set", alone=False), bar("alone", "nothing hidden", alone=True))
    most = max(sum(part.value for part in one.segments) for one in bars)
    return Bars(
        title="Where a step goes, with and without overlap",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=1.02 * most),
        bars=bars,
    )


def stage_memory_bars(found: Modeled) -> Bars:
    """Return what a GPU of every stage holds, against its capacity."""
    shown = _drawn(len(found.stages), 8)
    most = max(found.usable, *(found.stages[i].memory.total for i in shown))
    rule = Rule(
        key="usable", label=say("usable: {m}", m=(found.usable, BYTES)), axis="x", at=found.usable
    )
    return Bars(
        title="Memory of a GPU, stage by stage",
        axis=Axis(label="memory", quantity=BYTES, low=0.0, high=1.25 * most),
        bars=tuple(
            Bar(
                key=f"stage{i}",
                label=f"stage {i}, {_in_flight(found.stages[i])} in flight",
                segments=parts_of(found.stages[i].memory),
                links=(f"stage:{i}",),
            )
            for i in shown
        ),
        rules=(rule,),
    )


def _in_flight(stage: Stage) -> str:
    return f"{stage.held:.3g}"


def _drawn(count: Count, most: Count) -> list[Count]:
    """Return the stages to draw: all, or as many of the first as of the last."""
    if count <= most:
        return list(range(count))
    return [*range(most // 2), *range(count - most // 2, count)]


def strip(inputs: Inputs, result: Result) -> Scene:
    """Return the stages as boxes, with what each holds and what goes from one to the next."""
    found = result.plan
    last = len(found.stages) - 1
    boxes = []
    for i in _drawn(last + 1, _SHOWN):
        stage = found.stages[i]
        ends = ["embedding"] * (i == 0) + ["output"] * (i == last)
        boxes.append(
            Box(
                index=i,
                layers=stage.layers,
                ends="both ends" if len(ends) == 2 else "".join(ends),
                held=_in_flight(stage),
                slowest=i == found.slowest,
                fits=stage.memory.total <= found.usable,
                caption=_stage_caption(found, i, " and ".join(f"{end} layer" for end in ends)),
            )
        )
    arrow = show(result.boundary, BYTES)
    grips = (
        _layers_grip("off_first", "first", inputs.off_first, -1),
        _layers_grip("off_last", "last", inputs.off_last, 1),
    )
    return strip_scene(boxes, arrow, grips)


def _layers_grip(name: str, stage: str, moved: Count, steps: int) -> Grip:
    return Grip(
        name=name,
        key=name,
        label=f"Layers moved off the {stage} stage",
        now=moved,
        low=-20,
        high=20,
        text=f"{moved} layers moved off the {stage} stage",
        notch=14,
        steps=steps,
    )


def _stage_caption(found: Modeled, index: Count, ends: str) -> Text:
    stage = found.stages[index]
    end = found.embedding * (index == 0) + found.output * (index == len(found.stages) - 1)
    words = (
        f"Stage {index}: {stage.layers} layers"
        + (f", {ends} worth {{w}} of a layer" if ends else "")
        + ". Forward and backward of one micro-batch take {t}; a GPU holds {m}, with "
        + f"{_in_flight(stage)} micro-batch{'' if stage.held == 1 else 'es'} in flight."
        + (" It is the slowest." if index == found.slowest else "")
    )
    numbers = {"t": (stage.time, SECONDS), "m": (stage.memory.total, BYTES)}
    if not ends:
        return say(words, **numbers)
    return say(words, **numbers, w=(end / found.layer, SHARE))


def utilization_curve(result: Result) -> Lines:
    """Return the share of the step that computes over the micro-batches: closed form and model."""
    plan = result.plan
    now = plan.step.compute / plan.step.total
    enough = THRESHOLD / (1 - THRESHOLD) * (result.stages - 1) / result.pieces
    rules = [Rule(key="threshold", label=say("{s}", s=(THRESHOLD, SHARE)), axis="y", at=THRESHOLD)]
    if 1 <= enough <= MOST_MICROBATCHES:
        label = say("from {m}", m=(enough, COUNT))
        rules.append(Rule(key="enough", label=label, axis="x", at=enough))
    return Lines(
        title="Share of the step that computes, against micro-batches",
        x=Axis(
            label="micro-batches of a step",
            quantity=COUNT,
            low=1,
            high=MOST_MICROBATCHES,
            scale="log",
        ),
        y=Axis(label="share of the step", quantity=SHARE, low=0.0, high=1.0),
        series=(
            Series(
                key="closed",
                label="bubble alone",
                x=result.column,
                y=result.closed,
                color="ink",
                dashed=True,
            ),
            Series(
                key="model",
                label="step model",
                x=result.column,
                y=result.modeled(),
                color="compute",
            ),
        ),
        points=(Point(key="now", label=say("{e}", e=(now, SHARE)), x=result.microbatches, y=now),),
        rules=tuple(rules),
        handle="num_microbatches",
        caption="Drag the handle: more micro-batches make a larger batch.",
    )


def same_batch(result: Result) -> Table:
    """Return what crosses one boundary if the same batch is cut in more or fewer micro-batches."""
    rows: list[tuple[Text, ...]] = [
        (
            say("{m} of {b}", m=(cut.num_microbatches, COUNT), b=(cut.sequences, COUNT)),
            say("{v}", v=(2 * result.batch_sent, BYTES)),
            say("{n}", n=(2 * cut.num_microbatches, COUNT)),
            say("{l} of {t}", l=(cut.latencies, SECONDS), t=(cut.time, SECONDS)),
            say("{q}", q=(cut.bubble, SHARE)),
        )
        for cut in result.batch_cuts()
    ]
    return Table(
        title="The same batch in more micro-batches",
        columns=("Micro-batches", "Bytes", "Messages", "Latencies, of all", "Bubble"),
        rows=tuple(rows),
        caption="The first column: micro-batches of a replica, and the sequences of each. One "
        "step, one boundary, both ways; the bubble is a share of the step.",
    )
