"""Paste your log: median, spread, drift and MFU of a training run, beside the prediction."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated

from engine.core import text
from engine.core.inputs import Scalar, Text
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import escape_braces, say
from engine.core.units import (
    BYTES,
    COUNT,
    FLOP_RATE,
    SECONDS,
    SHARE,
    TOKEN_RATE,
    Bytes,
    Count,
    Quantity,
    Seconds,
    Share,
    TokenRate,
)
from engine.core.views import Axis, Badge, Cell, Lines, Rule, Series, Table
from engine.form import short_job
from engine.form.adjusted_inputs import with_changes
from engine.form.fields import OwnConstants
from engine.form.log_samples import SAMPLES
from engine.form.run.prediction_text import value_with_range
from engine.form.text_validation import text_check
from engine.run.logs.training import LONGEST_LOG, TrainingLog, read_training_log
from engine.run.run import Run
from engine.simulate.measured.log_check import (
    MFU_TOLERANCE,
    LogCheck,
    check_log,
    credible_mfu,
    is_another_job,
    is_another_model,
    is_another_rate,
    is_on_another_gpu,
)
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
            placeholder="Paste the lines that your software prints while it trains: Megatron-LM, "
            "NeMo, GPT-NeoX, torchtitan, DeepSpeed, Hugging Face's Trainer, ms-swift, nanotron, "
            "litgpt, MaxText, LLM Foundry, OLMo-core, nanoGPT or MLPerf's events",
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
    check: LogCheck | None
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
        check=check,
        step_time=steady.median,
        predicted=check.predicted,
        token_rate=check.token_rate,
        mfu=credible_mfu(check),
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
        check=None,
        step_time=_INFINITE,
        predicted=_INFINITE,
        token_rate=_INFINITE,
        mfu=_INFINITE,
        spread=_INFINITE,
        drift=_INFINITE,
        slow=0,
        reserved=_INFINITE,
    )


# So much drift from the first quarter to the last is not chance.
_DRIFTS = 0.03
_DRAWN = 400


def verdict(result: Result) -> Badge:
    """Return whether the step time matches the prediction, and whether it drifts."""
    check = result.check
    if check is None:
        return Badge(text="No whole step", sentence="The log ends before its first step does.")
    off = check.steady.median / check.predicted - 1
    numbers = {
        "off": (abs(off), SHARE),
        "low": (check.least, SECONDS),
        "high": (check.most, SECONDS),
        "drift": (abs(check.steady.drift), SHARE),
    }
    drift = ""
    if abs(check.steady.drift) > _DRIFTS:
        trend = "slower" if check.steady.drift > 0 else "faster"
        drift = f" It becomes {trend}: {{drift}} from the first quarter of the log to the last."
    if is_another_job(check, result.run):
        words, other = _differences(result, check)
        sentence = say(words + " Describe your run below." + drift, **numbers, **other)
        return Badge(text="Another job", sentence=sentence, color="muted")
    if check.steady.median > check.most:
        words = "{off} above the prediction, whose range is {low} to {high}: look at the spread, "
        words += "then at what waits."
        return Badge(text="Slower", sentence=say(words + drift, **numbers), color="communication")
    if check.steady.median < check.least:
        words = "{off} below the prediction, whose range is {low} to {high}: does the job below "
        words += "describe this run?"
        return Badge(text="Faster", sentence=say(words + drift, **numbers), color="memory")
    words = "Within the range of the prediction, {low} to {high}."
    return Badge(text="As predicted", sentence=say(words + drift, **numbers), color="compute")


def _differences(result: Result, check: LogCheck) -> tuple[str, dict[str, tuple[float, Quantity]]]:
    """Return how a log differs from the job below, in words and numbers."""
    run = result.run
    rows = (
        ("takes {logged0} sequences a step", "{asked0}", check.batch,
         run.training.global_batch_size),
        ("has sequences of {logged1} tokens", "{asked1}", check.sequence_length,
         run.training.sequence_length),
        ("runs on {logged2} GPUs", "{asked2}", check.gpus, run.plan.world_size),
    )  # fmt: skip
    numbers: dict[str, tuple[float, Quantity]] = {}
    parts = []
    for at, (words, expected, logged, form) in enumerate(rows):
        if logged != form:
            parts.append(f"{words}, not {expected}")
            numbers |= {f"logged{at}": (logged, COUNT), f"asked{at}": (form, COUNT)}
    if is_on_another_gpu(check, run):
        parts.append(escape_braces(f"runs on {check.gpu}, not {run.cluster.gpu.name}"))
    sentence = f"This log {' and '.join(parts)} as in the job below." if parts else ""
    numbers |= {"mfu": (check.mfu, SHARE), "share": (check.printed_share, SHARE)}
    numbers["flops"] = (check.printed_flops, FLOP_RATE)
    if check.mfu > 1:
        sentence += " By the job below a GPU would reach {mfu} of its peak, which is impossible."
    if is_another_model(check):
        sentence += " The log prints {flops} for a GPU, {share} of its peak; by the job below it "
        sentence += "would be {mfu}."
    if is_another_rate(check):
        sentence += " The log prints {rate} for a GPU; by the job below it would be {asked_rate}."
        numbers["rate"] = (check.printed_token_rate, TOKEN_RATE)
        numbers["asked_rate"] = (check.token_rate, TOKEN_RATE)
    return sentence.strip(), numbers


def printed(result: Result) -> text.Text:
    """Return a comparison of the log's MFU with the model's."""
    check = result.check
    if check is None:
        return "the log prints none"
    numbers = {
        "p": (check.printed_mfu or check.printed_share, SHARE),
        "f": (check.printed_flops, FLOP_RATE),
        "ours": (check.mfu, SHARE),
    }
    if credible_mfu(check) != check.mfu:
        words = "by the {f} that the log prints; " if check.printed_flops else ""
        return say(words + "by the job below it would be {ours}, so that is another", **numbers)
    if not numbers["p"][0]:
        return "the log prints none"
    words = "the log prints {p}" if check.printed_mfu else "the log prints {f}, {p} of the peak"
    if abs(numbers["p"][0] / check.mfu - 1) > MFU_TOLERANCE:
        words += ": another count or another peak"
    return say(words, **numbers)


def steps(result: Result) -> Lines:
    """Return the time of each step after warm-up, with the prediction."""
    check = result.check
    if check is None:
        return _lines((0.0, 1.0), (0.0, 0.0), ())
    times, warm = check.times, check.steady.skipped
    every = max(1, len(times) // _DRAWN)
    numbers = tuple(map(float, check.numbers[warm::every]))
    rules = (
        Rule(
            key="predicted",
            label=say("predicted {t}", t=(check.predicted, SECONDS)),
            axis="y",
            at=check.predicted,
            color="accent",
        ),
    )
    return _lines(numbers, times[warm::every], rules)


def _lines(x: tuple[float, ...], y: tuple[float, ...], rules: tuple[Rule, ...]) -> Lines:
    low, high = min(x), max(x)
    most = max((*y, *(rule.at for rule in rules)), default=1.0) or 1.0
    return Lines(
        title="Every step",
        x=Axis(label="step", quantity=COUNT, low=low, high=high if high > low else low + 1),
        y=Axis(label="time of a step", quantity=SECONDS, low=0.0, high=1.08 * most),
        series=(Series(key="steps", label="as logged", x=x, y=y, color="compute"),),
        rules=rules,
        caption="The first steps are warm-up: they are not drawn and count in no number.",
    )


def reading(result: Result) -> Table:
    """Return the parsed fields, and measured against modeled memory."""
    rows: list[tuple[Cell, ...]] = [
        ("Printed by", result.log.source, ""),
        ("Steps read", say("{n}", n=(len(result.log.steps), COUNT)), ""),
        ("Each printed", *_copies(result.log)),
        ("Lines that could not be read", say("{n}", n=(result.log.unread, COUNT)), ""),
    ]
    if result.check is not None:
        rows += _log_rows(result, result.check)
    return Table(title="What was read", columns=("What", "Log", "Model or job"), rows=tuple(rows))


def _copies(log: TrainingLog) -> tuple[text.Text, str]:
    if log.copies == 1:
        return "once", ""
    why = "by several ranks, or after a restart: the median counts"
    return say("up to {n} times", n=(log.copies, COUNT)), why


def _log_rows(result: Result, check: LogCheck) -> list[tuple[Cell, ...]]:
    ours = result.ours
    batch = result.run.training.global_batch_size
    rows: list[tuple[Cell, ...]] = [
        (
            "Warm-up left out",
            say("{n} steps", n=(check.steady.skipped, COUNT)),
            "",
        ),
        (
            "Step",
            say("{t}", t=(check.steady.median, SECONDS)),
            say("{a} to {b}", a=(check.least, SECONDS), b=(check.most, SECONDS)),
        ),
        ("Sequences of a step", say("{n}", n=(check.batch, COUNT)), say("{n}", n=(batch, COUNT))),
    ]
    for label, count, expected in (
        ("Tokens of a sequence", check.sequence_length, result.run.training.sequence_length),
        ("GPUs", check.gpus, result.run.plan.world_size),
    ):
        rows.append((label, say("{n}", n=(count, COUNT)), say("{n}", n=(expected, COUNT))))
    if check.gpu:
        rows.append(("GPU", check.gpu, result.run.cluster.gpu.name))
    if check.printed_flops:
        rows.append(("FLOP/s of a GPU", say("{f}", f=(check.printed_flops, FLOP_RATE)), ""))
    if check.printed_token_rate:
        rates = (check.printed_token_rate, TOKEN_RATE), (check.token_rate, TOKEN_RATE)
        rows.append(
            ("Tokens/s of a GPU", say("{a}", a=rates[0]), say("{b} with this job", b=rates[1]))
        )
    for label, read, model in (
        ("Allocated", check.allocated, ours.allocated),
        ("Reserved", check.reserved, ours.reserved),
    ):
        value = say("{m}", m=(read, BYTES)) if read else "not printed"
        rows.append((label, value, say("{m}", m=(model, BYTES))))
    return rows


TITLE = "Read my log"
QUESTION = "How fast and how steady is my run, what is its MFU, and is that what to expect?"
HEADLINE = "step_time"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        **present.values("step_time"),
        "verdict": with_changes(verdict(result), result.changes),
        "predicted": value_with_range(present, "predicted", result.evidence, assumes=(PREDICTED,)),
        **present.values("token_rate"),
        "mfu": present.value("mfu", note=printed(result)),
        **present.values("spread", "drift", "slow", "reserved"),
        "steps": partial(steps, result),
        "reading": reading(result),
    }
