"""One message over the stages of its path: latencies add up, the bytes flow through a pipeline.

A stage has a latency, which every byte pays once, and a bandwidth; a stage that no byte crosses
(a launch, a doorbell) has none. The message is cut into equal pieces. A piece leaves a stage when
all of it has passed; meanwhile the stage before works on the next piece.
"""

from engine.core.equation import Equation
from engine.core.units import Bandwidth, Bytes, Count, Seconds, Share

_SYMBOLS = {
    "T": ("T", "one-way time"),
    "A": (r"\textstyle\sum_i \alpha_i", "latencies of all stages"),
    "D": (r"\textstyle\sum_i S/B_i", "bytes through all stages, one stage after the other"),
    "S": ("S", "message, over the share of the bandwidth that its protocol leaves"),
    "N": ("N", "pieces"),
    "B": (r"B_{\min}", "bandwidth of the slowest stage"),
    "M": ("M", "data of the message"),
    "e": ("e", "share of the bandwidth that the protocol leaves"),
    "q": ("q", "share"),
    "p": (r"\alpha_{\mathrm{PCIe}}", "latencies of the PCIe stages"),
    "x": ("x", "times that the data cross PCIe"),
    "V": ("V", "bytes over PCIe"),
}


def _symbols(keys: str) -> dict[str, tuple[str, str]]:
    return {key: _SYMBOLS[key] for key in keys.split()}


MESSAGE_TIME = Equation(
    name="message_time",
    tex=r"\v{T} = \v{A} + \frac{\v{D}}{\v{N}} + \frac{\v{N} - 1}{\v{N}}\,\frac{\v{S}}{\v{B}}",
    symbols=_symbols("T A D N S B"),
    sources=("hockney1994",),
    title="One message through all stages, in pieces",
)


def message_time(
    size: Bytes, pieces: Count, latency: Seconds, passing: Seconds, slowest: Bandwidth
) -> Seconds:
    """Return the one-way time of a message in equal pieces.

    `latency` is the sum over all stages, `passing` the time of the whole message through all stages
    one after the other, without latencies. The first piece passes them so; each of the others
    follows it out of the slowest stage. One piece: every stage waits for the whole message. Very
    many: latency plus size over the slowest bandwidth, the formula of Hockney 1994.
    `engine.simulate.network.message_path` gives the same by simulation. Limit: no other traffic,
    buffers never full, no gap between pieces.
    """
    return latency + passing / pieces + (pieces - 1) / pieces * size / slowest


BREAK_EVEN_SIZE = Equation(
    name="message_break_even",
    tex=r"\v{M} = \v{e}\,\v{B}\,\v{A}",
    symbols=_symbols("M e B A"),
    sources=("hockney1994",),
    title="Message whose latency equals its transfer",
)


def break_even_size(latency: Seconds, slowest: Bandwidth, data: Share) -> Bytes:
    """Return the message whose bytes take as long at the slowest stage as all latencies together.

    Of smaller ones the latencies are the larger part. `data` is the share of the bandwidth that
    the protocol leaves. Source: Hockney 1994 (half of the bandwidth is reached at this size).
    """
    return data * slowest * latency


LATENCY_SHARE = Equation(
    name="message_latency_share",
    tex=r"\v{q} = \frac{\v{p}}{\v{T}}",
    symbols=_symbols("q p T"),
    title="Share of PCIe in the time of a message",
)


def latency_share(part: Seconds, whole: Seconds) -> Share:
    """Return the share of a message's time that some of its latencies are."""
    return part / whole


EFFECTIVE = Equation(
    name="message_bandwidth",
    tex=r"\v{B} = \frac{\v{M}}{\v{T}}",
    symbols={**_symbols("M T"), "B": (r"B_{\mathrm{eff}}", "data over one-way time")},
    title="Bandwidth that one message reaches",
)


def effective_bandwidth(data: Bytes, time: Seconds) -> Bandwidth:
    """Return the bandwidth that one message alone reaches."""
    return data / time


PCIE_BYTES = Equation(
    name="message_pcie_bytes",
    tex=r"\v{V} = \v{x}\,\v{S}",
    symbols={**_symbols("V x"), "S": ("S", "data and flags")},
    title="Bytes of a message over PCIe",
)


def pcie_bytes(size: Bytes, crossings: Count) -> Bytes:
    """Return the bytes of a message on the wire over PCIe, both nodes together.

    Two crossings if the network cards read and write the GPUs' memories, four with copies through
    the memories of the hosts.
    """
    return crossings * size
