"""Memory with adapters: LoRA, QLoRA, and what a wrong wrapping allocates for frozen weights."""

from dataclasses import dataclass, replace
from typing import Literal

from engine.catalog.models import Model, head_size, value_head_size
from engine.core.units import Bytes, Count, Parameters, Ratio
from engine.formulas.activations import HALF
from engine.formulas.parameters import (
    dense_layer_parameters,
    sparse_layer_parameters,
    total_parameters,
)
from engine.formulas.states import adapter_parameters, rank_parameters, state_bytes
from engine.run.parallelism import Plan, Training, sharding_ranks
from engine.simulate.memory.allocator import Memory, reserve
from engine.simulate.memory.memory import memory

Trained = Literal["full", "lora", "qlora"]
# NF4: four bits, and 0.127 bits for the scales of its blocks, which are quantized as well
# (Dettmers et al. 2023, section 3).
NF4: Bytes = (4 + 0.127) / 8


def held_with(
    model: Model, plan: Plan, training: Training, trained: Trained, *, trapped: bool
) -> Memory:
    """Return the memory of a rank; `training.lora_rank` counts unless all is trained.

    `trapped`: adapters share FSDP1 units with the frozen weights of their layers, see `_trapped`.
    """
    if trained == "full":
        return memory(model, plan, replace(training, lora_rank=0))
    found = memory(model, plan, training)
    if trained == "qlora":
        packed = (HALF - NF4) * total_parameters(model) / sharding_ranks(plan)
        found = replace(found, parameters=found.parameters - packed)
    if trapped:
        found = _trapped(model, plan, training, found)
    used = found.total - found.reserve
    return replace(found, reserve=reserve(training, used, plan.world_size))


def _trapped(model: Model, plan: Plan, training: Training, held: Memory) -> Memory:
    """Return the memory where the units of FSDP1 hold adapters and frozen weights.

    A unit is one vector of one type with one gradient, which is allocated as if nothing were frozen
    (PyTorch's documentation of FSDP1 with use_orig_params; "Must flatten tensors with uniform
    dtype"). So the gradient of a layer has the bytes of the layer, and adapters, their gradients
    and moments the type of the frozen weights: 16 bits. The outermost unit, with embedding and
    output, holds no adapter and has no gradient. On one rank FSDP1 shards nothing (NO_SHARD), so
    nothing is gathered.
    """
    ranks = sharding_ranks(plan)
    whole = rank_parameters(model, plan, training)
    adapters = adapter_parameters(model, plan, training.lora_rank, model.num_layers) / ranks
    single = state_bytes(training).parameter * adapters
    frozen = held.parameters - single
    layers = 1 - whole.ends / (whole.dense + whole.experts)
    return replace(
        held,
        parameters=frozen + HALF * adapters,
        gradients=layers * frozen + HALF * adapters,
        optimizer=held.optimizer / 2,
        buffers=held.buffers if ranks > 1 else 0.0,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The parameters of one layer with adapters.

    Attributes:
        frozen: that are not trained.
        trained: of the adapters.
    """

    frozen: Parameters
    trained: Parameters

    @property
    def together(self) -> Parameters:
        """What a gradient is allocated for if all lie in one unit."""
        return self.frozen + self.trained

    @property
    def over(self) -> Ratio:
        """How many times as many elements as are trained."""
        return self.together / self.trained


def block_with_adapters(model: Model, lora_rank: Count) -> Block:
    """Return one layer with adapters of queries and values: r(2h + q + v).

    Hu et al. 2021, whose experiments adapt these two. Sizes as LitGPT counts them: all experts.
    """
    layer = sparse_layer_parameters(model) if model.num_experts else dense_layer_parameters(model)
    queries = model.num_attention_heads * head_size(model)
    values = model.num_key_value_heads * value_head_size(model)
    return Block(frozen=layer.total, trained=lora_rank * (2 * model.hidden_size + queries + values))
