"""Kinds of the layers of a `config.json`, and the key that says so.

Names are those of the configuration classes of Transformers; a file may say the kinds as a list
(`layer_types`, `attn_type_list`), a text of letters (`hybrid_override_pattern`), an interval
(`full_attention_interval`, `sliding_window_pattern`), or lists of layer numbers
(`linear_attn_config`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

Config = Mapping[str, Any]

FULL, WINDOW, CHUNKED, SPARSE = "full", "window", "chunked", "sparse"
DELTA, KIMI_DELTA, MAMBA, LINEAR = "delta", "kimi_delta", "mamba", "linear"
COMPRESSED, HEAVILY = "compressed", "heavily_compressed"
MLP, EXPERTS = "mlp", "experts"

WORDS: Mapping[str, str] = {
    FULL: "full attention",
    WINDOW: "attention with a window",
    CHUNKED: "attention within chunks",
    SPARSE: "sparse attention by an indexer",
    DELTA: "gated DeltaNet",
    KIMI_DELTA: "Kimi Delta Attention",
    MAMBA: "Mamba-2",
    LINEAR: "linear attention",
    COMPRESSED: "compressed sparse attention",
    HEAVILY: "heavily compressed attention",
    MLP: "a feed-forward part alone",
    EXPERTS: "experts alone",
}
# What an entry of `layer_types` or `layers_block_type` means, whatever the family.
_TYPES: Mapping[str, str] = {
    "full_attention": FULL,
    "attention": FULL,
    "sliding_attention": WINDOW,
    "chunked_attention": CHUNKED,
    "deepseek_sparse_attention": SPARSE,
    "indexed_attention": SPARSE,
    "compressed_sparse_attention": COMPRESSED,
    "heavily_compressed_attention": HEAVILY,
    "mamba": MAMBA,
    "mamba2": MAMBA,
    "mlp": MLP,
    "moe": EXPERTS,
}
_LETTERS: Mapping[str, str] = {"M": MAMBA, "*": FULL, "-": MLP, "E": EXPERTS, "G": DELTA}
_WINDOWS: Mapping[str, str] = {"L": WINDOW, "G": FULL}
_RATIOS: Mapping[int, str] = {0: WINDOW, 4: COMPRESSED, 128: HEAVILY}
# Families whose classes have every n-th layer of another kind where a file does not say so.
_EVERY: Mapping[str, tuple[int, str]] = {
    "qwen3_next": (4, DELTA),
    "qwen3_5": (4, DELTA),
    "gemma2": (2, WINDOW),
    "gpt_oss": (2, WINDOW),
    "gemma3": (6, WINDOW),
    "gemma4": (6, WINDOW),
    "cohere2": (4, WINDOW),
    "olmo3": (4, WINDOW),
}

# Families whose layers differ, each file in its own way.
_MIXED = ("nemotron_h", "minimax_m1", "minimax_text")
_MIXED_EXACTLY = ("minimax",)


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerKinds:
    """The kind of every layer.

    Attributes:
        kinds: one of each layer; empty where all layers have full attention.
        key: of the configuration that says so; a family where its class does.
        problem: why the kinds cannot be told; empty where they can.
    """

    kinds: tuple[str, ...] = ()
    key: str = ""
    problem: str = ""


def layer_kinds(config: Config, family: str, num_layers: int) -> LayerKinds:
    """Return the kinds of the layers of a configuration."""
    readers = (_listed, _lettered, _numbered, _named_layers, _numbers_of_attention, _intervals)
    for read in (*readers, _indexed):
        layers = read(config, family, num_layers)
        if layers is not None:
            return _checked(layers, num_layers)
    return _of_family(family, config, num_layers)


def _checked(layers: LayerKinds, num_layers: int) -> LayerKinds:
    if layers.problem or len(layers.kinds) == num_layers:
        return layers
    return LayerKinds(
        key=layers.key,
        problem=f"{layers.key}: {len(layers.kinds)} entries; allowed: one for each of the "
        f"{num_layers} layers",
    )


def linear_kind(config: Config, family: str) -> str:
    """Return the kind of linear attention of a family."""
    if "nemotron_h" in family or {"mamba_num_heads", "mamba_n_heads"} & set(config):
        return MAMBA
    if family.startswith(("kimi", "kda")):
        return KIMI_DELTA
    if family.startswith(("qwen3_next", "qwen3_5")) or "linear_num_value_heads" in config:
        return DELTA
    return LINEAR


def _listed(config: Config, family: str, num_layers: int) -> LayerKinds | None:
    for key in ("layer_types", "layers_block_type"):
        types = config.get(key)
        if not isinstance(types, list) or not types:
            continue
        kinds = []
        for number, name in enumerate(types):
            kind = _TYPES.get(str(name))
            if name == "linear_attention":
                kind = linear_kind(config, family)
            if kind is None:
                return LayerKinds(
                    key=key, problem=f"{key}: layer {number + 1}: {str(name)[:40]}: not priced"
                )
            kinds.append(kind)
        return LayerKinds(kinds=tuple(kinds), key=key)
    return None


def _lettered(config: Config, family: str, num_layers: int) -> LayerKinds | None:
    """Read Nemotron-H's letters, one for each layer; `|` ends a stage of a pipeline."""
    key = "hybrid_override_pattern"
    pattern = config.get(key)
    if not isinstance(pattern, str) or not pattern:
        return None
    letters = pattern.replace("|", "")
    unknown = [letter for letter in letters if letter not in _LETTERS]
    if unknown:
        return LayerKinds(key=key, problem=f"{key}: {unknown[0]!r}: not priced")
    return LayerKinds(kinds=tuple(_LETTERS[letter] for letter in letters), key=key)


