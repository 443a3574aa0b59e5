"""What the planner offers for a job unasked: on the page, in a request and in Python."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from engine.catalog.models import Model
from engine.catalog.published_recipes import published_recipes
from engine.run.layer_keys import indivisible_layers
from engine.run.parallelism import UNASKED, Cluster, Plan, Training
from engine.run.plan_space import offered_choices

# Weights in 4 bits are whole on each rank, or sharded by FSDP.
_WHOLE = ("tensor_parallel", "pipeline_parallel", "context_parallel")


def offered_plans(model: Model, cluster: Cluster, training: Training) -> Mapping[str, Any]:
    """Return what plans choose between where nobody says it, as fields of a planning job.

    `offered_choices`, of software that runs on the accelerator and with weights in 4 bits, and of
    splits that the layers of the model have a price for.
    """
    offered = {
        **offered_choices(model, training.sequence_length),
        "recipes": published_recipes(),
        "splits": priced_splits(model),
    }
    if cluster.gpu.xla:
        offered |= {"frameworks": ("xla",), "recipes": ()}
    elif training.nf4_weights:
        offered |= {"frameworks": ("fsdp",), "recipes": (), **dict.fromkeys(_WHOLE, (1,))}
    if training.lora_rank:
        offered["recipes"] = ()  # published plans train all parameters
    return offered


def priced_splits(model: Model) -> Callable[[Plan], bool] | None:
    """Return whether a plan splits the layers of a model as they are priced; None: any does."""
    return partial(_is_priced, model) if model.mix else None


def _is_priced(model: Model, plan: Plan) -> bool:
    return not indivisible_layers(model, plan, UNASKED)


def training_problems(model: Model, training: Training) -> list[str]:
    """Return the settings of a training that no plan prices, in sentences."""
    problems = indivisible_layers(model, Plan(world_size=1), training)
    if training.nf4_weights and not training.lora_rank:
        problems.append("training.nf4_weights: true; allowed: false where lora_rank is 0")
    return problems
