"""Our numbers for the quantities of a published calculator."""

from dataclasses import dataclass
from typing import Annotated

from engine.calculators.splitting_the_model.parallelism_modeler.inputs import Inputs
from engine.core.units import LINK_SPEED, Bytes, Count, Share
from engine.formulas.axes import least_bandwidth
from engine.formulas.pipeline import bubble_over_ideal, bubble_share
from engine.simulate.pipeline.published_pipeline import printed_efficiency
from engine.simulate.step.modeled_plan import ModeledPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Our numbers for a published calculator's quantities: 1F1B of the configured stages.

    Attributes:
        advised: what it prints, and what is left of the step, for twice the micro-batches and for
            one stage less.
    """

    asked_operations: Count
    asked_transfer: Bytes
    asked_transfers: Bytes
    asked_share: Share
    asked_ideal: Share
    asked_bandwidth: Annotated[float, LINK_SPEED]
    last_activation: Bytes
    advised: tuple[tuple[str, float], ...]


def published_inputs_result(inputs: Inputs, plan: ModeledPlan, whole: Bytes) -> Asked:
    """Return the numbers; `whole` is the stage-boundary transfer of a micro-batch."""
    p, m = inputs.pipeline_parallel, inputs.num_microbatches
    both = 2 * m * whole
    per_gpu = both / inputs.tensor_parallel / inputs.context_parallel
    fewer = max(p - 1, 1)
    return Asked(
        asked_operations=2 * p * m,
        asked_transfer=both,
        asked_transfers=(p - 1) * both,
        asked_share=bubble_share(p, m),
        asked_ideal=bubble_over_ideal(p, m),
        asked_bandwidth=least_bandwidth(per_gpu, plan.computation) if p > 1 else 0.0,
        last_activation=plan.stages[-1].memory.activations,
        advised=(
            (printed_efficiency(p, 2 * m), 1 - bubble_share(p, 2 * m)),
            (printed_efficiency(fewer, m), 1 - bubble_share(fewer, m)),
        ),
    )
