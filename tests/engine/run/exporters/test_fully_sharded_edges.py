"""What configurations of torchtitan, DeepSpeed and accelerate say of a run, key by key."""

import json
import tomllib

from engine.run.exporters import fully_sharded
from engine.run.exporters.stage_layout import format_layout
from engine.run.file import read_run
from engine.run.importers.assemble import DGX_H100
from tests.each import each


def run_of(plan=(), model="llama-3-8b", **training):
    settings = {"micro_batch_size": 2, "global_batch_size": 64, "precision": "bf16"}
    document = {
        "model": model,
        "sequence_length": 4096,
        "cluster": DGX_H100,
        "parallelism": {"world_size": 16} | dict(plan),
        "training": settings | {"framework": "fsdp"} | training,
    }
    return read_run(document)


def toml(*given, **training):
    return tomllib.loads(fully_sharded.torchtitan_toml(run_of(*given, **training)))


REPLICAS, SHARDS = "data_parallel_replicate_degree", "data_parallel_shard_degree"
CUT = {"pipeline_parallel_schedule": "1F1B", "pipeline_parallel_microbatch_size": 2}


@each(
    "plan, degrees",
    [
        ({"zero_stage": 3}, {REPLICAS: 1, SHARDS: 16}),
        ({"world_size": 2, "tensor_parallel": 2}, {REPLICAS: 1, SHARDS: 1}),
        ({"zero_stage": 3, "shard_group": 4}, {REPLICAS: 4, SHARDS: 4}),
        ({"zero_stage": 3, "context_parallel": 2}, {REPLICAS: 1, SHARDS: 8}),
        ({"zero_stage": 3, "context_parallel": 2, "shard_group": 8}, {REPLICAS: 2, SHARDS: 4}),
        ({"zero_stage": 3, "tensor_parallel": 4}, {REPLICAS: 1, SHARDS: 4}),
        ({"zero_stage": 3, "pipeline_parallel": 2}, {REPLICAS: 1, SHARDS: 8} | CUT),
    ],
)
def test_degrees_of_torchtitan_are_those_of_the_plan(plan, degrees):
    names = ("tensor", "pipeline", "context")
    own = {f"{one}_parallel_degree": plan.get(f"{one}_parallel", 1) for one in names}
    assert toml(plan)["parallelism"] == degrees | own


def test_experts_and_overlap_are_told_where_there_are_any():
    plan = {"zero_stage": 3, "expert_parallel": 8}
    assert toml(plan, model="mixtral-8x7b")["parallelism"]["expert_parallel_degree"] == 8
    overlap = {"overlap_tensor_parallel": True}
    split = {"zero_stage": 3, "tensor_parallel": 2}
    key = "enable_async_tensor_parallel"
    assert toml(split, **overlap)["parallelism"][key] is True
    assert key not in toml(split)["parallelism"]
    assert key not in toml({"zero_stage": 3}, **overlap)["parallelism"]


@each("plan, local", [({"zero_stage": 3}, 2), ({"zero_stage": 3, "pipeline_parallel": 2}, 8)])
def test_a_local_batch_is_what_a_pipeline_cuts(plan, local):
    # 64 sequences over 8 data-parallel ranks where there are two stages.
    batch = {"local_batch_size": local, "global_batch_size": 64, "seq_len": 4096}
    assert toml(plan)["training"] == batch
    run = run_of(plan)
    tokens = fully_sharded.torchtitan_python(run, tokens=True)
    assert f"num_tokens_per_microbatch_per_dp_rank={4096 * local}, " in tokens
    assert "max_context_length=4096, " in tokens
    assert f"num_tokens_per_train_step={4096 * 64})" in tokens
    python = fully_sharded.torchtitan_python(run)
    assert f"(local_batch_size={local}, global_batch_size=64, seq_len=4096)" in python


@each("precision, found", [("fp8", ["float8"]), ("bf16", None)])
def test_products_in_eight_bits_are_a_converter(precision, found):
    model = toml({"zero_stage": 3}, precision=precision)["model"]
    assert model.get("converters") == found
    assert (model["name"], model["flavor"]) == ("llama3", "8B")


