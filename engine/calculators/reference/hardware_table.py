"""Hardware table: accelerators, links and nodes, and the bandwidth ladder of a node."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS, Gpu
from engine.catalog.constants import ALLOWANCES
from engine.catalog.device_memory import DEVICE_MEMORY, DeviceMemory
from engine.catalog.hardware import LINKS, MEASURED, Link, MeasuredAllReduce
from engine.catalog.more_nodes import EVERY_NODE
from engine.catalog.nodes import NODES, Node
from engine.catalog.transports import INFINIBAND, NVLINK
from engine.core.inputs import BILLIONS, Choice, Number
from engine.core.outputs import Output, Presenter, Symbol, Views
from engine.core.text import Sentence, Text, say
from engine.core.units import (
    BANDWIDTH,
    BYTES,
    FLOP_RATE,
    LINK_SPEED,
    OPERATIONS,
    PARAMETERS,
    SECONDS,
    SHARE,
    Bandwidth,
    Bytes,
    Quantity,
    Ratio,
    Seconds,
)
from engine.core.views import Axis, Bar, Bars, Cell, Citation, Receipt, Segment, Table, Value
from engine.formulas.communication import POINT_TO_POINT, point_to_point_time
from engine.formulas.overlap import GRADIENT_SIZE, gradient_size
from engine.run.ladder import Rung, bandwidth_ladder

TYPES = {"bf16": "bf16", "fp16": "fp16", "fp8": "fp8", "fp4": "fp4"}
_NETWORKS = {
    "infiniband": "InfiniBand",
    "roce": "RoCE",
    "efa": "EFA",
    "ethernet": "Ethernet",
    "omnipath": "Omni-Path",
}
_ALGORITHMS = {
    "ring": "ring",
    "nvls": "in the switch",
    "sharp": "in the network's switches",
    "default": "left to NCCL",
}
_NONE = "–"


def accelerator_table(data_type: str) -> Table:
    """Return the table of accelerators: peak for a data type, and memory."""
    return Table(
        title=f"Accelerators: memory, and the dense peak in {TYPES[data_type]}",
        columns=(
            "Accelerator",
            "Memory",
            "Its bandwidth",
            f"Peak, {TYPES[data_type]}",
            "Per byte",
            "SMs",
            "Power",
            "Checked",
            "Datasheet",
        ),
        rows=tuple(_accelerator(gpu, data_type) for gpu in ACCELERATORS.values()),
        caption=say(
            "Memory is what programs can allocate; the CUDA context and NCCL take {c} of it. The "
            "rest is from datasheets. Peaks "
            'without structured sparsity; memory bandwidth is reads and writes together; "per '
            'byte" is the operations that the GPU can do while one byte comes from its memory. The '
            "power is the limit of the whole board.",
            c=(ALLOWANCES.context + ALLOWANCES.channels, BYTES),
        ),
    )


def _accelerator(gpu: Gpu, data_type: str) -> tuple[Cell, ...]:
    peak = gpu.peak.get(data_type)
    return (
        gpu.name,
        say("{m}", m=(gpu.memory, BYTES)),
        say("{b}", b=(gpu.memory_bandwidth, BANDWIDTH)),
        say("{p}", p=(peak, FLOP_RATE)) if peak else _NONE,
        say("{o}", o=(peak / gpu.memory_bandwidth, OPERATIONS)) if peak else _NONE,
        _NONE if gpu.xla else f"{gpu.sms}",
        f"{gpu.power:,.0f} W" if gpu.power else _NONE,
        gpu.date,
        Citation((gpu.source,)),
    )


def accelerator_memory_table() -> Table:
    """Return the table of each accelerator's memory as PyTorch and as its tool report it."""
    return Table(
        title="Accelerators: memory as reported",
        columns=("Accelerator", "For programs", "In nvidia-smi", "Evidence", "Sources"),
        rows=tuple(
            _reported_memory(ACCELERATORS[key], memory) for key, memory in DEVICE_MEMORY.items()
        ),
        caption="For programs: total_memory of torch.cuda.get_device_properties, the least figure "
        "found; it varies a little by driver. Both are less than on the label.",
    )


def _reported_memory(gpu: Gpu, memory: DeviceMemory) -> tuple[Cell, ...]:
    return (
        gpu.name,
        say("{m}", m=(gpu.memory, BYTES)),
        say("{m}", m=(memory.tool, BYTES)) if memory.tool else _NONE,
        memory.note,
        Citation(memory.sources),
    )


def _bandwidth_cells(speed: Bandwidth) -> tuple[Cell, Cell]:
    """Return the cells of a bandwidth: bytes per direction, and line rate in the reader's unit."""
    if not speed:
        return _NONE, _NONE
    return say("{b}", b=(speed, BANDWIDTH)), say("{b}", b=(speed, LINK_SPEED))


