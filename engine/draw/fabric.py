"""A fat tree as a scene: nodes with their GPUs, leaves, spines, and what is on the wires.

Of a large fabric two leaf groups are drawn, two nodes of each, and eight GPUs of each node.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.core.text import Text
from engine.core.units import Count, Share
from engine.core.views import Frame, Scene, Shape
from engine.draw.shapes import rect, text
from engine.simulate.network.fabric_design import Fabric
from engine.simulate.network.fair_share import Link

WIDTH = 720.0
_TOP, _LEAVES, _NODES, _FOOT = 26.0, 108.0, 222.0, 306.0
_FONT = 23.0
_HIGH, _SIDE, _NODE = 40.0, 34.0, 154.0
_DRAWN = 8
# How strong a wire is drawn that carries nothing, and one that is full.
_FAINT, _THIN, _THICK = 0.16, 1.0, 5.0

Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """What of a fabric is drawn.

    Attributes:
        nodes: numbers of the nodes, two of each leaf group.
        per_group: nodes of a leaf group.
        gpus: of a node.
        rails: leaves of a group that are told apart; 1 if all ports of a node are on one.
        ports: of a node that are told apart.
        spines: what stands above the leaves, in words; "" if nothing.
        node_name: "node" or "rack".
    """

    nodes: tuple[int, ...]
    per_group: Count
    gpus: Count
    rails: Count
    ports: Count
    spines: str
    node_name: str = "node"

    @property
    def groups(self) -> tuple[int, ...]:
        """The leaf groups of the nodes."""
        return tuple(dict.fromkeys(node // self.per_group for node in self.nodes))

    @property
    def places(self) -> Count:
        """GPUs of a node that are drawn."""
        return min(self.gpus, _DRAWN)

    @property
    def leaves(self) -> Count:
        """Leaves of a group that are drawn: those that the drawn GPUs reach."""
        return 1 + max(_leaf_of(self, place) for place in range(self.places))


# (what, of which, place): ("port", node, place), ("gpu", node, place), ("leaf", group, leaf).
Wire = tuple[str, int, int]
Look = Mapping[Wire, Share]


def drawn_of(fabric: Fabric, gpus_per_node: Count, node_name: str = "node") -> Drawn:
    """Return the part of a fabric that is drawn."""
    group = fabric.nodes_per_group
    seen = (0, 1, group, group + 1) if group > 1 and fabric.groups > 1 else range(4)
    above = f"{fabric.spines} spine switch{'es' if fabric.spines > 1 else ''}"
    if fabric.cores:
        above += f", {fabric.cores} core switches above"
    return Drawn(
        nodes=tuple(node for node in seen if node < fabric.plan.num_nodes),
        per_group=group,
        gpus=gpus_per_node,
        rails=fabric.leaves // fabric.groups,
        ports=min(fabric.plan.ports_per_node, gpus_per_node),
        spines=above if fabric.spines else "",
        node_name=node_name,
    )


def fabric_scene(
    drawn: Drawn, title: str, frames: Sequence[tuple[Look, Text]], opening: Count = 0
) -> Scene:
    """Return the scene; a frame is how full each wire is, and its caption."""
    return Scene(
        title=title,
        width=WIDTH,
        height=_FOOT + 34,
        frames=tuple(
            Frame(caption=caption, shapes=tuple(_shapes(drawn, look))) for look, caption in frames
        ),
        opening=opening,
        caption=_caption(drawn),
    )


def _caption(drawn: Drawn) -> str:
    words = "From below: GPUs in their nodes, the leaf switches of the rails, and what is above."
    if drawn.rails == 1:
        words = "From below: GPUs in their nodes, one leaf switch per group, and what is above."
    part = f" {_DRAWN} of {drawn.gpus} GPUs of a {drawn.node_name} are drawn."
    return f"{words}{part if drawn.gpus > _DRAWN else ''} The thicker a wire, the fuller it is."


def all_wires(drawn: Drawn, loads: Mapping[str, Share]) -> Look:
    """Return every wire of a kind as full as the busiest of that kind: "nvlink", "port", "leaf"."""
    found: dict[Wire, Share] = {}
    for node in drawn.nodes:
        for place in range(drawn.places):
            found["gpu", node, place] = loads.get("nvlink", 0.0)
            found["port", node, place] = loads.get("port", 0.0)
    for group in drawn.groups:
        for leaf in range(drawn.leaves):
            found["leaf", group, leaf] = loads.get("leaf", 0.0)
    return found


def wires_of(drawn: Drawn, links: Iterable[Link]) -> Look:
    """Return the wires that a message has crossed so far, all of them full."""
    found: dict[Wire, Share] = {}
    for kind, *at in links:
        if kind in ("nvlink_out", "nvlink_in"):
            node, place = divmod(int(at[0]), drawn.gpus)
            found["gpu", node, place % _DRAWN] = 1.0
        elif kind in ("port_out", "port_in"):
            place = int(at[1]) * drawn.gpus // drawn.ports
            found["port", int(at[0]), place % _DRAWN] = 1.0
        elif kind in ("leaf_up", "leaf_down"):
            found["leaf", int(at[0]), int(at[1]) * drawn.rails // drawn.ports % _DRAWN] = 1.0
    return found


def _shapes(drawn: Drawn, look: Look) -> Iterable[Shape]:
    places = [("port", node, place) for node in drawn.nodes for place in range(drawn.places)]
    leaves = [("leaf", group, leaf) for group in drawn.groups for leaf in range(drawn.leaves)]
    yield from (_line(drawn, wire, look.get(wire, 0.0)) for wire in places)
    if drawn.spines:
        yield from (_line(drawn, wire, look.get(wire, 0.0)) for wire in leaves)
        climbs = any(look.get(wire, 0.0) for wire in leaves)
        yield from _box("spines", (WIDTH / 2, _TOP), (WIDTH - 80, _HIGH), drawn.spines, climbs)
    used = {
        (wire[1] // drawn.per_group, _leaf_of(drawn, wire[2]))
        for wire, share in look.items()
        if wire[0] == "port" and share
    }
    for wire in leaves:
        _, group, leaf = wire
        busy = (group, leaf) in used or look.get(wire, 0.0) > 0
        name = f"{leaf}" if drawn.rails > 1 else "leaf"
        at = _leaf(drawn, group, leaf)
        yield from _box(f"l{group}.{leaf}", at, _leaf_size(drawn), name, busy)
    for node in drawn.nodes:
        yield from _node(drawn, node, look)


def _node(drawn: Drawn, node: int, look: Look) -> Iterable[Shape]:
    x, _ = _middle(drawn, node)
    corner = (x - _NODE / 2, _NODES - 18)
    yield rect(f"n{node}", corner, (_NODE, 62.0), "rank port", ())
    for place in range(drawn.places):
        share = look.get(("gpu", node, place), 0.0)
        sends = look.get(("port", node, place), 0.0)
        at = _gpu(drawn, node, place)
        kind = "cell c-tensor" if share else "cell c-communication" if sends else "cell c-muted"
        opacity = 0.12 + 0.8 * max(share, sends)
        corner = (at[0] - 7.5, at[1])
        more = (("fill-opacity", f"{opacity:.2f}"), ("data-links", f"gpu:{node}.{place}"))
        yield rect(f"g{node}.{place}", corner, (15.0, 26.0), kind, more)
    yield text(f"t{node}", x, _NODES + 70, _FONT, f"{drawn.node_name} {node}", "middle", "c-ink")


def _line(drawn: Drawn, wire: Wire, share: Share) -> Shape:
    kind, of, place = wire
    if kind == "port":
        x, y = _gpu(drawn, of, place)
        end = _leaf(drawn, of // drawn.per_group, _leaf_of(drawn, place))
        end = (end[0], end[1] + _HIGH / 2)
    else:
        x, y = _leaf(drawn, of, place)
        y -= _HIGH / 2
        end = (WIDTH / 2 + (x - WIDTH / 2) * 0.86, _TOP + _HIGH / 2)
    return Shape(
        key=f"w{kind}{of}.{place}",
        tag="line",
        attributes={
            "x1": f"{x:.1f}",
            "y1": f"{y:.1f}",
            "x2": f"{end[0]:.1f}",
            "y2": f"{end[1]:.1f}",
            "class": "c-communication" if share else "c-muted",
            "stroke": "currentColor",
            "stroke-width": f"{_THIN + (_THICK - _THIN) * share:.2f}",
            "opacity": f"{max(_FAINT + 0.1, _FAINT + (1 - _FAINT) * share):.2f}",
        },
    )


def _box(key: str, at: Point, size: Point, words: str, used: bool) -> Iterable[Shape]:
    corner = (at[0] - size[0] / 2, at[1] - size[1] / 2)
    kind = "cell c-communication" if used else "cell c-muted"
    yield rect(f"{key}.back", corner, size, "rank", ())
    yield rect(key, corner, size, kind, (("fill-opacity", "0.35" if used else "0.12"),))
    yield text(f"{key}.t", at[0], at[1] + 8, _FONT, words, "middle", "c-ink")


def _leaf_of(drawn: Drawn, place: int) -> int:
    """Return the leaf of a group that the port beside the GPU at a place of its node is on."""
    port = place * drawn.ports // drawn.gpus
    return port * drawn.rails // drawn.ports % _DRAWN


def _leaf_size(drawn: Drawn) -> Point:
    return (_SIDE if drawn.rails > 1 else 120.0, _HIGH)


def _leaf(drawn: Drawn, group: int, leaf: int) -> Point:
    members = [_middle(drawn, node)[0] for node in drawn.nodes if node // drawn.per_group == group]
    middle = sum(members) / len(members)
    return middle + (leaf - (drawn.leaves - 1) / 2) * (_SIDE + 7), _LEAVES


def _middle(drawn: Drawn, node: int) -> Point:
    index, count = drawn.nodes.index(node), len(drawn.nodes)
    return WIDTH * (index + 0.5) / count, _NODES


def _gpu(drawn: Drawn, node: int, place: int) -> Point:
    x, y = _middle(drawn, node)
    return x + (place - (drawn.places - 1) / 2) * 18.5, y
