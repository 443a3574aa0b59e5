"""The time of low-rank adapters, against bytes and kernels counted by hand.

Whole steps with adapters are compared with measured ones in tests/validation/test_device.py.
"""

from dataclasses import replace

import pytest

from engine.catalog.constants import COMMON
from engine.catalog.models import MODELS
from engine.run.parallelism import Plan
from engine.simulate.layer.adapter_time import adapter_times
from engine.simulate.layer.device_model import rank_rates
from tests.engine.simulate.layer.test_layer_time import H100, run, timed

TOKENS, ADAPTER, GAP = 2048, 16, 2e-6
# Inputs and outputs of the seven linear layers of a block of Llama 3 8B.
SHAPES = [(4096, 4096), (4096, 1024), (4096, 1024), (4096, 4096)]
SHAPES += [(4096, 14336), (4096, 14336), (14336, 4096)]


def times(rank_changes, model="llama-3-8b", *, sparse=False, **changes):
    training = run(lora_rank=ADAPTER, framework="fsdp", **{"lora_layers": "all", **changes})
    found = rank_rates(H100, training)
    rank = replace(found, matmul=1e40, fill=0.0, **rank_changes)
    return adapter_times(MODELS[model], Plan(world_size=1), training, rank, sparse=sparse)


def thin(*sizes):
    """Elements of the operands and of the result of products with an adapter."""
    return sum(m * k + k * n + m * n for m, n, k in sizes)


@pytest.mark.parametrize(("compiled", "passes"), [(False, (5, 2, 3)), (True, (1, 1, 1))])
def test_every_byte_of_the_adapters_is_counted(compiled, passes):
    t, r = TOKENS, ADAPTER
    rank = {"memory": 1.0, "common": replace(COMMON, kernel_gap=0.0)}
    forward, backward = times(rank, compiled=compiled)
    assert forward == pytest.approx(
        2 * sum(thin((t, r, i), (t, o, r)) + passes[0] * t * o for i, o in SHAPES)
    )
    products = [thin((t, r, o), (o, r, t), (t, i, r), (r, i, t)) for i, o in SHAPES]
    assert backward == pytest.approx(
        2 * (sum(products) + sum(passes[1] * t * o + passes[2] * t * i for i, o in SHAPES))
    )


@pytest.mark.parametrize(("compiled", "kernels"), [(False, (4, 6)), (True, (2, 4))])
def test_every_kernel_of_the_adapters_waits_for_its_launch(compiled, kernels):
    rank = {"memory": 1e40, "common": replace(COMMON, kernel_gap=GAP)}
    found = times(rank, compiled=compiled)
    assert found == pytest.approx(tuple(7 * count * GAP for count in kernels))


def test_routed_experts_have_no_adapter():
    rank = {"memory": 1e40, "common": replace(COMMON, kernel_gap=GAP)}
    forward, _ = times(rank, "mixtral-8x7b", sparse=True, compiled=False)
    assert forward == pytest.approx(4 * 4 * GAP)  # those of the attention


def test_a_layer_takes_its_adapters_times_longer_than_without_them():
    plan, facts = Plan(world_size=1), {"framework": "fsdp", "recompute": "full"}
    training = run(lora_rank=ADAPTER, **facts)
    aside = adapter_times(
        MODELS["llama-3-8b"], plan, training, rank_rates(H100, training), sparse=False
    )
    bare, adapted = (timed("llama-3-8b", plan, one) for one in (run(**facts), training))
    assert adapted.forward - bare.forward == pytest.approx(aside[0])
    assert adapted.repeated - bare.repeated == pytest.approx(aside[0])
    assert 0 < aside[0] < bare.forward


def test_adapters_of_the_attention_leave_the_feed_forward_part_alone():
    rank = {"memory": 1e40, "common": replace(COMMON, kernel_gap=GAP)}
    forward, backward = times(rank, compiled=True, lora_layers="attention")
    assert (forward, backward) == pytest.approx((4 * 2 * GAP, 4 * 4 * GAP))  # Q, K, V, output
