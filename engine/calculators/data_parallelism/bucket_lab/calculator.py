"""The bucket lab: a real model's gradients in buckets, behind its backward pass."""

from functools import partial

from engine.calculators.data_parallelism.bucket_lab import views as bucket_views
from engine.calculators.data_parallelism.bucket_lab.challenge import challenge
from engine.calculators.data_parallelism.bucket_lab.inputs import Inputs as Inputs
from engine.calculators.data_parallelism.bucket_lab.result import Result as Result
from engine.calculators.data_parallelism.bucket_lab.result import solve as solve
from engine.core.outputs import Presenter, Views
from engine.core.units import Gbit, MiB
from engine.core.views import Published
from engine.form.run.prediction_text import no_range_assumptions, value_with_range

FORMERLY = {"utilization": ""}
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
    present = Presenter(result, inputs)
    eta = Published(
        text=present.say("a published page's overlap efficiency: {published_overlap}"),
        reason="It divides communication by the backward pass, so it is small where all of it "
        "hides.",
        source="pingdo_pipeline",
        claim="E4.42",
    )
    return {
        "step_time": present.value("step_time", assumes=no_range_assumptions(result.evidence)),
        "exposed": present.value("exposed"),
        "hidden": present.value("hidden", published=eta),
        "regime": bucket_views.regime(present, result),
        "timeline": partial(bucket_views.timeline, present, result),
        "curve": partial(bucket_views.curve, present, inputs, result),
        "estimate": value_with_range(present, "estimate", result.evidence),
        **present.values(
            "output_first",
            "optimizer",
            "other",
            "contention",
            "num_buckets",
            "last_size",
            "last_share",
            "isolated",
        ),
        "fits": bucket_views.fits_badge(present, result),
        "contents": partial(bucket_views.bucket_table, result),
        **present.values("first_layer", "layers", "bucket_parameters", "even_buckets", "states"),
        "challenge": partial(challenge, inputs, result),
    }
