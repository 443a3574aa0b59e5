"""Consistency checks between model, cluster, plan and training, in sentences."""

from collections.abc import Iterator

from engine.catalog.models import Model
from engine.core.units import Count
from engine.run.parallelism import Cluster, Plan, Training, num_microbatches


def problems(model: Model, cluster: Cluster, plan: Plan, training: Training) -> tuple[str, ...]:
    """Return the inconsistencies of a run as sentences; empty if the run is possible."""
    parts = plan.tensor_parallel * plan.pipeline_parallel * plan.context_parallel
    if plan.world_size % parts or not plan.world_size:
        return (
            f"world_size {plan.world_size} is not a multiple of tensor_parallel x "
            f"pipeline_parallel x context_parallel = {parts}.",
        )
    checks = (_software, _split_of_ranks, _split_of_model, _split_of_batch, _pipeline)
    return tuple(problem for check in checks for problem in check(model, cluster, plan, training))


def _software(model: Model, cluster: Cluster, plan: Plan, training: Training) -> Iterator[str]:
    if cluster.gpu.xla and training.framework != "xla":
        yield f"Programs for {cluster.gpu.name} are compiled by XLA: framework has to be xla."
    if not training.nf4_weights:
        return
    if not training.lora_rank:
        yield "Weights in NF4 are frozen: nf4_weights needs a lora_rank."
    if training.precision in ("fp8", "fp4"):
        yield f"Weights in NF4 are unpacked to 16 bits: precision {training.precision} is none."
    split = plan.tensor_parallel * plan.pipeline_parallel * plan.context_parallel
    if training.framework not in ("fsdp", "deepspeed") or split > 1:
        yield "Weights in NF4 are those of bitsandbytes: FSDP or DeepSpeed, data parallel alone."


def _split_of_ranks(
    model: Model, cluster: Cluster, plan: Plan, training: Training
) -> Iterator[str]:
    experts = plan.pipeline_parallel * plan.expert_parallel * plan.expert_tensor_parallel
    if model.num_experts and plan.world_size % experts:
        yield (
            f"world_size {plan.world_size} is not a multiple of pipeline_parallel x "
            f"expert_parallel x expert_tensor_parallel = {experts}."
        )
    sharded = plan.data_parallel * plan.context_parallel
    if plan.shard_group and sharded % plan.shard_group:
        yield f"shard_group {plan.shard_group} does not divide the {sharded} data-parallel ranks."
    if plan.world_size > cluster.gpus_per_node and plan.world_size % cluster.gpus_per_node:
        yield f"world_size {plan.world_size} fills no whole nodes of {cluster.gpus_per_node} GPUs."


def _split_of_model(
    model: Model, cluster: Cluster, plan: Plan, training: Training
) -> Iterator[str]:
    heads, tensor = model.num_attention_heads, plan.tensor_parallel
    key_value_heads = model.num_key_value_heads
    if not (model.head_size or model.hidden_size % heads == 0):
        yield f"hidden_size {model.hidden_size} is not a multiple of num_attention_heads {heads}."
    if heads % key_value_heads:
        yield (
            f"num_attention_heads {heads} is not a multiple of num_key_value_heads "
            f"{key_value_heads}."
        )
    if heads % tensor:
        yield f"tensor_parallel {tensor} does not divide num_attention_heads {heads}."
    if key_value_heads % tensor and tensor % key_value_heads:
        yield f"tensor_parallel {tensor} does not split {key_value_heads} key-value heads."
    if model.num_experts % plan.expert_parallel:
        yield f"expert_parallel {plan.expert_parallel} does not divide {model.num_experts} experts."
    if not model.num_experts and plan.expert_parallel > 1:
        yield f"expert_parallel {plan.expert_parallel} needs a model with experts."
    if model.experts_per_token > model.num_experts:
        yield (
            f"experts_per_token {model.experts_per_token} exceeds num_experts {model.num_experts}."
        )


def _split_of_batch(
    model: Model, cluster: Cluster, plan: Plan, training: Training
) -> Iterator[str]:
    sequences = training.micro_batch_size * plan.data_parallel
    if training.global_batch_size % sequences:
        yield (
            f"global_batch_size {training.global_batch_size} is not a multiple of "
            f"micro_batch_size x data-parallel ranks = {sequences}."
        )
    # Zig-zag context parallelism gives every rank two pieces of the sequence.
    pieces = 2 * plan.context_parallel if plan.context_parallel > 1 else 1
    if plan.sequence_parallel:
        pieces *= plan.tensor_parallel
    if training.sequence_length % pieces:
        yield f"sequence_length {training.sequence_length} does not split into {pieces} pieces."


def _pipeline(model: Model, cluster: Cluster, plan: Plan, training: Training) -> Iterator[str]:
    ranks, virtual = plan.pipeline_parallel, plan.virtual_pipeline
    if virtual > 1 and ranks == 1:
        yield f"virtual_pipeline {virtual} needs pipeline_parallel above 1."
    if ranks * virtual > model.num_layers + 2 + model.num_prediction_layers:
        yield f"{model.num_layers} layers do not fill {ranks * virtual} virtual stages."
    if training.schedule == "interleaved" and ranks > 1:
        if virtual == 1:
            yield "schedule interleaved needs virtual_pipeline above 1."
        yield from _interleaving_rounds(ranks, num_microbatches(plan, training), training)


def _interleaving_rounds(ranks: Count, micro_batches: Count, training: Training) -> Iterator[str]:
    """Yield problems of interleaving rounds: equal in PyTorch, full in Megatron."""
    if training.framework != "fsdp" and micro_batches < ranks:
        yield (
            f"schedule interleaved needs at least {ranks} micro-batches, one for each stage; "
            f"there are {micro_batches}."
        )
    if training.framework == "fsdp" and micro_batches % max(1, micro_batches // ranks):
        yield (
            f"schedule interleaved needs micro-batches in equal rounds; {micro_batches} do not "
            f"divide into {micro_batches // ranks}."
        )
