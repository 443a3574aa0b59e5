"""Context parallelism at real scale: bytes of a step, where overlap ends, memory, and the step."""

import math
from collections.abc import Mapping
from functools import partial

from engine.calculators.splitting_the_model.context_lab.inputs import (
    COLUMNS,
    LAYOUTS,
    LENGTHS,
    LLAMA,
    MOST,
    RANKS,
    ROWS,
    Inputs,
)
from engine.calculators.splitting_the_model.context_lab.inputs import PRESETS as PRESETS
from engine.calculators.splitting_the_model.context_lab.result import Result
from engine.calculators.splitting_the_model.context_lab.result import solve as solve
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.measured_rings import MEASURED_RINGS, SOURCE
from engine.catalog.measured_timings import OWN_ATTENTIONS, OWN_DATE
from engine.core.inputs import Scalar
from engine.core.outputs import Presenter, Views
from engine.core.text import say
from engine.core.units import BYTES, COUNT, FLOP_RATE, SECONDS, SHARE, TOKENS, with_digits
from engine.core.views import (
    Axis,
    Badge,
    Bar,
    Bars,
    Cell,
    Challenge,
    Citation,
    Condition,
    Heatmap,
    Line,
    Lines,
    Point,
    Published,
    Rule,
    Scale,
    Segment,
    Table,
)
from engine.form.memory_fit import memory_segments
from engine.form.run.prediction_text import value_with_range
from engine.formulas.context import OVERLAP_TOKENS, RING_BUFFER, RING_STEP_BYTES

TITLE = "Context parallelism at real scale"
QUESTION = "Can a sequence this long be shared by this many GPUs without waiting?"
HEADLINE = "waits"
EQUATIONS = (RING_STEP_BYTES, OVERLAP_TOKENS, RING_BUFFER)
_COUNTED = "All operations of the model over the step and the GPUs."


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "ratio_curve": partial(ratio_curve, present, inputs, result),
        **present.values("ratio", "computes", "block"),
        "threshold": present.value("threshold", symbols={"c": "threshold"}),
        **present.values("unmasked"),
        "regime": regime(present, inputs, result),
        **present.values("waits", "merged", "layer", "layer_share", "step_share"),
        "formula": present.formula("With your numbers", OVERLAP_TOKENS, c="threshold"),
        "regime_map": partial(regime_map, present, inputs, result),
        "exposed_map": partial(exposed_map, inputs, result),
        "by_way": partial(attention_by_method, result),
        **present.values("buffer", "held"),
        "buffers": partial(buffers, result),
        "rate": value_with_range(
            present,
            "rate",
            result.evidence,
            published=published_run(inputs),
            assumes=(_COUNTED,),
        ),
        "names": partial(parallelism_names, result),
        "measured": partial(measured_rings, result),
        "attention": partial(measured_attention, result),
        "challenge": partial(challenge, inputs, result),
    }


# Verdicts, measured rings and the challenge of the context-parallelism lab.

_LENGTH, _MOST = 1 << 20, 0.02
START: Mapping[str, Scalar] = {
    "model": "llama-3-70b",
    "machine": "dgx-h100",
    "sequence_length": _LENGTH,
    "context_parallel": 64,
    "tensor_parallel": "8",
    "pipeline_parallel": 4,
    "way": "gather",
    "layout": "contiguous",
    "recompute": "none",
    "heads": "model",
    "element": "bf16",
}
SOLUTION: Mapping[str, Scalar] = {
    **START,
    "way": "ring",
    "layout": "zigzag",
    "num_buffers": 2,
    "context_parallel": 32,
    "recompute": "full",
}


