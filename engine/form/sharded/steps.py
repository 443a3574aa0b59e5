"""A sharded step of the tiny model, as shown for ZeRO-2 and ZeRO-3."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.models import TINY_260
from engine.core.inputs import Number
from engine.core.numbers import format_significant, typeset
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import Bytes, Count, Parameters, Ratio
from engine.core.views import Badge, Table
from engine.draw.shard_strips import Step, shard_scene
from engine.formulas.states import MIXED_PRECISION, sharded_states
from engine.formulas.volumes import gradient_passes, parameter_passes, zero_bytes_sent
from engine.tiny.layout import part_names, part_range
from engine.tiny.trace import StepSnapshot
from engine.tiny.zero_record import LEAST, ZeroRecord, sharded_record

SIZE = 260
HALF: Bytes = 2.0  # of a parameter and of a gradient, on the wire and in memory
FewRanks = Annotated[int, Number(label="GPUs", low=1, high=4, whole=True, symbol="N")]
MicroBatches = Annotated[
    int,
    Number(
        label="Micro-batches per step",
        low=1,
        high=4,
        whole=True,
        help="With four GPUs there are two sequences for each, so no more than two micro-batches.",
    ),
]
Place = Annotated[int, Number(label="Number followed", low=1, high=SIZE, whole=True)]
_COUNTED = (
    "Counted in the run, at 2 bytes for parameters and gradients and 12 for the optimizer's "
    "numbers; activations are left out.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A sharded step: memory and traffic, counted and by formula."""

    record: ZeroRecord
    step: Step
    size: Count = SIZE
    held: Annotated[
        Bytes,
        Output(
            "Held between steps",
            "",
            "on the rank that holds most",
            "optimizer",
            assumes=_COUNTED,
            sources=("rajbhandari2020",),
            basis="simulated",
        ),
    ]
    peak: Annotated[
        Bytes,
        Output(
            "Held at most",
            "",
            "with what comes only for a while",
            "buffers",
            assumes=_COUNTED,
            sources=("rajbhandari2020",),
            basis="simulated",
        ),
    ]
    held_formula: Annotated[
        Bytes, Output("By the formula", "M", "", "optimizer", assumes=("No padding.",))
    ]
    parameters: Annotated[Parameters, Output(symbol="P")] = float(SIZE)
    parameter: Annotated[Bytes, Output(symbol="p")] = MIXED_PRECISION.parameter
    gradient: Annotated[Bytes, Output(symbol="g")] = MIXED_PRECISION.gradient
    optimizer: Annotated[Bytes, Output(symbol="o")] = MIXED_PRECISION.optimizer
    shares_parameters: Annotated[Count, Output(symbol="a", of="ranks")]
    shares: Annotated[Count, Output(symbol="c", of="ranks")]
    sent: Annotated[
        Bytes,
        Output(
            "Sent by each GPU",
            "",
            "{reductions} reduce-scatters and {gathers} all-gathers",
            "communication",
            assumes=("Every message of the run was counted, at two bytes a number.",),
            sources=("patarasuk2009",),
            basis="simulated",
        ),
    ]
    sent_formula: Annotated[
        Bytes,
        Output(
            "By the formula",
            "V",
            "padding left out; stage 3 gathers the output part once",
            "communication",
            assumes=(
                "Two bytes a number.",
                "In the run of stage 3 the output part stays from its forward to its backward pass "
                "and is gathered once.",
            ),
        ),
    ]
    over: Annotated[
        Ratio,
        Output(
            "Over plain data parallelism",
            "",
            "bytes of an all-reduce of all gradients, for the {passes} micro-batches that were run",
            "communication",
            assumes=("By the formula, for as many micro-batches.",),
            sources=("rajbhandari2020",),
        ),
    ]
    reductions: Count
    gathers: Count
    passes: Annotated[Count, Output(symbol="r", of="micro_batches")]
    parameter_passes: Count
    whole: Annotated[Bytes, Output(symbol="G")] = SIZE * HALF


