"""A layer's kernels as a profiler shows them: launched by the CPU, run by the GPU in order.

The CPU launches one kernel after the other, each launch takes as long as the last; a kernel starts
when it has been launched and the kernel before it has ended. The GPU is idle in between.
"""

from dataclasses import dataclass, replace

from engine.core.units import Bytes, Count, Operations, Seconds, Share
from engine.simulate.layer.layer_operators import Operator


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """One kernel of the trace.

    Attributes:
        operator: what it computes.
        launched: when the CPU began to launch it.
        ready: when it was launched.
        start, end: on the GPU.
    """

    operator: Operator
    launched: Seconds
    ready: Seconds
    start: Seconds
    end: Seconds

    @property
    def length(self) -> Seconds:
        """On the GPU."""
        return self.end - self.start


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """All kernels, in order.

    Attributes:
        kernels: of the layer.
        end: of the last.
    """

    kernels: tuple[Kernel, ...]
    end: Seconds

    @property
    def busy(self) -> Share:
        """The share of the time in which a kernel runs: what nvidia-smi calls utilization."""
        return sum(one.length for one in self.kernels) / self.end

    @property
    def operations(self) -> Operations:
        """Of all kernels."""
        return sum(one.operator.operations for one in self.kernels)

    @property
    def moved(self) -> Bytes:
        """Of all kernels."""
        return sum(one.operator.moved for one in self.kernels)


def trace(operators: tuple[Operator, ...], lengths: tuple[Seconds, ...], launch: Seconds) -> Trace:
    """Return the trace of kernels of the given lengths, each launched in `launch`."""
    found: list[Kernel] = []
    free = 0.0
    for index, (operator, length) in enumerate(zip(operators, lengths, strict=True)):
        ready = (index + 1) * launch
        start = max(ready, free)
        free = start + length
        found.append(
            Kernel(
                operator=operator,
                launched=index * launch,
                ready=ready,
                start=start,
                end=free,
            )
        )
    return Trace(kernels=tuple(found), end=free)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A time in which the GPU waits for launches, or in which launched kernels wait for it.

    Attributes:
        late: the GPU gets done with every kernel before the next launch is over; else the CPU
            gets ahead, and kernels come from the queue.
        start: when the kernel before it has ended.
        end: of its last kernel, or of the gap before a kernel that lets the CPU get ahead.
        idle: time without a kernel.
        ahead: the most that a launch was over before its kernel started.
        kernels: how many run in it.
    """

    late: bool
    start: Seconds
    end: Seconds
    idle: Seconds
    ahead: Seconds
    kernels: Count


def stretches(played: Trace) -> tuple[Stretch, ...]:
    """Return what a reader of the trace would mark: launch-bound here, the CPU ahead there."""
    found: list[Stretch] = []
    before = 0.0
    for one in played.kernels:
        for now in _parts(one, before):
            if found and found[-1].late == now.late:
                found[-1] = _joined(found[-1], now)
            else:
                found.append(now)
        before = one.end
    return tuple(found)


def _parts(one: Kernel, before: Seconds) -> tuple[Stretch, ...]:
    """Return the gap in front of a kernel, if any, and its run.

    A kernel that starts late is over before the next launch only if it is shorter than a launch.
    """
    late = one.start > before
    waited = Stretch(
        late=True, start=before, end=one.start, idle=one.start - before, ahead=0.0, kernels=0
    )
    run = Stretch(
        late=late and one.length < one.ready - one.launched,
        start=one.start,
        end=one.end,
        idle=0.0,
        ahead=one.start - one.ready,
        kernels=1,
    )
    return (waited, run) if late else (run,)


def _joined(last: Stretch, now: Stretch) -> Stretch:
    return replace(
        last,
        end=now.end,
        idle=last.idle + now.idle,
        ahead=max(last.ahead, now.ahead),
        kernels=last.kernels + now.kernels,
    )
