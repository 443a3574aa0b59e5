"""Reader of training logs: time, throughput and memory of each printed step.

Every software has a reader of its lines; what a line does not say stays 0 and is worked out
elsewhere, from the job. Where every rank prints, a step is counted once, with the median.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import Literal

from engine.core.units import GB, Count, GiB, Seconds
from engine.run.importers.import_report import TextError
from engine.run.logs import pretraining_lines, trainer_lines
from engine.run.logs.logged_step import LoggedStep, Reader, finite, plain_number_after, whole

# Readers of a head and a line for every metric: LLM Foundry (Composer), OLMo-core, MLPerf.
#
# Sources of the formats: composer/loggers/console_logger.py of 02c872e4;
# src/olmo_core/train/callbacks/console_logger.py of 00e2b7b8; MLCommons' mllog, of whose events
# those of a step are named "tracked_stats".

_COMPOSER = re.compile(r"\[(?:batch|token|sample|iteration)=(\d{1,15})/\d{1,15}\]:?\s*$")
_COMPOSER_METRIC = re.compile(r"\bTrain ([\w/]{3,60}):")
_OLMO = re.compile(r"\[step=(\d{1,12})/[\d?]{1,12},epoch=\d")
_OLMO_METRIC = re.compile(r"^\s+([\w/ ().]{3,60})=(\S{1,20})\s*$")
_MLLOG = ":::MLLOG "
_LONGEST_SAMPLES = 1e8


_COMPOSER_METRICS: Mapping[str, Callable[[LoggedStep, float], LoggedStep]] = {
    "throughput/batches_per_sec": lambda step, value: replace(step, time=_inverse(value)),
    "throughput/samples_per_sec": lambda step, value: replace(step, sample_rate=value),
    "throughput/device/tokens_per_sec": lambda step, value: replace(step, token_rate=value),
    "throughput/device/mfu": lambda step, value: replace(step, mfu=value),
    "throughput/device/flops_per_sec": lambda step, value: replace(step, flops=value),
    "memory/peak_reserved_mem": lambda step, value: replace(step, reserved=value * GB),
    "memory/peak_allocated_mem": lambda step, value: replace(step, allocated=value * GB),
}
_OLMO_METRICS: Mapping[str, Callable[[LoggedStep, float], LoggedStep]] = {
    "throughput/device/TPS": lambda step, value: replace(step, token_rate=value),
    "throughput/device/BPS": lambda step, value: replace(step, time=_inverse(value)),
    "throughput/device/MFU": lambda step, value: replace(step, mfu=value / 100),
    "gpu_memory/GPU active mem (GiB)": lambda step, value: replace(step, allocated=value * GiB),
    "gpu_memory/GPU reserved mem (GiB)": lambda step, value: replace(step, reserved=value * GiB),
}


def _inverse(rate: float) -> Seconds:
    return finite(1 / rate) if rate else 0.0


def composer(number: int, line: str, steps: list[LoggedStep]) -> None:
    """Read Composer's blocks; rates are means over a window of batches."""
    if match := _COMPOSER.search(line):
        if "Eval batch=" not in line:
            steps.append(LoggedStep(line=number, number=whole(float(match[1]))))
    elif steps and (metric := _COMPOSER_METRIC.search(line)):
        take = _COMPOSER_METRICS.get(metric[1])
        steps[-1] = take(steps[-1], plain_number_after(":", line)) if take else steps[-1]


def with_rates(steps: list[LoggedStep]) -> list[LoggedStep]:
    """Return the steps that say how fast they were; a block without a rate is none."""
    return [step for step in steps if step.time or step.token_rate or step.sample_rate]


def olmo_core(number: int, line: str, steps: list[LoggedStep]) -> None:
    """Read OLMo-core's blocks; its rate is that of one device."""
    if match := _OLMO.search(line):
        steps.append(LoggedStep(line=number, number=whole(float(match[1]))))
    metric = _OLMO_METRIC.match(line) if steps else None
    if metric is None:
        return
    take = _OLMO_METRICS.get(metric[1].strip())
    steps[-1] = take(steps[-1], plain_number_after("=", "=" + metric[2])) if take else steps[-1]


