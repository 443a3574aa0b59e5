"""Recent models, and every model of the catalog.

Apart from `engine.catalog.models`, which travels with nearly every page: the layers of many of
these differ, and what describes them is larger than all older rows.
"""

from collections.abc import Mapping
from typing import Any

from engine.catalog.mixers.mix import LayerSizes, mixed_model
from engine.catalog.models import MODELS, Model
from engine.catalog.recent_rows import RECENT_ROWS, RecentRow


def _model_of(row: RecentRow) -> Model:
    """Return the model of a row."""
    sizes: dict[str, Any] = {"mlp": "swiglu", "tied_embeddings": False, **row.others}
    model = Model(
        name=row.name,
        num_layers=row.shape[0],
        hidden_size=row.shape[1],
        num_attention_heads=row.shape[2],
        num_key_value_heads=row.shape[3],
        ffn_hidden_size=row.shape[4],
        vocab_size=row.shape[5],
        source="model_files",
        **sizes,
    )
    return mixed_model(model, LayerSizes(**row.layers)) if row.layers else model


RECENT_MODELS: Mapping[str, Model] = {row.key: _model_of(row) for row in RECENT_ROWS}
EVERY_MODEL: Mapping[str, Model] = {**MODELS, **RECENT_MODELS}
