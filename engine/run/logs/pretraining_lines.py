"""Readers of one line per step: Megatron-LM, GPT-NeoX, torchtitan, DeepSpeed and others.

Sources of the formats: megatron/training/training.py of d98e8a64; megatron/logging.py of GPT-NeoX;
torchtitan/components/metrics.py, and train.py of 2024 ("wps"); deepspeed/utils/timer.py, whose
lines of 2022 begin with "0/40, SamplesPerSec="; src/nanotron/trainer.py; litgpt/pretrain.py;
nemo/lightning/pytorch/callbacks/progress_printer.py; src/MaxText/metric_logger.py; nanoGPT's
train.py.
"""

import re
from dataclasses import replace

from engine.core.units import GB, GiB, MiB, Seconds
from engine.run.logs.logged_step import (
    LoggedStep,
    finite,
    number_after,
    plain_number_after,
    whole,
    whole_batch,
)

_ELAPSED = "elapsed time per iteration (ms):"
# As Megatron-LM writes it, and Primus of 2026.
_MEGATRON_FLOPS = ("throughput per GPU (TFLOP/s/GPU):", "compute per GPU (TFLOP/s/GPU):")
# Of a GPU: Primus until 2026 and since, Hugging Face's and BigCode's fork, Megatron-DeepSpeed.
_MEGATRON_TOKENS = (
    "tokens per GPU (tokens/s/GPU):",
    "tokens/s/GPU inst/harmonic mean:",
    "tokens-per-second-per-gpu:",
    "tokens per gpu per second (tgs):",
)
_DEEPSPEED_STEP = re.compile(r"(?:global_step=|\] \d{1,9}/|^\s*\d{1,9}/)(\d{1,12}),")
_NANOGPT = re.compile(r"\biter (\d{1,12}): loss \S{1,20}, time (\d{1,12}\.?\d{0,9})\s?ms")
_MAXTEXT = re.compile(r"completed step: (\d{1,12}), seconds: (\d{1,9}\.?\d{0,9})")


def _with_megatron_memory(line: str, steps: list[LoggedStep]) -> None:
    """Take a line of memory, which follows that of the step and is printed once."""
    if "memory (MB)" in line and "max allocated:" in line and steps:
        steps[-1] = replace(
            steps[-1],
            allocated=number_after("max allocated:", line) * MiB,
            reserved=number_after("max reserved:", line) * MiB,
        )


def megatron(number: int, line: str, steps: list[LoggedStep]) -> None:
    """Read Megatron-LM, and forks that print samples or tokens per second."""
    _with_megatron_memory(line, steps)
    if _ELAPSED not in line or "samples/sec:" in line:
        return
    flops = max(plain_number_after(mark, line) for mark in _MEGATRON_FLOPS)
    steps.append(
        LoggedStep(
            line=number,
            number=whole(number_after("iteration", line)),
            time=number_after(_ELAPSED, line) / 1e3,
            token_rate=max(plain_number_after(mark, line) for mark in _MEGATRON_TOKENS),
            batch=whole(number_after("global batch size:", line)),
            flops=(flops or plain_number_after("TFLOPs:", line)) * 1e12,
        )
    )


def gpt_neox(number: int, line: str, steps: list[LoggedStep]) -> None:
    """Read GPT-NeoX: its rate times its time are the sequences of a step.

    DeepSpeed's timer, which it runs under, prints the memory of the same step before or after.
    """
    _with_megatron_memory(line, steps)
    if "MaxMemAllocated=" in line and steps:
        allocated = number_after("MaxMemAllocated=", line, "B") / GB * GiB
        steps[-1] = replace(steps[-1], allocated=max(allocated, steps[-1].allocated))
    if _ELAPSED not in line or "samples/sec:" not in line:
        return
    rate, time = number_after("samples/sec:", line), number_after(_ELAPSED, line) / 1e3
    steps.append(
        LoggedStep(
            line=number,
            number=whole(number_after("iteration", line)),
            time=time,
            sample_rate=rate,
            batch=whole_batch(rate, time),
            flops=plain_number_after("approx flops per GPU:", line) * 1e12,
        )
    )


def torchtitan(number: int, line: str, steps: list[LoggedStep]) -> None:
    """Read torchtitan, whose lines of 2024 say "wps" for what is "tps" today."""
    rate = "tps:" if "tps:" in line else "wps:"
    if rate not in line or "step:" not in line:
        return
    steps.append(
        LoggedStep(
            line=number,
            number=whole(number_after("step:", line)),
            token_rate=number_after(rate, line),
            reserved=number_after("memory:", line, "iB") / GB * GiB,
            flops=number_after("tflops:", line) * 1e12,
            mfu=number_after("mfu:", line) / 100,
        )
    )


