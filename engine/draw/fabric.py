"""Scenes of a fat tree: nodes with GPUs, leaf and spine switches, load of the wires.

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
_MAX_GPUS = 8
# How strong a wire is drawn that carries nothing, and one that is full.
_FAINT, _THIN, _THICK = 0.16, 1.0, 5.0

Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricLayout:
    """The part of a fabric that is drawn.

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
        """Number of drawn GPUs per node."""
        return min(self.gpus, _MAX_GPUS)

    @property
    def leaves(self) -> Count:
        """Number of drawn leaves per group: those that the drawn GPUs reach."""
        return 1 + max(_leaf_of(self, slot) for slot in range(self.places))


# (what, of which, place): ("port", node, place), ("gpu", node, place), ("leaf", group, leaf).
Wire = tuple[str, int, int]
WireLoads = Mapping[Wire, Share]


def fabric_layout(fabric: Fabric, gpus_per_node: Count, node_name: str = "node") -> FabricLayout:
    """Return the drawn part of a fabric."""
    group = fabric.nodes_per_group
    seen = (0, 1, group, group + 1) if group > 1 and fabric.groups > 1 else range(4)
    above = f"{fabric.spines} spine switch{'es' if fabric.spines > 1 else ''}"
    if fabric.cores:
        above += f", {fabric.cores} core switches above"
    return FabricLayout(
        nodes=tuple(node for node in seen if node < fabric.plan.num_nodes),
        per_group=group,
        gpus=gpus_per_node,
        rails=fabric.leaves // fabric.groups,
        ports=min(fabric.plan.ports_per_node, gpus_per_node),
        spines=above if fabric.spines else "",
        node_name=node_name,
    )


def fabric_scene(
    layout: FabricLayout, title: str, frames: Sequence[tuple[WireLoads, Text]], opening: Count = 0
) -> Scene:
    """Return the scene; a frame is the load of each wire and a caption."""
    return Scene(
        title=title,
        width=WIDTH,
        height=_FOOT + 34,
        frames=tuple(
            Frame(caption=caption, shapes=tuple(_shapes(layout, look))) for look, caption in frames
        ),
        opening=opening,
        caption=_caption(layout),
    )


def _caption(layout: FabricLayout) -> str:
    words = "From below: GPUs in their nodes, the leaf switches of the rails, and what is above."
    if layout.rails == 1:
        words = "From below: GPUs in their nodes, one leaf switch per group, and what is above."
    part = f" {_MAX_GPUS} of {layout.gpus} GPUs of a {layout.node_name} are drawn."
    return f"{words}{part if layout.gpus > _MAX_GPUS else ''} The thicker a wire, the fuller it is."


def wire_loads(layout: FabricLayout, loads: Mapping[str, Share]) -> WireLoads:
    """Return the load of every wire: that of the busiest of its kind ("nvlink", "port", "leaf")."""
    loads_by_wire: dict[Wire, Share] = {}
    for node in layout.nodes:
        for slot in range(layout.places):
            loads_by_wire["gpu", node, slot] = loads.get("nvlink", 0.0)
            loads_by_wire["port", node, slot] = loads.get("port", 0.0)
    for group in layout.groups:
        for leaf in range(layout.leaves):
            loads_by_wire["leaf", group, leaf] = loads.get("leaf", 0.0)
    return loads_by_wire


def crossed_wires(layout: FabricLayout, links: Iterable[Link]) -> WireLoads:
    """Return full load for the wires that a message has crossed so far."""
    loads_by_wire: dict[Wire, Share] = {}
    for kind, *at in links:
        if kind in ("nvlink_out", "nvlink_in"):
            node, slot = divmod(int(at[0]), layout.gpus)
            loads_by_wire["gpu", node, slot % _MAX_GPUS] = 1.0
        elif kind in ("port_out", "port_in"):
            slot = int(at[1]) * layout.gpus // layout.ports
            loads_by_wire["port", int(at[0]), slot % _MAX_GPUS] = 1.0
        elif kind in ("leaf_up", "leaf_down"):
            loads_by_wire[
                "leaf", int(at[0]), int(at[1]) * layout.rails // layout.ports % _MAX_GPUS
            ] = 1.0
    return loads_by_wire


