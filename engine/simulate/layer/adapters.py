"""Memory with LoRA and QLoRA adapters, and of frozen weights under a wrong FSDP wrapping."""

from dataclasses import dataclass, replace
from typing import Literal

from engine.catalog.models import Model, head_size, value_head_size
from engine.core.units import Count, Parameters, Ratio
from engine.formulas.activations import HALF
from engine.formulas.parameters import largest_layer
from engine.formulas.states import adapter_parameters, rank_parameters, state_bytes
from engine.run.parallelism import Plan, Training, sharding_ranks
from engine.simulate.memory.allocator import Memory
from engine.simulate.memory.memory import rank_memory

Trained = Literal["full", "lora", "qlora"]


def adapter_memory(
    model: Model, plan: Plan, training: Training, trained: Trained, *, trapped: bool
) -> Memory:
    """Return the memory of a rank with adapters; a full fine-tune ignores `training.lora_rank`.

    `trapped`: adapters share FSDP1 units with the frozen weights of their layers, see
    `_mixed_unit_memory`.
    """
    if trained == "full":
        return rank_memory(model, plan, replace(training, lora_rank=0))
    memory = rank_memory(model, plan, replace(training, nf4_weights=trained == "qlora"))
    if trapped:
        memory = _mixed_unit_memory(model, plan, training, memory)
    return memory


def _mixed_unit_memory(model: Model, plan: Plan, training: Training, memory: Memory) -> Memory:
    """Return the memory if FSDP1 units mix adapters and frozen weights.

    A unit is one vector of one type with one gradient, which is allocated as if nothing were frozen
    (PyTorch's documentation of FSDP1 with use_orig_params; "Must flatten tensors with uniform
    dtype"). So the gradient of a layer has the bytes of the layer, and adapters, their gradients
    and moments the type of the frozen weights: 16 bits. The outermost unit, with embedding and
    output, holds no adapter and has no gradient. On one rank FSDP1 shards nothing (NO_SHARD), so
    nothing is gathered.
    """
    ranks = sharding_ranks(plan)
    whole = rank_parameters(model, plan, training)
    adapters = (
        adapter_parameters(model, plan, training.lora_rank, model.num_layers, training.lora_layers)
        / ranks
    )
    adapter_bytes = state_bytes(training).parameter * adapters
    frozen = memory.parameters - adapter_bytes
    layers = 1 - whole.ends / (whole.dense + whole.experts)
    return replace(
        memory,
        parameters=frozen + HALF * adapters,
        gradients=layers * frozen + HALF * adapters,
        optimizer=memory.optimizer / 2,
        buffers=memory.buffers if ranks > 1 else 0.0,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterBlock:
    """The parameters of one layer with adapters.

    Attributes:
        frozen: frozen parameters.
        trained: parameters of the adapters.
    """

    frozen: Parameters
    trained: Parameters

    @property
    def together(self) -> Parameters:
        """Parameters with an allocated gradient if all lie in one unit."""
        return self.frozen + self.trained

    @property
    def over(self) -> Ratio:
        """Ratio of gradient elements to trained parameters."""
        return self.together / self.trained


def block_with_adapters(model: Model, lora_rank: Count) -> AdapterBlock:
    """Return one layer with adapters of queries and values: r(2h + q + v).

    Hu et al. 2021, whose experiments adapt these two. Sizes as LitGPT counts them: all experts.
    """
    layer = largest_layer(model)
    queries = model.num_attention_heads * head_size(model)
    values = model.num_key_value_heads * value_head_size(model)
    return AdapterBlock(
        frozen=layer.total, trained=lora_rank * (2 * model.hidden_size + queries + values)
    )
