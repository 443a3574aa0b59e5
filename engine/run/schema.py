"""What run files and requests may say: JSON Schema, and a text with every key, default and unit.

Kinds and defaults are those by which the files are read (`engine.run.keys`); what a key says is the
`Attributes` section of the record that it fills.
"""

import json
import re
from collections.abc import Iterator, Mapping
from textwrap import fill
from typing import Any

from engine.catalog.constants import KEPT_FREE
from engine.catalog.mixers.mix import LayerSizes
from engine.catalog.models import Model
from engine.catalog.recent_models import EVERY_MODEL
from engine.run import own_gpu
from engine.run.keys import CLUSTER, GPU, MODEL, PLAN, RECOMPUTED, TRAINING, spec_without
from engine.run.layer_keys import LAYERS
from engine.run.parallelism import Cluster, Plan, Training
from engine.run.plan_request import (
    AXES,
    CHOSEN_WORDS,
    COUNTS,
    LARGEST,
    LARGEST_BATCH,
    SETTINGS,
    TOKENS,
)
from engine.run.plan_space import PlanningJob
from engine.run.values import UNITS, Kind, Spec

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_UNITS: Mapping[str, str] = {
    "nic_bandwidth": "bytes/s",
    "memory": "bytes",
    "memory_bandwidth": "bytes/s",
    "scale_up": "bytes/s, one way, all links together",
    "pcie": "bytes/s, one way",
    "power_limit": "W",
    "price_per_hour": "any currency",
    "sequence_length": "tokens",
    "sliding_window": "tokens",
    "window": "tokens",
    "global_batch_size": "sequences",
    "micro_batch_size": "sequences",
    "tokens": "tokens",
}
_SAID: Mapping[str, str] = {
    "gpu": "the accelerator: its name in the catalog, or an object (below)",
    "like": "the accelerator of the catalog that it is like",
    "power_limit": "of the board, where it is set below that of the maker",
    "memory": "what programs can allocate",
    "memory_bandwidth": "reads and writes together, of that memory",
    "scale_up": "to the other accelerators of the node; 0: none but PCIe",
    "pcie": "to the host",
    "price_per_hour": "of one accelerator for an hour",
    "own_constants": "what was measured on these machines, as the calibration writes it",
    "pipeline_layout": "layers of each virtual stage, where the pipeline is cut by hand",
    "order": "a letter for each layer; a shorter text is repeated",
}
# Where a key is left out, in words: what no constant says.
_DERIVED: Mapping[str, str] = {
    "num_key_value_heads": "as many as attention heads",
    "price_per_hour": "no cost is told",
    "sequence_parallel": "true where tensor_parallel is above 1",
    "schedule": "1f1b, with virtual stages interleaved",
    "overlap_expert_parallel": "what overlap_tensor_parallel says",
    "memory": "that of the accelerator it is like",
    "memory_bandwidth": "that of the accelerator it is like",
    "power_limit": "that of the accelerator it is like",
}
_TOP: Mapping[str, tuple[str, str]] = {
    "model": ("a name of the catalog, its sizes, or a whole config.json", "needed"),
    "sequence_length": ("of a training sequence, in tokens", "needed"),
    "cluster": ("the machines", "needed"),
    "world_size": ("accelerators, all of which are used", "needed"),
    "global_batch_size": ("sequences of a step", "needed"),
    "training": ("what no plan changes", "nothing of it"),
    "choose": ("what plans may choose between", "what the planner offers"),
    "kept_free": ("share of the memory that a plan leaves free", f"{KEPT_FREE}"),
    "count": ("plans to print", "10"),
    "tokens": ("of the whole run; 0: no days and no cost are told", "0"),
    "why": ("keys of a plan that is compared with the best", "no plan"),
    "parallelism": ("how the work is split", "needed"),
}
_MODULES = {"type": "array", "items": {"enum": list(RECOMPUTED)}, "minItems": 1}


def run_schema() -> dict[str, Any]:
    """Return the JSON Schema of a run file."""
    training = _section(TRAINING, Training)
    training["properties"]["recompute"] = _recompute(training["properties"]["recompute"])
    plan = _section(PLAN, Plan)
    plan["properties"]["pipeline_layout"] = {
        "description": _SAID["pipeline_layout"],
        "type": "array",
        "items": {"type": "integer", "minimum": 0, "maximum": 4096},
    }
    properties = {
        "model": _model(),
        "sequence_length": _value((1, 1 << 30), "sequence_length", _TOP["sequence_length"][0]),
        "cluster": _cluster(),
        "parallelism": plan,
        "training": training,
    }
    return _document("run file of Wallclock", properties, tuple(properties))


