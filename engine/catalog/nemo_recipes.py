"""Recipes of NeMo 2: degrees, batch and nodes that a name stands for.

Source: NeMo at commit 8cfedd72 (2.4), nemo/collections/llm/recipes/NAME.py: the defaults of
`trainer` and `pretrain_recipe`, and the branches of `finetune_recipe` by its `peft_scheme`. Every
pre-training recipe has ZeRO-1 and overlapped gradients (`distributed_fused_adam_...`,
DistributedDataParallelConfig); fine-tuning has a batch of 128 sequences of 2,048 tokens and no
overlap (recipes/finetune_default.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.core.units import Count, Tokens

VERSION = "NeMo 2.4"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What a recipe sets.

    Attributes:
        model: of the catalog.
        tensor, pipeline, virtual, context, experts: parallelism; virtual 0: none.
        sequence_parallel: whether norms and dropouts are sharded.
        nodes: unless the call says another number.
        length: of a sequence.
        batch: sequences of a step.
        micro: sequences of a pass.
        uneven: stages hold fewer layers beside the embedding and the loss.
        rank: of adapters; 0: all weights are trained.
        shards_states: a distributed optimizer.
    """

    model: str
    tensor: Count = Count(1)
    pipeline: Count = Count(1)
    virtual: Count = Count(0)
    context: Count = Count(1)
    experts: Count = Count(1)
    sequence_parallel: bool = False
    nodes: Count = Count(1)
    length: Tokens = Tokens(4096)
    batch: Count = Count(512)
    micro: Count = Count(1)
    uneven: bool = False
    rank: Count = Count(0)
    shards_states: bool = True


GPUS_PER_NODE = 8
