"""Recipes of Megatron-Bridge with overrides: `model.tensor_model_parallel_size=4` and the like."""

import re

from engine.catalog.models import MODELS
from engine.run.importers.import_report import Draft, Given
from engine.run.importers.megatron import take_megatron

_OVERRIDE = re.compile(
    r"(?:^|\s)\+{0,2}((?:model|train|dataset|ddp|optimizer|mixed_precision|comm_overlap|cfg|"
    r"checkpoint|logger|scheduler|rng|dist|tokenizer|profiling|nsys)(?:\.[a-z_0-9]{1,60})*)"
    r"\s?=\s?(\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'|\[[^\]\n]{0,300}\]|[^\s\\]{1,300})"
)
_RECIPE = re.compile(
    r"(?:--recipe[ =]|recipe\s?=\s?[\"']?|\b)([a-z0-9_.]{3,60})_(?:pretrain|sft|finetune)_"
    r"(?:\d+gpu_)?[a-z0-9_]{0,60}config"
)


_LONGEST = 40_000  # characters of a line


def overrides(text: str, first_line: int = 1) -> list[Given]:
    """Return `KEY=VALUE` overrides and the recipe's name, with their lines."""
    found: list[Given] = []
    for number, line in enumerate(text.splitlines(), first_line):
        code = re.sub(r"(^|\s)#.*$", " ", line[:_LONGEST])
        found += [
            Given(key="recipe", value=match[1], line=number)
            for match in _RECIPE.finditer(code)
            if match[1] not in [one.value for one in found if one.key == "recipe"]
        ]
        found += [
            Given(key=match[1], value=_list(match[2]), line=number)
            for match in _OVERRIDE.finditer(code)
        ]
    return found


def _list(text: str) -> object:
    word = text.strip("\"'")
    if word.startswith("[") and word.endswith("]"):
        return [part.strip(" \"'") for part in word[1:-1].split(",") if part.strip()]
    return word


def take_bridge(given: list[Given], draft: Draft) -> None:
    """Read overrides into a draft."""
    for one in given:
        name = one.key.removeprefix("cfg.").removeprefix("config.")
        if name == "recipe" or name == "def":
            _recipe(one, draft)
        elif name in ("mixed_precision", "mixed_precision.precision"):
            word = str(one.value).lower()
            kind = next((k for k in ("fp4", "fp8", "mxfp8", "fp16") if k in word), "bf16")
            draft.take(one, "training.precision", "fp8" if kind == "mxfp8" else kind)
            if kind in ("fp8", "fp4", "mxfp8") and "subchannel" not in word:
                draft.values["training.quantized_weights"] = True
            blocks = "mxfp8" in word or "subchannel" in word
            draft.notes["fp8-recipe"] = "blockwise" if blocks else "tensorwise"
        else:
            section, _, key = name.rpartition(".")
            plain = Given(key=key or name, value=_off(one.value), line=one.line)
            take_megatron([plain], draft)
            entry = draft.entries.pop()
            draft.tell(one, entry.kind, entry.meaning)
            del section


def _off(value: object) -> object:
    """A switch that is set to true has no value in Megatron's arguments."""
    return True if str(value).lower() == "true" else value


def _recipe(one: Given, draft: Draft) -> None:
    """Take the model from the name of a recipe, llama3_70b_pretrain_config."""
    gpus = re.search(r"_(\d{1,7})gpus?(_|$)", str(one.value))
    if gpus:
        draft.notes["recipe_gpus"] = int(gpus[1])
    key = model_named(str(one.value))
    if key:
        draft.take(one, "model", key)
    else:
        draft.tell(one, "ignored", "no model of the catalog is named so")


def model_named(text: str) -> str | None:
    """Return the row of the catalog whose name a text begins with, spelled as recipes do."""
    word = _plain(text)
    rows = [key for key in MODELS if word.startswith(_plain(key))]
    return max(rows, key=len) if rows else None


def _plain(text: str) -> str:
    word = re.sub(r"[^a-z0-9]", "", text.lower().replace("llama31", "llama3"))
    return word.replace("llama31", "llama3")
