"""Search space of the planner: all plans whose sizes divide and that the software supports.

Plans come in three nested steps, because those of one step have costs in common: a shape (how a
layer and a micro-batch are split), a pipeline around it, and what its replicas shard.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from engine.catalog.constants import KEPT_FREE
from engine.catalog.models import MODELS, Model
from engine.core.units import Count, Share
from engine.run.limits import indivisible_sizes
from engine.run.parallelism import (
    V_SHAPED,
    Cluster,
    Framework,
    Plan,
    Precision,
    Recompute,
    Schedule,
    Training,
    num_microbatches,
)
from engine.run.problems import problems
from engine.run.stage_cut import cut_layers

if TYPE_CHECKING:  # pages that rank plans need no published ones
    from engine.catalog.published_recipes import Recipe

# What each family runs unasked. Zero-bubble schedules take a fork of Megatron, or PyTorch's.
SCHEDULES: Mapping[Framework, tuple[Schedule, ...]] = {
    "megatron": ("1f1b", "interleaved"),
    "fsdp": ("1f1b", "interleaved"),
    "deepspeed": ("1f1b",),
    "xla": ("1f1b",),
}
# What each family shards; stage 3 of Megatron is Megatron-FSDP. Stage 2 with many micro-batches
# reduces after each of them where gradients are not kept whole meanwhile, as FSDP2 can; the cost
# model prices one reduction, so Megatron and DeepSpeed are not offered with it.
_STAGES: Mapping[Framework, tuple[Count, ...]] = {
    "megatron": (0, 1, 3),
    "fsdp": (2, 3),
    "deepspeed": (0, 1, 3),
    "xla": (3,),
}
_STAGES_OF_PIPELINES: Mapping[Framework, tuple[Count, ...]] = {
    "megatron": (0, 1),
    "fsdp": (2,),
    "deepspeed": (0, 1),
    "xla": (3,),
}

# Offered unasked.
_LARGEST_MICRO_BATCH: Count = 16
_LARGEST_OF_MIXTURES: Count = 8
_TENSOR_OF_MIXTURES: tuple[Count, ...] = (1, 2, 4, 8)
_EXPERT_RANKS: tuple[Count, ...] = (1, 4, 8, 16, 32, 64)
_TOKENS_OF_A_RANK: Count = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningJob:
    """A planning job: model, cluster, and the choices that plans may make.

    Attributes:
        model: to be trained.
        cluster: the machines.
        world_size: GPUs, all of which are used.
        training: length, batch, and what no plan changes: fused kernels, optimizer and the like.
        frameworks: families of software to choose from.
        precisions: of the matrix products.
        recomputes: what the backward pass may repeat.
        schedules: of pipelines; empty: those of `SCHEDULES`.
        splits: whether the model's layers can be split so; None: heads and tokens alone decide.
        tensor_parallel: sizes to try; empty: all that divide. Likewise the other axes.
        pipeline_parallel: likewise.
        context_parallel: likewise.
        expert_parallel: likewise.
        expert_tensor_parallel: ranks that share an expert; empty: 1, and those that share a layer.
        largest_micro_batch: larger ones gain nothing: products are as large as they need to be.
        kept_free: share of the memory that a plan leaves free, because predictions err.
        allows_tight: whether plans that leave less free, but stay within the GPU, count as well.
        recipes: published plans, of which those for the model are tried too.
    """

    model: Model
    cluster: Cluster
    world_size: Count
    training: Training
    frameworks: tuple[Framework, ...] = ("megatron", "fsdp")
    precisions: tuple[Precision, ...] = ("bf16",)
    recomputes: tuple[Recompute, ...] = ("none", "selective", "full")
    schedules: tuple[Schedule, ...] = ()
    splits: Callable[[Plan], bool] | None = None
    tensor_parallel: tuple[Count, ...] = ()
    pipeline_parallel: tuple[Count, ...] = ()
    context_parallel: tuple[Count, ...] = ()
    expert_parallel: tuple[Count, ...] = ()
    expert_tensor_parallel: tuple[Count, ...] = ()
    largest_micro_batch: Count = 64
    kept_free: Share = KEPT_FREE
    allows_tight: bool = False
    recipes: "tuple[Recipe, ...]" = ()


def offered_choices(model: Model, sequence_length: Count) -> Mapping[str, Any]:
    """Return what plans choose between where nobody says it: on the page and in the terminal.

    Fields of `PlanningJob`. A mixture has many more plans than a dense model, so it is offered
    fewer: whole experts, and a sequence cut into parts of 4,096 tokens, or in two. Of forty jobs
    (five mixtures on 64 to 1,024 H100 and B200), all plans with micro-batches of up to 8, the most
    that any published run of a mixture has, held none that is faster by 1.5 %.
    """
    if not model.num_experts:
        return {"largest_micro_batch": _LARGEST_MICRO_BATCH}
    contexts = max(2, sequence_length // _TOKENS_OF_A_RANK)
    return {
        "largest_micro_batch": _LARGEST_OF_MIXTURES,
        "recomputes": ("none", "full"),
        "tensor_parallel": _TENSOR_OF_MIXTURES,
        "context_parallel": tuple(2**n for n in range(contexts.bit_length())),
        "expert_parallel": _EXPERT_RANKS,
        "expert_tensor_parallel": (1,),
    }


@lru_cache(maxsize=512)
def divisors(number: Count, largest: Count = 1 << 30) -> tuple[Count, ...]:
    """Return the divisors of a number, the smallest first, up to `largest`."""
    return tuple(n for n in range(1, min(number, largest) + 1) if number % n == 0)


def _restrict(sizes: Sequence[Count], allowed: tuple[Count, ...]) -> tuple[Count, ...]:
    return tuple(n for n in sizes if n in allowed) if allowed else tuple(sizes)


def plans(job: PlanningJob) -> Iterator[tuple[Plan, Training]]:
    """Yield every plan, with how it trains."""
    for shape, training in shapes(job):
        for piped, scheduled in pipelines(job, shape, training):
            for plan in shardings(job, piped, scheduled):
                yield plan, scheduled


def shapes(job: PlanningJob) -> Iterator[tuple[Plan, Training]]:
    """Yield every split of a layer and a micro-batch, without a pipeline."""
    for training in _trainings(job):
        for plan in layer_splits(job):
            least = plan.world_size // (plan.tensor_parallel * plan.context_parallel)
            # With the longest pipeline one sequence at a time; a micro-batch has to divide it.
            if any(
                job.training.global_batch_size % (training.micro_batch_size * (least // ranks)) == 0
                for ranks in _pipeline_sizes(job, plan)
            ):
                yield plan, training


def _trainings(job: PlanningJob) -> Iterator[Training]:
    """Yield every choice of software, precision, micro-batch size and recomputation."""
    batches = divisors(job.training.global_batch_size, job.largest_micro_batch)
    for framework in job.frameworks:
        for precision in job.precisions:
            for batch in batches:
                for recompute in job.recomputes:
                    yield replace(
                        job.training,
                        framework=framework,
                        precision=precision,
                        micro_batch_size=batch,
                        recompute=recompute,
                        schedule="1f1b",
                    )


def layer_splits(job: PlanningJob) -> Iterator[Plan]:
    """Yield every combination of tensor, context and expert parallelism whose sizes divide."""
    model, world = job.model, job.world_size
    length = job.training.sequence_length
    for tensor in _restrict(divisors(world, model.num_attention_heads), job.tensor_parallel):
        for context in _restrict(divisors(world // tensor, length), job.context_parallel):
            plan = Plan(
                world_size=world,
                tensor_parallel=tensor,
                context_parallel=context,
                sequence_parallel=tensor > 1,
            )
            if _divides(model, length, plan) and (not job.splits or job.splits(plan)):
                yield from _with_experts(job, plan)


def _divides(model: Model, length: Count, plan: Plan) -> bool:
    """Return whether heads and tokens divide."""
    tensor, context = plan.tensor_parallel, plan.context_parallel
    groups = model.num_key_value_heads
    if model.num_attention_heads % tensor or (groups % tensor and tensor % groups):
        return False
    # Zig-zag context parallelism gives every rank two pieces of the sequence.
    pieces = (2 * context if context > 1 else 1) * tensor
    return length % pieces == 0


def _with_experts(job: PlanningJob, plan: Plan) -> Iterator[Plan]:
    """Yield the plan with every expert parallelism, experts whole or split like the layers."""
    if not job.model.num_experts:
        yield plan
        return
    for ranks in _restrict(divisors(job.model.num_experts), job.expert_parallel):
        for split in _restrict(sorted({1, plan.tensor_parallel}), job.expert_tensor_parallel):
            if job.world_size % (ranks * split) == 0:
                yield replace(plan, expert_parallel=ranks, expert_tensor_parallel=split)


def _pipeline_sizes(job: PlanningJob, plan: Plan) -> tuple[Count, ...]:
    left = plan.world_size // (plan.tensor_parallel * plan.context_parallel)
    sizes = divisors(left, job.model.num_layers)
    return _restrict(sizes, job.pipeline_parallel)


def pipelines(job: PlanningJob, plan: Plan, training: Training) -> Iterator[tuple[Plan, Training]]:
    """Yield every pipeline around a shape: its stages, its schedule, its virtual stages."""
    names = job.schedules or SCHEDULES[training.framework]
    scheduled = [training if name == "1f1b" else replace(training, schedule=name) for name in names]
    for piped in _stages(job, plan):
        if training.global_batch_size % (training.micro_batch_size * piped.data_parallel):
            continue
        if piped.pipeline_parallel == 1:
            yield piped, training
            continue
        for variant in scheduled:
            yield from ((cut, variant) for cut in _with_pieces(job.model, piped, variant))


def _stages(job: PlanningJob, plan: Plan) -> tuple[Plan, ...]:
    """Return the plan with each number of pipeline stages over which the experts divide."""
    sizes = _pipeline_sizes(job, plan)
    return _with_stages(plan, sizes)


@lru_cache(maxsize=1024)
def _with_stages(plan: Plan, sizes: tuple[Count, ...]) -> tuple[Plan, ...]:
    experts = plan.expert_parallel * plan.expert_tensor_parallel
    return tuple(
        replace(plan, pipeline_parallel=ranks)
        for ranks in sizes
        if plan.world_size // ranks % experts == 0
    )


def recipe_plans(job: PlanningJob) -> Iterator[tuple[Plan, Training]]:
    """Yield the published plans of the model that are among the choices of a job."""
    for _, plan, training in published_plans(job, job.recipes):
        names = job.schedules or SCHEDULES[training.framework]
        allowed = plan.pipeline_parallel == 1 or training.schedule in names
        if allowed and training.framework in job.frameworks:
            yield plan, training


def published_plans(
    job: PlanningJob, recipes: "Iterable[Recipe]"
) -> "Iterator[tuple[Recipe, Plan, Training]]":
    """Yield the published plans of the model that the job's GPUs and batch can run.

    With as many replicas as there are GPUs for, and in each precision of the job.
    """
    for recipe in recipes:
        if model_shape(MODELS[recipe.model]) != model_shape(job.model):
            continue
        plan = Plan(
            world_size=job.world_size,
            tensor_parallel=recipe.tensor,
            pipeline_parallel=recipe.pipeline,
            virtual_pipeline=recipe.virtual,
            context_parallel=recipe.context,
            expert_parallel=recipe.expert,
            expert_tensor_parallel=recipe.expert_tensor,
            sequence_parallel=recipe.tensor > 1,
            zero_stage=recipe.zero_stage,
            shard_group=recipe.shard_group,
        )
        for precision in job.precisions:
            training = replace(
                job.training,
                framework=recipe.framework,  # type: ignore[arg-type]
                precision=precision,
                micro_batch_size=recipe.micro_batch,
                recompute=recipe.recompute,  # type: ignore[arg-type]
                recompute_modules=recipe.repeated,
                schedule=recipe.schedule,  # type: ignore[arg-type]
            )
            if not (
                indivisible_sizes(job.model, plan, training)
                or problems(job.model, job.cluster, plan, training)
            ):
                cuts = _with_layer_cuts(job.model, plan, recipe.framework, (recipe.virtual,))
                yield from ((recipe, cut, training) for cut in cuts)


def model_shape(model: Model) -> tuple[object, ...]:
    """Return the layers, widths and experts that the models of one plan have in common."""
    return (
        *(model.num_layers, model.hidden_size, model.ffn_hidden_size, model.mix),
        *(model.num_attention_heads, model.num_key_value_heads),
        *(model.num_experts, model.experts_per_token, model.expert_ffn_hidden_size),
    )


def _with_pieces(model: Model, plan: Plan, training: Training) -> tuple[Plan, ...]:
    """Return the plan with one stage per rank, or with every number of virtual stages."""
    ranks = plan.pipeline_parallel
    if training.schedule != "interleaved":
        fits = ranks * (2 if training.schedule in V_SHAPED else 1) <= model.num_layers
        return _with_layer_cuts(model, plan, training.framework, (1,)) if fits else ()
    micro_batches = num_microbatches(plan, training)
    if micro_batches < ranks or (
        training.framework == "fsdp" and micro_batches % max(1, micro_batches // ranks)
    ):
        return ()
    return _with_layer_cuts(model, plan, training.framework, _piece_counts(model.num_layers, ranks))


@lru_cache(maxsize=512)
def _piece_counts(layers: Count, ranks: Count) -> tuple[Count, ...]:
    """Return the allowed virtual stages per rank: divisors of the layers and powers of two.

    Embedding and output layer may count as a layer each: 126 layers make 16 x 8 virtual stages.
    """
    return tuple(
        pieces
        for pieces in range(2, (layers + 2) // ranks + 1)
        if layers % (ranks * pieces) == 0
        or (layers + 2) % (ranks * pieces) == 0
        or not pieces & (pieces - 1)
    )


@lru_cache(maxsize=4096)
def _with_layer_cuts(
    model: Model, plan: Plan, framework: Framework, numbers: tuple[Count, ...]
) -> tuple[Plan, ...]:
    """Return the plan with its layers cut into each number of virtual stages per rank.

    Where layers do not divide, Megatron is told the cut (--pipeline-model-parallel-layout).
    """
    cuts = []
    for number in numbers:
        pieces = plan.pipeline_parallel * number
        sizes = cut_layers(model, pieces)
        if not all(sizes[1:-1]):
            continue
        even = framework != "megatron" or len(set(sizes)) == 1
        cuts.append(replace(plan, virtual_pipeline=number, stage_layers=() if even else sizes))
    return tuple(cuts)


def shardings(job: PlanningJob, plan: Plan, training: Training) -> tuple[Plan, ...]:
    """Return the plan with every ZeRO stage and sharding group of its replicas."""
    return _shardings(plan, training.framework, job.cluster.gpus_per_node)


@lru_cache(maxsize=4096)
def _shardings(plan: Plan, framework: Framework, gpus_per_node: Count) -> tuple[Plan, ...]:
    replicas = plan.data_parallel * plan.context_parallel
    stages = (_STAGES if plan.pipeline_parallel == 1 else _STAGES_OF_PIPELINES)[framework]
    least = {"fsdp": gpus_per_node, "deepspeed": 2}.get(framework, plan.world_size)
    groups = (0, *_shard_groups(plan, gpus_per_node, least))
    return tuple(
        replace(plan, zero_stage=stage, shard_group=group)
        for stage in (stages[:1] if replicas == 1 else stages)
        for group in groups
    )


def _shard_groups(plan: Plan, gpus_per_node: Count, least: Count) -> Iterator[Count]:
    """Yield the sharding-group sizes (HSDP, MiCS): whole nodes, or equal parts of one."""
    replicas = plan.data_parallel * plan.context_parallel
    for group in divisors(replicas, replicas // 2):
        spans = group * plan.tensor_parallel
        whole = spans % gpus_per_node == 0 or gpus_per_node % spans == 0
        if group > 1 and spans >= least and whole and group % plan.context_parallel == 0:
            yield group
