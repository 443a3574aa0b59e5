"""The numbers of the map, its verdicts, and what a swap of two axes costs."""

from collections.abc import Mapping, Sequence

from engine.basis.equation import Equation
from engine.basis.text import Sentence, Text, say, words
from engine.basis.units import BYTES, COUNT, SECONDS, SHARE, Quantity, Seconds
from engine.basis.views import (
    Badge,
    Receipt,
    Value,
)
from engine.calculators.splitting_the_model.parallel_map.model import Map, exposed, leaving
from engine.form.run.views import STEP
from engine.simulate.rank import Axis
from engine.simulate.step_time import StepTime

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
_SIZES: Mapping[str, Axis] = {"t": "tensor", "c": "context", "d": "data", "p": "pipeline"}
_MODEL: tuple[Axis, ...] = ("tensor", "context", "expert", "pipeline")
ORDER: Text = "Links as the order of the ranks places them; each GPU has its share of the ports."


def values(found: Map) -> dict[str, Value]:
    """Return the numbers."""
    step, mesh = found.step, found.mesh
    waits = step.data_parallel + sum(exposed(step, axis) for axis in _MODEL)
    sizes = {key: float(mesh.sizes[axis]) for key, axis in _SIZES.items()}
    tensor = found.traffic.get("tensor")
    modelled = Receipt(
        assumptions=(ORDER, "The cost model of the estimates, whose error other pages measure."),
        sources=("narayanan2021", "korthikanti2022"),
    )
    return {
        "world_size": Value(
            label="GPUs",
            value=float(mesh.world_size),
            quantity=COUNT,
            receipt=Receipt(
                basis="definition",
                equation=WORLD,
                symbols={"n": (float(mesh.world_size), COUNT)}
                | {key: (value, COUNT) for key, value in sizes.items()},
                inputs={key: f"{axis}_parallel" for key, axis in _SIZES.items()},
                assumptions=("Sequence and expert parallelism reuse ranks and add none.",),
            ),
            note=say("on {n} nodes", n=(mesh.num_nodes, COUNT)),
        ),
        "step": Value(
            label="Step",
            value=step.total,
            quantity=SECONDS,
            receipt=Receipt(equation=STEP, symbols=_symbols(step), assumptions=(ORDER,)),
            note=say("{w} of it waits for communication", w=(waits / step.total, SHARE)),
        ),
        "worst_swap": _worst(found),
        "waits": Value(
            label="Exposed communication",
            value=waits,
            quantity=SECONDS,
            receipt=modelled,
            note="of all axes, per step",
            color="communication",
        ),
        "tensor_waits": Value(
            label="Exposed tensor parallelism",
            value=step.tensor_parallel,
            quantity=SECONDS,
            receipt=modelled,
            note=say("over {b} per GPU", b=(tensor.sent if tensor else 0.0, BYTES)),
            color="tensor",
        ),
        "tensor_leaves": Value(
            label="Tensor-parallel bytes that leave a node",
            value=tensor.across if tensor else 0.0,
            quantity=SHARE,
            receipt=Receipt(
                basis="simulated",
                assumptions=("Counted link by link, rings in the order of the ranks.",),
            ),
            color="tensor",
        ),
        "leaves": Value(
            label="Leaves its node, per GPU",
            value=leaving(found),
            quantity=BYTES,
            receipt=Receipt(
                basis="simulated",
                assumptions=(
                    "The sum over the axes of what a GPU sends, times the share of links that lead "
                    "to another node.",
                ),
            ),
            note="per step, all axes",
        ),
    }


def _worst(found: Map) -> Value:
    """Return the step after the most expensive swap of two axes; as set, if there is none."""
    worst = max(found.swaps, key=lambda swap: swap.step.total, default=None)
    step = worst.step if worst else found.step
    swapped = f"{worst.first} and {worst.second} swapped" if worst else "nothing to swap"
    return Value(
        label="Step after the worst swap of two axes",
        value=step.total,
        quantity=SECONDS,
        receipt=Receipt(equation=STEP, symbols=_symbols(step), assumptions=(ORDER,)),
        note=swapped,
    )


def _symbols(step: StepTime) -> dict[str, tuple[float, Quantity]]:
    between = sum(exposed(step, axis) for axis in _MODEL)
    return {
        "T": (step.total, SECONDS),
        "C": (step.compute, SECONDS),
        "X": (between, SECONDS),
        "D": (step.data_parallel, SECONDS),
        "W": (step.bubble, SECONDS),
        "O": (step.optimizer, SECONDS),
        "R": (step.other, SECONDS),
    }


def regime(found: Map) -> Badge:
    """Return which axis binds the step, if one does."""
    step = found.step
    waits: dict[Axis, Seconds] = {axis: exposed(step, axis) for axis in found.traffic}
    worst = max(waits, key=lambda axis: waits[axis], default=None)
    if worst and waits[worst] > max(0.05 * step.total, step.bubble):
        nodes = found.wires[worst].nodes
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


def legal(found: Map) -> Badge:
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
            template.append(words(text).replace("{", "{{").replace("}", "}}"))
            continue
        part = text.template
        for key, value in text.numbers.items():
            part = part.replace(f"{{{key}}}", f"{{{key}{index}}}")
            numbers[f"{key}{index}"] = value
        template.append(part)
    return Sentence(" ".join(template), numbers)
