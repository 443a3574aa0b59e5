"""Scenes of a sharded step: each GPU's part of the vector and its memory, by event."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.catalog.models import TINY_260
from engine.core.numbers import format_significant, typeset
from engine.core.text import Text, render_text, say
from engine.core.text import render_text as written
from engine.core.units import BYTES, COUNT, Bytes, Count
from engine.core.views import Frame, Scene, Shape
from engine.draw.shapes import rect, text
from engine.tiny.layout import part_names, part_range
from engine.tiny.trace import Places, StepSnapshot

# Node names and the curve of inter-node traffic in the scene of a sharded step.

NODE_GAP = 24.0
EDGE_HEIGHT = 70.0
_NODE_CURVE = 50.0


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
        rect("edge axis", (left, top + _NODE_CURVE), (right - left, 0.8), "cell c-muted", ()),
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
    return top + _NODE_CURVE * (1 - size / nodes.full)


_LEFT, _WIDTH, _RIGHT = 64.0, 446.0, 114.0
_TOP, _LINE, _GAP = 46.0, 15.0, 12.0
_CURVE = 96.0
_STATES = (("parameters", "parameters"), ("gradients", "gradients"), ("first", "optimizer"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The data of a drawn step.

    Attributes:
        trace: of the step.
        memory: of the first GPU at each of its events.
        whole: what plain data parallelism holds.
        place: the number of the vector that is followed.
        off: largest difference from one GPU, of the largest parameter.
        per_node: GPUs of a node, where nodes are drawn; else 0.
        crossed: bytes that the first node had sent to others at each event, where nodes are drawn.
        full: the most of them that is drawn.
        said: phase -> caption, where it is another than usual.
    """

    trace: tuple[StepSnapshot, ...]
    memory: tuple[Bytes, ...]
    whole: Bytes
    place: Count
    off: float
    per_node: Count = 0
    crossed: tuple[Bytes, ...] = ()
    full: Bytes = 1.0
    said: Mapping[str, str] = field(default_factory=dict)


def shard_scene(step: Step) -> Scene:
    """Return the scene: a frame per event, and one that compares with a single GPU."""
    ranks = len(step.trace[0].ranks)
    bottom = _top(step, ranks - 1) + 3 * _LINE + _GAP
    nodes = Nodes(step.per_node, step.crossed, step.full)
    edges = (_LEFT, _x(260), _WIDTH)
    under = bottom + _curve(step) + 40
    ground = [*_heads(step), *_names(step, ranks), *_frame(step, bottom)]
    if step.per_node:
        tops = [_top(step, rank) for rank in range(0, ranks, step.per_node)]
        ground += [*node_names(tops), *edge_frame(nodes, edges, under)]
    frames = [
        Frame(
            caption=_caption(step, at),
            shapes=(*ground, *_now(step, at, bottom, nodes, edges, under)),
        )
        for at in range(len(step.trace))
    ]
    last = len(step.trace) - 1
    off = "less than 1e-14" if step.off < 1e-14 else f"up to {format_significant(step.off, 2)}"
    frames.append(
        Frame(
            caption=say(
                "Compared: one GPU has trained on all sequences. Over all {n} places its "
                f"parameters differ by {typeset(off)} of the largest.",
                n=(260, COUNT),
            ),
            shapes=(*ground, *_now(step, last, bottom, nodes, edges, under)),
        )
    )
    return Scene(
        title="One step, part by part",
        width=_WIDTH,
        height=under + (EDGE_HEIGHT if step.per_node else 0),
        frames=tuple(frames),
        caption="Three strips per GPU: parameters, gradients, optimizer states, where it holds "
        "them. At the right: parameter and gradient of the number under the mark. Below: the "
        "memory of GPU 0 so far.",
    )


def _x(index: float) -> float:
    return _LEFT + index * (_WIDTH - _LEFT - _RIGHT) / 260


def _now(
    step: Step,
    at: int,
    bottom: float,
    nodes: Nodes,
    edges: tuple[float, float, float],
    under: float,
) -> list[Shape]:
    shapes = [*_strips(step, step.trace[at]), *_memory(step, at, bottom)]
    return shapes + (edge_curve(nodes, at, edges, under) if step.per_node else [])


def _curve(step: Step) -> float:
    """Return the height of the memory curve: smaller if another curve is below."""
    return 0.6 * _CURVE if step.per_node else _CURVE


def _top(step: Step, rank: int) -> float:
    nodes = rank // step.per_node + 1 if step.per_node else 0
    return _TOP + rank * (3 * _LINE + _GAP) + nodes * NODE_GAP


def _heads(step: Step) -> list[Shape]:
    shapes = []
    for part in part_names(TINY_260):
        indices = part_range(TINY_260, part)
        name = "embed" if part == "embedding" else part
        shapes.append(text(f"part {part}", _x((indices.start + indices.stop) / 2), 18, 14, name))
    mark = (_x(step.place + 0.5) - 1, 26.0)
    shapes.append(rect("mark", mark, (2.5, 14), "cell done c-ink", (("fill-opacity", "0.8"),)))
    shapes.append(text("marked", _WIDTH - 4, 18, 14, f"no. {step.place + 1}", "end"))
    return shapes


def _names(step: Step, ranks: int) -> list[Shape]:
    shapes = []
    for rank in range(ranks):
        shapes.append(text(f"gpu{rank}", 2, _top(step, rank) + 27, 14, f"GPU {rank}", "start"))
        for line in range(3):
            top = _top(step, rank) + line * _LINE
            size = (_x(260) - _LEFT, _LINE - 2)
            shapes.append(rect(f"room{rank}.{line}", (_LEFT, top), size, "port", ()))
    return shapes


