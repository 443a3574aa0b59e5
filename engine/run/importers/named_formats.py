"""Formats that are known by name and not read, so that a refusal can say which one it is.

Names and keys are those of OLMo-core (src/olmo_core), torchtune (recipes/configs), LitGPT
(config_hub) and fairseq (fairseq-train).
"""

import re

from engine.run.importers.dialect import flags

_FORMATS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "OLMo-core",
        "its settings are computed by a program; paste the model's config.json and say batch, "
        "length and GPUs in a run file",
        (
            r"\bfrom olmo_core(?:\.\w+)* import|\bimport olmo_core\b",
            r"\b(?:TransformerTrainModuleConfig|TransformerConfig\.\w+|NumpyFSLDatasetConfig|"
            r"SkipStepAdamWConfig|TransformerDataParallelConfig|olmo_core\.internal)\b",
        ),
    ),
    (
        "torchtune",
        "",
        (
            r"\b_component_\b\s?[:=]\s*[\"']?torchtune\.\w+(?:\.\w+)*",
            r"(?<![\w./-])tune run\b",
            r"(?<![\w.])(?:apply_lora_to_mlp|lora_attn_modules|enable_activation_checkpointing|"
            r"tensor_parallel_dim|data_parallel_shard_dim)\s?[:=]",
        ),
    ),
    (
        "LitGPT",
        "",
        (
            r"(?<![\w./-])litgpt\s+(?:pretrain|finetune)\w*",
            flags("train.micro_batch_size", "train.global_batch_size", "data.json_path"),
            r"^(?:checkpoint_dir|lora_r|lora_query|lora_mlp|precision|devices|num_nodes)\s*:",
        ),
    ),
    (
        "fairseq",
        "",
        (
            r"(?<![\w./-])fairseq-(?:hydra-)?train\b",
            flags("max-tokens", "update-freq", "arch", "max-update", "share-all-embeddings"),
        ),
    ),
)
_PATTERNS = tuple(
    (name, why, tuple(re.compile(pattern, re.MULTILINE) for pattern in patterns))
    for name, why, patterns in _FORMATS
)


def name_format(text: str) -> str:
    """Return the name of an unsupported format, with the reason; "" if none is seen."""
    for name, why, patterns in _PATTERNS:
        of_format = len({match[0] for match in patterns[0].finditer(text)})
        others = len({match[0] for pattern in patterns[1:] for match in pattern.finditer(text)})
        if of_format + others > 1 and of_format:
            return f"{name} is not read" + (f": {why}" if why else "")
    return ""
