"""One layer under the roofline: every operator's place, and what fusion changes."""

from collections.abc import Mapping
from functools import partial

from engine.calculators.one_gpu.layer_roofline import charts
from engine.calculators.one_gpu.layer_roofline.inputs import Inputs as Inputs
from engine.calculators.one_gpu.layer_roofline.inputs import Result as Result
from engine.calculators.one_gpu.layer_roofline.inputs import solve as solve
from engine.core.inputs import Scalar
from engine.core.outputs import Teller, Views
from engine.core.views import Badge, Challenge, Condition

TITLE = "One layer under the roof"
QUESTION = "Which operators of a layer wait for memory, and what does fusion change?"
EQUATIONS = ()
PRESETS = {
    "As written, attention unfused": {"flash": False},
    "Everything fused": {"fused": True},
    "One token at a time": {"tokens": 1, "fused": True},
    "GPT-3 175B, 2,048 tokens": {
        "model": "gpt-3-175b",
        "tokens": 2048,
        "sequence_length": 2048,
        "gpu": "A100-SXM-80GB",
    },
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(inputs, result)
    return {
        **tell.values("time", "waiting"),
        "verdict": _verdict(tell, result),
        **tell.values("swept", "saved", "of_peak", "ridge"),
        "roofline": partial(charts.roofline, tell, result),
        "times": partial(charts.times, tell, result),
        "operators": partial(charts.operators, tell, result),
        "challenge": _challenge(inputs, result),
    }


def _verdict(tell: Teller, result: Result) -> Badge:
    if result.waiting > 0.5:
        return Badge(
            text="The memory decides",
            sentence=tell.say("{waiting} of the time, operators wait for memory."),
            color="memory",
        )
    return Badge(
        text="The tensor cores decide",
        sentence=tell.say("Operators wait for memory {waiting} of the time."),
        color="compute",
    )


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    start: Mapping[str, Scalar] = {
        "model": "llama-3-8b",
        "gpu": "H100-SXM",
        "tokens": 64,
        "fused": False,
    }
    products = [one for one in result.placed if one.operator.is_product]
    return Challenge(
        title="Challenge: few tokens, no waiting",
        goal="Make every matrix product of a Llama 3 8B layer compute-bound on an H100, with as "
        "few tokens as that takes, and spend no more than a quarter of the time on memory.",
        conditions=(
            Condition(
                text="Llama 3 8B on H100 SXM",
                met=(inputs.model, inputs.gpu) == ("llama-3-8b", "H100-SXM"),
            ),
            Condition(text="at most 512 tokens at once", met=inputs.tokens <= 512),
            Condition(
                text="every product with a weight is compute-bound",
                met=all(
                    one.bound == "compute" for one in products if one.operator.key != "attention"
                ),
            ),
            Condition(text="memory-bound at most a quarter", met=result.waiting <= 0.25),
        ),
        hints=(
            "The output projection is square, 4,096 by 4,096. It needs the most tokens.",
            "With enough tokens, what is left to wait for is not in the products.",
        ),
        start=start,
        solution=dict(start) | {"tokens": 512, "fused": True},
    )
