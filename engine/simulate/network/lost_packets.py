"""Packets over a lossy link, one by one, under three retransmission protocols.

The sender never pauses. A loss is reported one round trip after the lost packet was sent; until
then the sender has sent `window` - 1 more, which a receiver that wants its packets in order throws
away. Losses are random with a seed, or periodic.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.core.units import Count, Share
from engine.simulate.numerics.rng import uniforms

GO_BACK_N, SELECTIVE, GO_BACK_0 = "go_back_n", "selective", "go_back_0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """Delivered and lost packets of a run.

    Attributes:
        packets: packets put on the wire.
        new: packets that arrived in order and for the first time.
        lost: lost packets.
        messages: messages that arrived whole.
    """

    packets: Count
    new: Count
    lost: Count
    messages: Count

    @property
    def goodput(self) -> Share:
        """Share of the packets on the wire that were new; of whole messages with go-back-0."""
        return self.new / self.packets if self.packets else 0.0


def random_losses(loss: Share, seed: Count) -> Iterator[bool]:
    """Yield for every packet whether it is lost, independently of the others."""
    for chance in uniforms(seed):
        yield chance < loss


def periodic_losses(count: Count) -> Iterator[bool]:
    """Yield for every packet whether it is lost: each `count`-th one is."""
    while True:
        yield from (position == count - 1 for position in range(count))


def send_packets(
    protocol: str, losses: Iterator[bool], window: Count, message: Count, packets: Count
) -> Delivery:
    """Return the delivery of `packets` on the wire, in messages of `message` packets."""
    return _WAYS[protocol](losses, window, message, packets)


def _go_back_n(losses: Iterator[bool], window: Count, message: Count, packets: Count) -> Delivery:
    sent = new = lost = 0
    while sent < packets:
        sent += 1
        if next(losses):
            lost += 1
            # What follows in this round trip arrives behind a gap, or is lost too: thrown away.
            wasted = min(window - 1, packets - sent)
            lost += sum(next(losses) for _ in range(wasted))
            sent += wasted
        else:
            new += 1
    return Delivery(packets=sent, new=new, lost=lost, messages=new // message)


def _selective(losses: Iterator[bool], window: Count, message: Count, packets: Count) -> Delivery:
    del window  # what follows a loss is kept
    lost = sum(next(losses) for _ in range(packets))
    new = packets - lost
    return Delivery(packets=packets, new=new, lost=lost, messages=new // message)


def _go_back_0(losses: Iterator[bool], window: Count, message: Count, packets: Count) -> Delivery:
    sent = lost = messages = row = 0
    while sent < packets:
        sent += 1
        row += 1
        if next(losses):
            lost += 1
            wasted = min(window - 1, packets - sent)
            lost += sum(next(losses) for _ in range(wasted))
            sent += wasted
            row = 0
        elif row == message:
            messages, row = messages + 1, 0
    return Delivery(packets=sent, new=messages * message, lost=lost, messages=messages)


_WAYS: dict[str, Callable[[Iterator[bool], Count, Count, Count], Delivery]] = {
    GO_BACK_N: _go_back_n,
    SELECTIVE: _selective,
    GO_BACK_0: _go_back_0,
}
