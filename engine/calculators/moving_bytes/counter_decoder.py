"""Counter decoder: counters of a port, pasted twice, as rates and a verdict."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated

from engine.catalog.port_counters import (
    BROKEN,
    CORRECTED,
    DATA,
    FRAMES,
    HOST,
    LOST,
    MARKED,
    MODULE,
    PAUSED,
    PAUSES,
    PCIE,
    PRIORITY,
    STALLED,
    WAITS,
)
from engine.core import units
from engine.core.inputs import GBITS, Number, Scalar, Text, Unit
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import escape_braces, say
from engine.core.units import (
    BANDWIDTH,
    BYTES,
    COUNT,
    SECONDS,
    SHARE,
    Bandwidth,
    Gbit,
    Quantity,
    Seconds,
    Share,
)
from engine.core.views import Badge, Cell, Citation, Table, Value
from engine.form.counter_samples import SAMPLES
from engine.form.text_validation import text_check
from engine.run.logs.counters import LONGEST_COUNTERS, CounterLog, read_counters
from engine.simulate.collectives.counter_rates import (
    ANOMALIES,
    IMPOSSIBLE,
    UNKNOWN,
    CounterGrowth,
    PortReadings,
    port_readings,
)

_SECONDS = Unit(" s", 1.0, {"ms": 1e-3, "min": 60.0, "h": 3600.0}, quantity=units.SECONDS)
PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "A bad cable": {"counters": SAMPLES["cable"].text},
    "No credits": {"counters": SAMPLES["credits"].text},
    "Busy and healthy": {"counters": SAMPLES["healthy"].text},
    "Packets lost": {"counters": SAMPLES["lost"].text},
}


@lru_cache(maxsize=4)
def read_text(text: str) -> CounterLog:
    """Return a text, read once for the check under its box and for the results."""
    return read_counters(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    counters: Annotated[
        str,
        Text(
            label="Counters of a port, read twice",
            longest=LONGEST_COUNTERS,
            samples=SAMPLES,
            rows=10,
            placeholder="date +%s.%N; ethtool -S eth0; sleep 10; date +%s.%N; ethtool -S eth0",
            help="Of perfquery, ethtool -S, rdma statistic, /sys/class/infiniband or SONiC. A line "
            "of date +%s.%N before each says how far apart they are.",
            check=text_check(read_text),
        ),
    ] = SAMPLES["paused"].text
    apart: Annotated[
        float,
        Number(
            label="Time between, if the text does not say",
            unit=_SECONDS,
            low=0.01,
            high=86_400.0,
            scale="log",
        ),
    ] = 10.0
    line_rate: Annotated[
        float,
        Number(
            label="Speed of the port",
            unit=GBITS,
            low=1 * Gbit,
            high=1600 * Gbit,
            scale="log",
            help="One way.",
        ),
    ] = 400 * Gbit


_READ = ("The growth of the counters over the time between the two readings.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The counters of the worst port in the text; not finite where no port was read twice."""

    text: CounterLog
    ports: tuple[PortReadings, ...]
    worst: PortReadings | None
    sent: Annotated[
        Bandwidth,
        Output(
            "Sent",
            note="{sent_share} of the port",
            color="communication",
            basis="measured",
            assumes=_READ,
        ),
    ]
    received: Annotated[
        Bandwidth,
        Output(
            "Received",
            note="{received_share} of the port",
            color="communication",
            basis="measured",
            assumes=_READ,
        ),
    ]
    paused: Annotated[
        Share,
        Output(
            "Told to pause",
            note="share of the time, of the worst priority",
            basis="measured",
            assumes=(
                "Microseconds that the port was paused, as the driver of mlx5 counts them. "
                "InfiniBand has no such counter.",
            ),
            sources=("mlx5_counters",),
        ),
    ]
    time: Annotated[Seconds, Output("Time between", basis="measured", assumes=_READ)]
    sent_share: Share
    received_share: Share


