"""Plans of mixtures of experts that were published with a measured step, by model of the catalog.

Those of `published_table.tsv`, without their GPUs and batch: NVIDIA's recipes of Megatron-Bridge,
all with ZeRO-1, whole experts and no context parallelism.
"""

from functools import cache

from engine.core.record import record
from engine.core.units import Count

_TEXT = """
deepseek-v3 1 2 4 32 1 moe_act
deepseek-v3 1 2 8 32 1 -
deepseek-v3 1 2 8 32 2 mla_up_proj
deepseek-v3 1 4 4 64 1 mla_up_proj
deepseek-v3 1 4 4 64 1 mlp
deepseek-v3 1 8 1 8 2 mla_up_proj
deepseek-v3 1 8 2 32 1 mla_up_proj,mlp
deepseek-v3 1 8 4 32 1 mla_up_proj
deepseek-v3 1 16 1 8 1 mla_up_proj
deepseek-v3 2 8 4 64 1 mla_up_proj,mlp
gpt-oss-120b 1 1 1 8 4 -
gpt-oss-120b 1 1 1 8 4 layernorm,moe_act
gpt-oss-120b 1 1 1 64 2 -
gpt-oss-120b 1 1 1 64 4 -
gpt-oss-120b 1 1 1 64 4 layernorm,moe_act
gpt-oss-120b 1 4 1 8 1 layernorm,moe_act
gpt-oss-120b 1 4 1 8 4 layernorm,moe_act
qwen3-235b-a22b 1 4 1 32 2 -
qwen3-235b-a22b 1 4 12 16 2 -
qwen3-235b-a22b 1 4 12 32 2 -
qwen3-235b-a22b 1 8 1 8 1 -
qwen3-235b-a22b 1 8 1 8 2 -
qwen3-235b-a22b 1 8 2 8 1 -
qwen3-235b-a22b 1 8 3 32 1 -
qwen3-235b-a22b 2 8 4 32 1 -
qwen3-30b-a3b 1 1 1 8 1 -
qwen3-30b-a3b 1 1 1 8 4 -
qwen3-30b-a3b 1 1 1 8 8 -
qwen3-30b-a3b 1 1 1 16 1 -
qwen3-30b-a3b 1 2 12 8 1 -
qwen3-30b-a3b 1 2 24 8 2 -
"""


@record
class Recipe:
    """A published plan.

    Attributes:
        model: key of the catalog.
        tensor, pipeline, virtual, expert: ranks of parallelism, and pieces of a pipeline rank.
        micro_batch: sequences.
        repeated: modules that the backward pass repeats; empty: nothing.
    """

    model: str
    tensor: Count
    pipeline: Count
    virtual: Count
    expert: Count
    micro_batch: Count
    repeated: tuple[str, ...]


@cache
def published_recipes() -> tuple[Recipe, ...]:
    """Return the published plans."""
    return tuple(map(_recipe, _TEXT.strip().splitlines()))


def _recipe(line: str) -> Recipe:
    """Return the recipe of a line: the fields in order, "-" for nothing repeated."""
    model, tensor, pipeline, virtual, expert, micro_batch, repeated = line.split()
    return Recipe(
        model=model,
        tensor=int(tensor),
        pipeline=int(pipeline),
        virtual=int(virtual),
        expert=int(expert),
        micro_batch=int(micro_batch),
        repeated=() if repeated == "-" else tuple(repeated.split(",")),
    )
