"""The numbers of the map, its verdicts, and what a swap of two axes costs."""

from collections.abc import Sequence

from engine.calculators.splitting_the_model.parallel_map.result import ORDER, Result
from engine.core.equation import Equation
from engine.core.outputs import Teller
from engine.core.text import Sentence, Text, literal, say
from engine.core.units import SECONDS, SHARE, Seconds
from engine.core.views import Badge, Value
from engine.form.plural import noun
from engine.form.run.equations import STEP
from engine.form.run.prediction_text import near, ranged
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


def values(tell: Teller, result: Result) -> dict[str, Value]:
    """Return the numbers."""
    plan = result.plan
    worst = max(plan.swaps, key=lambda swap: swap.step.total, default=None)
    swapped = f"{worst.first} and {worst.second} swapped" if worst else "nothing to swap"
    sizes = {"t": "tensor", "c": "context", "d": "data", "p": "pipeline"}
    return {
        "world_size": tell.value(
            "world_size",
            symbols=sizes,
            note=f"on {{num_nodes}} {noun(result.num_nodes, 'node')}",
        ),
        "step": ranged(
            tell, "step", plan.evidence, symbols=step_symbols(plan.step), assumes=(ORDER,)
        ),
        "worst_swap": tell.value(
            "worst_swap",
            equation=STEP,
            symbols=step_symbols(worst.step if worst else plan.step),
            note=swapped,
            assumes=(ORDER, near(plan.evidence)),
        ),
        **tell.values("waits", "tensor_waits", "tensor_leaves", "leaves"),
    }


def regime(found: Result) -> Badge:
    """Return which axis binds the step, if one does."""
    step = found.plan.step
    waits: dict[Axis, Seconds] = {axis: found.plan.exposed(axis) for axis in found.plan.traffic}
    worst = max(waits, key=lambda axis: waits[axis], default=None)
    if worst and waits[worst] > max(0.05 * step.total, step.bubble):
        nodes = found.plan.wires[worst].nodes
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


def legal(found: Result) -> Badge:
    """Return whether the plan is possible as asked, and in words what is not."""
    if not found.notes:
        return Badge(
            text="Possible",
            sentence="The sizes divide the model, the batch and the nodes.",
            color="compute",
        )
    return Badge(
        text="Refused by Megatron-LM" if found.refused else "Not as asked, or uneven",
        sentence=joined(found.notes),
        color="accent",
    )


def joined(texts: Sequence[Text]) -> Sentence:
    """Return the texts as one, their numbers kept."""
    template, numbers = [], {}
    for index, text in enumerate(texts):
        if isinstance(text, str):
            template.append(literal(text))
            continue
        part = text.template
        for key, value in text.numbers.items():
            part = part.replace(f"{{{key}}}", f"{{{key}{index}}}")
            numbers[f"{key}{index}"] = value
        template.append(part)
    return Sentence(" ".join(template), numbers)
