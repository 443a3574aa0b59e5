"""Parallelism modeler: links needed by each axis of a plan, and exposed time of a step."""

from functools import partial

from engine.calculators.splitting_the_model.parallelism_modeler import values
from engine.calculators.splitting_the_model.parallelism_modeler.inputs import (
    MOST_MICROBATCHES,
    Change,
    Inputs,
)
from engine.calculators.splitting_the_model.parallelism_modeler.inputs import PRESETS as PRESETS
from engine.calculators.splitting_the_model.parallelism_modeler.result import Result
from engine.calculators.splitting_the_model.parallelism_modeler.result import solve as solve
from engine.calculators.splitting_the_model.parallelism_modeler.stages import (
    stage_memory_bars,
    strip,
)
from engine.calculators.splitting_the_model.parallelism_modeler.values import table
from engine.core.outputs import Presenter, Views
from engine.core.text import Sentence, Text, say
from engine.core.units import BYTES, COUNT, GPU_TIME, LINK_SPEED, SECONDS, SHARE, Quantity
from engine.core.views import (
    Advice,
    Axis,
    Badge,
    Bar,
    Bars,
    Challenge,
    Condition,
    Line,
    Lines,
    Point,
    Remedy,
    Rule,
    Scale,
    Segment,
    Table,
)
from engine.form.memory_fit import with_fit
from engine.form.plural import pluralize
from engine.form.run.verdicts import possible_badge as run_possible
from engine.simulate.step.modeled_plan import ModeledPlan

TITLE = "Bandwidth and efficiency of a parallel plan"
QUESTION = "Which axis needs which link, and how much of its traffic does a step wait for?"
HEADLINE = "step"
EQUATIONS = values.EQUATIONS


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, result.asked, equations=values.EQUATIONS)
    plan = result.plan
    of_step, of_memory = values.step_values(present, result), values.memory_values(present, result)
    return {
        "ratio": values.ratio_value(present, result),
        "goal": goal(inputs, result),
        "regime": regime(result),
        "possible": possible(inputs, result),
        "bandwidths": bandwidths(plan),
        "axes": axes(plan),
        **of_step,
        **values.pipeline_values(present, inputs, result),
        "tensor_alone": values.tensor_alone(present),
        **of_memory,
        "breakdown": breakdown(plan),
        "strip": partial(strip, inputs, result),
        "stage_memory": stage_memory_bars(plan),
        "utilization_curve": partial(utilization_curve, present, result),
        "advice": partial(advice, inputs, result),
        "formula": values.bubble_formula(present, result),
        "same_batch": partial(same_batch, result),
        "published_digits": table(present, inputs, result),
        "challenge": challenge(inputs, result),
    }


# Verdicts of the parallelism modeler: feasibility, bottleneck, and goal.


def goal(inputs: Inputs, result: Result) -> Badge:
    """Return whether the exposed communication is within the allowed share."""
    now = result.ratio
    if now <= inputs.target:
        return Badge(
            text="Met",
            sentence=say(
                "{r} of the computation is allowed, {n} is waited for.",
                r=(inputs.target, SHARE),
                n=(now, SHARE),
            ),
            color="compute",
        )
    worst = max(result.plan.axes, key=lambda axis: axis.exposed)
    return Badge(
        text="Missed",
        sentence=say(
            f"{{r}} of the computation is allowed, {{n}} is waited for, most of it for "
            f"{worst.label}.",
            r=(inputs.target, SHARE),
            n=(now, SHARE),
        ),
        color=worst.key,
    )


def regime(result: Result) -> Badge:
    """Return the largest cost besides computation, or that the plan does not fit."""
    plan = result.plan
    fullest = plan.stages[plan.fullest].memory.total
    if not plan.fit.runs:
        return Badge(
            text="Capacity",
            sentence=say(
                f"Stage {plan.fullest} needs {{m}}, and {{u}} may be filled: the plan does not "
                "run.",
                m=(fullest, BYTES),
                u=(plan.usable, BYTES),
            ),
            color="buffers",
        )
    costs = [(axis.exposed, axis.label, axis.key) for axis in plan.axes]
    costs += [(plan.step.bubble, "Bubble", "muted"), (0.0, "Compute", "compute")]
    worst, name, color = max(costs)
    badge = Badge(
        text=name,
        sentence=say(
            "After computation, this is the largest part of the step: {t} of {s}.",
            t=(worst, SECONDS),
            s=(plan.step.total, SECONDS),
        )
        if worst
        else "The step computes all the time.",
        color=color,
    )
    return with_fit(badge, plan.fit)


