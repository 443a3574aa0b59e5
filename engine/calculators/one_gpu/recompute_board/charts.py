"""The pictures of the board: memory over the step, the best sets, longer sequences."""

from engine.calculators.one_gpu.recompute_board.inputs import LONGEST, Inputs
from engine.calculators.one_gpu.recompute_board.result import Result
from engine.calculators.one_gpu.recompute_board.sweeps import LENGTHS, RecomputeStep
from engine.core.outputs import Presenter
from engine.core.text import say
from engine.core.units import BYTES, OPERATIONS, SHARE, TOKENS
from engine.core.views import Axis, Bar, Bars, Lines, Point, Rule, Segment, Series

_POLICIES = {
    "none": "keep everything",
    "core_attn": "the core of the attention",
    "every_second": "every second product",
    "full": "every layer",
    "yours": "your set",
}


def memory_over_step(result: Result) -> Lines:
    """Return the chart of GPU memory over the operations of a step."""
    looks = (
        ("yours", "your set", "activations"),
        ("none", "keep everything", "ink"),
        ("full", "recompute everything", "compute"),
    )
    series = tuple(_curve(key, label, result.steps()[key], color) for key, label, color in looks)
    top = max(result.usable, *(max(line.y) for line in series))
    return Lines(
        title="Memory over one step",
        x=Axis(
            label="work done since the step began",
            quantity=OPERATIONS,
            low=0.0,
            high=max(line.x[-1] for line in series),
        ),
        y=Axis(label="memory of the GPU", quantity=BYTES, low=0.0, high=1.05 * top),
        series=series,
        rules=(
            Rule(
                key="usable",
                label=say("usable: {m}", m=(result.usable, BYTES)),
                axis="y",
                at=result.usable,
            ),
        ),
        caption="Up: the forward pass of every layer leaves its tensors. The spike is the output "
        "layer with its logits. Down: every layer makes its dropped tensors again, uses them, "
        "and frees them. A curve that ends further right has computed more.",
    )


def _curve(key: str, label: str, step: RecomputeStep, color: str) -> Series:
    return Series(
        key=key,
        label=label,
        x=tuple(moment.done for moment in step.moments),
        y=tuple(step.fixed + moment.activations for moment in step.moments),
        color=color,
        dashed=key != "yours",
    )


def pareto(present: Presenter, result: Result) -> Lines:
    """Return the sets that no other set beats, and the reader's."""
    best = result.best()
    xs, ys = [], []
    for at, (share, kept) in enumerate(best):
        if at:  # a stair: until the next set costs that much, nothing is saved
            xs.append(share)
            ys.append(best[at - 1][1])
        xs.append(share)
        ys.append(kept)
    named = []
    for key, label in (("every_second", "every 2nd product"), ("full", "inputs only")):
        step = result.steps()[key]
        named.append(Point(key=key, label=label, x=step.extra, y=step.kept, color="muted"))
    return Lines(
        title="Memory against work, over all sets",
        x=Axis(label="operations computed again", quantity=SHARE, low=0.0, high=0.36),
        y=Axis(label="kept by all layers", quantity=BYTES, low=0.0, high=1.05 * result.everything),
        series=(
            Series(key="best", label="best sets", x=tuple(xs), y=tuple(ys), color="activations"),
        ),
        points=(
            *named,
            Point(key="yours", label=present.say("yours: {kept}"), x=result.extra, y=result.kept),
        ),
        caption=present.say(
            "No other of the {num_sets} sets beats those on the stair. A ring above the stair "
            "keeps more than it must for its price."
        ),
    )


def policy_bars(result: Result) -> Bars:
    """Return the fullest moment under the policies that software offers, and the reader's."""
    steps = result.steps()
    most = max(result.usable, *(step.fixed + step.peak for step in steps.values()))
    return Bars(
        title="The fullest moment, by policy",
        axis=Axis(label="memory of the GPU", quantity=BYTES, low=0.0, high=1.05 * most),
        bars=tuple(_bar(key, step) for key, step in steps.items()),
        rules=(
            Rule(
                key="usable",
                label=say("usable: {m}", m=(result.usable, BYTES)),
                axis="x",
                at=result.usable,
            ),
        ),
    )


def _bar(key: str, step: RecomputeStep) -> Bar:
    name = _POLICIES[key]
    return Bar(
        key=key,
        label=name if key == "none" else f"{name}: +{100 * step.extra:.1f} % work",
        segments=(
            Segment(key="fixed", label="states, buffers", value=step.fixed, color="optimizer"),
            Segment(key="held", label="activations", value=step.peak, color="activations"),
        ),
    )


def memory_by_length(inputs: Inputs, result: Result) -> Lines:
    """Return the chart of saved bytes over the sequence length: three policies and a formula."""
    column, kept = tuple(map(float, LENGTHS)), result.lengths()
    looks = (
        ("none", "everything", "activations", False),
        ("every_second", "every second product", "data", False),
        ("full", "inputs only", "compute", False),
        ("gpt", "GPT formula", "muted", True),
    )
    return Lines(
        title="What the layers keep, over the sequence length",
        x=Axis(label="tokens per sequence", quantity=TOKENS, low=1024, high=LONGEST, scale="log"),
        y=Axis(
            label="kept by all layers",
            quantity=BYTES,
            low=kept["full"][0] / 2,
            high=2 * kept["gpt"][-1],
            scale="log",
        ),
        series=tuple(
            Series(key=key, label=label, x=column, y=kept[key], color=color, dashed=dashed)
            for key, label, color, dashed in looks
        ),
        points=(
            Point(
                key="now",
                label=say("{m}", m=(result.kept, BYTES)),
                x=inputs.sequence_length,
                y=result.kept,
            ),
        ),
        rules=(
            Rule(
                key="usable",
                label="one GPU",
                axis="y",
                at=result.usable,
            ),
        ),
        handle="sequence_length",
        caption="Drag the handle. Both axes are logarithmic.",
    )
