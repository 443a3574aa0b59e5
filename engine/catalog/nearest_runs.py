"""The published runs that a prediction is compared with (`nearest_runs_table.tsv`)."""

from dataclasses import dataclass
from functools import cache

from engine.catalog.nearest_runs_table import TEXT
from engine.core.units import Count, Parameters, Seconds, Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class NearbyRun:
    """Summary of a published run.

    Attributes:
        name: of the model.
        gpu: type.
        gpus: how many.
        tensor, pipeline, context, expert: ranks of parallelism.
        zero: stage.
        bits: of the linear layers.
        length: of a sequence.
        batch: sequences of a step.
        experts: of the model; 0: dense.
        active: parameters that work on a token.
        time: of a step, as measured.
        source: index in `published_runs.SOURCES`.
    """

    name: str
    gpu: str
    gpus: Count
    tensor: Count
    pipeline: Count
    context: Count
    expert: Count
    zero: Count
    bits: Count
    length: Tokens
    batch: Count
    experts: Count
    active: Parameters
    time: Seconds
    source: int


@cache
def nearby_runs() -> tuple[NearbyRun, ...]:
    """Return all published runs of the table."""
    runs = []
    for line in TEXT.splitlines():
        name, gpu, *sizes, active, time, source = line.split("\t")
        counts = dict(
            zip(
                ("gpus", "tensor", "pipeline", "context", "expert", "zero", "bits", "length",
                 "batch", "experts"),
                map(int, sizes),
                strict=True,
            )
        )  # fmt: skip
        runs.append(
            NearbyRun(
                name=name,
                gpu=gpu,
                **counts,
                active=float(active),
                time=float(time),
                source=int(source),
            )
        )
    return tuple(runs)