TITLE = "Counter decoder"
QUESTION = "What do the counters of this port say: is it the network?"
HEADLINE = "verdict"
EQUATIONS = ()
_ORDER = (
    *(IMPOSSIBLE, BROKEN, PCIE, LOST, HOST, PAUSES, PAUSED, STALLED, CORRECTED, MODULE, FRAMES),
    *(WAITS, UNKNOWN, MARKED, "busy", "idle"),
)
_HOST_NEXT = (
    "Look into the host: PCIe link width and generation, IOMMU, memory of the other socket, a slow "
    "GPU, buffers of the adapter's queues."
)
# Verdict -> badge, what it means, what to do next.
_WORDS = {
    IMPOSSIBLE: (
        "Cannot say",
        "A share is above 100 %: {shares}.",
        "Several ports in one text, another time between the readings, or another speed of the "
        "port would do that. Paste one port, and set its speed.",
    ),
    BROKEN: (
        "A bad link",
        "Errors grow on the link itself.",
        "Clean or change cable and transceiver, then read again. Look at the other end: errors "
        "are counted where they arrive.",
    ),
    PCIE: (
        "A bad PCIe link",
        "Errors grow between the adapter and its host.",
        "Move the adapter to another slot, and bring its firmware and the BIOS up to date.",
    ),
    LOST: (
        "Packets are lost",
        "Packets were dropped or had to be sent again.",
        "Find the port that drops: read every port on the way. Over Ethernet, compare priority, "
        "PFC and ECN of host and switch.",
    ),
    HOST: (
        "This host drops packets",
        "Packets arrived, and this adapter or its host had no room for them.",
        _HOST_NEXT,
    ),
    PAUSES: (
        "This host pauses others",
        "The host takes data more slowly than it arrives, and tells its switch to stop.",
        _HOST_NEXT,
    ),
    PAUSED: (
        "Paused by the network",
        "The switch told this port to stop, {paused} of the time.",
        "The cause is elsewhere: read the ports that this host sends to, and look for the one "
        "that pauses others.",
    ),
    STALLED: (
        "This host's PCIe is too slow",
        "The adapter waited for PCIe in the last second.",
        _HOST_NEXT,
    ),
    CORRECTED: (
        "Many errors, all corrected",
        "Coding repaired {corrected_bits} bits of a million, far more than on a sound link.",
        "Nothing is lost yet. Clean or change cable and transceiver before something is, and see "
        "whether the transceiver is too hot.",
    ),
    MODULE: (
        "The transceiver complains",
        "The port's transceiver reported a fault, and no counter shows lost data.",
        "Look at its temperature and seat; change it if the count goes on.",
    ),
    FRAMES: (
        "Paused, for a time that nobody counts",
        "Pause frames came or went, and these counters do not say how long the pauses were.",
        "Read the other end: adapters of hosts count microseconds. On a switch, a frame that it "
        "received means that the neighbor is too slow.",
    ),
    WAITS: (
        "Waiting for credits",
        "The port had data to send and no credit from its neighbor.",
        "The cause is elsewhere: follow the route to the port that is full, and look at its "
        "receiver.",
    ),
    UNKNOWN: (
        "Cannot say",
        "Nothing known speaks against the port, but {because}.",
        "Look up what unknown counters mean in the documentation of the adapter. Use perfquery -x, "
        "whose counters do not fill up. Paste all that the tool prints.",
    ),
    MARKED: (
        "Congested, and under control",
        "Packets are marked, and senders slow down before anything is paused.",
        "Normal under load. Compare the rate with what the collective should reach.",
    ),
    "busy": (
        "Busy and healthy",
        "The port is used to the full, and no counter speaks against it.",
        "If the step waits for this port, send fewer bytes or use more ports.",
    ),
    "idle": (
        "Not this port",
        "No counter speaks against the port, and it could carry more.",
        "Look for the cause elsewhere: other ports, a slow rank, or the host.",
    ),
}


# Where a text counts no bytes: how busy the port is stays open.
_NOTHING_AGAINST = (
    "Nothing against it",
    "No counter of this text speaks against the port, and none says how busy it is.",
)
# What can speak against a port, and the counters that would.
_KINDS = {
    "errors of the link": (BROKEN, CORRECTED),
    "losses": (LOST, HOST),
    "pauses": (PAUSED, PAUSES, FRAMES, WAITS),
}