def regime(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    """Return a badge with the bottleneck."""
    if not result.fit.runs:
        return Badge(
            text="Does not fit",
            sentence=present.say(
                "The GPU that holds most would need {held} of {usable}. More ranks, stages or "
                "recomputation make room; the times mean nothing yet."
            ),
            color="bad",
        )
    if result.job.plan.context_parallel == 1:
        return Badge(
            text="One rank",
            sentence="Each sequence is whole on its ranks; nothing has to come from others.",
            color="compute",
        )
    if inputs.way == "swap" and not result.allowed["swap"]:
        return Badge(
            text="Too few heads",
            sentence="Ulysses needs a query head for every rank.",
            color="bad",
        )
    if inputs.way != "ring":
        return Badge(
            text="Nothing hides it",
            sentence=present.say(
                "Keys and values arrive before the attention begins: {waits} per layer, "
                "{layer_share} of it."
            ),
            color="communication",
        )
    return _ring_verdict(present, inputs, result)


def _ring_verdict(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    if inputs.num_buffers == 1 or result.ratio < 1:
        why = "One buffer" if inputs.num_buffers == 1 else "Short pieces"
        return Badge(
            text=f"{why}: the ring shows",
            sentence=present.say("{waits} per layer are waited for, {layer_share} of it."),
            color="communication",
        )
    if inputs.layout == "contiguous":
        return Badge(
            text="Bound by the last rank",
            sentence=present.say(
                "Blocks arrive in time, but the last rank has the most to compute: {waits} per "
                "layer."
            ),
            color="compute",
        )
    return Badge(
        text="Hidden",
        sentence=present.say(
            "A step computes {ratio} as long as a block travels. What remains is merging: {merged} "
            "per layer."
        ),
        color="compute",
    )


def published_run(inputs: Inputs) -> Published | None:
    """Return the figures of Llama 3's paper if the inputs match its run."""
    run = {**LLAMA, "sequence_length": 131_072, "tensor_parallel": "8", "heads": "model"}
    if any(getattr(inputs, name) != value for name, value in run.items() if name != "way"):
        return None
    return Published(
        text="380 TFLOP/s",
        reason="Table 4 of the paper: 16,384 GPUs, 131,072 tokens, MFU 38 %. It gathers keys and "
        "values; its virtual stages are not given.",
        source="dubey2024",
    )


def parallelism_names(result: Result) -> Table:
    """Return a table of the parallelism names, with the bytes of this job."""
    tensor, ranks = result.job.plan.tensor_parallel, result.job.plan.context_parallel
    texts = (
        ("tensor", "Tensor parallel (TP)", "matrices and heads", "hidden states, all-reduced"),
        (
            "sequence",
            "Sequence parallel (SP)",
            "norms and residuals, along the sequence, on the ranks of TP",
            "hidden states, gathered and scattered",
        ),
        ("ring", "Context parallel (CP)", "the sequence, in all layers", "keys and values"),
        (
            "swap",
            "Ulysses",
            "the sequence, and heads inside the attention",
            "queries, keys, values and results",
        ),
    )
    rows = tuple(
        (
            name,
            divides,
            travels,
            say("{b}", b=(result.sends[key], BYTES)),
            "no: it uses those of TP"
            if key == "sequence"
            else say("{n} times", n=(tensor if key == "tensor" else ranks, COUNT)),
        )
        for key, name, divides, travels in texts
    )
    return Table(
        title="Four names that are easily confused",
        columns=("Name", "Divides", "Sends", "Bytes per GPU and layer", "Multiplies the GPUs"),
        rows=rows,
        caption="Bytes forward and backward, with these numbers. DeepSpeed and others call Ulysses "
        "sequence parallelism as well.",
    )


def measured_rings(result: Result) -> Table:
    """Return a table of measured and modeled rings."""
    rows: list[tuple[Cell, ...]] = []
    for row, rates in zip(MEASURED_RINGS, result.rings(), strict=True):
        passes = "forward and backward" if row.backward else "forward"
        cells: list[Cell] = []
        for layout, rate in zip(LAYOUTS, rates, strict=True):
            measured, modelled = getattr(row, layout) / row.even, rate / row.even
            cells.append(say("{m}, model {p}", m=(measured, SHARE), p=(modelled, SHARE)))
        rows.append((f"{ACCELERATORS[row.gpu].name}, {passes}", *cells, Citation((SOURCE,))))
    return Table(
        title="Of an even share of the attention on one GPU, a ring of 8 reaches",
        columns=("8 GPUs", "Contiguous", "Striped", "Zig-zag", "Source"),
        rows=tuple(rows),
        caption="Llama 3.1 8B's attention, 8,192 tokens on each GPU, NVLink. The model contains "
        "only what the ring adds.",
    )


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the challenge for the inputs."""
    names = ("model", "machine", "tensor_parallel", "pipeline_parallel", "heads", "element")
    same = all(getattr(inputs, name) == START[name] for name in names)
    return Challenge(
        title="Challenge: a million tokens",
        goal="Train Llama 3 70B on sequences of 1,048,576 tokens on H100. Bring what the layers "
        "wait for below two percent, with few ranks.",
        conditions=(
            Condition(
                text=say(
                    "Llama 3 70B on DGX H100, TP 8, four stages, {s} tokens, bf16",
                    s=(_LENGTH, TOKENS),
                ),
                met=same and inputs.sequence_length == _LENGTH,
            ),
            Condition(text="the GPU that holds most holds it", met=result.fit.verdict == "fits"),
            Condition(
                text="32 ranks or fewer share a sequence",
                met=result.job.plan.context_parallel <= 32,
            ),
            Condition(
                text=say(
                    "waiting and merging take {p} of a layer or less", p=(_MOST, with_digits(SHARE))
                ),
                met=result.layer_share <= _MOST,
            ),
        ),
        hints=(
            "Activations that are computed again do not have to be kept.",
            "A ring hides behind long pieces, if they are cut evenly and there is memory for the "
            "next block.",
        ),
        start=START,
        solution=SOLUTION,
    )


# The charts of the lab: ways side by side, the ratio over ranks, and memory.

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
    low, high = min(every) / 1.5, 1.5 * max(every)
    return present.curve(
        "A ring step: computing over sending",
        over=Scale(COUNT, "ranks that share the sequence", 1, MOST, log=True),
        shows=Scale("ratio", "computing over sending", low, high, log=True),
        x=RANKS,
        lines=(
            Line("own", "your cluster", far, "context"),
            Line("near", "all on NVLink", near, "muted", dashed=True),
        ),
        handle="context_parallel",
        marked=inputs.context_parallel > 1,
        rules=(Rule(key="one", label="just hidden", axis="y", at=1.0),),
        caption=say(
            "Below the line a block travels longer than a step computes. {s} tokens in all.",
            s=(inputs.sequence_length, TOKENS),
        ),
    )


def buffers(result: Result) -> Bars:
    """Return the memory of the GPU that holds most with each way's keys and values."""
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
        title="The GPU that holds most, with the keys and values of others",
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


# Fused attention by sequence length: measured on an H100, and modeled.

_KERNELS = {"flash": "FlashAttention-2", "cudnn": "cuDNN"}


def measured_attention(result: Result) -> Table:
    """Return a table of measured and modeled attention rates."""
    rows: list[tuple[Cell, ...]] = []
    for row, rates in zip(OWN_ATTENTIONS, result.attentions(), strict=True):
        rows.append(
            (
                say(f"{_KERNELS[row.kernel]}, {{n}}", n=(row.length, TOKENS)),
                *(say("{r}", r=(rate, FLOP_RATE)) for rate in rates),
            )
        )
    return Table(
        title="Causal attention on one H100, by the length of a sequence",
        columns=("Kernel, tokens", "Forward", "Modeled", "Backward", "Modeled"),
        rows=tuple(rows),
        caption=f"Measured by us, {OWN_DATE}, PyTorch 2.11 and cuDNN 9.19: 16,384 tokens in "
        "sequences of this length, 32 heads of 128, bf16. Counted are the pairs that the mask "
        "leaves.",
    )


# Maps of the lab: limit of overlap over length and ranks, with the configured point.


def regime_map(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return up to how many ranks the ring hides, over the length of the sequence."""
    low, high = LENGTHS
    hidden = result.hidden()
    xs = hidden.lengths
    most = result.job.rank.domain // int(inputs.tensor_parallel)
    return present.curve(
        "Where overlap ends",
        over=Scale(TOKENS, "sequence length", low, high, log=True),
        shows=Scale(COUNT, "ranks", 1, MOST, log=True),
        x=xs,
        lines=(
            Line("near", "on NVLink", hidden.near, "muted", dashed=True),
            Line("far", "on the network", hidden.far, "context"),
        ),
        handle="sequence_length",
        at=inputs.context_parallel,
        now="you",
        rules=(
            Rule(
                key="node",
                label=say("{n} fit on NVLink", n=(most, COUNT)),
                axis="y",
                at=float(most),
                color="muted",
            ),
        )
        if most > 1
        else (),
        caption="Below a curve the ring hides; above it blocks are waited for. A ring that leaves "
        "its node follows the curve of the network.",
    )


def exposed_map(inputs: Inputs, result: Result) -> Heatmap:
    """Return the share of a layer that waits, over length and ranks."""
    return Heatmap(
        title="What a layer waits for, over length and ranks",
        x_label="sequence length",
        y_label="ranks",
        x=tuple(_short(length) for length in COLUMNS),
        y=tuple(f"{ranks}" for ranks in ROWS),
        values=result.exposed_map(),
        quantity=SHARE,
        points=(_own_cell(inputs, result),),
        caption="A ring in a zig-zag with two buffers; merging is counted. The frame marks your "
        "length and ranks, between two cells where they are no power of two. K is 1,024 tokens, "
        "M 1,024 K.",
    )


def _own_cell(inputs: Inputs, result: Result) -> Point:
    ranks, length = int(inputs.context_parallel), inputs.sequence_length
    return Point(
        key="own",
        label=say("framed: you, {share} waited for", share=(result.exposed, SHARE)),
        x=math.log2(length / COLUMNS[0]),
        y=math.log2(ranks / ROWS[0]),
        color="ink",
    )


def _short(length: int) -> str:
    return f"{length >> 20}M" if length >> 20 else f"{length >> 10}K"
