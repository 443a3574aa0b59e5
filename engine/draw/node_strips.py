"""Node names and the curve of inter-node traffic in the scene of a sharded step."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.core.text import render_text, say
from engine.core.units import BYTES, Bytes, Count
from engine.core.views import Shape
from engine.draw.shapes import rect, text

NODE_GAP = 24.0
EDGE_HEIGHT = 70.0
_CURVE = 50.0


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes of a drawn step and the traffic of the first one.

    Attributes:
        per_node: GPUs.
        crossed: bytes that the first node had sent to others at each event.
        full: the most that is drawn.
    """

    per_node: Count
    crossed: tuple[Bytes, ...]
    full: Bytes


def node_names(tops: Sequence[float]) -> list[Shape]:
    """Return the name of every node above its first GPU."""
    shapes = []
    for node, top in enumerate(tops):
        shapes.append(text(f"node{node}", 2, top - 8, 14, f"Node {node}", "start", "c-muted"))
        shapes.append(rect(f"edge{node}", (64, top - 13), (268, 0.8), "cell c-muted", ()))
    return shapes


def edge_frame(nodes: Nodes, edges: tuple[float, float, float], top: float) -> list[Shape]:
    """Return the axes of the curve of bytes sent by the first node."""
    left, right, _ = edges
    full = render_text(say("{m}", m=(nodes.full, BYTES)))
    return [
        text("edge", 2, top + 20, 14, "left", "start"),
        text("edge of", 2, top + 37, 14, "node 0", "start"),
        rect("edge axis", (left, top + _CURVE), (right - left, 0.8), "cell c-muted", ()),
        rect("edge all", (left, top), (right - left, 0.8), "cell c-muted", ()),
        text("edge full", right + 8, top + 6, 14, f"full {full}", "start"),
    ]


def edge_curve(nodes: Nodes, at: int, edges: tuple[float, float, float], top: float) -> list[Shape]:
    """Return the step curve of bytes sent by the first node up to an event."""
    left, right, _ = edges
    wide = (right - left) / len(nodes.crossed)
    points = []
    for number, size in enumerate(nodes.crossed[: at + 1]):
        x, y = left + number * wide, _height(nodes, size, top)
        points.append(f"{'M' if not number else 'L'}{x:.1f} {y:.1f}H{x + wide:.1f}")
    now = nodes.crossed[at]
    return [
        Shape(
            key="edge curve",
            tag="path",
            attributes={
                "d": "".join(points),
                "class": "c-communication",
                "fill": "none",
                "stroke": "currentColor",
                "stroke-width": "2.5",
            },
        ),
        text(
            "edge now",
            right + 8,
            max(_height(nodes, now, top) + 5, top + 26),
            14,
            render_text(say("{m}", m=(now, BYTES))),
            "start",
        ),
    ]


def _height(nodes: Nodes, size: Bytes, top: float) -> float:
    return top + _CURVE * (1 - size / nodes.full)
