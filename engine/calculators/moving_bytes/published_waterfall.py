"""A published waterfall: its own midpoints added up, and what becomes of them with bytes."""

from dataclasses import dataclass, replace
from typing import Annotated

from engine.basis.inputs import GBITS, Number
from engine.basis.text import say
from engine.basis.units import BYTES, KB, LINK_SPEED, SECONDS, SHARE, Bandwidth, Gbit
from engine.basis.views import Published, Receipt, Value, View
from engine.form.message.inputs import HIGH, LOW, MESSAGE, published
from engine.form.message.model import PCIE_STAGES, Way, at, way
from engine.form.message.tables import claims
from engine.form.message.values import LARGE, pcie_share, published_share, symbols
from engine.formulas.message import MESSAGE_TIME

TITLE = "A published waterfall"
QUESTION = "What becomes of 46 percent when the message has bytes?"
EQUATIONS = (MESSAGE_TIME,)
PRESETS = {"64 MiB": {"message": LARGE}, "64 MiB, 1,600 Gb/s": {"message": LARGE, "link": 2e11}}
_CLAIM = Published(
    text="PCIe traversal dominates total latency (40-50%)",
    reason="True of its own midpoints, and only for a message without bytes.",
    source="day1inference",
    claim="E0.1",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    message: Annotated[
        float,
        Number(label="Message", unit=MESSAGE, low=LOW, high=HIGH, scale="log", symbol="M"),
    ] = 1 * KB
    link: Annotated[
        float,
        Number(
            label="Network port",
            unit=GBITS,
            low=10 * Gbit,
            high=1600 * Gbit,
            scale="log",
            help="Line rate, one way.",
        ),
    ] = 400 * Gbit


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    bare = way(published())
    one = at(published(), message=inputs.message, link=inputs.link)
    large = at(published(), message=LARGE, link=inputs.link)
    return {
        "share": _share(one),
        "time": _time(one),
        "latency": Value(
            label="Its eight stages",
            value=bare.latency,
            quantity=SECONDS,
            receipt=Receipt(
                assumptions=("Middles of the eight ranges that the page gives, added.",),
                sources=("day1inference",),
            ),
            note="no byte",
        ),
        "bare_share": Value(
            label="PCIe, without a byte",
            value=published_share(),
            quantity=SHARE,
            receipt=Receipt(
                assumptions=("Two of its eight stages, over their sum.",),
                sources=("day1inference",),
                published=_CLAIM,
            ),
            note="what the page prints",
        ),
        "large_share": replace(_share(large), label="PCIe, with 64 MiB"),
        "large_wire": _wire(inputs.link),
        "claims": claims(),
    }


def _share(one: Way) -> Value:
    part = one.part(PCIE_STAGES)
    return Value(
        label="Latency of PCIe",
        value=pcie_share(one),
        quantity=SHARE,
        receipt=Receipt(
            assumptions=(
                say(
                    "{p} of {t}: its latencies as they are, and the bytes at the port's line rate.",
                    p=(part, SECONDS),
                    t=(one.time, SECONDS),
                ),
            ),
            sources=("day1inference",),
            published=_CLAIM,
        ),
        note=say("{p} of {t}", p=(part, SECONDS), t=(one.time, SECONDS)),
    )


def _time(one: Way) -> Value:
    return Value(
        label="One way",
        value=one.time,
        quantity=SECONDS,
        receipt=Receipt(
            equation=MESSAGE_TIME,
            symbols=symbols(one),
            inputs={"S": "message", "B": "link"},
            assumptions=("The published latencies, and packets of 4 KiB in a pipeline.",),
            sources=("day1inference",),
        ),
        color="communication",
    )


def _wire(link: Bandwidth) -> Value:
    return Value(
        label="The wire, 64 MiB",
        value=LARGE / link,
        quantity=SECONDS,
        receipt=Receipt(
            assumptions=(say("{s} at {b}.", s=(LARGE, BYTES), b=(link, LINK_SPEED)),),
        ),
        color="communication",
    )
