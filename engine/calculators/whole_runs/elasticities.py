"""Elasticities: gain and allowed price of ten percent more of each machine part."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.core.inputs import PERCENT, Choice, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text
from engine.core.units import Share
from engine.core.views import Badge, Bar, Bars, Segment
from engine.form.adjusted_inputs import with_changes
from engine.form.fields import OwnConstants
from engine.form.what_if.inputs import GPU_NAMES, MODEL_NAMES, run_and_changes
from engine.form.what_if.inputs import Inputs as Job
from engine.simulate.step.elasticity import MACHINE_CHANGES, gpu_count_gain, step_gain
from engine.simulate.step.what_if import run_fit

TITLE = "Which part matters most"
QUESTION = "What does a little more of each part of the machine give?"
HEADLINE = "gpus"
_NAMES = {
    "peak": ("peak of the matrix units", "compute"),
    "memory": ("bandwidth of the memory", "memory"),
    "links": ("links inside the node", "communication"),
    "network": ("network ports", "communication"),
}
_AGAIN = ("The cost model, run again with that part of the machine.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs: the job, and the increase."""

    model: Annotated[str, Choice(label="Model", cites=False, options=MODEL_NAMES)] = "llama-3-70b"
    gpu: Annotated[str, Choice(label="GPU", options=GPU_NAMES)] = "H100-SXM"
    world_size: Annotated[
        int, Number(label="GPUs", low=8, high=65_536, whole=True, scale="log2")
    ] = 256
    tensor_parallel: Annotated[
        int, Number(label="Tensor parallel", low=1, high=64, whole=True, scale="log2")
    ] = 8
    pipeline_parallel: Annotated[
        int, Number(label="Pipeline parallel", low=1, high=64, whole=True, scale="log2")
    ] = 4
    more: Annotated[float, Number(label="More by", unit=PERCENT, low=0.01, high=1.0, step=0.01)] = (
        0.1
    )
    own_constants: OwnConstants = ""


def _output(part: str) -> Output:
    label, color = _NAMES[part]
    verb = "More" if part == "memory" else "Faster"
    return Output(f"{verb} {label}", color=color, assumes=_AGAIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Speedup of the step with more of each part, and with more GPUs.

    All are zero where the job does not fit.
    """

    changes: tuple[Text, ...]
    fits: bool
    gpus: Annotated[
        Share,
        Output(
            "With more GPUs: step faster by",
            assumes=("From the cost model at twice as many GPUs, as an exponent.",),
        ),
    ]
    cost: Annotated[
        Share,
        Output(
            "With more GPUs: run more expensive by",
            assumes=("That many more GPUs, for the shorter time.",),
        ),
    ]
    peak: Annotated[Share, _output("peak")]
    memory: Annotated[Share, _output("memory")]
    links: Annotated[Share, _output("links")]
    network: Annotated[Share, _output("network")]

    @property
    def best(self) -> str:
        """The part with the largest gain; the first of equals."""
        return max(MACHINE_CHANGES, key=lambda part: float(getattr(self, part)))


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    job = replace(
        Job(),
        model=inputs.model,
        gpu=inputs.gpu,
        world_size=inputs.world_size,
        tensor_parallel=inputs.tensor_parallel,
        pipeline_parallel=inputs.pipeline_parallel,
        own_constants=inputs.own_constants,
    )
    run, changes = run_and_changes(job)
    twice, _ = run_and_changes(replace(job, world_size=2 * run.plan.world_size))
    if not run_fit(run).runs:
        return Result(
            changes=changes,
            fits=False,
            gpus=0.0,
            cost=0.0,
            peak=0.0,
            memory=0.0,
            links=0.0,
            network=0.0,
        )
    gpus = gpu_count_gain(run, twice, inputs.more)
    gains = {part: step_gain(run, change, inputs.more) for part, change in MACHINE_CHANGES.items()}
    return Result(
        changes=changes, fits=True, gpus=gpus, cost=(1 + inputs.more) / (1 + gpus) - 1, **gains
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views: the gain of each part, and the largest gain."""
    present = Presenter(inputs, result)
    return {
        "verdict": with_changes(_verdict(present, result), result.changes),
        "bars": partial(_bars, present, inputs, result),
        **present.values("gpus", "cost", *MACHINE_CHANGES),
    }


def _verdict(present: Presenter, result: Result) -> Badge:
    if not result.fits:
        crowded = "The job does not fit on these GPUs, so no part makes it faster."
        return Badge(text="Does not fit", sentence=crowded, color="communication")
    label, color = _NAMES[result.best]
    sentence = "With {more} more of it the step is {gain} faster, the largest gain of the four."
    return Badge(
        text=label.capitalize(), sentence=present.say(sentence, gain=result.best), color=color
    )


def _bars(present: Presenter, inputs: Inputs, result: Result) -> Bars:
    return Bars(
        title="What a little more gives",
        axis=present.axis("peak", "step faster by", low=0.0, high=max(0.005, inputs.more)),
        bars=tuple(
            Bar(
                key=part,
                label=label,
                segments=(
                    Segment(
                        key=part, label=label, value=max(0.0, getattr(result, part)), color=color
                    ),
                ),
            )
            for part, (label, color) in _NAMES.items()
        ),
        caption="The axis ends at the share that was added: a part that reaches it is the only one "
        "that counts. Compare the bar of a part with its price.",
    )
