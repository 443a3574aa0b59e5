"""Every number of the checkpoint lab."""

from dataclasses import dataclass
from typing import Annotated

from engine.core.outputs import Output
from engine.core.text import Text
from engine.core.units import Bandwidth, Bytes, Count, Parameters, Seconds, Share, TokenRate
from engine.simulate.job.saved_run import Checkpoint, CheckpointCost
from engine.simulate.memory.allocator import MemoryFit
from engine.simulate.step.prediction_evidence import Evidence

# Token numbers of a vocabulary beyond 65,536.
TOKEN: Bytes = 4.0
_POISSON = "Failures strike at random and independently, at a constant rate."


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A checkpoint of the job, and the pace of saving it.

    Attributes:
        changes: of the plan, in sentences, without which nothing would run it.
    """

    evidence: Evidence
    changes: tuple[Text, ...]
    saved: Checkpoint
    bloom: Checkpoint
    llama: Checkpoint
    now: CheckpointCost
    fit: MemoryFit
    whole: Annotated[
        Bytes,
        Output(
            "A checkpoint",
            "C",
            "{per_parameter} for each parameter",
            "optimizer",
            assumes=("Gradients and activations are made anew; the data loader's place is small.",),
        ),
    ]
    per_gpu: Annotated[
        Bytes,
        Output(
            "Of that, one GPU writes",
            note="{writers} GPUs write",
            color="optimizer",
            assumes=("Evenly over all GPUs where states are sharded, else over one replica's.",),
            sources=("bytecheckpoint2024",),
        ),
    ]
    host: Annotated[
        Bytes,
        Output(
            "Held in a host's memory",
            note="while it is written behind the steps",
            color="buffers",
            assumes=("One copy of what the node writes.",),
            sources=("pytorch_async",),
        ),
    ]
    write: Annotated[Seconds, Output("Written after", "Tw", "all nodes at once", "memory")]
    rank_0: Annotated[
        Seconds,
        Output(
            "Written by one node",
            note="if rank 0 gathered all of it",
            color="memory",
            assumes=("The rate of one node to the storage; gathering is left out.",),
            sources=("bytecheckpoint2024",),
        ),
    ]
    stall: Annotated[
        Seconds,
        Output(
            "Steps wait",
            note="for each checkpoint",
            color="bad",
            assumes=(
                "In the background: for the copy to the host over PCIe at its line rate. Otherwise "
                "until all is written.",
            ),
            sources=("mohan2021",),
        ),
    ]
    mtbf: Annotated[
        Seconds, Output("Something fails every", "M", "in the whole job", assumes=(_POISSON,))
    ]
    young: Annotated[
        Seconds, Output("Young's interval", "t", "to first order", assumes=(_POISSON,))
    ]
    daly: Annotated[
        Seconds,
        Output(
            "Best interval",
            note="by Daly, but never shorter than a write",
            assumes=(_POISSON,),
            sources=("daly2006",),
        ),
    ]
    goodput: Annotated[
        Share,
        Output(
            "Goodput",
            note="at your interval",
            color="compute",
            assumes=(
                _POISSON,
                "A failure loses the steps since the last checkpoint that was written whole.",
            ),
            sources=("daly2006",),
        ),
    ]
    tokens: Annotated[
        TokenRate,
        Output(
            "Tokens of all GPUs",
            note="in a second",
            assumes=("From the step time that the planner computes.",),
            sources=("narayanan2021",),
        ),
    ]
    reading: Annotated[
        Bandwidth, Output("Read of tokens", "B", "by all GPUs together, 4 bytes each", "memory")
    ]
    best: Annotated[
        Share,
        Output(
            "Best goodput",
            note="with work of {daly} between two checkpoints",
            color="compute",
            assumes=(_POISSON,),
            sources=("daly2006",),
        ),
    ]
    size: Annotated[Parameters, Output(symbol="P", of="model")]
    weight: Annotated[Bytes, Output(symbol="w")]
    optimizer: Annotated[Bytes, Output(symbol="o")]
    per_parameter: Annotated[
        Bytes,
        Output(
            "For each parameter",
            note="{weight} of the weight, {optimizer} of the optimizer",
            color="optimizer",
            assumes=("Adam in mixed precision; under FSDP the weight is the full-precision copy.",),
            sources=("rajbhandari2020",),
        ),
    ]
    gpus: Annotated[Count, Output(symbol="n", of="world_size")]
    largest: Annotated[Bytes, Output(symbol="c")]
    writers: int
    node: Bandwidth
    curve: tuple[tuple[Share, Share], ...]
