"""Goodput against loss: what a port delivers that loses packets, by how they are sent again."""

from functools import partial

from engine.calculators.moving_bytes.loss_goodput.result import GUO, HIGH, LOSSES, LOW, Result
from engine.calculators.moving_bytes.loss_goodput.result import Inputs as Inputs
from engine.calculators.moving_bytes.loss_goodput.result import solve as solve
from engine.core.outputs import Teller, Views
from engine.core.text import say
from engine.core.units import BYTES, LINK_SPEED, MICRO, SHARE
from engine.core.views import Axis, Badge, Cite, Lines, Point, Rule, Series, Table
from engine.formulas.retransmission import (
    ANSWER_TIMEOUT,
    GO_BACK_0,
    GO_BACK_N,
    HALF_GOODPUT_LOSS,
    ROUND_TRIP_PACKETS,
    SELECTIVE_REPEAT,
)

TITLE = "Goodput of a port that loses packets"
QUESTION = "How much does one lost packet in a hundred cost?"
EQUATIONS = (
    GO_BACK_N,
    SELECTIVE_REPEAT,
    GO_BACK_0,
    ROUND_TRIP_PACKETS,
    HALF_GOODPUT_LOSS,
    ANSWER_TIMEOUT,
)
PRESETS = {
    "One packet in a million": {"loss": 1e-6},
    "One packet in a thousand": {"loss": 1e-3},
    "An inter-building round trip": {"round_trip": 100 * MICRO},
    "Microsoft's test of 2016": GUO,
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the curves, what arrives, and a published measurement."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    numbers = tell.values("window", "half", "played", "wait")
    return {
        "curve": partial(_curve, tell, inputs, result),
        "verdict": _verdict(tell, result),
        "again": tell.value("again", equation=GO_BACK_N, symbols={"w": "window", "q": "loss"}),
        "selective": tell.value("selective", equation=SELECTIVE_REPEAT, symbols={"q": "loss"}),
        **numbers,
        "published": partial(_published, result),
        "formula": tell.formula("With your numbers", GO_BACK_N, g="again", w="window", q="loss"),
    }


def _verdict(tell: Teller, result: Result) -> Badge:
    if result.again > 0.99:
        return Badge(
            text="Hardly felt",
            sentence=tell.say("Either way, at least {again} of the port is left."),
            color="data",
        )
    return Badge(
        text="One lost, many sent again",
        sentence=tell.say(
            "Every lost packet makes go back N send {window} of them again. {again} of the port is "
            "left, where selective repeat keeps {selective}."
        ),
        color="communication",
    )


def _curve(tell: Teller, inputs: Inputs, result: Result) -> Lines:
    lines = (
        ("selective", "selective repeat", "data"),
        ("again", "go back N", "communication"),
        ("whole", "go back 0", "pipeline"),
    )
    return Lines(
        title="Share of the port that delivers something new",
        x=tell.axis("loss", "packets lost", low=LOW, high=HIGH, scale="log"),
        y=Axis(label="share of the port", quantity=SHARE, low=0.0, high=1.05),
        series=tuple(
            Series(key=key, label=label, x=LOSSES, y=column, color=color)
            for (key, label, color), column in zip(lines, result.curves(), strict=True)
        ),
        points=(Point(key="now", label=tell.say("{again}"), x=inputs.loss, y=result.again),),
        rules=(Rule(key="half", label="half is left", axis="x", at=result.half),)
        if LOW < result.half < HIGH
        else (),
        handle="loss",
        caption=say(
            "The axis of losses is logarithmic. Go back 0 begins a whole message anew, here one "
            "of {m}; early RoCE cards did.",
            m=(inputs.message, BYTES),
        ),
    )


def _published(result: Result) -> Table:
    """Return the published test of a link that drops every 256th packet, beside ours."""
    whole, again = result.dropped()
    return Table(
        title="Every 256th packet dropped on purpose, measured and played",
        columns=("Sent again", "Measured goodput", "Played here", "Source"),
        rows=(
            ("go back 0", "none", say("{s}", s=(whole, SHARE)), Cite(("guo2016",))),
            ("go back N", "not printed", say("{s}", s=(again, SHARE)), Cite(("guo2016",))),
        ),
        caption=say(
            "Messages of {m}; the {p} and the round trip are assumed; go back 0 does not depend "
            "on them. The link was full all the time.",
            m=(GUO["message"], BYTES),
            p=(GUO["port"], LINK_SPEED),
        ),
    )
