"""Port traffic: what an all-reduce sends through one port, against the number of GPUs."""

from functools import partial

from engine.calculators.moving_bytes.port_traffic.result import COLUMN, HIGH, LOW, Result
from engine.calculators.moving_bytes.port_traffic.result import Inputs as Inputs
from engine.calculators.moving_bytes.port_traffic.result import solve as solve
from engine.calculators.moving_bytes.port_traffic.tables import claims, comparison
from engine.core.outputs import Teller, Views
from engine.core.views import Lines, Point, Published, Rule, Series
from engine.formulas.communication import RING_BYTES
from engine.formulas.lower_bound import FACTOR, RING_LATENCY, STAR_PORT
from engine.formulas.overlap import GRADIENT_SIZE

TITLE = "Traffic per port"
QUESTION = "How much does every GPU send, and how does that grow with their number?"
EQUATIONS = (FACTOR, RING_BYTES, STAR_PORT, RING_LATENCY, GRADIENT_SIZE)
PRESETS = {
    "Two GPUs": {"world_size": 2},
    "1,024 GPUs": {"world_size": 1024},
    "A published text: 16,384 GPUs": {"world_size": 16_384},
}
_STAR_CLAIM = Published(
    text="a published text gives a star O(n²) communication complexity",
    reason="The root moves 2(n - 1) buffers, and so do all ports of it together: O(n).",
    source="pingdo_sync",
    claim="E3.12",
)


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        "factor": tell.value("factor"),
        "many_factor": tell.value("many_factor", symbols={"n": "many"}),
        "factor_curve": partial(_curve, tell, inputs, result),
        "gradient_size": tell.value("gradient_size"),
        "ring_port": tell.value("ring_port"),
        "star_port": tell.value("star_port", equation=STAR_PORT, published=_STAR_CLAIM),
        "ring_latency": tell.value("ring_latency"),
        "bound": tell.formula("The bytes of one port, with your numbers", RING_BYTES),
        "comparison": partial(comparison, inputs, result),
        "claims": partial(claims, inputs, result.claimed),
    }


def _curve(tell: Teller, inputs: Inputs, result: Result) -> Lines:
    sizes = tuple(float(n) for n in COLUMN)
    return Lines(
        title="Bytes through each port, over the size of the buffer",
        x=tell.axis("world_size", "GPUs", low=LOW, high=HIGH, scale="log"),
        y=tell.axis("factor", "times the buffer", low=0.0, high=2.4),
        series=(
            Series(
                key="factor",
                label="the least, as in a ring",
                x=sizes,
                y=result.factors,
                color="communication",
            ),
            Series(
                key="switch",
                label="if the switch adds",
                x=sizes,
                y=result.switch_factors,
                color="data",
                dashed=True,
            ),
        ),
        points=(
            Point(key="now", label=tell.say("{factor}"), x=inputs.world_size, y=result.factor),
        ),
        rules=(Rule(key="two", label="never reaches 2", axis="y", at=2.0),),
        handle="world_size",
        caption=tell.say(
            "The axis of GPUs is logarithmic: {few_factor} for 8 GPUs, {most_factor} for 16,384. "
            "Drag the handle."
        ),
    )
