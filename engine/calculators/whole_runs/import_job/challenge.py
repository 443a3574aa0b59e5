"""A launch command that contradicts itself, to be mended until its job fits and is fast."""

from functools import cache

from engine.core.lazy import Later
from engine.core.text import say
from engine.core.units import COUNT, RATIO, SECONDS, Count, Ratio
from engine.core.views import Challenge, Condition
from engine.form.imported.run_text import read_text
from engine.form.imported.samples import SAMPLES
from engine.form.run.result import Estimated, estimated
from engine.run.run import Run

_LONGER: Ratio = 1.02  # than the published plan's, at most
_STAGES: Count = 2
_COMMAND = r"""torchrun --nproc_per_node=8 --nnodes 8 run_recipe.py \
  --recipe llama3_70b_pretrain_config \
  model.tensor_model_parallel_size={tensor} model.pipeline_model_parallel_size=2 \
  model.virtual_pipeline_model_parallel_size={pieces} \
  train.micro_batch_size={micro} train.global_batch_size=128 dataset.seq_length=8192 \
  mixed_precision=bf16_mixed comm_overlap.tp_comm_overlap={overlap}
"""
START = _COMMAND.format(tensor=2, pieces="null", micro=3, overlap="false")
_SOLUTION = _COMMAND.format(tensor=8, pieces=10, micro=1, overlap="true")


@cache
def sample() -> Estimated:
    """Return the estimate of the sample, which a publication ran."""
    run = read_text(SAMPLES["bridge"].text).run
    if run is None:
        raise AssertionError("the sample describes a job")
    return estimated(run)


def challenge(found: Estimated | None, start: Later[Estimated]) -> Challenge:
    """Return the goal, and how far the reader's text is."""
    job, step = start().run, start().step_time
    run = found.run if found else None
    return Challenge(
        title="Mend a launch command",
        goal="A colleague's command for Llama 3 70B on 64 H100 does not start. Mend it, and keep "
        "to two pipeline stages: edit the text in its box.",
        conditions=(
            Condition(text="the text contradicts itself nowhere", met=run is not None),
            Condition(
                text="the job of the start: model, GPUs, batch, length, 16 bits",
                met=run is not None and _same(run, job),
            ),
            Condition(
                text=say("at most {n} pipeline stages", n=(_STAGES, COUNT)),
                met=run is not None and run.plan.pipeline_parallel <= _STAGES,
            ),
            Condition(text="it fits", met=found is not None and found.fits),
            Condition(
                text=say(
                    "a step of at most {t}, {r} of the published plan's four stages",
                    t=(_LONGER * step, SECONDS),
                    r=(_LONGER, RATIO),
                ),
                met=found is not None and found.step_time <= _LONGER * step,
            ),
        ),
        hints=(
            "128 sequences are divided among the data-parallel ranks, and each share is divided "
            "into micro-batches. Which of the two does not divide?",
            "What then does not fit is parameters and optimizer states: which axis divides them "
            "without a third stage?",
            "More tensor parallelism costs collectives in every layer. Which key hides them, and "
            "which one makes the bubble smaller?",
        ),
        start={"text": START},
        solution={"text": _SOLUTION},
    )


def _same(run: Run, job: Run) -> bool:
    one, other = run.training, job.training
    return (run.model, run.cluster.gpu, run.plan.world_size) == (
        job.model,
        job.cluster.gpu,
        job.plan.world_size,
    ) and (one.global_batch_size, one.sequence_length, one.precision) == (
        other.global_batch_size,
        other.sequence_length,
        other.precision,
    )
