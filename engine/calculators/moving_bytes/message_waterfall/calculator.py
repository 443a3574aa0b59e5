"""Message waterfall: where the microseconds of one message between two GPUs go, by its size."""

from engine.basis.views import View
from engine.calculators.moving_bytes.message_waterfall.charts import (
    pipeline,
    shares,
    stacked,
    waterfall,
)
from engine.calculators.moving_bytes.message_waterfall.strip import strip
from engine.form.message.inputs import PRESETS as PRESETS
from engine.form.message.inputs import Inputs as Inputs
from engine.form.message.layers import layers
from engine.form.message.model import way
from engine.form.message.tables import challenge, protocols, regime
from engine.form.message.values import values
from engine.formulas.message import (
    BREAK_EVEN_SIZE,
    EFFECTIVE,
    LATENCY_SHARE,
    MESSAGE_TIME,
    PCIE_BYTES,
)
from engine.formulas.overlap import EXPOSED_TIME

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
