"""Importer of `config.json` keys, each reported with its line."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from engine.catalog.mixers.mix import letters_of
from engine.catalog.models import Model
from engine.catalog.recent_models import EVERY_MODEL
from engine.run.importers.dialect import Piece, Reader
from engine.run.importers.hugging_face import read_config_model, read_shape
from engine.run.importers.hugging_face_effects import no_effect, tower
from engine.run.importers.hugging_face_flat import INNER, PARTS
from engine.run.importers.import_report import Kind, RunDraft, Setting, shorten
from engine.run.importers.json_text import object_settings
from engine.run.importers.model_families import VERSION
from engine.run.importers.model_shape import ALIASES, ModelShape
from engine.run.importers.unknown_keys import UNKNOWN, report_unknown

# Key -> what of a model is left out, where the rest is predicted.
_LEFT_OUT: Mapping[str, str] = {
    "attn_res_block_size": "residual connections that attend to earlier blocks: their passes over "
    "memory and what they keep are left out",
    "attention_bias": "biases of projections are left out: few parameters, little time",
    "mlp_bias": "biases of projections are left out: few parameters, little time",
    "attention_chunk_size": "attention over all tokens is taken; chunks cost less beyond it",
    "blocksparse_block_size": "attention over all tokens is taken; blocks of it cost less",
    "add_qkv_bias": "biases of projections are left out: few parameters, little time",
    "lm_head_bias": "biases of projections are left out: few parameters, little time",
}
# Keys that say which layers are of which kind, where `layer_types` says it too.
_KINDS = (
    "full_attention_interval",
    "sliding_window_pattern",
    "index_topk_freq",
    "index_skip_topk_offset",
)


def import_hugging_face(tree: Mapping[str, Any], settings: list[Setting], draft: RunDraft) -> None:
    """Import a `config.json` into a draft: the model as an object, or as a catalog key."""
    shape = read_shape(tree)
    towers: set[str] = set()
    for setting in settings:
        kind, meaning = _meaning(setting, shape)
        if kind == "not known":
            report_unknown(setting, draft)
        elif kind == "not modeled" and not _report_encoder(tower(setting.key), towers):
            draft.report_not_modeled(setting, meaning)
        else:
            draft.report(setting, kind, meaning)
    for kind, reasons in (("derived", shape.derived), ("assumed", shape.assumed)):
        for key, why in reasons.items():
            derived = Setting(key=f"model.{key}", value=shape.fields.get(key, ""), line=0)
            draft.report(derived, "derived" if kind == "derived" else "assumed", why)
    problems: list[str] = []
    model = read_config_model(tree, "model", problems)
    draft.contradictions += problems
    if model is not None:
        layers = {"layers": shape.layers} if shape.layers else {}
        draft.values["model"] = find_catalog_model(model) or {**shape.fields, **layers}


def _meaning(setting: Setting, shape: ModelShape) -> tuple[Kind, str]:
    """Return what became of a key, and why."""
    first, _, inner = setting.key.partition(".")
    name = inner if first in (*INNER, *PARTS) and inner else setting.key
    used = name if name in shape.used else name.partition(".")[0]
    if encoder := tower(setting.key):
        return "not modeled", f"{encoder} is left out: the language model alone is predicted"
    if used in shape.used:
        return "understood", f"model.{shape.used[used]} = {shorten(setting.value)}"
    if name == "model_type":
        return "understood", f"the family; its defaults are those of {VERSION}"
    if any(problem.startswith((f"{name}:", f"{used}:")) for problem in shape.problems):
        return "not modeled", "not priced: the reason is told with the answer"
    return _without_size(name, setting, shape)


def _without_size(name: str, setting: Setting, shape: ModelShape) -> tuple[Kind, str]:
    """Return what became of a key that is no size of the model that is predicted."""
    if name in ("sliding_window_size", "attention_chunk_size") and "window" in shape.layers:
        return "without effect", "the window under another name"
    if reason := _said_twice(name, setting, shape):
        return "without effect", reason
    if name in _LEFT_OUT and setting.value:
        return "not modeled", _LEFT_OUT[name]
    if name in ("sliding_window", "max_window_layers") and shape.windows_off:
        return "without effect", "use_sliding_window switches it off"
    if name == "sliding_window" and setting.value:
        return "not modeled", "attention over all tokens is taken; a window costs less beyond it"
    if reason := no_effect(setting.key, setting.value):
        return "without effect", reason
    return "not known", UNKNOWN


def _said_twice(name: str, setting: Setting, shape: ModelShape) -> str:
    """Return why a key says nothing that another key of the file does not say."""
    if name in _KINDS and "layers.order" in shape.used.values():
        return "another key says the kind of each layer"
    sizes = (shape.fields.get(key) for key, names in ALIASES.items() if name in names)
    return "the same size under another name" if setting.value in [*map(str, sizes)] else ""


def _report_encoder(encoder: str, towers: set[str]) -> bool:
    """Return whether an encoder has been warned of; from now on it has."""
    is_reported = encoder in towers
    towers |= {encoder} if encoder else set()
    return is_reported


def find_catalog_model(model: Model) -> str | None:
    """Return the catalog key of the model with the same shape, or None."""
    wanted = _sizes(model)
    return next((key for key, entry in EVERY_MODEL.items() if _sizes(entry) == wanted), None)


def _sizes(model: Model) -> tuple[Any, ...]:
    """Return all that a model is but its name and its source, which kinds of layers have too."""
    without = ("name", "source", "mix")
    names = [key.name for key in fields(Model) if key.init and key.name not in without]
    plain = tuple(getattr(model, name) for name in names)
    if not model.mix:
        return plain
    layers = model.mix.sizes
    return (*plain, replace(layers, order=letters_of(layers, model.num_layers)))


def _read(piece: Piece, draft: RunDraft) -> None:
    import_hugging_face(piece.tree or {}, object_settings(piece), draft)


READER = Reader(read=_read)