def mlperf(number: int, line: str, steps: list[LoggedStep]) -> None:
    """Read MLPerf's events: the time of a step, or sequences per second up to a sequence.

    A rate whose events count above a hundred million may be of tokens, and is not taken.
    """
    start = line.find(_MLLOG)
    if start < 0 or "tracked_stats" not in line:
        return
    try:
        event = json.loads(line[start + len(_MLLOG) :])
    except (ValueError, RecursionError):
        raise ValueError("no event of MLPerf") from None
    value, metadata = _part(event, "value"), _part(event, "metadata")
    at = _first(metadata, "samples_count", "step", "step_num")
    time = _first(value, "train_step_time", "train_step_timing")
    rate = _first(value, "throughput")
    if time:
        steps.append(LoggedStep(line=number, number=whole(at), time=finite(time)))
    elif rate and 0 < at < _LONGEST_SAMPLES:
        steps.append(LoggedStep(line=number, number=whole(at), sample_rate=finite(rate)))


def _part(event: object, name: str) -> dict[str, object]:
    part = event.get(name) if isinstance(event, dict) else None
    return part if isinstance(part, dict) else {}


def _first(values: dict[str, object], *names: str) -> float:
    for name in names:
        value = values.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return finite(float(value)) if abs(value) < 1e300 else finite(-1.0)
    return 0.0


# What a training log says of its job: sequences of a step, their length, GPUs and their name.
#
# torchtitan says it where training starts, and the GPUs before; Megatron-LM and GPT-NeoX print
# their arguments, and Megatron-DeepSpeed the length with each step; Hugging Face's Trainer prints a
# list; MLPerf has events for it.

