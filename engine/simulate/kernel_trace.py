"""A layer's kernels as a profiler shows them: launched by the CPU, run by the GPU in order.

The CPU launches one kernel after the other, each launch takes as long as the last; a kernel starts
when it has been launched and the kernel before it has ended. The GPU is idle in between.
"""

from dataclasses import dataclass, replace

from engine.basis.units import Bytes, Count, Operations, Seconds, Share
from engine.simulate.layer_operators import Operator


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
    """Neighboring kernels that start for the same reason.

    Attributes:
        late: each starts when its launch is over, on an idle GPU; else they come from the queue.
        start: when the kernel before the first of them has ended.
        end: of the last.
        idle: time without a kernel.
        ahead: the most that a launch was over before its kernel started.
        kernels: how many there are.
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
        idle = one.start - before
        now = Stretch(
            late=idle > 0,
            start=before,
            end=one.end,
            idle=idle,
            ahead=one.start - one.ready,
            kernels=1,
        )
        before = one.end
        if found and found[-1].late == now.late:
            last = found.pop()
            now = replace(
                last,
                end=now.end,
                idle=last.idle + idle,
                ahead=max(last.ahead, now.ahead),
                kernels=last.kernels + 1,
            )
        found.append(now)
    return tuple(found)
