"""What a training log says of its job: sequences of a step, their length, GPUs.

torchtitan says it where training starts; Megatron-LM and GPT-NeoX print their arguments, and
Megatron-DeepSpeed the length with each step; Hugging Face's Trainer prints a list; MLPerf has
events for it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from engine.core.units import Count

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


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedJob:
    """What a log says of its job; 0 for what it does not say."""

    batch: Count = 0
    sequence_length: Count = 0
    gpus: Count = 0


NOTHING_SAID = LoggedJob()


def logged_job(lines: Iterable[str]) -> LoggedJob:
    """Return what the lines of a log say of its job; of several the last one counts."""
    found: dict[str, int] = {}
    for line in lines:
        if not any(mark in line for mark in _MARKS):
            continue
        for name, patterns in _PATTERNS.items():
            match = next((m for pattern in patterns if (m := pattern.search(line))), None)
            if match:
                found[name] = int(match[1].replace(",", ""))
    return LoggedJob(**found)
