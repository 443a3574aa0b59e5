"""Kernel trace of a layer: kernels launched by the CPU and run by the GPU in order.

The CPU launches one kernel after the other, each launch takes as long as the last; a kernel starts
when it has been launched and the kernel before it has ended. The GPU is idle in between.
"""

from dataclasses import dataclass, replace

from engine.core.units import Bytes, Count, Operations, Seconds, Share
from engine.simulate.layer.layer_operators import Operator


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedKernel:
    """One kernel of the trace.

    Attributes:
        operator: operator of the kernel.
        launched: start of the launch on the CPU.
        ready: end of the launch.
        start, end: start and end on the GPU.
    """

    operator: Operator
    launched: Seconds
    ready: Seconds
    start: Seconds
    end: Seconds

    @property
    def length(self) -> Seconds:
        """Time on the GPU."""
        return self.end - self.start


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelTrace:
    """Kernels of a layer, in order.

    Attributes:
        kernels: kernels of the layer.
        end: end of the last kernel.
    """

    kernels: tuple[TracedKernel, ...]
    end: Seconds

    @property
    def busy(self) -> Share:
        """Share of the time in which a kernel runs, as nvidia-smi's utilization."""
        return sum(kernel.length for kernel in self.kernels) / self.end

    @property
    def operations(self) -> Operations:
        """Operations of all kernels."""
        return sum(kernel.operator.operations for kernel in self.kernels)

    @property
    def moved(self) -> Bytes:
        """Bytes that all kernels move."""
        return sum(kernel.operator.moved for kernel in self.kernels)


def trace_kernels(
    operators: tuple[Operator, ...], lengths: tuple[Seconds, ...], launch: Seconds
) -> KernelTrace:
    """Return the trace of kernels of the given lengths, each launched in `launch`."""
    kernels: list[TracedKernel] = []
    free = 0.0
    for index, (operator, length) in enumerate(zip(operators, lengths, strict=True)):
        ready = (index + 1) * launch
        start = max(ready, free)
        free = start + length
        kernels.append(
            TracedKernel(
                operator=operator,
                launched=index * launch,
                ready=ready,
                start=start,
                end=free,
            )
        )
    return KernelTrace(kernels=tuple(kernels), end=free)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchInterval:
    """An interval that is launch-bound, or in which the CPU runs ahead of the GPU.

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


def launch_intervals(trace: KernelTrace) -> tuple[LaunchInterval, ...]:
    """Return the intervals of a trace that are launch-bound or in which the CPU is ahead."""
    intervals: list[LaunchInterval] = []
    before = 0.0
    for kernel in trace.kernels:
        for interval in _kernel_intervals(kernel, before):
            if intervals and intervals[-1].late == interval.late:
                intervals[-1] = _merge_intervals(intervals[-1], interval)
            else:
                intervals.append(interval)
        before = kernel.end
    return tuple(intervals)


def _kernel_intervals(kernel: TracedKernel, before: Seconds) -> tuple[LaunchInterval, ...]:
    """Return the intervals of a kernel: the idle gap before it, if any, and its run.

    A kernel that starts late is over before the next launch only if it is shorter than a launch.
    """
    late = kernel.start > before
    gap = LaunchInterval(
        late=True, start=before, end=kernel.start, idle=kernel.start - before, ahead=0.0, kernels=0
    )
    run = LaunchInterval(
        late=late and kernel.length < kernel.ready - kernel.launched,
        start=kernel.start,
        end=kernel.end,
        idle=0.0,
        ahead=kernel.start - kernel.ready,
        kernels=1,
    )
    return (gap, run) if late else (run,)


def _merge_intervals(last: LaunchInterval, now: LaunchInterval) -> LaunchInterval:
    return replace(
        last,
        end=now.end,
        idle=last.idle + now.idle,
        ahead=max(last.ahead, now.ahead),
        kernels=last.kernels + now.kernels,
    )
