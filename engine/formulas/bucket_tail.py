"""One gradient in N equal pieces behind a backward pass, each piece with a latency of its own."""

from engine.core.equation import Equation
from engine.core.units import Count, Ratio, Seconds, Share
from engine.formulas.overlap import exposed_time

EXPOSED_TAIL = Equation(
    name="exposed_tail",
    tex=(
        r"\v{Te} = \max\left(\frac{\v{Tm}}{\v{N}} + \v{a},\;"
        r" \v{Tm} + \v{N}\,\v{a} - \frac{\v{N}-1}{\v{N}}\,\v{Tb}\right)"
    ),
    symbols={
        "Te": (r"T_{\mathrm{exposed}}", "communication that the step waits for"),
        "Tm": (r"T_{\mathrm{comm}}", "all-reduce of the whole gradient, without latency"),
        "N": ("N", "pieces"),
        "a": (r"\alpha", "latency of one piece"),
        "Tb": (r"T_{\mathrm{bwd}}", "backward pass"),
    },
    sources=("li2020",),
    title="What the step waits for when the all-reduce is cut into pieces",
)


def exposed_tail(
    communication: Seconds, backward: Seconds, num_pieces: Count, latency: Seconds
) -> Seconds:
    """Return what the step waits for after the backward pass.

    `exposed_time` with N latencies: the last piece is left over, or the network never rests.
    """
    return exposed_time(communication + num_pieces * latency, backward, num_pieces)


MOST_PIECES = Equation(
    name="most_pieces",
    tex=r"\v{N} = \max\left(1,\; \frac{\v{Tb} - \v{Tm}}{\v{a}}\right)",
    symbols={
        "N": ("N", "pieces from which more latency is exposed"),
        "Tb": (r"T_{\mathrm{bwd}}", "backward pass"),
        "Tm": (r"T_{\mathrm{comm}}", "all-reduce of the whole gradient, without latency"),
        "a": (r"\alpha", "latency of one piece"),
    },
    sources=("li2020",),
    title="Pieces from which latency outweighs overlap",
)


def most_pieces(communication: Seconds, backward: Seconds, latency: Seconds) -> Ratio:
    """Return how many pieces fill what the backward pass leaves with latency; more cost time.

    Both cases of `exposed_tail` meet here. 1 if the all-reduce alone outlasts the backward pass.
    """
    return max(1.0, (backward - communication) / latency)


def published_overlap(communication: Seconds, backward: Seconds) -> Share:
    """Return the "overlap efficiency" of a published page, min(1, T_comm / T_bwd).

    It grows with the communication and is small where all of it is hidden: not an efficiency.
    """
    return min(1.0, communication / backward)
