"""The inputs of the check of a log: the log and its job; and every number of the page."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from engine.core import text
from engine.core.inputs import Scalar, Text
from engine.core.outputs import Output
from engine.core.units import Bytes, Count, Seconds, Share, TokenRate
from engine.form import short_job
from engine.form.fields import OwnConstants
from engine.form.log_samples import SAMPLES
from engine.form.text_validation import text_check
from engine.run.logs.training import LONGEST_LOG, TrainingLog, read_training_log
from engine.run.run import Run
from engine.simulate.measured.log_check import LogCheck, check_log
from engine.simulate.memory.memory_check import MemoryReadings, modeled_readings
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
def parse_log(text: str) -> TrainingLog:
    """Return a log, read once for the check under its box and for the results."""
    return read_training_log(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs(short_job.Shape):
    """The calculator's inputs."""

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
            check=text_check(parse_log),
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
    """Logged and predicted numbers; not finite where the log lacks them."""

    changes: tuple[text.Text, ...]
    run: Run
    evidence: Evidence
    log: TrainingLog
    found: LogCheck | None
    ours: MemoryReadings
    step_time: Annotated[
        Seconds,
        Output(
            "Step, median",
            "T",
            basis="measured",
            assumes=("Of the steps after warm-up, as the log prints or implies them.",),
        ),
    ]
    predicted: Annotated[
        Seconds,
        Output("Step, predicted", assumes=(PREDICTED,)),
    ]
    token_rate: Annotated[
        TokenRate,
        Output(
            "Per GPU",
            basis="measured",
            assumes=("Tokens of a step over its time and all GPUs.",),
        ),
    ]
    mfu: Annotated[
        Share,
        Output(
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
        Output(
            "Spread",
            note="of the median: eight in ten steps lie that close together",
            basis="measured",
            assumes=("The 90th less the 10th percentile, over the median.",),
        ),
    ]
    drift: Annotated[
        Share,
        Output(
            "Drift",
            note="the last quarter's median over the first's",
            basis="measured",
            assumes=("Above zero, steps become slower.",),
        ),
    ]
    slow: Annotated[
        Count,
        Output(
            "Slow steps",
            note="above 1.5 times the median",
            basis="measured",
            assumes=("Checkpoints, evaluations, stragglers, restarts.",),
        ),
    ]
    reserved: Annotated[
        Bytes,
        Output(
            "Peak of memory",
            color="memory",
            basis="measured",
            assumes=("Reserved where the log prints it, otherwise allocated.",),
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the numbers of the log, checked against the model."""
    run, changes = short_job.job_run_and_changes(inputs)
    log = parse_log(inputs.log)
    check = check_log(log, run)
    if check is None:
        return _empty_result(run, changes, log)
    steady = check.steady
    return Result(
        run=run,
        changes=changes,
        evidence=evidence(run),
        ours=modeled_readings(run),
        log=log,
        found=check,
        step_time=steady.median,
        predicted=check.predicted,
        token_rate=check.token_rate,
        mfu=check.mfu,
        spread=(steady.high - steady.low) / steady.median,
        drift=steady.drift,
        slow=steady.slow,
        reserved=check.reserved or check.allocated or _INFINITE,
    )


def _empty_result(run: Run, changes: tuple[text.Text, ...], log: TrainingLog) -> Result:
    """Return the result of a log without a whole step."""
    return Result(
        run=run,
        changes=changes,
        evidence=evidence(run),
        ours=modeled_readings(run),
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
