"""Table of the stages: meaning, tool to measure, and published range."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.calculators.moving_bytes.message_waterfall.names import NAMES
from engine.catalog.constants import LOAD_HIGH, LOAD_LOW
from engine.catalog.message_stages import SYNC_LATENCY
from engine.core.text import Text, say
from engine.core.units import MICRO, SECONDS, Seconds
from engine.core.views import Citation, Table
from engine.form.message.inputs import Inputs
from engine.simulate.network.message_path import MessageTiming


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A stage as the table tells it.

    Attributes:
        meaning: description of the stage.
        tool: that shows its latency.
        low, high: published latencies.
        basis: "measured" or "assumed".
        sources: keys of the bibliography.
    """

    meaning: str
    tool: str
    low: Seconds
    high: Seconds
    basis: str
    sources: tuple[str, ...]


def _layer(meaning: str, tool: str, low: float, high: float, basis: str, sources: str) -> Layer:
    """Return a layer; the range is given in microseconds."""
    return Layer(
        meaning=meaning,
        tool=tool,
        low=low * MICRO,
        high=high * MICRO,
        basis=basis,
        sources=tuple(sources.split()),
    )


_COPY = _layer(
    "the copy engine moves the data over PCIe",
    "Nsight Systems, row of copies; NCCL_DEBUG=INFO without GDRDMA",
    6,
    12,
    "measured (6), claimed (12)",
    "rocm3809 pingdo_gpudirect",
)
LAYERS: Mapping[str, Layer] = {
    "launch": _layer(
        "the host puts the collective's kernel into a stream",
        "Nsight Systems: from the call to the kernel's start",
        3,
        5,
        "assumed",
        "day1inference",
    ),
    "copy_out": _COPY,
    "post": _layer(
        "a work request is written, a doorbell rung",
        "ib_write_lat between host memories, all of the path",
        0.1,
        1,
        "assumed",
        "kentino",
    ),
    "read": _layer(
        "the first line of the data comes out of memory",
        "a chase of pointers on the GPU",
        LOAD_LOW / MICRO,
        LOAD_HIGH / MICRO,
        "measured in cycles",
        "dewing",
    ),
    "pcie_out": _layer(
        "the card asks for the data and waits for them",
        "p2pmark --latency (GPU to GPU); ib_read_lat --use_cuda",
        0.5,
        6.14,
        "measured (4.1 to 6.14), lower end assumed",
        "p2pmark day1inference neugebauer2018",
    ),
    "transmit": _layer(
        "packets are built and put on the cable",
        "ib_write_lat over one cable, no switch",
        0.3,
        2,
        "assumed",
        "kentino day1inference",
    ),
    "fabric": _layer(
        "every switch looks at the header and passes on",
        "ib_write_lat with one and with three switches",
        0.1,
        0.6,
        "assumed",
        "kentino",
    ),
    "receive": _layer(
        "packets are checked, the address translated",
        "as for sending",
        0.3,
        2,
        "assumed",
        "kentino day1inference",
    ),
    "pcie_in": _layer(
        "the card writes; nobody answers a write",
        "ib_send_lat with and without --use_cuda",
        0.3,
        5,
        "assumed",
        "day1inference neugebauer2018",
    ),
    "write": _layer(
        "the data are where another reader sees them",
        "not alone; only as a part of the whole",
        0.12,
        LOAD_HIGH / MICRO,
        "assumed",
        "day1inference dewing",
    ),
    "copy_in": _COPY,
    "finish": _layer(
        "the receiver polls a flag, or fences and counts",
        "all_reduce_perf -b 8 -e 8, column time",
        0.1,
        1,
        "assumed; protocols published",
        "kentino hu2025",
    ),
}


def published_range(key: str, inputs: Inputs) -> tuple[Seconds, Seconds]:
    """Return the published range of a stage; that of the fabric counts the reader's switches."""
    layer = LAYERS[key]
    if key == "fabric":
        return layer.low * inputs.hops, layer.high * inputs.hops
    sync = SYNC_LATENCY[inputs.protocol] if key == "finish" else 0.0
    return layer.low + sync, layer.high + sync


def layer_table(inputs: Inputs, way: MessageTiming) -> Table:
    """Return a row for every stage on the reader's path."""
    rows = []
    for stage in way.stages:
        layer = LAYERS[stage.key]
        low, high = published_range(stage.key, inputs)
        span: Text = say(f"{{a}} to {{b}}; {layer.basis}", a=(low, SECONDS), b=(high, SECONDS))
        rows.append(
            (
                NAMES[stage.key],
                say("{t}", t=(stage.latency, SECONDS)),
                span,
                layer.meaning,
                layer.tool,
                Citation(layer.sources),
            )
        )
    return Table(
        title="Stage by stage",
        columns=(
            "Stage",
            "Yours",
            "Published",
            "What happens",
            "How to measure it",
            "From",
        ),
        rows=tuple(rows),
        caption="Point at a row: the same stage lights up in the bars and on the timeline.",
        links=tuple((f"stage:{stage.key}",) for stage in way.stages),
    )
