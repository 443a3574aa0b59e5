"""Head-of-line blocking: a flow to an idle port queues behind flows to a full port.

Several hosts send to one receiver, whose port is full. One of them shares a leaf with a victim that
sends to another, idle receiver. The uplink of that leaf is as fast as both ports together. Time
goes in slots of one cell on a port. What the receiver's switch does when its queue grows:

- drop: what does not fit in the buffer is lost, and the host sends it again;
- pause: it pauses the link on which too many waiting cells came in (PFC, IEEE 802.1Qbb). The leaf
  before it then fills up, and pauses its own hosts, the victim too;
- own class: the same, but the victim has a traffic class and a queue of its own;
- ecn: pause, and cells that had to wait behind many others are marked; their hosts slow down in
  the manner of DCQCN (Zhu et al. 2015): at a mark the rate falls by half of a running mean of
  marks, without one it recovers half of what it had lost, five times, and then grows slowly.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.core.units import GB, MICRO, Bandwidth, Bytes, Count, KiB, Seconds, Share

CONTROLS: Mapping[str, str] = {
    "drop": "nothing: cells are lost",
    "pause": "pause (PFC)",
    "own_class": "pause, victim in its own class",
    "ecn": "pause and marks (PFC, ECN)",
}
CELL: Bytes = 32 * KiB
PORT: Bandwidth = 50 * GB
SLOT: Seconds = CELL / PORT
RUN_TIME: Seconds = 2000 * MICRO
# Zhu et al. 2015, section 5: at most one mark is answered in 50 us, rates recover every 55 us.
MARK_INTERVAL: Seconds = 50 * MICRO
RECOVERY_INTERVAL: Seconds = 55 * MICRO
_GAIN, _FAST, _GROWTH = 1 / 256, 5, 0.001
# Assumed: from a cell's mark until its host slows down.
FEEDBACK: Seconds = 5 * MICRO
FRAMES: Count = 40
_VICTIM = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Incast:
    """Senders, congestion control and thresholds of an incast.

    Attributes:
        senders: hosts that send to the full port; the first shares a leaf with the victim.
        control: key of `CONTROLS`.
        pause_at: queued bytes of one link from which it is paused.
        mark_at: queued bytes of the full port from which cells are marked.
        buffer: buffer of the full port; what does not fit is dropped.
    """

    senders: Count
    control: str
    pause_at: Bytes = 512 * KiB
    mark_at: Bytes = 192 * KiB
    buffer: Bytes = 2048 * KiB


@dataclass(frozen=True, slots=True, kw_only=True)
class IncastSample:
    """Queues and rates in one sampling interval.

    Attributes:
        time: end of the interval.
        queue: bytes queued for the full port.
        uplink: bytes queued in the victim's leaf.
        victim, hot: rates of the victim and of its neighbor, over that of a port.
        paused: share of the time for which the uplink of the victim's leaf was paused.
    """

    time: Seconds
    queue: Bytes
    uplink: Bytes
    victim: Share
    hot: Share
    paused: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class IncastRun:
    """Samples of a run, and means of its second half.

    Attributes:
        moments: samples in order.
        victim, hot: as in `IncastSample`.
        full_port: share of the time for which the full port delivers something new.
        paused: as in `IncastSample`.
        lost: share of the cells sent to the full port that were dropped.
        longest: peak of the bytes queued for the full port.
    """

    moments: tuple[IncastSample, ...]
    victim: Share
    hot: Share
    full_port: Share
    paused: Share
    lost: Share
    longest: Bytes


@dataclass(slots=True)
class _Host:
    """Rate control of a host that sends to the full port."""

    rate: Share = 1.0
    target: Share = 1.0
    marks: Share = 1.0
    credit: float = 0.0
    calm: Seconds = 0.0
    answered: Seconds = -1.0
    recoveries: Count = 0

    def sends(self) -> bool:
        """Return whether a cell leaves in this slot, by its rate."""
        self.credit += self.rate
        if self.credit < 1:
            return False
        self.credit -= 1
        return True

    def slow_down(self, now: Seconds) -> None:
        """Reduce the rate after a mark, at most once per `MARK_INTERVAL`."""
        if self.answered >= 0 and now - self.answered < MARK_INTERVAL:
            return
        self.answered = self.calm = now
        self.target = self.rate
        self.rate *= 1 - self.marks / 2
        self.marks = (1 - _GAIN) * self.marks + _GAIN
        self.recoveries = 0

    def recover(self, now: Seconds) -> None:
        """Raise the rate if no mark has come for `RECOVERY_INTERVAL`."""
        if now - self.calm < RECOVERY_INTERVAL:
            return
        self.calm = now
        self.marks *= 1 - _GAIN
        self.recoveries += 1
        if self.recoveries > _FAST:
            self.target = min(1.0, self.target + _GROWTH)
        self.rate = (self.rate + self.target) / 2


@dataclass(slots=True)
class _IncastState:
    """Queues and counters of a run; link 0 is the uplink of the victim's leaf."""

    scene: Incast
    hosts: list[_Host]
    waiting: list[int]
    paused: list[bool]
    queue: deque[int] = field(default_factory=deque)
    uplink: deque[int] = field(default_factory=deque)
    apart: deque[int] = field(default_factory=deque)
    stopped: dict[int, bool] = field(default_factory=lambda: {0: False, _VICTIM: False})
    inside: dict[int, int] = field(default_factory=lambda: {0: 0, _VICTIM: 0})
    notes: deque[tuple[Seconds, int]] = field(default_factory=deque)
    victim: Count = 0
    hot: Count = 0
    delivered: Count = 0
    sent: Count = 0
    lost: Count = 0