def possible(inputs: Inputs, result: Result) -> Badge:
    """Return whether every size divides, in words."""
    run = result.plan.run
    badge = run_possible(run, result.plan.doubts, result.changes)
    if badge.text != "Possible":
        return badge
    if run.plan.virtual_pipeline > 1 and (inputs.off_first or inputs.off_last):
        sentence = "Virtual stages stay as they are; no layer was moved."
        return Badge(text="Not moved", sentence=sentence, color="communication")
    words = "Every size divides."
    if run.plan.stage_layers:
        words = f"Cut by hand: {', '.join(map(str, run.plan.stage_layers[:16]))} layers."
    return Badge(text="Possible", sentence=words, color="compute")


# The pictures and tables of the modeler.

# What a published calculator calls too low.
THRESHOLD = 0.8
_WAITS = (("bubble", "muted"), ("optimizer", "memory"), ("other", "ink"))


def bandwidths(plan: ModeledPlan) -> Bars:
    """Return each axis's required bandwidth, and the bandwidth of its link."""
    bars = []
    for axis in plan.axes:
        label = f"{axis.label} of {axis.ranks:,}"
        bars += [
            _bar(f"{axis.key}_needs", f"{label} needs", axis.required_bandwidth, axis.key),
            _bar(f"{axis.key}_has", f"{label} has, {axis.wire}", axis.bandwidth, "muted"),
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


def axes(plan: ModeledPlan) -> Table:
    """Return bytes, messages, and times of every axis in words."""
    rows: list[tuple[Text, ...]] = [
        (
            f"{axis.label} of {axis.ranks:,}: {axis.description}",
            say("{b}", b=(axis.sent, BYTES)),
            say("{n}", n=(round(axis.messages), COUNT)),
            say("{e} of {t}", e=(axis.exposed, SECONDS), t=(axis.alone, SECONDS)),
        )
        for axis in plan.axes
    ]
    return Table(
        title="What a GPU sends in a step",
        columns=("Axis", "Bytes", "Messages", "Exposed, of alone"),
        rows=tuple(rows),
        caption="A GPU of a middle stage; with DP, of an end stage, which also sums the gradients "
        "of an embedding. Alone: the mean stage; exposed: what the step waits for, on the slowest. "
        "SP is not an axis of its own: it cuts the all-reduces of TP into two halves.",
    )


def breakdown(plan: ModeledPlan) -> Bars:
    """Return the step as planned, and with nothing hidden."""
    step = plan.step
    waits = [(key, key, getattr(step, key), color) for key, color in _WAITS]

    def bar(key: str, label: str, *, alone: bool) -> Bar:
        sent = [(a.key, a.label, a.alone if alone else a.exposed, a.key) for a in plan.axes]
        parts = [("compute", "compute", step.compute, "compute"), *sent, *waits]
        segments = [Segment(key=k, label=w, value=v, color=c) for k, w, v, c in parts]
        return Bar(key=key, label=label, segments=tuple(segments))

    bars = (bar("set", "as set", alone=False), bar("alone", "nothing hidden", alone=True))
    most = max(sum(part.value for part in bar.segments) for bar in bars)
    return Bars(
        title="Where a step goes, with and without overlap",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=1.02 * most),
        bars=bars,
    )


