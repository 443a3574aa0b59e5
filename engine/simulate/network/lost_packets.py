"""Packets over a link that loses some of them, one by one, until a message has arrived.

The sender never pauses. A loss is reported one round trip after the lost packet was sent; until
then the sender has sent `window` - 1 more, which a receiver that wants its packets in order throws
away. Dice are seeded, or every so many-th packet is lost.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.core.units import Count, Share
from engine.simulate.numerics.rng import chances

GO_BACK_N, SELECTIVE, GO_BACK_0 = "go_back_n", "selective", "go_back_0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What became of a number of packets.

    Attributes:
        packets: put on the wire.
        new: that arrived, in order, and were not there before.
        lost: of those on the wire.
        messages: that arrived whole.
    """

    packets: Count
    new: Count
    lost: Count
    messages: Count

    @property
    def goodput(self) -> Share:
        """Share of the packets on the wire that were new; of whole messages with go-back-0."""
        return self.new / self.packets if self.packets else 0.0


def dice(loss: Share, seed: Count) -> Iterator[bool]:
    """Yield for every packet whether it is lost, independently of the others."""
    for throw in chances(seed):
        yield throw < loss


def every(count: Count) -> Iterator[bool]:
    """Yield for every packet whether it is lost: each `count`-th one is."""
    while True:
        yield from (place == count - 1 for place in range(count))


def send(way: str, losses: Iterator[bool], window: Count, message: Count, packets: Count) -> Sent:
    """Return what `packets` on the wire deliver, of messages of `message` packets."""
    return _WAYS[way](losses, window, message, packets)


def _go_back_n(losses: Iterator[bool], window: Count, message: Count, packets: Count) -> Sent:
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
    return Sent(packets=sent, new=new, lost=lost, messages=new // message)


def _selective(losses: Iterator[bool], window: Count, message: Count, packets: Count) -> Sent:
    del window  # what follows a loss is kept
    lost = sum(next(losses) for _ in range(packets))
    new = packets - lost
    return Sent(packets=packets, new=new, lost=lost, messages=new // message)


def _go_back_0(losses: Iterator[bool], window: Count, message: Count, packets: Count) -> Sent:
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
    return Sent(packets=sent, new=messages * message, lost=lost, messages=messages)


_WAYS: dict[str, Callable[[Iterator[bool], Count, Count, Count], Sent]] = {
    GO_BACK_N: _go_back_n,
    SELECTIVE: _selective,
    GO_BACK_0: _go_back_0,
}
