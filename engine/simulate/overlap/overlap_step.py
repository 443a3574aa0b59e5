"""One job under five schedules: a whole step, from its first two micro-batches."""

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
from engine.simulate.overlap.overlap_job import Job, Setting, job
from engine.simulate.streams.exposed_time import Part, all_wires, parts
from engine.simulate.streams.stream_account import Account, Piece, account
from engine.simulate.streams.streams import COMPUTE, NETWORK, SCALE_UP, Span, run

PROGRAMS = {
    "blocking": "flat_data_parallel",
    "buckets": "accumulation_no_sync",
    "sharded": "fully_sharded",
    "async": "fully_sharded",
    "paired": "paired_passes",
}
# What a micro-batch of a schedule does not depend on: it is played once for all values of these.
_NEVER = ("num_microbatches", "deviation")
_UNUSED = {
    "blocking": (*_NEVER, "bucket", "prefetch", "reshard"),
    "buckets": (*_NEVER, "prefetch", "reshard"),
    "sharded": (*_NEVER, "bucket"),
    "async": (*_NEVER, "bucket"),
    "paired": (*_NEVER, "bucket"),
}
# Whatever these are where they do not matter.
_ANY: Mapping[str, Any] = {
    "num_microbatches": 1,
    "deviation": 0.0,
    "bucket": 100 * MB,
    "prefetch": 1,
    "reshard": True,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One schedule: parts of a step, together `step`, and what its wires did.

    Attributes:
        spans: of the first two micro-batches.
        seen: their account.
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

    spans: tuple[Span, ...]
    seen: Account
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
    def parts(self) -> tuple[Part, ...]:
        """The spans, communication cut where it stops or starts to be hidden."""
        return parts(self.spans)

    @property
    def communicating(self) -> tuple[Piece, ...]:
        """Communication of all wires as one, in pieces (start, end, exposed)."""
        return all_wires(self.spans)

    @property
    def exposed(self) -> Seconds:
        """Communication that the step waits for."""
        return self.first + self.between + self.last

    @property
    def residue(self) -> Seconds:
        """What the step takes longer than its computation alone."""
        return self.contention + self.exposed + self.bubble + self.slowest

    @property
    def step(self) -> Seconds:
        """All of it, the optimizer left out."""
        return self.compute + self.residue


def outcomes(setting: Setting, work: Job) -> dict[str, Outcome]:
    """Return every schedule's step."""
    return {name: outcome(setting, work, name) for name in PROGRAMS}


def outcome(setting: Setting, work: Job, name: str) -> Outcome:
    """Count every micro-batch after those that are played as what the last of them added."""
    late = slowest_of(work.world_size, setting.deviation) - 1
    alike = replace(setting, **{key: _ANY[key] for key in _UNUSED[name]})
    many = setting.num_microbatches
    # The first pair still finds the streams empty.
    count = min(many, 3 if name == "paired" else 2)
    _, first = _played(name, alike, max(1, count - 1))
    _, second = _played(name, alike, count)
    two, seen = _played(name, alike, min(many, 2))
    grown = Growth(first, second, many - count)
    started, ended = _ends(two)
    exposed = grown.of("exposed")
    # What is exposed while NVLink is busy too, tensor parallelism is to blame for.
    inside = grown.of_stream(SCALE_UP, "exposed") if work.stream == NETWORK else 0.0
    compute, contention = grown.of("compute"), grown.of("contention")
    each = second.length - first.length if many > 1 else first.length
    return Outcome(
        spans=two,
        seen=seen,
        compute=compute,
        contention=contention,
        first=started,
        last=ended,
        between=max(0.0, exposed - started - ended),
        bubble=_bubble(work, name, each),
        slowest=late * (compute + contention),
        communication=grown.of("communication"),
        sent=grown.of_stream(work.stream, "sent"),
        isolated=grown.of_stream(work.stream, "busy"),
        waited=max(0.0, exposed - inside),
    )


@lru_cache(maxsize=64)
def _played(name: str, setting: Setting, count: Count) -> tuple[tuple[Span, ...], Account]:
    """Return the run of so many micro-batches of a schedule, and its account."""
    pieces = setting.tensor_parallel if name in ("async", "paired") else 1
    work = replace(job(setting).work, tensor_chunks=pieces, num_microbatches=count)
    spans = run(registry.module("engine.simulate.programs", PROGRAMS[name]).program(work))
    return spans, account(spans)


@dataclass(frozen=True, slots=True)
class Growth:
    """Accounts of some micro-batches and of one more, and how many more than that there are."""

    one: Account
    two: Account
    more: Count

    def of(self, part: str) -> float:
        """Return a part of the whole step."""
        second = getattr(self.two, part)
        return float(second + self.more * (second - getattr(self.one, part)))

    def of_stream(self, stream: str, part: str) -> float:
        """Return a figure of one stream for the whole step; 0 if nothing runs there."""
        if stream not in self.two.streams:
            return 0.0
        second = getattr(self.two.streams[stream], part)
        before = getattr(self.one.streams[stream], part)
        return max(0.0, float(second + self.more * (second - before)))


def _ends(spans: tuple[Span, ...]) -> tuple[Seconds, Seconds]:
    """Return how long nothing is computed yet, and how long nothing is computed any more."""
    computing = [span for span in spans if span.op.stream == COMPUTE]
    length = max(span.end for span in spans)
    return computing[0].start, max(0.0, length - max(span.end for span in computing))


def _bubble(work: Job, name: str, each: Seconds) -> Seconds:
    """Return what the pipeline waits to fill and drain; `each` is the time of a micro-batch.

    1F1B: (p - 1)(F + B) (Narayanan et al. 2021). Paired as in DualPipe: (p/2 - 1)(F&B + B - 3W),
    F&B a pair of passes, B a whole backward pass, W its part for the weights (DualPipe 2025).
    """
    if name != "paired":
        return (work.stages - 1) * each
    count = work.work.layers * work.layers
    backward, weights = count * work.layer.backward, count * work.layer.weight_gradient
    return max(0.0, work.stages / 2 - 1) * max(0.0, each + backward - 3 * weights)


def tensor_traffic(setting: Setting, work: Job) -> tuple[Bytes, Count]:
    """Return bytes and collectives of tensor parallelism of one GPU in a step."""
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


def data_messages(setting: Setting, work: Job, name: str) -> Count:
    """Return the collectives of data parallelism that a schedule starts in a step."""
    spans = outcome(setting, work, name).spans
    ours = [
        span
        for span in spans
        if span.op.stream == work.stream
        and ":gather" not in span.op.key
        and ":scatter" not in span.op.key
    ]
    if name in ("blocking", "buckets"):  # once, however many micro-batches
        return len(ours)
    return round(len(ours) / min(2, setting.num_microbatches) * setting.num_microbatches)
