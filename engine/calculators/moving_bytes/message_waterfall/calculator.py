"""Message waterfall: the time of a message between two GPUs by stage and size."""

from functools import partial

from engine.calculators.moving_bytes.message_waterfall.charts import (
    latency_shares,
    pipeline_timeline,
    time_bars,
    waterfall,
)
from engine.calculators.moving_bytes.message_waterfall.layers import layer_table
from engine.calculators.moving_bytes.message_waterfall.result import Result
from engine.calculators.moving_bytes.message_waterfall.result import solve as solve
from engine.calculators.moving_bytes.message_waterfall.tables import (
    challenge,
    protocol_table,
    regime,
)
from engine.core.outputs import Presenter, Views
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