def _numbered(config: Config, family: str, num_layers: int) -> LayerKinds | None:
    """Read lists of numbers: MiniMax-01's, MiMo's, DeepSeek-V4's."""
    tables = {
        "attn_type_list": {0: linear_kind(config, family), 1: FULL},
        "hybrid_layer_pattern": {0: FULL, 1: WINDOW},
        "compress_ratios": _RATIOS,
    }
    for key, meanings in tables.items():
        numbers = config.get(key)
        # A list whose entries are all alike has become one of them.
        if isinstance(numbers, int) and not isinstance(numbers, bool):
            numbers = [numbers] * num_layers
        if not isinstance(numbers, list) or not numbers:
            continue
        unknown = [
            number for number in numbers if type(number) is not int or number not in meanings
        ]
        if unknown:
            return LayerKinds(key=key, problem=f"{key}: {str(unknown[0])[:40]}: not priced")
        # DeepSeek-V4's list goes on with its layers of multi-token prediction.
        layer_numbers = numbers[:num_layers] if key == "compress_ratios" else numbers
        return LayerKinds(kinds=tuple(meanings[number] for number in layer_numbers), key=key)
    return None


def _named_layers(config: Config, family: str, num_layers: int) -> LayerKinds | None:
    """Read Kimi's lists of layer numbers, counted from 1."""
    section, key = config.get("linear_attn_config"), "linear_attn_config"
    if not isinstance(section, Mapping):
        return None
    full, linear = section.get("full_attn_layers"), section.get("kda_layers")
    if not isinstance(full, list) or not isinstance(linear, list):
        return LayerKinds(key=key, problem=f"{key}: no full_attn_layers and kda_layers: not priced")
    kinds = [FULL if number in full else KIMI_DELTA for number in range(1, num_layers + 1)]
    if sorted(map(str, [*full, *linear])) != sorted(map(str, range(1, num_layers + 1))):
        return LayerKinds(
            key=key,
            problem=f"{key}: full_attn_layers and kda_layers; allowed: together every layer from 1 "
            f"to {num_layers}",
        )
    return LayerKinds(kinds=tuple(kinds), key=key)


def _intervals(config: Config, family: str, num_layers: int) -> LayerKinds | None:
    for key, kind in (
        ("full_attention_interval", linear_kind(config, family)),
        ("sliding_window_pattern", WINDOW),
        ("_sliding_window_pattern", WINDOW),
        ("global_attn_every_n_layers", WINDOW),
    ):
        every = config.get(key)
        if key.endswith("pattern") and isinstance(every, str) and set(every) <= {"L", "G"}:
            # EXAONE 4: a letter for each layer, local or global, repeated.
            letters = (every * num_layers)[:num_layers]
            return LayerKinds(kinds=tuple(_WINDOWS[letter] for letter in letters), key=key)
        if isinstance(every, int) and not isinstance(every, bool) and every > 1:
            return LayerKinds(kinds=every_nth(every, kind, num_layers), key=key)
    return None


def _numbers_of_attention(config: Config, family: str, num_layers: int) -> LayerKinds | None:
    """Read Bamba's list of the layers that have attention, counted from 0."""
    key = "attn_layer_indices"
    numbers = config.get(key)
    if not isinstance(numbers, list) or not numbers or "mamba_n_heads" not in config:
        return None
    if any(type(number) is not int or not 0 <= number < num_layers for number in numbers):
        return LayerKinds(key=key, problem=f"{key}: allowed: whole numbers below {num_layers}")
    kinds = [FULL if number in numbers else MAMBA for number in range(num_layers)]
    return LayerKinds(kinds=tuple(kinds), key=key)


def every_nth(every: int, other: str, num_layers: int) -> tuple[str, ...]:
    """Return the kinds of layers of which every n-th has full attention."""
    return tuple(other if (number + 1) % every else FULL for number in range(num_layers))


def _indexed(config: Config, family: str, num_layers: int) -> LayerKinds | None:
    top = config.get("index_topk")
    if isinstance(top, int) and not isinstance(top, bool) and top > 0:
        return LayerKinds(kinds=(SPARSE,) * num_layers, key="index_topk")
    return None


def _of_family(family: str, config: Config, num_layers: int) -> LayerKinds:
    if family.startswith(_MIXED) or family in _MIXED_EXACTLY:
        return LayerKinds(
            key=family,
            problem=f"model_type: {family}: no key says which layers "
            "have attention; allowed: hybrid_override_pattern, layer_types or linear_attn_config",
        )
    for name, (every, kind) in _EVERY.items():
        if family.startswith(name) and not family.startswith("gemma3n"):
            if kind == WINDOW and not config.get("sliding_window"):
                return LayerKinds()
            return LayerKinds(kinds=every_nth(every, kind, num_layers), key=family)
    return LayerKinds()


def unpriced(layers: LayerKinds, priced: Sequence[str]) -> list[str]:
    """Return a line for each kind of layer that is not priced, with the layers that have it."""
    if layers.problem:
        return [layers.problem]
    lines = []
    for kind in dict.fromkeys(layers.kinds):
        if kind not in priced:
            numbers = [
                number
                for number, kind_of_layer in enumerate(layers.kinds, 1)
                if kind_of_layer == kind
            ]
            lines.append(f"{layers.key}: layers {ranges(numbers)}: {WORDS[kind]}: not priced")
    return lines


def ranges(numbers: Sequence[int], most: int = 6) -> str:
    """Return numbers in order as ranges: "1-3, 5-7", shortened after some."""
    parts = []
    for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        group = [number for _, number in run]
        parts.append(str(group[0]) if len(group) == 1 else f"{group[0]}-{group[-1]}")
    return ", ".join(parts[:most]) + (", ..." if len(parts) > most else "")
