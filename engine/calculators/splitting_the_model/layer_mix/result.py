"""Numbers of the composer: operations, what a sequence leaves behind, and the step."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated

from engine.calculators.splitting_the_model.layer_mix.inputs import (
    HIGH,
    LOW,
    Inputs,
    model_of,
    twin_of,
)
from engine.catalog.mixed_runs import MIXED_RUNS, MixedRun
from engine.catalog.mixers.compose import layer_letters, mixer_counts
from engine.catalog.models import Model
from engine.catalog.recent_models import EVERY_MODEL
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.units import (
    Bytes,
    Count,
    Operations,
    Parameters,
    Ratio,
    Seconds,
    Share,
    TokenRate,
    Tokens,
)
from engine.form.layer_plans import fastest_plan, published_plan
from engine.formulas.parameters import total_parameters
from engine.formulas.token_operations import token_operations
from engine.simulate.layer.device_model import rank_rates
from engine.simulate.layer.layer_kinds import (
    Exchange,
    KindCost,
    cached_bytes,
    context_exchanges,
    kind_costs,
)
from engine.simulate.step.modeled_plan import ModeledPlan

CAUSAL: Share = 0.5
LENGTHS = tuple(LOW * (HIGH / LOW) ** (step / 32) for step in range(33))
# A plan is searched for each.
PLANNED = tuple(float(LOW << power) for power in range(0, (HIGH // LOW).bit_length(), 2))
_COUNTED = (
    "Forward and backward, two operations for a multiplication and an addition; of a causal mask "
    "half of the pairs. Norms, activation functions and the optimizer are left out.",
)
_KEPT = (
    "Keys and values, or their latents, in 16 bits; states of linear layers in fp32, with the "
    "tokens that their convolution joins.",
)
_SIZED = (
    "Width, heads and feed-forward parts stay; a layer of another kind has matrices of its own "
    "sizes.",
)
_PLANNED = (
    "bf16, Megatron, ZeRO-1; the fastest that fits of all powers of two of context parallelism, "
    "tensor parallelism of 1 or 8 (dense: 2 or 8), with and without recomputation. A step has "
    "about four million tokens.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The composed model, beside one with full attention everywhere."""

    letters: str
    own_letters: str
    counts: tuple[tuple[str, Count], ...]
    kinds: tuple[KindCost, ...]
    layers: Count
    parameters: Annotated[
        Parameters,
        Output(
            "Parameters of these layers",
            note="{twin_parameters} with full attention in every layer",
            color="parameters",
            assumes=_SIZED,
        ),
    ]
    twin_parameters: Annotated[
        Parameters,
        Output("Parameters with full attention everywhere", color="muted", assumes=_SIZED),
    ]
    operations: Annotated[
        Operations,
        Output(
            "Operations per token",
            note="{twin_operations} with full attention in every layer",
            color="compute",
            assumes=_COUNTED,
            sources=("megatron_bridge",),
        ),
    ]
    twin_operations: Annotated[
        Operations, Output("With full attention everywhere", color="muted", assumes=_COUNTED)
    ]
    saved: Annotated[
        Ratio,
        Output(
            "Full attention everywhere costs",
            note="as many operations as these layers",
            assumes=_COUNTED,
        ),
    ]
    pairs: Annotated[
        Share,
        Output(
            "Spent between tokens",
            note="scores, weighted sums, states; the rest is matrices",
            color="context",
            assumes=_COUNTED,
        ),
    ]
    cache: Annotated[
        Bytes,
        Output(
            "KV cache and states of one sequence",
            note="to generate from it; {twin_cache} with full attention in every layer",
            color="activations",
            assumes=_KEPT,
        ),
    ]
    twin_cache: Annotated[
        Bytes, Output("KV cache with full attention everywhere", color="muted", assumes=_KEPT)
    ]
    plan: ModeledPlan
    rate: Annotated[
        TokenRate,
        Output("Tokens per second per GPU", color="compute", assumes=_PLANNED),
    ]
    step: Annotated[Seconds, Output("A step", note="of {step_tokens} tokens", assumes=_PLANNED)]
    step_tokens: Tokens
    faster: Annotated[
        Ratio,
        Output(
            "Faster than with full attention everywhere",
            note="by the estimate; {saved} by operations",
            assumes=_PLANNED,
        ),
    ]
    over_length: tuple[tuple[Operations, ...], tuple[Operations, ...], tuple[Operations, ...]]
    caches: Callable[[], tuple[tuple[Bytes, ...], tuple[Bytes, ...]]]
    rates: Callable[[], tuple[tuple[TokenRate, ...], tuple[TokenRate, ...]]]
    exchanges: Callable[[], tuple[Exchange, ...]]
    published: Callable[[], tuple[tuple[MixedRun, TokenRate], ...]]


