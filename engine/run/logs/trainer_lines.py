"""Readers of progress bars and dictionaries: Hugging Face's Trainer, ms-swift, NeMo 1, and others.

A bar of tqdm says "5/100 [00:10<03:10, 2.00s/it"; its time is a moving mean. Trainer prints a
dictionary at every logged step and one at the end (transformers, trainer_utils.py, speed_metrics),
whose values LLaMA-Factory prints as a block too; ms-swift adds its speed, the mean since the start,
and its memory. axolotl adds its memory. NeMo 1 prints the time of a step inside the bar.

Other bars are left out: those of loading, mapping and evaluation, and those of other programs,
which may count micro-batches (OpenRLHF, trainer/sft_trainer.py: `step_bar.update()` after each).
Trainer's bar has no label and nothing behind its rate, ms-swift's is labeled "Train:", and a bar of
Lightning counts whole steps where NeMo prints samples behind it.
"""

import re
from collections import Counter
from dataclasses import replace

from engine.core.units import GiB, Seconds
from engine.run.logs.logged_step import LoggedStep, finite, plain_number_after, whole, whole_batch

_BAR = re.compile(
    r"^(.{0,120}?)(?:\d{1,3}%\s?\|[^|]{0,400}\|\s?)?"
    r"(\d{1,9})/(\d{1,9}) \[[\d:, day]{4,20}<[\d:?, day]{1,20},\s{0,3}"
    r"(\d{1,9}\.?\d{0,9})(s/it|it/s)(\S?)"
)
_LABEL = re.compile(
    r"(?:\s|\d+: |\[?(?:rank|default)?\d*\]?:|stdout:|[\w.-]+\s+\| )*(?:Train:)?\s*"
)
_NEMO_LABEL = re.compile(r".*\bEpoch \d{1,9}\b[\s:]*")
_TIMING = re.compile(r"train_step_timing in s\s?=\s?(\d{1,9}\.?\d{0,9})")
_SPEED = re.compile(r"'train_speed\(iter/s\)':\s*'?(\d{1,9}\.?\d{0,9}(?:e-?\d{1,2})?)")
_BLOCK = re.compile(r"\btrain_(samples|steps)_per_second\s+=\s+(\d{1,12}\.?\d{0,9})\s*$")
_AT = re.compile(r"'(?:global_step/max_steps|global_step|step)':\s*'?(\d{1,12})")


def trainer(number: int, line: str, steps: list[LoggedStep]) -> None:
    """Read a bar of the training loop, a dictionary of ms-swift, or the last one of Trainer."""
    if speed := _SPEED.search(line):
        at = _AT.search(line)
        rate = finite(float(speed[1]))
        steps.append(
            LoggedStep(
                line=number,
                number=whole(float(at[1])) if at else 0,
                time=_inverse(rate),
                reserved=plain_number_after("'memory(GiB)':", line) * GiB,
            )
        )
        return
    if "'memory/max_a" in line:
        _read_memory(number, line, steps)
    if "'train_runtime'" in line and "'train_steps_per_second'" in line:
        _read_summary(number, line, steps)
    elif block := _BLOCK.search(line):
        _read_block(number, block[1], finite(float(block[2])), steps)
    elif "/it" in line or "it/s" in line or "train_step_timing" in line:
        _read_bar(number, line, steps)


def _read_memory(number: int, line: str, steps: list[LoggedStep]) -> None:
    """Take axolotl's peaks as a step without a time; `trainer_steps` moves them to one with."""
    allocated = plain_number_after("'memory/max_allocated (GiB)':", line) * GiB
    reserved = plain_number_after("'memory/device_reserved (GiB)':", line) * GiB
    steps.append(LoggedStep(line=number, number=0, allocated=allocated, reserved=reserved))


def _inverse(rate: float) -> Seconds:
    return finite(1 / rate) if rate else 0.0


def _read_bar(number: int, line: str, steps: list[LoggedStep]) -> None:
    if (timing := _TIMING.search(line)) and "consumed_samples" in line:
        step = plain_number_after("global_step=", line)
        time = finite(float(timing[1]))
        steps.append(LoggedStep(line=number, number=whole(step), time=time))
        return
    bar = _BAR.search(line)
    if bar is None or bar[2] == "0":
        return
    nemo = "consumed_samples=" in line and _NEMO_LABEL.fullmatch(bar[1])
    if not nemo and (bar[6] not in ("", "]") or not _LABEL.fullmatch(bar[1])):
        return
    value = finite(float(bar[4]))
    time = value if bar[5] == "s/it" else _inverse(value)
    steps.append(LoggedStep(line=number, number=whole(float(bar[2])), time=time, loop=int(bar[3])))


def _read_summary(number: int, line: str, steps: list[LoggedStep]) -> None:
    """Take the speed of the whole run, and its batch from the ratio of two speeds."""
    runtime = plain_number_after("'train_runtime':", line)
    samples = plain_number_after("'train_samples_per_second':", line)
    rate = plain_number_after("'train_steps_per_second':", line)
    if not rate or not runtime:
        return
    last = max(1, round(finite(rate * runtime)))
    steps.append(
        LoggedStep(
            line=number,
            number=last,
            time=runtime / last,
            sample_rate=samples,
            batch=whole_batch(samples, runtime / last),
        )
    )


def _read_block(number: int, unit: str, rate: float, steps: list[LoggedStep]) -> None:
    """Take two lines of the block at the end; that of the samples comes first."""
    if unit == "samples":
        steps.append(LoggedStep(line=number, number=1, sample_rate=rate))
    elif steps and steps[-1].sample_rate and not steps[-1].time and rate:
        batch = whole_batch(steps[-1].sample_rate, 1 / rate)
        steps[-1] = replace(steps[-1], time=1 / rate, batch=batch)


def trainer_steps(steps: list[LoggedStep]) -> list[LoggedStep]:
    """Return the steps of one loop of a trainer's log: dictionaries with a speed, or a bar.

    Of several bars the one that was drawn most often is taken. The summary at the end gives the
    batch; alone it is the only step.
    """
    summaries = [step for step in steps if step.sample_rate and step.time]
    printed = [step for step in steps if step.time and not step.loop and not step.sample_rate]
    batch = summaries[-1].batch if summaries else 0
    if not printed:
        drawn = Counter(step.loop for step in steps if step.loop)
        longest = max(drawn, key=lambda length: (drawn[length], length), default=0)
        printed = [step for step in steps if longest and step.loop == longest]
    timed = [replace(step, batch=batch, loop=0) for step in printed] or summaries[:1]
    if timed:
        peaks = [(step.allocated, step.reserved) for step in steps]
        allocated, reserved = map(max, zip(*peaks, strict=True))
        timed[-1] = replace(timed[-1], allocated=allocated, reserved=reserved)
    return timed