def solve_step(
    ranks: Count, zero_stage: Count, micro: Count, number: Count, *, reshard: bool = True
) -> Result:
    """Return the step of stage 2 or 3."""
    most = min(micro, 8 // ranks)
    record = sharded_record(ranks, zero_stage, most, reshard=reshard)
    resident = record.held
    memory = tuple(
        resident + HALF * _temporary_numbers(snapshot, zero_stage) for snapshot in record.trace
    )
    plain = sharded_states(SIZE, MIXED_PRECISION, 0, 1).total
    whole = SIZE * HALF
    by_formula = zero_bytes_sent(whole, whole, zero_stage, ranks, most, reshard=reshard)
    ddp = zero_bytes_sent(whole, whole, 0, ranks)
    phases = [snapshot.phase for snapshot in record.trace]
    return Result(
        record=record,
        step=Step(trace=record.trace, memory=memory, whole=plain, place=number - 1, off=record.off),
        held=resident,
        peak=max(memory),
        held_formula=sharded_states(SIZE, MIXED_PRECISION, zero_stage, ranks).total,
        shares_parameters=ranks if zero_stage == 3 else 1,
        shares=ranks,
        sent=record.sent * HALF,
        sent_formula=by_formula,
        over=by_formula / ddp if ddp else 1.0,
        reductions=phases.count("reduce_scatter"),
        gathers=phases.count("gather") if zero_stage == 3 else len(part_names(TINY_260)),
        passes=gradient_passes(zero_stage, most),
        parameter_passes=parameter_passes(zero_stage, most, reshard=reshard),
    )


def step_views(present: Presenter, result: Result) -> Views:
    """Return the views of a step, in the order of the page."""
    return {
        "scene": partial(shard_scene, result.step),
        "equal": equality_badge(present, result.record.off),
        **present.values("held", "peak"),
        "held_formula": present.value(
            "held_formula", symbols={"a": "shares_parameters", "b": "shares"}
        ),
        **present.values("sent"),
        "sent_formula": present.value(
            "sent_formula", symbols={"n": "ranks", "a": "parameter_passes", "P": "whole"}
        ),
        **present.values("over"),
        "log": partial(step_log, result),
    }


def _temporary_numbers(now: StepSnapshot, zero_stage: Count) -> Count:
    """Return the numbers that the first GPU holds temporarily: whole parts."""
    state, count = now.ranks[0], 0
    if now.phase == "backward":
        count += len(part_range(TINY_260, now.part))
    if zero_stage < 3 or len(now.ranks) == 1:
        return count
    for part in part_names(TINY_260):
        indices = part_range(TINY_260, part)
        if all(state.parameters[index] is not None for index in indices):
            count += len(indices)
    return count


def equality_badge(present: Presenter, difference: float) -> Badge:
    """Return whether the parameters equal those of one GPU."""
    bound = "less than" if difference < LEAST else "up to"
    how = f"by {bound} {typeset(format_significant(max(difference, LEAST), 2))} of the largest"
    same = difference <= 1e-12
    return Badge(
        text="Equal to one GPU" if same else "Not equal",
        sentence=present.say(
            f"After the step the {{size}} parameters differ {how} from those of one GPU that was "
            "given the whole batch."
        ),
        color="parameters" if same else "communication",
    )


def step_log(result: Result) -> Table:
    """Return every event with the memory and traffic after it."""
    sent = [HALF * sum(numbers[0] for numbers in now.sent.values()) for now in result.step.trace]
    return log_table(result.step, "Every event, with bytes held and sent by GPU 0", sent)


def log_table(step: Step, title: str, sent: Sequence[Bytes]) -> Table:
    """Return every event with the memory of GPU 0 and the bytes sent so far."""
    rows = []
    events = zip(step.trace, step.memory, sent, strict=True)
    for number, (now, size, gone) in enumerate(events, start=1):
        phase = now.phase.replace("_", "-")
        micro = str(now.micro) if now.micro else ""
        rows.append((str(number), phase, now.part, micro, f"{size:,.0f}", f"{gone:,.0f}"))
    return Table(
        title=title,
        columns=("Event", "What", "Part", "Micro-batch", "Held", "Sent"),
        rows=tuple(rows),
    )
