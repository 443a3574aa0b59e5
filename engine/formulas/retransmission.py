"""What a transport delivers on a link that loses packets, depending on how it sends them again."""

import math

from engine.core.equation import Equation
from engine.core.units import Bandwidth, Bytes, Count, Ratio, Seconds, Share

_SYMBOLS = {
    "g": (r"\eta", "share of the packets on the wire that are new"),
    "q": ("q", "share of the packets that are lost"),
    "w": ("w", "packets in a round trip, the lost one included"),
    "M": ("M", "packets of a message"),
    "B": ("B", "speed of the port, one way"),
    "t": (r"t_{\mathrm{RTT}}", "round trip: from a packet until its answer"),
    "z": ("z", "size of a packet"),
    "T": ("T", "wait for an answer that never comes"),
    "c": (r"t_0", "tick of InfiniBand's timers"),
    "k": ("k", "NCCL_IB_TIMEOUT"),
}
# A float ends soon behind e^700. Long before that, no message ever arrives.
_MOST = 690.0
# Of InfiniBand's timers: 4.096 us.
TICK: Seconds = 4.096e-6


def _of(keys: str) -> dict[str, tuple[str, str]]:
    return {key: _SYMBOLS[key] for key in keys.split()}


ROUND_TRIP_PACKETS = Equation(
    name="round_trip_packets",
    tex=r"\v{w} = 1 + \frac{\v{B}\,\v{t}}{\v{z}}",
    symbols=_of("w B t z"),
    sources=("guo2016",),
    title="Packets in a round trip",
)


def round_trip_packets(port: Bandwidth, round_trip: Seconds, packet: Bytes) -> Ratio:
    """Return how many packets a sender that goes back sends again for one that was lost.

    Those that were on their way while the lost one was reported: speed times round trip, and the
    lost one (Guo et al. 2016, section 4.1). Limit: the port never pauses.
    """
    return 1 + port * round_trip / packet


GO_BACK_N = Equation(
    name="go_back_n_goodput",
    tex=r"\v{g} = \frac{1 - \v{q}}{1 - \v{q} + \v{w}\,\v{q}}",
    symbols=_of("g q w"),
    sources=("leung1988",),
    title="Goodput under loss, go-back-N",
)


def go_back_n_goodput(loss: Share, window: Ratio) -> Share:
    """Return what arrives as new, if every loss sends again all that followed the lost packet.

    Source: Leung et al. 1988, with independent losses. Limit: a loss is always reported by the
    packet behind it, never by a timer.
    """
    return (1 - loss) / (1 - loss + window * loss)


SELECTIVE_REPEAT = Equation(
    name="selective_repeat_goodput",
    tex=r"\v{g} = 1 - \v{q}",
    symbols=_of("g q"),
    title="Goodput under loss, selective repeat",
)


def selective_repeat_goodput(loss: Share) -> Share:
    """Return what arrives as new, if lost packets alone are sent again.

    Derived: each packet on the wire arrives or is lost, and nothing arrives twice. Limit: the
    receiver has room for everything that arrives behind a gap.
    """
    return 1 - loss


GO_BACK_0 = Equation(
    name="go_back_0_goodput",
    tex=(
        r"\v{g} = \frac{\v{M}}{\left((1 - \v{q})^{-\v{M}} - 1\right)"
        r"\left(\frac{1}{\v{q}} + \v{w} - 1\right)}"
    ),
    symbols=_of("g M q w"),
    title="Goodput under loss, whole message sent again",
)


def go_back_0_goodput(loss: Share, window: Ratio, packets: Count) -> Share:
    """Return what arrives as new, if every loss sends the whole message again.

    Derived: a row of M packets without a loss takes ((1 - q)^-M - 1) / q of them on average and
    begins anew (1 - q)^-M - 1 times, with w - 1 packets on their way each time. Limit: independent
    losses; if every 256th packet is lost, no message of more than 255 packets ever ends.
    """
    if loss in (0, 1):
        return 1.0 - loss
    again = math.expm1(min(_MOST, -packets * math.log1p(-loss)))
    return packets / (again * (1 / loss + window - 1))


HALF_GOODPUT_LOSS = Equation(
    name="half_goodput_loss",
    tex=r"\v{q} = \frac{1}{1 + \v{w}}",
    symbols=_of("q w"),
    title="Loss that halves the goodput of go-back-N",
)


def half_goodput_loss(window: Ratio) -> Share:
    """Return the loss at which going back delivers half: its goodput, solved for the loss."""
    return 1 / (1 + window)


ANSWER_TIMEOUT = Equation(
    name="answer_timeout",
    tex=r"\v{T} = \v{c}\,2^{\v{k}}",
    symbols=_of("T c k"),
    sources=("nccl_env",),
    title="Time until a port sends again",
)


def answer_timeout(exponent: Count) -> Seconds:
    """Return how long a card waits for an answer before it sends again.

    The last packet of a message has none behind it that would report its loss. Source: NCCL's
    documentation of NCCL_IB_TIMEOUT. Limit: cards with adaptive retransmission begin with less.
    """
    return TICK * 2.0**exponent
