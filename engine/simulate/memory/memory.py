"""The memory of a rank at its fullest: states, activations of all micro-batches, buffers."""

from collections.abc import Sequence

from engine.catalog.models import Model
from engine.core.record import record
from engine.core.units import Bytes, Count
from engine.formulas.activations import (
    LayerMemory,
    layer_memory,
)
from engine.formulas.states import (
    RankParameters,
    StateBytes,
    States,
    adapter_parameters,
    frozen_bytes,
    rank_parameters,
    sharded_states,
    state_bytes,
    unquantized,
)
from engine.run.parallelism import (
    Plan,
    Training,
    expert_sharding_ranks,
    layers_of_stage,
    quantizes,
    sharding_ranks,
    shards_all,
)
from engine.simulate.memory.allocator import Memory, fragments, reserve
from engine.simulate.memory.memory_buffers import buffers_of, keeps_outputs, kept_outputs
from engine.simulate.memory.peak_activations import stage_activations


@record
class Filled:
    """What a rank of one stage holds, however its states are sharded.

    Attributes:
        stage: of the pipeline.
        parameters: of the rank, before any sharding.
        activations: at their peak.
    """

    stage: Count
    parameters: RankParameters
    activations: Bytes


@record
class Standing:
    """What a rank holds of its parameters, the same for all micro-batches of one number or more.

    Attributes:
        states: sharded.
        buffers: that this takes, without outputs that a pipeline's engine keeps.
    """

    states: States
    buffers: Bytes


def memory(model: Model, plan: Plan, training: Training) -> Memory:
    """Return the memory of the fullest rank over the pipeline stages that can be it."""
    layers = kinds_of_layer(model, plan, training)
    stages = stages_that_can_be_fullest(model, plan, training)
    held = [filled(model, plan, training, stage, layers) for stage in stages]
    known = [standing(model, plan, training, one.stage, one.parameters) for one in held]
    return fullest(model, plan, training, held, known)


def stages_that_can_be_fullest(model: Model, plan: Plan, training: Training) -> tuple[Count, ...]:
    """Return the first, the second, the last and the longest stage between them.

    Where all have as many layers, nothing between them is fuller.
    """
    last = plan.pipeline_parallel - 1
    ends = (0, 1, last) if last > 1 else tuple(range(last + 1))
    return ends + _longest(model, plan, training)


def _longest(model: Model, plan: Plan, training: Training) -> tuple[Count, ...]:
    """Return the first stage between these with the most layers, where pieces are uneven."""
    ranks = plan.pipeline_parallel
    if ranks < 4 or not model.num_layers % (ranks * plan.virtual_pipeline):
        return ()
    return (max(range(2, ranks - 1), key=lambda stage: _layers(model, plan, training, stage)),)


def _layers(model: Model, plan: Plan, training: Training, stage: Count) -> Count:
    return sum(map(len, layers_of_stage(model, plan, stage, training.schedule)))


def kinds_of_layer(model: Model, plan: Plan, training: Training) -> tuple[LayerMemory, LayerMemory]:
    """Return what a dense and a sparse layer keep; of one kind only, that one twice."""
    dense = layer_memory(model, plan, training)
    sparse = layer_memory(model, plan, training, sparse=True) if model.num_experts else dense
    return dense, sparse


def stage_memory(
    model: Model,
    plan: Plan,
    training: Training,
    stage: Count,
    layers: tuple[LayerMemory, LayerMemory],
) -> Memory:
    """Return the memory of a rank of one stage; `layers` is that of a dense and a sparse layer."""
    return sharded_memory(model, plan, training, filled(model, plan, training, stage, layers))


def filled(
    model: Model,
    plan: Plan,
    training: Training,
    stage: Count,
    layers: tuple[LayerMemory, LayerMemory],
) -> Filled:
    """Return what a rank of one stage holds, however its states are sharded."""
    return Filled(
        stage=stage,
        parameters=rank_parameters(model, plan, training, stage),
        activations=stage_activations(model, plan, training, stage, layers),
    )


def standing(
    model: Model, plan: Plan, training: Training, stage: Count, held: RankParameters
) -> Standing:
    """Return what a rank of one stage holds of its parameters.

    Of the micro-batches it depends only on whether there are several.
    """
    return Standing(
        states=_states(model, plan, training, stage, held),
        buffers=buffers_of(model, plan, training, stage, held),
    )


