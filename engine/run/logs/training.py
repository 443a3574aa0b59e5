"""Readers of training logs: time, throughput and memory of each printed step.

Megatron-LM prints milliseconds, torchtitan tokens per second of a rank, DeepSpeed samples per
second of the job, nanotron both, litgpt milliseconds of each micro-batch. What a line does not say
stays 0 and is worked out elsewhere, from the job.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from engine.core.units import GB, Bytes, Count, FlopRate, GiB, MiB, Seconds, Share, TokenRate
from engine.run.importers.import_report import TextError

Source = Literal["Megatron-LM", "torchtitan", "DeepSpeed", "nanotron", "litgpt"]
LONGEST_LOG = 2_000_000
# A longer line is no line of a log; its beginning says what it is.
_LONGEST_LINE = 2000
_COLORS = re.compile(r"\x1b\[[0-9;]{0,20}m")
_NUMBER = r"([0-9][0-9,]*\.?[0-9]*(?:[eE][+-]?[0-9]{1,3})?)"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedStep:
    """One printed step; 0 for values that its line does not contain.

    Attributes:
        line: of the text, from 1.
        number: of the step.
        time: of one step, the mean since the last line where lines are rarer than steps.
        token_rate: tokens per second; of one GPU as torchtitan and nanotron print it.
        sample_rate: sequences per second of the whole job.
        batch: sequences of the step.
        allocated, reserved: peaks of memory.
        flops: per GPU, as printed.
        mfu: as printed.
    """

    line: Count
    number: Count
    time: Seconds = 0.0
    token_rate: TokenRate = 0.0
    sample_rate: float = 0.0
    batch: Count = 0
    allocated: Bytes = 0.0
    reserved: Bytes = 0.0
    flops: FlopRate = 0.0
    mfu: Share = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingLog:
    """The steps of a log and the software that printed them.

    Attributes:
        source: the software.
        steps: in the order of the text.
        unread: lines that look like steps and could not be read.
    """

    source: Source
    steps: tuple[LoggedStep, ...]
    unread: Count


def read_training_log(text: str) -> TrainingLog:
    """Return the steps of a log; raise `TextError` where there is none.

    A log holds the steps of one software; of several the one with most of them is taken.
    """
    if len(text) > LONGEST_LOG:
        raise TextError(f"line 1: {len(text):,} characters; allowed: at most {LONGEST_LOG:,}")
    lines = [
        (number, _COLORS.sub("", line[:_LONGEST_LINE]))
        for number, line in enumerate(text.split("\n"), 1)
    ]
    logs = {source: _steps(read, lines) for source, read in _READERS.items()}
    source = max(logs, key=lambda name: len(logs[name][0]))
    steps, unread = logs[source]
    if not steps:
        raise TextError(
            "line 1: no step is recognized; allowed: lines of Megatron-LM ('elapsed time per "
            "iteration'), torchtitan ('tps:'), DeepSpeed ('CurrSamplesPerSec='), nanotron "
            "('tokens_per_sec_per_gpu:'), litgpt ('iter time:')"
        )
    return TrainingLog(source=source, steps=tuple(steps), unread=unread)


def _steps(read: "Reader", lines: Iterable[tuple[int, str]]) -> tuple[list[LoggedStep], int]:
    steps: list[LoggedStep] = []
    unread = 0
    for number, line in lines:
        try:
            read(number, line, steps)
        except (ValueError, OverflowError):
            unread += 1
    return steps, unread


Reader = Callable[[int, str, list[LoggedStep]], None]


def _number_after(mark: str, line: str, end: str = "") -> float:
    """Return the number after a marker, or 0; suffixes such as K multiply."""
    match = re.search(re.escape(mark) + r"\s*" + _NUMBER + r"\s?([KMGTB])?" + end, line)
    if not match:
        return 0.0
    size = {"K": 1e3, "M": 1e6, "G": 1e9, "B": 1e9, "T": 1e12}.get(match[2] or "", 1.0)
    return _finite(float(match[1].replace(",", "")) * size)


def _finite(value: float) -> float:
    if not 0 <= value < 1e30:
        raise ValueError("no number that a log prints")
    return value


def _whole(value: float) -> int:
    return int(_finite(value))


def _megatron(number: int, line: str, steps: list[LoggedStep]) -> None:
    has_memory = "memory (MB)" in line and "max allocated:" in line
    if has_memory and steps:
        # The line of memory follows that of the step, and is printed once.
        steps[-1] = replace(
            steps[-1],
            allocated=_number_after("max allocated:", line) * MiB,
            reserved=_number_after("max reserved:", line) * MiB,
        )
    if "elapsed time per iteration (ms):" not in line:
        return
    steps.append(
        LoggedStep(
            line=number,
            number=_whole(_number_after("iteration", line)),
            time=_number_after("elapsed time per iteration (ms):", line) / 1e3,
            batch=_whole(_number_after("global batch size:", line)),
            flops=_number_after("throughput per GPU (TFLOP/s/GPU):", line) * 1e12,
        )
    )


def _torchtitan(number: int, line: str, steps: list[LoggedStep]) -> None:
    if "tps:" not in line or "step:" not in line:
        return
    steps.append(
        LoggedStep(
            line=number,
            number=_whole(_number_after("step:", line)),
            token_rate=_number_after("tps:", line),
            reserved=_number_after("memory:", line, "iB") / GB * GiB,
            flops=_number_after("tflops:", line) * 1e12,
            mfu=_number_after("mfu:", line) / 100,
        )
    )


def _deepspeed(number: int, line: str, steps: list[LoggedStep]) -> None:
    if "iter time (s):" in line and "samples/sec:" in line:  # of its pipeline engine
        rate, time = _number_after("samples/sec:", line), _number_after("iter time (s):", line)
        step = _whole(_number_after("steps:", line))
        steps.append(LoggedStep(line=number, number=step, time=time, sample_rate=rate))
    if "CurrSamplesPerSec=" not in line:
        return
    steps.append(
        LoggedStep(
            line=number,
            number=_whole(_number_after("global_step=", line)),
            sample_rate=_number_after("CurrSamplesPerSec=", line),
            # It divides by 1024 three times and calls the result GB.
            allocated=_number_after("MaxMemAllocated=", line, "B") / GB * GiB,
        )
    )


def _nanotron(number: int, line: str, steps: list[LoggedStep]) -> None:
    if "Peak reserved:" in line and steps:
        # Of the step before it, printed on a line of its own.
        allocated = _number_after("Peak allocated:", line, "iB") or _number_after(
            "Peak allocated", line, "iB"
        )
        reserved = _number_after("Peak reserved:", line, "iB")
        steps[-1] = replace(
            steps[-1], allocated=allocated / 1e6 * MiB, reserved=reserved / 1e6 * MiB
        )
    if "tokens_per_sec_per_gpu:" not in line:
        return
    time = _nanotron_time(line)
    batch = _number_after("global_batch_size:", line)
    # Newer versions print the tokens of a step here, older ones its sequences.
    in_tokens = batch > 0.5 * time * _number_after("tokens_per_sec:", line) > 0
    steps.append(
        LoggedStep(
            line=number,
            number=_whole(_number_after("iteration:", line)),
            time=time,
            token_rate=_number_after("tokens_per_sec_per_gpu:", line),
            batch=0 if in_tokens else _whole(batch),
            reserved=_number_after("cuda_max_memory_reserved:", line),
            flops=_number_after("model_tflops_per_gpu:", line) * 1e12,
        )
    )


def _nanotron_time(line: str) -> Seconds:
    return max(_number_after(mark, line) for mark in _NANOTRON_TIMES) / 1e3


_NANOTRON_TIMES = ("elapsed_time_per_iteration_ms:", "time_per_iteration_ms:")


def _litgpt(number: int, line: str, steps: list[LoggedStep]) -> None:
    """Merge litgpt's micro-batch lines into steps; the last line of a step says "(step)"."""
    if steps and "memory used" in line.lower():  # at the end, in GB of ten to the ninth
        allocated = _number_after("Memory used:", line) or _number_after(":", line)
        steps[-1] = replace(steps[-1], allocated=allocated)
    if "iter time:" not in line or " step " not in line:
        return
    time = _number_after("iter time:", line) / 1e3
    step = _whole(_number_after(" step ", line))
    ended = "(step)" in line
    if steps and steps[-1].number == -1:
        time += steps.pop().time
    steps.append(LoggedStep(line=number, number=step if ended else -1, time=time))


_READERS: dict[Source, Reader] = {
    "Megatron-LM": _megatron,
    "torchtitan": _torchtitan,
    "DeepSpeed": _deepspeed,
    "nanotron": _nanotron,
    "litgpt": _litgpt,
}


def complete_steps(log: TrainingLog) -> Iterator[LoggedStep]:
    """Yield the complete steps of a log."""
    yield from (step for step in log.steps if step.number >= 0)
