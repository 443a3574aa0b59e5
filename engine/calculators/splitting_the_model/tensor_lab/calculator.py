"""Tensor parallelism at real scale: communication against computation, over ranks and links."""

from collections.abc import Mapping
from functools import partial

from engine.calculators.splitting_the_model.tensor_lab.result import MOST, PREDICTED, Inputs, Result
from engine.calculators.splitting_the_model.tensor_lab.result import PRESETS as PRESETS
from engine.calculators.splitting_the_model.tensor_lab.result import solve as solve
from engine.core.inputs import Scalar
from engine.core.outputs import Presenter, Views
from engine.core.text import say
from engine.core.units import BYTES, COUNT, GPU_TIME, RATIO, SHARE, Count, Share, with_digits
from engine.core.views import (
    Axis,
    Badge,
    Bar,
    Bars,
    Challenge,
    Condition,
    Lines,
    Point,
    Rule,
    Segment,
    Series,
)
from engine.form.memory_fit import fit_badge, tight_mark
from engine.form.run.prediction_text import value_with_range
from engine.formulas.axes import TENSOR_LAYER_BYTES
from engine.simulate.step.modeled_plan import ModeledPlan

TITLE = "Tensor parallelism at real scale"
QUESTION = "Over how many GPUs, and over which links, is tensor parallelism worth its traffic?"
HEADLINE = "token_rate"
EQUATIONS = (TENSOR_LAYER_BYTES,)


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "formula": present.formula("Bytes of a layer, with these numbers", TENSOR_LAYER_BYTES),
        "ratio_curve": partial(ratio_curve, inputs, result),
        **present.values("ratio"),
        "regime": regime(present, result),
        **present.values("layer_bytes", "needed", "exposed", "exposed_share"),
        "token_rate": value_with_range(
            present, "token_rate", result.plan.evidence, assumes=(PREDICTED,)
        ),
        "gpu_time": partial(gpu_time, result),
        **present.values("memory"),
        "fits": fits(result),
        "tiles": partial(tiles, result),
        **present.values("kept"),
        "challenge": partial(challenge, inputs, result),
    }


# Verdicts and challenge of the tensor-parallel lab.

START: Mapping[str, Scalar] = {"tensor_parallel": 32, "sequence_length": 4096}
SOLUTION: Mapping[str, Scalar] = {"tensor_parallel": 4, "sequence_length": 4096, "overlap": True}
_MOST: Share = 0.05


