"""Recognition of the `config.json` of a model, which any trainer's text may stand beside."""

from engine.run.importers.dialect import Dialect, Piece, words
from engine.run.importers.hugging_face_keys import import_hugging_face
from engine.run.importers.import_report import RunDraft
from engine.run.importers.json_text import object_settings


def _read(piece: Piece, draft: RunDraft) -> None:
    import_hugging_face(piece.tree or {}, object_settings(piece), draft)


CONFIG_JSON = Dialect(
    name="Hugging Face config.json",
    read=_read,
    keys=words(
        """model_type architectures transformers_version hidden_size n_embd d_model hidden_dim
        num_hidden_layers n_layer n_layers num_layers num_attention_heads n_head n_heads
        num_key_value_heads intermediate_size ffn_hidden_size vocab_size padded_vocab_size
        max_position_embeddings n_positions hidden_act rms_norm_eps tie_word_embeddings
        initializer_range bos_token_id eos_token_id text_config llm_config language_config
        num_experts num_local_experts n_routed_experts is_encoder_decoder block_configs"""
    ),
)