def accelerator_links_table() -> Table:
    """Return the table of each accelerator's links to neighbors and host."""
    return Table(
        title="Accelerators: links to neighbors and to the host",
        columns=(
            "Accelerator",
            "Scale-up, one way",
            "Scale-up, line rate",
            "To the host by",
            "One way",
            "Line rate",
            "Switch adds",
            "Checked",
            "Datasheet",
        ),
        rows=tuple(
            (
                gpu.name,
                *_bandwidth_cells(gpu.scale_up),
                gpu.host_link,
                *_bandwidth_cells(gpu.pcie),
                "yes" if gpu.switch_adds else "no",
                gpu.date,
                Citation((gpu.source,)),
            )
            for gpu in ACCELERATORS.values()
        ),
        caption=(
            "Datasheets, not what a collective reaches: that is in the table of measurements. "
            "Scale-up is NVLink or Infinity Fabric, all links of a GPU together. A dash means that "
            "there is only PCIe, or a bridge between two cards. NVLink-C2C: a GPU's half of the "
            "link between a Grace and two GPUs."
        ),
    )


# By the beginning of a link's name; those that are only announced have none.
_FITTED_LINKS = {
    "NVLink 3": NVLINK,
    "NVLink 4": NVLINK,
    "InfiniBand": INFINIBAND,
}


def link_table() -> Table:
    """Return the table of links with the latency that all pages use."""
    return Table(
        title="Links",
        columns=(
            "Link",
            "One way",
            "Line rate",
            "Step of a ring",
            "Checked",
            "Source",
        ),
        rows=tuple(_link(link) for link in LINKS.values()),
        caption=(
            "Line rates of the standards. A step of a ring is the latency of one large message, "
            "software included. It is fitted to measured all-reduces of 8 A100, 8 H100, 8 H200 and "
            "of four nodes with InfiniBand, and every page uses it. No fit, no number."
        ),
    )


def _link(link: Link) -> tuple[Cell, ...]:
    return (
        link.name,
        *_bandwidth_cells(link.bandwidth),
        _latency_cell(link),
        link.date,
        Citation((link.source,)),
    )


def _latency_cell(link: Link) -> Text:
    fits = [fit for name, fit in _FITTED_LINKS.items() if link.name.startswith(name)]
    return say("{t}", t=(fits[0].step, SECONDS)) if fits else _NONE


def node_table() -> Table:
    """Return every machine with its network."""
    return Table(
        title="Nodes",
        columns=(
            "Node",
            "GPUs",
            "Ports",
            "One port, line rate",
            "Per GPU, one way",
            "Network",
            "Checked",
            "Source",
        ),
        rows=tuple(_node(node) for node in EVERY_NODE.values()),
        caption="As the makers and the clouds state them. GPUs are those of one scale-up network.",
    )


def _node(node: Node) -> tuple[Cell, ...]:
    return (
        node.name,
        f"{node.gpus_per_node} × {ACCELERATORS[node.gpu].name}",
        f"{node.nics_per_node}",
        say("{b}", b=(node.nic_bandwidth, LINK_SPEED)),
        say("{b}", b=(node.network_per_gpu, BANDWIDTH)),
        _NETWORKS[node.network],
        node.date,
        Citation((node.source,)),
    )


def measured_table() -> Table:
    """Return the table of measured all-reduce bandwidths beside the line rate."""
    return Table(
        title="Measured: all-reduce in a node, in a rack, between nodes",
        columns=(
            "Node",
            "Algorithm",
            "Buffer",
            "Bus bandwidth",
            "Line rate, one way",
            "Reached",
            "Checked",
            "Measured by",
        ),
        rows=tuple(_measurement(row) for row in MEASURED.values()),
        caption=(
            "Bus bandwidth is the buffer over the time, times 2(n − 1)/n, so that it compares with "
            "the line rate. That is the rate of a GPU's NVLinks together, and between nodes of all "
            "ports of a node. Where a switch adds, fewer bytes cross the wire, and bus "
            "bandwidth may exceed the line rate."
        ),
    )


def _measurement(row: MeasuredAllReduce) -> tuple[Cell, ...]:
    rate = row.ports * LINKS[row.link].bandwidth
    reached: Sentence = say("{q}", q=(row.bus_bandwidth / rate, SHARE))
    return (
        row.name,
        _ALGORITHMS[row.algorithm],
        say("{s}", s=(row.size, BYTES)),
        say("{b}", b=(row.bus_bandwidth, BANDWIDTH)),
        say("{b}", b=(rate, BANDWIDTH)),
        reached,
        row.date,
        Citation((row.source,)),
    )


