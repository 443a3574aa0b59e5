"""The dialects that are read, one line each.

The order is that of completion: of software that describes one job together, the first derives.
"""

from engine.run.importers.accelerate import ACCELERATE_YAML
from engine.run.importers.automodel import AUTOMODEL
from engine.run.importers.axolotl import AXOLOTL
from engine.run.importers.bridge import BRIDGE_OVERRIDES
from engine.run.importers.deepspeed import DEEPSPEED_JSON
from engine.run.importers.dialect import Dialect, Piece, words
from engine.run.importers.gpt_neox import GPT_NEOX, GPT_NEOX_PRINTED
from engine.run.importers.hugging_face_keys import import_hugging_face
from engine.run.importers.import_report import RunDraft
from engine.run.importers.json_text import object_settings
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
from engine.run.importers.slime import SLIME
from engine.run.importers.swift import SWIFT
from engine.run.importers.torchtitan_dialects import (
    TORCHTITAN_FLAGS,
    TORCHTITAN_PYTHON,
    TORCHTITAN_TOML,
)
from engine.run.importers.training_arguments_dialects import TRAINER_PYTHON, TRAINING_ARGUMENTS
from engine.run.importers.verl import VERL


def _read_config_json(piece: Piece, draft: RunDraft) -> None:
    import_hugging_face(piece.tree or {}, object_settings(piece), draft)


CONFIG_JSON = Dialect(
    name="Hugging Face config.json",
    read=_read_config_json,
    keys=words(
        """model_type architectures transformers_version hidden_size n_embd d_model hidden_dim
        num_hidden_layers n_layer n_layers num_layers num_attention_heads n_head n_heads
        num_key_value_heads intermediate_size ffn_hidden_size vocab_size padded_vocab_size
        max_position_embeddings n_positions hidden_act rms_norm_eps tie_word_embeddings
        initializer_range bos_token_id eos_token_id text_config llm_config language_config
        num_experts num_local_experts n_routed_experts is_encoder_decoder block_configs"""
    ),
)


def _read_run_file(piece: Piece, draft: RunDraft) -> None:
    draft.notes["document"] = piece.tree
    for setting in object_settings(piece):
        draft.report(setting, "understood", "a key of a run file")


RUN_FILE = Dialect(
    name="run file",
    read=_read_run_file,
    software="run file",
    keys=frozenset(("parallelism", "training", "cluster")),
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
