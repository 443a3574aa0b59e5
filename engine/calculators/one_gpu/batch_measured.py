"""The largest batch, measured: two peaks of memory, the line through them, and a third peak."""

from dataclasses import dataclass
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.measured_steps import OWN_STEPS, OWN_STEPS_DATE, OWN_STEPS_MODEL
from engine.catalog.models import MODELS
from engine.core.inputs import Number
from engine.core.outputs import Output, Presenter, Views
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
    with_digits,
)
from engine.core.views import Line, Lines, Point, Rule, Scale, Table
from engine.simulate.memory.measured_batch import line_through, steps_of_length, token_rate

TITLE = "Two measurements and a third"
QUESTION = "Does the memory of a real job grow by the same amount with every sequence?"
HEADLINE = "predicted"
_LENGTH, _MOST = 4096, 12
_JOB = (
    f"{MODELS[OWN_STEPS_MODEL].name} under FSDP2 on one H100, layers and loss compiled, nothing "
    f"recomputed; measured by us, {OWN_STEPS_DATE}, PyTorch 2.11.",
)
_LINE = (*_JOB, "The line through the peaks with one and with two sequences of 4,096 tokens.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    sequences: Annotated[
        int, Number(label="Sequences in a micro-batch", low=1, high=_MOST, whole=True)
    ] = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The line, and the measurements beside it; `rates` are those of `OWN_STEPS`."""

    per_sequence: Annotated[
        Bytes,
        Output("A sequence adds", color="activations", basis="measured", assumes=_LINE),
    ]
    fixed: Annotated[Bytes, Output("Fixed part", basis="measured", assumes=_LINE)]
    predicted: Annotated[
        Bytes, Output("By the line", note="with {sequences} sequences", assumes=_LINE)
    ]
    missed: Annotated[
        Bytes,
        Output(
            "The line misses four sequences by",
            basis="measured",
            assumes=(*_LINE, "What four sequences took, less what the line says of them."),
        ),
    ]
    reserved: Annotated[
        Bytes,
        Output("Reserved, with four", basis="measured", assumes=(*_JOB, "By PyTorch's allocator.")),
    ]
    used: Annotated[
        Bytes,
        Output(
            "In use on the device, with four",
            basis="measured",
            assumes=(*_JOB, "As nvidia-smi counts."),
        ),
    ]
    second_gain: Annotated[
        Share,
        Output(
            "Two sequences instead of one",
            basis="measured",
            note="more tokens per second",
            assumes=_JOB,
        ),
    ]
    fourth_gain: Annotated[
        Share,
        Output(
            "Four instead of two", basis="measured", note="more tokens per second", assumes=_JOB
        ),
    ]
    capacity: Bytes
    column: tuple[Bytes, ...]
    sizes: tuple[Count, ...]
    peaks: tuple[Bytes, ...]
    rates: tuple[TokenRate, ...]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    first, second, third = steps_of_length(_LENGTH)
    line = line_through(first, second)
    return Result(
        per_sequence=line.per_sequence,
        fixed=line.fixed,
        predicted=line.at(inputs.sequences),
        missed=third.allocated - line.at(third.micro_batch_size),
        reserved=third.reserved,
        used=third.used,
        second_gain=token_rate(second) / token_rate(first) - 1,
        fourth_gain=token_rate(third) / token_rate(second) - 1,
        capacity=ACCELERATORS["H100-SXM"].memory,
        column=tuple(line.at(n) for n in range(1, _MOST + 1)),
        sizes=tuple(step.micro_batch_size for step in (first, second, third)),
        peaks=tuple(step.allocated for step in (first, second, third)),
        rates=tuple(map(token_rate, OWN_STEPS)),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result)
    return {
        **present.values(
            "predicted",
            "per_sequence",
            "fixed",
            "missed",
            "reserved",
            "used",
            "second_gain",
            "fourth_gain",
        ),
        "line": _line(present, result),
        "steps": _steps(result),
    }


def _line(present: Presenter, result: Result) -> Lines:
    return present.curve(
        "Memory allocated at the peak of a step",
        over=Scale("sequences", "sequences in a micro-batch", 1, _MOST),
        shows=Scale("predicted", "allocated", 0.0, 1.3 * result.capacity),
        x=range(1, _MOST + 1),
        lines=(Line("line", "through one and two", result.column, "activations"),),
        points=tuple(
            Point(key=f"measured{size}", label="", x=size, y=peak, color="ink")
            for size, peak in zip(result.sizes, result.peaks, strict=True)
        ),
        rules=(
            Rule(
                key="capacity",
                label=present.say("{capacity} of an H100"),
                axis="y",
                at=result.capacity,
            ),
        ),
        caption="The rings without a label are measurements, with one, two and four sequences of "
        "4,096 tokens. Drag the handle to see what the line says of another size.",
    )


def _steps(result: Result) -> Table:
    rows = tuple(
        (
            f"{step.micro_batch_size}",
            say("{n}", n=(step.length, TOKENS)),
            say("{b}", b=(step.allocated, with_digits(BYTES, 4))),
            say("{t}", t=(step.time, SECONDS)),
            say("{r}", r=(rate, TOKEN_RATE)),
        )
        for step, rate in zip(OWN_STEPS, result.rates, strict=True)
    )
    return Table(
        title="Steps of one job, measured",
        columns=("Micro-batch", "Sequence", "Allocated", "Step", "Per GPU"),
        rows=rows,
        caption=f"{_JOB[0]} Medians of eight steps; allocated as torch.cuda.max_memory_allocated() "
        "says.",
    )
