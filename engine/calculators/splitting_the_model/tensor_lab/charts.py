"""The charts of the tensor-parallel lab: the ratio over ranks, GPU time, and a layer's tiles."""

from engine.calculators.splitting_the_model.tensor_lab.inputs import MOST, Inputs
from engine.calculators.splitting_the_model.tensor_lab.result import Result
from engine.core.text import say
from engine.core.units import BYTES, COUNT, GPU_TIME, RATIO, Count
from engine.core.views import Axis, Bar, Bars, Lines, Point, Rule, Segment, Series
from engine.form.memory_fit import tight_mark
from engine.simulate.step.modeled_plan import ModeledPlan

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
