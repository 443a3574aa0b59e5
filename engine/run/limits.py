"""What no software would run: sizes of a run file that do not divide, by the path of the key."""

from engine.catalog.models import Model
from engine.run.parallelism import V_SHAPED, Plan, Training


def impossible(model: Model, plan: Plan, training: Training) -> list[str]:
    """Return what no software would run: sizes that do not divide."""
    heads = model.num_attention_heads
    parts = plan.tensor_parallel * plan.pipeline_parallel * plan.context_parallel
    if plan.world_size % parts:
        return [
            f"parallelism.world_size: {plan.world_size}; allowed: a multiple of tensor_parallel x "
            f"pipeline_parallel x context_parallel = {parts}"
        ]
    found = []
    sequences = training.micro_batch_size * plan.world_size // parts
    if training.global_batch_size % sequences:
        found.append(
            f"training.global_batch_size: {training.global_batch_size}; allowed: a multiple of "
            f"micro_batch_size x data-parallel ranks = {sequences}"
        )
    if heads % plan.tensor_parallel:
        found.append(
            f"parallelism.tensor_parallel: {plan.tensor_parallel}; allowed: a divisor of the "
            f"{heads} attention heads"
        )
    if heads % model.num_key_value_heads:
        found.append(
            f"model.num_key_value_heads: {model.num_key_value_heads}; allowed: a divisor of the "
            f"{heads} attention heads"
        )
    if plan.pipeline_parallel * plan.virtual_pipeline > model.num_layers + 2:
        found.append(
            f"parallelism.pipeline_parallel: {plan.pipeline_parallel}; allowed: with "
            f"virtual_pipeline {plan.virtual_pipeline} at most as many pieces as "
            f"{model.num_layers} layers"
        )
    return found + _experts(model, plan) + _groups(plan, training) + _layout(model, plan, training)


def _experts(model: Model, plan: Plan) -> list[str]:
    experts, ranks = model.num_experts, plan.expert_parallel
    found = []
    if ranks > 1 and (not experts or experts % ranks):
        found.append(
            f"parallelism.expert_parallel: {ranks}; allowed: "
            + (f"a divisor of the {experts} experts" if experts else "1, there are no experts")
        )
    elif plan.expert_tensor_parallel > 1 and not experts:
        found.append(
            f"parallelism.expert_tensor_parallel: {plan.expert_tensor_parallel}; allowed: 1, there "
            "are no experts"
        )
    elif plan.world_size // plan.pipeline_parallel % (ranks * plan.expert_tensor_parallel):
        split = plan.expert_tensor_parallel
        found.append(
            f"parallelism.expert_tensor_parallel: {split}; allowed: such that with "
            f"expert_parallel {ranks} it divides the "
            f"{plan.world_size // plan.pipeline_parallel} ranks of a pipeline stage"
            if split > 1
            else f"parallelism.expert_parallel: {ranks}; allowed: a divisor of the "
            f"{plan.world_size // plan.pipeline_parallel} ranks of a pipeline stage"
        )
    each, width = model.experts_per_token, model.expert_ffn_hidden_size
    if experts and not each and not width:
        found.append(
            f"model.experts_per_token: 0, expert_ffn_hidden_size: 0; allowed: 1 to {experts}, and "
            "1 or more, there are experts"
        )
    elif experts and not 1 <= each <= experts:
        found.append(f"model.experts_per_token: {each}; allowed: 1 to {experts}")
    elif experts and not width:
        found.append("model.expert_ffn_hidden_size: 0; allowed: 1 or more, there are experts")
    if experts and model.num_dense_layers > model.num_layers:
        found.append(
            f"model.num_dense_layers: {model.num_dense_layers}; allowed: at most "
            f"{model.num_layers} layers"
        )
    return found


def _groups(plan: Plan, training: Training) -> list[str]:
    found = []
    ranks = plan.world_size // (plan.tensor_parallel * plan.pipeline_parallel)
    if plan.shard_group and ranks % plan.shard_group:
        found.append(
            f"parallelism.shard_group: {plan.shard_group}; allowed: 0, or a divisor of the "
            f"{ranks} data-parallel ranks"
        )
    if training.sequence_length % plan.context_parallel:
        found.append(
            f"sequence_length: {training.sequence_length}; allowed: a multiple of "
            f"context_parallel = {plan.context_parallel}"
        )
    if plan.virtual_pipeline > 1 and plan.pipeline_parallel == 1:
        found.append(
            f"parallelism.virtual_pipeline: {plan.virtual_pipeline}; allowed: 1 where "
            "pipeline_parallel is 1"
        )
    return found


def _layout(model: Model, plan: Plan, training: Training) -> list[str]:
    """Return what is wrong with a pipeline cut by hand."""
    sizes = plan.stage_layers
    if not sizes:
        return []
    pieces = plan.pipeline_parallel * plan.virtual_pipeline
    path = "parallelism.pipeline_layout"
    if len(sizes) != pieces:
        return [
            f"{path}: {len(sizes)} pieces; allowed: pipeline_parallel x virtual_pipeline = {pieces}"
        ]
    if sum(sizes) != model.num_layers:
        return [f"{path}: {sum(sizes)} layers in all; allowed: the model's {model.num_layers}"]
    if training.schedule in (*V_SHAPED, "dualpipe"):
        return [f"{path}: {len(sizes)} pieces; allowed: none with schedule {training.schedule}"]
    return []
