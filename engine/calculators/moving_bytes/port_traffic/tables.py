"""Port traffic: algorithms side by side, and published statements beside the computed ones."""

from engine.basis.text import Text, say
from engine.basis.units import BYTES, COUNT, RATIO, SECONDS, Bytes, Count, Seconds
from engine.basis.views import Cell, Cite, Table
from engine.formulas.communication import ring_bytes_sent, star_bytes_sent, tree_bytes_sent
from engine.formulas.lower_bound import (
    all_reduce_factor,
    exchange_total_bytes,
    ring_latency_part,
    ring_total_bytes,
    star_port_bytes,
)

# The number of GPUs and the buffer that a published text compares, and its two cluster sizes.
_FEW, _BUFFER = 8, 14e9
_SMALL, _LARGE = 128, 16_384


def comparison(size: Bytes, world_size: Count) -> Table:
    """Return what the busiest port and all ports carry, by algorithm."""
    ring, star = ring_bytes_sent(size, world_size), star_bytes_sent(size, world_size)
    tree = tree_bytes_sent(size, world_size)
    rows = (
        _row("Ring", ring, ring, ring_total_bytes(size, world_size), "n"),
        _row("Double binary tree", tree, tree, ring_total_bytes(size, world_size), "n"),
        _row("Star, at its root", star, star, 2 * star, "n"),
        _row("Everybody to everybody", star, star, exchange_total_bytes(size, world_size), "n²"),
    )
    return Table(
        title="Whose port carries what",
        columns=(
            "Algorithm",
            "Busiest port: out",
            "Busiest port: in",
            "All ports together",
            "Grows with",
        ),
        rows=rows,
        caption=say(
            "{n} GPUs, a buffer of {s} each. In a star, out can start only when all is in; in the "
            "others both go on at once.",
            n=(world_size, COUNT),
            s=(size, BYTES),
        ),
    )


def _row(name: str, out: Bytes, into: Bytes, total: Bytes, grows: str) -> tuple[Text, ...]:
    cells = (say("{x}", x=(value, BYTES)) for value in (out, into, total))
    return (name, *cells, f"O({grows})")


def claims(latency: Seconds) -> Table:
    """Return four statements of a published text, what they leave out, and the numbers."""
    here = Cite(("pingdo_sync",))
    rows: tuple[tuple[Cell, ...], ...] = (
        (
            "A star costs O(n²). Its root moves 2(n − 1) buffers, all its ports together too: O(n)",
            say(
                "{r} at the root, {p} at a port of a ring",
                r=(star_port_bytes(_BUFFER, _FEW), BYTES),
                p=(ring_bytes_sent(_BUFFER, _FEW), BYTES),
            ),
            "wrong (E3.12)",
            here,
        ),
        (
            "A ring takes 2(n − 1) steps. As every run above counts",
            say("{n} for {k} GPUs", n=(2 * (_FEW - 1), COUNT), k=(_FEW, COUNT)),
            "right (E3.13)",
            here,
        ),
        (
            "Its time is 2(n − 1)/n · M/B. That is the part of the bytes; the steps are missing",
            say(
                "{t} of steps for {n} GPUs",
                n=(_LARGE, COUNT),
                t=(ring_latency_part(_LARGE, latency), SECONDS),
            ),
            "incomplete (E3.14)",
            here,
        ),
        (
            say(
                "{a} or {b} GPUs: only about twice the size. The bytes, yes; not the steps",
                a=(_SMALL, COUNT),
                b=(_LARGE, COUNT),
            ),
            say(
                "{f} and {t}; {g} and {u}",
                f=(all_reduce_factor(_SMALL), RATIO),
                g=(all_reduce_factor(_LARGE), RATIO),
                t=(ring_latency_part(_SMALL, latency), SECONDS),
                u=(ring_latency_part(_LARGE, latency), SECONDS),
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
            n=(_FEW, COUNT),
            s=(_BUFFER, BYTES),
            a=(latency, SECONDS),
        ),
    )
