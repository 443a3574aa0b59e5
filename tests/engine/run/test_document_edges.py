"""What a run file says of machines, plan and training, at the limits of each and by default."""

import pytest

from engine.run.document import InputError, read_document
from tests.each import each
from tests.validation.any_run import changed

MODEL = {
    "num_layers": 2,
    "hidden_size": 256,
    "num_attention_heads": 4,
    "ffn_hidden_size": 1024,
    "vocab_size": 1000,
    "mlp": "swiglu",
    "tied_embeddings": True,
}
LATENTS = {
    "attention": "mla",
    "key_value_latent_size": 64,
    "rotary_head_size": 16,
    "value_head_size": 32,
}
GOOD = {
    "model": MODEL,
    "sequence_length": 4096,
    "cluster": {"gpu": "H100-SXM", "gpus_per_node": 8, "nics_per_node": 8, "nic_bandwidth": 50e9},
    "parallelism": {"world_size": 8},
    "training": {"micro_batch_size": 1, "global_batch_size": 64, "precision": "fp8"},
}


def problems(document):
    with pytest.raises(InputError) as caught:
        read_document(document)
    return caught.value.problems


def cluster(**keys):
    return read_document(changed(GOOD, "cluster", **keys)).cluster


def training(**keys):
    return read_document(changed(GOOD, "training", **keys)).training


def plan(**keys):
    return read_document(changed(GOOD, "parallelism", **keys)).plan


def test_a_sequence_has_at_most_two_to_the_30th_tokens():
    for length in (1, 1_073_741_824):
        found = read_document({**GOOD, "sequence_length": length})
        assert found.training.sequence_length == length
    message = "sequence_length: {}; allowed: a whole number from 1 to 1073741824"
    assert problems({**GOOD, "sequence_length": 0}) == (message.format(0),)
    assert problems({**GOOD, "sequence_length": 2**30 + 1}) == (message.format(2**30 + 1),)


@each(
    ("keys", "attention", "key_value_heads"),
    [
        ({}, "mha", 4),
        ({"attention": "gqa", "num_key_value_heads": 2}, "mha", 2),
        (LATENTS, "mla", 4),
    ],
)
def test_attention_is_over_latents_where_it_is_said_so(keys, attention, key_value_heads):
    model = read_document({**GOOD, "model": {**MODEL, **keys}}).model
    assert (model.attention, model.num_key_value_heads) == (attention, key_value_heads)
    assert (model.name, model.num_layers) == ("custom", 2)


def test_equal_models_are_one():
    assert read_document(GOOD).model is read_document({**GOOD, "model": dict(MODEL)}).model


@each(("price", "each_second"), [(3.6, 0.001), (7200, 2.0)])
def test_a_price_for_an_hour_becomes_one_for_a_second(price, each_second):
    assert cluster(price_per_hour=price).price_per_hour == pytest.approx(each_second)
    assert cluster().price_per_hour == 0


def test_a_gpu_like_one_of_the_catalog_has_what_is_said_and_else_its_datasheet():
    plain, like = cluster(), cluster(gpu={"like": "H100-SXM"})
    assert like.gpu == plain.gpu
    own = cluster(gpu={"like": "H100-SXM", "memory": 9e10, "memory_bandwidth": 2e12}).gpu
    assert (own.memory, own.memory_bandwidth, own.peak) == (9e10, 2e12, plain.gpu.peak)
    limited = cluster(gpu={"like": "H100-SXM", "power_limit": 175}).gpu
    # A quarter of 700 W is half of the clock.
    assert limited.power == 175
    assert limited.peak["bf16"] == pytest.approx(plain.gpu.peak["bf16"] / 2)
    assert limited.memory == plain.gpu.memory


def test_a_gpu_without_its_like_is_refused():
    (problem,) = problems(changed(GOOD, "cluster", gpu={"memory": 1}))
    assert problem.startswith('cluster.gpu: {"memory": 1}; allowed: ')
    assert problem.endswith("one with peak, memory and memory_bandwidth")


@each("given", [5, None, ["matmul = 1"]])
def test_constants_of_ones_own_are_a_text(given):
    (problem,) = problems(changed(GOOD, "cluster", own_constants=given))
    assert problem.startswith("cluster.own_constants: ")
    assert problem.endswith("; allowed: a text")


def test_blocks_with_scales_are_those_of_blackwell():
    assert not training().block_scales
    found = read_document(changed(GOOD, "cluster", gpu="B200"))
    assert found.training.block_scales


@each(
    ("keys", "sequence_parallel"),
    [
        ({}, False),
        ({"tensor_parallel": 2}, True),
        ({"tensor_parallel": 2, "sequence_parallel": False}, False),
        ({"sequence_parallel": True}, True),
    ],
)
def test_sequences_are_split_with_tensor_parallelism_unless_it_is_said(keys, sequence_parallel):
    assert plan(**keys).sequence_parallel is sequence_parallel


@each(
    ("keys", "schedule", "told"),
    [
        ({"pipeline_parallel": 2}, None, "1f1b"),
        ({"pipeline_parallel": 2, "virtual_pipeline": 2}, None, "interleaved"),
        ({"pipeline_parallel": 2, "virtual_pipeline": 2}, "1f1b", "1f1b"),
    ],
)
def test_several_pieces_of_a_rank_are_interleaved_unless_it_is_said(keys, schedule, told):
    document = changed(GOOD, "parallelism", **keys)
    given = {"schedule": schedule} if schedule else {}
    assert read_document(changed(document, "training", **given)).training.schedule == told


@each(("layout", "sizes"), [([2, 0], (2, 0)), ([1, 1], (1, 1))])
def test_a_layout_has_the_layers_of_each_piece(layout, sizes):
    assert plan(pipeline_parallel=2, pipeline_layout=layout).stage_layers == sizes


@each("layout", [[4097, 0], [-1, 3], [True, 1], [1.0, 1], ["1", 1], "11", 2, None])
def test_a_layout_is_a_list_of_whole_numbers(layout):
    keys = {"pipeline_parallel": 2, "pipeline_layout": layout}
    (problem,) = problems(changed(GOOD, "parallelism", **keys))
    assert problem.startswith("parallelism.pipeline_layout: ")
    assert problem.endswith(
        "; allowed: a list of whole numbers, the layers of each piece of the pipeline"
    )


def test_a_piece_may_have_4096_layers():
    deep = {**GOOD, "model": {**MODEL, "num_layers": 4096}}
    keys = {"pipeline_parallel": 2, "pipeline_layout": [4096, 0]}
    assert read_document(changed(deep, "parallelism", **keys)).plan.stage_layers == (4096, 0)


def test_recomputed_modules_are_a_list():
    found = training(recompute=["mlp", "moe"])
    assert (found.recompute, found.recompute_modules) == ("modules", ("mlp", "moe"))
    found = training(recompute="full")
    assert (found.recompute, found.recompute_modules) == ("full", ())
    (problem,) = problems(changed(GOOD, "training", recompute=[]))
    assert problem.startswith("training.recompute: []; allowed: a list of different names out of ")
