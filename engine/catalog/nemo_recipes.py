"""Recipes of NeMo 2: degrees, batch and nodes that a name stands for.

Source: NeMo at commit 8cfedd72 (2.4), nemo/collections/llm/recipes/NAME.py: the defaults of
`trainer` and `pretrain_recipe`, and the branches of `finetune_recipe` by its `peft_scheme`. Every
pre-training recipe has ZeRO-1 and overlaps gradients; fine-tuning has 128 sequences of 2,048 tokens
in a step, no overlap and ZeRO-1, but for the adapters of Llama (recipes/finetune_default.py).
"""

from dataclasses import dataclass, replace

from engine.core.units import Count

VERSION = "NeMo 2.4"
GPUS_PER_NODE: Count = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The settings of a recipe.

    Attributes:
        model: of the catalog.
        tensor: tensor-parallel degree.
        pipeline: stages.
        virtual: chunks of a stage; 0: none.
        context: context-parallel degree.
        experts: expert-parallel degree.
        sequence_parallel: whether norms and dropouts are divided too.
        nodes: unless the call says another number.
        length: tokens of a sequence.
        batch: sequences of a step.
        micro: sequences of a pass.
        uneven: the stages with the embedding and the loss hold a layer less.
        rank: of adapters; 0: all weights are trained.
        layers: that have adapters: "attention" or "all".
        shards_states: a distributed optimizer.
        overlaps: gradients are reduced during the backward pass.
    """

    model: str
    tensor: Count = 1
    pipeline: Count = 1
    virtual: Count = 0
    context: Count = 1
    experts: Count = 1
    sequence_parallel: bool = False
    nodes: Count = 1
    length: Count = 4096
    batch: Count = 512
    micro: Count = 1
    uneven: bool = False
    rank: Count = 0
    layers: str = "all"
    shards_states: bool = True
    overlaps: bool = True


_LLAMA_8B = Recipe(model="llama-3-8b", context=2, length=8192)
_LLAMA_70B = Recipe(
    model="llama-3-70b", tensor=4, pipeline=4, virtual=5, context=2, sequence_parallel=True,
    length=8192,
)  # fmt: skip
_SMALL = Recipe(model="llama-3.2-1b", length=8192)


def _qwen(model: str, tensor: int, pipeline: int = 1, nodes: int = 1) -> Recipe:
    return Recipe(
        model=model, tensor=tensor, pipeline=pipeline, nodes=nodes, batch=32, micro=2
    )  # fmt: skip


PRETRAIN: dict[str, Recipe] = {
    "llama2_7b": Recipe(model="llama-2-7b", tensor=2),
    "llama3_8b": _LLAMA_8B,
    "llama31_8b": _LLAMA_8B,
    "llama3_70b": _LLAMA_70B,
    "llama31_70b": _LLAMA_70B,
    "llama31_405b": Recipe(
        model="llama-3-405b", tensor=8, pipeline=8, virtual=2, context=4, sequence_parallel=True,
        length=8192, uneven=True,
    ),
    "llama32_1b": _SMALL,
    "llama32_3b": replace(_SMALL, model="llama-3.2-3b"),
    "mistral_7b": Recipe(model="mistral-7b", context=2),
    "mixtral_8x7b": Recipe(model="mixtral-8x7b", pipeline=4, virtual=8, experts=8, nodes=8),
    "mixtral_8x22b": Recipe(
        model="mixtral-8x22b", tensor=2, pipeline=4, virtual=14, context=2, sequence_parallel=True,
        experts=8, nodes=16,
    ),
    "gpt3_175b": Recipe(
        model="gpt-3-175b", tensor=4, pipeline=8, virtual=6, sequence_parallel=True, length=2048,
        batch=2048, micro=2,
    ),
    "qwen25_7b": _qwen("qwen2.5-7b", 2),
    "qwen25_14b": _qwen("qwen2.5-14b", 4),
    "qwen25_32b": _qwen("qwen2.5-32b", 8, 2, 2),
    "qwen25_72b": _qwen("qwen2.5-72b", 8, 4, 4),
    "qwen3_4b": _qwen("qwen3-4b", 2),
    "qwen3_8b": _qwen("qwen3-8b", 4),
    "qwen3_14b": _qwen("qwen3-14b", 8),
    "qwen3_32b": _qwen("qwen3-32b", 8, 2, 2),
    "qwen3_30b_a3b": Recipe(
        model="qwen3-30b-a3b", tensor=4, pipeline=2, sequence_parallel=True, experts=4, batch=32,
        micro=2,
    ),
    "nemotron4_15b": Recipe(
        model="nemotron-4-15b", tensor=4, sequence_parallel=True, batch=32, micro=2
    ),
    "nemotron4_340b": Recipe(
        model="nemotron-4-340b", tensor=8, pipeline=12, virtual=8, context=2,
        sequence_parallel=True, nodes=768, batch=2304,
    ),
    "gemma2_27b": Recipe(
        model="gemma-2-27b", tensor=8, pipeline=2, nodes=2, batch=32, micro=2
    ),
}  # fmt: skip

_TUNED = Recipe(model="llama-3-8b", length=2048, batch=128, overlaps=False)
_ADAPTED = replace(_TUNED, rank=8, shards_states=False)
_MIXTRAL = replace(_TUNED, model="mixtral-8x7b", experts=8)
# By recipe, and whether adapters are trained.
FINETUNE: dict[tuple[str, bool], Recipe] = {
    **{
        (name, False): replace(_TUNED, model=model, tensor=tensor)
        for name, model, tensor in (
            ("llama2_7b", "llama-2-7b", 2),
            ("llama3_8b", "llama-3-8b", 2),
            ("llama31_8b", "llama-3-8b", 2),
            ("llama32_1b", "llama-3.2-1b", 1),
            ("llama32_3b", "llama-3.2-3b", 1),
            ("mistral_7b", "mistral-7b", 2),
            ("qwen25_7b", "qwen2.5-7b", 2),
            ("qwen25_14b", "qwen2.5-14b", 4),
            ("qwen3_8b", "qwen3-8b", 4),
        )
    },
    **{
        (name, True): replace(_ADAPTED, model=model)
        for name, model in (
            ("llama2_7b", "llama-2-7b"),
            ("llama3_8b", "llama-3-8b"),
            ("llama31_8b", "llama-3-8b"),
            ("llama32_1b", "llama-3.2-1b"),
            ("llama32_3b", "llama-3.2-3b"),
        )
    },
    **{
        (name, True): replace(_TUNED, model=model, rank=32)
        for name, model in (
            ("mistral_7b", "mistral-7b"),
            ("qwen25_7b", "qwen2.5-7b"),
            ("qwen25_14b", "qwen2.5-14b"),
            ("qwen3_8b", "qwen3-8b"),
        )
    },
    **{
        (name, False): replace(_TUNED, model="llama-3-70b", tensor=8, pipeline=4, nodes=4)
        for name in ("llama3_70b", "llama31_70b")
    },
    **{
        (name, True): replace(_ADAPTED, model="llama-3-70b", tensor=8, rank=16)
        for name in ("llama3_70b", "llama31_70b")
    },
    # Its num_nodes is 3 for both, though its text means 12 without adapters.
    ("llama31_405b", False): replace(
        _TUNED, model="llama-3-405b", tensor=8, pipeline=14, batch=6, nodes=3, uneven=True
    ),
    ("llama31_405b", True): replace(
        _ADAPTED, model="llama-3-405b", tensor=4, pipeline=6, virtual=7, batch=6, nodes=3,
        uneven=True, rank=16,
    ),
    ("mixtral_8x7b", False): replace(_MIXTRAL, pipeline=4, virtual=8),
    ("mixtral_8x7b", True): replace(_MIXTRAL, rank=32, layers="attention"),
}  # fmt: skip
