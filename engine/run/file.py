"""A training run as a document of a run file: keys, defaults, and what is allowed.

Every value is in SI units. A document that cannot be read ends in an `InputError` that names each
problem by the path of its key, the value, and what is allowed.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS, Mlp, Model
from engine.run.limits import impossible
from engine.run.parallelism import Cluster, Framework, Plan, Recompute, Schedule, Training

_LARGEST = 10**9
_LARGEST_RATE = 1e18
_COUNT = (1, _LARGEST)
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "mlp": get_args(Mlp),
    "precision": ("bf16", "fp16", "fp8"),
    "recompute": get_args(Recompute),
    "schedule": get_args(Schedule),
    "framework": get_args(Framework),
    "gpu": tuple(sorted(ACCELERATORS)),
}


class InputError(Exception):
    """A document that describes no training run.

    Attributes:
        problems: one line for each: path of the key, value, what is allowed.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A training run."""

    model: Model
    cluster: Cluster
    plan: Plan
    training: Training


# Of each section: key -> (what it is, default); `...` marks a key that must be there. A pair of
# numbers is a range of whole numbers, a float its lower bound, a word names the choices.
_Kind = tuple[int, int] | float | str | type[bool]
_Spec = Mapping[str, tuple[_Kind, Any]]
_MODEL: _Spec = {
    "num_layers": ((1, 4096), ...),
    "hidden_size": ((1, 1 << 20), ...),
    "num_attention_heads": ((1, 1 << 16), ...),
    "num_key_value_heads": ((1, 1 << 16), None),
    "ffn_hidden_size": ((1, 1 << 24), ...),
    "vocab_size": ((1, 1 << 24), ...),
    "mlp": ("mlp", ...),
    "tied_embeddings": (bool, ...),
    "num_experts": ((0, 1 << 16), 0),
    "experts_per_token": ((0, 1 << 16), 0),
    "num_shared_experts": ((0, 1 << 10), 0),
    "expert_ffn_hidden_size": ((0, 1 << 24), 0),
    "num_dense_layers": ((0, 4096), 0),
}
_CLUSTER: _Spec = {
    "gpu": ("gpu", ...),
    "gpus_per_node": ((1, 1024), ...),
    "nics_per_node": ((1, 1024), ...),
    "nic_bandwidth": (0.0, ...),
}
_PLAN: _Spec = {
    "world_size": (_COUNT, ...),
    "tensor_parallel": (_COUNT, 1),
    "pipeline_parallel": (_COUNT, 1),
    "virtual_pipeline": (_COUNT, 1),
    "context_parallel": (_COUNT, 1),
    "expert_parallel": (_COUNT, 1),
    "sequence_parallel": (bool, None),
    "zero_stage": ((0, 3), 1),
    "shard_group": ((0, _LARGEST), 0),
}
_TRAINING: _Spec = {
    "micro_batch_size": (_COUNT, ...),
    "global_batch_size": (_COUNT, ...),
    "precision": ("precision", ...),
    "recompute": ("recompute", "none"),
    "flash_attention": (bool, True),
    "schedule": ("schedule", None),
    "overlap_gradient_reduce": (bool, True),
    "overlap_tensor_parallel": (bool, False),
    "framework": ("framework", "megatron"),
    "compiled": (bool, True),
}
_SECTIONS = ("model", "sequence_length", "cluster", "parallelism", "training")


def read(document: object) -> Run:
    """Return the run that a document describes; raise `InputError` with every problem found."""
    found: list[str] = []
    if not isinstance(document, Mapping):
        raise InputError([f"run: {_shown(document)}; allowed: an object"])
    found += [
        f"{key}: {_shown(document[key])}; unknown key; allowed: {', '.join(_SECTIONS)}"
        for key in document
        if key not in _SECTIONS
    ]
    model = _model(document.get("model", ...), found)
    length = _value("sequence_length", document.get("sequence_length", ...), (1, 1 << 30), found)
    cluster = _section("cluster", document.get("cluster", ...), _CLUSTER, found)
    plan = _section("parallelism", document.get("parallelism", ...), _PLAN, found)
    training = _section("training", document.get("training", ...), _TRAINING, found)
    if found or model is None:
        raise InputError(found)
    if plan["sequence_parallel"] is None:
        plan["sequence_parallel"] = plan["tensor_parallel"] > 1
    if training["schedule"] is None:
        training["schedule"] = "interleaved" if plan["virtual_pipeline"] > 1 else "1f1b"
    run = Run(
        model=model,
        cluster=Cluster(**cluster | {"gpu": ACCELERATORS[cluster["gpu"]]}),
        plan=Plan(**plan),
        training=Training(
            sequence_length=length, **training, first_flash_attention=_is_early(model, training)
        ),
    )
    if problems := impossible(run.model, run.plan, run.training):
        raise InputError(problems)
    return run


def _is_early(model: Model, training: Mapping[str, Any]) -> bool:
    """Return whether the software is taken to be older than FlashAttention-2 (July 2023).

    A document does not say. Code that fuses nothing around GELU is of the time of GPT-3 and MPT.
    """
    return model.mlp == "gelu" and training["flash_attention"] and not training["compiled"]


def _model(given: object, found: list[str]) -> Model | None:
    if isinstance(given, str):
        if given in MODELS:
            return MODELS[given]
        found.append(f'model: "{given}"; allowed: an object, or one of {", ".join(MODELS)}')
        return None
    before = len(found)
    values = _section("model", given, _MODEL, found)
    if len(found) > before:
        return None
    if values["num_key_value_heads"] is None:
        values["num_key_value_heads"] = values["num_attention_heads"]
    return Model(name="custom", **values)


def _section(name: str, given: object, spec: _Spec, found: list[str]) -> dict[str, Any]:
    """Return the values of a section, defaults filled in; add what is wrong to `found`."""
    if not isinstance(given, Mapping):
        missing = "missing" if given is ... else _shown(given)
        found.append(f"{name}: {missing}; allowed: an object with {', '.join(spec)}")
        return {}
    found += [
        f"{name}.{key}: {_shown(given[key])}; unknown key; allowed: {', '.join(spec)}"
        for key in given
        if key not in spec
    ]
    return {
        key: default
        if default is not ... and key not in given
        else _value(f"{name}.{key}", given.get(key, ...), kind, found)
        for key, (kind, default) in spec.items()
    }


def _value(path: str, given: object, kind: _Kind, found: list[str]) -> Any:  # noqa: ANN401
    """Return a value as it is; add to `found` what is wrong with it."""
    fine, allowed = _check(given, kind)
    if not fine:
        found.append(f"{path}: {'missing' if given is ... else _shown(given)}; allowed: {allowed}")
    return given


def _check(given: object, kind: _Kind) -> tuple[bool, str]:
    """Return whether a value is of a kind, and what is."""
    if kind is bool:
        return isinstance(given, bool), "true or false"
    if isinstance(kind, str):
        choices = _CHOICES[kind]
        return isinstance(given, str) and given in choices, ", ".join(choices)
    number = isinstance(given, int | float) and not isinstance(given, bool)
    if isinstance(kind, tuple):
        low, high = kind
        whole = number and isinstance(given, int) and low <= given <= high
        return whole, f"a whole number from {low} to {high}"
    positive = number and isinstance(given, int | float) and 0 < given <= _LARGEST_RATE
    return positive, "a number above 0, at most 1e18"


def _shown(value: object) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 80 else text[:77] + "..."
