"""Divisibility checks of a run file, each problem with the path of its key."""

from engine.catalog.models import Model
from engine.run.parallelism import V_SHAPED, Plan, Training


def indivisible_sizes(model: Model, plan: Plan, training: Training) -> list[str]:
    """Return the sizes that do not divide, which no training software accepts."""
    heads = model.num_attention_heads
    parts = plan.tensor_parallel * plan.pipeline_parallel * plan.context_parallel
    if plan.world_size % parts:
        return [
            f"parallelism.world_size: {plan.world_size}; allowed: a multiple of tensor_parallel x "
            f"pipeline_parallel x context_parallel = {parts}"
        ]
    problems = []
    sequences = training.micro_batch_size * plan.world_size // parts
    if training.global_batch_size % sequences:
        problems.append(
            f"training.global_batch_size: {training.global_batch_size}; allowed: a multiple of "
            f"micro_batch_size x data-parallel ranks = {sequences}"
        )
    if heads % plan.tensor_parallel:
        problems.append(
            f"parallelism.tensor_parallel: {plan.tensor_parallel}; allowed: a divisor of the "
            f"{heads} attention heads"
        )
    if heads % model.num_key_value_heads:
        problems.append(
            f"model.num_key_value_heads: {model.num_key_value_heads}; allowed: a divisor of the "
            f"{heads} attention heads"
        )
    if plan.pipeline_parallel * plan.virtual_pipeline > model.num_layers + 2:
        problems.append(
            f"parallelism.pipeline_parallel: {plan.pipeline_parallel}; allowed: with "
            f"virtual_pipeline {plan.virtual_pipeline} at most as many virtual stages as "
            f"{model.num_layers} layers"
        )
    return (
        problems
        + _expert_problems(model, plan)
        + _group_problems(plan, training)
        + _layout_problems(model, plan, training)
    )


def _expert_problems(model: Model, plan: Plan) -> list[str]:
    experts, ranks = model.num_experts, plan.expert_parallel
    problems = []
    if ranks > 1 and (not experts or experts % ranks):
        problems.append(
            f"parallelism.expert_parallel: {ranks}; allowed: "
            + (f"a divisor of the {experts} experts" if experts else "1, there are no experts")
        )
    elif plan.expert_tensor_parallel > 1 and not experts:
        problems.append(
            f"parallelism.expert_tensor_parallel: {plan.expert_tensor_parallel}; allowed: 1, there "
            "are no experts"
        )
    elif plan.world_size // plan.pipeline_parallel % (ranks * plan.expert_tensor_parallel):
        split = plan.expert_tensor_parallel
        problems.append(
            f"parallelism.expert_tensor_parallel: {split}; allowed: such that with "
            f"expert_parallel {ranks} it divides the "
            f"{plan.world_size // plan.pipeline_parallel} ranks of a pipeline stage"
            if split > 1
            else f"parallelism.expert_parallel: {ranks}; allowed: a divisor of the "
            f"{plan.world_size // plan.pipeline_parallel} ranks of a pipeline stage"
        )
    each, width = model.experts_per_token, model.expert_ffn_hidden_size
    if experts and not each and not width:
        problems.append(
            f"model.experts_per_token: 0, expert_ffn_hidden_size: 0; allowed: 1 to {experts}, and "
            "1 or more, there are experts"
        )
    elif experts and not 1 <= each <= experts:
        problems.append(f"model.experts_per_token: {each}; allowed: 1 to {experts}")
    elif experts and not width:
        problems.append("model.expert_ffn_hidden_size: 0; allowed: 1 or more, there are experts")
    if experts and model.num_dense_layers > model.num_layers:
        problems.append(
            f"model.num_dense_layers: {model.num_dense_layers}; allowed: at most "
            f"{model.num_layers} layers"
        )
    return problems


def _group_problems(plan: Plan, training: Training) -> list[str]:
    problems = []
    ranks = plan.world_size // (plan.tensor_parallel * plan.pipeline_parallel)
    if plan.shard_group and ranks % plan.shard_group:
        problems.append(
            f"parallelism.shard_group: {plan.shard_group}; allowed: 0, or a divisor of the "
            f"{ranks} data-parallel ranks"
        )
    if training.sequence_length % plan.context_parallel:
        problems.append(
            f"sequence_length: {training.sequence_length}; allowed: a multiple of "
            f"context_parallel = {plan.context_parallel}"
        )
    if plan.virtual_pipeline > 1 and plan.pipeline_parallel == 1:
        problems.append(
            f"parallelism.virtual_pipeline: {plan.virtual_pipeline}; allowed: 1 where "
            "pipeline_parallel is 1"
        )
    return problems


def _layout_problems(model: Model, plan: Plan, training: Training) -> list[str]:
    """Return the problems of a hand-cut pipeline layout."""
    sizes = plan.stage_layers
    if not sizes:
        return []
    pieces = plan.pipeline_parallel * plan.virtual_pipeline
    path = "parallelism.pipeline_layout"
    if len(sizes) != pieces:
        return [
            f"{path}: {len(sizes)} virtual stages; allowed: pipeline_parallel x virtual_pipeline = "
            f"{pieces}"
        ]
    if sum(sizes) != model.num_layers:
        return [f"{path}: {sum(sizes)} layers in all; allowed: the model's {model.num_layers}"]
    if training.schedule in (*V_SHAPED, "dualpipe"):
        return [
            f"{path}: {len(sizes)} virtual stages; allowed: none with schedule {training.schedule}"
        ]
    return []