def utilization_curve(present: Presenter, result: Result) -> Lines:
    """Return the share of the step that computes over the micro-batches: closed form and model."""
    now = result.plan.step.compute / result.plan.step.total
    enough = THRESHOLD / (1 - THRESHOLD) * (result.stages - 1) / result.pieces
    rules = [Rule(key="threshold", label=say("{s}", s=(THRESHOLD, SHARE)), axis="y", at=THRESHOLD)]
    if 1 <= enough <= MOST_MICROBATCHES:
        label = say("from {m}", m=(enough, COUNT))
        rules.append(Rule(key="enough", label=label, axis="x", at=enough))
    point = Point(key="now", label=say("{e}", e=(now, SHARE)), x=result.microbatches, y=now)
    return present.curve(
        "Share of the step that computes, against micro-batches",
        over=Scale(COUNT, "micro-batches of a step", 1, MOST_MICROBATCHES, log=True),
        shows=Scale(SHARE, "share of the step", 0.0, 1.0),
        x=result.column,
        lines=(
            Line("closed", "bubble alone", result.closed, "ink", dashed=True),
            Line("model", "step model", result.modeled(), "compute"),
        ),
        handle="num_microbatches",
        marked=False,
        points=(point,),
        rules=tuple(rules),
        caption="Drag the handle: more micro-batches make a larger batch.",
    )


def same_batch(result: Result) -> Table:
    """Return boundary traffic over the number of micro-batches at a fixed batch size."""
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


# Advice on fewer GPU hours, with side effects; and the challenge.


def advice(inputs: Inputs, result: Result) -> Advice:
    """Return changes that lower the GPU time per token, with their side effects.

    What does not fit is not among them, nor what makes a plan tight; a plan that does not fit
    itself needs what makes it fit.
    """
    plan, labels = result.plan, _labels(inputs)
    now = plan.token_time
    allowed = {"fits", plan.fit.verdict} - {"does not fit"}
    remedies = [
        Remedy(
            key=key,
            label=labels[key],
            change=change,
            after=after.token_time,
            side_effect=_side_effects(plan, after),
        )
        for key, (change, after) in result.changed().items()
        if after.fit.verdict in allowed
    ]
    useful = [remedy for remedy in remedies if not plan.fit.runs or remedy.after < now * 0.9995]
    useful.sort(key=lambda remedy: remedy.after)
    return Advice(
        title="What would help",
        verdict=_verdict(plan, useful),
        figure="GPU time for a million tokens",
        now=now,
        quantity=GPU_TIME,
        remedies=tuple(useful[:8]),
        enabling=not plan.fit.runs,
    )


def _verdict(plan: ModeledPlan, useful: list[Remedy]) -> Text:
    if not plan.fit.runs and useful:
        return "This plan does not fit. Each line is one change after which it fits."
    if not plan.fit.runs:
        return "This plan does not fit, and no single change here makes it fit."
    if not useful:
        return "Nothing here makes tokens cheaper."
    step = plan.step
    return say(
        "The step computes for {c} of its time, the bubble takes {b}, exposed communication "
        "{e}. Each line gives the GPU time for a million tokens after one change.",
        c=(step.compute / step.total, SHARE),
        b=(step.bubble / step.total, SHARE),
        e=(plan.exposed / step.total, SHARE),
    )


def _side_effects(before: ModeledPlan, after: ModeledPlan) -> Sentence:
    """Return side effects: GPUs, batch, memory, and uneven divisions."""
    numbers: dict[str, tuple[float, Quantity]] = {}
    words: list[str] = []
    pairs = (
        (
            "n",
            f"{{n}} {pluralize(after.run.plan.world_size, 'GPU')}",
            before.run.plan.world_size,
            after.run.plan.world_size,
            COUNT,
        ),
        (
            "b",
            f"a batch of {{b}} {pluralize(after.run.training.global_batch_size, 'sequence')}",
            before.run.training.global_batch_size,
            after.run.training.global_batch_size,
            COUNT,
        ),
        (
            "m",
            "{m} on the GPU that holds most",
            before.stages[before.fullest].memory.total,
            after.stages[after.fullest].memory.total,
            BYTES,
        ),
    )
    for key, phrase, old, new, quantity in pairs:
        if abs(new - old) > 1e-3 * old:
            words.append(phrase)
            numbers[key] = (float(new), quantity)
    words += _uneven(after)
    return say(", ".join(words) or "nothing else changes", **numbers)


