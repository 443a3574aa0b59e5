"""What arguments of Megatron-LM and overrides of Megatron-Bridge say of a run, one by one."""

from engine.catalog.models import MODELS
from engine.run.exporters.megatron import bridge_overrides, megatron_arguments
from engine.run.file import read_run
from engine.run.importers.assemble import DGX_H100
from tests.each import each


def run_of(plan=(), model="llama-3-8b", gpu="H100-SXM", **training):
    settings = {"micro_batch_size": 1, "global_batch_size": 64, "precision": "bf16"}
    document = {
        "model": model,
        "sequence_length": 4096,
        "cluster": DGX_H100 | {"gpu": gpu},
        "parallelism": {"world_size": 16} | dict(plan),
        "training": settings | training,
    }
    return read_run(document)


def words(text):
    return text.replace(" \\\n   ", "").rstrip("\n")


def arguments(*given, **training):
    """Return argument -> value, True for a switch."""
    _, *parts = words(megatron_arguments(run_of(*given, **training))).split("pretrain_gpt.py")
    pairs = (part.partition(" ") for part in parts[-1].strip().removeprefix("--").split(" --"))
    return {name: value or True for name, _, value in pairs}


@each("world, start", [(16, "--nproc_per_node 8 --nnodes 2"), (4, "--nproc_per_node 4 --nnodes 1"),
                       (8, "--nproc_per_node 8 --nnodes 1")])  # fmt: skip
def test_a_launch_has_the_nodes_of_the_run(world, start):
    run = run_of({"world_size": world})
    assert megatron_arguments(run).startswith(f"torchrun {start} pretrain_gpt.py \\\n    --num-")
    same = start.replace("node ", "node=", 1)
    assert bridge_overrides(run).startswith(f"torchrun {same} run_recipe.py \\\n    model.")
    named = bridge_overrides(run, "llama3_8b")
    assert named.startswith(
        f"torchrun {same} run_recipe.py --recipe llama3_8b_pretrain_config \\\n"
    )


SHARDING = ("use-distributed-optimizer", "use-megatron-fsdp", "data-parallel-sharding-strategy")


@each("stage, said", [(0, [None, None, None]), (1, [True, None, None]),
                      (2, [None, True, "optim_grads"]),
                      (3, [None, True, "optim_grads_params"])])  # fmt: skip
def test_a_stage_is_the_optimizer_or_megatron_fsdp(stage, said):
    found = arguments({"zero_stage": stage})
    assert [found.get(name) for name in SHARDING] == said


GRANULARITY = ("recompute-granularity", "recompute-method", "recompute-num-layers")


@each("given, said, modules", [
    ("none", [None, None, None], None), ("full", ["full", "uniform", "1"], None),
    ("selective", ["selective", None, None], None),
    (["mlp", "moe_act"], ["selective", None, None], "mlp moe_act")])  # fmt: skip
def test_recomputation_is_a_granularity(given, said, modules):
    found = arguments(recompute=given)
    assert [found.get(name) for name in GRANULARITY] == said
    assert found.get("recompute-modules") == modules


@each(
    "training, name, value",
    [
        ({}, "bf16", True),
        ({"precision": "fp16"}, "fp16", True),
        ({"precision": "fp16"}, "bf16", None),
        ({"precision": "fp8"}, "fp8-format", "e4m3"),
        ({"precision": "fp8"}, "bf16", True),
        ({"precision": "fp4"}, "fp4-format", "e2m1"),
        ({"precision": "fp4"}, "fp8-format", None),
        ({}, "fp8-format", None),
        ({"precision": "fp8", "quantized_weights": True}, "fp8-param-gather", True),
        ({"precision": "fp8"}, "fp8-param-gather", None),
        ({}, "overlap-grad-reduce", True),
        ({"overlap_gradient_reduce": False}, "overlap-grad-reduce", None),
        ({"overlap_tensor_parallel": True}, "tp-comm-overlap", None),
        ({"gradient_precision": "bf16"}, "grad-reduce-in-bf16", True),
        ({"gradient_precision": "fp32"}, "grad-reduce-in-bf16", None),
        ({"optimizer": "muon"}, "optimizer", "muon"),
        ({}, "optimizer", None),
    ],
)
def test_a_setting_is_an_argument_or_none(training, name, value):
    assert arguments(**training).get(name) == value


@each(
    "plan, name, value",
    [
        ({"tensor_parallel": 2}, "sequence-parallel", True),
        ({"tensor_parallel": 2, "sequence_parallel": False}, "sequence-parallel", None),
        ({"pipeline_parallel": 2}, "num-virtual-stages-per-pipeline-rank", None),
        ({"pipeline_parallel": 2, "virtual_pipeline": 2},
         "num-virtual-stages-per-pipeline-rank", "2"),
        ({"pipeline_parallel": 2, "pipeline_layout": [20, 12]},
         "pipeline-model-parallel-layout", '"Et*20|t*12L"'),
        ({}, "expert-model-parallel-size", None),
    ],
)  # fmt: skip
def test_a_degree_is_an_argument_or_none(plan, name, value):
    assert arguments(plan).get(name) == value


def test_tensor_parallelism_overlaps_where_there_is_any():
    found = arguments({"tensor_parallel": 2}, overlap_tensor_parallel=True)
    assert (found["tp-comm-overlap"], found["tensor-model-parallel-size"]) == (True, "2")


def test_layers_without_experts_are_a_frequency():
    found = arguments({"expert_parallel": 8}, model="deepseek-v3")
    model = MODELS["deepseek-v3"]
    assert (model.num_layers, model.num_dense_layers) == (61, 3)
    assert found["moe-layer-freq"] == '"([0]*3+[1]*58)"'
    assert found["expert-model-parallel-size"] == "8"
    # 128 + 64 of a head, of which 64 are rotary; one shared expert of 2048.
    sizes = {"qk-head-dim": "128", "qk-pos-emb-head-dim": "64", "q-lora-rank": "1536"}
    shared = {"moe-shared-expert-intermediate-size": "2048", "mtp-num-layers": "1"}
    assert found | sizes | shared == found
    assert arguments(model="llama-4-maverick")["moe-layer-freq"] == "2"
    assert "moe-layer-freq" not in arguments(model="mixtral-8x7b")


@each(
    "training, said",
    [
        ({}, ["mixed_precision=bf16_mixed"]),
        ({"precision": "fp16"}, ["mixed_precision=fp16_mixed"]),
        ({"precision": "fp8", "quantized_weights": True},
         ["mixed_precision=bf16_with_fp8_current_scaling_mixed"]),
        ({"precision": "fp8"}, ["mixed_precision=bf16_with_fp8_current_scaling_mixed",
                                "mixed_precision.fp8_param_gather=false"]),
        ({"precision": "fp4", "quantized_weights": True},
         ["mixed_precision=bf16_with_nvfp4_mixed"]),
    ],
)  # fmt: skip
def test_a_recipe_has_a_mixed_precision(training, said):
    parts = words(bridge_overrides(run_of(**training))).split()
    assert [part for part in parts if part.startswith("mixed_precision")] == said


def test_overrides_have_no_switch_of_the_launcher_and_lists_in_brackets():
    run = run_of({"zero_stage": 3, "tensor_parallel": 2}, recompute=["mlp", "moe_act"])
    parts = words(bridge_overrides(run)).split()
    assert "model.recompute_modules=[mlp,moe_act]" in parts
    assert "model.sequence_parallel=true" in parts
    assert not [part for part in parts if "use_" in part or "data_parallel" in part]
    assert not [part for part in parts if part.startswith(("model.bf16", "model.fp8_format"))]
