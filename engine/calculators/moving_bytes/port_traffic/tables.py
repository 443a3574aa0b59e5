"""Port traffic: algorithms side by side, and published statements beside the computed ones."""

from engine.calculators.moving_bytes.port_traffic.result import (
    BUFFER,
    FEW,
    LARGE,
    SMALL,
    Claimed,
    Inputs,
    Result,
)
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, RATIO, SECONDS, Bytes
from engine.core.views import Cell, Cite, Table

_NAMES = {
    "ring": "Ring",
    "tree": "Double binary tree",
    "star": "Star, at its root",
    "everybody": "Everybody to everybody",
}


def comparison(inputs: Inputs, result: Result) -> Table:
    """Return what the busiest port and all ports carry, by algorithm."""
    return Table(
        title="Whose port carries what",
        columns=(
            "Algorithm",
            "Busiest port: out",
            "Busiest port: in",
            "All ports together",
            "Grows with",
        ),
        rows=tuple(_row(name, *carried) for name, carried in result.carried.items()),
        caption=say(
            "{n} GPUs, a buffer of {s} each. In a star, out can start only when all is in; in the "
            "others both go on at once.",
            n=(inputs.world_size, COUNT),
            s=(result.gradient_size, BYTES),
        ),
    )


def _row(name: str, port: Bytes, total: Bytes) -> tuple[Text, ...]:
    cells = (say("{x}", x=(value, BYTES)) for value in (port, port, total))
    return (_NAMES[name], *cells, "O(n²)" if name == "everybody" else "O(n)")


def claims(inputs: Inputs, claimed: Claimed) -> Table:
    """Return four statements of a published text, what they leave out, and the numbers."""
    here = Cite(("pingdo_sync",))
    rows: tuple[tuple[Cell, ...], ...] = (
        (
            "A star costs O(n²). Its root moves 2(n − 1) buffers, all its ports together too: O(n)",
            say(
                "{r} at the root, {p} at a port of a ring",
                r=(claimed.star_port, BYTES),
                p=(claimed.ring_port, BYTES),
            ),
            "wrong (E3.12)",
            here,
        ),
        (
            "A ring takes 2(n − 1) steps. As every run above counts",
            say("{n} for {k} GPUs", n=(2 * (FEW - 1), COUNT), k=(FEW, COUNT)),
            "right (E3.13)",
            here,
        ),
        (
            "Its time is 2(n − 1)/n · M/B. That is the part of the bytes; the steps are missing",
            say(
                "{t} of steps for {n} GPUs",
                n=(LARGE, COUNT),
                t=(claimed.latencies[1], SECONDS),
            ),
            "incomplete (E3.14)",
            here,
        ),
        (
            say(
                "{a} or {b} GPUs: only about twice the size. The bytes, yes; not the steps",
                a=(SMALL, COUNT),
                b=(LARGE, COUNT),
            ),
            say(
                "{f} and {t}; {g} and {u}",
                f=(claimed.factors[0], RATIO),
                g=(claimed.factors[1], RATIO),
                t=(claimed.latencies[0], SECONDS),
                u=(claimed.latencies[1], SECONDS),
            ),
            "misleading (E3.15)",
            here,
        ),
    )
    return Table(
        title="Four published statements",
        columns=("Published, and what it leaves out", "Computed", "Verdict", "Source"),
        rows=rows,
        caption=say(
            "First row: {n} GPUs, {s} each; of the root's bytes half go in, then half out, while a "
            "ring's port does both at once. {a} per step.",
            n=(FEW, COUNT),
            s=(BUFFER, BYTES),
            a=(inputs.latency, SECONDS),
        ),
    )
