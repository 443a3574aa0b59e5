"""ZeRO-3 at real scale: FSDP2's streams, prefetch, resharding, and memory over time."""

from collections.abc import Mapping
from functools import partial

from engine.calculators.data_parallelism.zero_3_lab.inputs import Inputs as Inputs
from engine.calculators.data_parallelism.zero_3_lab.inputs import Result as Result
from engine.calculators.data_parallelism.zero_3_lab.inputs import solve as solve
from engine.core.inputs import Scalar
from engine.core.outputs import Teller, Views
from engine.core.text import say, words
from engine.core.units import BYTES, SECONDS, Bytes, Gbit, as_given
from engine.core.views import Axis, Badge, Bar, Bars, Challenge, Condition
from engine.draw.layer_carousel import carousel
from engine.form.sharded.lab import (
    fit,
    simulated_step,
    step_segments,
    timeline,
)

TITLE = "ZeRO-3 at real scale"
QUESTION = "How much of gathering and freeing can a step hide, and at which memory?"
PRESETS = {
    "No prefetch": {"prefetch": 0},
    "Kept after the forward pass": {"reshard": False},
    "70B on 128 GPUs": {"model": "llama-3-70b", "ranks": 128},
    "One port of 100 Gb/s per node": {"port": 12.5 * Gbit},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs)
    return {
        "carousel": partial(carousel, result.ran),
        "step_time": simulated_step(tell, result.ran.evidence),
        **tell.values("exposed"),
        "regime": _regime(tell, inputs, result),
        "timeline": partial(
            timeline,
            "A step of FSDP on its streams",
            result.ran,
            "FSDP2 has a stream for gathers and one for reductions; here they take turns on the "
            "wire. Hatched: communication that nothing hides.",
        ),
        **tell.values("peak", "kept", "sent"),
        "fits": fit(tell, result.ran),
        "depths": partial(_depths, result),
        "challenge": partial(_challenge, inputs, result),
    }


def _regime(tell: Teller, inputs: Inputs, result: Result) -> Badge:
    share = result.exposed / result.step_time
    if inputs.prefetch == 0:
        return Badge(
            text="Every gather is waited for",
            sentence="Without prefetch a layer's gather starts when the layer before it has ended.",
            color="communication",
        )
    if share < 0.1:
        return Badge(
            text="Compute-bound",
            sentence=tell.say("Of {isolated} of communication only {exposed} is exposed."),
            color="compute",
        )
    return Badge(
        text="Network-bound",
        sentence=tell.say("The network never rests for long: {exposed} is exposed."),
        color="communication",
    )


def _depths(result: Result) -> Bars:
    depths = result.by_depth()
    high = max(one.seen.length for one in depths) * 1.05
    return Bars(
        title="One micro-batch by prefetch depth",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=high),
        bars=tuple(
            Bar(
                key=f"depth{depth}",
                label=f"depth {depth}, {_gigabytes(one.peak)}",
                segments=step_segments(one),
            )
            for depth, one in enumerate(depths)
        ),
        caption="Beside the depth: states and buffers at most.",
    )


def _gigabytes(size: Bytes) -> str:
    return words(say("{m}", m=(size, BYTES)))


START: Mapping[str, Scalar] = {"model": "llama-3-70b", "prefetch": 0, "tokens": 4096, "ranks": 64}
SOLUTION: Mapping[str, Scalar] = {**START, "prefetch": 1, "ranks": 128}
_MOST: Bytes = 20e9


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    share = result.exposed / result.step_time
    return Challenge(
        title="Challenge: 70B in a quarter of the memory",
        goal=say(
            "Train Llama 3 70B with at most {m} of states and buffers, and wait for less than a "
            "tenth of the step.",
            m=(_MOST, as_given(BYTES)),
        ),
        conditions=(
            Condition(
                text="Llama 3 70B on H100, ports of at most 400 Gb/s",
                met=inputs.model == "llama-3-70b"
                and inputs.gpu == "h100"
                and inputs.port <= 400 * Gbit,
            ),
            Condition(
                text="at most 4,096 tokens in a micro-batch, one micro-batch",
                met=inputs.tokens <= 4096 and inputs.micro_batches == 1,
            ),
            Condition(
                text=say("at most {m} for states and buffers", m=(_MOST, as_given(BYTES))),
                met=result.peak <= _MOST,
            ),
            Condition(text="less than 10 % of the step exposed", met=share < 0.1),
        ),
        hints=(
            "Prefetch hides gathers, and costs room for one more unit per level.",
            "States shrink with the number of GPUs. Buffers do not.",
        ),
        start=START,
        solution=SOLUTION,
    )