def deepspeed(number: int, line: str, steps: list[LoggedStep]) -> None:
    """Read DeepSpeed's timer, as it is and as it was in 2022, and its pipeline engine."""
    if "iter time (s):" in line and "samples/sec:" in line:
        rate, time = number_after("samples/sec:", line), number_after("iter time (s):", line)
        step = whole(number_after("steps:", line))
        batch = whole_batch(rate, time)
        steps.append(LoggedStep(line=number, number=step, time=time, sample_rate=rate, batch=batch))
    current = "CurrSamplesPerSec=" in line
    if not current and " SamplesPerSec=" not in line:
        return
    step_match = _DEEPSPEED_STEP.search(line)
    steps.append(
        LoggedStep(
            line=number,
            number=whole(float(step_match[1])) if step_match else 0,
            sample_rate=number_after("CurrSamplesPerSec=" if current else " SamplesPerSec=", line),
            # It divides by 1024 three times and calls the result GB.
            allocated=number_after("MaxMemAllocated=", line, "B") / GB * GiB,
        )
    )


def nanotron(number: int, line: str, steps: list[LoggedStep]) -> None:
    """Read nanotron, whose batch newer versions print in tokens."""
    if "Peak reserved:" in line and steps:
        # Of the step before it, printed on a line of its own.
        allocated = number_after("Peak allocated:", line, "iB") or number_after(
            "Peak allocated", line, "iB"
        )
        reserved = number_after("Peak reserved:", line, "iB")
        steps[-1] = replace(
            steps[-1], allocated=allocated / 1e6 * MiB, reserved=reserved / 1e6 * MiB
        )
    if "tokens_per_sec_per_gpu:" not in line:
        return
    time = _nanotron_time(line)
    batch = number_after("global_batch_size:", line)
    # Newer versions print the tokens of a step here, older ones its sequences.
    in_tokens = batch > 0.5 * time * number_after("tokens_per_sec:", line) > 0
    steps.append(
        LoggedStep(
            line=number,
            number=whole(number_after("iteration:", line)),
            time=time,
            token_rate=number_after("tokens_per_sec_per_gpu:", line),
            batch=0 if in_tokens else whole(batch),
            reserved=number_after("cuda_max_memory_reserved:", line),
            flops=number_after("model_tflops_per_gpu:", line) * 1e12,
        )
    )


def _nanotron_time(line: str) -> Seconds:
    return max(number_after(mark, line) for mark in _NANOTRON_TIMES) / 1e3


_NANOTRON_TIMES = ("elapsed_time_per_iteration_ms:", "time_per_iteration_ms:")


def litgpt(number: int, line: str, steps: list[LoggedStep]) -> None:
    """Merge litgpt's micro-batch lines into steps; the last line of a step says "(step)"."""
    if steps and "memory used" in line.lower():  # at the end, in GB of ten to the ninth
        allocated = number_after("Memory used:", line) or number_after(":", line)
        steps[-1] = replace(steps[-1], allocated=allocated)
    if "iter time:" not in line or " step " not in line:
        return
    time = number_after("iter time:", line) / 1e3
    step = whole(number_after(" step ", line))
    ended = "(step)" in line or "(optimizer.step)" in line
    if steps and steps[-1].number == -1:
        time += steps.pop().time
    steps.append(LoggedStep(line=number, number=step if ended else -1, time=time))


def nemo(number: int, line: str, steps: list[LoggedStep]) -> None:
    """Read NeMo 2, which prints its step time in seconds, and its memory in bytes."""
    if "train_step_timing in s:" not in line:
        return
    step = number_after("global_step:", line) or number_after("iteration ", line)
    steps.append(
        LoggedStep(
            line=number,
            number=whole(step),
            time=plain_number_after("train_step_timing in s:", line),
            batch=whole(plain_number_after("global_batch_size:", line)),
            allocated=plain_number_after("max_memory_allocated:", line),
            reserved=plain_number_after("max_memory_reserved:", line),
            flops=plain_number_after("TFLOPS_per_GPU:", line) * 1e12,
        )
    )


def maxtext(number: int, line: str, steps: list[LoggedStep]) -> None:
    """Read MaxText, whose devices are GPUs or TPUs."""
    if match := _MAXTEXT.search(line):
        flops = plain_number_after("TFLOP/s/device:", line) or plain_number_after("TFLOP/s:", line)
        steps.append(
            LoggedStep(
                line=number,
                number=whole(float(match[1])),
                time=finite(float(match[2])),
                token_rate=plain_number_after("Tokens/s/device:", line),
                flops=flops * 1e12,
            )
        )


def nanogpt(number: int, line: str, steps: list[LoggedStep]) -> None:
    """Read nanoGPT; its MFU is of an A100's peak whatever the GPU, and -100 % at first."""
    if match := _NANOGPT.search(line):
        steps.append(
            LoggedStep(
                line=number,
                number=whole(float(match[1])),
                time=finite(float(match[2]) / 1e3),
                mfu=plain_number_after(", mfu", line) / 100,
            )
        )
