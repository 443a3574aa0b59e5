"""Message waterfall: the time of a message between two GPUs by stage and size."""

from collections.abc import Mapping
from functools import partial

from engine.calculators.moving_bytes.message_waterfall.charts import (
    latency_shares,
    layer_table,
    pipeline_timeline,
    time_bars,
    waterfall,
)
from engine.calculators.moving_bytes.message_waterfall.result import Result
from engine.calculators.moving_bytes.message_waterfall.result import solve as solve
from engine.catalog.message_stages import PUBLISHED, SYNC_LATENCY
from engine.core.inputs import Scalar
from engine.core.outputs import Presenter, Views
from engine.core.text import say
from engine.core.units import BYTES, KB, LINK_SPEED, MICRO, SECONDS, SHARE, Gbit, with_digits
from engine.core.views import Badge, Challenge, Condition, Published, Table
from engine.form.message import PRESETS as PRESETS
from engine.form.message import PROTOCOLS, Inputs
from engine.formulas.message import (
    BREAK_EVEN_SIZE,
    EFFECTIVE,
    LATENCY_SHARE,
    MESSAGE_TIME,
    PCIE_BYTES,
)
from engine.formulas.overlap import EXPOSED_TIME
from engine.simulate.network.message_path import DATA_SHARE

TITLE = "One message"
QUESTION = "Where do the microseconds of one message go, and when do they no longer matter?"
HEADLINE = "one_way"
EQUATIONS = (
    MESSAGE_TIME,
    LATENCY_SHARE,
    BREAK_EVEN_SIZE,
    EFFECTIVE,
    PCIE_BYTES,
    EXPOSED_TIME,
)


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    crossings = f"{'two' if inputs.direct else 'four'} crossings, both nodes together"
    published = Published(
        text=present.say("a published page prints {published_share}"),
        reason="It adds the middles of guessed ranges, for a message without bytes.",
        source="day1inference",
        claim="E0.1",
    )
    return {
        "one_way": present.value("one_way"),
        "sent_by_nccl": present.value("sent_by_nccl"),
        "pcie_share": present.value("pcie_share", published=published),
        "break_even": present.value("break_even"),
        "effective": present.value("effective", symbols={"M": "message"}),
        "crossed": present.value("crossed", symbols={"S": "sent"}, note=crossings),
        "saved": present.value("saved"),
        "regime": regime(present, inputs, result),
        "waterfall": partial(waterfall, present, inputs, result.one),
        "stacked": partial(time_bars, present, inputs, result),
        "shares": partial(latency_shares, present, inputs, result),
        "pipeline": partial(pipeline_timeline, present, result),
        "protocols": partial(protocol_table, present, result),
        "layers": partial(layer_table, inputs, result.one),
        **present.values("wire_minimum", "isolated"),
        "exposed": present.value("exposed", symbols={"N": "num_buckets"}),
        "challenge": partial(challenge, present, inputs, result),
    }


# The regime, protocols compared, and a challenge.


def regime(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    """Return the badge on the limit: latencies, or the bandwidth of the slowest stage."""
    if result.latency >= result.moving:
        name, color = "Latency", "compute"
        text = "{latency} of latencies, {moving} of bytes: both count."
        if result.latency >= 4 * result.moving:
            text = "{latency} of latencies, {moving} of bytes: a faster port would hardly help."
    elif result.pieces == 1:
        name, color = "Not pipelined", "memory"
        text = "{moving} of bytes, {latency} of latencies: each stage waits for the whole message."
    elif result.slowest == inputs.link:
        name, color = "Wire", "communication"
        text = "{moving} of bytes, {latency} of latencies: both count."
        if result.moving >= 4 * result.latency:
            text = "{moving} of bytes, {latency} of latencies: fewer bytes help, or a faster port."
    else:
        name, color = "PCIe", "accent"
        text = (
            "{moving} of bytes, {latency} of latencies: the path between GPU and card is slower "
            "than it."
        )
    return Badge(text=name, sentence=present.say(text), color=color)


def protocol_table(present: Presenter, result: Result) -> Table:
    """Return the table of latency per hop, bandwidth share and two message times by protocol."""
    rows = tuple(
        (
            name,
            say("{t}", t=(SYNC_LATENCY[key], SECONDS)) if SYNC_LATENCY[key] else "none",
            say("{s}", s=(DATA_SHARE[key], SHARE)),
            *(say("{t}", t=(time, SECONDS)) for time in result.by_protocol[key]),
        )
        for key, name in PROTOCOLS.items()
    )
    return Table(
        title="Protocols on this path",
        columns=("Protocol", "Cost of a hop", "Bandwidth left", "This message", "64 MiB"),
        rows=rows,
        caption=present.say("This message: {message}."),
    )


START: Mapping[str, Scalar] = {
    "message": 8 * KB,
    "protocol": "simple",
    "direct": False,
    "placement": "sys",
    "forwarding": "whole",
}
SOLUTION: Mapping[str, Scalar] = {
    "message": 8 * KB,
    "protocol": "ll128",
    "direct": True,
    "placement": "pix",
    "forwarding": "packets",
}
_LIMIT, _LEAST = 12 * MICRO, 0.9
_STAGES = (*PUBLISHED, "hops", "copy")


def challenge(present: Presenter, inputs: Inputs, result: Result) -> Challenge:
    """Return the challenge: a setting that serves small and large messages."""
    base = Inputs()
    conditions = (
        Condition(
            text="a protocol of NCCL, and the latencies of the stages as at the start",
            met=inputs.protocol != "raw"
            and all(getattr(inputs, key) == getattr(base, key) for key in _STAGES),
        ),
        Condition(
            text=say("a port of {r}", r=(400 * Gbit, LINK_SPEED)),
            met=inputs.link == 400 * Gbit,
        ),
        Condition(
            text=say(
                "a message of {m}, under {t}",
                m=(8 * KB, with_digits(BYTES)),
                t=(_LIMIT, with_digits(SECONDS)),
            ),
            met=inputs.message == 8 * KB and result.one_way < _LIMIT,
        ),
        Condition(
            text=present.say(
                "64 MiB with the same settings at {s} of the line rate (now {large_share})",
                s=(_LEAST, with_digits(SHARE)),
            ),
            met=result.large_rate >= _LEAST * inputs.link,
        ),
    )
    return Challenge(
        title="Challenge: fast at both ends",
        goal="Serve 8 kB and 64 MiB with one and the same setting.",
        conditions=conditions,
        hints=(
            "Look at the tallest bars first: which of them is not on every path?",
            "LL is quickest, but what share of its bytes is data?",
        ),
        start=START,
        solution=SOLUTION,
    )
