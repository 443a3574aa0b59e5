"""The largest batch, measured: two peaks of memory, the line through them, and a third peak."""

from dataclasses import dataclass
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.measured_steps import OWN_STEPS, OWN_STEPS_DATE, OWN_STEPS_MODEL
from engine.catalog.models import MODELS
from engine.core.inputs import Number
from engine.core.outputs import Teller, Told, Views
from engine.core.text import say
from engine.core.units import (
    BYTES,
    SECONDS,
    TOKEN_RATE,
    TOKENS,
    Bytes,
    Count,
    Share,
    TokenRate,
    as_given,
)
from engine.core.views import Lines, Point, Rule, Series, Table
from engine.simulate.memory.measured_batch import line_through, of_length, token_rate

TITLE = "Two measurements and a third"
QUESTION = "Does the memory of a real job grow by the same amount with every sequence?"
_LENGTH, _MOST = 4096, 12
_JOB = (
    f"{MODELS[OWN_STEPS_MODEL].name} under FSDP2 on one H100, layers and loss compiled, nothing "
    f"recomputed; measured by us, {OWN_STEPS_DATE}, PyTorch 2.11.",
)
_LINE = (*_JOB, "The line through the peaks with one and with two sequences of 4,096 tokens.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    sequences: Annotated[
        int, Number(label="Sequences in a micro-batch", low=1, high=_MOST, whole=True)
    ] = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The line, and the measurements beside it; `rates` are those of `OWN_STEPS`."""

    per_sequence: Annotated[
        Bytes,
        Told("A sequence adds", color="activations", basis="measured", assumes=_LINE),
    ]
    fixed: Annotated[Bytes, Told("Fixed part", basis="measured", assumes=_LINE)]
    predicted: Annotated[
        Bytes, Told("By the line", note="with {sequences} sequences", assumes=_LINE)
    ]
    missed: Annotated[
        Bytes,
        Told(
            "The line misses four sequences by",
            basis="measured",
            assumes=(*_LINE, "What four sequences took, less what the line says of them."),
        ),
    ]
    reserved: Annotated[
        Bytes,
        Told("Reserved, with four", basis="measured", assumes=(*_JOB, "By PyTorch's allocator.")),
    ]
    used: Annotated[
        Bytes,
        Told(
            "In use on the device, with four",
            basis="measured",
            assumes=(*_JOB, "As nvidia-smi counts."),
        ),
    ]
    second_gain: Annotated[
        Share,
        Told(
            "Two sequences instead of one",
            basis="measured",
            note="more tokens per second",
            assumes=_JOB,
        ),
    ]
    fourth_gain: Annotated[
        Share,
        Told("Four instead of two", basis="measured", note="more tokens per second", assumes=_JOB),
    ]
    capacity: Bytes
    column: tuple[Bytes, ...]
    sizes: tuple[Count, ...]
    peaks: tuple[Bytes, ...]
    rates: tuple[TokenRate, ...]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    one, two, four = of_length(_LENGTH)
    line = line_through(one, two)
    return Result(
        per_sequence=line.per_sequence,
        fixed=line.fixed,
        predicted=line.at(inputs.sequences),
        missed=four.allocated - line.at(four.micro_batch_size),
        reserved=four.reserved,
        used=four.used,
        second_gain=token_rate(two) / token_rate(one) - 1,
        fourth_gain=token_rate(four) / token_rate(two) - 1,
        capacity=ACCELERATORS["H100-SXM"].memory,
        column=tuple(line.at(n) for n in range(1, _MOST + 1)),
        sizes=tuple(step.micro_batch_size for step in (one, two, four)),
        peaks=tuple(step.allocated for step in (one, two, four)),
        rates=tuple(map(token_rate, OWN_STEPS)),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(inputs, result)
    return {
        **tell.values(
            "predicted",
            "per_sequence",
            "fixed",
            "missed",
            "reserved",
            "used",
            "second_gain",
            "fourth_gain",
        ),
        "line": _line(tell, inputs, result),
        "steps": _steps(result),
    }


def _line(tell: Teller, inputs: Inputs, result: Result) -> Lines:
    measured = tuple(
        Point(key=f"measured{size}", label="", x=size, y=peak, color="ink")
        for size, peak in zip(result.sizes, result.peaks, strict=True)
    )
    now = Point(key="now", label=tell.say("{predicted}"), x=inputs.sequences, y=result.predicted)
    return Lines(
        title="Memory allocated at the peak of a step",
        x=tell.axis("sequences", "sequences in a micro-batch", low=1, high=_MOST),
        y=tell.axis("predicted", "allocated", low=0.0, high=1.3 * result.capacity),
        series=(
            Series(
                key="line",
                label="through one and two",
                x=tuple(map(float, range(1, _MOST + 1))),
                y=result.column,
                color="activations",
            ),
        ),
        points=(*measured, now),
        rules=(
            Rule(
                key="capacity",
                label=tell.say("{capacity} of an H100"),
                axis="y",
                at=result.capacity,
            ),
        ),
        handle="sequences",
        caption="The rings without a label are measurements, with one, two and four sequences of "
        "4,096 tokens. Drag the handle to see what the line says of another size.",
    )


def _steps(result: Result) -> Table:
    rows = tuple(
        (
            f"{one.micro_batch_size}",
            say("{n}", n=(one.length, TOKENS)),
            say("{b}", b=(one.allocated, as_given(BYTES, 4))),
            say("{t}", t=(one.time, SECONDS)),
            say("{r}", r=(rate, TOKEN_RATE)),
        )
        for one, rate in zip(OWN_STEPS, result.rates, strict=True)
    )
    return Table(
        title="Steps of one job, measured",
        columns=("Micro-batch", "Sequence", "Allocated", "Step", "Per GPU"),
        rows=rows,
        caption=f"{_JOB[0]} Medians of eight steps; allocated as torch.cuda.max_memory_allocated() "
        "says.",
    )
