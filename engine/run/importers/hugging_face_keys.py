"""The keys of a `config.json`, each told with its line."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from engine.catalog.models import MODELS, Model
from engine.run.importers.hugging_face import model_of, shape_of
from engine.run.importers.hugging_face_flat import INNER, PARTS
from engine.run.importers.import_report import Draft, Given
from engine.run.importers.model_families import VERSION


def take_hugging_face(tree: Mapping[str, Any], given: list[Given], draft: Draft) -> None:
    """Read a `config.json` into a draft: the model as an object, or as a row of the catalog."""
    shape = shape_of(tree)
    for one in given:
        name = (
            one.key.removeprefix(one.key.partition(".")[0] + ".") if _nested(one.key) else one.key
        )
        if name in shape.used:
            draft.take_silent(one, f"model.{shape.used[name]}")
        elif name == "model_type":
            draft.tell(one, "understood", f"the family; its defaults are those of {VERSION}")
        else:
            draft.tell(one, "ignored", "changes neither time nor memory that is predicted here")
    for kind, told in (("derived", shape.derived), ("assumed", shape.assumed)):
        for key, why in told.items():
            said = Given(key=f"model.{key}", value=shape.fields.get(key, ""), line=0)
            draft.tell(said, "derived" if kind == "derived" else "assumed", why)
    found: list[str] = []
    model = model_of(tree, "model", found)
    draft.contradictions += found
    if model is not None:
        draft.values["model"] = known(model) or dict(shape.fields)


def _nested(key: str) -> bool:
    return key.partition(".")[0] in (*INNER, *PARTS)


def known(model: Model) -> str | None:
    """Return the row of the catalog that has the same shape."""
    names = ("name", "source")
    sizes = [one.name for one in fields(Model) if one.init and one.name not in names]
    wanted = {name: getattr(model, name) for name in sizes}
    for key, one in MODELS.items():
        if all(getattr(one, name) == value for name, value in wanted.items()):
            return key
    return None