def request_schema() -> dict[str, Any]:
    """Return the JSON Schema of a request to the planner."""
    run = run_schema()["properties"]
    training = _section(SETTINGS, Training)
    plan_keys = {**run["parallelism"]["properties"], **run["training"]["properties"]}
    numbers = {
        "sequence_length": (1, 1 << 30),
        "world_size": (1, LARGEST),
        "global_batch_size": (1, LARGEST_BATCH),
        "count": COUNTS,
        "tokens": TOKENS,
    }
    properties = {
        "model": run["model"],
        "cluster": run["cluster"],
        **{key: _value(kind, key, _TOP[key][0]) for key, kind in numbers.items()},
        "training": training,
        "choose": _choices(),
        "kept_free": {
            "description": _TOP["kept_free"][0],
            "type": "number",
            "minimum": 0,
            "exclusiveMaximum": 1,
            "default": KEPT_FREE,
        },
        "why": {
            "description": _TOP["why"][0],
            "type": "object",
            "properties": plan_keys,
            "additionalProperties": False,
        },
    }
    needed = ("model", "sequence_length", "cluster", "world_size", "global_batch_size")
    ordered = {key: properties[key] for key in _TOP if key in properties}
    return _document("request to the planner of Wallclock", ordered, needed)


def schema_text(schema: Mapping[str, Any]) -> str:
    """Return a schema as the text of a file."""
    return json.dumps(schema, indent=2) + "\n"


SCHEMAS = {"run": run_schema, "request": request_schema}


def request_help() -> str:
    """Return every key of a request with what it says, its default and its unit."""
    return "\n".join(_help_lines())


def _help_lines() -> Iterator[str]:
    yield "A request is one JSON object. All values are in SI units, or texts with their unit.\n"
    for key in request_schema()["properties"]:
        description, default = _TOP[key]
        yield _entry(key, description, default)
    sections: tuple[tuple[str, Spec, type[Any]], ...] = (
        ("model, where it is no name and no config.json", MODEL, Model),
        ("model.layers, where layers differ", LAYERS, LayerSizes),
        ("cluster", CLUSTER, Cluster),
        ("training", SETTINGS, Training),
        ("why, beside those of training", spec_without(PLAN, "world_size"), Plan),
    )
    for title, spec, record in sections:
        yield f"\nKeys of {title}:"
        yield from _spec_lines(spec, record)
        if spec is CLUSTER:
            yield _entry("own_constants", _SAID["own_constants"], "those of the catalog")
            yield from _gpu_lines()
    yield _entry("pipeline_layout", _SAID["pipeline_layout"], "as evenly as it goes")
    yield "\nKeys of choose, each a list:"
    for key, words in CHOSEN_WORDS.items():
        yield _entry(key, f"out of {', '.join(words)}", "what the planner offers")
    for key in AXES:
        yield _entry(key, "sizes to try", "those that the planner offers")


def _gpu_lines() -> Iterator[str]:
    yield "\nKeys of cluster.gpu, where it is an object like one of the catalog:"
    yield from _spec_lines(GPU, Cluster)
    yield "\nKeys of cluster.gpu, where it is an accelerator of your own:"
    yield _entry("peak", f"an object with {', '.join(own_gpu.PRECISIONS)}; FLOP/s, dense", "needed")
    for key, (_, _, default) in own_gpu.RANGES.items():
        needed = "0" if key == "scale_up" else f"{default:g}" if default else "needed"
        yield _entry(key, _with_unit(key, _SAID[key]), needed)


def _spec_lines(spec: Spec, record: type[Any]) -> Iterator[str]:
    described = _attribute_descriptions(record)
    for key, (kind, default) in spec.items():
        words = _SAID.get(key) or described.get(key, "")
        allowed = _words(kind)
        text = f"{words} ({', '.join(allowed)})" if allowed else words
        yield _entry(key, _with_unit(key, text), _default_words(key, default))


def _entry(key: str, description: str, default: str) -> str:
    """Return a key with what it says, and what holds where it is left out."""
    head = f"  {key}"
    text = (
        f"{description}. Left out: {default}." if default != "needed" else f"{description}. Needed."
    )
    return fill(
        text,
        width=98,
        initial_indent=f"{head:<30}",
        subsequent_indent=" " * 30,
        break_on_hyphens=False,
    )


def _default_words(key: str, default: object) -> str:
    if default is ...:
        return "needed"
    if default is None:
        return _DERIVED[key]
    if isinstance(default, bool):
        return str(default).lower()
    return str(default) if default != "" else "as the software does unasked"


def _with_unit(key: str, text: str) -> str:
    return f"{text} [{_UNITS[key]}]" if key in _UNITS else text


def _attribute_descriptions(record: type[Any]) -> Mapping[str, str]:
    """Return what each attribute of a record says, from its docstring."""
    text = (record.__doc__ or "").partition("Attributes:\n")[2]
    descriptions: dict[str, str] = {}
    names: list[str] = []
    for line in text.splitlines():
        if match := re.match(r"        ((?:\w+, )*\w+): (.*)", line):
            names = match[1].split(", ")
            descriptions |= dict.fromkeys(names, match[2])
        elif line.strip() and names:
            descriptions |= {name: f"{descriptions[name]} {line.strip()}" for name in names}
    return {name: words.rstrip(".") for name, words in descriptions.items()}


