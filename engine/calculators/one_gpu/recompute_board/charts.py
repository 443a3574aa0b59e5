"""The pictures of the board: memory over the step, the best sets, longer sequences."""

from dataclasses import replace

from engine.basis.text import say
from engine.basis.told import Teller
from engine.basis.units import BYTES, OPERATIONS, SHARE, TOKENS
from engine.basis.views import Axis, Bar, Bars, Lines, Point, Rule, Segment, Series
from engine.calculators.one_gpu.recompute_board.inputs import LONGEST, Inputs, job_of
from engine.calculators.one_gpu.recompute_board.result import Result, fixed_memory, gpt
from engine.catalog.models import MODELS
from engine.formulas.recomputation import kept_by_layers, repeated_share
from engine.simulate.memory_over_step import memory_over_step, peak
from engine.simulate.saved_tensors import best_sets, drops_of

POLICIES = {
    "none": "keep everything",
    "core_attn": "the core of the attention",
    "every_second": "every second product",
    "full": "every layer",
}


def over_step(inputs: Inputs, result: Result) -> Lines:
    """Return the memory of the GPU over the operations of one step."""
    job, model = result.job, MODELS[inputs.model]

    def curve(key: str, label: str, gone: frozenset[str], color: str) -> Series:
        moments = memory_over_step(model, job.plan, job.training, job.layer, gone)
        fixed = fixed_memory(inputs, peak(moments).held)
        return Series(
            key=key,
            label=label,
            x=tuple(one.done for one in moments),
            y=tuple(fixed + one.held for one in moments),
            color=color,
            dashed=key != "yours",
        )

    series = (
        curve("yours", "your set", result.gone, "activations"),
        curve("none", "keep everything", frozenset(), "ink"),
        curve("full", "recompute everything", drops_of(job.layer, "full"), "compute"),
    )
    top = max(result.usable, *(max(one.y) for one in series))
    return Lines(
        title="Memory over one step",
        x=Axis(
            label="work done since the step began",
            quantity=OPERATIONS,
            low=0.0,
            high=max(one.x[-1] for one in series),
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


def pareto(tell: Teller, inputs: Inputs, result: Result) -> Lines:
    """Return the sets that no other set beats, and the reader's."""
    layer, layers = result.job.layer, result.layers

    def share(again: float) -> float:
        return repeated_share(layers, again, layer.forward, result.output)

    best = best_sets(layer)
    xs, ys = [], []
    for at, one in enumerate(best):
        if at:  # a stair: until the next set costs that much, nothing is saved
            xs.append(share(one.again))
            ys.append(kept_by_layers(layers, best[at - 1].kept))
        xs.append(share(one.again))
        ys.append(kept_by_layers(layers, one.kept))
    named = []
    for key in ("every_second", "full"):
        gone = drops_of(layer, key)
        point = share(layer.again(gone)), kept_by_layers(layers, layer.kept(gone))
        label = "every 2nd product" if key == "every_second" else "inputs only"
        named.append(Point(key=key, label=label, x=point[0], y=point[1], color="muted"))
    return Lines(
        title="Memory against work, over all sets",
        x=Axis(label="operations computed again", quantity=SHARE, low=0.0, high=0.36),
        y=Axis(label="kept by all layers", quantity=BYTES, low=0.0, high=1.05 * result.everything),
        series=(
            Series(key="best", label="best sets", x=tuple(xs), y=tuple(ys), color="activations"),
        ),
        points=(
            *named,
            Point(key="yours", label=tell.say("yours: {kept}"), x=result.extra, y=result.kept),
        ),
        caption=tell.say(
            "No other of the {num_sets} sets beats those on the stair. A ring above the stair "
            "keeps more than it must for its price."
        ),
    )


def policies(inputs: Inputs, result: Result) -> Bars:
    """Return the fullest moment under the policies that software offers, and the reader's."""
    job, model = result.job, MODELS[inputs.model]
    sets = {key: drops_of(job.layer, key) for key in POLICIES}
    bars = []
    for key, gone in (*sets.items(), ("yours", result.gone)):
        highest = peak(memory_over_step(model, job.plan, job.training, job.layer, gone)).held
        fixed = fixed_memory(inputs, highest)
        extra = repeated_share(
            result.layers, job.layer.again(gone), job.layer.forward, result.output
        )
        name = POLICIES.get(key, "your set")
        label = name if key == "none" else f"{name}: +{100 * extra:.1f} % work"
        bars.append(
            Bar(
                key=key,
                label=label,
                segments=(
                    Segment(key="fixed", label="states, buffers", value=fixed, color="optimizer"),
                    Segment(key="held", label="activations", value=highest, color="activations"),
                ),
            )
        )
    most = max(result.usable, *(sum(part.value for part in bar.segments) for bar in bars))
    return Bars(
        title="The fullest moment, by policy",
        axis=Axis(label="memory of the GPU", quantity=BYTES, low=0.0, high=1.05 * most),
        bars=tuple(bars),
        rules=(
            Rule(
                key="usable",
                label=say("usable: {m}", m=(result.usable, BYTES)),
                axis="x",
                at=result.usable,
            ),
        ),
    )


def lengths(inputs: Inputs, result: Result) -> Lines:
    """Return what the layers keep over the sequence length, for three policies and a formula."""
    column = tuple(float(1 << power) for power in range(10, LONGEST.bit_length()))
    kept: dict[str, list[float]] = {"none": [], "every_second": [], "full": [], "gpt": []}
    for length in column:
        layer = job_of(replace(inputs, sequence_length=int(length))).layer
        for key in ("none", "every_second", "full"):
            kept[key].append(kept_by_layers(result.layers, layer.kept(drops_of(layer, key))))
        kept["gpt"].append(gpt(inputs, int(length))[0])
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
            Series(key=key, label=label, x=column, y=tuple(kept[key]), color=color, dashed=dashed)
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
