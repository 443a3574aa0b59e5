"""The last micro-batch of a data-parallel step on two streams, its buckets drawn in groups."""

from collections.abc import Sequence
from dataclasses import replace

from engine.core import registry
from engine.core.record import record
from engine.core.units import Count, Seconds
from engine.simulate.data_parallel.sharded_step import PROGRAMS, bucketed_work
from engine.simulate.data_parallel.sync_step import SyncJob, SyncStep, bucket_time
from engine.simulate.streams.exposed_time import SpanPart, split_spans
from engine.simulate.streams.streams import run_program
from engine.simulate.streams.workload import Workload, nccl_group

_GROUPS: Count = 12


@record
class SyncSpan:
    """A pass, or the collectives of a group of buckets, from start to end.

    Attributes:
        stream: of computation or of communication, as of `OpSpan`.
        start, end: since the beginning of the micro-batch.
        kind: "forward", "backward", "gather", "reduce", "update" or "other".
        first, last: buckets of the group, from 1, in the order in which they are reduced; 0 for
            what belongs to none.
        exposed: communication with nothing computed beside most of it.
    """

    stream: str
    start: Seconds
    end: Seconds
    kind: str
    first: Count = 0
    last: Count = 0
    exposed: bool = False


def sync_spans(job: SyncJob, step: SyncStep) -> tuple[SyncSpan, ...]:
    """Return the spans of the last micro-batch; together they are as long as the step model says.

    Of several micro-batches, the gathers of ZeRO-1 stand in front of the first; drawn is one.
    """
    # One bucket of all gradients waits for the end of the backward pass, as without overlap.
    program = registry.module("engine.simulate.programs", PROGRAMS[int(job.zero1)]).program
    return _grouped(split_spans(run_program(program(_work(job, step)))), step.exchange.units)


def _work(job: SyncJob, step: SyncStep) -> Workload:
    """Return the workload of one micro-batch, with the optimizer and the rest behind it."""
    group = nccl_group(step.rank, job.wires.group)
    plain = Workload(
        layers=1,
        forward=step.forward,
        backward=step.backward,
        parameters=step.weights.total,
        data=replace(group, all_reduce=lambda size: bucket_time(job, size)),
        gradient=step.exchange.gradient,
        bucket=step.exchange.gradient * step.weights.total / 2,
        optimizer=step.parts.optimizer,
        other=step.parts.other,
    )
    if not job.overlap:
        return plain
    return bucketed_work(plain, step.rank, step.weights, step.exchange)


def _grouped(parts: Sequence[SpanPart], units: Count) -> tuple[SyncSpan, ...]:
    """Return the parts of consecutive buckets as one span each, by stream and kind of operation."""
    size = -(-units // _GROUPS)
    gathered = any(part.ran.op.key.startswith("gather") for part in parts)
    groups: dict[tuple[str, str, int], list[SpanPart]] = {}
    for part in parts:
        kind, number = _kind_and_bucket(part.ran.op.key, units)
        number = 0 if kind == "forward" and not gathered else number
        groups.setdefault((part.ran.op.stream, kind, -(-number // size)), []).append(part)
    spans: list[SyncSpan] = []
    for (stream, kind, group), members in groups.items():
        first, last = (group - 1) * size + 1, min(units, group * size)
        for one in _runs(members):
            spans.append(
                SyncSpan(
                    stream=stream,
                    start=one[0].start,
                    end=one[-1].end,
                    kind=kind,
                    first=first if group else 0,
                    last=last if group else 0,
                    exposed=one[0].exposed,
                )
            )
    return tuple(spans)


def _kind_and_bucket(key: str, units: Count) -> tuple[str, Count]:
    """Return the kind of an operation of the program, and its bucket: 0 for the embedding's."""
    name, _, number = key.partition(".")
    kinds = {"F": "forward", "B": "backward", "gather": "gather", "reduce": "reduce"}
    kind = kinds.get(name.rstrip("0"), name)
    if not number.isdigit():
        return kind, 0
    return kind, units - int(number) if kind in ("forward", "backward") else int(number)


def _runs(members: Sequence[SpanPart]) -> list[list[SpanPart]]:
    """Return the parts cut once where they start or stop to be hidden; else by their majority."""
    flags = [part.exposed for part in members]
    turns = [at for at in range(1, len(flags)) if flags[at] != flags[at - 1]]
    if len(turns) == 1:
        return [list(members[: turns[0]]), list(members[turns[0] :])]
    exposed = sum(part.end - part.start for part in members if part.exposed)
    mostly = 2 * exposed > sum(part.end - part.start for part in members)
    return [[replace(members[0], exposed=mostly), *members[1:]]]
