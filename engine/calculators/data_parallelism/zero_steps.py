"""ZeRO-1, step by step: a model of 260 parameters on up to eight GPUs, every number computed."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Choice, Number
from engine.core.numbers import significant, typeset
from engine.core.outputs import Teller, Told, Views
from engine.core.units import COUNT, Bytes, Count, Parameters
from engine.core.views import Badge, Table
from engine.draw.sharded_step import sharded_scene
from engine.formulas.states import MIXED_PRECISION, ZERO_MEMORY, sharded_states
from engine.formulas.volumes import ZERO_BYTES, gradient_passes, parameter_passes, zero_bytes_sent
from engine.tiny.zero_record import LEAST, Record, record

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
_EQUAL = 1e-12


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The run beside that of one GPU, and what was held and sent, counted and by the formulas."""

    found: Record
    size: Count = SIZE
    digits: Annotated[
        float,
        COUNT,
        Told(
            "Digits that agree",
            "",
            "of fourteen that are compared",
            "parameters",
            assumes=(
                "Both runs in double precision, which has about sixteen digits. Sums over the "
                "GPUs are formed in the order of the ring, so that the last digits may differ.",
                "On a real GPU, in bf16, the order of the sums changes more digits; the method is "
                "as exact.",
            ),
            sources=("rajbhandari2020",),
            basis="simulated",
        ),
    ]
    held: Annotated[
        Bytes,
        Told(
            "Held by each GPU",
            "",
            "{held_optimizer} numbers of the optimizer among them",
            "optimizer",
            assumes=(
                "Counted in the run: {held_parameters} parameters and {held_gradients} gradients "
                "of 2 bytes, {held_optimizer} numbers of the optimizer (copy, first and second "
                "moment) of 4 bytes.",
                "Activations and buffers are left out.",
            ),
            sources=("rajbhandari2020",),
            basis="simulated",
        ),
    ]
    held_parameters: Count
    held_gradients: Count
    held_optimizer: Count
    held_formula: Annotated[
        Bytes, Told("By the formula", "M", "", "optimizer", assumes=("No padding.",))
    ]
    parameters: Annotated[Parameters, Told(symbol="P")] = float(SIZE)
    parameter: Annotated[Bytes, Told(symbol="p")] = MIXED_PRECISION.parameter
    gradient: Annotated[Bytes, Told(symbol="g")] = MIXED_PRECISION.gradient
    optimizer: Annotated[Bytes, Told(symbol="o")] = MIXED_PRECISION.optimizer
    one: Annotated[Count, Told(symbol="a")] = 1
    shares: Annotated[Count, Told(symbol="c", of="ranks")]
    sent: Annotated[
        Bytes,
        Told(
            "Sent by each GPU in a step",
            "",
            "{sent_numbers} numbers",
            "communication",
            assumes=(
                "Every message of the run was counted, at two bytes a number, as in bf16.",
                "The collectives run as rings.",
            ),
            sources=("patarasuk2009",),
            basis="simulated",
        ),
    ]
    sent_numbers: Count
    sent_formula: Annotated[
        Bytes,
        Told(
            "By the formula",
            "V",
            "the same for ZeRO-1 as for plain data parallelism",
            "communication",
            assumes=("Two bytes a number, zeros that fill up the last share included.",),
        ),
    ]
    gradient_passes: Annotated[Count, Told(symbol="r")]
    parameter_passes: Count
    padded: Annotated[Bytes, Told(symbol="G")]
    padding: Count


def solve(inputs: Inputs) -> Result:
    """Return the run, and what the formulas say of it."""
    stage, ranks = int(inputs.zero_stage), inputs.ranks
    found = record(ranks, stage, inputs.steps, inputs.learning_rate)
    padding = -SIZE % ranks
    # The buffer is filled up to equal shares, in the all-reduce too.
    padded = (SIZE + padding) * HALF
    first = found.run.held[0]
    return Result(
        found=found,
        digits=found.digits,
        held=found.held,
        held_parameters=first.parameters,
        held_gradients=first.gradients,
        held_optimizer=first.optimizer,
        held_formula=sharded_states(SIZE, MIXED_PRECISION, stage, ranks).total,
        shares=ranks if stage else 1,
        sent=found.sent * HALF / inputs.steps,
        sent_numbers=found.sent // inputs.steps,
        sent_formula=zero_bytes_sent(padded, padded, stage, ranks),
        gradient_passes=gradient_passes(stage),
        parameter_passes=parameter_passes(stage),
        padded=padded,
        padding=padding if stage else 0,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the scene, the comparison with one GPU, and what was held and sent."""
    tell, found = Teller(result, inputs, equations=EQUATIONS), result.found
    same = "the same as counted"
    if result.padding:
        zeros = (
            "one zero that fills" if result.padding == 1 else f"{result.padding} zeros that fill"
        )
        same = f"without the {zeros} up the last share"
    return {
        "scene": partial(
            sharded_scene,
            found.trace,
            found.alone.parameters,
            inputs.place - 1,
            sharded=inputs.zero_stage == "1",
        ),
        "equal": _equal(tell, found.off),
        **tell.values("digits", "held"),
        "held_formula": tell.value("held_formula", note=same, symbols={"b": "one"}),
        "sent": tell.value("sent"),
        "sent_formula": tell.value(
            "sent_formula", symbols={"n": "ranks", "a": "parameter_passes", "P": "padded"}
        ),
        "follow": partial(_follow, inputs, found),
    }


def _equal(tell: Teller, off: float) -> Badge:
    bound = "less than" if off < LEAST else "up to"
    how = f"by {bound} {typeset(significant(max(off, LEAST), 2))} of the largest"
    same = off <= _EQUAL
    return Badge(
        text="Equal to one GPU" if same else "Not equal",
        sentence=tell.say(
            f"After the last step the {{size}} parameters differ {how} from those of one GPU that "
            "was given the whole batch."
        ),
        color="parameters" if same else "communication",
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
