"""Context parallelism on the tiny model, compared with one GPU."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, cast

from engine.core.inputs import Choice
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import COUNT, Count
from engine.core.views import Table
from engine.form.single_gpu_reference import equality_badge, loss_table
from engine.formulas.volumes import context_ring_bytes_sent
from engine.tiny.context_record import ContextRecord, Cut, context_record

TITLE = "A sequence over several GPUs, every number computed"
QUESTION = "Does it change the training to cut every sequence over several GPUs?"
HEADLINE = "held"
EQUATIONS = ()
PRESETS_CITE = False
PRESETS = {"Two GPUs": {"ranks": "2"}, "Contiguous pieces": {"cut": "contiguous"}}
_ASSUMES = ("Two layers, hidden size four, eight sequences of eight tokens, three steps.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    ranks: Annotated[
        str, Choice(label="GPUs", cites=False, options={"1": "1", "2": "2", "4": "4"})
    ] = "4"
    cut: Annotated[
        str,
        Choice(
            label="Cut",
            cites=False,
            options={"contiguous": "contiguous pieces", "zigzag": "zig-zag"},
        ),
    ] = "zigzag"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The run and its counts."""

    record: ContextRecord
    world: Count
    held: Annotated[
        Count,
        Output(
            "Parameters on a GPU",
            note="all of them: the sequence is cut, and the model is not",
            color="parameters",
            basis="simulated",
            assumes=_ASSUMES,
        ),
    ]
    keys: Annotated[
        Count,
        Output(
            "Numbers sent for keys and values",
            note="per step; by the formula {by_formula}",
            color="context",
            basis="simulated",
            assumes=_ASSUMES,
            sources=("liu2023",),
        ),
    ]
    by_formula: Count
    gradients: Annotated[
        Count,
        Output(
            "Numbers sent for gradients",
            note="per step, an all-reduce as in data parallelism",
            color="gradients",
            basis="simulated",
            assumes=_ASSUMES,
        ),
    ]
    most: Annotated[
        Count,
        Output(
            "Pairs of the busiest GPU",
            note="of each sequence; the least busy has {least}",
            color="compute",
            basis="simulated",
            assumes=_ASSUMES,
        ),
    ]
    least: Count


def solve(inputs: Inputs) -> Result:
    """Return the run and its counts."""
    ranks = int(inputs.ranks)
    record = context_record(ranks, cast(Cut, inputs.cut))
    job = record.run.job
    tokens = sum(len(sequence) - 1 for sequence in job.batch)
    block = 2 * tokens / ranks * job.model.hidden_size
    return Result(
        record=record,
        world=ranks,
        held=record.run.state_counts[0].parameters,
        keys=record.sent("activations"),
        by_formula=round(context_ring_bytes_sent(block, job.model.num_layers, ranks)),
        gradients=record.sent("gradients"),
        most=max(record.pairs),
        least=min(record.pairs),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views: counts, comparison with one GPU, and token ownership."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "owners": partial(_owners, result.record),
        **present.values("held", "keys", "gradients", "most"),
        "equal": equality_badge(result.record.off),
        "losses": partial(_losses, result.record),
    }


def _owners(record: ContextRecord) -> Table:
    rows = tuple(
        (
            say("GPU {r}", r=(rank, COUNT)),
            ", ".join(f"{position}" for position in positions),
            say("{n}", n=(pairs, COUNT)),
        )
        for rank, (positions, pairs) in enumerate(zip(record.positions, record.pairs, strict=True))
    )
    return Table(
        title="Who has which tokens",
        columns=("GPU", "Tokens of every sequence", "Pairs of query and key"),
        rows=rows,
        caption="Token 0 attends to itself, token 7 to all eight.",
    )


def _losses(record: ContextRecord) -> Table:
    why = "The sums run in another order, so the last digits may differ."
    return loss_table(len(record.run.state_counts), record.run.losses, record.alone.losses, why)
