"""Cuts of a pipeline, each worked out by hand, and what the families of software do unasked."""

from dataclasses import replace

from engine.catalog.models import MODELS
from engine.run import parallelism
from engine.run.parallelism import Plan, Training, layers_of_stage, piece_of_model
from engine.run.stage_cut import cut_layers, moved_layers, shifted_cut, uneven_pieces
from tests.each import each


def model(layers, predicted=0):
    own = {"num_layers": layers, "num_prediction_layers": predicted}
    return replace(MODELS["llama-3-8b"], **own)


@each(
    ("layers", "stages", "virtual", "schedule", "sizes"),
    [
        (8, 4, 1, "1f1b", ()),
        (6, 4, 1, "1f1b", (1, 2, 2, 1)),
        (7, 1, 3, "1f1b", ()),
        (6, 2, 2, "interleaved", (1, 2, 2, 1)),
        (12, 4, 1, "1f1b", ()),
        (12, 4, 1, "zbv", (0, 2, 2, 2, 2, 2, 2, 0)),
        (12, 4, 3, "zbv", (0, 2, 2, 2, 2, 2, 2, 0)),
    ],
)
def test_pieces_that_differ_are_told(layers, stages, virtual, schedule, sizes):
    plan = Plan(world_size=stages, pipeline_parallel=stages, virtual_pipeline=virtual)
    assert uneven_pieces(model(layers), plan, schedule) == sizes
    by_hand = replace(plan, stage_layers=(layers,))
    assert uneven_pieces(model(layers), by_hand, schedule) == ()


@each(
    ("layers", "predicted", "pieces", "sizes"),
    [
        (6, 0, 4, (1, 2, 2, 1)),
        (8, 0, 4, (2, 2, 2, 2)),
        (6, 1, 1, (6,)),
        (61, 1, 16, (*[4] * 15, 1)),
        (8, 1, 4, (2, 2, 2, 2)),
        (9, 1, 4, (3, 3, 3, 0)),
        (5, 2, 4, (2, 2, 1, 0)),
    ],
)
def test_a_model_that_predicts_further_tokens_has_less_in_its_last_piece(
    layers, predicted, pieces, sizes
):
    assert cut_layers(model(layers, predicted), pieces) == sizes


@each(
    ("stages", "off_first", "off_last", "sizes"),
    [
        (1, 1, 1, (8,)),
        (2, 0, 0, (4, 4)),
        (2, 1, 0, (3, 5)),
        (2, 0, 1, (5, 3)),
        (2, 9, 0, (0, 8)),
        (2, 0, 9, (8, 0)),
        (4, 0, 0, (2, 2, 2, 2)),
        (4, 1, 0, (1, 3, 2, 2)),
        (4, 0, 2, (2, 3, 3, 0)),
        (4, 1, 2, (1, 4, 3, 0)),
        (4, 5, 5, (0, 4, 4, 0)),
        (4, -1, 0, (3, 2, 1, 2)),
        (4, -3, 0, (5, 1, 0, 2)),
        (4, -9, 0, (6, 0, 0, 2)),
        (4, 0, -9, (2, 0, 0, 6)),
        (4, -3, -9, (5, 0, 0, 3)),
        (4, 1, -9, (1, 0, 0, 7)),
        (3, 1, 1, (1, 6, 1)),
    ],
)
def test_eight_layers_moved_off_the_ends(stages, off_first, off_last, sizes):
    assert moved_layers(8, stages, off_first, off_last) == sizes


@each(
    ("shifts", "sizes"),
    [
        ((0, 0, 0), (2, 2, 2, 2)),
        ((1, 0, 0), (3, 1, 2, 2)),
        ((0, -1, 0), (2, 1, 3, 2)),
        ((0, 0, 2), (2, 2, 4, 0)),
        ((0, 0, 9), (2, 2, 4, 0)),
        ((-9, 0, 0), (0, 4, 2, 2)),
        ((3, 0, 0), (5, 0, 1, 2)),
        ((9, 0, 0), (8, 0, 0, 0)),
        ((0, -3, 0), (2, 0, 4, 2)),
    ],
)
def test_boundaries_of_four_stages_shifted(shifts, sizes):
    assert shifted_cut(8, 4, shifts) == sizes


@each(
    ("layers", "pieces", "starts"),
    [
        # 9 layers and the two ends are 3, 3, 3 and 2; 6 and the two ends are 2 each.
        (9, 4, (0, 2, 5, 8, 9)),
        (6, 4, (0, 1, 3, 5, 6)),
        (5, 3, (0, 1, 4, 5)),
        (4, 3, (0, 1, 3, 4)),
        (6, 3, (0, 2, 4, 6)),
    ],
)
def test_ends_of_the_model_count_as_a_layer_each_where_layers_do_not_divide(layers, pieces, starts):
    found = [piece_of_model(layers, pieces, index) for index in range(pieces)]
    assert [piece.start for piece in found] == list(starts[:-1])
    assert [piece.stop for piece in found] == list(starts[1:])


def test_of_a_cut_by_hand_a_rank_holds_every_second_piece():
    plan = Plan(world_size=2, pipeline_parallel=2, virtual_pipeline=2, stage_layers=(1, 3, 0, 2))
    assert layers_of_stage(model(6), plan, 0) == (range(1), range(4, 4))
    assert layers_of_stage(model(6), plan, 1) == (range(1, 4), range(4, 6))


RUN = Training(micro_batch_size=1, global_batch_size=8, sequence_length=4096)


@each(
    ("name", "changed", "said"),
    [
        ("halves_gradients", {}, False),
        ("halves_gradients", {"gradient_precision": "bf16"}, True),
        ("halves_gradients", {"gradient_precision": "fp16"}, True),
        ("halves_gradients", {"gradient_precision": "fp32"}, False),
        ("quantizes", {"precision": "fp8"}, True),
        ("quantizes", {"precision": "fp4"}, True),
        ("quantizes", {"precision": "bf16"}, False),
        ("quantizes", {"precision": "fp8", "framework": "fsdp"}, False),
        ("scales_blocks", {"precision": "fp8", "block_scales": True}, True),
        ("scales_blocks", {"precision": "fp8"}, False),
        ("scales_blocks", {"precision": "fp4", "block_scales": True}, False),
        (
            "scales_blocks",
            {"precision": "fp8", "block_scales": True, "quantized_once": True},
            False,
        ),
        ("shards_all", {"framework": "fsdp"}, True),
        ("shards_all", {"framework": "xla"}, True),
        ("shards_all", {"framework": "megatron"}, False),
        ("rotates_by_constants", {"framework": "fsdp"}, True),
        ("rotates_by_constants", {"framework": "xla"}, False),
        ("adds_in_place", {}, True),
        ("adds_in_place", {"framework": "fsdp"}, False),
        ("adds_in_place", {"flash_attention": False}, False),
        ("adds_in_place", {"compiled": False}, False),
    ],
)
def test_what_software_does_unasked(name, changed, said):
    assert getattr(parallelism, name)(replace(RUN, **changed)) is said
