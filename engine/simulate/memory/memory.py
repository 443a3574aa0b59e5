"""Peak memory of a rank: states, activations of all micro-batches, buffers."""

from collections.abc import Sequence

from engine.catalog.models import Model, layer_kinds
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
from engine.simulate.memory.allocator import Memory, fragment_share
from engine.simulate.memory.memory_buffers import (
    keeps_stage_outputs,
    rank_buffers,
    stage_output_bytes,
)
from engine.simulate.memory.peak_activations import stage_activations


@record
class StageContents:
    """Parameters and activations of a rank of one stage, before its states are sharded.

    Attributes:
        stage: pipeline stage.
        parameters: parameters of the rank, before any sharding.
        activations: peak activations.
    """

    stage: Count
    parameters: RankParameters
    activations: Bytes


@record
class ParameterMemory:
    """Memory of a rank that depends on its parameters, not on the micro-batch size.

    Attributes:
        states: sharded states.
        buffers: buffers of the sharding, without stage outputs that a pipeline engine keeps.
    """

    states: States
    buffers: Bytes


def rank_memory(model: Model, plan: Plan, training: Training) -> Memory:
    """Return the memory of the fullest rank over the pipeline stages that can be the fullest."""
    layers = layer_memories(model, plan, training)
    stages = candidate_stages(model, plan, training)
    contents = [stage_contents(model, plan, training, stage, layers) for stage in stages]
    parameters = [
        parameter_memory(model, plan, training, content.stage, content.parameters)
        for content in contents
    ]
    return fullest_memory(model, plan, training, contents, parameters)


def candidate_stages(model: Model, plan: Plan, training: Training) -> tuple[Count, ...]:
    """Return the stages that can be the fullest: first, second, last and the longest between.

    Where all have as many layers, nothing between them is fuller, unless layers differ.
    """
    if model.mix:
        return tuple(range(plan.pipeline_parallel))
    last = plan.pipeline_parallel - 1
    ends = (0, 1, last) if last > 1 else tuple(range(last + 1))
    return ends + _longest_stage(model, plan, training)


def _longest_stage(model: Model, plan: Plan, training: Training) -> tuple[Count, ...]:
    """Return the first inner stage with the most layers, if stages are uneven."""
    ranks = plan.pipeline_parallel
    if ranks < 4 or not model.num_layers % (ranks * plan.virtual_pipeline):
        return ()
    return (max(range(2, ranks - 1), key=lambda stage: _num_layers(model, plan, training, stage)),)


def _num_layers(model: Model, plan: Plan, training: Training, stage: Count) -> Count:
    return sum(map(len, layers_of_stage(model, plan, stage, training.schedule)))


def layer_memories(model: Model, plan: Plan, training: Training) -> tuple[LayerMemory, ...]:
    """Return the activation memory of a layer of each kind of the model."""
    return tuple(
        layer_memory(kind, plan, training, sparse=sparse) for kind, sparse in layer_kinds(model)
    )


def stage_memory(
    model: Model,
    plan: Plan,
    training: Training,
    stage: Count,
    layers: Sequence[LayerMemory],
) -> Memory:
    """Return the memory of a rank of one stage; `layers` are those of the model's kinds."""
    return sharded_memory(
        model, plan, training, stage_contents(model, plan, training, stage, layers)
    )


def stage_contents(
    model: Model,
    plan: Plan,
    training: Training,
    stage: Count,
    layers: Sequence[LayerMemory],
) -> StageContents:
    """Return parameters and activations of a rank of one stage, before sharding."""
    return StageContents(
        stage=stage,
        parameters=rank_parameters(model, plan, training, stage),
        activations=stage_activations(model, plan, training, stage, layers),
    )


def parameter_memory(
    model: Model, plan: Plan, training: Training, stage: Count, parameters: RankParameters
) -> ParameterMemory:
    """Return the memory of a rank of one stage that depends on its parameters.

    Of the micro-batches it depends only on whether there are several.
    """
    return ParameterMemory(
        states=_states(model, plan, training, stage, parameters),
        buffers=rank_buffers(model, plan, training, stage, parameters),
    )


