"""Four data-parallel training loops on the same layers and links."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum

from engine.core import registry
from engine.core.units import Bandwidth, Bytes, Count, Parameters, Seconds, Share
from engine.formulas.overlap import efficiency
from engine.simulate.streams.stream_account import StepAccount, split_interval, step_account
from engine.simulate.streams.streams import COMPUTE, OpSpan, run_program
from engine.simulate.streams.workload import Workload, ring_group, star_group

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
class DdpJob:
    """Model, GPUs and links of all loops.

    Attributes:
        world_size: GPUs, one link each.
        layers: equal layers of the model.
        forward: forward time of one layer.
        backward: backward time of one layer.
        port: one-way bandwidth of a link.
        parameters: parameters of one layer, in `TENSORS` equal tensors.
        latency: latency of one step of a collective.
        bucket: bytes of gradients that DDP reduces together.
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
class LoopStep:
    """One simulated step of a loop.

    Attributes:
        spans: spans of all operations.
        account: account of the spans.
        passes: ends of the forward and of the backward pass.
    """

    spans: tuple[OpSpan, ...]
    account: StepAccount
    passes: tuple[Seconds, Seconds]

    @property
    def efficiency(self) -> Share:
        """Share of the step that computes."""
        return efficiency(self.account.compute, self.account.exposed)

    def parts(self, start: Seconds, end: Seconds) -> list[tuple[Seconds, Seconds, bool]]:
        """Return the pieces (start, end, exposed) of an interval, cut after the backward pass."""
        return split_interval((start, end), [(0.0, self.passes[1])])

    @property
    def collectives(self) -> Count:
        """Number of collectives of the step."""
        return len(self._messages)

    @property
    def sent(self) -> Bytes:
        """Bytes that the busiest GPU sends."""
        return fsum(span.op.size for span in self._messages)

    @property
    def _messages(self) -> list[OpSpan]:
        return [span for span in self.spans if span.op.stream != COMPUTE]


def run_loops(job: DdpJob) -> Mapping[str, LoopStep]:
    """Return loop -> simulated step."""
    return {name: _run_loop(job, name) for name in PROGRAMS}


def _run_loop(job: DdpJob, name: str) -> LoopStep:
    group_of_ranks = star_group if name == "star" else ring_group
    work = Workload(
        layers=job.layers,
        forward=job.forward,
        backward=job.backward,
        parameters=job.parameters,
        data=group_of_ranks(job.world_size, job.port, job.latency),
        gradient=ELEMENT,
        tensors=TENSORS,
        bucket=job.bucket,
    )
    spans = run_program(registry.module(_PACKAGE, PROGRAMS[name]).program(work))
    forward, backward = (
        max(span.end for span in spans if span.op.key.startswith(prefix)) for prefix in "FB"
    )
    return LoopStep(spans=spans, account=step_account(spans), passes=(forward, backward))
