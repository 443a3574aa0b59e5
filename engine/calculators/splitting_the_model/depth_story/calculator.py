"""From one GPU that overflows to the depth split: the same model on 1 to 64 GPUs."""

from functools import partial

from engine.calculators.splitting_the_model.depth_story.inputs import HELD, MANY, NODE, PARTS, peak
from engine.calculators.splitting_the_model.depth_story.inputs import Inputs as Inputs
from engine.calculators.splitting_the_model.depth_story.inputs import Result as Result
from engine.calculators.splitting_the_model.depth_story.inputs import solve as solve
from engine.core.outputs import Teller, Views
from engine.core.text import say
from engine.core.units import BYTES, COUNT, GPU_TIME, Bytes
from engine.core.views import Axis, Badge, Bar, Bars, Lines, Point, Rule, Segment, Series
from engine.form.run.prediction_text import ranged
from engine.simulate.step.modeled_plan import Modeled

TITLE = "One model on 1 to 64 GPUs"
QUESTION = "What if a model is too large for one node?"
PRESETS = {
    "One GPU": {"num_gpus": 1},
    "One node": {"num_gpus": 8},
    "405B on 64 GPUs": {"model": "llama-3-405b", "num_gpus": 64},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs)
    return {
        "memory": partial(_memory, inputs, result),
        "regime": _regime(tell, inputs, result),
        **tell.values("alone", "wide_memory", "deep_memory"),
        "bars": partial(_bars, result),
        "wide_time": ranged(tell, "wide_time", result.now[0].evidence, assumes=HELD),
        "deep_time": ranged(tell, "deep_time", result.now[1].evidence, assumes=HELD),
        "times": partial(_times, result),
    }


def _regime(tell: Teller, inputs: Inputs, result: Result) -> Badge:
    deep, wide = (plan.fits for plan in (result.now[1], result.now[0]))
    if inputs.num_gpus == 1 and not deep:
        return Badge(
            text="One GPU overflows",
            sentence=tell.say("It would need {alone}, and {usable} can be used."),
            color="communication",
        )
    if inputs.num_gpus <= NODE:
        words = "fits" if wide else "does not fit"
        return Badge(
            text="Tensor parallel in one node",
            sentence=tell.say(
                f"{{gpus}} GPUs share every matrix: {{wide_memory}} on each, which {words}."
            ),
            color="tensor",
        )
    saved = 1 - result.deep_time / result.wide_time
    if result.stages == 1:
        return Badge(
            text="Tensor parallel in one node",
            sentence=tell.say(
                "{tensor} GPUs share every matrix: {deep_memory} on each. The rest fill no second "
                "node."
            ),
            color="tensor",
        )
    if not deep:
        return Badge(
            text="Cut by depth, still too large",
            sentence=tell.say("{stages} stages of {tensor} GPUs: {deep_memory} on the fullest."),
            color="communication",
        )
    words = "less" if saved > 0 else "more"
    return Badge(
        text="Cut by depth",
        sentence=tell.say(
            "{stages} stages of {tensor} GPUs hold {deep_memory} on the fullest GPU and take "
            f"{abs(saved) * 100:.0f} % {words} GPU time than one tensor group of {{gpus}}."
        ),
        color="pipeline",
    )


def _memory(inputs: Inputs, result: Result) -> Lines:
    xs = tuple(float(n) for n in MANY)
    wide, deep = (tuple(map(peak, plans)) for plans in (result.wide, result.deep))
    every = (*wide, *deep, result.usable)
    return Lines(
        title="Memory of the fullest GPU",
        x=Axis(label="GPUs", quantity=COUNT, low=1, high=64, scale="log"),
        y=Axis(
            label="memory", quantity=BYTES, low=min(every) / 2.5, high=max(every) * 1.2, scale="log"
        ),
        series=(
            Series(key="wide", label="no stages", x=xs, y=wide, color="tensor"),
            Series(
                key="deep",
                label="staged",
                x=xs,
                y=deep,
                color="pipeline",
                dashed=True,
            ),
        ),
        points=(
            Point(
                key="now",
                label=say("{m}", m=(result.deep_memory, BYTES)),
                x=inputs.num_gpus,
                y=result.deep_memory,
            ),
        ),
        rules=(
            Rule(
                key="room",
                label=say("{m} usable", m=(result.usable, BYTES)),
                axis="y",
                at=result.usable,
            ),
            Rule(key="node", label="one node", axis="x", at=float(NODE), color="muted"),
        ),
        handle="num_gpus",
        caption="Staged: every node is one stage.",
    )


def _bars(result: Result) -> Bars:
    names = ("tensor parallel only", "with stages")
    high = 1.25 * max(result.usable, result.wide_memory, result.deep_memory)
    return Bars(
        title="What the fullest GPU holds",
        axis=Axis(label="memory", quantity=BYTES, low=0.0, high=high),
        bars=tuple(
            Bar(
                key=f"held{at}",
                label=name,
                segments=tuple(
                    Segment(key=part, label=label, value=_part(plan, part), color=color)
                    for part, (label, color) in PARTS.items()
                ),
            )
            for at, (name, plan) in enumerate(zip(names, result.now, strict=True))
        ),
        rules=(
            Rule(
                key="room",
                label=say("{m}", m=(result.usable, BYTES)),
                axis="x",
                at=result.usable,
            ),
        ),
    )


def _part(plan: Modeled, part: str) -> Bytes:
    return float(getattr(plan.stages[plan.fullest].memory, part))


def _times(result: Result) -> Bars:
    rows = []
    for gpus, wide, deep in zip(MANY, result.wide, result.deep, strict=True):
        if gpus < NODE:
            continue
        named = (("tensor parallel", wide), ("stages", deep)) if gpus > NODE else (("", wide),)
        for name, plan in named:
            cut = f"{gpus} GPUs, {name}".rstrip(", ")
            used = plan.run.plan.world_size
            if used < gpus:
                cut += f" on {used}"
            label = cut if plan.fits else f"{cut}, does not fit"
            rows.append((f"{gpus} {name}", label, plan))
    return Bars(
        title="GPU time for a million tokens",
        axis=Axis(
            label="GPU time for a million tokens",
            quantity=GPU_TIME,
            low=0.0,
            high=1.05 * max(plan.token_time for _, _, plan in rows),
        ),
        bars=tuple(Bar(key=key, label=label, segments=_time(plan)) for key, label, plan in rows),
        caption="What does not fit is named; its time means nothing.",
    )


def _time(plan: Modeled) -> tuple[Segment, ...]:
    step = plan.step
    each = plan.token_time / step.total
    sent = step.tensor_parallel + step.pipeline
    other = step.total - step.compute - sent - step.bubble
    parts = (
        ("compute", "computation", step.compute, "compute"),
        ("sent", "exposed communication", sent, "communication"),
        ("bubble", "bubble", step.bubble, "muted"),
        ("other", "optimizer and other", other, "memory"),
    )
    return tuple(
        Segment(key=key, label=label, value=time * each, color=color)
        for key, label, time, color in parts
    )
