"""Ways of keys and values: the ring in time, measured rates, all-gather and all-to-all."""

from dataclasses import replace

import pytest

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.measured_rings import MEASURED_RINGS
from engine.catalog.models import MODELS
from engine.run.parallelism import Cluster, Plan, Training
from engine.simulate.collectives.measured_ring import modeled_rate
from engine.simulate.layer.context_exchange import even_waits, ulysses_bytes
from engine.simulate.layer.ring_layouts import ring_waits, simulate_ring, step_shares
from engine.simulate.step.context_job import (
    ContextJob,
    added_attention_time,
    context_step_time,
    layer_bytes_sent,
    layer_time_without_context,
    most_hidden_ranks,
    ring_overlap_ratio,
)
from tests.each import each


def job(model="llama-3-70b", length=131_072, tensor=8, context=8, **changes):
    return ContextJob(
        model=replace(MODELS[model], **changes),
        cluster=Cluster(
            gpu=ACCELERATORS["H100-SXM"], gpus_per_node=8, nics_per_node=8, nic_bandwidth=50e9
        ),
        plan=Plan(
            world_size=tensor * context,
            tensor_parallel=tensor,
            context_parallel=context,
            sequence_parallel=tensor > 1,
        ),
        training=Training(micro_batch_size=1, global_batch_size=1, sequence_length=length),
    )


MANY = MODELS["llama-3-70b"].num_attention_heads
SHOWN = {"num_key_value_heads": MANY}  # keys for every query head: the ring shows


@each("changes", [{}, SHOWN])
def test_the_closed_form_is_the_ring_played_with_two_buffers(changes):
    one = job(**changes)
    ring = one.ring
    for core, hop, waits in zip(
        one.attention_time,
        (ring.hop, 2 * ring.hop),
        even_waits(ring, one.attention_time),
        strict=True,
    ):
        work = [[core * share for share in step] for step in step_shares("zigzag", 8)]
        assert simulate_ring(work, hop, 2).end - core == pytest.approx(waits, abs=2e-4 * core)


# One job, one answer: what a step waits for context parallelism is what its layers wait for.
@each("changes", [{}, SHOWN])
@each("context", [2, 8, 64])
def test_the_step_waits_for_the_ring_of_its_layers(changes, context):
    one = job(context=context, **changes)
    each_layer = sum(map(sum, added_attention_time(one, "ring")))
    assert context_step_time(one).context_parallel == pytest.approx(80 * each_layer)
    assert each_layer > 0


def test_a_layer_and_its_ring_are_the_layer_of_the_step():
    one = job(**SHOWN)
    whole = context_step_time(one)
    layers = 80 * (
        layer_time_without_context(one) + sum(map(sum, added_attention_time(one, "ring")))
    )
    parts = whole.compute + whole.tensor_parallel + whole.context_parallel
    assert layers < parts < 1.1 * layers  # embedding and output layer are the rest


def test_one_buffer_hides_nothing():
    one = job()
    assert ring_waits(one.ring, one.attention_time, "zigzag", 1) == pytest.approx(
        one.ring.sending, rel=1e-2
    )


def test_the_last_rank_of_a_contiguous_ring_computes_nearly_twice_the_mean():
    one = job()
    ring = replace(one.ring, hop=0.0)
    waits = ring_waits(ring, one.attention_time, "contiguous")
    assert waits[0] / one.attention_time[0] == pytest.approx(7 / 8, rel=1e-3)


@each("row", MEASURED_RINGS)
@each("layout", ["contiguous", "zigzag"])
def test_a_measured_ring_is_as_fast_as_modelled_within_eight_percent(row, layout):
    assert modeled_rate(row, layout) == pytest.approx(getattr(row, layout), rel=0.08)


@each("row", MEASURED_RINGS)
def test_stripes_were_measured_slower_than_a_zig_zag_which_the_model_does_not_know(row):
    assert row.striped < row.zigzag
    assert modeled_rate(row, "striped") == pytest.approx(modeled_rate(row, "zigzag"), rel=1e-2)


def test_ulysses_sends_what_its_authors_count():
    # Jacobs et al. 2023, section 3.2: all-to-alls of 3Nh/P and of Nh/P, with as many heads of keys.
    one = job(tensor=1, **SHOWN)
    out, back = ulysses_bytes(one.scores, 8)
    hidden = 2.0 * 131_072 / 8 * one.model.hidden_size
    assert (out, back) == pytest.approx((3 * hidden, hidden))


def test_with_more_ranks_than_key_value_heads_they_are_repeated():
    one = job(tensor=1, context=32)
    assert ulysses_bytes(one.scores, 32)[0] > ulysses_bytes(one.scores, 8)[0]


def test_grouped_queries_make_the_ring_smaller_and_not_tensor_parallelism():
    few, many = layer_bytes_sent(job()), layer_bytes_sent(job(**SHOWN))
    assert many["ring"] == pytest.approx(8 * few["ring"])
    assert many["tensor"] == few["tensor"]


def test_at_the_edge_of_overlap_a_step_computes_as_long_as_its_block_travels():
    one = job(**SHOWN)
    edge = most_hidden_ranks(one, inside=False, limit=256)
    assert ring_overlap_ratio(one, edge, inside=False) == pytest.approx(1, rel=1e-3)


def test_the_ring_hides_up_to_more_ranks_on_nvlink():
    one = job(**SHOWN)
    far, near = (most_hidden_ranks(one, inside=inside, limit=256) for inside in (False, True))
    assert far < near


def test_one_rank_waits_for_nothing():
    one = job(context=1)
    assert [added_attention_time(one, way) for way in ("ring", "gather", "swap")] == [
        ((0, 0), (0, 0))
    ] * 3


def test_an_all_gather_is_waited_for():
    one = job()
    assert sum(added_attention_time(one, "gather")[0]) > sum(added_attention_time(one, "ring")[0])
