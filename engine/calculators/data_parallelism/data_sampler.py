"""Data sampler: the samples of an epoch by GPU, and the remainder."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from engine.core.inputs import Choice, Number, Switch
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text, say
from engine.core.units import COUNT, Count, Share
from engine.core.views import Table
from engine.simulate.data_parallel.sampler import reads_without_sampler, sampler_shards

TITLE = "The sampler"
QUESTION = "Which GPU sees which samples, and are any seen twice or never?"
HEADLINE = "useful"
PRESETS = {
    "Drop the rest": {"drop_last": True},
    "Forgot the sampler": {"sampler": "none"},
}
_COUNTED: Mapping[str, Any] = {
    "assumes": (
        "Counted in the lists of the table, which follow the documented rule of PyTorch's "
        "DistributedSampler: every n-th index, filled up from the start or cut short.",
        "Without shuffling; with it, the same rule runs over a permutation that all GPUs share "
        "and that set_epoch changes.",
    ),
    "sources": ("pytorch_sampler",),
    "basis": "definition",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    dataset: Annotated[int, Number(label="Samples of the dataset", low=1, high=64, whole=True)] = 22
    num_gpus: Annotated[int, Number(label="GPUs", low=1, high=8, whole=True, symbol="n")] = 4
    drop_last: Annotated[
        bool,
        Switch(label="drop_last", help="Off: the first samples are repeated to fill the shards."),
    ] = False
    sampler: Annotated[
        str,
        Choice(
            label="Each GPU reads",
            options={"distributed": "its shard (DistributedSampler)", "none": "everything"},
        ),
    ] = "distributed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The samples read by each GPU; repeated, missing and useful reads."""

    shards: tuple[tuple[int, ...], ...]
    reads: Count
    twice: Annotated[
        Count, Output("Repeated reads", "", "of {reads} reads in an epoch", **_COUNTED)
    ]
    never: Annotated[Count, Output("Never read", "", "of {dataset} samples", **_COUNTED)]
    useful: Annotated[
        Share,
        Output(
            "New samples per read", "", "share of the reads that bring a new sample", **_COUNTED
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the epoch of every GPU."""
    counts = inputs.dataset, inputs.num_gpus
    distributed = inputs.sampler == "distributed"
    dealt = (
        sampler_shards(*counts, drop_last=inputs.drop_last)
        if distributed
        else reads_without_sampler(*counts)
    )
    reads = sum(map(len, dealt))
    seen = len({sample for shard in dealt for sample in shard})
    return Result(
        shards=dealt,
        reads=reads,
        twice=reads - seen,
        never=inputs.dataset - seen,
        useful=seen / reads if reads else 0.0,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result)
    return {
        "twice": present.value("twice", value=float(result.twice)),
        "never": present.value("never", value=float(result.never)),
        "useful": present.value("useful"),
        "table": Table(
            title="The epoch of every GPU",
            columns=("GPU", "Samples, in order", "Count"),
            rows=tuple(
                (f"GPU {rank}", _sample_list(shard), say("{n}", n=(len(shard), COUNT)))
                for rank, shard in enumerate(result.shards)
            ),
            links=tuple((f"rank:{rank}",) for rank in range(inputs.num_gpus)),
        ),
    }


def _sample_list(shard: tuple[int, ...]) -> Text:
    if not shard:
        return "nothing: fewer samples than GPUs"
    shown = ", ".join(str(sample) for sample in shard[:12])
    return shown if len(shard) <= 12 else f"{shown} and {len(shard) - 12} more"