def simulate_incast(incast: Incast) -> IncastRun:
    """Return the run of an incast over two milliseconds."""
    links = range(incast.senders)
    state = _IncastState(
        incast, [_Host() for _ in links], [0 for _ in links], [False for _ in links]
    )
    slots = round(RUN_TIME / SLOT)
    slots_per_sample = slots // FRAMES
    moments: list[IncastSample] = []
    counts = [(0, 0, 0, 0, 0)]
    longest, paused = 0, 0
    for slot in range(slots_per_sample * FRAMES):
        _send(state, slot)
        _drain(state, slot * SLOT)
        _control(state, slot * SLOT)
        longest = max(longest, len(state.queue))
        paused += state.paused[0]
        if (slot + 1) % slots_per_sample == 0:
            now = (state.victim, state.hot, state.delivered, state.sent, state.lost)
            moments.append(
                _sample(state, (slot + 1) * SLOT, now, counts[-1], paused / slots_per_sample)
            )
            counts.append(now)
            paused = 0
    half, end, total = counts[FRAMES // 2], counts[-1], slots_per_sample * (FRAMES - FRAMES // 2)
    victim, hot, delivered, sent, lost = (b - a for a, b in zip(half, end, strict=True))
    second_half = moments[FRAMES // 2 :]
    return IncastRun(
        moments=tuple(moments),
        victim=victim / total,
        hot=hot / total,
        full_port=delivered / total,
        paused=sum(sample.paused for sample in second_half) / len(second_half),
        lost=lost / sent if sent else 0.0,
        longest=longest * CELL,
    )


def _sample(
    state: _IncastState,
    time: Seconds,
    counts: tuple[int, ...],
    before: tuple[int, ...],
    paused: Share,
) -> IncastSample:
    slots_per_sample = round(RUN_TIME / SLOT) // FRAMES
    return IncastSample(
        time=time,
        queue=len(state.queue) * CELL,
        uplink=(len(state.uplink) + len(state.apart)) * CELL,
        victim=(counts[0] - before[0]) / slots_per_sample,
        hot=(counts[1] - before[1]) / slots_per_sample,
        paused=paused,
    )


def _send(state: _IncastState, slot: Count) -> None:
    """Let every host that is not paused send a cell; the hosts take turns at being first."""
    if not state.stopped[_VICTIM]:
        own_class = state.scene.control == "own_class"
        (state.apart if own_class else state.uplink).append(_VICTIM)
        state.inside[_VICTIM] += 1
    count = len(state.hosts)
    for turn in range(count):
        link = (slot + turn) % count
        host = state.hosts[link]
        if link:
            if not state.paused[link] and host.sends():
                _arrive(state, link)
            continue
        if not state.stopped[0] and host.sends():
            state.uplink.append(0)
            state.inside[0] += 1
        _forward(state)


def _arrive(state: _IncastState, link: int) -> None:
    """Enqueue a cell for the full port, or drop it."""
    state.sent += 1
    if state.scene.control == "drop" and len(state.queue) * CELL >= state.scene.buffer:
        state.lost += 1
        return
    state.queue.append(link)
    state.waiting[link] += 1


def _forward(state: _IncastState) -> None:
    """Send two cells up from the victim's leaf: in order, unless the link is paused."""
    room = 2
    if state.apart:
        state.apart.popleft()
        state.inside[_VICTIM] -= 1
        state.victim += 1
        room = 1
    while room and state.uplink and not state.paused[0]:
        cell = state.uplink.popleft()
        state.inside[cell] -= 1
        room -= 1
        if cell == _VICTIM:
            state.victim += 1
        else:
            _arrive(state, 0)


def _drain(state: _IncastState, now: Seconds) -> None:
    """Deliver one cell of the full port, and mark it if many wait behind it."""
    if not state.queue:
        return
    marked = len(state.queue) * CELL > state.scene.mark_at
    link = state.queue.popleft()
    state.waiting[link] -= 1
    state.delivered += 1
    state.hot += link == 0
    if marked and state.scene.control == "ecn":
        state.notes.append((now + FEEDBACK, link))


def _control(state: _IncastState, now: Seconds) -> None:
    """Pause and release links and hosts, and let hosts answer marks."""
    incast = state.scene
    if incast.control == "drop":
        return
    for link, cells in enumerate(state.waiting):
        state.paused[link] = _is_paused(state.paused[link], cells * CELL, incast.pause_at)
    for host, cells in state.inside.items():
        state.stopped[host] = _is_paused(state.stopped[host], cells * CELL, incast.pause_at)
    if incast.control == "ecn":
        while state.notes and state.notes[0][0] <= now:
            state.hosts[state.notes.popleft()[1]].slow_down(now)
        for sender in state.hosts:
            sender.recover(now)


def _is_paused(paused: bool, waiting: Bytes, pause_at: Bytes) -> bool:
    """Return whether a link is paused: from a threshold on, until half of it is queued."""
    return waiting > (pause_at / 2 if paused else pause_at)
