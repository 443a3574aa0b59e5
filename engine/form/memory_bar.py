"""A GPU's memory as a bar: its parts in their order and colors."""

from engine.core.views import Segment
from engine.simulate.memory.allocator import Memory

_PARTS = ("parameters", "gradients", "optimizer", "activations", "buffers")


def parts_of(held: Memory) -> tuple[Segment, ...]:
    """Return the parts of a GPU's memory as segments of a bar."""
    parts = [Segment(key=k, label=k, value=getattr(held, k), color=k) for k in _PARTS]
    reserve = Segment(key="reserve", label="reserve", value=held.reserve, color="muted")
    return (*parts, reserve)