def sharded_memory(
    model: Model, plan: Plan, training: Training, held: Filled, known: Standing | None = None
) -> Memory:
    """Return the memory of a rank with its states sharded, and the buffers that this takes.

    `known` is what it holds of its parameters, where that is known already.
    """
    known = known or standing(model, plan, training, held.stage, held.parameters)
    states, buffers = known.states, known.buffers
    if keeps_outputs(plan, training):
        buffers += kept_outputs(model, plan, training, held.stage)
    tensors = states.parameters + states.gradients + states.optimizer
    return Memory(
        parameters=states.parameters,
        gradients=states.gradients,
        optimizer=states.optimizer,
        activations=held.activations,
        buffers=buffers,
        reserve=reserve(training, tensors + held.activations + buffers, plan.world_size),
        stage=held.stage,
        fragments=fragments(training, plan.world_size),
    )


def fullest(
    model: Model,
    plan: Plan,
    training: Training,
    held: Sequence[Filled],
    known: Sequence[Standing],
) -> Memory:
    """Return the memory of the fullest of some stages; `known` holds what each has of parameters.

    What is beyond tensors grows with them: the stage with most tensors is the fullest.
    """
    if len(held) == 1:
        return sharded_memory(model, plan, training, held[0], known[0])
    outputs = keeps_outputs(plan, training)
    most, at = -1.0, 0
    for index, (one, standing) in enumerate(zip(held, known, strict=True)):
        states, buffers = standing.states, standing.buffers
        if outputs:
            buffers += kept_outputs(model, plan, training, one.stage)
        tensors = states.parameters + states.gradients + states.optimizer
        total = tensors + one.activations + buffers
        if total > most:
            most, at = total, index
    return sharded_memory(model, plan, training, held[at], known[at])


def stage_states(model: Model, plan: Plan, training: Training, stage: Count) -> States:
    """Return the states of a rank of one stage, experts sharded over their own ranks."""
    held = rank_parameters(model, plan, training, stage)
    return _states(model, plan, training, stage, held)


def _states(
    model: Model, plan: Plan, training: Training, stage: Count, held: RankParameters
) -> States:
    types = state_bytes(training)
    # FSDP's own states are always sharded; stage 2 only keeps the gathered copy until the update.
    split = 3 if shards_all(training) and plan.zero_stage else plan.zero_stage
    if training.lora_rank:
        return _with_adapters(model, plan, training, stage, split)
    if not (held.experts or quantizes(training)):
        return sharded_states(held.dense, types, split, sharding_ranks(plan))
    return _together(_parts(plan, training, held, types, split))


def _parts(
    plan: Plan, training: Training, held: RankParameters, types: StateBytes, split: Count
) -> tuple[States, ...]:
    """Return the states of layers, of experts, and of embedding and output where they differ."""
    ranks = sharding_ranks(plan)
    experts = sharded_states(held.experts, types, split, expert_sharding_ranks(plan))
    if not quantizes(training):
        return sharded_states(held.dense, types, split, ranks), experts
    ends = sharded_states(held.ends, unquantized(types), split, ranks)
    return sharded_states(held.dense - held.ends, types, split, ranks), experts, ends


def _together(parts: Sequence[States]) -> States:
    return States(
        parameters=sum(part.parameters for part in parts),
        gradients=sum(part.gradients for part in parts),
        optimizer=sum(part.optimizer for part in parts),
    )


def _with_adapters(
    model: Model, plan: Plan, training: Training, stage: Count, split: Count
) -> States:
    """Return the states where only adapters are trained: whole for them, weights for the rest."""
    held = rank_parameters(model, plan, training, stage)
    layers = sum(map(len, layers_of_stage(model, plan, stage, training.schedule)))
    adapters = adapter_parameters(model, plan, training.lora_rank, layers)
    # Adapters are in 16 bits.
    types = unquantized(state_bytes(training)) if quantizes(training) else state_bytes(training)
    trained = sharded_states(adapters, types, split, sharding_ranks(plan))
    return _together((*_parts(plan, training, held, frozen_bytes(training), split), trained))
