"""ZeRO-1, step by step: a model of 260 parameters on up to eight GPUs, every number computed."""

import math
from dataclasses import dataclass
from typing import Annotated

from engine.basis.inputs import Choice, Number
from engine.basis.text import say, significant, typeset
from engine.basis.units import BYTES, COUNT, PARAMETERS
from engine.basis.views import Badge, Receipt, Table, Value, View
from engine.calculators.data_parallelism.zero_steps.record import Record, record
from engine.draw.sharded_step import sharded_scene
from engine.formulas.states import MIXED_PRECISION, ZERO_MEMORY, sharded_states
from engine.formulas.volumes import ZERO_BYTES, gradient_passes, parameter_passes, zero_bytes_sent
from engine.tiny.result import difference

TITLE = "One step of ZeRO-1, every number computed"
QUESTION = "Who needs to own the optimizer?"
EQUATIONS = (ZERO_MEMORY, ZERO_BYTES)
PRESETS = {
    "Plain data parallelism, for comparison": {"zero_stage": "0"},
    "Eight GPUs, three steps": {"ranks": 8, "steps": 3},
}
SIZE = 260
# In mixed precision, gradients and parameters travel in two bytes.
HALF = 2.0
# The last digits depend on the order of a sum, and on the machine's exponential function.
LEAST = 1e-14


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    ranks: Annotated[int, Number(label="GPUs", low=1, high=8, whole=True, symbol="N")] = 4
    zero_stage: Annotated[
        str,
        Choice(
            label="Optimizer states",
            options={"1": "each GPU its share (ZeRO-1)", "0": "all on every GPU (DDP)"},
        ),
    ] = "1"
    place: Annotated[
        int,
        Number(
            label="Number shown of every share",
            low=1,
            high=SIZE,
            whole=True,
            help="Counted from the start of a share; beyond its end it starts again.",
        ),
    ] = 41
    steps: Annotated[int, Number(label="Steps", low=1, high=3, whole=True)] = 1
    learning_rate: Annotated[
        float, Number(label="Learning rate", low=1e-4, high=0.1, scale="log")
    ] = 0.01


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the scene, the comparison with one GPU, and what was held and sent."""
    stage = int(inputs.zero_stage)
    found = record(inputs.ranks, stage, inputs.steps, inputs.learning_rate)
    off = difference(found.run, found.alone)
    return {
        "scene": sharded_scene(
            found.trace, found.alone.parameters, inputs.place - 1, sharded=stage == 1
        ),
        "equal": _equal(off),
        "digits": _digits(off),
        "held": _held(inputs, found),
        "held_formula": _held_formula(inputs, stage),
        "sent": _sent(inputs, found),
        "sent_formula": _sent_formula(inputs, stage),
        "follow": _follow(inputs, found),
    }


def _equal(off: float) -> Badge:
    least = max(off, LEAST)
    bound = "less than" if off < LEAST else "up to"
    how = f"by {bound} {typeset(significant(least, 2))} of the largest"
    same = off <= 1e-12
    return Badge(
        text="Equal to one GPU" if same else "Not equal",
        sentence=say(
            f"After the last step the {{n}} parameters differ {how} from those of one GPU that "
            "was given the whole batch.",
            n=(SIZE, COUNT),
        ),
        color="parameters" if same else "communication",
    )


def _digits(off: float) -> Value:
    return Value(
        label="Digits that agree",
        value=14.0 if off < LEAST else round(-math.log10(off), 1),
        quantity=COUNT,
        receipt=Receipt(
            basis="simulated",
            assumptions=(
                "Both runs in double precision, which has not quite sixteen digits. Sums over the "
                "GPUs are formed in the order of the ring, so that the last digits may differ.",
                "On a real GPU, in bf16, the order of the sums changes more digits; the method is "
                "as exact.",
            ),
            sources=("rajbhandari2020",),
        ),
        note="of fourteen that are compared",
        color="parameters",
    )


def _held(inputs: Inputs, found: Record) -> Value:
    held = max(own.size(MIXED_PRECISION) for own in found.run.held)
    numbers = found.run.held[0]
    return Value(
        label="Held by each GPU",
        value=held,
        quantity=BYTES,
        receipt=Receipt(
            basis="simulated",
            assumptions=(
                say(
                    "Counted in the run: {p} parameters and {g} gradients of 2 bytes, {o} numbers "
                    "of the optimizer (copy, first and second moment) of 4 bytes.",
                    p=(numbers.parameters, COUNT),
                    g=(numbers.gradients, COUNT),
                    o=(numbers.optimizer, COUNT),
                ),
                "Activations and buffers are left out.",
            ),
            sources=("rajbhandari2020",),
        ),
        note=say("{o} numbers of the optimizer among them", o=(numbers.optimizer, COUNT)),
        color="optimizer",
    )


def _held_formula(inputs: Inputs, stage: int) -> Value:
    states = sharded_states(SIZE, MIXED_PRECISION, stage, inputs.ranks)
    total = states.parameters + states.gradients + states.optimizer
    return Value(
        label="By the formula",
        value=total,
        quantity=BYTES,
        receipt=Receipt(
            equation=ZERO_MEMORY,
            symbols={
                "M": (total, BYTES),
                "P": (float(SIZE), PARAMETERS),
                "p": (MIXED_PRECISION.parameter, BYTES),
                "g": (MIXED_PRECISION.gradient, BYTES),
                "o": (MIXED_PRECISION.optimizer, BYTES),
                "a": (1, COUNT),
                "b": (1, COUNT),
                "c": (inputs.ranks if stage else 1, COUNT),
            },
            inputs={"c": "ranks"},
            assumptions=("No padding.",),
        ),
        note=_padding_words(inputs, stage),
        color="optimizer",
    )


def _padding_words(inputs: Inputs, stage: int) -> str:
    rest = -SIZE % inputs.ranks
    if not stage or not rest:
        return "the same as counted"
    return f"without the {rest} zeros that fill up the last share"


def _sent(inputs: Inputs, found: Record) -> Value:
    numbers = max(sum(own[rank] for own in found.run.sent.values()) for rank in range(inputs.ranks))
    return Value(
        label="Sent by each GPU in a step",
        value=numbers * HALF / inputs.steps,
        quantity=BYTES,
        receipt=Receipt(
            basis="simulated",
            assumptions=(
                "Every message of the run was counted, at two bytes a number, as in bf16.",
                "The collectives run as rings.",
            ),
            sources=("patarasuk2009",),
        ),
        note=say("{n} numbers", n=(numbers // inputs.steps, COUNT)),
        color="communication",
    )


def _sent_formula(inputs: Inputs, stage: int) -> Value:
    # The buffer is filled up to equal shares, in the all-reduce too.
    size = (SIZE + -SIZE % inputs.ranks) * HALF
    sent = zero_bytes_sent(size, size, stage, inputs.ranks)
    return Value(
        label="By the formula",
        value=sent,
        quantity=BYTES,
        receipt=Receipt(
            equation=ZERO_BYTES,
            symbols={
                "V": (sent, BYTES),
                "n": (inputs.ranks, COUNT),
                "r": (gradient_passes(stage), COUNT),
                "G": (size, BYTES),
                "a": (parameter_passes(stage), COUNT),
                "P": (size, BYTES),
            },
            inputs={"n": "ranks"},
            assumptions=("Two bytes a number, zeros that fill up the last share included.",),
        ),
        note="the same for ZeRO-1 as for plain data parallelism",
        color="communication",
    )


def _follow(inputs: Inputs, found: Record) -> Table:
    """Return one number's way through the step: its gradients, their sum, the update."""
    each = -(-SIZE // inputs.ranks)
    place = min((inputs.place - 1) % each, SIZE - 1)
    by_phase = {snapshot.phase: snapshot for snapshot in found.trace}
    backward, summed = by_phase["backward"], found.trace[2]
    last = found.trace[-1].ranks[0]
    rows = [
        (f"gradient on GPU {rank}", _digits_of(own.gradients[place]))
        for rank, own in enumerate(backward.ranks)
    ]
    rows += [
        ("their sum, on GPU 0", _digits_of(summed.ranks[0].gradients[place])),
        ("first moment m", _digits_of(last.first[place])),
        ("second moment v", _digits_of(last.second[place])),
        ("parameter before the step", _digits_of(backward.ranks[0].parameters[place])),
        ("parameter after it", _digits_of(last.parameters[place])),
        ("parameter of one GPU", _digits_of(found.alone.parameters[place])),
    ]
    return Table(
        title=f"Number {place + 1} of the vector, followed through the step",
        columns=("What", "Value"),
        rows=tuple(rows),
        caption="GPU 0 owns it. Ten digits are shown.",
        links=tuple((f"rank:{r}",) if r < inputs.ranks else ("rank:0",) for r in range(len(rows))),
    )


def _digits_of(value: float | None) -> str:
    return typeset(f"{value:.10g}") if value is not None else ""
