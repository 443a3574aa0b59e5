"""Reader of training logs: time, throughput and memory of each printed step.

Every software has a reader of its lines; what a line does not say stays 0 and is worked out
elsewhere, from the job. Where every rank prints, a step is counted once, with the median.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from engine.core.units import Count
from engine.run.importers.import_report import TextError
from engine.run.logs import fine_tuning_lines, metric_blocks, pretraining_lines, trainer_lines
from engine.run.logs.logged_job import NOTHING_SAID, LoggedJob, logged_job
from engine.run.logs.logged_step import LoggedStep, Reader

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
    "LLM Foundry": metric_blocks.composer,
    "OLMo-core": metric_blocks.olmo_core,
    "MLPerf": metric_blocks.mlperf,
    "verl": fine_tuning_lines.verl,
    "LLaMA-Factory": fine_tuning_lines.llama_factory,
    "NeMo Automodel": fine_tuning_lines.automodel,
}
_SELECTED: Mapping[Source, Callable[[list[LoggedStep]], list[LoggedStep]]] = {
    "Hugging Face Trainer": trainer_lines.trainer_steps,
    "LLM Foundry": metric_blocks.with_rates,
    "OLMo-core": metric_blocks.with_rates,
    "LLaMA-Factory": fine_tuning_lines.llama_factory_steps,
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
