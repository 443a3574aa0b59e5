"""What-if levers: the gain of each possible change, for the configured job."""

from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Annotated

from engine.core.inputs import Scalar
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import RATIO, SHARE, Gbit, Ratio, Share
from engine.core.views import Challenge, Condition, Lines, Point, Series
from engine.form.what_if import views as shared
from engine.form.what_if.inputs import PRESETS as PRESETS
from engine.form.what_if.inputs import Inputs as Inputs
from engine.form.what_if.inputs import run_and_changes
from engine.form.what_if.views import Job, what_if_job
from engine.formulas.amdahl import AMDAHL, amdahl
from engine.simulate.step.what_if import run_step_time

START: dict[str, Scalar] = {
    "model": "llama-3-70b",
    "gpu": "H100-SXM",
    "world_size": 256,
    "sequence_length": 8192,
    "global_batch_size": 256,
    "micro_batch_size": 1,
    "tensor_parallel": 8,
    "pipeline_parallel": 4,
    "virtual_pipeline": 1,
    "context_parallel": 1,
    "zero_stage": "1",
    "recompute": "full",
    "precision": "bf16",
    "nic_bandwidth": 400 * Gbit,
    "nics_per_node": 8,
    "overlap_tensor_parallel": False,
}


def challenge(job: Job, start: Ratio) -> Challenge:
    """Return the goal: faster by half on the same GPUs, with the same batch, in memory."""
    rate = job.run.training.global_batch_size / job.step_time
    return Challenge(
        title="Half again as fast",
        goal="Bring this 70B job on 256 H100 to one and a half times its speed with bf16, the same "
        "256 sequences in a step, and no other machine.",
        conditions=(
            Condition(
                text=say("at least {n} of the speed at the start", n=(1.5, RATIO)),
                met=rate >= 1.5 * start,
            ),
            Condition(text="it fits", met=job.fit.verdict == "fits"),
            Condition(
                text="Llama 3 70B, 256 H100 with 400 Gb/s, bf16, 256 sequences of 8,192",
                met=_same_job(job),
            ),
        ),
        hints=(
            "What does the first bar of the figure cost, and is there room for it?",
            "Tensor parallelism makes waits and small products; how little of it does still fit?",
            "A bubble shrinks with virtual stages or with fewer stages.",
        ),
        start=START,
        solution={
            "recompute": "none",
            "overlap_tensor_parallel": True,
            "virtual_pipeline": 5,
        },
    )


@cache
def start_rate() -> Ratio:
    """Return the sequences per second that the challenge starts from."""
    run, _ = run_and_changes(replace(Inputs(), **START))  # type: ignore[arg-type]
    return run.training.global_batch_size / run_step_time(run).total


def _same_job(job: Job) -> bool:
    run = job.run
    return (
        run.model.name == "Llama 3 70B"
        and run.plan.world_size == 256
        and run.cluster.gpu.name.startswith("H100")
        and run.cluster.nic_bandwidth == 50e9
        and run.cluster.nics_per_node == 8
        and run.training.precision == "bf16"
        and run.training.global_batch_size == 256
        and run.training.sequence_length == 8192
    )


TITLE = "What to change first"
QUESTION = "Which change would make my job faster, by how much, and how sure is that?"
HEADLINE = "step_time"
EQUATIONS = (AMDAHL,)
_SHARES = tuple(i / 50 for i in range(46))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The job with all gains, and Amdahl's law for comparison.

    Attributes:
        job: with its gains.
        five, fifteen: by how much the step gets faster if so many percent of it wait.
        here: speed with faster communication, as fast as now.
        slow, fast: the same by the share that waits, 1.5 times as fast and as the reader says.
        start_rate: sequences per second from which the challenge starts.
    """

    job: Job
    five: Annotated[Share, Output("Step faster, if 5 % waits", "g")]
    fifteen: Annotated[Share, Output("Step faster, if 15 % waits", "g")]
    here: Ratio
    slow: tuple[Ratio, ...]
    fast: tuple[Ratio, ...]
    start_rate: Ratio


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    own_job, gain = what_if_job(inputs), inputs.kernel_gain
    return Result(
        job=own_job,
        five=amdahl(0.05, gain) - 1,
        fifteen=amdahl(0.15, gain) - 1,
        here=amdahl(own_job.exposed_share, gain),
        slow=tuple(amdahl(share, 1.5) for share in _SHARES),
        fast=tuple(amdahl(share, gain) for share in _SHARES),
        start_rate=start_rate(),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    job = result.job
    present = Presenter(result, job, inputs, equations=EQUATIONS)
    return {
        "step_time": shared.step_value(present, job),
        "first": shared.first_lever_badge(job),
        "tornado": partial(shared.tornado, job),
        **present.values("exposed_share"),
        "advice": partial(shared.lever_advice, job),
        "amdahl": partial(_curve, present, inputs, result),
        "five": present.value("five", symbols={"e": (0.05, SHARE), "k": "kernel_gain"}),
        "fifteen": present.value("fifteen", symbols={"e": (0.15, SHARE), "k": "kernel_gain"}),
        "levers": partial(shared.gains_table, job),
        "challenge": partial(challenge, job, result.start_rate),
    }


def _curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the gain of faster communication, by exposed share of the step."""
    curves = ((1.5, result.slow, "muted"), (inputs.kernel_gain, result.fast, "communication"))
    here = min(result.job.exposed_share, 0.9)
    return Lines(
        title="A faster part, and a barely faster step",
        x=present.axis("exposed_share", "share that gets faster", low=0.0, high=0.9),
        y=present.axis("here", "speed of the step", low=1.0, high=4.0),
        series=tuple(
            Series(key=f"k{factor:g}", label=f"{factor:g}× as fast", x=_SHARES, y=y, color=color)
            for factor, y, color in curves
        ),
        points=(Point(key="you", label="your job", x=here, y=min(4.0, result.here)),),
        caption="The part that does not get faster remains, however fast the rest becomes.",
    )
