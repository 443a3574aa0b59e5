"""DDP's buckets: what a real run of PyTorch packed, and the order of the backward pass."""

from dataclasses import replace

import pytest

from engine.catalog.models import MODELS, SMALL_MODELS
from engine.core.units import Gbit, MiB
from engine.formulas.parameters import total_parameters
from engine.simulate.data_parallel.bucketed_step import (
    BucketedJob,
    bucketed_run,
    simulate_bucketed_step,
)
from engine.simulate.data_parallel.gradient_buckets import (
    backward_order,
    backward_shares,
    pack_buckets,
    registration_order,
)
from engine.simulate.step.step_time import step_time

SMALL = SMALL_MODELS["llama-3.2-3b"]
SETTING = BucketedJob(
    model=SMALL,
    gpu="h100",
    world_size=64,
    ports_per_node=8,
    port=400 * Gbit,
    tokens=8192.0,
    gradient="fp32",
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


@pytest.mark.parametrize("model", ALL, ids=lambda model: model.name)
@pytest.mark.parametrize("gradient", ["fp32", "bf16"])
@pytest.mark.parametrize(
    "change",
    [
        {},
        {"world_size": 8},
        {"world_size": 512, "tokens": 1024.0},
        {"port": 100 * Gbit, "ports_per_node": 1},
        {"gpu": "b200"},
    ],
)
def test_a_step_with_the_buckets_of_pytorch_is_the_estimate(model, gradient, change):
    job = replace(SETTING, model=model, gradient=gradient, **change)
    run, ran = bucketed_run(job), simulate_bucketed_step(job)
    estimate = step_time(run.model, run.cluster, run.plan, run.training).total
    assert ran.account.length - ran.output_first == pytest.approx(estimate, rel=0.005)
    assert ran.output_first >= 0


def test_exposed_is_the_tail_and_the_step_adds_up():
    ran = simulate_bucketed_step(SETTING)
    assert ran.account.exposed == pytest.approx(ran.tail)
    closing = ran.estimate.optimizer + ran.estimate.other
    parts = ran.estimate.compute + ran.contention + ran.tail + closing
    assert ran.account.length == pytest.approx(parts)


def test_the_last_bucket_alone_is_exposed_where_all_others_hide():
    ran = simulate_bucketed_step(replace(SETTING, tokens=12288.0))
    spans = {span.op.key: span for span in ran.spans}
    before, last = (spans[f"bucket {len(ran.buckets) - back}"] for back in (1, 0))
    # And what is left of the bucket before it, which was full just before.
    left = max(0.0, before.end - spans[last.op.after[0]].end)
    assert left <= before.end - before.start
    assert ran.tail == pytest.approx(last.end - last.start + left)


@pytest.mark.parametrize("change", [{"ready": False}, {"overlap": False}, {"cap": 1e12}])
def test_nothing_hides_in_the_wrong_order_without_overlap_or_in_one_bucket(change):
    ran = simulate_bucketed_step(replace(SETTING, **change, first=0.0))
    assert ran.tail == pytest.approx(ran.isolated)


def test_contention_lengthens_the_computation_beside_all_reduces_only():
    quiet, slow = (
        simulate_bucketed_step(SETTING),
        simulate_bucketed_step(replace(SETTING, slow_down=0.19)),
    )
    # 0.45 of the time that 4 bytes of 3.2 billion gradients take on NVLink, whatever the buckets.
    assert quiet.account.contention == 0
    assert quiet.contention == pytest.approx(0.45 * 4 * 3.21e9 / 369e9, rel=0.01)
    # While they run beside it, computation does 1/1.19 of its work.
    assert slow.contention == pytest.approx(slow.account.hidden * 0.19 / 1.19)