def _document(
    title: str, properties: Mapping[str, Any], required: tuple[str, ...]
) -> dict[str, Any]:
    return {
        "$schema": DIALECT,
        "title": title,
        "description": "All values in SI units.",
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def _section(spec: Spec, record: type[Any]) -> dict[str, Any]:
    """Return the schema of an object with the keys of a spec."""
    described = _attribute_descriptions(record)
    properties = {}
    for key, (kind, default) in spec.items():
        value = _value(kind, key, _SAID.get(key) or described.get(key, ""))
        if default is None:
            value["description"] += f". Left out: {_DERIVED[key]}"
        elif default is not ... and default != "":
            value["default"] = default
        properties[key] = value
    return {
        "type": "object",
        "properties": properties,
        "required": sorted(spec.required),
        "additionalProperties": False,
    }


def _value(kind: Kind, key: str, description: str) -> dict[str, Any]:
    """Return the schema of a value of a kind."""
    value: dict[str, Any] = {"description": _with_unit(key, description)}
    if kind is bool:
        return value | {"type": "boolean"}
    if isinstance(kind, float):
        return value | _or_text(key, {"type": "number", "exclusiveMinimum": kind, "maximum": 1e18})
    if words := _words(kind):
        return value | {"enum": list(words)}
    if not isinstance(kind, tuple):
        raise TypeError(kind)
    return value | _or_text(key, {"type": "integer", "minimum": kind[0], "maximum": kind[-1]})


def _or_text(key: str, number: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a number, which may be a text with a unit at some keys."""
    if key not in UNITS:
        return number
    return {"anyOf": [number, {"type": "string", "examples": [UNITS[key][1]]}]}


def _words(kind: Kind) -> tuple[str, ...]:
    """Return the words of a choice; nothing for another kind."""
    return tuple(word for word in kind if isinstance(word, str)) if isinstance(kind, tuple) else ()


def _recompute(words: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "description": f"{words['description']}; or a list of modules",
        "default": words["default"],
        "anyOf": [{"enum": words["enum"]}, _MODULES],
    }


def _model() -> dict[str, Any]:
    sizes = _section(MODEL, Model)
    layers = _section(LAYERS, LayerSizes)
    for key in ("order", "prediction"):
        words = _SAID.get(key) or _attribute_descriptions(LayerSizes)[key]
        layers["properties"][key] = {"description": words, "type": "string", "maxLength": 4096}
    sizes["properties"]["layers"] = layers
    config = {
        "description": "a config.json of Hugging Face Transformers",
        "type": "object",
        "anyOf": [{"required": ["model_type"]}, {"required": ["architectures"]}],
    }
    return {"description": _TOP["model"][0], "anyOf": [{"enum": list(EVERY_MODEL)}, sizes, config]}


def _cluster() -> dict[str, Any]:
    cluster = _section(CLUSTER, Cluster)
    properties = cluster["properties"]
    gpu_properties = {
        "peak": {
            "description": "dense peak by precision [FLOP/s]",
            "type": "object",
            "properties": {
                key: {"type": "number", "minimum": own_gpu.PEAK[0], "maximum": own_gpu.PEAK[1]}
                for key in own_gpu.PRECISIONS
            },
            "anyOf": [{"required": ["bf16"]}, {"required": ["fp16"]}],
            "additionalProperties": False,
        },
        **{key: _own_number(key) for key in own_gpu.RANGES},
    }
    properties["gpu"] = {
        "description": "name of the catalog, one like it, or one of your own",
        "anyOf": [
            {"enum": properties["gpu"]["enum"]},
            _section(GPU, Cluster),
            {
                "type": "object",
                "properties": gpu_properties,
                "required": ["peak", "memory", "memory_bandwidth"],
                "additionalProperties": False,
            },
        ],
    }
    properties["own_constants"] = {
        "description": _SAID["own_constants"],
        "type": "string",
        "default": "",
    }
    return cluster


def _own_number(key: str) -> dict[str, Any]:
    low, high, default = own_gpu.RANGES[key]
    described = {"description": _with_unit(key, _SAID[key])}
    number = {"type": "number", "minimum": low, "maximum": high}
    allowed = _or_text(key, number)
    if key == "scale_up":
        return {**described, "anyOf": [{"const": 0}, *allowed["anyOf"]], "default": 0}
    return described | allowed | ({"default": default} if default else {})


def _choices() -> dict[str, Any]:
    described = _attribute_descriptions(PlanningJob)
    words = {
        key: {
            "description": described["recomputes" if key == "recompute" else key],
            "type": "array",
            "items": {"enum": list(allowed)},
            "minItems": 1,
            "uniqueItems": True,
        }
        for key, allowed in CHOSEN_WORDS.items()
    }
    sizes = {
        key: {
            "description": "sizes to try",
            "type": "array",
            "items": {"type": "integer", "minimum": 1, "maximum": LARGEST},
            "minItems": 1,
        }
        for key in AXES
    }
    return {
        "description": _TOP["choose"][0],
        "type": "object",
        "properties": {**words, **sizes},
        "additionalProperties": False,
    }
