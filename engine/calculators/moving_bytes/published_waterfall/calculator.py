"""A published waterfall: its own midpoints added up, and what becomes of them with bytes."""

from functools import partial

from engine.calculators.moving_bytes.published_waterfall.result import Inputs as Inputs
from engine.calculators.moving_bytes.published_waterfall.result import Result
from engine.calculators.moving_bytes.published_waterfall.result import solve as solve
from engine.catalog.constants import LOAD
from engine.catalog.hardware import LINKS
from engine.core.outputs import Teller, Views
from engine.core.text import say
from engine.core.units import BANDWIDTH, KB, SECONDS, SHARE
from engine.core.views import Cite, Published, Table
from engine.form.message.inputs import LARGE, PUBLISHED
from engine.formulas.message import MESSAGE_TIME
from engine.simulate.network.message_path import SYNC

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


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        "share": tell.value("share", published=_CLAIM),
        **tell.values("time", "latency"),
        "bare_share": tell.value("bare_share", published=_CLAIM),
        "large_share": tell.value("large_share", published=_CLAIM),
        "large_wire": tell.value("large_wire"),
        "claims": partial(_claims, result),
    }


def _claims(result: Result) -> Table:
    """Return four published statements beside what they leave out."""
    ours = result.ours
    rows = (
        (
            "PCIe dominates total latency (40-50%)",
            say("{s}", s=(result.bare_share, SHARE)),
            say("{s} of 64 MiB", s=(result.large_theirs, SHARE)),
            "midpoints of guessed ranges, and no bytes",
            Cite(("day1inference",)),
        ),
        (
            "InfiniBand or EFA matters less, because PCIe decides",
            say("the same {s}", s=(result.bare_share, SHARE)),
            say(
                "64 MiB: {a} or {b}; 1 kB: {c} or {d}",
                a=(ours["ib", LARGE], SECONDS),
                b=(ours["efa", LARGE], SECONDS),
                c=(ours["ib", KB], SECONDS),
                d=(ours["efa", KB], SECONDS),
            ),
            "four cards of 100 Gb/s to a GPU carry as much; EFA's hops and tails are longer",
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
        columns=("Statement", "Published", "Right", "Why", "From"),
        rows=rows,
    )
