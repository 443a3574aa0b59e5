"""Inputs and results of the sweep calculator."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from engine.core.inputs import Choice, Compact, Number, Sample, Scalar, Text
from engine.core.outputs import Output
from engine.core.units import Bytes, Count, Money, Seconds, TokenRate
from engine.draw.csv import csv_rows
from engine.form.sweep_sample import TEXT
from engine.form.text_validation import text_check
from engine.run.sweep_table import LONGEST_SWEEP, MOST_ROWS, SweptJob, read_sweep

_ROWS = (line.split("\t") for line in TEXT.splitlines())
SAMPLES: Mapping[str, Sample] = {
    "llama": Sample(
        title="Llama 3 8B and 70B on six clusters", text=csv_rows(_ROWS).replace("\r\n", "\n")
    )
}
_LONGEST_WORDS = 100
PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "The 70B model alone": {"only": "70b", "order": "cost"},
    "What half the network changes": {"only": "256 h100 70b", "row": 1},
}
_COUNTED = ("Rows of one job at several prices count once.",)
_PREDICTED = ("As the planner predicted it when the sweep ran.",)


@lru_cache(maxsize=4)
def parse_sweep(text: str) -> tuple[SweptJob, ...]:
    """Return the jobs, read once for the check under the box and for the results."""
    return read_sweep(text)


def split_words(text: str) -> list[str]:
    """Return the words of a text, or raise if it is too long."""
    if len(text) > _LONGEST_WORDS:
        raise ValueError(f"{len(text):,} characters; at most {_LONGEST_WORDS} are read")
    return text.split()


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    table: Annotated[
        str,
        Text(
            label="Your table",
            longest=LONGEST_SWEEP,
            samples=SAMPLES,
            rows=6,
            files=".csv,.tsv,.parquet",
            placeholder="Paste the CSV of a sweep, or choose its CSV or Parquet file",
            help="Parquet is read here, in your browser, and stands in the box as CSV.",
            check=text_check(parse_sweep),
        ),
    ] = SAMPLES["llama"].text
    only: Annotated[
        str,
        Compact(
            label="Only jobs with",
            parse=split_words,
            description="words of a model, a cluster or a plan, or nothing",
            example="70b h100",
            help="Every word has to occur: 70b, 256, A100, 32768, FSDP.",
        ),
    ] = ""
    order: Annotated[
        str,
        Choice(
            label="Order",
            options={
                "table": "as in the table",
                "time": "shortest run first",
                "cost": "cheapest first",
                "rate": "most tokens per GPU first",
                "gpus": "fewest GPUs first",
            },
        ),
    ] = "table"
    against: Annotated[
        str, Choice(label="Step against", options={"cost": "the cost of the run", "gpus": "GPUs"})
    ] = "cost"
    row: Annotated[
        int,
        Number(
            label="Job to compare with",
            low=1,
            high=MOST_ROWS,
            whole=True,
            help="By its number in the list.",
        ),
    ] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Numbers of the sweep's table; zero if no job is left, or no plan fits.

    Attributes:
        jobs: that the filter leaves, in their order.
        all_jobs: how many there are.
        fitting: of those left, how many have a plan.
        place: of the chosen job in the list, from 1.
        chosen: the job to compare with; None where none is left.
        alike: jobs with a plan that train the same, with their places.
        points: cost or GPUs, and the step, of each of them.
        front: of these, those that no other beats in both.
        low, high: range of its step.
    """

    jobs: tuple[SweptJob, ...]
    all_jobs: Count
    fitting: Count
    place: Count
    chosen: SweptJob | None
    alike: tuple[tuple[Count, SweptJob], ...]
    points: tuple[tuple[float, Seconds], ...]
    front: tuple[tuple[float, Seconds], ...]
    num_jobs: Annotated[
        Count,
        Output("Jobs", note="of {all_jobs} in the table", basis="definition", assumes=_COUNTED),
    ]
    step: Annotated[Seconds, Output("Step", "", "{low} to {high}", "compute", _PREDICTED)]
    low: Seconds
    high: Seconds
    rate: Annotated[
        TokenRate, Output("Tokens per second of a GPU", color="compute", assumes=_PREDICTED)
    ]
    held: Annotated[Bytes, Output("Fullest GPU", color="memory", assumes=_PREDICTED)]
    time: Annotated[
        Seconds, Output("The whole run", note="if nothing fails", color="ink", assumes=_PREDICTED)
    ]
    cost: Annotated[
        Money, Output("It costs", note="at the lowest price", color="ink", assumes=_PREDICTED)
    ]
