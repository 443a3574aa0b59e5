"""One layer with tensor parallelism: blocking, or chunked to overlap its collectives."""

from dataclasses import dataclass, replace

from engine.core.units import Count, Ratio, Seconds
from engine.simulate.overlap.overlap_job import OverlapSetting, build_overlap_job
from engine.simulate.programs import tensor_parallel, tensor_parallel_async
from engine.simulate.streams.exposed_time import SpanPart, split_spans
from engine.simulate.streams.stream_account import StepAccount, step_account
from engine.simulate.streams.streams import OpSpan, run_program
from engine.simulate.streams.workload import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedLayer:
    """Simulated forward and backward pass of one layer.

    Attributes:
        spans: what ran when.
        account: the account of it.
        gather: time of the gathers of one pass, alone.
    """

    spans: tuple[OpSpan, ...]
    account: StepAccount
    gather: Seconds

    @property
    def parts(self) -> tuple[SpanPart, ...]:
        """The spans, communication cut where it stops or starts to be hidden."""
        return split_spans(self.spans)


def simulate_layer(setting: OverlapSetting, chunks: Count) -> SimulatedLayer:
    """Return one simulated layer of a job; with one chunk nothing overlaps.

    Attention and feed-forward part are taken as one: their gathers before, their scatters behind.
    """
    work = _layer_workload(setting, chunks)
    program = tensor_parallel if chunks == 1 else tensor_parallel_async
    spans = run_program(program.program(work))
    return SimulatedLayer(spans=spans, account=step_account(spans), gather=work.tensor_gather)


def _layer_workload(setting: OverlapSetting, chunks: Count) -> Workload:
    base = build_overlap_job(setting)
    share: Ratio = 1 / base.layers
    return replace(
        base.work,
        layers=1,
        forward=base.layer.forward,
        backward=base.layer.backward,
        tensor_gather=base.work.tensor_gather * share,
        tensor_size=base.work.tensor_size * share,
        tensor_chunks=chunks,
        num_microbatches=1,
        optimizer=0.0,
    )
