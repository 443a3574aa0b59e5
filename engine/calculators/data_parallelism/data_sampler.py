"""Data sampler: which GPU sees which samples of an epoch, and what happens to the rest."""

from dataclasses import dataclass
from typing import Annotated

from engine.basis.inputs import Choice, Number, Switch
from engine.basis.text import Text, say
from engine.basis.units import COUNT, SHARE
from engine.basis.views import Receipt, Table, Value, View

TITLE = "The sampler"
QUESTION = "Which GPU sees which samples, and are any seen twice or never?"
PRESETS = {
    "Drop the rest": {"drop_last": True},
    "Forgot the sampler": {"sampler": "none"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

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


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    shards = shards_of(inputs)
    reads = sum(len(shard) for shard in shards)
    seen = len({sample for shard in shards for sample in shard})
    twice = reads - seen
    receipt = Receipt(
        basis="definition",
        assumptions=(
            "Counted in the lists of the table, which follow the documented rule of PyTorch's "
            "DistributedSampler: every n-th index, filled up from the start or cut short.",
            "Without shuffling; with it, the same rule runs over a permutation that all GPUs share "
            "and that set_epoch changes.",
        ),
        sources=("pytorch_sampler",),
    )
    return {
        "twice": Value(
            label="Read more than once",
            value=float(twice),
            quantity=COUNT,
            receipt=receipt,
            note=say("of {r} reads in an epoch", r=(reads, COUNT)),
        ),
        "never": Value(
            label="Never read",
            value=float(inputs.dataset - seen),
            quantity=COUNT,
            receipt=receipt,
            note=say("of {d} samples", d=(inputs.dataset, COUNT)),
        ),
        "useful": Value(
            label="New samples per read",
            value=seen / reads if reads else 0.0,
            quantity=SHARE,
            receipt=receipt,
            note="what the epoch would be without repetition",
        ),
        "table": Table(
            title="The epoch of every GPU",
            columns=("GPU", "Samples, in order", "Count"),
            rows=tuple(
                (f"GPU {rank}", _listed(shard), say("{n}", n=(len(shard), COUNT)))
                for rank, shard in enumerate(shards)
            ),
            links=tuple((f"rank:{rank}",) for rank in range(len(shards))),
        ),
    }


def shards_of(inputs: Inputs) -> list[list[int]]:
    """Return the sample numbers that each GPU reads in an epoch, from 0."""
    indices = list(range(inputs.dataset))
    if inputs.sampler == "none":
        return [indices for _ in range(inputs.num_gpus)]
    each, rest = divmod(inputs.dataset, inputs.num_gpus)
    if rest and not inputs.drop_last:
        each += 1
    total = each * inputs.num_gpus
    # A dataset smaller than the padding is repeated as often as it takes.
    filled = (indices * (total // inputs.dataset + 1))[:total]
    return [filled[rank :: inputs.num_gpus] for rank in range(inputs.num_gpus)]


def _listed(shard: list[int]) -> Text:
    if not shard:
        return "nothing: fewer samples than GPUs"
    shown = ", ".join(str(sample) for sample in shard[:12])
    return shown if len(shard) <= 12 else f"{shown} and {len(shard) - 12} more"
