"""The bucket lab: a real model's gradients in buckets, behind its backward pass."""

from functools import partial

from engine.calculators.data_parallelism.bucket_lab import views as shown
from engine.calculators.data_parallelism.bucket_lab.challenge import challenge
from engine.calculators.data_parallelism.bucket_lab.inputs import Inputs as Inputs
from engine.calculators.data_parallelism.bucket_lab.result import Result as Result
from engine.calculators.data_parallelism.bucket_lab.result import solve as solve
from engine.core.outputs import Teller, Views
from engine.core.units import Gbit, MiB
from engine.core.views import Published

TITLE = "The bucket lab"
QUESTION = "What does a step wait for, with buckets of this size?"
PRESETS = {
    "Contention as measured": {"slow_down": 0.19},
    "One machine, 8 GPUs": {"world_size": 8},
    "One port of 100 Gb/s per node": {"port": 100 * Gbit, "ports": 1},
    "8B on B200: too large for 80 GB": {"model": "llama-3-8b", "gpu": "b200"},
    "Buckets of 250 MiB": {"bucket": 250 * MiB, "slow_down": 0.19},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs)
    eta = Published(
        text=tell.say("a published page's overlap efficiency: {published_overlap}"),
        reason="It divides communication by the backward pass, so it is small where all of it "
        "hides.",
        source="pingdo_pipeline",
        claim="E4.42",
    )
    return {
        **tell.values("step_time", "exposed"),
        "hidden": tell.value("hidden", published=eta),
        "regime": shown.regime(tell, result),
        "timeline": partial(shown.timeline, tell, result),
        "curve": partial(shown.curve, tell, inputs, result),
        **tell.values("contention", "num_buckets", "last_size", "last_share", "isolated"),
        "fits": shown.fits(tell, result),
        "contents": partial(shown.contents, result),
        **tell.values("first_layer", "layers", "bucket_parameters", "even_buckets", "states"),
        "challenge": partial(challenge, inputs, result),
    }