def _strips(step: Step, now: StepSnapshot) -> list[Shape]:
    shapes = []
    for rank, state in enumerate(now.ranks):
        for line, (name, color) in enumerate(_STATES):
            values: Places = getattr(state, name)
            if name == "gradients" and now.phase == "start":
                values = ()
            top = _top(step, rank) + line * _LINE
            path = "".join(
                f"M{_x(start):.1f} {top:.1f}H{_x(stop):.1f}v{_LINE - 2:.0f}H{_x(start):.1f}z"
                for start, stop in _value_ranges(values)
            )
            shapes.append(
                Shape(
                    key=f"held{rank}.{line}",
                    tag="path",
                    attributes={
                        "d": path or "M0 0",
                        "class": f"c-{color}",
                        "fill": "currentColor",
                        "fill-opacity": "0.75",
                        "stroke": "none",
                    },
                )
            )
        shapes += _numbers(step, now, rank)
    return shapes


def _numbers(step: Step, now: StepSnapshot, rank: int) -> list[Shape]:
    state = now.ranks[rank]
    shapes = []
    for line, (letter, values, power) in enumerate(
        (("p", state.parameters, 0), ("g·10³", state.gradients, 3))
    ):
        value = values[step.place]
        if value is None or (letter != "p" and now.phase == "start"):
            label = "–"
        else:
            label = typeset(f"{value * 10**power:.4f}")
        color = "parameters" if letter == "p" else "gradients"
        y = _top(step, rank) + 13 + line * 21
        at = _WIDTH - _RIGHT + 8
        shapes.append(text(f"l{rank}.{line}", at, y, 14, letter, "start", f"c-{color}"))
        shapes.append(text(f"v{rank}.{line}", _WIDTH - 4, y, 14, label, "end"))
    return shapes


def _value_ranges(values: Places) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for index, number in enumerate(values):
        if number is None:
            continue
        if runs and runs[-1][1] == index:
            runs[-1] = runs[-1][0], index + 1
        else:
            runs.append((index, index + 1))
    return runs


def _frame(step: Step, bottom: float) -> list[Shape]:
    top = bottom + 14
    whole = say("{m}", m=(step.whole, BYTES))
    return [
        text("memory", 2, top + _curve(step) / 2, 14, "memory", "start"),
        rect("axis", (_LEFT, top + _curve(step)), (_x(260) - _LEFT, 0.8), "cell c-muted", ()),
        rect("all", (_LEFT, top), (_x(260) - _LEFT, 0.8), "cell c-muted", ()),
        text("alls", _WIDTH - _RIGHT + 8, top + 6, 14, f"DDP {_plain(whole)}", "start"),
    ]


def _plain(words: Text) -> str:
    return written(words)


def _memory(step: Step, at: int, bottom: float) -> list[Shape]:
    """Return the memory of the first GPU up to an event, as a step curve."""
    top, wide = bottom + 14, (_x(260) - _LEFT) / len(step.memory)
    points = []
    for number, size in enumerate(step.memory[: at + 1]):
        y = top + _curve(step) * (1 - size / step.whole)
        x = _LEFT + number * wide
        points.append(f"{'M' if not number else 'L'}{x:.1f} {y:.1f}H{x + wide:.1f}")
    now = step.memory[at]
    y = top + _curve(step) * (1 - now / step.whole)
    return [
        Shape(
            key="curve",
            tag="path",
            attributes={
                "d": "".join(points),
                "class": "c-buffers",
                "fill": "none",
                "stroke": "currentColor",
                "stroke-width": "2.5",
            },
        ),
        text(
            "now",
            _WIDTH - _RIGHT + 8,
            max(y + 5, top + 26),
            14,
            _plain(say("{m}", m=(now, BYTES))),
            "start",
        ),
    ]


_CAPTIONS: Mapping[str, str] = {
    "gather": "All-gather: every GPU gets all parameters of the {part}, {n} numbers.",
    "forward": "Forward pass of the {part}, each GPU with its own sequences.",
    "backward": "Backward pass of the {part}: every GPU holds all {n} of its own gradients there.",
    "reduce_scatter": "Reduce-scatter: each sum of the {part} goes to its owner. What is left "
    "elsewhere is freed.",
    "adam": "Adam runs on the GPU that owns a parameter.",
    "all_gather": "All-gather: the owners pass the new parameters to all GPUs.",
}


def _caption(step: Step, at: int) -> Text:
    now = step.trace[at]
    sent = (sum(numbers[0] for numbers in now.sent.values()), COUNT)
    if now.phase == "start":
        parameters = sum(number is not None for number in now.ranks[0].parameters)
        return say(
            "The step begins. GPU 0 holds {p} parameters, and optimizer states of {o}.",
            p=(parameters, COUNT),
            o=(sum(number is not None for number in now.ranks[0].first), COUNT),
        )
    size = len(part_range(TINY_260, now.part)) if now.part else 0
    words = step.said.get(now.phase) or _CAPTIONS[now.phase]
    words = words.replace("{part}", now.part).replace("the layer", "layer")
    freed = now.phase == "forward" and at > 0 and step.memory[at] < step.memory[at - 1]
    more = " Its parameters are freed." if freed else ""
    turn = f"Micro-batch {now.micro}. " if now.micro > 0 and step.trace[-1] else ""
    turn = turn if any(snapshot.micro > 1 for snapshot in step.trace) else ""
    return say(f"{turn}{words}{more} {{s}} numbers sent by GPU 0.", n=(size, COUNT), s=sent)
