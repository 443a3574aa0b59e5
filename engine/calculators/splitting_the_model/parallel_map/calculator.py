"""The map: which GPU talks to which, over which link, in any order of the axes."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import partial

from engine.calculators.splitting_the_model.parallel_map import tables
from engine.calculators.splitting_the_model.parallel_map.result import (
    ORDER,
    Inputs,
    Result,
    order_of,
)
from engine.calculators.splitting_the_model.parallel_map.result import PRESETS as PRESETS
from engine.calculators.splitting_the_model.parallel_map.result import solve as solve
from engine.calculators.splitting_the_model.parallel_map.scenes import matrix, order_strip, scene
from engine.core.equation import Equation
from engine.core.inputs import Scalar
from engine.core.outputs import Presenter, Views
from engine.core.parsing import exact_text
from engine.core.text import Sentence, Text, escape_braces, say
from engine.core.units import COUNT, SECONDS, SHARE, Seconds, with_digits
from engine.core.views import (
    Advice,
    Badge,
    Bar,
    Bars,
    CalculatorLink,
    Cell,
    Challenge,
    Condition,
    Remedy,
    Segment,
    Table,
    Value,
)
from engine.core.views import Axis as ChartAxis
from engine.form.axis_names import SHORT
from engine.form.plural import pluralize
from engine.form.run.equations import STEP
from engine.form.run.prediction_text import range_text, value_with_range
from engine.form.step_parts import step_symbols
from engine.simulate.layer.device_model import Axis
from engine.simulate.step.mapped_plan import TimedMapping

# Values and verdicts of the map.

WORLD = Equation(
    name="world_size",
    tex=r"\v{n} = \v{t}\,\v{c}\,\v{d}\,\v{p}",
    symbols={
        "n": ("n", "GPUs"),
        "t": ("t", "tensor-parallel ranks"),
        "c": ("c", "context-parallel ranks"),
        "d": ("d", "data-parallel ranks"),
        "p": ("p", "pipeline stages"),
    },
    sources=("narayanan2021", "torchtitan_dims"),
)


def values(present: Presenter, result: Result) -> dict[str, Value]:
    """Return the numbers."""
    plan = result.plan
    worst = max(plan.swaps, key=lambda swap: swap.step.total, default=None)
    swapped = f"{worst.first} and {worst.second} swapped" if worst else "nothing to swap"
    sizes = {"t": "tensor", "c": "context", "d": "data", "p": "pipeline"}
    return {
        "world_size": present.value(
            "world_size",
            symbols=sizes,
            note=f"on {{num_nodes}} {pluralize(result.num_nodes, 'node')}",
        ),
        "step": value_with_range(
            present, "step", plan.evidence, symbols=step_symbols(plan.step), assumes=(ORDER,)
        ),
        "worst_swap": present.value(
            "worst_swap",
            equation=STEP,
            symbols=step_symbols(worst.step if worst else plan.step),
            note=swapped,
            assumes=(ORDER, range_text(plan.evidence)),
        ),
        **present.values("waits", "tensor_waits", "tensor_leaves", "leaves"),
    }


def regime(result: Result) -> Badge:
    """Return a badge with the axis that limits the step, if any."""
    step = result.plan.step
    waits: dict[Axis, Seconds] = {axis: result.plan.exposed(axis) for axis in result.plan.traffic}
    worst = max(waits, key=lambda axis: waits[axis], default=None)
    if worst and waits[worst] > max(0.05 * step.total, step.bubble):
        nodes = result.plan.wires[worst].nodes
        link = "NVLink" if nodes == 1 else "the network"
        return Badge(
            text=f"{worst.capitalize()} parallelism, on {link}",
            sentence=say(
                "It keeps the step waiting for {t}, {s} of it.",
                t=(waits[worst], SECONDS),
                s=(waits[worst] / step.total, SHARE),
            ),
            color=worst,
        )
    if step.bubble > 0.05 * step.total:
        return Badge(
            text="Bubble",
            sentence=say(
                "No axis is slow; the pipeline fills and drains for {s} of the step.",
                s=(step.bubble / step.total, SHARE),
            ),
            color="pipeline",
        )
    return Badge(
        text="Compute",
        sentence=say("No axis keeps the step waiting for more than {s} of it.", s=(0.05, SHARE)),
        color="compute",
    )


def plan_verdict(result: Result) -> Badge:
    """Return whether the plan is possible as configured, and its problems in words."""
    if not result.notes:
        return Badge(
            text="Possible",
            sentence="The sizes divide the model, the batch and the nodes.",
            color="compute",
        )
    return Badge(
        text="Refused by Megatron-LM" if result.refused else "Not as asked, or uneven",
        sentence=join_texts(result.notes),
        color="accent",
    )


def join_texts(texts: Sequence[Text]) -> Sentence:
    """Return the texts joined into a sentence, numbers preserved."""
    template, numbers = [], {}
    for index, text in enumerate(texts):
        if isinstance(text, str):
            template.append(escape_braces(text))
            continue
        part = text.template
        for key, value in text.numbers.items():
            part = part.replace(f"{{{key}}}", f"{{{key}{index}}}")
            numbers[f"{key}{index}"] = value
        template.append(part)
    return Sentence(" ".join(template), numbers)


# Cost of swapping two axes: bars, advice and table.


def orders(inputs: Inputs, result: Result) -> Bars:
    """Return step-time breakdowns of the set order and of each swap of two axes."""
    rows: list[tuple[str, str, TimedMapping]] = [("now", _order_label(inputs.order), result.plan)]
    rows += [
        (order_of(swap.order), _order_label(order_of(swap.order)), swap)
        for swap in result.plan.swaps
    ]
    longest = max(stepped.step.total for _, _, stepped in rows)
    return Bars(
        title="The step, and what it would be after each swap of two axes",
        axis=ChartAxis(label="step", quantity=SECONDS, low=0.0, high=longest * 1.02),
        bars=tuple(
            Bar(key=key, label=label, segments=_segments(result, stepped))
            for key, label, stepped in rows
        ),
        caption="The first bar is the order as set. Same GPUs, same groups, same bytes: only the "
        "wires differ. Computation includes the collectives of the output layer, so it is longer "
        "where tensor parallelism leaves the node.",
    )


def _order_label(order: str) -> str:
    return order.replace("-", " · ").upper()


def _segments(result: Result, stepped: TimedMapping) -> tuple[Segment, ...]:
    step = stepped.step
    parts = [Segment(key="compute", label="computation", value=step.compute, color="compute")]
    parts += [
        Segment(key=axis, label=f"{axis} parallel", value=stepped.exposed(axis), color=axis)
        for axis in result.plan.traffic
    ]
    all_else = step.total - sum(part.value for part in parts)
    parts.append(
        Segment(key="rest", label="bubble and rest", value=max(0.0, all_else), color="muted")
    )
    return tuple(parts)


def swaps(result: Result) -> Advice:
    """Return advice: swaps of two axes that shorten the step."""
    better = [
        swap for swap in result.plan.swaps if swap.step.total < 0.9995 * result.plan.step.total
    ]
    remedies = tuple(
        Remedy(
            key=order_of(swap.order),
            label=f"Swap {swap.first} and {swap.second}: {_order_label(order_of(swap.order))}",
            change={"order": order_of(swap.order)},
            after=swap.step.total,
            side_effect=_largest_change(result, swap),
        )
        for swap in sorted(better, key=lambda swap: swap.step.total)
    )
    verdict: Text = "No swap of two axes shortens the step."
    if not result.fit.runs:
        remedies = ()
        verdict = "This plan does not fit into memory, and no order of the ranks changes that."
    if remedies:
        saved = result.plan.step.total - remedies[0].after
        verdict = say("The best swap saves {t} per step.", t=(saved, SECONDS))
    return Advice(
        title="A better order",
        verdict=verdict,
        figure="step",
        now=result.plan.step.total,
        quantity=SECONDS,
        remedies=remedies,
    )


def _largest_change(result: Result, after: TimedMapping) -> Text:
    """Return a sentence about the axis with the largest change of exposed time."""
    change: dict[Axis, Seconds] = {
        axis: after.exposed(axis) - result.plan.exposed(axis) for axis in result.plan.traffic
    }
    most = max(change, key=lambda axis: abs(change[axis]))
    if abs(change[most]) < 0.0005 * result.plan.step.total:
        return "no axis waits longer or shorter"
    more = "more" if change[most] > 0 else "less"
    return say(f"{SHORT[most]} waits {{t}} {more}", t=(abs(change[most]), SECONDS))


def swap_table(inputs: Inputs, result: Result) -> Table:
    """Return a table of all swaps of two axes: step time, change, and a link to apply it."""
    rows: list[tuple[Cell, ...]] = [
        (
            f"{swap.first} and {swap.second}",
            _order_label(order_of(swap.order)),
            say("{t}", t=(swap.step.total, SECONDS)),
            _difference(result.plan.step.total, swap.step.total),
            _largest_change(result, swap),
            CalculatorLink("swap", "parallel_map", _swap_query(inputs, order_of(swap.order))),
        )
        for swap in result.plan.swaps
    ]
    return Table(
        title="What a swap of two axes costs",
        columns=("Swap", "Order, innermost first", "Step", "Change", "Because", ""),
        rows=tuple(rows) or (("only one axis has more than one rank", *["-"] * 5),),
        caption="The GPUs, the groups' sizes and the bytes stay as they are.",
    )


def _difference(before: Seconds, after: Seconds) -> Text:
    if abs(after - before) < 0.0005 * before:
        return "none"
    sign = "+" if after > before else "-"
    return say(f"{sign}{{t}}", t=(abs(after - before), SECONDS))


def _swap_query(inputs: Inputs, order: str) -> str:
    """Return the inputs that differ from the defaults, as in an address, with another order."""
    default = Inputs()
    pairs = {name: getattr(inputs, name) for name in (field.name for field in fields(Inputs))}
    changed = {k: v for k, v in pairs.items() if v != getattr(default, k)} | {"order": order}
    return "&".join(f"parallel_map.{name}={exact_text(value)}" for name, value in changed.items())


# A challenge on the map: let nothing but pipeline messages leave a node.

_GPUS, _PARTS, _WAITS = 64, 16, 0.1
START: Mapping[str, Scalar] = {
    "model": "llama-3-70b",
    "tensor_parallel": 8,
    "data_parallel": 4,
    "pipeline_parallel": 2,
    "order": "dp-cp-pp-tp",
    "sequence_length": 8192,
    "micro_batch_size": 1,
    "num_microbatches": 64,
}
SOLUTION: Mapping[str, Scalar] = {
    **START,
    "tensor_parallel": 2,
    "data_parallel": 4,
    "pipeline_parallel": 8,
    "order": "tp-cp-dp-pp",
}


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the challenge for the inputs."""
    mesh, plan, step = result.plan.mesh, result.plan.run.plan, result.plan.step
    across = {axis: traffic.across for axis, traffic in result.plan.traffic.items()}
    waits = step.tensor_parallel + step.data_parallel + step.pipeline
    parts = plan.tensor_parallel * plan.pipeline_parallel
    model_fixed = (inputs.model, inputs.machine, inputs.sequence_length, inputs.gpus_per_node) == (
        START["model"],
        "dgx-h100",
        START["sequence_length"],
        8,
    )
    conditions = (
        Condition(
            text=say(
                "Llama 3 70B, sequences of 8,192 tokens, on {n} H100 in nodes of eight",
                n=(_GPUS, COUNT),
            ),
            met=model_fixed and mesh.world_size == _GPUS,
        ),
        Condition(
            text=say("the model cut into at least {n} parts (TP x PP), to fit", n=(_PARTS, COUNT)),
            met=parts >= _PARTS,
        ),
        Condition(text="no tensor-parallel byte leaves a node", met=across.get("tensor", 0.0) == 0),
        Condition(text="no gradient leaves a node", met=across.get("data", 0.0) == 0),
        Condition(
            text=say(
                "less than {s} of the step waits for communication", s=(_WAITS, with_digits(SHARE))
            ),
            met=waits < _WAITS * step.total,
        ),
    )
    return Challenge(
        title="Challenge: only pipeline messages may leave a node",
        goal="Change sizes and order until the fast links carry everything but the activations "
        "between stages.",
        conditions=conditions,
        hints=(
            "A node has room for eight ranks: the product of the axes that stay inside it.",
            "Pipeline messages are the smallest. Put PP last and give it as many stages as nodes.",
        ),
        start=START,
        solution=SOLUTION,
    )


TITLE = "The map"
QUESTION = "Which GPU talks to which, how much, and over which link?"
HEADLINE = "step"
EQUATIONS = (WORLD, STEP)


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    return {
        "map": partial(scene, result),
        "regime": regime(result),
        "legal": plan_verdict(result),
        **values(Presenter(inputs, result, equations=EQUATIONS), result),
        "gpu": partial(tables.gpu_table, result),
        "matrix": partial(matrix, result),
        "order_strip": partial(order_strip, result),
        "orders": orders(inputs, result),
        "swap_table": swap_table(inputs, result),
        "swaps": swaps(result),
        "axes": partial(tables.mesh_table, result),
        "traffic": tables.traffic_table(result),
        "nature": tables.nature_table(result),
        "challenge": challenge(inputs, result),
    }
