"""Record of one micro-batch through a pipeline and back, with the messages between stages.

The same parts, rows and gradients as `schemes.pipeline_parallel`, one stage at a time.
"""

from dataclasses import dataclass

from engine.catalog.models import TINY_260
from engine.core.units import Count
from engine.tiny.job import TinyJob, example_batch, initial_parameters, num_targets
from engine.tiny.layout import OUTPUT, part_range, unflatten
from engine.tiny.matrix import Matrix
from engine.tiny.parts import backward, forward, loss, token_rows
from engine.tiny.result import parameter_difference
from engine.tiny.schemes import pipeline_parallel
from engine.tiny.schemes.pipeline_parallel import NUM_MICROBATCHES, stage_parts
from engine.tiny.single import train


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTurn:
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
class DepthRecord:
    """Record of a micro-batch through a pipeline, and of its training step.

    Attributes:
        stages: the parts of each.
        turns: in order.
        held: parameters of each stage.
        off: largest difference from one GPU after a step, of the largest parameter.
        sent: numbers that each stage sends in a step of `micro_batches`.
    """

    stages: tuple[tuple[str, ...], ...]
    turns: tuple[StageTurn, ...]
    held: tuple[Count, ...]
    off: float
    sent: tuple[Count, ...]
    micro_batches: Count = NUM_MICROBATCHES


def depth_record(ranks: Count) -> DepthRecord:
    """Return the turns of the first micro-batch of the first step."""
    job = TinyJob(batch=example_batch(8, 4), steps=1)
    stages = tuple(stage_parts(TINY_260.num_layers, rank, ranks) for rank in range(ranks))
    run = pipeline_parallel.train(job, ranks)
    return DepthRecord(
        stages=stages,
        turns=tuple(_turns(job, stages)),
        held=tuple(sum(len(part_range(TINY_260, part)) for part in parts) for parts in stages),
        off=parameter_difference(run, train(job)),
        sent=run.sent.get("activations", (0,) * ranks),
    )


def _turns(job: TinyJob, stages: tuple[tuple[str, ...], ...]) -> list[StageTurn]:
    weights = unflatten(TINY_260, initial_parameters(TINY_260))
    tokens = token_rows(job.batch[::NUM_MICROBATCHES], num_targets(job))
    rows: Matrix = []
    kept: dict[str, Matrix] = {}
    turns: list[StageTurn] = []
    last = len(stages) - 1
    for stage, parts in enumerate(stages):
        for part in parts:
            kept[part] = rows
            if part != OUTPUT:
                rows = forward(TINY_260, part, weights[part], rows, tokens)
        lost = loss(weights[OUTPUT], rows, tokens) if stage == last else None
        turns.append(_turn(stage, rows if stage < last else [], lost, ahead=True))
    gradient: Matrix = []
    for stage in reversed(range(len(stages))):
        for part in reversed(stages[stage]):
            gradient, _ = backward(TINY_260, part, weights[part], kept[part], tokens, gradient)
        turns.append(_turn(stage, gradient if stage else [], None, ahead=False))
    return turns


def _turn(stage: Count, rows: Matrix, lost: float | None, *, ahead: bool) -> StageTurn:
    return StageTurn(
        stage=stage,
        forward=ahead,
        row=tuple(rows[0]) if rows else (),
        numbers=len(rows) * len(rows[0]) if rows else 0,
        loss=lost,
    )
