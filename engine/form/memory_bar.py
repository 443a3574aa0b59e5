"""GPU memory as a stacked bar."""

from engine.core.views import Segment
from engine.simulate.memory.allocator import Memory

_PARTS = ("parameters", "gradients", "optimizer", "activations", "buffers")


def memory_segments(memory: Memory) -> tuple[Segment, ...]:
    """Return the parts of a GPU's memory as segments of a bar."""
    parts = [Segment(key=k, label=k, value=getattr(memory, k), color=k) for k in _PARTS]
    reserve = Segment(key="reserve", label="reserve", value=memory.reserve, color="muted")
    return (*parts, reserve)
