"""The dialects that are read, one line each.

The order is that of completion: of software that describes one job together, the first derives.
"""

from engine.run.importers.command_dialects import (
    BRIDGE_OVERRIDES,
    LAUNCH_SCRIPT,
    MEGATRON_ARGUMENTS,
    MEGATRON_LOG,
    NEMO_2,
    OPENRLHF,
    SLIME,
    SWIFT,
    TRAINER_PYTHON,
    TRAINING_ARGUMENTS,
    VERL,
)
from engine.run.importers.dialect import Dialect
from engine.run.importers.file_dialects import (
    ACCELERATE_YAML,
    AUTOMODEL,
    AXOLOTL,
    CONFIG_JSON,
    DEEPSPEED_JSON,
    GPT_NEOX,
    GPT_NEOX_PRINTED,
    LLAMA_FACTORY,
    LLM_FOUNDRY,
    MAXTEXT_OVERRIDES,
    MAXTEXT_YAML,
    MEGATRON_YAML,
    NANOTRON,
    NEMO_1,
    RUN_FILE,
    TORCHTITAN_FLAGS,
    TORCHTITAN_PYTHON,
    TORCHTITAN_TOML,
)

DIALECTS: tuple[Dialect, ...] = (
    RUN_FILE,
    CONFIG_JSON,
    TORCHTITAN_TOML,
    TORCHTITAN_PYTHON,
    TORCHTITAN_FLAGS,
    LLAMA_FACTORY,
    AXOLOTL,
    SWIFT,
    VERL,
    OPENRLHF,
    TRAINER_PYTHON,
    TRAINING_ARGUMENTS,
    GPT_NEOX,
    GPT_NEOX_PRINTED,
    NANOTRON,
    MAXTEXT_YAML,
    MAXTEXT_OVERRIDES,
    AUTOMODEL,
    LLM_FOUNDRY,
    NEMO_1,
    NEMO_2,
    MEGATRON_YAML,
    BRIDGE_OVERRIDES,
    SLIME,
    MEGATRON_LOG,
    MEGATRON_ARGUMENTS,
    DEEPSPEED_JSON,
    ACCELERATE_YAML,
    LAUNCH_SCRIPT,
)
BY_NAME = {dialect.name: dialect for dialect in DIALECTS}