def _uneven(plan: ModeledPlan) -> list[str]:
    if sizes := plan.doubts.pieces:
        return [f"{plan.run.model.num_layers} layers do not divide by {len(sizes)}"]
    return ["but " + note.replace("_", " ").rstrip(".") for note in plan.doubts.problems[:1]]


def _labels(inputs: Inputs) -> dict[str, Text]:
    """Return the labels of the changes."""
    batches, stages, tensor = (
        inputs.num_microbatches,
        inputs.pipeline_parallel,
        inputs.tensor_parallel,
    )
    return {
        "microbatches": say("{m} micro-batches", m=(2 * batches, COUNT)),
        "larger": say(
            f"{{m}} {pluralize(batches // 2, 'micro-batch')} of {{b}}",
            m=(batches // 2, COUNT),
            b=(2 * inputs.micro_batch_size, COUNT),
        ),
        "stages": _stages(stages - 1),
        "half_stages": _stages(stages // 2),
        "less_tensor": say("Tensor parallelism of {t}", t=(tensor // 2, COUNT)),
        "more_tensor": say("Tensor parallelism of {t}", t=(2 * tensor, COUNT)),
        "context": say("Context parallelism of {c}", c=(inputs.context_parallel // 2, COUNT)),
        "interleaved": say(
            "Interleaved, {v} virtual stages per rank", v=(inputs.virtual_pipeline, COUNT)
        ),
        "zero_bubble": "Zero bubble, ZB-1p",
        "overlap": "Tensor parallelism beside products",
        "sequence": "Sequence parallelism",
        "recompute": "Recompute nothing",
        "port": say("Ports of {b}", b=(2 * inputs.nic_bandwidth, LINK_SPEED)),
        "off_last": "One layer off the last stage",
        "off_ends": "One layer off both ends",
    }


def _stages(count: int) -> Text:
    return say("{p} stages" if count > 1 else "{p} stage", p=(count, COUNT))


_CHALLENGE_INPUTS: Change = {
    "model": "llama-3-70b",
    "gpu": "H100-SXM",
    "sequence_length": 4096,
    "gpus_per_node": 8,
    "nics_per_node": 8,
    "nic_bandwidth": 50e9,
    "precision": "bf16",
    "framework": "megatron",
    "context_parallel": 1,
}
START: Change = {"tensor_parallel": 8, "pipeline_parallel": 4, "data_parallel": 4}
SOLUTION: Change = {
    "tensor_parallel": 4,
    "pipeline_parallel": 4,
    "data_parallel": 8,
    "num_microbatches": 32,
    "schedule": "interleaved",
    "virtual_pipeline": 5,
    "overlap": True,
}


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the challenge: little waiting on the same GPUs."""
    plan = result.plan
    run, step = plan.run, plan.step
    unchanged = all(getattr(inputs, name) == value for name, value in _CHALLENGE_INPUTS.items())
    conditions = (
        Condition(
            text="Llama 3 70B on 128 H100 with their network as at the start, sequences of 4,096",
            met=unchanged and run.plan.world_size == 128,
        ),
        Condition(
            text="at most 256 sequences in a step", met=run.training.global_batch_size <= 256
        ),
        Condition(text="every GPU holds its part", met=plan.fit.verdict == "fits"),
        Condition(
            text=say("a bubble of at most {b} of the step", b=(0.05, SHARE)),
            met=step.bubble <= 0.05 * step.total,
        ),
        Condition(
            text=say("exposed communication of at most {e} of the computation", e=(0.1, SHARE)),
            met=result.ratio <= 0.1,
        ),
    )
    return Challenge(
        title="Challenge: 128 GPUs that do not wait",
        goal="Split the same model on the same GPUs so that the step waits for next to nothing.",
        conditions=conditions,
        hints=(
            "The axis that sends most is the one to make smaller. What takes its place?",
            "Pieces of a stage shrink the bubble without a larger batch.",
            "Some software runs the collectives of a layer beside its products.",
        ),
        start=START,
        solution=SOLUTION,
    )
