"""The fullest moment of FSDP: by hand, and where nothing else is known, all parts together."""

from dataclasses import replace

import pytest

from engine.catalog.constants import ALLOWANCES
from engine.catalog.models import MODELS
from engine.run.parallelism import Plan, Training
from engine.simulate.memory.memory import rank_memory
from engine.simulate.memory.memory_moments import peak_tensor_bytes

ONE = Plan(world_size=1, zero_stage=3)
SHORT = Training(micro_batch_size=1, global_batch_size=1, sequence_length=128, framework="fsdp")
LONG = replace(SHORT, micro_batch_size=2, global_batch_size=2, sequence_length=4096)


def filled(name, plan, training):
    model = MODELS[name]
    return (
        peak_tensor_bytes(model, plan, training, rank_memory(model, plan, training))
        - ALLOWANCES.workspace
    )


def test_gathered_on_one_rank_by_hand():
    # Embedding and output of 1,050,673,152 parameters and one layer of 218,112,000, once; on
    # several ranks two layers, and all of it also as it arrived.
    ends, layer = 2 * 1_050_673_152, 2 * 218_112_000
    assert rank_memory(MODELS["llama-3-8b"], ONE, SHORT).buffers == ends + layer
    eight, batch = Plan(world_size=8, zero_stage=3), replace(SHORT, global_batch_size=8)
    assert rank_memory(MODELS["llama-3-8b"], eight, batch).buffers == 2 * (ends + 2 * layer)


def test_of_few_tokens_the_reduction_of_the_root_is_the_fullest_moment():
    # 16 bytes of 8,030,261,248 parameters, and the gradient of both ends copied in fp32.
    # Measured with 4,096 tokens: 132,756,278,272 bytes, 69 MB more, which are workspaces.
    by_hand = 16 * 8_030_261_248 + 4 * 1_050_673_152
    assert filled("llama-3-8b", ONE, SHORT) == pytest.approx(by_hand, rel=1e-6)


def test_of_tied_matrices_both_gradients_and_their_sum_are_there():
    # 12 bytes of 3,212,749,824 parameters, gradients of 28 layers of 100,669,440 in fp32 and of one
    # of them the copy; the matrix of 394,002,432 four times in bf16. Measured: 53,457,297,920.
    by_hand = 12 * 3_212_749_824 + 4 * 29 * 100_669_440 + 4 * 2 * 394_002_432
    assert filled("llama-3.2-3b", ONE, SHORT) == pytest.approx(by_hand, rel=1e-6)


def test_at_the_loss_there_are_no_gradients():
    # Llama 3.2 1B, eager, all layers recomputed, 8,192 tokens: three copies of the logits in fp32,
    # the inputs of 16 layers, the tied matrix in bf16, the last norm. Measured: 28,714,146,304.
    tokens, hidden, vocab = 8192, 2048, 128_256
    by_hand = 12 * 1_235_814_400 + 12 * tokens * vocab + 2 * vocab * hidden
    by_hand += tokens * hidden * (2 * 16 + 8)
    training = replace(LONG, compiled=False, recompute="full")
    assert filled("llama-3.2-1b", ONE, training) == pytest.approx(by_hand, rel=1e-6)


def test_a_compiled_loss_needs_a_third_of_the_logits():
    tokens, vocab = 8192, 128_256
    eager, compiled = replace(LONG, eager_loss=True), LONG
    saved = filled("llama-3.2-1b", ONE, eager) - filled("llama-3.2-1b", ONE, compiled)
    assert saved == pytest.approx((12 - 4) * tokens * vocab)


@pytest.mark.parametrize(
    ("plan", "changes"),
    [
        (ONE, {"global_batch_size": 4}),
        (Plan(world_size=2, pipeline_parallel=2, zero_stage=3), {}),
        (ONE, {"framework": "megatron"}),
        (ONE, {"framework": "deepspeed"}),
    ],
)
def test_other_runs_have_all_parts_together(plan, changes):
    model, training = MODELS["llama-3.2-1b"], replace(LONG, **changes)
    held = rank_memory(model, plan, training)
    assert peak_tensor_bytes(model, plan, training, held) == held.allocated
