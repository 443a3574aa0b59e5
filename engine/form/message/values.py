"""The numbers of one message, each with its receipt."""

from engine.basis.text import Text, say
from engine.basis.units import (
    BANDWIDTH,
    BYTES,
    COUNT,
    SECONDS,
    SHARE,
    MiB,
    Quantity,
)
from engine.basis.views import Published, Receipt, Value
from engine.form.message.inputs import Inputs, published
from engine.form.message.model import PCIE_STAGES, SENT, Way, at, way
from engine.formulas.message import (
    BREAK_EVEN_SIZE,
    EFFECTIVE,
    LATENCY_SHARE,
    MESSAGE_TIME,
    PCIE_BYTES,
    break_even_size,
    effective_bandwidth,
    latency_share,
    pcie_bytes,
)

SOURCES = ("kentino", "dewing", "p2pmark", "nccl_topo", "hu2025")
LARGE = 64 * MiB
_EQUATIONS: Text = "Stages without traffic of others; their latencies are those of the inputs."


def pcie_share(one: Way) -> float:
    """Return the share of the time that is latency of PCIe."""
    return latency_share(one.part(PCIE_STAGES), one.time)


def values(inputs: Inputs, one: Way) -> dict[str, Value]:
    """Return the numbers of the reader's message."""
    return {
        "one_way": _time(inputs, one),
        "pcie_share": _share(one),
        "break_even": _break_even(inputs, one),
        "effective": _effective(inputs, one),
        "crossed": _crossed(inputs, one),
        "saved": _saved(inputs),
    }


def symbols(one: Way) -> dict[str, tuple[float, Quantity]]:
    """Return the symbols of the one-way time."""
    return {
        "T": (one.time, SECONDS),
        "A": (one.latency, SECONDS),
        "D": (one.passing, SECONDS),
        "N": (float(one.pieces), COUNT),
        "S": (one.wire, BYTES),
        "B": (one.slowest, BANDWIDTH),
    }


def _time(inputs: Inputs, one: Way) -> Value:
    return Value(
        label="One way",
        value=one.time,
        quantity=SECONDS,
        receipt=Receipt(
            equation=MESSAGE_TIME,
            symbols=symbols(one),
            inputs={"S": "message", "N": "forwarding", "B": "link"},
            assumptions=(_EQUATIONS,),
            sources=SOURCES,
        ),
        note=say(
            "{a} of latencies, {b} of bytes",
            a=(one.latency, SECONDS),
            b=(one.time - one.latency, SECONDS),
        ),
        color="communication",
    )


def _share(one: Way) -> Value:
    part = one.part(PCIE_STAGES)
    return Value(
        label="Latency of PCIe",
        value=latency_share(part, one.time),
        quantity=SHARE,
        receipt=Receipt(
            equation=LATENCY_SHARE,
            symbols={
                "q": (latency_share(part, one.time), SHARE),
                "p": (part, SECONDS),
                "T": (one.time, SECONDS),
            },
            inputs={"p": "pcie_out"},
            assumptions=("Both crossings; their bytes flow while those of the wire do.",),
            sources=SOURCES,
            published=Published(
                text=say("a published page prints {s}", s=(published_share(), SHARE)),
                reason="It adds the middles of guessed ranges, for a message without bytes.",
                source="day1inference",
                claim="E0.1",
            ),
        ),
        note=say("{p} of {t}", p=(part, SECONDS), t=(one.time, SECONDS)),
    )


def _break_even(inputs: Inputs, one: Way) -> Value:
    data = inputs.message / one.wire
    size = break_even_size(one.latency, one.slowest, data)
    return Value(
        label="Break-even size",
        value=size,
        quantity=BYTES,
        receipt=Receipt(
            equation=BREAK_EVEN_SIZE,
            symbols={
                "M": (size, BYTES),
                "e": (data, SHARE),
                "B": (one.slowest, BANDWIDTH),
                "A": (one.latency, SECONDS),
            },
            inputs={"B": "link", "e": "protocol"},
            assumptions=(
                "From here on the bytes take longer at the slowest stage than all latencies.",
            ),
        ),
        note="below it latency decides, above it the slowest stage",
    )


def _effective(inputs: Inputs, one: Way) -> Value:
    rate = effective_bandwidth(inputs.message, one.time)
    return Value(
        label="Effective bandwidth",
        value=rate,
        quantity=BANDWIDTH,
        receipt=Receipt(
            equation=EFFECTIVE,
            symbols={
                "B": (rate, BANDWIDTH),
                "M": (inputs.message, BYTES),
                "T": (one.time, SECONDS),
            },
            inputs={"M": "message"},
            assumptions=("One message at a time; several in flight share the latencies.",),
        ),
        note=say("{s} of the port's line rate", s=(rate / inputs.link, SHARE)),
    )


def _crossed(inputs: Inputs, one: Way) -> Value:
    crossings = 2 if inputs.direct else 4
    sent = inputs.message * SENT[inputs.protocol]
    size = pcie_bytes(sent, crossings)
    return Value(
        label="Bytes over PCIe",
        value=size,
        quantity=BYTES,
        receipt=Receipt(
            equation=PCIE_BYTES,
            symbols={
                "V": (size, BYTES),
                "x": (float(crossings), COUNT),
                "S": (sent, BYTES),
            },
            inputs={"S": "message", "x": "direct"},
            assumptions=("Data and flags; headers of packets are left out.",),
        ),
        note=f"{'two' if crossings == 2 else 'four'} crossings, both nodes together",
    )


def _saved(inputs: Inputs) -> Value:
    through, past = at(inputs, direct=False).time, at(inputs, direct=True).time
    return Value(
        label="GPUDirect saves",
        value=through - past,
        quantity=SECONDS,
        receipt=Receipt(
            assumptions=(
                say(
                    "{a} through the memory of the hosts, {b} past it.",
                    a=(through, SECONDS),
                    b=(past, SECONDS),
                ),
            ),
            sources=("rocm3809", "p2pmark", "perftest241"),
        ),
        note=say("{s} of the time without it", s=((through - past) / through, SHARE)),
    )


def published_share() -> float:
    """Return the share of PCIe in the published waterfall, without a byte."""
    one = way(published())
    return one.part(PCIE_STAGES) / one.latency