def _shapes(layout: FabricLayout, look: WireLoads) -> Iterable[Shape]:
    wires = [("port", node, slot) for node in layout.nodes for slot in range(layout.places)]
    leaves = [("leaf", group, leaf) for group in layout.groups for leaf in range(layout.leaves)]
    yield from (_line(layout, wire, look.get(wire, 0.0)) for wire in wires)
    if layout.spines:
        yield from (_line(layout, wire, look.get(wire, 0.0)) for wire in leaves)
        climbs = any(look.get(wire, 0.0) for wire in leaves)
        yield from _box("spines", (WIDTH / 2, _TOP), (WIDTH - 80, _HIGH), layout.spines, climbs)
    used = {
        (wire[1] // layout.per_group, _leaf_of(layout, wire[2]))
        for wire, share in look.items()
        if wire[0] == "port" and share
    }
    for wire in leaves:
        _, group, leaf = wire
        busy = (group, leaf) in used or look.get(wire, 0.0) > 0
        name = f"{leaf}" if layout.rails > 1 else "leaf"
        at = _leaf_position(layout, group, leaf)
        yield from _box(f"l{group}.{leaf}", at, _leaf_size(layout), name, busy)
    for node in layout.nodes:
        yield from _node(layout, node, look)


def _node(layout: FabricLayout, node: int, look: WireLoads) -> Iterable[Shape]:
    x, _ = _node_center(layout, node)
    corner = (x - _NODE / 2, _NODES - 18)
    yield rect(f"n{node}", corner, (_NODE, 62.0), "rank port", ())
    for slot in range(layout.places):
        share = look.get(("gpu", node, slot), 0.0)
        sends = look.get(("port", node, slot), 0.0)
        at = _gpu_position(layout, node, slot)
        kind = "cell c-tensor" if share else "cell c-communication" if sends else "cell c-muted"
        opacity = 0.12 + 0.8 * max(share, sends)
        corner = (at[0] - 7.5, at[1])
        more = (("fill-opacity", f"{opacity:.2f}"), ("data-links", f"gpu:{node}.{slot}"))
        yield rect(f"g{node}.{slot}", corner, (15.0, 26.0), kind, more)
    yield text(f"t{node}", x, _NODES + 70, _FONT, f"{layout.node_name} {node}", "middle", "c-ink")


def _line(layout: FabricLayout, wire: Wire, share: Share) -> Shape:
    kind, of, slot = wire
    if kind == "port":
        x, y = _gpu_position(layout, of, slot)
        end = _leaf_position(layout, of // layout.per_group, _leaf_of(layout, slot))
        end = (end[0], end[1] + _HIGH / 2)
    else:
        x, y = _leaf_position(layout, of, slot)
        y -= _HIGH / 2
        end = (WIDTH / 2 + (x - WIDTH / 2) * 0.86, _TOP + _HIGH / 2)
    return Shape(
        key=f"w{kind}{of}.{slot}",
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


def _leaf_of(layout: FabricLayout, slot: int) -> int:
    """Return the leaf, within its group, that the port of a GPU is connected to."""
    port = slot * layout.ports // layout.gpus
    return port * layout.rails // layout.ports % _MAX_GPUS


def _leaf_size(layout: FabricLayout) -> Point:
    return (_SIDE if layout.rails > 1 else 120.0, _HIGH)


def _leaf_position(layout: FabricLayout, group: int, leaf: int) -> Point:
    members = [
        _node_center(layout, node)[0] for node in layout.nodes if node // layout.per_group == group
    ]
    middle = sum(members) / len(members)
    return middle + (leaf - (layout.leaves - 1) / 2) * (_SIDE + 7), _LEAVES


def _node_center(layout: FabricLayout, node: int) -> Point:
    index, count = layout.nodes.index(node), len(layout.nodes)
    return WIDTH * (index + 0.5) / count, _NODES


def _gpu_position(layout: FabricLayout, node: int, slot: int) -> Point:
    x, y = _node_center(layout, node)
    return x + (slot - (layout.places - 1) / 2) * 18.5, y
