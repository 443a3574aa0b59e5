"""Message waterfall: where the microseconds of one message between two GPUs go, by its size."""

from engine.calculators._message_charts import pipeline, shares, stacked, waterfall
from engine.calculators._message_inputs import PRESETS as PRESETS
from engine.calculators._message_inputs import Inputs as Inputs
from engine.calculators._message_layers import layers
from engine.calculators._message_model import way
from engine.calculators._message_strip import strip
from engine.calculators._message_tables import challenge, protocols, regime
from engine.calculators._message_values import values
from engine.formulas.message import (
    BREAK_EVEN_SIZE,
    EFFECTIVE,
    LATENCY_SHARE,
    MESSAGE_TIME,
    PCIE_BYTES,
)
from engine.formulas.overlap import EXPOSED_TIME
from engine.views import View

TITLE = "One message"
QUESTION = "Where do the microseconds of one message go, and from which size on do they not matter?"
EQUATIONS = (
    MESSAGE_TIME,
    LATENCY_SHARE,
    BREAK_EVEN_SIZE,
    EFFECTIVE,
    PCIE_BYTES,
    EXPOSED_TIME,
)


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    one = way(inputs)
    return {
        **values(inputs, one),
        "regime": regime(inputs, one),
        "waterfall": waterfall(inputs, one),
        "stacked": stacked(inputs, one),
        "shares": shares(inputs, one),
        "pipeline": pipeline(inputs, one),
        "protocols": protocols(inputs),
        "layers": layers(inputs, one),
        **strip(inputs),
        "challenge": challenge(inputs, one),
    }