def regime(present: Presenter, result: Result) -> Badge:
    """Return a badge with the tensor group's placement."""
    cluster = result.plan.run.cluster
    if result.num_gpus == 1:
        return Badge(
            text="Nothing is sent",
            sentence="One rank of tensor parallelism has every matrix to itself.",
            color="compute",
        )
    nodes = -(-result.num_gpus // cluster.gpus_per_node)
    if nodes == 1:
        return Badge(
            text="Inside a node",
            sentence=present.say("All {num_gpus} GPUs of a group share one node, and its NVLink."),
            color="tensor",
        )
    return Badge(
        text="Across nodes",
        sentence=present.say(
            f"A group spreads over {nodes} nodes. Its collectives alone take {{ratio}} as long as "
            "the computation."
        ),
        color="communication",
    )


def fits(result: Result) -> Badge:
    """Return whether the GPU that holds most holds its part, and the changes made to the plan."""
    if result.changes:
        return Badge(text="Changed", sentence=result.changes[0], color="muted")
    return fit_badge(result.plan.fit)


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the challenge: hardly any waiting, on machines as they are."""
    defaults = Inputs()
    machine = ("gpu", "gpus_per_node", "nics_per_node", "nic_bandwidth", "model")
    same = all(getattr(inputs, name) == getattr(defaults, name) for name in machine)
    batch = inputs.micro_batch_size * inputs.sequence_length <= 4096
    return Challenge(
        title="Challenge: 70B without waiting",
        goal=say(
            "Train Llama 3 70B so that less than {s} of the step waits for tensor parallelism.",
            s=(_MOST, with_digits(SHARE)),
        ),
        conditions=(
            Condition(text="Llama 3 70B on nodes of 8 H100 with 8 ports of 400 Gb/s", met=same),
            Condition(text="at most 4,096 tokens in a micro-batch", met=batch),
            Condition(text="at most 4 stages", met=inputs.pipeline_parallel <= 4),
            Condition(
                text="the plan fits", met=result.plan.fit.verdict == "fits" and not result.changes
            ),
            Condition(
                text=say("less than {s} of the step exposed", s=(_MOST, with_digits(SHARE))),
                met=result.exposed_share < _MOST,
            ),
        ),
        hints=(
            "A group that stays inside a node never uses a port.",
            "What still has to be sent can be sent beside the products.",
            "Fewer ranks send less and compute longer. See what memory is left.",
        ),
        start=START,
        solution=SOLUTION,
    )


# The charts of the tensor-parallel lab: the ratio over ranks, GPU time, and a layer's tiles.

_CURVES = (
    ("own", "your cluster", "communication", False),
    ("port", "one port per node", "bad", True),
    ("rack", "all on NVLink", "tensor", True),
)


def ranks_axis() -> Axis:
    """Return the axis of the ranks, the range of the input."""
    return Axis(label="tensor parallel ranks", quantity=COUNT, low=1, high=MOST, scale="log")


def ratio_curve(inputs: Inputs, result: Result) -> Lines:
    """Return communication over computation against the number of ranks."""
    shown = slice(1, None)  # one rank sends nothing, which a log axis cannot show
    ratios = {key: ys[shown] for key, ys in result.ratios.items()}
    every = [y for ys in ratios.values() for y in ys]
    return Lines(
        title="Communication over computation",
        x=ranks_axis(),
        y=Axis(
            label="communication alone, over computation",
            quantity=RATIO,
            low=min(every) / 1.5,
            high=max(every) * 1.5,
            scale="log",
        ),
        series=tuple(
            Series(
                key=key,
                label=label,
                x=_rank_numbers(result),
                y=ratios[key],
                color=color,
                dashed=dashed,
            )
            for key, label, color, dashed in _CURVES
        ),
        points=(
            Point(
                key="now",
                label=say("{r}", r=(result.ratio, RATIO)),
                x=result.num_gpus,
                y=result.ratio,
            ),
        )
        if result.num_gpus > 1
        else (),
        rules=(Rule(key="one", label="equally long", axis="y", at=1.0),),
        handle="tensor_parallel",
        caption=say(
            "Nodes of {n} GPUs. Above the line, the links are busy for longer than the GPUs.",
            n=(inputs.gpus_per_node, COUNT),
        ),
    )


def _rank_numbers(result: Result) -> tuple[float, ...]:
    return tuple(float(t) for t in result.ranks[1:])


def gpu_time(result: Result) -> Bars:
    """Return the breakdown of GPU time per million tokens over the number of ranks."""
    return Bars(
        title="GPU time for a million tokens",
        axis=Axis(
            label="GPU time for a million tokens",
            quantity=GPU_TIME,
            low=0.0,
            high=1.05 * max(plan.token_time for plan in result.plans),
        ),
        bars=tuple(_bar(t, plan) for t, plan in zip(result.ranks, result.plans, strict=True)),
        caption="Stages, replicas and micro-batches stay as they are, so the number of GPUs grows "
        "with the ranks. A plan that does not fit is named, and its time means nothing.",
    )


def _bar(tensor: Count, plan: ModeledPlan) -> Bar:
    step = plan.step
    each = plan.token_time / step.total
    other = step.total - step.compute - step.tensor_parallel
    parts = (
        ("compute", "computation", step.compute, "compute"),
        ("tensor", "tensor parallelism, exposed", step.tensor_parallel, "communication"),
        ("other", "bubble, other axes, optimizer", other, "muted"),
    )
    return Bar(
        key=f"t{tensor}",
        label=f"t = {tensor}{tight_mark(plan.fit)}",
        segments=tuple(
            Segment(key=key, label=label, value=time * each, color=color)
            for key, label, time, color in parts
        ),
    )


def tiles(result: Result) -> Lines:
    """Return a layer's memory per GPU over the number of ranks."""
    xs = tuple(float(t) for t in result.ranks)
    whole = tuple(alone.total for alone, _ in result.tiles)
    split = tuple(both.total for _, both in result.tiles)
    floor = result.tiles[0][0].around
    return Lines(
        title="What one layer keeps on each GPU",
        x=ranks_axis(),
        y=Axis(label="activations", quantity=BYTES, low=0.0, high=1.05 * whole[0]),
        series=(
            Series(key="whole", label="tensor parallel", x=xs, y=whole, color="buffers"),
            Series(key="split", label="with SP", x=xs, y=split, color="activations"),
        ),
        points=(
            Point(
                key="now",
                label=say("{m}", m=(result.kept, BYTES)),
                x=result.num_gpus,
                y=result.kept,
            ),
        ),
        rules=(
            Rule(
                key="floor",
                label=say("norms: {m}", m=(floor, BYTES)),
                axis="y",
                at=floor,
                color="muted",
            ),
        ),
        handle="tensor_parallel",
        caption="One micro-batch. Without sequence parallelism (SP), no number of ranks gets below "
        "the inputs and outputs of the norms.",
    )
