"""The charts of the lab: ways side by side, the ratio over ranks, and memory."""

from engine.calculators.splitting_the_model.context_lab.beside import RANKS
from engine.calculators.splitting_the_model.context_lab.inputs import (
    MOST,
    Inputs,
)
from engine.calculators.splitting_the_model.context_lab.result import Result
from engine.core.outputs import Presenter
from engine.core.text import say
from engine.core.units import BYTES, COUNT, RATIO, SECONDS, TOKENS
from engine.core.views import Axis, Bar, Bars, Lines, Point, Rule, Segment, Series
from engine.form.memory_bar import memory_segments

_METHODS = {
    "ring": "ring, zig-zag, two buffers",
    "one": "ring, zig-zag, one buffer",
    "contiguous": "ring, contiguous",
    "gather": "all-gather, zig-zag",
    "swap": "Ulysses",
}


def attention_by_method(result: Result) -> Bars:
    """Return a layer's attention time and the time that each method adds."""
    core = sum(result.job.attention_time)
    bars = []
    for key, name in _METHODS.items():
        alternative = result.alternatives[key]
        if key == "swap" and not result.allowed["swap"]:
            continue
        parts = (
            ("core", "attention, evenly dealt", core, "compute"),
            ("merged", "merging results", alternative.merged, "memory"),
            ("waits", "waited for", alternative.waits, "communication"),
        )
        segments = tuple(Segment(key=k, label=t, value=v, color=c) for k, t, v, c in parts)
        bars.append(Bar(key=key, label=name, segments=segments))
    most = max(sum(part.value for part in bar.segments) for bar in bars)
    return Bars(
        title="The attention of one layer, by how keys and values travel",
        axis=Axis(label="forward and backward", quantity=SECONDS, low=0.0, high=1.05 * most),
        bars=tuple(bars),
        caption="Waited for: messages, or the rank that has more to compute. The cut and the "
        "buffers are those named in each row."
        if result.allowed["swap"]
        else "Ulysses is left out: the ranks do not divide the query heads of a tensor rank.",
    )


def ratio_curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the ratio of a ring step over the number of ranks."""
    far, near = result.ratios()
    every = (*far, *near, 1.0)
    xs = tuple(float(ranks) for ranks in RANKS)
    point = Point(
        key="now", label=present.say("{ratio}"), x=inputs.context_parallel, y=result.ratio
    )
    return Lines(
        title="A ring step: computing over sending",
        x=Axis(
            label="ranks that share the sequence", quantity=COUNT, low=1, high=MOST, scale="log"
        ),
        y=Axis(
            label="computing over sending",
            quantity=RATIO,
            low=min(every) / 1.5,
            high=1.5 * max(every),
            scale="log",
        ),
        series=(
            Series(key="own", label="your cluster", x=xs, y=far, color="context"),
            Series(key="near", label="all on NVLink", x=xs, y=near, color="muted", dashed=True),
        ),
        points=(point,) if inputs.context_parallel > 1 else (),
        rules=(Rule(key="one", label="just hidden", axis="y", at=1.0),),
        handle="context_parallel",
        caption=say(
            "Below the line a block travels longer than a step computes. {s} tokens in all.",
            s=(inputs.sequence_length, TOKENS),
        ),
    )


def buffers(result: Result) -> Bars:
    """Return the memory of the fullest GPU with each way's keys and values."""
    names = {
        **{f"b{n}": f"ring, {n} buffer{'s' if n > 1 else ''}" for n in (1, 2, 3, 4)},
        "gather": "all-gather",
        "swap": "Ulysses",
    }
    bars = []
    for key, size in result.buffers.items():
        others = Segment(key="others", label="keys and values", value=size, color="context")
        bars.append(
            Bar(key=key, label=names[key], segments=(*memory_segments(result.memory), others))
        )
    most = max(sum(part.value for part in bar.segments) for bar in bars)
    return Bars(
        title="The fullest GPU, with the keys and values of others",
        axis=Axis(label="memory", quantity=BYTES, low=0.0, high=1.25 * max(most, result.usable)),
        bars=tuple(bars),
        rules=(
            Rule(
                key="usable",
                label=say("{b} usable", b=(result.usable, BYTES)),
                axis="x",
                at=result.usable,
                color="bad",
            ),
        ),
        caption="Keys and values of other ranks are held for one layer at a time, so they are a "
        "thin slice beside what all layers keep.",
    )
