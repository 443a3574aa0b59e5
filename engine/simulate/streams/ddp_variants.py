"""Four training loops of data parallelism, run side by side on the same layers and links."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum

from engine.core import registry
from engine.core.units import Bandwidth, Bytes, Count, Parameters, Seconds, Share
from engine.formulas.overlap import efficiency
from engine.simulate.streams.stream_account import Account, account, cut
from engine.simulate.streams.streams import COMPUTE, Span, run
from engine.simulate.streams.workload import Workload, ring_wire, star_wire

_PACKAGE = "engine.simulate.programs"
# Loop -> program.
PROGRAMS: Mapping[str, str] = {
    "star": "naive_data_parallel",
    "ring": "flat_data_parallel",
    "interleaved": "interleaved_data_parallel",
    "buckets": "bucketed_data_parallel",
}
TENSORS: Count = 7
ELEMENT: Bytes = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What all loops train.

    Attributes:
        world_size: GPUs, one link each.
        layers: of the model, all alike.
        forward: of one.
        backward: of one.
        port: of a link, one way.
        parameters: of one layer, in `TENSORS` equal tensors.
        latency: of one step of a collective.
        bucket: gradients that DDP reduces together.
    """

    world_size: Count
    layers: Count
    forward: Seconds
    backward: Seconds
    port: Bandwidth
    parameters: Parameters
    latency: Seconds
    bucket: Bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """One step of a loop.

    Attributes:
        spans: all that runs.
        account: what they add up to.
        passes: when the forward pass ends, and when the backward pass does.
    """

    spans: tuple[Span, ...]
    account: Account
    passes: tuple[Seconds, Seconds]

    @property
    def efficiency(self) -> Share:
        """The share of the step that computes."""
        return efficiency(self.account.compute, self.account.exposed)

    def parts(self, start: Seconds, end: Seconds) -> list[tuple[Seconds, Seconds, bool]]:
        """Return a stretch of the network as (start, end, exposed): by the passes, after them."""
        return cut((start, end), [(0.0, self.passes[1])])

    @property
    def collectives(self) -> Count:
        """Collectives of the step."""
        return len(self._messages)

    @property
    def sent(self) -> Bytes:
        """What the busiest GPU sends."""
        return fsum(span.op.size for span in self._messages)

    @property
    def _messages(self) -> list[Span]:
        return [span for span in self.spans if span.op.stream != COMPUTE]


def play(job: Job) -> Mapping[str, Loop]:
    """Return one step of every loop."""
    return {name: _loop(job, name) for name in PROGRAMS}


def _loop(job: Job, name: str) -> Loop:
    wire = star_wire if name == "star" else ring_wire
    work = Workload(
        layers=job.layers,
        forward=job.forward,
        backward=job.backward,
        parameters=job.parameters,
        data=wire(job.world_size, job.port, job.latency),
        gradient=ELEMENT,
        tensors=TENSORS,
        bucket=job.bucket,
    )
    spans = run(registry.module(_PACKAGE, PROGRAMS[name]).program(work))
    forward, backward = (
        max(span.end for span in spans if span.op.key.startswith(way)) for way in "FB"
    )
    return Loop(spans=spans, account=account(spans), passes=(forward, backward))
