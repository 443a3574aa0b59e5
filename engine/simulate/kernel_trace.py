"""A layer's kernels as a profiler shows them: launched by the CPU, run by the GPU in order.

The CPU launches one kernel after the other, each launch takes as long as the last; a kernel starts
when it has been launched and the kernel before it has ended. The GPU is idle in between.
"""

from dataclasses import dataclass

from engine.basis.units import Bytes, Operations, Seconds, Share
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
