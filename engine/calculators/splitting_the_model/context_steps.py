"""Context parallelism on the tiny model: every sequence cut over GPUs, held against one."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, cast

from engine.core.inputs import Choice
from engine.core.outputs import Teller, Told, Views
from engine.core.text import say
from engine.core.units import COUNT, Count
from engine.core.views import Table
from engine.form.single_gpu_reference import equal, losses
from engine.formulas.volumes import context_ring_bytes_sent
from engine.tiny.context_record import ContextRecord, Cut, context_record

TITLE = "A sequence over several GPUs, every number computed"
QUESTION = "Does it change the training to cut every sequence over several GPUs?"
EQUATIONS = ()
PRESETS_CITE = False
PRESETS = {"Two GPUs": {"ranks": "2"}, "Contiguous pieces": {"cut": "contiguous"}}
_ASSUMES = ("Two layers, hidden size four, eight sequences of eight tokens, three steps.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

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

    found: ContextRecord
    world: Count
    held: Annotated[
        Count,
        Told(
            "Parameters on a GPU",
            note="all of them: the sequence is cut, and the model is not",
            color="parameters",
            basis="simulated",
            assumes=_ASSUMES,
        ),
    ]
    keys: Annotated[
        Count,
        Told(
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
        Told(
            "Numbers sent for gradients",
            note="per step, an all-reduce as in data parallelism",
            color="gradients",
            basis="simulated",
            assumes=_ASSUMES,
        ),
    ]
    most: Annotated[
        Count,
        Told(
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
    found = context_record(ranks, cast(Cut, inputs.cut))
    job = found.run.job
    tokens = sum(len(sequence) - 1 for sequence in job.batch)
    block = 2 * tokens / ranks * job.model.hidden_size
    return Result(
        found=found,
        world=ranks,
        held=found.run.held[0].parameters,
        keys=found.sent("activations"),
        by_formula=round(context_ring_bytes_sent(block, job.model.num_layers, ranks)),
        gradients=found.sent("gradients"),
        most=max(found.pairs),
        least=min(found.pairs),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the counts, the comparison with one GPU, and who has which tokens."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        "owners": partial(_owners, result.found),
        **tell.values("held", "keys", "gradients", "most"),
        "equal": equal(result.found.off),
        "losses": partial(_losses, result.found),
    }


def _owners(found: ContextRecord) -> Table:
    rows = tuple(
        (
            say("GPU {r}", r=(rank, COUNT)),
            ", ".join(f"{place}" for place in own),
            say("{n}", n=(pairs, COUNT)),
        )
        for rank, (own, pairs) in enumerate(zip(found.positions, found.pairs, strict=True))
    )
    return Table(
        title="Who has which tokens",
        columns=("GPU", "Tokens of every sequence", "Pairs of query and key"),
        rows=rows,
        caption="Token 0 attends to itself, token 7 to all eight.",
    )


def _losses(found: ContextRecord) -> Table:
    why = "The sums run in another order, so the last digits may differ."
    return losses(len(found.run.held), found.run.losses, found.alone.losses, why)
