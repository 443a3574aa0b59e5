"""The challenge of the levers: reach a rate with few of them."""

from dataclasses import replace
from functools import cache

from engine.core.inputs import Scalar
from engine.core.text import say
from engine.core.units import RATIO, Gbit, Ratio
from engine.core.views import Challenge, Condition
from engine.form.what_if.inputs import Inputs, as_run
from engine.form.what_if.model import Job
from engine.simulate.step.what_if import step_of

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


def challenge(found: Job, start: Ratio) -> Challenge:
    """Return the goal: faster by half on the same GPUs, with the same batch, in memory."""
    rate = found.run.training.global_batch_size / found.step_time
    return Challenge(
        title="Half again as fast",
        goal="Bring this 70B job on 256 H100 to one and a half times its speed with bf16, the same "
        "256 sequences in a step, and no other machine.",
        conditions=(
            Condition(
                text=say("at least {n} of the speed at the start", n=(1.5, RATIO)),
                met=rate >= 1.5 * start,
            ),
            Condition(text="it fits", met=found.fits),
            Condition(
                text="Llama 3 70B, 256 H100 with 400 Gb/s, bf16, 256 sequences of 8,192",
                met=_same_job(found),
            ),
        ),
        hints=(
            "What does the first bar of the figure cost, and is there room for it?",
            "Tensor parallelism makes waits and small products; how little of it does still fit?",
            "A bubble shrinks with pieces or with fewer stages.",
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
    run, _ = as_run(replace(Inputs(), **START))  # type: ignore[arg-type]
    return run.training.global_batch_size / step_of(run).total


def _same_job(found: Job) -> bool:
    run = found.run
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
