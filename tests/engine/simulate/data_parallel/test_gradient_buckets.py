"""DDP's buckets: what a real run of PyTorch packed, and the order of the backward pass."""

from dataclasses import replace

import pytest

from engine.catalog.models import MODELS, SMALL_MODELS
from engine.core.units import Gbit, MiB
from engine.formulas.overlap import backward_time, forward_time
from engine.formulas.parameters import total_parameters
from engine.simulate.data_parallel.bucketed_step import BucketedJob, simulate_bucketed_step
from engine.simulate.data_parallel.gradient_buckets import (
    backward_order,
    backward_shares,
    pack_buckets,
    registration_order,
)

SMALL = SMALL_MODELS["llama-3.2-3b"]
SETTING = BucketedJob(
    model=SMALL,
    gpu="h100",
    world_size=64,
    gpus_per_node=8,
    ports_per_node=8,
    port=400 * Gbit,
    tokens=8192.0,
    utilization=0.5,
    element=2.0,
    cap=25 * MiB,
    first=1 * MiB,
)
ALL = [*SMALL_MODELS.values(), MODELS["llama-2-7b"], MODELS["llama-3-8b"]]


@pytest.mark.parametrize("model", ALL, ids=lambda model: model.name)
def test_the_tensors_are_all_parameters(model):
    assert sum(one.parameters for one in registration_order(model)) == total_parameters(model)


@pytest.mark.parametrize(("key", "billions"), [("llama-3.2-1b", 1.24), ("llama-3.2-3b", 3.21)])
def test_the_small_models_have_the_parameters_of_their_cards(key, billions):
    assert round(total_parameters(SMALL_MODELS[key]) / 1e9, 2) == billions


@pytest.mark.parametrize("cap", [1, 25, 500])
@pytest.mark.parametrize("ready", [True, False])
def test_every_tensor_is_in_one_bucket(cap, ready):
    found = pack_buckets(SMALL, 2.0, cap * MiB, ready=ready)
    names = [(one.layer, one.name) for bucket in found for one in bucket.tensors]
    assert sorted(names) == sorted((one.layer, one.name) for one in registration_order(SMALL))


def test_the_tensor_that_reaches_the_limit_closes_the_bucket():
    for bucket in pack_buckets(SMALL, 2.0, 25 * MiB)[:-1]:
        sizes = [one.parameters * 2 for one in bucket.tensors]
        assert sum(sizes) >= 25 * MiB > sum(sizes[:-1])


def test_the_backward_pass_completes_the_last_layer_first_and_the_embedding_last():
    order = backward_order(SMALL)
    assert [order[0].title, order[1].layer, order[-1].title] == ["final norm", 28, "embedding"]


def test_work_shares_add_up():
    assert sum(backward_shares(SMALL)) == pytest.approx(1)


def test_a_model_with_experts_is_refused():
    with pytest.raises(ValueError, match="not a dense model"):
        registration_order(MODELS["mixtral-8x7b"])


def test_the_step_computes_as_long_as_the_formulas_say():
    ran = simulate_bucketed_step(SETTING)
    work = total_parameters(SMALL), 8192, 0.5, 989.4e12
    assert ran.forward == pytest.approx(forward_time(*work), rel=1e-3)
    assert ran.backward == pytest.approx(backward_time(*work), rel=1e-3)


def test_exposed_is_the_tail_and_the_step_adds_up():
    ran = simulate_bucketed_step(SETTING)
    assert ran.account.exposed == pytest.approx(ran.tail)
    parts = ran.forward + ran.backward + ran.tail + ran.optimizer
    assert ran.account.length == pytest.approx(parts)


def test_the_last_bucket_alone_is_exposed_where_all_others_hide():
    ran = simulate_bucketed_step(replace(SETTING, tokens=12288.0))
    last = next(span for span in ran.spans if span.op.key == f"bucket {len(ran.buckets)}")
    assert ran.tail == pytest.approx(last.end - last.start)


@pytest.mark.parametrize("change", [{"ready": False}, {"overlap": False}, {"cap": 1e12}])
def test_nothing_hides_in_the_wrong_order_without_overlap_or_in_one_bucket(change):
    ran = simulate_bucketed_step(replace(SETTING, **change, first=0.0))
    assert ran.tail == pytest.approx(ran.isolated)


def test_contention_lengthens_the_computation_beside_all_reduces_only():
    quiet, slow = (
        simulate_bucketed_step(SETTING),
        simulate_bucketed_step(replace(SETTING, slow_down=0.19)),
    )
    assert quiet.account.contention == 0
    # While they run beside it, computation does 1/1.19 of its work.
    assert slow.account.contention == pytest.approx(slow.account.hidden * 0.19 / 1.19)
