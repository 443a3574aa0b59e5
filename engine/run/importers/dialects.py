"""The dialects that are read, one line each.

The order is that of completion: of software that describes one job together, the first derives.
"""

from engine.run.importers.accelerate import ACCELERATE_YAML
from engine.run.importers.automodel import AUTOMODEL
from engine.run.importers.axolotl import AXOLOTL
from engine.run.importers.bridge import BRIDGE_OVERRIDES
from engine.run.importers.config_json import CONFIG_JSON
from engine.run.importers.deepspeed import DEEPSPEED_JSON
from engine.run.importers.dialect import Dialect
from engine.run.importers.gpt_neox import GPT_NEOX
from engine.run.importers.gpt_neox_printed import GPT_NEOX_PRINTED
from engine.run.importers.launch_script import LAUNCH_SCRIPT
from engine.run.importers.llama_factory import LLAMA_FACTORY
from engine.run.importers.llm_foundry import LLM_FOUNDRY
from engine.run.importers.maxtext import MAXTEXT_OVERRIDES, MAXTEXT_YAML
from engine.run.importers.megatron_dialects import MEGATRON_ARGUMENTS, MEGATRON_LOG
from engine.run.importers.megatron_yaml import MEGATRON_YAML
from engine.run.importers.nanotron import NANOTRON
from engine.run.importers.nemo1 import NEMO_1
from engine.run.importers.nemo2 import NEMO_2
from engine.run.importers.openrlhf import OPENRLHF
from engine.run.importers.run_file import RUN_FILE
from engine.run.importers.slime import SLIME
from engine.run.importers.swift import SWIFT
from engine.run.importers.torchtitan_dialects import (
    TORCHTITAN_FLAGS,
    TORCHTITAN_PYTHON,
    TORCHTITAN_TOML,
)
from engine.run.importers.training_arguments_dialects import TRAINER_PYTHON, TRAINING_ARGUMENTS
from engine.run.importers.verl import VERL

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
