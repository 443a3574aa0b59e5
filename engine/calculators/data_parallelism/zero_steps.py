"""ZeRO-1, step by step: a model of 260 parameters on up to eight GPUs, every number computed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Choice, Number
from engine.core.numbers import format_significant, typeset
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text, say
from engine.core.units import COUNT, Bytes, Count, Parameters
from engine.core.views import Badge, Frame, Scene, Shape, Table
from engine.draw.shapes import text
from engine.draw.sharded_shapes import (
    LINES,
    Sheet,
    load_shape,
    number_shapes,
    rank_shapes,
    sheet_for,
    strip_shapes,
)
from engine.formulas.states import MIXED_PRECISION, ZERO_MEMORY, sharded_states
from engine.formulas.volumes import ZERO_BYTES, gradient_passes, parameter_passes, zero_bytes_sent
from engine.tiny.trace import StepSnapshot
from engine.tiny.zero_record import LEAST, ZeroRecord, zero_record


def sharded_scene(
    trace: Sequence[StepSnapshot], alone: Sequence[float], index: int, *, sharded: bool
) -> Scene:
    """Return the animation of a step, with a last frame that compares with a single GPU.

    Args:
        trace: the phases of one step on at most eight ranks.
        alone: the parameters of a single GPU after the same step.
        index: which number of every share is shown.
        sharded: whether the optimizer states are (stage 1), or all ranks have all.
    """
    ranks, size = len(trace[0].ranks), len(alone)
    sheet = sheet_for(ranks, size, index)
    ground = [*strip_shapes(sheet), *(s for rank in range(ranks) for s in rank_shapes(sheet, rank))]
    most = max(1, *(_sent_by(trace[-1], rank) for rank in range(ranks)))
    frames = []
    before: StepSnapshot | None = None
    for now in trace:
        cells = _cells(sheet, before, now, sharded=sharded)
        loads = [load_shape(sheet, rank, _sent_by(now, rank) / most) for rank in range(ranks)]
        shapes = (*ground, *loads, *cells, *_single_gpu_row(sheet, alone, shown=False))
        frames.append(Frame(caption=_caption(now, sheet, sharded=sharded), shapes=shapes))
        before = now
    last = frames[-1].shapes[: len(ground) + ranks]
    cells = _cells(sheet, trace[-1], trace[-1], sharded=sharded)
    shapes = (*last, *cells, *_single_gpu_row(sheet, alone, shown=True))
    frames.append(Frame(caption=_comparison(trace[-1], alone), shapes=shapes))
    return Scene(
        title="One training step, phase by phase",
        width=sheet.width,
        height=sheet.height,
        frames=tuple(frames),
        caption="Of every GPU's share one number is shown, marked on the strip: parameter p, "
        "gradient g, and the two moments of Adam, m and v. A thick border marks what changed. The "
        "bar under a GPU is what it has sent.",
    )


def _sent_by(now: StepSnapshot, rank: int) -> int:
    return sum(numbers[rank] for numbers in now.sent.values())


def _cells(
    sheet: Sheet, before: StepSnapshot | None, now: StepSnapshot, *, sharded: bool
) -> list[Shape]:
    shapes: list[Shape] = []
    for rank, state in enumerate(now.ranks):
        for line, (name, _, _, power) in enumerate(LINES):
            numbers = getattr(state, name)
            old = getattr(before.ranks[rank], name) if before else numbers
            for column in range(sheet.ranks):
                index = sheet.shown(column)
                value = numbers[index] if index < sheet.size else None
                look = "none" if value is None else "held"
                if name == "gradients" and value is not None:
                    look = _gradient_look(now, rank == column, sharded=sharded)
                if value is not None and look == "held" and old[index] != value:
                    look = "new"
                label = "" if look == "none" or value is None else _number(value, power)
                shapes += number_shapes(sheet, (rank, line, column), label, look)
    return shapes


def _gradient_look(now: StepSnapshot, owned: bool, *, sharded: bool) -> str:
    """Return how a gradient is drawn: not there yet, in use, or a part that was passed on."""
    if now.phase == "start":
        return "none"
    used = now.phase == "backward" or not sharded or owned
    return "held" if used else "old"


def _number(value: float, power: int) -> str:
    scaled = value * 10**power
    if power == 0:
        shown = f"{scaled:.4f}"
    else:
        shown = format_significant(scaled, 3) if abs(scaled) >= 1e-4 else "0"
    return typeset(shown)


def _single_gpu_row(sheet: Sheet, alone: Sequence[float], *, shown: bool) -> list[Shape]:
    """Return the row of the single GPU; until the comparison it is not seen."""
    top = sheet.top + sheet.ranks * sheet.block
    rows = [text("one", 2, top + 0.72 * sheet.line, sheet.font, "1 GPU", "start")]
    rows.append(
        text(
            "one.p",
            3.9 * sheet.font,
            top + 0.72 * sheet.line,
            0.95 * sheet.font,
            "p",
            "start",
            "c-parameters",
        )
    )
    for column in range(sheet.ranks):
        index = sheet.shown(column)
        middle = sheet.left + (column + 0.5) * sheet.column
        label = _number(alone[index], 0) if index < sheet.size else ""
        rows.append(text(f"one{column}", middle, top + 0.72 * sheet.line, sheet.font, label))
    return [
        Shape(
            key=row.key,
            tag=row.tag,
            attributes={**row.attributes, "opacity": "1" if shown else "0"},
            text=row.text,
        )
        for row in rows
    ]


def _caption(now: StepSnapshot, sheet: Sheet, *, sharded: bool) -> Text:
    size = (sheet.size, COUNT)
    sent = (_sent_by(now, 0), COUNT)
    if now.phase == "start":
        states = (
            "Of Adam's moments m and v each GPU has only those of its own share, {each} each."
            if sharded
            else "Each also has all of Adam's moments, m and v."
        )
        return say(
            f"Step {now.step} begins: all GPUs hold the same {{size}} parameters p. {states}",
            size=size,
            each=(sheet.each, COUNT),
        )
    if now.phase == "backward":
        return say(
            "Forward and backward: each GPU has worked on its own sequences and now holds {size} "
            "gradients g. They differ from GPU to GPU.",
            size=size,
        )
    captions = {
        "reduce_scatter": "Reduce-scatter: the gradients are summed, and each sum ends at the GPU "
        "that owns the place. What is left elsewhere is no longer needed. {sent} numbers sent "
        "per GPU so far.",
        "all_reduce": "All-reduce: the gradients are summed, and every GPU gets every sum. {sent} "
        "numbers sent per GPU so far.",
        "adam": "Adam runs on each GPU for its own {each} places only, and changes those "
        "parameters. The others are still the old ones."
        if sharded
        else "Adam runs on every GPU for all {size} places: the same work, and the same states, on "
        "each of them.",
        "all_gather": "All-gather: each owner passes its new parameters to all others. {sent} "
        "numbers sent per GPU so far, as many as an all-reduce takes.",
    }
    return say(captions[now.phase], size=size, sent=sent, each=(sheet.each, COUNT))


def _comparison(now: StepSnapshot, alone: Sequence[float]) -> Text:
    largest = max(
        abs((number or 0.0) - other)
        for state in now.ranks
        for number, other in zip(state.parameters, alone, strict=True)
    )
    # The last digits are the rounding of sums in another order, and not the same everywhere.
    how = typeset(
        "less than 1e-14" if largest < 1e-14 else f"up to {format_significant(largest, 2)}"
    )
    return say(
        "Compared: one GPU has trained on all sequences. Over all GPUs and all {size} places its "
        f"parameters differ by {how}.",
        size=(len(alone), COUNT),
    )


TITLE = "One step of ZeRO-1, every number computed"
QUESTION = "Who needs to own the optimizer?"
HEADLINE = "digits"
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
    """The calculator's inputs."""

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
    """The run beside that of a single GPU, and its memory and traffic, counted and by formula."""

    record: ZeroRecord
    size: Count = SIZE
    digits: Annotated[
        float,
        COUNT,
        Output(
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
        Output(
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
        Bytes, Output("By the formula", "M", "", "optimizer", assumes=("No padding.",))
    ]
    parameters: Annotated[Parameters, Output(symbol="P")] = float(SIZE)
    parameter: Annotated[Bytes, Output(symbol="p")] = MIXED_PRECISION.parameter
    gradient: Annotated[Bytes, Output(symbol="g")] = MIXED_PRECISION.gradient
    optimizer: Annotated[Bytes, Output(symbol="o")] = MIXED_PRECISION.optimizer
    one: Annotated[Count, Output(symbol="a")] = 1
    shares: Annotated[Count, Output(symbol="c", of="ranks")]
    sent: Annotated[
        Bytes,
        Output(
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
        Output(
            "By the formula",
            "V",
            "the same for ZeRO-1 as for plain data parallelism",
            "communication",
            assumes=("Two bytes a number, zeros that fill up the last share included.",),
        ),
    ]
    gradient_passes: Annotated[Count, Output(symbol="r")]
    parameter_passes: Count
    padded: Annotated[Bytes, Output(symbol="G")]
    padding: Count


def solve(inputs: Inputs) -> Result:
    """Return the run and the results of the formulas for it."""
    stage, ranks = int(inputs.zero_stage), inputs.ranks
    run = zero_record(ranks, stage, inputs.steps, inputs.learning_rate)
    padding = -SIZE % ranks
    # The buffer is filled up to equal shares, in the all-reduce too.
    padded = (SIZE + padding) * HALF
    first = run.run.state_counts[0]
    return Result(
        record=run,
        digits=run.digits,
        held=run.held,
        held_parameters=first.parameters,
        held_gradients=first.gradients,
        held_optimizer=first.optimizer,
        held_formula=sharded_states(SIZE, MIXED_PRECISION, stage, ranks).total,
        shares=ranks if stage else 1,
        sent=run.sent * HALF / inputs.steps,
        sent_numbers=run.sent // inputs.steps,
        sent_formula=zero_bytes_sent(padded, padded, stage, ranks),
        gradient_passes=gradient_passes(stage),
        parameter_passes=parameter_passes(stage),
        padded=padded,
        padding=padding if stage else 0,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the scene, the comparison with a single GPU, and the memory and traffic."""
    present, run = Presenter(result, inputs, equations=EQUATIONS), result.record
    same = "the same as counted"
    if result.padding:
        zeros = (
            "one zero that fills" if result.padding == 1 else f"{result.padding} zeros that fill"
        )
        same = f"without the {zeros} up the last share"
    return {
        "scene": partial(
            sharded_scene,
            run.trace,
            run.alone.parameters,
            inputs.place - 1,
            sharded=inputs.zero_stage == "1",
        ),
        "equal": _equality_badge(present, run.off),
        **present.values("digits", "held"),
        "held_formula": present.value("held_formula", note=same, symbols={"b": "one"}),
        "sent": present.value("sent"),
        "sent_formula": present.value(
            "sent_formula", symbols={"n": "ranks", "a": "parameter_passes", "P": "padded"}
        ),
        "follow": partial(_follow_table, inputs, run),
    }


def _equality_badge(present: Presenter, off: float) -> Badge:
    bound = "less than" if off < LEAST else "up to"
    how = f"by {bound} {typeset(format_significant(max(off, LEAST), 2))} of the largest"
    same = off <= _EQUAL
    return Badge(
        text="Equal to one GPU" if same else "Not equal",
        sentence=present.say(
            f"After the last step the {{size}} parameters differ {how} from those of one GPU that "
            "was given the whole batch."
        ),
        color="parameters" if same else "communication",
    )


def _follow_table(inputs: Inputs, run: ZeroRecord) -> Table:
    """Return the table that follows a parameter through the step: gradients, sum, update."""
    each = -(-SIZE // inputs.ranks)
    index = min((inputs.place - 1) % each, SIZE - 1)
    by_phase = {snapshot.phase: snapshot for snapshot in run.trace}
    backward, summed = by_phase["backward"], run.trace[2]
    last = run.trace[-1].ranks[0]
    rows = [
        (f"gradient on GPU {rank}", _number_text(state.gradients[index]))
        for rank, state in enumerate(backward.ranks)
    ]
    rows += [
        ("their sum, on GPU 0", _number_text(summed.ranks[0].gradients[index])),
        ("first moment m", _number_text(last.first[index])),
        ("second moment v", _number_text(last.second[index])),
        ("parameter before the step", _number_text(backward.ranks[0].parameters[index])),
        ("parameter after it", _number_text(last.parameters[index])),
        ("parameter of one GPU", _number_text(run.alone.parameters[index])),
    ]
    return Table(
        title=f"Number {index + 1} of the vector, followed through the step",
        columns=("What", "Value"),
        rows=tuple(rows),
        caption="GPU 0 owns it. Ten digits are shown.",
        links=tuple((f"rank:{r}",) if r < inputs.ranks else ("rank:0",) for r in range(len(rows))),
    )


def _number_text(value: float | None) -> str:
    return typeset(f"{value:.10g}") if value is not None else ""
