"""A model as the keys of a run file."""

from dataclasses import fields
from typing import Any

from engine.catalog.models import Model
from engine.run.keys import MODEL


def model_keys(model: Model) -> dict[str, Any]:
    """Return a model's keys of a run file; its name and its source have none."""
    attention = "mla" if model.attention == "mla" else "gqa"
    keys = {key: getattr(model, key) for key in MODEL} | {"attention": attention}
    if not model.mix:
        return keys
    sizes = model.mix.sizes
    values = {size.name: getattr(sizes, size.name) for size in fields(sizes)}
    return keys | {"layers": {key: value for key, value in values.items() if value}}
