"""The inputs of the check of a log: the log and its job; and every number of the page."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from engine.core import text
from engine.core.inputs import Scalar, Text
from engine.core.outputs import Told
from engine.core.units import Bytes, Count, Seconds, Share, TokenRate
from engine.form import short_job
from engine.form.fields import OwnConstants
from engine.form.log_samples import SAMPLES
from engine.form.text_validation import checked_by
from engine.run.logs.training import LONGEST_LOG, TrainingLog, read_training_log
from engine.run.run import Run
from engine.simulate.measured.log_check import LogCheck, check_log
from engine.simulate.memory.memory_check import Lines, modelled
from engine.simulate.step.prediction_evidence import Evidence, evidence

_INFINITE = float("inf")
PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "Megatron-LM: Llama 3 70B on 64 H100": {
        **short_job.LLAMA_70B,
        "log": SAMPLES["megatron"].text,
        "gpu": "H100-SXM",
    },
    "DeepSpeed: a log that slows down": {
        "log": SAMPLES["deepspeed"].text,
        "gpu": "H100-SXM",
        "global_batch_size": 32,
        "micro_batch_size": 1,
        "recompute": "full",
        "framework": "deepspeed",
    },
}


@lru_cache(maxsize=4)
def read(text: str) -> TrainingLog:
    """Return a log, read once for the check under its box and for the results."""
    return read_training_log(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs(short_job.Shape):
    """What the reader can change."""

    log: Annotated[
        str,
        Text(
            label="Your log",
            longest=LONGEST_LOG,
            samples=SAMPLES,
            rows=10,
            placeholder="Paste the lines that Megatron-LM, torchtitan, DeepSpeed, nanotron or "
            "litgpt print while they train",
            help="Other lines may stand between them.",
            check=checked_by(read),
        ),
    ] = SAMPLES["torchtitan"].text
    model: short_job.AnyModelName = "llama-3-8b"
    gpu: short_job.GpuName = "H100-SXM-500W"
    world_size: short_job.WorldSize = 8
    sequence_length: short_job.SequenceLength = 8192
    global_batch_size: short_job.GlobalBatch = 16
    micro_batch_size: short_job.MicroBatch = 2
    tensor_parallel: short_job.TensorParallel = 1
    pipeline_parallel: short_job.PipelineParallel = 1
    context_parallel: short_job.ContextParallel = 1
    expert_parallel: short_job.ExpertParallel = 1
    zero_stage: short_job.ZeroStage = "3"
    precision: short_job.PrecisionName = "bf16"
    recompute: short_job.RecomputeName = "selective"
    framework: short_job.FrameworkName = "fsdp"
    own_constants: OwnConstants = ""


PREDICTED = "The cost model, fitted to published runs."


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What the log says, and what the model predicts; no finite value where it says nothing."""

    changes: tuple[text.Text, ...]
    run: Run
    evidence: Evidence
    log: TrainingLog
    found: LogCheck | None
    ours: Lines
    step_time: Annotated[
        Seconds,
        Told(
            "Step, median",
            "T",
            basis="measured",
            assumes=("Of the steps after warm-up, as the log prints or implies them.",),
        ),
    ]
    predicted: Annotated[
        Seconds,
        Told("Step, predicted", assumes=(PREDICTED,)),
    ]
    token_rate: Annotated[
        TokenRate,
        Told(
            "Per GPU",
            basis="measured",
            assumes=("Tokens of a step over its time and all GPUs.",),
        ),
    ]
    mfu: Annotated[
        Share,
        Told(
            "MFU",
            color="compute",
            basis="measured",
            assumes=(
                "Operations of the model as on every page, attention in full, of the dense peak "
                "of this GPU in this precision.",
            ),
        ),
    ]
    spread: Annotated[
        Share,
        Told(
            "Spread",
            note="of the median: eight in ten steps lie that close together",
            basis="measured",
            assumes=("The 90th less the 10th percentile, over the median.",),
        ),
    ]
    drift: Annotated[
        Share,
        Told(
            "Drift",
            note="the last quarter's median over the first's",
            basis="measured",
            assumes=("Above zero, steps become slower.",),
        ),
    ]
    slow: Annotated[
        Count,
        Told(
            "Slow steps",
            note="above 1.5 times the median",
            basis="measured",
            assumes=("Checkpoints, evaluations, stragglers, restarts.",),
        ),
    ]
    reserved: Annotated[
        Bytes,
        Told(
            "Peak of memory",
            color="memory",
            basis="measured",
            assumes=("Reserved where the log prints it, otherwise allocated.",),
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return what the log says of the job."""
    run, changes = short_job.job_told(inputs)
    log = read(inputs.log)
    found = check_log(log, run)
    if found is None:
        return _nothing(run, changes, log)
    steady = found.steady
    return Result(
        run=run,
        changes=changes,
        evidence=evidence(run),
        ours=modelled(run),
        log=log,
        found=found,
        step_time=steady.median,
        predicted=found.predicted,
        token_rate=found.token_rate,
        mfu=found.mfu,
        spread=(steady.high - steady.low) / steady.median,
        drift=steady.drift,
        slow=steady.slow,
        reserved=found.reserved or found.allocated or _INFINITE,
    )


def _nothing(run: Run, changes: tuple[text.Text, ...], log: TrainingLog) -> Result:
    """Return the result of a log without a whole step."""
    return Result(
        run=run,
        changes=changes,
        evidence=evidence(run),
        ours=modelled(run),
        log=log,
        found=None,
        step_time=_INFINITE,
        predicted=_INFINITE,
        token_rate=_INFINITE,
        mfu=_INFINITE,
        spread=_INFINITE,
        drift=_INFINITE,
        slow=0,
        reserved=_INFINITE,
    )
