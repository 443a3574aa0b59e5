"""Defaults of model families in Transformers that their configuration files leave out."""

from collections.abc import Iterator, Mapping
from typing import Any

from engine.run.importers.unknown_keys import words_of

VERSION = "Transformers 5.24"

# Two matrices in the feed-forward part, no gate (classes `*MLP` of `modeling_*.py`).
UNGATED_FAMILIES = words_of(
    """gpt2 gpt_neo gptj gpt_neox gpt_neox_japanese gpt_bigcode codegen bloom mpt opt xglm
    falcon phi starcoder2 persimmon nemotron nemotron_h arcee apertus apertus1p5
    apertus1p5_text jais2 nanochat"""
)
# Classes whose files may leave `tie_word_embeddings` out and mean true.
TIED_FAMILIES = words_of(
    """gpt2 gpt_neo gpt_neox_japanese gpt_bigcode bloom mpt opt xglm falcon gemma gemma2
    gemma3 gemma3_text gemma3n gemma3n_text gemma4 gemma4_text gemma4_unified
    gemma4_unified_text vaultgemma recurrent_gemma starcoder2 cohere cohere2 cohere2_moe
    minicpm3 smollm3 ernie4_5 ernie4_5_moe lfm2 lfm2_moe lfm3 granite_swa lara_mini youtu
    phi3small"""
)
# Families whose inner width is four times the hidden size where a file does not say it.
FOUR_TIMES = words_of(
    """gpt2 gpt_neo gpt_neox_japanese gptj gpt_bigcode codegen bloom mpt falcon RefinedWeb
    RefinedWebModel"""
)
# Sizes of the language model that a multimodal file leaves out where they are its class's own:
# layers, hidden size, query heads, key-value heads, inner width, vocabulary, size of a head.
_CLASS_SIZES: Mapping[str, tuple[int, ...]] = {
    "llama": (32, 4096, 32, 32, 11008, 32000, 128),
    "mistral": (32, 4096, 32, 8, 14336, 32000, 128),
    "gemma": (28, 3072, 16, 16, 24576, 256000, 256),
    "gemma2": (26, 2304, 8, 4, 9216, 256000, 256),
    "gemma3_text": (26, 2304, 8, 4, 9216, 262208, 256),
}
_SIZE_KEYS = (
    "num_hidden_layers",
    "hidden_size",
    "num_attention_heads",
    "num_key_value_heads",
    "intermediate_size",
    "vocab_size",
    "head_dim",
)
_BIASED = ("gpt2", "gpt_neo", "gpt_neox", "gpt_bigcode", "bloom", "opt", "starcoder2", "phi")
_LEARNED = ("gpt2", "gpt_neo", "gpt_bigcode", "opt")


def class_sizes(config: Mapping[str, Any], family: str) -> dict[str, int]:
    """Return the sizes of a language model that a multimodal file leaves to its class."""
    sizes = zip(_SIZE_KEYS, _CLASS_SIZES.get(family, ()), strict=False)
    left = {key: size for key, size in sizes if config.get(key) is None}
    if "head_dim" in left and not family.startswith("gemma"):
        del left["head_dim"]  # of these it is the hidden size over the heads
    return left


def learned_positions(config: Mapping[str, Any], family: str) -> Iterator[tuple[str, str, int]]:
    """Yield the table of learned positions, if the family has one: (key, meaning, rows)."""
    if family not in _LEARNED:
        return
    for key in ("n_positions", "max_position_embeddings"):
        rows = config.get(key)
        if isinstance(rows, int) and not isinstance(rows, bool) and 0 < rows < 1 << 30:
            yield key, "learned_positions", rows
            return


def has_biases(config: Mapping[str, Any], family: str) -> bool:
    """Return whether linear layers have biases."""
    if config.get("use_bias") is False or config.get("no_bias") is True:
        return False
    return family in _BIASED or (family == "gpt_oss" and config.get("attention_bias") is not False)
