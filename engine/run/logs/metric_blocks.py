"""Readers of a head and a line for every metric: LLM Foundry (Composer), OLMo-core, MLPerf.

Sources of the formats: composer/loggers/console_logger.py of 02c872e4;
src/olmo_core/train/callbacks/console_logger.py of 00e2b7b8; MLCommons' mllog, of whose events those
of a step are named "tracked_stats".
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from engine.core.units import GB, GiB, Seconds
from engine.run.logs.logged_step import LoggedStep, finite, plain_number_after, whole

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