def solve(inputs: Inputs) -> Result:
    """Return every number of the page, of the port that is worst off."""
    text = read_text(inputs.counters)
    read_ports = port_readings(text, inputs.apart, inputs.line_rate)
    worst = min(read_ports, key=lambda port: _ORDER.index(port.verdict), default=None)
    has_data = worst is not None and _has_counter(worst, DATA, PRIORITY)
    sent = worst.sent if worst and has_data else math.nan
    received = worst.received if worst and has_data else math.nan
    return Result(
        text=text,
        ports=read_ports,
        worst=worst,
        sent=sent,
        received=received,
        paused=worst.paused if worst and _has_counter(worst, PAUSED) else math.nan,
        time=worst.apart if worst else math.nan,
        sent_share=sent / inputs.line_rate,
        received_share=received / inputs.line_rate,
    )


def _has_counter(port: PortReadings, *says: str) -> bool:
    """Return whether the text has a counter of one of these kinds."""
    return any(growth.counter and growth.counter.says in says for growth in port.growth)


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        "verdict": _verdict(present, result),
        **{name: _value_or_note(present, result, name) for name in ("sent", "received", "paused")},
        **present.values("time"),
        "next": _next_badge(result),
        "growth": partial(_growth_table, result),
        "ports": partial(_port_table, result),
        "odd": partial(_unread_lines, result),
    }


def _value_or_note(present: Presenter, result: Result, name: str) -> Value:
    """Return a value, or a note that the text lacks its counter."""
    if math.isfinite(getattr(result, name)):
        return present.value(name)
    once = result.worst is None
    return present.value(
        name, note="needs two readings" if once else "this text has no counter of it"
    )


def _verdict(present: Presenter, result: Result) -> Badge:
    if result.worst is None:
        return Badge(
            text="Read once",
            sentence="A counter alone says nothing: it may be years old. Read it twice.",
        )
    port = result.worst
    name, sentence, _ = _WORDS[port.verdict]
    good = port.verdict in ("busy", "idle", MARKED)
    unsure = port.verdict in (UNKNOWN, IMPOSSIBLE)
    if port.verdict == "idle" and not _has_counter(port, DATA, PRIORITY):
        name, sentence = _NOTHING_AGAINST
    sentence = sentence.replace("{because}", _because(port)) + (_missing(port) if good else "")
    sentence = sentence.replace("{shares}", _share_words(result))
    verdict_sentence = present.say(
        sentence + _priorities(port),
        corrected_bits=(port.corrected * 1e6, COUNT),
        **{f"p{at}": (share, SHARE) for at, (_, share) in enumerate(_shares(port))},
    )
    color = "muted" if unsure else "compute" if good else "communication"
    return Badge(text=name, sentence=verdict_sentence, color=color)


def _because(port: PortReadings) -> str:
    """Return why nothing can be said of a port: unknown counters that grew, known ones full."""
    parts = []
    for names, words in (
        (port.unknown, "grew and is not known here" if len(port.unknown) == 1 else
         "grew and are not known here"),
        (port.full, "is full" if len(port.full) == 1 else "are full"),
    ):  # fmt: skip
        if names:
            more = f" and {len(names) - 4} more" if len(names) > 4 else ""
            parts.append(f"{', '.join(names[:4])}{more} {words}")
    nothing = "this text counts no errors, losses or pauses"
    return escape_braces(", and ".join(parts) or nothing)


def _share_words(result: Result) -> str:
    """Return the shares that the text counts, as words around the names of numbers."""
    words = {
        "sent {sent_share} of the port": result.sent_share,
        "received {received_share} of it": result.received_share,
        "told to pause {paused} of the time": result.paused,
    }
    return ", ".join(word for word, share in words.items() if math.isfinite(share))


def _missing(port: PortReadings) -> str:
    """Return a sentence on what this text does not count; empty where it counts all."""
    kinds = [kind for kind, says in _KINDS.items() if not _has_counter(port, *says)]
    return f" This text does not count {' or '.join(kinds)}." if kinds else ""