def solve(inputs: Inputs) -> Result:
    """Return the numbers of the composed model and of its twin."""
    model, twin, length = model_of(inputs), twin_of(inputs), inputs.sequence_length
    kinds = kind_costs(model, length, CAUSAL)
    operations = sum(kind.total for kind in kinds)
    twin_operations = sum(kind.total for kind in kind_costs(twin, length, CAUSAL))
    plan, twin_plan = _plan(inputs, model, length), _plan(inputs, twin, length)
    training = plan.run.training
    return Result(
        letters=layer_letters(model),
        own_letters=layer_letters(EVERY_MODEL[inputs.model]),
        counts=tuple(mixer_counts(model).items()),
        kinds=kinds,
        layers=model.num_layers,
        parameters=total_parameters(model),
        twin_parameters=total_parameters(twin),
        operations=operations,
        twin_operations=twin_operations,
        saved=twin_operations / operations,
        pairs=sum(kind.pairs for kind in kinds) / operations,
        cache=cached_bytes(model, length),
        twin_cache=cached_bytes(twin, length),
        plan=plan,
        rate=plan.token_rate,
        step=plan.step.total,
        step_tokens=training.global_batch_size * training.sequence_length,
        faster=plan.token_rate / twin_plan.token_rate,
        over_length=(_curve(model), _curve(twin), _parts_of_matrices(model)),
        caches=Lazy(partial(_caches, model, twin)),
        rates=Lazy(partial(_rates, inputs, model, twin)),
        exchanges=Lazy(partial(_exchanges, plan)),
        published=Lazy(_published),
    )


def _plan(inputs: Inputs, model: Model, length: Tokens) -> ModeledPlan:
    stages, constants = int(inputs.stages), inputs.own_constants
    return fastest_plan(model, inputs.machine, inputs.gpus, stages, length, constants)


@lru_cache(maxsize=64)
def _curve(model: Model) -> tuple[Operations, ...]:
    """Return the operations of a token at `LENGTHS`."""
    return tuple(token_operations(model, length, "causal") for length in LENGTHS)


@lru_cache(maxsize=64)
def _parts_of_matrices(model: Model) -> tuple[Operations, ...]:
    """Return the operations of a token in products with matrices, which no length changes."""
    matrices = sum(kind.total - kind.pairs for kind in kind_costs(model, LOW, CAUSAL))
    return (matrices,) * len(LENGTHS)


def _caches(model: Model, twin: Model) -> tuple[tuple[Bytes, ...], tuple[Bytes, ...]]:
    mixed, full = (
        tuple(cached_bytes(layers, length) for length in LENGTHS) for layers in (model, twin)
    )
    return mixed, full


def _rates(
    inputs: Inputs, model: Model, twin: Model
) -> tuple[tuple[TokenRate, ...], tuple[TokenRate, ...]]:
    mixed, full = (
        tuple(_plan(inputs, layers, length).token_rate for length in PLANNED)
        for layers in (model, twin)
    )
    return mixed, full


def _published() -> tuple[tuple[MixedRun, TokenRate], ...]:
    return tuple((row, published_plan(row).token_rate) for row in MIXED_RUNS)


def _exchanges(plan: ModeledPlan) -> tuple[Exchange, ...]:
    run = plan.run
    rank = rank_rates(run.cluster, run.training)
    return context_exchanges(run.model, run.plan, run.training, rank)
