"""What Megatron-LM refuses of the sizes of a job, each size at the limit and one beyond it."""

from engine.run.importers.import_report import RunDraft
from engine.run.importers.megatron_checks import (
    check_batch,
    check_experts,
    check_layers,
    check_world,
)
from tests.each import each

OF_THE_MODEL = ("num_layers", "num_experts", "num_attention_heads")


def job(notes=(), **sizes):
    section = {key: "model" if key in OF_THE_MODEL else "parallelism" for key in sizes}
    values = {f"{section[key]}.{key}": one for key, one in sizes.items()}
    return RunDraft(values=values, notes=dict(notes))


@each("world, fault", [(24, False), (48, False), (12, True), (36, True), (25, True)])
def test_gpus_are_a_multiple_of_what_the_degrees_take(world, fault):
    said = f"world size ({world}) is not divisible by total_model_size (total_model_size=24)"
    draft = job(tensor_parallel=2, pipeline_parallel=3, context_parallel=4)
    assert check_world(draft, world) == (said if fault else "")


NONE = "num_experts must be non None to use expert model parallelism"
SHARED = (
    "Number of experts should be a multiple of expert model parallel_size: {} experts, {} ranks"
)


@each(
    "sizes, said",
    [
        ({"num_layers": 4, "expert_parallel": 2}, NONE),
        ({"num_layers": 4, "expert_parallel": 2, "num_experts": 0}, NONE),
        ({"num_layers": 4, "expert_parallel": 1}, ""),
        # A named model is asked for its experts elsewhere.
        ({"expert_parallel": 2}, ""),
        ({"num_layers": 4, "expert_parallel": 2, "num_experts": 8}, ""),
        ({"num_layers": 4, "expert_parallel": 8, "num_experts": 8}, ""),
        ({"num_layers": 4, "expert_parallel": 2, "num_experts": 9}, SHARED.format(9, 2)),
        ({"num_layers": 4, "expert_parallel": 16, "num_experts": 8}, SHARED.format(8, 16)),
    ],
)
def test_experts_are_a_multiple_of_the_ranks_that_share_them(sizes, said):
    assert check_experts(job(**sizes), 64) == said


@each("world, fault", [(24, False), (72, False), (12, True), (28, True)])
def test_gpus_are_a_multiple_of_what_the_experts_take(world, fault):
    said = (
        f"world_size ({world}) is not divisible by expert_tensor_model_pipeline_parallel size (24)"
    )
    draft = job(expert_parallel=2, expert_tensor_parallel=3, pipeline_parallel=4)
    assert check_experts(draft, world) == (said if fault else "")


@each("batch, fault", [(24, False), (48, False), (12, True), (36, True)])
def test_a_batch_is_a_multiple_of_what_the_ranks_take(batch, fault):
    said = (
        f"global batch size ({batch}) is not divisible by micro batch size (3) times data "
        "parallel size (8)"
    )
    sizes = {"training.micro_batch_size": 3, "training.global_batch_size": batch}
    assert check_batch(RunDraft(values=sizes), 8) == (said if fault else "")


@each("heads, fault", [(8, False), (64, False), (9, True), (4, True)])
def test_heads_are_a_multiple_of_the_ranks_that_share_a_layer(heads, fault):
    said = f"num_attention_heads ({heads}) must be a multiple of tensor_model_parallel_size (8)."
    draft = job(num_attention_heads=heads, tensor_parallel=8)
    assert check_layers(draft) == (said if fault else "")


def test_heads_and_layers_of_a_named_model_are_not_counted_here():
    assert check_layers(job(tensor_parallel=8, pipeline_parallel=3)) == ""
    assert check_layers(job(num_layers=0, pipeline_parallel=3)) == ""


@each("layers, stages, fault", [(24, 4, False), (25, 4, True), (3, 2, True), (4, 2, False),
                                (2, 4, True), (25, 1, False)])  # fmt: skip
def test_layers_are_a_multiple_of_the_stages(layers, stages, fault):
    said = (
        "Number of layers should be divisible by the pipeline-model-parallel size: "
        f"{layers} layers, {stages} stages"
    )
    draft = job(num_layers=layers, pipeline_parallel=stages)
    assert check_layers(draft) == (said if fault else "")


def test_without_stages_no_layers_are_cut():
    assert check_layers(job(num_layers=25, pipeline_parallel=1, virtual_pipeline=2)) == ""


PIECE = "num-layers-per-virtual-pipeline-stage"


@each(
    "layers, each_piece, said",
    [
        (24, 3, ""),
        (24, 6, ""),
        (24, 0, ""),
        (24, 4, "number of layers per pipeline stage must be divisible number of layers per virtual"
         " pipeline stage: 6 layers, 4 in each"),
        (24, 12, "number of layers per pipeline stage must be divisible number of layers per "
         "virtual pipeline stage: 6 layers, 12 in each"),
        (25, 3, "number of layers of the model must be divisible pipeline model parallel size: "
         "25 layers, 4 stages"),
    ],
)  # fmt: skip
def test_layers_of_a_stage_are_a_multiple_of_those_of_a_piece(layers, each_piece, said):
    draft = job({PIECE: each_piece}, num_layers=layers, pipeline_parallel=4)
    assert check_layers(draft) == said


@each("virtual, fault", [(1, False), (2, False), (3, False), (6, False), (4, True), (12, True)])
def test_layers_of_a_stage_are_a_multiple_of_its_pieces(virtual, fault):
    said = f"num_layers_per_pipeline_rank 6 should be divisible by vp_size {virtual}"
    draft = job(num_layers=24, pipeline_parallel=4, virtual_pipeline=virtual)
    assert check_layers(draft) == (said if fault else "")


@each("counted, fault", [(2, False), (1, True), (0, True)])
def test_the_embedding_and_the_loss_may_count_as_layers(counted, fault):
    draft = job({"counted_as_layers": counted}, num_layers=30, pipeline_parallel=4)
    said = f"{30 + counted} layers, 4 stages"
    assert check_layers(draft).endswith(said if fault else "")
    assert bool(check_layers(draft)) is fault


@each("pieces, fault", [(4, False), (8, False), (2, True), (6, True), (5, True)])
def test_the_pieces_of_a_layout_are_a_multiple_of_the_stages(pieces, fault):
    said = (
        "The length of pipeline_model_parallel_layout must be divisible by "
        f"pipeline_model_parallel_size (num_stages={pieces}, args.pipeline_model_parallel_size=4)"
    )
    # The layers themselves need not divide then.
    draft = job(num_layers=25, pipeline_parallel=4, pipeline_layout=[5] * pieces)
    assert check_layers(draft) == (said if fault else "")
