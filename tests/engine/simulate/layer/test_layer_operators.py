"""The operators of a layer agree with what the step time counts, and fusion only moves bytes."""

import pytest

from engine.catalog.models import MODELS
from engine.formulas.operations import attention_scores, layer_gemms
from engine.formulas.traffic import PASSES
from engine.run.parallelism import Plan, Training
from engine.simulate.layer.layer_operators import layer_operators

LLAMA, GPT = MODELS["llama-3-8b"], MODELS["gpt-3-175b"]
TRAINING = Training(micro_batch_size=2, global_batch_size=2, sequence_length=4096)


def by_key(model=LLAMA, **switches):
    switches = {"fused": True, "flash": True} | switches
    return {one.key: one for one in layer_operators(model, 8192, 4096, **switches)}


@pytest.mark.parametrize("fused", [True, False])
def test_element_wise_bytes_are_those_of_the_step_time(fused):
    found = sum(one.moved for one in by_key(fused=fused).values() if not one.is_product)
    passes = PASSES["fused" if fused else "eager", "swiglu"]
    heads = (32 + 8) * 128
    expected = 4096 * passes.hidden[0] + heads * passes.heads[0] + 14_336 * passes.inner[0]
    assert found == 2 * 8192 * expected


def test_products_are_those_of_the_layer():
    plan = Plan(world_size=1)
    expected = sum(gemm.operations for gemm in layer_gemms(LLAMA, plan, TRAINING))
    expected += attention_scores(LLAMA, plan, TRAINING).operations
    assert sum(one.operations for one in by_key().values() if one.is_product) == expected


@pytest.mark.parametrize("model", [LLAMA, GPT], ids=lambda one: one.name)
def test_fusing_kernels_changes_bytes_and_no_operation(model):
    fused, eager = by_key(model), by_key(model, fused=False)
    assert {k: one.operations for k, one in fused.items()} == {
        k: one.operations for k, one in eager.items()
    }
    assert all(fused[key].moved <= eager[key].moved for key in fused)


def test_fused_attention_crosses_the_ridge_of_an_h100():
    flash, scores = by_key()["attention"], by_key(flash=False)["softmax"]
    assert flash.operations / flash.moved > 295
    assert scores.operations / scores.moved < 1
