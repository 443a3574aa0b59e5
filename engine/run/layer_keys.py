"""Keys of a run file's `model.layers`, and what plans and training cannot do with such layers."""

from collections.abc import Mapping
from typing import Any

from engine.catalog.mixers.mix import LayerSizes, mixed_model, size_problems
from engine.catalog.models import Model
from engine.run.document import read_model as read_plain_model
from engine.run.parallelism import Plan, Training
from engine.run.values import Spec, format_value, read_section

_SIZE = (0, 1 << 20)
_HEADS = (0, 1 << 16)
LAYERS = Spec(
    {
        "window": ((0, 1 << 30), 0),
        "window_query_heads": (_HEADS, 0),
        "window_key_value_heads": (_HEADS, 0),
        "window_head_size": (_SIZE, 0),
        "window_value_head_size": (_SIZE, 0),
        "gated": (bool, False),
        "shared": (bool, False),
        "key_heads": (_HEADS, 0),
        "value_heads": (_HEADS, 0),
        "key_size": (_SIZE, 0),
        "value_size": (_SIZE, 0),
        "gate_rank": (_SIZE, 0),
        "state_heads": (_HEADS, 0),
        "state_head_size": (_SIZE, 0),
        "state_size": (_SIZE, 0),
        "state_groups": (_HEADS, 0),
        "kernel": ((1, 1 << 10), 4),
        "index_heads": (_HEADS, 0),
        "index_size": (_SIZE, 0),
        "index_tokens": ((0, 1 << 30), 0),
        "expert_hidden_size": (_SIZE, 0),
        "query_rank": (_SIZE, 0),
        "output_rank": (_SIZE, 0),
        "output_groups": (_HEADS, 0),
        "streams": ((1, 64), 1),
    }
)
_TEXTS = {"order": "*", "prediction": ""}
_LONGEST = 4096


def read_mixed_model(value: Mapping[str, Any], problems: list[str]) -> Model | None:
    """Return the model of an object with the key `layers`."""
    before = len(problems)
    section = value["layers"]
    plain = read_plain_model({key: value[key] for key in value if key != "layers"}, problems)
    sizes = read_layers(section, problems)
    if len(problems) > before or plain is None or sizes is None:
        return None
    problems += [f"model.{problem}" for problem in size_problems(plain, sizes)]
    return mixed_model(plain, sizes) if len(problems) == before else None


def read_layers(section: object, problems: list[str]) -> LayerSizes | None:
    """Return what tells layers apart; append what is wrong to `problems`."""
    before = len(problems)
    texts: dict[str, Any] = dict(_TEXTS)
    if isinstance(section, Mapping):
        for key in texts:
            text = section.get(key, texts[key])
            if not isinstance(text, str) or len(text) > _LONGEST:
                problems.append(
                    f"model.layers.{key}: {format_value(text)}; allowed: a letter for each layer"
                )
            else:
                texts[key] = text
        section = {key: section[key] for key in section if key not in texts}
    values = read_section("model.layers", section, LAYERS, problems)
    return LayerSizes(**texts, **values) if len(problems) == before else None


def indivisible_layers(model: Model, plan: Plan, training: Training) -> list[str]:
    """Return the problems of such layers under a plan or a training; a line each."""
    if not model.mix:
        return []
    problems, sizes = [], model.mix.sizes
    tensor = plan.tensor_parallel
    heads = {"G": "key_heads", "K": "key_heads", "M": "state_groups", "W": "window_query_heads"}
    heads |= {"C": "output_groups", "H": "output_groups"}
    for letter, key in heads.items():
        count = getattr(sizes, key)
        if letter in sizes.order and count and count % tensor:
            problems.append(
                f"parallelism.tensor_parallel: {tensor}; allowed: a divisor of model.layers.{key} "
                f"= {count}"
            )
    problems += _heads_over_context(sizes, plan)
    if set("CH") & set(sizes.order) and plan.context_parallel > 1:
        problems.append(
            f"parallelism.context_parallel: {plan.context_parallel}; allowed: 1 with layers C or "
            "H; another is not priced"
        )
    if training.lora_rank:
        problems.append(f"training.lora_rank: {training.lora_rank}; allowed: 0 where layers differ")
    if not training.flash_attention:
        problems.append("training.flash_attention: false; allowed: true where layers differ")
    return problems


def _heads_over_context(sizes: LayerSizes, plan: Plan) -> list[str]:
    """Return where context parallelism has no head of a linear layer for each of its ranks.

    Its ranks exchange tokens for heads there (Megatron-Core: `linear_num_key_heads` must be a
    multiple of tensor times context parallelism, and so the heads of Mamba-2).
    """
    heads = {"G": "key_heads", "K": "key_heads", "M": "state_heads"}
    context = plan.context_parallel
    return [
        f"parallelism.context_parallel: {context}; allowed: with tensor_parallel "
        f"{plan.tensor_parallel} a divisor of model.layers.{key} = {getattr(sizes, key)}"
        for letter, key in heads.items()
        if context > 1
        and letter in sizes.order
        and getattr(sizes, key) % (plan.tensor_parallel * context)
    ]
