"""Sample training logs in the formats of five frameworks, with synthetic steps.

The lines have the form of the frameworks' own code. The steps of torchtitan's sample lie around
the speed that it published for Llama 3.1 8B on 8 H100 (6,667 tokens per second per GPU).
"""

from collections.abc import Mapping

from engine.core.inputs import Sample


def _jitter(number: int) -> float:
    """Return a deterministic pseudo-random number from 0 to 1."""
    return number * 7919 % 1009 / 1009


def _clock_text(seconds: float) -> str:
    """Return the time of day, in seconds after noon."""
    minutes, rest_seconds = divmod(int(seconds), 60)
    return f"12:{minutes:02}:{rest_seconds:02}"


def _megatron() -> str:
    lines = []
    for step in range(10, 310, 10):
        time = 15_300 * (1 + 0.004 * _jitter(step)) * (1.6 if step in (10, 180) else 1.0)
        lines.append(
            f" [2026-05-04 12:{step // 10:02}:07] iteration {step:8d}/   50000 | consumed samples:"
            f" {128 * step:12d} | elapsed time per iteration (ms): {time:.1f} | throughput per GPU"
            f" (TFLOP/s/GPU): {8.0e6 / time:.1f} | learning rate: 1.500E-04 | global batch size:"
            f"   128 | lm loss: {7 - step / 100:.6E} | loss scale: 1.0 | grad norm: 1.021 | number"
            " of skipped iterations:   0 | number of nan iterations:   0 |"
        )
        if step == 10:
            lines.append(
                "[Rank 0] (after 10 iterations) memory (MB) | allocated: 37012.4 | max allocated: "
                "64321.8 | reserved: 68934.0 | max reserved: 69874.0"
            )
    return "\n".join(lines) + "\n"


def _torchtitan() -> str:
    lines = []
    for step in (1, *range(10, 410, 10)):
        rate = 6650 * (1 + 0.01 * _jitter(step)) * (0.05 if step == 1 else 1.0)
        lines.append(
            f"[titan] 2026-05-04 {_clock_text(2.45 * step)},123 - root - INFO - step: {step:2}  "
            f"loss: {8 - step / 100:7.4f}  grad_norm:  1.2044  memory: 76.98GiB(81.03%)  tps: "
            f"{round(rate):,}  tflops: {rate * 0.0580:,.2f}  mfu: {rate * 0.00586:.2f}%"
        )
    return "\n".join(lines) + "\n"


def _deepspeed() -> str:
    lines = []
    for step in range(10, 260, 10):
        rate = 2.31 * (1 - 0.0006 * step) * (1 + 0.01 * _jitter(step))
        lines.append(
            f"[2026-05-04 {_clock_text(14 * step)},102] [INFO] [timer.py:264:stop] "
            f"epoch=0/micro_step={4 * step}/global_step={step}, "
            f"RunningAvgSamplesPerSec={2.2 + rate / 100:.14f}, "
            f"CurrSamplesPerSec={rate:.14f}, MemAllocated=19.21GB, MaxMemAllocated=57.37GB"
        )
    return "\n".join(lines) + "\n"


def _nanotron() -> str:
    lines = []
    for step in range(1, 41):
        time = 2.61 * (1 + 0.02 * _jitter(step)) * (3 if step == 1 else 1.0)
        rate = 16 * 8192 / 8 / time
        lines.append(
            f"05/04/2026 {_clock_text(2.61 * step)} [INFO|DP=0|PP=0|TP=0|ip-10-0-0-1]: iteration: "
            f"{step} / 1000 | consumed_tokens: {131 * step}K | "
            f"elapsed_time_per_iteration_ms: {time:.3g}K | "
            f"tokens_per_sec: {8 * rate / 1e3:.3g}K | tokens_per_sec_per_gpu: {rate / 1e3:.4g}K | "
            f"global_batch_size: 16 | lm_loss: {8 - step / 50:.3g} | lr: 0.0003 | "
            f"model_tflops_per_gpu: {rate * 0.058:.3g} | hardware_tflops_per_gpu: "
            f"{rate * 0.058:.3g} | grad_norm: 1.2 | cuda_memory_allocated: 18.1G | "
            "cuda_max_memory_reserved: 71.2G"
        )
    return "\n".join(lines) + "\n"


def _litgpt() -> str:
    lines = []
    for micro in range(1, 65):
        time = 1_290 * (1 + 0.03 * _jitter(micro)) * (8 if micro == 1 else 1.0)
        ended = " (step)" if micro % 2 == 0 else ""
        lines.append(
            f"Epoch 1 | iter {micro} step {micro // 2} | loss train: {9 - micro / 20:.3f}, val: "
            f"n/a | iter time: {time:.2f} ms{ended} remaining time: 11:4{micro % 10}:00"
        )
    return "\n".join(lines) + "\n"


SAMPLES: Mapping[str, Sample] = {
    "torchtitan": Sample(title="torchtitan", text=_torchtitan()),
    "megatron": Sample(title="Megatron-LM", text=_megatron()),
    "deepspeed": Sample(title="DeepSpeed", text=_deepspeed()),
    "nanotron": Sample(title="nanotron", text=_nanotron()),
    "litgpt": Sample(title="litgpt", text=_litgpt()),
}
