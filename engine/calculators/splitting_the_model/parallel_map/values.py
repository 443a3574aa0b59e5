"""Values and verdicts of the map."""

from collections.abc import Sequence

from engine.calculators.splitting_the_model.parallel_map.result import ORDER, Result
from engine.core.equation import Equation
from engine.core.outputs import Presenter
from engine.core.text import Sentence, Text, escape_braces, say
from engine.core.units import SECONDS, SHARE, Seconds
from engine.core.views import Badge, Value
from engine.form.plural import pluralize
from engine.form.run.equations import STEP
from engine.form.run.prediction_text import range_text, value_with_range
from engine.form.step_parts import step_symbols
from engine.simulate.layer.device_model import Axis

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
