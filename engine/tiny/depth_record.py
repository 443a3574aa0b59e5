"""One micro-batch through the stages of a pipeline and back, with what goes from each to the next.

The same parts, rows and gradients as `schemes.pipeline_parallel`, one stage at a time.
"""

from dataclasses import dataclass

from engine.catalog.models import TINY_260
from engine.core.units import Count
from engine.tiny.job import Job, example_batch, initial, num_targets
from engine.tiny.layout import OUTPUT, part_range, unflatten
from engine.tiny.matrix import Matrix
from engine.tiny.parts import backward, forward, loss, tokens_of
from engine.tiny.result import difference
from engine.tiny.schemes import pipeline_parallel
from engine.tiny.schemes.pipeline_parallel import NUM_MICROBATCHES, parts_of
from engine.tiny.single import train


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One stage's turn.

    Attributes:
        stage: whose turn it is.
        forward: on the way to the loss.
        row: of the first token, what the stage hands on; empty for the last turn of either way.
        numbers: handed on, of all tokens.
        loss: of the micro-batch, where it has just been computed.
    """

    stage: Count
    forward: bool
    row: tuple[float, ...]
    numbers: Count
    loss: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Depth:
    """A micro-batch on its way, and the training that it belongs to.

    Attributes:
        stages: the parts of each.
        turns: in order.
        held: parameters of each stage.
        off: largest difference from one GPU after a step, of the largest parameter.
        sent: numbers that each stage sends in a step of `micro_batches`.
    """

    stages: tuple[tuple[str, ...], ...]
    turns: tuple[Turn, ...]
    held: tuple[Count, ...]
    off: float
    sent: tuple[Count, ...]
    micro_batches: Count = NUM_MICROBATCHES


def depth_record(ranks: Count) -> Depth:
    """Return the turns of the first micro-batch of the first step."""
    job = Job(batch=example_batch(8, 4), steps=1)
    stages = tuple(parts_of(TINY_260.num_layers, rank, ranks) for rank in range(ranks))
    run = pipeline_parallel.train(job, ranks)
    return Depth(
        stages=stages,
        turns=tuple(_turns(job, stages)),
        held=tuple(sum(len(part_range(TINY_260, part)) for part in own) for own in stages),
        off=difference(run, train(job)),
        sent=run.sent.get("activations", (0,) * ranks),
    )


def _turns(job: Job, stages: tuple[tuple[str, ...], ...]) -> list[Turn]:
    weights = unflatten(TINY_260, initial(TINY_260))
    tokens = tokens_of(job.batch[::NUM_MICROBATCHES], num_targets(job))
    rows: Matrix = []
    kept: dict[str, Matrix] = {}
    found: list[Turn] = []
    last = len(stages) - 1
    for stage, parts in enumerate(stages):
        for part in parts:
            kept[part] = rows
            if part != OUTPUT:
                rows = forward(TINY_260, part, weights[part], rows, tokens)
        lost = loss(weights[OUTPUT], rows, tokens) if stage == last else None
        found.append(_turn(stage, rows if stage < last else [], lost, ahead=True))
    gradient: Matrix = []
    for stage in reversed(range(len(stages))):
        for part in reversed(stages[stage]):
            gradient, _ = backward(TINY_260, part, weights[part], kept[part], tokens, gradient)
        found.append(_turn(stage, gradient if stage else [], None, ahead=False))
    return found


def _turn(stage: Count, rows: Matrix, lost: float | None, *, ahead: bool) -> Turn:
    return Turn(
        stage=stage,
        forward=ahead,
        row=tuple(rows[0]) if rows else (),
        numbers=len(rows) * len(rows[0]) if rows else 0,
        loss=lost,
    )