@each(
    "given, mode, kind",
    [
        ("full", "full", "FullAC"),
        ("selective", "selective", "SelectiveAC"),
        (["mlp"], "selective", "SelectiveAC"),
        ("none", "none", "NoAC"),
    ],
)
def test_recomputation_is_a_mode_or_a_class(given, mode, kind):
    assert toml({"zero_stage": 3}, recompute=given)["activation_checkpoint"] == {"mode": mode}
    text = fully_sharded.torchtitan_python(run_of({"zero_stage": 3}, recompute=given))
    assert f"activation_checkpoint={kind}.Config()," in text


@each("compiled", [True, False])
def test_compilation_is_told(compiled):
    assert toml({"zero_stage": 3}, compiled=compiled)["compile"] == {"enable": compiled}


@each(
    "plan, precision, others",
    [
        ({"zero_stage": 2}, "bf16", {"gradient_accumulation_steps": 2}),
        ({"zero_stage": 2, "tensor_parallel": 2}, "fp16",
         {"gradient_accumulation_steps": 4, "tensor_parallel": {"autotp_size": 2}}),
        ({"zero_stage": 3, "context_parallel": 2, "shard_group": 4}, "bf16",
         {"gradient_accumulation_steps": 4}),
    ],
)  # fmt: skip
def test_deepspeed_is_told_the_batch_and_the_stage(plan, precision, others):
    training = {"framework": "deepspeed", "precision": precision}
    text = fully_sharded.deepspeed_json(run_of(plan, **training))
    group = {"mics_shard_size": 4} if "shard_group" in plan else {}
    assert json.loads(text) == others | {
        "train_batch_size": 64,
        "train_micro_batch_size_per_gpu": 2,
        "zero_optimization": {"stage": plan["zero_stage"], "overlap_comm": True} | group,
        precision: {"enabled": True},
    }


@each(
    "plan, recompute, said",
    [
        ({"zero_stage": 3}, "full", ["true", "true", 2, 16, 1, 16, 1, 1]),
        ({"zero_stage": 2}, "none", ["false", "false", 2, 16, 1, 16, 1, 1]),
        ({"zero_stage": 3, "world_size": 2, "tensor_parallel": 2}, "none",
         ["true", "false", 1, 2, 1, 1, 2, 1]),
        ({"zero_stage": 3, "world_size": 4}, "none", ["true", "false", 1, 4, 1, 4, 1, 1]),
        ({"zero_stage": 3, "shard_group": 4, "tensor_parallel": 2}, "none",
         ["true", "false", 2, 16, 2, 4, 2, 1]),
        ({"zero_stage": 3, "shard_group": 8, "context_parallel": 2}, "none",
         ["true", "false", 2, 16, 2, 4, 1, 2]),
    ],
)  # fmt: skip
def test_accelerate_is_told_degrees_and_sharding(plan, recompute, said):
    text = fully_sharded.accelerate_yaml(run_of(plan, recompute=recompute))
    told = dict(line.strip().split(": ") for line in text.splitlines() if ": " in line)
    sizes = [f"parallelism_config_{one}_size" for one in ("dp_replicate", "dp_shard", "tp", "cp")]
    start = ["fsdp_reshard_after_forward", "fsdp_activation_checkpointing"]
    keys = [*start, "num_machines", "num_processes", *sizes]
    assert [told[key] for key in keys] == [str(one) for one in said]


@each(
    "plan, shape, names, kept",
    [
        ({"zero_stage": 3}, "(16,)", '("shard",)', False),
        ({"zero_stage": 2}, "(16,)", '("shard",)', True),
        ({"zero_stage": 3, "shard_group": 4}, "(4, 4)", '("replicate", "shard")', False),
        ({"zero_stage": 3, "shard_group": 16}, "(16,)", '("shard",)', False),
    ],
)
def test_code_of_fsdp2_has_the_mesh_of_the_plan(plan, shape, names, kept):
    code = fully_sharded.fsdp2_code(run_of(plan))
    assert f'init_device_mesh("cuda", {shape}, mesh_dim_names={names})' in code
    assert code.count(f"reshard_after_forward={not kept})") == 2


@each("layers, text", [((2, 1), "Et*2|tL"), ((0, 1, 0), "E|t|L"), ((3,), "Et*3L"),
                       ((1, 2, 0, 1), "Et|t*2||tL")])  # fmt: skip
def test_a_layout_names_the_layers_of_each_stage(layers, text):
    assert format_layout(layers) == text
