"""The napkin of 14 buckets: how many there are, what each takes, and what sticks out."""

from functools import partial

from engine.calculators.data_parallelism.bucket_napkin.charts import curve, timeline
from engine.calculators.data_parallelism.bucket_napkin.inputs import PRESETS as PRESETS
from engine.calculators.data_parallelism.bucket_napkin.inputs import Inputs as Inputs
from engine.calculators.data_parallelism.bucket_napkin.inputs import Result as Result
from engine.calculators.data_parallelism.bucket_napkin.inputs import solve as solve
from engine.core.outputs import Teller, Views
from engine.core.units import SECONDS
from engine.core.views import Badge, Published

TITLE = "Why 14 buckets are enough"
QUESTION = "How much of the reduction of gradients is left when the backward pass ends?"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs)
    return {
        "timeline": partial(timeline, inputs, result),
        **tell.values("exposed", "buckets"),
        "computing": tell.value("computing", published=_published(tell, inputs)),
        "sending": tell.value("sending"),
        "regime": _regime(tell, inputs, result),
        "curve": partial(curve, tell, inputs, result, "bucket"),
        "models": partial(curve, tell, inputs, result, "parameters"),
        **tell.values("share", "buffers", "isolated", "backward"),
    }


def _published(tell: Teller, inputs: Inputs) -> Published:
    """Return the published napkin: 3 TFLOP per billion parameters at 1 PFLOP/s, 800 GB/s."""
    size = min(inputs.bucket, inputs.parameters)
    return Published(
        text=tell.say(
            "a published page: {c} to compute a bucket, {m} to send it",
            c=(3e3 * size / 1e15, SECONDS),
            m=(2 * size / 800e9, SECONDS),
        ),
        reason="It computes at the full peak, with about 750 tokens, and counts both directions "
        "of the link.",
        source="vizuara_guides",
        claim="E1.7",
    )


def _regime(tell: Teller, inputs: Inputs, result: Result) -> Badge:
    if not inputs.overlap:
        return Badge(
            text="Nothing hides",
            sentence=tell.say("The backward pass stops for every bucket: {exposed} in all."),
            color="communication",
        )
    if result.buckets == 1:
        return Badge(
            text="One bucket, no overlap",
            sentence="The bucket is complete only when the backward pass is over. "
            "A smaller bucket is what helps.",
            color="communication",
        )
    if result.sending > result.computing:
        return Badge(
            text="The wire is slower",
            sentence=tell.say(
                "A bucket takes {sending} to reduce and {computing} to compute: they queue up."
            ),
            color="communication",
        )
    return Badge(
        text="Only the last bucket is exposed",
        sentence=tell.say(
            "A bucket takes {computing} to compute and {sending} to reduce. Each is gone before "
            "the next is full."
        ),
        color="compute",
    )
