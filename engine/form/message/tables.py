"""The regime, protocols compared, published statements checked, and a challenge."""

from collections.abc import Mapping
from dataclasses import replace

from engine.basis.inputs import Scalar
from engine.basis.text import say
from engine.basis.units import BANDWIDTH, BYTES, KB, LINK_SPEED, MICRO, SECONDS, SHARE, Gbit
from engine.basis.views import Badge, Challenge, Cite, Condition, Table
from engine.catalog.hardware import LINKS
from engine.form.message.inputs import PRESETS, PROTOCOLS, PUBLISHED, Inputs, published
from engine.form.message.layers import LOAD
from engine.form.message.model import DATA, PCIE_STAGES, SYNC, Way, at, way
from engine.form.message.values import LARGE, pcie_share
from engine.formulas.message import effective_bandwidth


def protocols(inputs: Inputs) -> Table:
    """Return what each protocol costs a hop, what it leaves of the wire, and two messages."""
    rows = tuple(
        (
            name,
            say("{t}", t=(SYNC[key], SECONDS)) if SYNC[key] else "none",
            say("{s}", s=(DATA[key], SHARE)),
            say("{t}", t=(at(inputs, protocol=key).time, SECONDS)),
            say("{t}", t=(at(inputs, protocol=key, message=LARGE).time, SECONDS)),
        )
        for key, name in PROTOCOLS.items()
    )
    mine = say("{s}", s=(inputs.message, BYTES))
    return Table(
        title="Protocols on this path",
        columns=("Protocol", "Cost of a hop", "Bandwidth left", "This message", "64 MiB"),
        rows=rows,
        caption=say("This message: {s}.", s=mine.numbers["s"]),
    )


def claims() -> Table:
    """Return four published statements beside what they leave out."""
    small, large = way(published()), at(published(), message=LARGE)
    ours, efa = Inputs(), replace(Inputs(), **PRESETS["EFA, one card of 100 Gb/s"])  # type: ignore[arg-type]
    share = small.part(PCIE_STAGES) / small.latency
    rows = (
        (
            "PCIe dominates total latency (40-50%)",
            say("{s}", s=(share, SHARE)),
            say("{s} of 64 MiB", s=(pcie_share(large), SHARE)),
            "midpoints of guessed ranges, and no bytes",
            Cite(("day1inference",)),
        ),
        (
            "InfiniBand or EFA matters less for that reason",
            "the same 46 %",
            say(
                "64 MiB: {a} or {b}",
                a=(at(ours, message=LARGE).time, SECONDS),
                b=(at(efa, message=LARGE).time, SECONDS),
            ),
            "one card of 400 or 100 Gb/s: bandwidth decides, and tails, which no latency shows",
            Cite(("day1inference",)),
        ),
        (
            "HBM read",
            say("{t}", t=(PUBLISHED["read"], SECONDS)),
            say("{t}", t=(LOAD, SECONDS)),
            "690 cycles measured on a GH200, at 1.98 GHz",
            Cite(("dewing",)),
        ),
        (
            "NVLink: under a microsecond, 900 GB/s",
            "< 1 µs, 900 GB/s",
            say(
                "{a} to {b} a hop, {r} one way",
                a=(SYNC["ll"], SECONDS),
                b=(SYNC["simple"], SECONDS),
                r=(LINKS["nvlink4"].bandwidth, BANDWIDTH),
            ),
            "900 counts both directions; a hop of NCCL is more than its wire",
            Cite(("hu2025", "nvidia_h100")),
        ),
    )
    return Table(
        title="Four published statements",
        columns=("Statement", "It prints", "Right", "Why", "From"),
        rows=rows,
    )


START: Mapping[str, Scalar] = {
    "message": 8 * KB,
    "protocol": "simple",
    "direct": False,
    "placement": "sys",
    "forwarding": "whole",
}
SOLUTION: Mapping[str, Scalar] = {
    "message": 8 * KB,
    "protocol": "ll128",
    "direct": True,
    "placement": "pix",
    "forwarding": "packets",
}
_LIMIT, _LEAST = 12 * MICRO, 0.9
_STAGES = (*PUBLISHED, "hops", "copy")


def challenge(inputs: Inputs, one: Way) -> Challenge:
    """Return the challenge: one setting that serves small and large messages."""
    base = Inputs()
    large = at(inputs, message=LARGE)
    rate = effective_bandwidth(LARGE, large.time)
    conditions = (
        Condition(
            text="a protocol of NCCL, and the latencies of the stages as at the start",
            met=inputs.protocol != "raw"
            and all(getattr(inputs, key) == getattr(base, key) for key in _STAGES),
        ),
        Condition(
            text=say("a port of {r}", r=(400 * Gbit, LINK_SPEED)),
            met=inputs.link == 400 * Gbit,
        ),
        Condition(
            text=say("a message of {m}, under {t}", m=(8 * KB, BYTES), t=(_LIMIT, SECONDS)),
            met=inputs.message == 8 * KB and one.time < _LIMIT,
        ),
        Condition(
            text=say(
                "64 MiB with the same settings at {s} of the line rate (now {r})",
                s=(_LEAST, SHARE),
                r=(rate / inputs.link, SHARE),
            ),
            met=rate >= _LEAST * inputs.link,
        ),
    )
    return Challenge(
        title="Challenge: fast at both ends",
        goal="Serve 8 kB and 64 MiB with one and the same setting.",
        conditions=conditions,
        hints=(
            "Look at the tallest bars first: which of them is not on every path?",
            "LL is quickest, but what share of its bytes is data?",
        ),
        start=START,
        solution=SOLUTION,
    )


def regime(inputs: Inputs, one: Way) -> Badge:
    """Return what decides: latencies, or the slowest stage that the bytes cross."""
    moving = one.time - one.latency
    if one.latency >= moving:
        name, color = "Latency", "compute"
        text = "{a} of latencies, {b} of bytes: a faster port would hardly help."
    elif one.slowest == inputs.link:
        name, color = "Wire", "communication"
        text = "{b} of bytes, {a} of latencies: only fewer bytes or a faster port help."
    else:
        name, color = "PCIe", "accent"
        text = "{b} of bytes, {a} of latencies: the way between GPU and card is slower than it."
    if one.pieces == 1 and one.latency < moving:
        name, color = "Not pipelined", "memory"
        text = "{b} of bytes, {a} of latencies: each stage waits for the whole message."
    return Badge(
        text=name,
        sentence=say(text, a=(one.latency, SECONDS), b=(moving, SECONDS)),
        color=color,
    )
