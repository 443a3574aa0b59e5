"""A run as configurations of torchtitan, DeepSpeed, accelerate, and as code with FSDP2.

torchtitan: TOML up to 0.2.2, Python of 0.3.0, and the main branch, which counts batches in tokens.
Neither of them says the model beyond its name; DeepSpeed and accelerate not even that.
"""

import json

from engine.run.run import Run

_SCHEDULES = {
    "gpipe": "GPipe",
    "1f1b": "1F1B",
    "interleaved": "Interleaved1F1B",
    "zb-1p": "InterleavedZeroBubble",
    "zbv": "ZBVZeroBubble",
    "dualpipe": "DualPipeV",
}


def _degrees(run: Run) -> dict[str, object]:
    plan = run.plan
    sharded = plan.shard_group or plan.data_parallel * plan.context_parallel
    shard = max(1, sharded // plan.context_parallel)
    degrees: dict[str, object] = {
        "data_parallel_replicate_degree": plan.data_parallel // shard,
        "data_parallel_shard_degree": shard,
        "tensor_parallel_degree": plan.tensor_parallel,
        "pipeline_parallel_degree": plan.pipeline_parallel,
        "context_parallel_degree": plan.context_parallel,
    }
    if run.model.num_experts:
        degrees["expert_parallel_degree"] = plan.expert_parallel
    if plan.pipeline_parallel > 1:
        degrees["pipeline_parallel_schedule"] = _SCHEDULES.get(run.training.schedule, "1F1B")
        degrees["pipeline_parallel_microbatch_size"] = run.training.micro_batch_size
    if run.training.overlap_tensor_parallel and plan.tensor_parallel > 1:
        degrees["enable_async_tensor_parallel"] = True
    return degrees


def _local_batch(run: Run) -> int:
    """Return the sequences of a rank's local batch: a pipeline cuts it into micro-batches."""
    ranks = run.plan.data_parallel
    whole = run.training.global_batch_size // ranks
    return whole if run.plan.pipeline_parallel > 1 else run.training.micro_batch_size


def torchtitan_toml(run: Run, family: str = "llama3", flavor: str = "8B") -> str:
    """Return a TOML of torchtitan up to 0.2.2."""
    training = run.training
    lines = ["[model]", f'name = "{family}"', f'flavor = "{flavor}"']
    if training.precision == "fp8":
        lines.append('converters = ["float8"]')
    lines += ["", "[training]", f"local_batch_size = {_local_batch(run)}"]
    lines += [f"global_batch_size = {training.global_batch_size}"]
    lines += [f"seq_len = {training.sequence_length}", "", "[parallelism]"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in _degrees(run).items()]
    lines += ["", "[compile]", f"enable = {json.dumps(training.compiled)}"]
    lines += ["", "[activation_checkpoint]", f'mode = "{_mode(run)}"']
    return "\n".join(lines) + "\n"


def _mode(run: Run) -> str:
    return "selective" if run.training.recompute == "modules" else run.training.recompute


def torchtitan_python(
    run: Run, family: str = "llama3", flavor: str = "8B", *, tokens: bool = False
) -> str:
    """Return a configuration function of torchtitan 0.3.0; `tokens`: of the main branch."""
    training = run.training
    degrees = ", ".join(f"{key}={value!r}" for key, value in _degrees(run).items())
    length, local = training.sequence_length, _local_batch(run)
    batch = (
        f"max_context_length={length}, num_tokens_per_microbatch_per_dp_rank={length * local}, "
        f"num_tokens_per_train_step={length * training.global_batch_size}"
        if tokens
        else f"local_batch_size={local}, global_batch_size={training.global_batch_size}, "
        f"seq_len={length}"
    )
    lines = [
        f"def {family}_{flavor.lower().replace('-', '_')}() -> Trainer.Config:",
        "    return Trainer.Config(",
        f'        model_spec=model_registry("{flavor}"),',
        f"        training=TrainingConfig({batch}),",
        f"        parallelism=ParallelismConfig({degrees}),",
    ]
    if training.recompute != "none":
        kind = "FullAC" if training.recompute == "full" else "SelectiveAC"
        lines.append(f"        activation_checkpoint={kind}.Config(),")
    else:
        lines.append("        activation_checkpoint=NoAC.Config(),")
    lines.append(f"        compile=CompileConfig(enable={training.compiled}),")
    return "\n".join([*lines, "    )"]) + "\n"


def deepspeed_json(run: Run) -> str:
    """Return a DeepSpeed JSON: batch, ZeRO stage, precision, tensor parallelism."""
    training, plan = run.training, run.plan
    ranks = plan.world_size // (plan.tensor_parallel * plan.context_parallel)
    config: dict[str, object] = {
        "train_batch_size": training.global_batch_size,
        "train_micro_batch_size_per_gpu": training.micro_batch_size,
        "gradient_accumulation_steps": training.global_batch_size
        // (training.micro_batch_size * ranks),
        "zero_optimization": {
            "stage": plan.zero_stage,
            "overlap_comm": training.overlap_gradient_reduce,
        }
        | ({"mics_shard_size": plan.shard_group} if plan.shard_group else {}),
        "fp16" if training.precision == "fp16" else "bf16": {"enabled": True},
    }
    if plan.tensor_parallel > 1:
        config["tensor_parallel"] = {"autotp_size": plan.tensor_parallel}
    return json.dumps(config, indent=2) + "\n"


def accelerate_yaml(run: Run) -> str:
    """Return the YAML of accelerate for FSDP2; the batch stays in the script."""
    plan, training = run.plan, run.training
    sharded = plan.shard_group or plan.data_parallel * plan.context_parallel
    shard = max(1, sharded // plan.context_parallel)
    nodes = max(1, plan.world_size // run.cluster.gpus_per_node)
    lines = [
        "compute_environment: LOCAL_MACHINE",
        "distributed_type: FSDP",
        "fsdp_config:",
        "  fsdp_version: 2",
        f"  fsdp_reshard_after_forward: {str(plan.zero_stage >= 3).lower()}",
        f"  fsdp_activation_checkpointing: {str(training.recompute == 'full').lower()}",
        f"mixed_precision: {training.precision}",
        f"num_machines: {nodes}",
        f"num_processes: {plan.world_size}",
        "parallelism_config:",
        f"  parallelism_config_dp_replicate_size: {plan.data_parallel // shard}",
        f"  parallelism_config_dp_shard_size: {shard}",
        f"  parallelism_config_tp_size: {plan.tensor_parallel}",
        f"  parallelism_config_cp_size: {plan.context_parallel}",
    ]
    return "\n".join(lines) + "\n"


def fsdp2_code(run: Run) -> str:
    """Return the code that shards a model of `model.layers` with FSDP2 (PyTorch 2.6 and later)."""
    plan = run.plan
    ranks = plan.data_parallel
    shard = min(plan.shard_group or ranks, ranks)
    names = '("replicate", "shard")' if shard < ranks else '("shard",)'
    shape = f"({ranks // shard}, {shard})" if shard < ranks else f"({ranks},)"
    return f"""import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

mesh = init_device_mesh("cuda", {shape}, mesh_dim_names={names})
policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
for layer in model.layers:
    fully_shard(layer, mesh=mesh, mp_policy=policy, reshard_after_forward={plan.zero_stage >= 3})
fully_shard(model, mesh=mesh, mp_policy=policy, reshard_after_forward={plan.zero_stage >= 3})
"""
