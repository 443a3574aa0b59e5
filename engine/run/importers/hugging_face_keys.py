"""Importer of `config.json` keys, each reported with its line."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from engine.catalog.models import MODELS, Model
from engine.run.importers.hugging_face import read_config_model, read_shape
from engine.run.importers.hugging_face_flat import INNER, PARTS
from engine.run.importers.import_report import RunDraft, Setting
from engine.run.importers.model_families import VERSION


def import_hugging_face(tree: Mapping[str, Any], settings: list[Setting], draft: RunDraft) -> None:
    """Import a `config.json` into a draft: the model as an object, or as a catalog key."""
    shape = read_shape(tree)
    for setting in settings:
        name = (
            setting.key.removeprefix(setting.key.partition(".")[0] + ".")
            if _nested(setting.key)
            else setting.key
        )
        if name in shape.used:
            draft.report_used(setting, f"model.{shape.used[name]}")
        elif name == "model_type":
            draft.report(setting, "understood", f"the family; its defaults are those of {VERSION}")
        else:
            draft.report(
                setting, "ignored", "changes neither time nor memory that is predicted here"
            )
    for kind, reasons in (("derived", shape.derived), ("assumed", shape.assumed)):
        for key, why in reasons.items():
            derived = Setting(key=f"model.{key}", value=shape.fields.get(key, ""), line=0)
            draft.report(derived, "derived" if kind == "derived" else "assumed", why)
    problems: list[str] = []
    model = read_config_model(tree, "model", problems)
    draft.contradictions += problems
    if model is not None:
        draft.values["model"] = find_catalog_model(model) or dict(shape.fields)


def _nested(key: str) -> bool:
    return key.partition(".")[0] in (*INNER, *PARTS)


def find_catalog_model(model: Model) -> str | None:
    """Return the catalog key of the model with the same shape, or None."""
    names = ("name", "source")
    sizes = [entry.name for entry in fields(Model) if entry.init and entry.name not in names]
    wanted = {name: getattr(model, name) for name in sizes}
    for key, entry in MODELS.items():
        if all(getattr(entry, name) == value for name, value in wanted.items()):
            return key
    return None
