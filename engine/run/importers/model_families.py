"""Defaults of model families in Transformers that their configuration files leave out."""

from collections.abc import Iterator, Mapping
from typing import Any

VERSION = "Transformers 4.57"

# Two matrices in the feed-forward part, no gate.
GELU_FAMILIES = (
    "gpt2",
    "gpt_neo",
    "gptj",
    "gpt_neox",
    "gpt_bigcode",
    "bloom",
    "mpt",
    "opt",
    "falcon",
    "phi",
    "codegen",
    "starcoder2",
    "nemotron",
    "xglm",
)
# Classes whose files may leave `tie_word_embeddings` out and mean true.
TIED_FAMILIES = (
    "gpt2",
    "gpt_neo",
    "gpt_bigcode",
    "bloom",
    "mpt",
    "opt",
    "falcon",
    "gemma",
    "gemma2",
    "gemma3",
    "gemma3_text",
    "starcoder2",
    "cohere",
    "cohere2",
)
_BIASED = ("gpt2", "gpt_neo", "gpt_neox", "gpt_bigcode", "bloom", "opt", "starcoder2", "phi")
_LEARNED = ("gpt2", "gpt_neo", "gpt_bigcode", "opt")


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
