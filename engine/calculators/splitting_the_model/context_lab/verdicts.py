"""Verdicts, measured rings and the challenge of the context-parallelism lab."""

from collections.abc import Mapping

from engine.calculators.splitting_the_model.context_lab.beside import LAYOUTS
from engine.calculators.splitting_the_model.context_lab.inputs import LLAMA, Inputs
from engine.calculators.splitting_the_model.context_lab.result import Result
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.measured_rings import MEASURED_RINGS, SOURCE
from engine.core.inputs import Scalar
from engine.core.outputs import Presenter
from engine.core.text import say
from engine.core.units import BYTES, COUNT, SHARE, TOKENS, with_digits
from engine.core.views import Badge, Cell, Challenge, Citation, Condition, Published, Table

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
                "The fullest GPU would need {held} of {usable}. More ranks, stages or "
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
        "values; the pieces of its pipeline are not given.",
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
        caption="Bytes forward and backward, with your numbers. DeepSpeed and others call Ulysses "
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
            Condition(text="the fullest GPU holds it", met=result.fit.verdict == "fits"),
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
            "A ring hides behind long pieces, if they are cut evenly and there is room for the "
            "next block.",
        ),
        start=START,
        solution=SOLUTION,
    )
