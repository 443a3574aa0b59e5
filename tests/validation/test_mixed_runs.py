"""Published steps of models whose layers differ: no constant has seen them.

Megatron-Bridge 26.08 at 067f987d, `docs/performance-summary.md`: tokens per second and GPU, and
TFLOP/s, of pre-training with experts balanced by force.
"""

import pytest

from engine.catalog.mixers.mix import NOTE, SLOWER
from engine.catalog.recent_models import RECENT_MODELS
from engine.estimate import estimate
from engine.formulas.token_operations import token_operations
from engine.run.file import read_run

# Model, GPU, GPUs, batch, micro-batch, length, tensor and expert parallelism, precision, tokens per
# second and GPU, TFLOP/s of a GPU.
ROWS = [
    ("nemotron-3-nano", "GB300", 8, 512, 4, 8192, 1, 8, "fp8", 39936, 901),
    ("nemotron-3-super", "GB300", 64, 512, 1, 8192, 1, 64, "fp8", 9856, 831),
    ("nemotron-3-super", "GB300", 64, 512, 1, 8192, 1, 64, "fp4", 10240, 864),
    ("nemotron-3-super", "GB200", 64, 512, 1, 8192, 2, 64, "fp8", 7040, 600),
    ("deepseek-v4-flash", "GB300", 128, 2048, 1, 4096, 1, 64, "fp8", 8224, 748),
    ("deepseek-v4-flash", "GB200", 128, 2048, 1, 4096, 1, 64, "fp8", 7776, 706),
]


def predicted(row):
    model, gpu, gpus, batch, micro, length, tensor, expert, precision, *_ = row
    cluster = {"gpu": gpu, "gpus_per_node": 4, "nics_per_node": 4, "nic_bandwidth": 100e9}
    plan = {"world_size": gpus, "tensor_parallel": tensor, "expert_parallel": expert}
    training = {"micro_batch_size": micro, "global_batch_size": batch, "precision": precision}
    switches = {"even_routing": True, "fused_experts": True, "cuda_graphs": True}
    types = {"gradient_precision": "bf16", "quantized_weights": True, "exchange": "hybridep"}
    return estimate(
        read_run(
            {
                "model": model,
                "sequence_length": length,
                "cluster": cluster,
                "parallelism": plan | {"zero_stage": 1},
                "training": {"framework": "megatron", **training, **switches, **types},
            }
        )
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[1]} {row[8]}")
def test_a_published_step_is_within_the_range(row):
    found, tokens = predicted(row), row[3] * row[5]
    step = tokens / row[2] / row[-2]
    assert found["step_time_low"] <= step <= found["step_time_high"]
    assert 1 < step / found["step_time"] < SLOWER
    assert NOTE in found["extrapolates"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[1]} {row[8]}")
def test_a_token_has_the_published_operations(row):
    # They add a layer of multi-token prediction and its logits, and count Mamba-2 as twice the
    # hidden size wide, which Nemotron 3 Nano's is not.
    counted = token_operations(RECENT_MODELS[row[0]], row[5], "causal")
    assert 0.88 < counted / (row[-1] * 1e12 / row[-2]) < 1
