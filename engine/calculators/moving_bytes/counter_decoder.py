"""Counter decoder: counters of a port, pasted twice, as rates and a verdict."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated

from engine.catalog.port_counters import BROKEN, DATA, LOST, MARKED, PAUSED, PAUSES, WAITS
from engine.core import units
from engine.core.inputs import GBITS, Number, Sample, Scalar, Text, Unit
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import (
    BANDWIDTH,
    BYTES,
    COUNT,
    SECONDS,
    SHARE,
    Bandwidth,
    Count,
    Gbit,
    Quantity,
    Seconds,
    Share,
)
from engine.core.views import Badge, Cell, Table, Value
from engine.form.text_validation import text_check
from engine.run.logs.counters import LONGEST_COUNTERS, CounterLog, read_counters
from engine.simulate.collectives.counter_rates import (
    ANOMALIES,
    CounterGrowth,
    PortReadings,
    port_readings,
)

_START_TIME = 1_763_800_000


def _clock(seconds: float) -> str:
    return f"{_START_TIME + seconds:.3f}\n"


def _ethtool(values: Mapping[str, int]) -> str:
    rows = "".join(f"     {name}: {value}\n" for name, value in values.items())
    return f"NIC statistics:\n{rows}"


def _perfquery(values: Mapping[str, int]) -> str:
    rows = "".join(f"{name}:".ljust(33, ".") + f"{value}\n" for name, value in values.items())
    head = "# Port extended counters: Lid 6 port 1 (CapMask: 0x5A00 CapMask2: 0x02)\n"
    return (
        f"{head}PortSelect:......................1\nCounterSelect:...................0x0000\n{rows}"
    )


def _rdma(values: Mapping[str, int]) -> str:
    return "link mlx5_0/1 " + " ".join(f"{name} {value}" for name, value in values.items()) + "\n"


def _increased(values: Mapping[str, int], grown: Mapping[str, int]) -> dict[str, int]:
    return {name: value + grown.get(name, 0) for name, value in values.items()}


_ROCE = {
    "rx_bytes_phy": 91_337_120_455_218,
    "tx_bytes_phy": 88_120_417_733_101,
    "rx_discards_phy": 0,
    "rx_crc_errors_phy": 0,
    "rx_pcs_symbol_err_phy": 0,
    "link_down_events_phy": 1,
    "rx_prio3_pause": 148_213,
    "rx_prio3_pause_duration": 33_201_190,
    "tx_prio3_pause": 0,
    "tx_prio3_pause_duration": 0,
}
_IB = {
    "SymbolErrorCounter": 17,
    "LinkErrorRecoveryCounter": 0,
    "LinkDownedCounter": 0,
    "PortRcvErrors": 3,
    "PortXmitDiscards": 0,
    "PortXmitData": 7_710_355_219_433,
    "PortRcvData": 7_698_120_338_274,
    "PortXmitPkts": 7_530_001_822,
    "PortRcvPkts": 7_518_118_034,
    "PortXmitWait": 10_455_012,
}
_LINK = {
    "out_of_buffer": 135,
    "out_of_sequence": 0,
    "packet_seq_err": 12,
    "local_ack_timeout_err": 2,
    "roce_adp_retrans": 14,
    "rp_cnp_handled": 502_113,
    "np_ecn_marked_roce_packets": 1_204_118,
    "np_cnp_sent": 640_022,
}


def _two_readings(first: str, second: str, apart: float) -> str:
    return _clock(0.0) + first + _clock(apart) + second


SAMPLES: Mapping[str, Sample] = {
    "paused": Sample(
        title="RoCE, paused",
        text=_two_readings(
            _ethtool(_ROCE),
            _ethtool(
                _increased(
                    _ROCE,
                    {
                        "rx_bytes_phy": 118_400_000_000,
                        "tx_bytes_phy": 117_900_000_000,
                        "rx_prio3_pause": 41_870,
                        "rx_prio3_pause_duration": 3_310_000,
                    },
                )
            ),
            10.0,
        ),
    ),
    "cable": Sample(
        title="InfiniBand, a bad cable",
        text=_two_readings(
            _perfquery(_IB),
            _perfquery(
                _increased(
                    _IB,
                    {
                        "SymbolErrorCounter": 212,
                        "LinkErrorRecoveryCounter": 2,
                        "PortRcvErrors": 96,
                        "PortXmitData": 41_250_000_000,
                        "PortRcvData": 40_830_000_000,
                        "PortXmitPkts": 40_300_000,
                        "PortRcvPkts": 39_900_000,
                    },
                )
            ),
            10.0,
        ),
    ),
    "credits": Sample(
        title="InfiniBand, no credits",
        text=_two_readings(
            _perfquery(_IB),
            _perfquery(
                _increased(
                    _IB,
                    {
                        "PortXmitData": 44_100_000_000,
                        "PortRcvData": 96_300_000_000,
                        "PortXmitPkts": 43_100_000,
                        "PortRcvPkts": 94_100_000,
                        "PortXmitWait": 812_400_000,
                    },
                )
            ),
            10.0,
        ),
    ),
    "healthy": Sample(
        title="InfiniBand, busy",
        text=_two_readings(
            _perfquery(_IB),
            _perfquery(
                _increased(
                    _IB,
                    {
                        "PortXmitData": 118_900_000_000,
                        "PortRcvData": 118_700_000_000,
                        "PortXmitPkts": 116_100_000,
                        "PortRcvPkts": 116_000_000,
                    },
                )
            ),
            10.0,
        ),
    ),
    "lost": Sample(
        title="RoCE, packets lost",
        text=_two_readings(
            _rdma(_LINK),
            _rdma(
                _increased(
                    _LINK,
                    {
                        "out_of_sequence": 1_422,
                        "packet_seq_err": 611,
                        "local_ack_timeout_err": 37,
                        "roce_adp_retrans": 640,
                        "np_cnp_sent": 2_108,
                        "np_ecn_marked_roce_packets": 3_921,
                    },
                )
            ),
            10.0,
        ),
    ),
}


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
            label="Output of perfquery, ethtool -S or rdma statistic, twice",
            longest=LONGEST_COUNTERS,
            samples=SAMPLES,
            rows=10,
            placeholder="date +%s.%N; ethtool -S eth0; sleep 10; date +%s.%N; ethtool -S eth0",
            help="A line of date +%s.%N before each says how far apart they are.",
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
    num_odd: Count


TITLE = "Counter decoder"
QUESTION = "What do the counters of this port say: is it the network?"
EQUATIONS = ()
_ORDER = (BROKEN, LOST, PAUSES, PAUSED, WAITS, MARKED, "busy", "idle")
# Verdict -> badge, what it means, what to do next.
_WORDS = {
    BROKEN: (
        "A bad link",
        "Errors grow on the link itself.",
        "Clean or change cable and transceiver, then read again. Look at the other end: errors "
        "are counted where they arrive.",
    ),
    LOST: (
        "Packets are lost",
        "Packets were dropped or had to be sent again.",
        "Find the port that drops: read every port on the way. Over Ethernet, compare priority, "
        "PFC and ECN of host and switch.",
    ),
    PAUSES: (
        "This host pauses others",
        "The host takes data more slowly than it arrives, and tells its switch to stop.",
        "Look into the host: PCIe link width, a slow GPU, memory of the other socket.",
    ),
    PAUSED: (
        "Paused by the network",
        "The switch told this port to stop, {paused} of the time.",
        "The cause is elsewhere: read the ports that this host sends to, and look for the one "
        "that pauses others.",
    ),
    WAITS: (
        "Waiting for credits",
        "The port had data to send and no credit from its neighbor.",
        "The cause is elsewhere: follow the route to the port that is full, and look at its "
        "receiver.",
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


def solve(inputs: Inputs) -> Result:
    """Return every number of the page, of the port that is worst off."""
    text = read_text(inputs.counters)
    read_ports = port_readings(text, inputs.apart, inputs.line_rate)
    worst = min(read_ports, key=lambda port: _ORDER.index(port.verdict), default=None)
    sent = worst.sent if worst and _has_counter(worst, DATA) else math.nan
    received = worst.received if worst and _has_counter(worst, DATA) else math.nan
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
        num_odd=len(text.odd),
    )


def _has_counter(port: PortReadings, says: str) -> bool:
    """Return whether the text has a counter of this kind."""
    return any(growth.counter and growth.counter.says == says for growth in port.growth)


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
    name, sentence, _ = _WORDS[result.worst.verdict]
    good = result.worst.verdict in ("busy", "idle", MARKED)
    return Badge(
        text=name, sentence=present.say(sentence), color="compute" if good else "communication"
    )


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
    if counter.says == DATA:
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