_COUNT = r"(\d[\d,]{0,11})"
_DOTS = r"\s\.{3,}\s*"
_MLPERF = r'"key": "{}", "value": '
# Field -> patterns of what says it.
_SAID = {
    "batch": (
        rf"global batch size {_COUNT}\b",
        rf"^\W*(?:global_batch_size|train_batch_size){_DOTS}{_COUNT}",
        rf"Total train batch size \(w\..{{0,60}}\) = {_COUNT}",
        _MLPERF.format("global_batch_size") + _COUNT,
    ),
    "sequence_length": (
        rf"sequence length {_COUNT}\b",
        rf"^\W*seq_length{_DOTS}{_COUNT}",
        rf"\bactual seqlen:\s+{_COUNT}\b",
        _MLPERF.format("max_sequence_length") + _COUNT,
    ),
    "gpus": (rf"^\W*(?:world_size|global_num_gpus){_DOTS}{_COUNT}",),
}
_PATTERNS = {
    name: tuple(re.compile(pattern) for pattern in patterns) for name, patterns in _SAID.items()
}
_MARKS = ("global batch size ", " ...", "Total train batch size", ":::MLLOG", "actual seqlen:")
# torchtitan and OLMo-core: the name of a GPU, with its number or without.
_GPU = re.compile(r"\b(?:CUDA|HIP|GPU) capacity: (.{2,60}?)(?: ?\(\d{1,3}\))? with \d")
_MESH = re.compile(r"device mesh with parallelism: (.{1,200})")
_DEGREE = re.compile(r"\b(?:pp|dp_replicate|dp_shard|cp|tp)=(\d{1,7})\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedJob:
    """The job that a log states; 0 or empty for what it does not say."""

    batch: Count = 0
    sequence_length: Count = 0
    gpus: Count = 0
    gpu: str = ""


NOTHING_SAID = LoggedJob()


def logged_job(lines: Iterable[str]) -> LoggedJob:
    """Return the job that the lines of a log state; of several lines the last one counts."""
    sizes: dict[str, int] = {}
    gpu = ""
    for line in lines:
        if " capacity: " in line and (match := _GPU.search(line)):
            gpu = match[1].strip()
        if match := _MESH.search(line):
            sizes["gpus"] = prod(int(degree) for degree in _DEGREE.findall(match[1]))
        if not any(mark in line for mark in _MARKS):
            continue
        for name, patterns in _PATTERNS.items():
            match = next((m for pattern in patterns if (m := pattern.search(line))), None)
            if match:
                sizes[name] = int(match[1].replace(",", ""))
    return LoggedJob(**sizes, gpu=gpu)


# Readers of fine-tuning: verl's SFT trainer, LLaMA-Factory's trainer_log.jsonl, NeMo Automodel.
#
# Sources of the formats: verl/trainer/sft_trainer.py and verl/utils/logger/aggregate_logger.py,
# which joins the metrics of a step by " - "; src/llamafactory/train/callbacks.py, `LogCallback`;
# nemo_automodel/recipes/llm/train_ft.py, `log_train_metrics`.

_VERL = re.compile(r"\bstep:(\d{1,12}) - ")
_FACTORY = re.compile(
    r'"current_steps": (\d{1,12}),.{0,400}"elapsed_time": "(?:(\d{1,4}) days?, )?'
    r'(\d{1,6}):(\d\d):(\d\d)"'
)
_AUTOMODEL = re.compile(
    r"(?<!\[val\] )\bstep (\d{1,12}) \| epoch \d{1,9} \|.{0,300}\| mem (\d{1,9}\.\d{1,4}) GiB \| "
    r"tps (\d{1,15}\.\d{1,4})\((\d{1,15}\.\d{1,4})/gpu\) \| num_label_tokens (\d{1,15})"
)
# Times are printed in whole seconds: differences below this say too little each.
_COARSE: Seconds = 10.0


def verl(number: int, line: str, steps: list[LoggedStep]) -> None:
    """Read a step of verl's SFT trainer; its lines of reinforcement learning have no such time."""
    match = _VERL.search(line)
    if match is None or "train/time(s):" not in line:
        return
    steps.append(
        LoggedStep(
            line=number,
            number=whole(float(match[1])),
            time=plain_number_after("train/time(s):", line),
            mfu=plain_number_after("train/mfu:", line),
        )
    )


def llama_factory(number: int, line: str, steps: list[LoggedStep]) -> None:
    """Take the time since the start; `llama_factory_steps` makes steps of the differences."""
    if match := _FACTORY.search(line):
        days, hours, minutes, seconds = (int(match[at] or 0) for at in range(2, 6))
        elapsed = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
        steps.append(LoggedStep(line=number, number=int(match[1]), time=finite(float(elapsed))))


def llama_factory_steps(steps: list[LoggedStep]) -> list[LoggedStep]:
    """Return steps whose times are the differences, or one with their mean where they are short."""
    pairs = [
        (later, later.time - earlier.time, later.number - earlier.number)
        for earlier, later in pairwise(steps)
        if later.number > earlier.number and later.time >= earlier.time
    ]
    elapsed = sum(time for _, time, _ in pairs)
    if not elapsed:
        return []
    if elapsed < _COARSE * len(pairs):
        mean = elapsed / sum(count for _, _, count in pairs)
        return [replace(pairs[-1][0], time=mean)]
    return [replace(step, time=time / count) for step, time, count in pairs if time]


def automodel(number: int, line: str, steps: list[LoggedStep]) -> None:
    """Read NeMo Automodel, which prints no time.

    Its rate counts all tokens but the padding behind them, and those with a label are printed. So
    their ratio is the time where each token has a label, and less than it elsewhere.
    """
    if match := _AUTOMODEL.search(line):
        rate = finite(float(match[3]))
        steps.append(
            LoggedStep(
                line=number,
                number=whole(float(match[1])),
                time=float(match[5]) / rate if rate else 0.0,
                token_rate=finite(float(match[4])),
                allocated=float(match[2]) * GiB,
            )
        )


Source = Literal[
    "Megatron-LM",
    "torchtitan",
    "DeepSpeed",
    "nanotron",
    "litgpt",
    "GPT-NeoX",
    "NeMo",
    "MaxText",
    "nanoGPT",
    "Hugging Face Trainer",
    "LLM Foundry",
    "OLMo-core",
    "MLPerf",
    "verl",
    "LLaMA-Factory",
    "NeMo Automodel",
]
LONGEST_LOG = 2_000_000
# A longer line is no line of a log; its beginning says what it is.
_LONGEST_LINE = 2000
_COLORS = re.compile(r"\x1b\[[0-9;]{0,20}m")
_READERS: Mapping[Source, Reader] = {
    "Megatron-LM": pretraining_lines.megatron,
    "torchtitan": pretraining_lines.torchtitan,
    "DeepSpeed": pretraining_lines.deepspeed,
    "nanotron": pretraining_lines.nanotron,
    "litgpt": pretraining_lines.litgpt,
    "GPT-NeoX": pretraining_lines.gpt_neox,
    "NeMo": pretraining_lines.nemo,
    "MaxText": pretraining_lines.maxtext,
    "nanoGPT": pretraining_lines.nanogpt,
    "Hugging Face Trainer": trainer_lines.trainer,
    "LLM Foundry": composer,
    "OLMo-core": olmo_core,
    "MLPerf": mlperf,
    "verl": verl,
    "LLaMA-Factory": llama_factory,
    "NeMo Automodel": automodel,
}
_SELECTED: Mapping[Source, Callable[[list[LoggedStep]], list[LoggedStep]]] = {
    "Hugging Face Trainer": trainer_lines.trainer_steps,
    "LLM Foundry": with_rates,
    "OLMo-core": with_rates,
    "LLaMA-Factory": llama_factory_steps,
}
# Software that runs under another one, whose lines say less of the same steps.
_UNDER: Mapping[Source, Source] = {"DeepSpeed": "GPT-NeoX"}
# What stands in lines of software that is not read -> its name.
_OTHERS = {
    "timing_s/": "reinforcement learning of verl",
    "Train step of epoch": "OpenRLHF, micro-batches",
    "|Loss:": "torchtune",
    "train_inner": "fairseq",
    "wps=": "fairseq",
    "interval_runtime:": "PaddleNLP",
    "s/it": "another program's bar",
    "it/s": "another program's bar",
    "'loss':": "losses without a speed",
    "loss": "losses without a time",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingLog:
    """The steps of a log and the software that printed them.

    Attributes:
        source: the software.
        steps: in the order of the text, each once.
        unread: lines that look like steps and could not be read.
        copies: how often the same step is printed, at most: by so many ranks.
        job: what the log says of its job.
    """

    source: Source
    steps: tuple[LoggedStep, ...]
    unread: Count
    copies: Count = 1
    job: LoggedJob = NOTHING_SAID


def read_training_log(text: str) -> TrainingLog:
    """Return the steps of a log; raise `TextError` where there is none.

    A log holds the steps of one software; of several the one with most of them is taken.
    """
    if len(text) > LONGEST_LOG:
        raise TextError(f"line 1: {len(text):,} characters; allowed: at most {LONGEST_LOG:,}")
    lines = list(_lines(text))
    logs = {source: _steps(source, read, lines) for source, read in _READERS.items()}
    source = max(logs, key=lambda name: len(logs[name][0]))
    over = _UNDER.get(source)
    source = over if over and logs[over][0] else source
    steps, unread = logs[source]
    if not steps:
        raise TextError(_error_reason(lines))
    merged, copies = _merged(steps)
    job = logged_job(line for _, line in lines)
    return TrainingLog(source=source, steps=merged, unread=unread, copies=copies, job=job)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines with their numbers; a bar that is drawn anew is a line of its own."""
    for number, whole_line in enumerate(text.split("\n"), 1):
        for line in whole_line.split("\r"):
            yield number, _COLORS.sub("", line[:_LONGEST_LINE])


def _error_reason(lines: Iterable[tuple[int, str]]) -> str:
    names = [name for name in _READERS if name != "NeMo Automodel"]
    allowed = f"allowed: {', '.join(names)}"
    for mark, name in _OTHERS.items():
        number = next((number for number, line in lines if mark in line), 0)
        if number:
            return f"line {number}: no step is recognized ({name}); {allowed}"
    return f"line 1: no step is recognized; {allowed}"


def _steps(
    source: Source, read: Reader, lines: Iterable[tuple[int, str]]
) -> tuple[list[LoggedStep], int]:
    steps: list[LoggedStep] = []
    unread = 0
    for number, line in lines:
        try:
            read(number, line, steps)
        except (ValueError, OverflowError):
            unread += 1
    select = _SELECTED.get(source)
    return (select(steps) if select else steps), unread


def _merged(steps: list[LoggedStep]) -> tuple[tuple[LoggedStep, ...], Count]:
    """Return each step once, and how often one was printed at most.

    Ranks may print a step out of order; steps without a number, or not yet whole, stay as they are.
    """
    by_number: dict[int, list[LoggedStep]] = {}
    for at, step in enumerate(steps):
        by_number.setdefault(step.number if step.number > 0 else -1 - at, []).append(step)
    copies = max(map(len, by_number.values()))
    if copies == 1:
        return tuple(steps), 1
    ordered = sorted(by_number.values(), key=lambda printed: (printed[0].number, printed[0].line))
    return tuple(_median_step(printed) for printed in ordered), copies


def _median_step(printed: list[LoggedStep]) -> LoggedStep:
    """Return one step of its copies: medians of speeds, the largest of peaks."""
    first = printed[0]
    return LoggedStep(
        line=first.line,
        number=first.number,
        time=_median(step.time for step in printed),
        token_rate=_median(step.token_rate for step in printed),
        sample_rate=_median(step.sample_rate for step in printed),
        batch=first.batch,
        allocated=max(step.allocated for step in printed),
        reserved=max(step.reserved for step in printed),
        flops=_median(step.flops for step in printed),
        mfu=_median(step.mfu for step in printed),
    )


def _median(values: Iterable[float]) -> float:
    """Return the median of the values that are not 0."""
    ordered = sorted(value for value in values if value)
    if not ordered:
        return 0.0
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def complete_steps(log: TrainingLog) -> Iterator[LoggedStep]:
    """Yield the complete steps of a log."""
    yield from (step for step in log.steps if step.number >= 0)
