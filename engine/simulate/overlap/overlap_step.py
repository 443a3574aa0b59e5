"""A step of one job under five schedules, extrapolated from its first micro-batches."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from engine.catalog.models import MODELS
from engine.core import registry
from engine.core.units import MB, Bytes, Count, Seconds
from engine.formulas.axes import tensor_layer_bytes
from engine.formulas.operations import local_tokens
from engine.formulas.stragglers import slowest_of
from engine.formulas.volumes import tensor_passes
from engine.simulate.overlap.overlap_job import OverlapJob, OverlapSetting, build_overlap_job
from engine.simulate.streams.exposed_time import SpanPart, communication_pieces, split_spans
from engine.simulate.streams.stream_account import Piece, StepAccount, step_account
from engine.simulate.streams.streams import COMPUTE, NETWORK, SCALE_UP, OpSpan, run_program

PROGRAMS = {
    "blocking": "flat_data_parallel",
    "buckets": "accumulation_no_sync",
    "sharded": "fully_sharded",
    "async": "fully_sharded",
    "paired": "paired_passes",
}
# What a micro-batch of a schedule does not depend on: it is played once for all values of these.
_ALWAYS_UNUSED = ("num_microbatches", "deviation")
_UNUSED = {
    "blocking": (*_ALWAYS_UNUSED, "bucket", "prefetch", "reshard"),
    "buckets": (*_ALWAYS_UNUSED, "prefetch", "reshard"),
    "sharded": (*_ALWAYS_UNUSED, "bucket"),
    "async": (*_ALWAYS_UNUSED, "bucket"),
    "paired": (*_ALWAYS_UNUSED, "bucket"),
}
# Whatever these are where they do not matter.
_CANONICAL: Mapping[str, Any] = {
    "num_microbatches": 1,
    "deviation": 0.0,
    "bucket": 100 * MB,
    "prefetch": 1,
    "reshard": True,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleOutcome:
    """Parts of the step time of one schedule, and its communication.

    Attributes:
        spans: of the first two micro-batches.
        account: their account.
        compute: alone.
        contention: what computation takes longer beside communication.
        first: exposed before the first computation.
        last: exposed after the last.
        between: exposed otherwise.
        bubble: the pipeline fills and drains.
        slowest: waiting for the slowest of all GPUs.
        communication: all of it, hidden or not.
        sent: bytes of data parallelism of one GPU.
        isolated: their time alone.
        waited: exposed time in which no tensor parallelism is under way.
    """

    spans: tuple[OpSpan, ...]
    account: StepAccount
    compute: Seconds
    contention: Seconds
    first: Seconds
    last: Seconds
    between: Seconds
    bubble: Seconds
    slowest: Seconds
    communication: Seconds
    sent: Bytes
    isolated: Seconds
    waited: Seconds

    @property
    def parts(self) -> tuple[SpanPart, ...]:
        """The spans, communication cut where it stops or starts to be hidden."""
        return split_spans(self.spans)

    @property
    def communicating(self) -> tuple[Piece, ...]:
        """Communication of all links merged, as (start, end, exposed)."""
        return communication_pieces(self.spans)

    @property
    def exposed(self) -> Seconds:
        """Exposed communication."""
        return self.first + self.between + self.last

    @property
    def residue(self) -> Seconds:
        """Step time beyond computation alone."""
        return self.contention + self.exposed + self.bubble + self.slowest

    @property
    def step(self) -> Seconds:
        """Step time without the optimizer."""
        return self.compute + self.residue


def schedule_outcomes(setting: OverlapSetting, work: OverlapJob) -> dict[str, ScheduleOutcome]:
    """Return the step of every schedule."""
    return {name: schedule_outcome(setting, work, name) for name in PROGRAMS}


def schedule_outcome(setting: OverlapSetting, work: OverlapJob, name: str) -> ScheduleOutcome:
    """Return the step of a schedule, extrapolated from a few simulated micro-batches."""
    straggler_share = slowest_of(work.world_size, setting.deviation) - 1
    canonical = replace(setting, **{key: _CANONICAL[key] for key in _UNUSED[name]})
    microbatches = setting.num_microbatches
    # The first pair still finds the streams empty.
    count = min(microbatches, 3 if name == "paired" else 2)
    _, first = _simulate(name, canonical, max(1, count - 1))
    _, second = _simulate(name, canonical, count)
    spans, seen = _simulate(name, canonical, min(microbatches, 2))
    extrapolation = Extrapolation(first, second, microbatches - count)
    head, tail = _head_and_tail(spans)
    exposed = extrapolation.total("exposed")
    # What is exposed while NVLink is busy too, tensor parallelism is to blame for.
    inside = extrapolation.stream_total(SCALE_UP, "exposed") if work.stream == NETWORK else 0.0
    compute, contention = extrapolation.total("compute"), extrapolation.total("contention")
    each = second.length - first.length if microbatches > 1 else first.length
    return ScheduleOutcome(
        spans=spans,
        account=seen,
        compute=compute,
        contention=contention,
        first=head,
        last=tail,
        between=max(0.0, exposed - head - tail),
        bubble=_bubble(work, name, each),
        slowest=straggler_share * (compute + contention),
        communication=extrapolation.total("communication"),
        sent=extrapolation.stream_total(work.stream, "sent"),
        isolated=extrapolation.stream_total(work.stream, "busy"),
        waited=max(0.0, exposed - inside),
    )


@lru_cache(maxsize=64)
def _simulate(
    name: str, setting: OverlapSetting, count: Count
) -> tuple[tuple[OpSpan, ...], StepAccount]:
    """Return the simulated spans of a few micro-batches, and their account."""
    pieces = setting.tensor_parallel if name in ("async", "paired") else 1
    work = replace(build_overlap_job(setting).work, tensor_chunks=pieces, num_microbatches=count)
    spans = run_program(registry.module("engine.simulate.programs", PROGRAMS[name]).program(work))
    return spans, step_account(spans)


@dataclass(frozen=True, slots=True)
class Extrapolation:
    """Linear extrapolation over micro-batches from two simulated accounts."""

    first: StepAccount
    second: StepAccount
    remaining: Count

    def total(self, part: str) -> float:
        """Return a time part of the whole step."""
        second = getattr(self.second, part)
        return float(second + self.remaining * (second - getattr(self.first, part)))

    def stream_total(self, stream: str, part: str) -> float:
        """Return a figure of one stream for the whole step; 0 if nothing runs there."""
        if stream not in self.second.streams:
            return 0.0
        second = getattr(self.second.streams[stream], part)
        before = getattr(self.first.streams[stream], part)
        return max(0.0, float(second + self.remaining * (second - before)))


def _head_and_tail(spans: tuple[OpSpan, ...]) -> tuple[Seconds, Seconds]:
    """Return the times before the first and after the last computation."""
    computing = [span for span in spans if span.op.stream == COMPUTE]
    length = max(span.end for span in spans)
    return computing[0].start, max(0.0, length - max(span.end for span in computing))


def _bubble(work: OverlapJob, name: str, each: Seconds) -> Seconds:
    """Return the pipeline bubble; `each` is the time of a micro-batch.

    1F1B: (p - 1)(F + B) (Narayanan et al. 2021). Paired as in DualPipe: (p/2 - 1)(F&B + B - 3W),
    F&B a pair of passes, B a whole backward pass, W its part for the weights (DualPipe 2025).
    """
    if name != "paired":
        return (work.stages - 1) * each
    count = work.work.layers * work.layers
    backward, weights = count * work.layer.backward, count * work.layer.weight_gradient
    return max(0.0, work.stages / 2 - 1) * max(0.0, each + backward - 3 * weights)


def tensor_traffic(setting: OverlapSetting, work: OverlapJob) -> tuple[Bytes, Count]:
    """Return bytes and number of tensor-parallel collectives of one GPU per step."""
    ranks = setting.tensor_parallel
    if ranks == 1:
        return 0.0, 0
    passes = tensor_passes(sequence_parallel=work.run.plan.sequence_parallel)
    times = work.work.layers * work.layers * setting.num_microbatches
    hidden = MODELS[setting.model].hidden_size
    sent = times * tensor_layer_bytes(
        local_tokens(work.run.plan, work.run.training), hidden, ranks, passes
    )
    return sent, times * passes


def data_messages(setting: OverlapSetting, work: OverlapJob, name: str) -> Count:
    """Return the number of data-parallel collectives of a schedule per step."""
    spans = schedule_outcome(setting, work, name).spans
    collectives = [
        span
        for span in spans
        if span.op.stream == work.stream
        and ":gather" not in span.op.key
        and ":scatter" not in span.op.key
    ]
    if name in ("blocking", "buckets"):  # once, however many micro-batches
        return len(collectives)
    return round(len(collectives) / min(2, setting.num_microbatches) * setting.num_microbatches)
