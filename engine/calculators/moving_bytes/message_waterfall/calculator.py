"""Message waterfall: where the microseconds of one message between two GPUs go, by its size."""

from functools import partial

from engine.calculators.moving_bytes.message_waterfall.charts import (
    pipeline,
    shares,
    stacked,
    waterfall,
)
from engine.calculators.moving_bytes.message_waterfall.layers import layers
from engine.calculators.moving_bytes.message_waterfall.result import Result
from engine.calculators.moving_bytes.message_waterfall.result import solve as solve
from engine.calculators.moving_bytes.message_waterfall.tables import challenge, protocols, regime
from engine.core.outputs import Teller, Views
from engine.core.views import Published
from engine.form.message.inputs import PRESETS as PRESETS
from engine.form.message.inputs import Inputs as Inputs
from engine.formulas.message import (
    BREAK_EVEN_SIZE,
    EFFECTIVE,
    LATENCY_SHARE,
    MESSAGE_TIME,
    PCIE_BYTES,
)
from engine.formulas.overlap import EXPOSED_TIME

TITLE = "One message"
QUESTION = "Where do the microseconds of one message go, and when do they no longer matter?"
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
    tell = Teller(result, inputs, equations=EQUATIONS)
    crossings = f"{'two' if inputs.direct else 'four'} crossings, both nodes together"
    published = Published(
        text=tell.say("a published page prints {published_share}"),
        reason="It adds the middles of guessed ranges, for a message without bytes.",
        source="day1inference",
        claim="E0.1",
    )
    return {
        "one_way": tell.value("one_way"),
        "pcie_share": tell.value("pcie_share", published=published),
        "break_even": tell.value("break_even"),
        "effective": tell.value("effective", symbols={"M": "message"}),
        "crossed": tell.value("crossed", symbols={"S": "sent"}, note=crossings),
        "saved": tell.value("saved"),
        "regime": regime(tell, inputs, result),
        "waterfall": partial(waterfall, tell, inputs, result.one),
        "stacked": partial(stacked, tell, inputs, result),
        "shares": partial(shares, tell, inputs, result),
        "pipeline": partial(pipeline, tell, result),
        "protocols": partial(protocols, tell, result),
        "layers": partial(layers, inputs, result.one),
        **tell.values("wire_minimum", "isolated"),
        "exposed": tell.value("exposed", symbols={"N": "num_buckets"}),
        "challenge": partial(challenge, tell, inputs, result),
    }