def _shares(port: PortReadings) -> tuple[tuple[str, Share], ...]:
    """Return the priorities that carry what arrives, the busiest first."""
    ordered = sorted(port.priorities.items(), key=lambda pair: -pair[1])
    return tuple((name, share) for name, share in ordered if share >= 0.005)[:8]


def _priorities(port: PortReadings) -> str:
    """Return a sentence on the priorities of received data; empty where nothing counts them."""
    shares = _shares(port)
    if not shares:
        return ""
    numbers = [next(c for c in name if c.isdigit()) for name, _ in shares]
    parts = [f"{{p{at}}} on priority {number}" for at, number in enumerate(numbers)]
    return f" Of what arrives, {', '.join(parts)}."


def _next_badge(result: Result) -> Badge:
    if result.worst is None:
        return Badge(text="Next", sentence="Paste the same command's output a second time.")
    return Badge(text="Next", sentence=_WORDS[result.worst.verdict][2])


def _growth_table(result: Result) -> Table:
    """Return the table of the worst port's growing or odd counters, the most telling first."""
    if result.worst is None:
        return Table(title="", columns=(), rows=())
    shown = [growth for growth in result.worst.growth if growth.grown or growth.odd]
    shown.sort(
        key=lambda growth: _ORDER.index(growth.says) if growth.says in _ORDER else len(_ORDER)
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            growth.name,
            _growth_cell(growth),
            _rate_cell(growth),
            growth.counter.meaning if growth.counter else "not known here",
        )
        for growth in shown
    )
    if table := result.worst.table:
        rows += ((f"Described for {table.name} by", "", "", Citation((table.source,))),)
    return Table(
        title=f"What grew on {result.worst.name}",
        columns=("Counter", "Growth", "Rate", "It counts"),
        rows=rows,
        caption="Counters that stayed as they were are left out.",
    )


def _growth_cell(growth: CounterGrowth) -> Cell:
    """Return the growth of a counter in its unit."""
    odd = ANOMALIES.get(growth.odd, "")
    if growth.grown is None:
        return odd
    if growth.counter and growth.counter.gauge:
        return say("{g} now", g=(growth.grown / 100, SHARE))
    unit, quantity, _ = _unit(growth)
    return say(f"{odd} {{g}}".strip(), g=(growth.grown * unit, quantity))


def _rate_cell(growth: CounterGrowth) -> Cell:
    """Return the growth rate of a counter in its unit."""
    if growth.rate is None:
        return "-"
    unit, _, quantity = _unit(growth)
    words = "{r} of the time" if quantity is SHARE else "{r}"
    return say(
        words if quantity is not COUNT else "{r} per second", r=(growth.rate * unit, quantity)
    )


def _unit(growth: CounterGrowth) -> tuple[float, Quantity, Quantity]:
    """Return the size of one count, and the quantities of its growth and its rate."""
    counter = growth.counter
    if counter is None or not counter.unit:
        return 1.0, COUNT, COUNT
    if counter.says in (DATA, PRIORITY):
        return counter.unit, BYTES, BANDWIDTH
    return counter.unit, SECONDS, SHARE


def _port_table(result: Result) -> Table:
    if len(result.ports) < 2:
        return Table(title="", columns=(), rows=())
    return Table(
        title="Every port that was read twice",
        columns=("Port", "Verdict", "Data, both ways"),
        rows=tuple(_port_row(port) for port in result.ports),
    )


def _port_row(port: PortReadings) -> tuple[Cell, ...]:
    rate = say("{s} and {r}", s=(port.sent, BANDWIDTH), r=(port.received, BANDWIDTH))
    return (port.name, _WORDS[port.verdict][0], rate)


def _unread_lines(result: Result) -> Table:
    """Return the lines that were not understood, with the reason; empty if there are none."""
    if not result.text.odd:
        return Table(title="", columns=(), rows=())
    return Table(
        title="Lines that were not understood",
        columns=("Line", "Text", "Why"),
        rows=tuple(
            (say("{n}", n=(line.line, COUNT)), line.text, line.reason)
            for line in result.text.odd[:50]
        ),
    )
