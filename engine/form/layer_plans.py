"""A plan for a model whose layers the reader composes: the fastest of a few simple ones."""

from functools import lru_cache
from math import gcd
from typing import cast

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.mixed_runs import MixedRun
from engine.catalog.mixers.compose import predicting_model
from engine.catalog.models import Model
from engine.catalog.recent_models import EVERY_MODEL
from engine.core.units import Count, Gbit, Tokens
from engine.run.fp8_layouts import reads_any_operand_layout
from engine.run.layer_keys import indivisible_layers
from engine.run.limits import indivisible_sizes
from engine.run.machines import cluster_of
from engine.run.parallelism import Cluster, Plan, Precision, Recompute, Training
from engine.run.run import Run
from engine.simulate.step.modeled_plan import ModeledPlan, model_plan

# Tokens of a step, as many pre-trainings have.
STEP_TOKENS: Tokens = 1 << 22
_UTILIZATION = 0.5
_IN_NODE: Count = 8
_MOST_EXPERT_RANKS: Count = 64


@lru_cache(maxsize=256)
def fastest_plan(
    model: Model, machine: str, gpus: Count, stages: Count, length: Tokens, own_constants: str = ""
) -> ModeledPlan:
    """Return the fastest plan of bf16 pre-training that fits; else the one that needs least.

    Tried: with and without recomputation of every layer, tensor parallelism of 1 or 8 (a dense
    model: 2 or 8), experts over up to 64 ranks, and context parallelism of powers of two up to four
    times the first that fits. A step has `STEP_TOKENS`, or a sequence for each replica. Each stage
    has a multiple of two GPUs; what is left over stays idle. `own_constants` is the text
    of what was measured on the machines, in place of the catalog's constants.
    """
    cluster, unit = cluster_of(machine, own_constants), 2 * stages
    world = gpus // unit * unit
    plans: list[ModeledPlan] = []
    settings: tuple[Recompute, ...] = ("none", "full")
    for recompute in settings:
        for tensor in (1 if model.num_experts else 2, _IN_NODE):
            since = 0
            for plan in _plans(model, world, stages, tensor):
                training = _training(plan, recompute, int(length))
                if _uneven(model, plan, training):
                    continue
                run = Run(model=model, cluster=cluster, plan=plan, training=training)
                plans.append(model_plan(run, _UTILIZATION))
                since += plans[-1].fit.verdict == "fits"
                if since > 2:
                    break
    fitting = [plan for plan in plans if plan.fit.verdict == "fits"]
    if fitting:
        return max(fitting, key=lambda plan: plan.token_rate)
    return min(plans, key=lambda plan: plan.fit.needed)


def _plans(model: Model, gpus: Count, stages: Count, tensor: Count) -> list[Plan]:
    """Return plans with one size of tensor parallelism, context parallelism ascending."""
    ranks = gpus // stages
    shared = gcd(model.num_experts, ranks)
    experts = min(_MOST_EXPERT_RANKS, shared & -shared) if model.num_experts else 1
    return [
        Plan(
            world_size=gpus,
            tensor_parallel=tensor,
            sequence_parallel=tensor > 1,
            pipeline_parallel=stages,
            context_parallel=1 << power,
            expert_parallel=experts,
        )
        for power in range((ranks // tensor).bit_length())
    ]


def _training(plan: Plan, recompute: Recompute, length: Count) -> Training:
    replicas = plan.data_parallel
    return Training(
        micro_batch_size=1,
        global_batch_size=replicas * max(1, int(STEP_TOKENS) // length // max(1, replicas)),
        sequence_length=length,
        recompute=recompute,
    )


def _uneven(model: Model, plan: Plan, training: Training) -> bool:
    return bool(
        indivisible_sizes(model, plan, training) or indivisible_layers(model, plan, training)
    )


def published_plan(row: MixedRun) -> ModeledPlan:
    """Return the prediction of a published run, as its recipe in Megatron-Bridge sets it.

    Experts are balanced by force, gradients summed in 16 bits, weights kept in the products' bits,
    and tokens exchanged by HybridEP.
    """
    gpu = ACCELERATORS[row.gpu]
    cluster = Cluster(gpu=gpu, gpus_per_node=4, nics_per_node=4, nic_bandwidth=800 * Gbit)
    plan = Plan(
        world_size=row.gpus,
        tensor_parallel=row.tensor,
        sequence_parallel=row.tensor > 1,
        expert_parallel=row.expert,
        zero_stage=row.zero_stage,
    )
    training = Training(
        micro_batch_size=row.micro_batch,
        global_batch_size=row.batch,
        sequence_length=row.length,
        precision=cast(Precision, row.precision),
        even_routing=True,
        fused_experts=True,
        cuda_graphs=row.graphs,
        recompute="modules" if row.again else "none",
        recompute_modules=row.again,
        gradient_precision="bf16",
        quantized_weights=True,
        exchange="hybridep",
        block_scales=reads_any_operand_layout(gpu),
    )
    model = predicting_model(EVERY_MODEL[row.model], row.predicting)
    run = Run(model=model, cluster=cluster, plan=plan, training=training)
    return model_plan(run, _UTILIZATION)