def sharded_memory(
    model: Model,
    plan: Plan,
    training: Training,
    contents: StageContents,
    parameters: ParameterMemory | None = None,
) -> Memory:
    """Return the memory of a rank with sharded states and the buffers of the sharding.

    `parameters` is the part that depends on its parameters, if computed already.
    """
    parameters = parameters or parameter_memory(
        model, plan, training, contents.stage, contents.parameters
    )
    states, buffers = parameters.states, parameters.buffers
    if keeps_stage_outputs(plan, training):
        buffers += stage_output_bytes(model, plan, training, contents.stage)
    return Memory(
        parameters=states.parameters,
        gradients=states.gradients,
        optimizer=states.optimizer,
        activations=contents.activations,
        buffers=buffers,
        stage=contents.stage,
        fragments=fragment_share(training, plan.world_size),
    )


def fullest_memory(
    model: Model,
    plan: Plan,
    training: Training,
    contents: Sequence[StageContents],
    parameters: Sequence[ParameterMemory],
) -> Memory:
    """Return the memory of the fullest of some stages; `parameters` are the parts of each.

    What is beyond tensors grows with them: the stage with most tensors is the fullest.
    """
    if len(contents) == 1:
        return sharded_memory(model, plan, training, contents[0], parameters[0])
    outputs = keeps_stage_outputs(plan, training)
    most, fullest = -1.0, 0
    for index, (content, parameter_part) in enumerate(zip(contents, parameters, strict=True)):
        states, buffers = parameter_part.states, parameter_part.buffers
        if outputs:
            buffers += stage_output_bytes(model, plan, training, content.stage)
        tensors = states.parameters + states.gradients + states.optimizer
        total = tensors + content.activations + buffers
        if total > most:
            most, fullest = total, index
    return sharded_memory(model, plan, training, contents[fullest], parameters[fullest])


def stage_states(model: Model, plan: Plan, training: Training, stage: Count) -> States:
    """Return the states of a rank of one stage, experts sharded over their own ranks."""
    parameters = rank_parameters(model, plan, training, stage)
    return _states(model, plan, training, stage, parameters)


def _states(
    model: Model, plan: Plan, training: Training, stage: Count, parameters: RankParameters
) -> States:
    types = state_bytes(training)
    # FSDP's own states are always sharded; stage 2 only keeps the gathered copy until the update.
    split = 3 if shards_all(training) and plan.zero_stage else plan.zero_stage
    if training.lora_rank:
        return _with_adapters(model, plan, training, stage, split)
    if not (parameters.experts or quantizes(training)):
        return sharded_states(parameters.dense, types, split, sharding_ranks(plan))
    return _sum_states(_state_parts(plan, training, parameters, types, split))


def _state_parts(
    plan: Plan, training: Training, parameters: RankParameters, types: StateBytes, split: Count
) -> tuple[States, ...]:
    """Return the states of layers, of experts, and of embedding and output where they differ."""
    ranks = sharding_ranks(plan)
    experts = sharded_states(parameters.experts, types, split, expert_sharding_ranks(plan))
    if not (quantizes(training) or training.nf4_weights):
        return sharded_states(parameters.dense, types, split, ranks), experts
    ends = sharded_states(parameters.ends, unquantized(types), split, ranks)
    return sharded_states(parameters.dense - parameters.ends, types, split, ranks), experts, ends


def _sum_states(parts: Sequence[States]) -> States:
    return States(
        parameters=sum(part.parameters for part in parts),
        gradients=sum(part.gradients for part in parts),
        optimizer=sum(part.optimizer for part in parts),
    )


def _with_adapters(
    model: Model, plan: Plan, training: Training, stage: Count, split: Count
) -> States:
    """Return the states where only adapters are trained: whole for them, weights for the rest."""
    parameters = rank_parameters(model, plan, training, stage)
    layers = sum(map(len, layers_of_stage(model, plan, stage, training.schedule)))
    adapters = adapter_parameters(model, plan, training.lora_rank, layers, training.lora_layers)
    # Adapters are in 16 bits.
    types = unquantized(state_bytes(training)) if quantizes(training) else state_bytes(training)
    trained = sharded_states(adapters, types, split, sharding_ranks(plan))
    return _sum_states(
        (*_state_parts(plan, training, parameters, frozen_bytes(training), split), trained)
    )
