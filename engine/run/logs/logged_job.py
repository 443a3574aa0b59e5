"""What a training log says of its job: sequences of a step, their length, GPUs and their name.

torchtitan says it where training starts, and the GPUs before; Megatron-LM and GPT-NeoX print their
arguments, and Megatron-DeepSpeed the length with each step; Hugging Face's Trainer prints a list;
MLPerf has events for it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

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
# torchtitan and OLMo-core: the name of a GPU, with its number or without.
_GPU = re.compile(r"\b(?:CUDA|HIP|GPU) capacity: (.{2,60}?)(?: ?\(\d{1,3}\))? with \d")
_MESH = re.compile(r"device mesh with parallelism: (.{1,200})")
_DEGREE = re.compile(r"\b(?:pp|dp_replicate|dp_shard|cp|tp)=(\d{1,7})\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedJob:
    """What a log says of its job; 0 or empty for what it does not say."""

    batch: Count = 0
    sequence_length: Count = 0
    gpus: Count = 0
    gpu: str = ""


NOTHING_SAID = LoggedJob()


def logged_job(lines: Iterable[str]) -> LoggedJob:
    """Return what the lines of a log say of its job; of several the last one counts."""
    found: dict[str, int] = {}
    gpu = ""
    for line in lines:
        if " capacity: " in line and (match := _GPU.search(line)):
            gpu = match[1].strip()
        if match := _MESH.search(line):
            found["gpus"] = prod(int(degree) for degree in _DEGREE.findall(match[1]))
        if not any(mark in line for mark in _MARKS):
            continue
        for name, patterns in _PATTERNS.items():
            match = next((m for pattern in patterns if (m := pattern.search(line))), None)
            if match:
                found[name] = int(match[1].replace(",", ""))
    return LoggedJob(**found, gpu=gpu)
