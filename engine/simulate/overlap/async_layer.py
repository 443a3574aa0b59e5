"""One layer under tensor parallelism, blocking or in pieces that run beside its collectives."""

from dataclasses import dataclass, replace

from engine.core.units import Count, Ratio, Seconds
from engine.simulate.overlap.overlap_job import Setting, job
from engine.simulate.programs import tensor_parallel, tensor_parallel_async
from engine.simulate.streams.exposed_time import Part, parts
from engine.simulate.streams.stream_account import Account, account
from engine.simulate.streams.streams import Span, run
from engine.simulate.streams.workload import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A forward and a backward pass of one layer.

    Attributes:
        spans: what ran when.
        seen: the account of it.
        gather: time of the gathers of one pass, alone.
    """

    spans: tuple[Span, ...]
    seen: Account
    gather: Seconds

    @property
    def parts(self) -> tuple[Part, ...]:
        """The spans, communication cut where it stops or starts to be hidden."""
        return parts(self.spans)


def one_layer(setting: Setting, chunks: Count) -> Layer:
    """Return one layer of a job; with one chunk everything waits for everything.

    Attention and feed-forward part are taken as one: their gathers before, their scatters behind.
    """
    work = _of_one_layer(setting, chunks)
    program = tensor_parallel if chunks == 1 else tensor_parallel_async
    spans = run(program.program(work))
    return Layer(spans=spans, seen=account(spans), gather=work.tensor_gather)


def _of_one_layer(setting: Setting, chunks: Count) -> Workload:
    found = job(setting)
    share: Ratio = 1 / found.layers
    return replace(
        found.work,
        layers=1,
        forward=found.layer.forward,
        backward=found.layer.backward,
        tensor_gather=found.work.tensor_gather * share,
        tensor_size=found.work.tensor_size * share,
        tensor_chunks=chunks,
        num_microbatches=1,
        optimizer=0.0,
    )