TITLE = "Hardware table"
QUESTION = "How fast is each rung between a GPU's memory and the network?"
HEADLINE = "network_time"
EQUATIONS = (GRADIENT_SIZE, POINT_TO_POINT)
PRESETS = {
    "GPT-3 on A100": {"parameters": 175e9, "node": "dgx-a100"},
    "70B on a rack of 72": {"parameters": 70e9, "node": "gb200-nvl72"},
}
ELEMENT: Bytes = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    parameters: Annotated[
        float,
        PARAMETERS,
        Number(label="Parameters", unit=BILLIONS, low=1e6, high=1e13, scale="log", symbol="P"),
    ] = 7e9
    node: Annotated[
        str, Choice(label="Node", options={key: node.name for key, node in NODES.items()})
    ] = "dgx-h100"
    data_type: Annotated[str, Choice(label="Peak for", options=TYPES)] = "bf16"


# Rung -> (label, color, what its bandwidth is).
_RUNG_LABELS: Mapping[str, tuple[str, str, str]] = {
    "memory": ("Its own memory (HBM)", "memory", "read once"),
    "scale_up": ("Other GPUs of the node", "tensor", "all links of the GPU together"),
    "host": ("The host", "pipeline", "one slot, or its part of the superchip's link"),
    "network": (
        "Other nodes (network)",
        "communication",
        "the node's ports, shared by its GPUs",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The gradients of the model, and the ladder of the node with the times to move them."""

    gradient: Annotated[
        Bytes,
        Output(
            "Gradients", "S", color="gradients", assumes=("bf16, two bytes for each parameter.",)
        ),
    ]
    element: Annotated[Bytes, Symbol("e")]
    rungs: tuple[Rung, ...]
    times: tuple[Seconds, ...]
    span: Annotated[Ratio, Output("Memory over network", note="from the first rung to the last")]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    size, rungs = gradient_size(inputs.parameters, ELEMENT), bandwidth_ladder(NODES[inputs.node])
    return Result(
        gradient=size,
        element=ELEMENT,
        rungs=rungs,
        times=tuple(point_to_point_time(size, rung.bandwidth, 0.0) for rung in rungs),
        span=rungs[0].bandwidth / rungs[-1].bandwidth,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result, equations=EQUATIONS)
    name = NODES[inputs.node].name
    here = f"A GPU of {name}, by its datasheet."
    times = zip(result.rungs, result.times, strict=True)
    return {
        "gradient": present.value("gradient"),
        **{f"{rung.key}_time": _time_value(present, rung, time) for rung, time in times},
        "span": _span_value(present, name, result),
        "bandwidths": _bars(
            "Bandwidth of every rung for one GPU, one way",
            BANDWIDTH,
            {rung.key: rung.bandwidth for rung in result.rungs},
            here,
        ),
        "times": _bars(
            "Time to move the gradients of one GPU, one way",
            SECONDS,
            {rung.key: time for rung, time in zip(result.rungs, result.times, strict=True)},
            f"{here} The same rungs as times: what is short above is long here.",
        ),
        "accelerators": partial(accelerator_table, inputs.data_type),
        "memories": accelerator_memory_table,
        "wires": accelerator_links_table,
        "links": link_table,
        "nodes": node_table,
        "measured": measured_table,
    }


def _time_value(present: Presenter, rung: Rung, time: Seconds) -> Value:
    label, color, note = _RUNG_LABELS[rung.key]
    return Value(
        label=label,
        value=time,
        quantity=SECONDS,
        receipt=Receipt(
            equation=POINT_TO_POINT,
            symbols={
                "T": (time, SECONDS),
                "a": (0.0, SECONDS),
                "S": present.number("gradient"),
                "B": (rung.bandwidth, BANDWIDTH),
            },
            inputs={"S": "parameters", "B": "node"},
            assumptions=(
                "At the datasheet's bandwidth, one way; latency left out. Measured bandwidths "
                "are lower.",
            ),
            sources=(rung.source,),
        ),
        note=say(f"at {{b}}, {note}", b=(rung.bandwidth, BANDWIDTH)),
        color=color,
    )


def _span_value(present: Presenter, name: str, result: Result) -> Value:
    fastest, slowest = result.rungs[0], result.rungs[-1]
    over = say(
        f"{name}: {{m}} from its memory over {{n}} of network for each GPU.",
        m=(fastest.bandwidth, BANDWIDTH),
        n=(slowest.bandwidth, BANDWIDTH),
    )
    sources = fastest.source, slowest.source
    return present.value("span", basis="datasheet", assumes=(over,), sources=sources)


def _bars(title: str, quantity: Quantity, values: Mapping[str, float], caption: str) -> Bars:
    return Bars(
        title=title,
        axis=Axis(
            label="bandwidth" if quantity is BANDWIDTH else "time",
            quantity=quantity,
            low=0.0,
            high=max(values.values()) * 1.02,
        ),
        bars=tuple(_bar(key, value) for key, value in values.items()),
        caption=caption,
    )


def _bar(key: str, value: float) -> Bar:
    label, color, _ = _RUNG_LABELS[key]
    return Bar(
        key=key,
        label=label,
        segments=(Segment(key=key, label=label, value=value, color=color),),
    )
