"""Reader of run files: keys, defaults and allowed values of a training run.

Every value is in SI units. A document that cannot be read ends in an `InputError` that names each
problem by the path of its key, the value, and what is allowed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from engine.catalog.accelerators import ACCELERATORS, Gpu
from engine.catalog.models import MODELS, Model, head_size
from engine.catalog.power_limited import with_power_limit
from engine.catalog.reader_constants import OwnConstants, parse_constants
from engine.core.units import HOUR, Count
from engine.run.fp8_layouts import reads_any_operand_layout
from engine.run.keys import CLUSTER, GPU, MODEL, PLAN, RECOMPUTED, SECTIONS, TRAINING
from engine.run.limits import indivisible_sizes
from engine.run.own_gpu import read_own_gpu
from engine.run.parallelism import Cluster, Plan, Training
from engine.run.run import Run
from engine.run.values import (
    check_words,
    format_value,
    read_section,
    read_value,
    report_unknown_keys,
    suggestion,
)

LONGEST_NAME = 40  # of a model, to look for one that is close
# Takes what a document says of its model and the list of what is wrong; None if something is.
ModelReader = Callable[[object, list[str]], Model | None]


_EXAMPLE = "llama-3-70b"  # of the catalog


class InputError(ValueError):
    """An invalid run file, with every problem found.

    Attributes:
        problems: one line for each: path of the key, value, what is allowed.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


def read_model(value: object, problems: list[str]) -> Model | None:
    """Return a model of the catalog or of the keys of a run file."""
    if isinstance(value, str):
        if value in MODELS:
            return MODELS[value]
        problems.append(
            f"model: {format_value(value)}; allowed: an object, or one of {', '.join(MODELS)}"
            f"{suggestion(value[:LONGEST_NAME], MODELS)}"
        )
        return None
    if value is ...:
        problems.append(
            f"model: missing; allowed: a name such as {_EXAMPLE}, or an object with "
            f"{', '.join(MODEL)}"
        )
        return None
    before = len(problems)
    values = read_section("model", value, MODEL, problems)
    if len(problems) > before:
        return None
    if values["num_key_value_heads"] is None:
        values["num_key_value_heads"] = values["num_attention_heads"]
    values["attention"] = "mla" if values["attention"] == "mla" else "mha"
    model = _interned_model(Model(name="custom", **values))
    problems += model_contradictions(model)
    return model if len(problems) == before else None


@lru_cache(maxsize=1024)
def _interned_model(model: Model) -> Model:
    """Return one shared object for equal models, so that caches find it by identity."""
    return model


def read_document(document: object, model_of: ModelReader = read_model) -> Run:
    """Return the run that a document describes; raise `InputError` with every problem found."""
    problems: list[str] = []
    if not isinstance(document, Mapping):
        raise InputError([f"run: {format_value(document)}; allowed: an object"])
    report_unknown_keys("", document, SECTIONS, problems)
    model = model_of(document.get("model", ...), problems)
    length = read_value(
        "sequence_length", document.get("sequence_length", ...), (1, 1 << 30), problems
    )
    cluster = read_cluster(document.get("cluster", ...), problems)
    plan = read_plan(document.get("parallelism", ...), problems)
    training = read_training(document.get("training", ...), problems)
    if problems or model is None:
        raise InputError(problems)
    if plan["sequence_parallel"] is None:
        plan["sequence_parallel"] = plan["tensor_parallel"] > 1
    if training["schedule"] is None:
        training["schedule"] = "interleaved" if plan["virtual_pipeline"] > 1 else "1f1b"
    run = Run(
        model=model,
        cluster=Cluster(**cluster),
        plan=Plan(**plan),
        training=Training(
            sequence_length=length,
            **training,
            first_flash_attention=_is_early(model, training),
            block_scales=reads_any_operand_layout(cluster["gpu"]),
        ),
    )
    if indivisible := indivisible_sizes(run.model, run.plan, run.training):
        raise InputError(indivisible)
    return run


def _is_early(model: Model, training: Mapping[str, Any]) -> bool:
    """Return whether the software is taken to be older than FlashAttention-2 (July 2023).

    A document does not say. Code that fuses nothing around GELU is of the time of GPT-3 and MPT.
    """
    return model.mlp == "gelu" and training["flash_attention"] and not training["compiled"]


def read_cluster(section: object, problems: list[str]) -> dict[str, Any]:
    """Return the cluster's fields; the GPU may be an object based on one of the catalog."""
    constants: object = ""
    custom_gpu = None
    if isinstance(section, Mapping):
        custom_gpu = section.get("gpu")
        if "own_constants" in section:
            constants = section["own_constants"]
            section = {key: section[key] for key in section if key != "own_constants"}
    if isinstance(section, Mapping) and isinstance(custom_gpu, Mapping):
        gpu = _read_gpu(custom_gpu, problems)
        values = read_section("cluster", {**section, "gpu": "H100-SXM"}, CLUSTER, problems)
    else:
        values = read_section("cluster", section, CLUSTER, problems)
        gpu = None if problems else ACCELERATORS[values["gpu"]]
    price = values.get("price_per_hour")
    hourly = 0.0 if problems or not price else price / HOUR
    return values | {
        "gpu": gpu,
        "price_per_hour": hourly,
        "own_constants": _read_constants(constants, problems),
    }


def _read_constants(text: object, problems: list[str]) -> OwnConstants | None:
    """Return constants that were measured on the cluster, from the text they are written in."""
    if not isinstance(text, str):
        problems.append(f"cluster.own_constants: {format_value(text)}; allowed: a text")
        return None
    try:
        return parse_constants(text)
    except ValueError as error:
        # The reason may quote the text, which may have several lines.
        problems.append(f"cluster.own_constants: {' '.join(str(error).split())}")
        return None


def _read_gpu(section: Mapping[str, Any], problems: list[str]) -> Gpu | None:
    before = len(problems)
    if "peak" in section and "like" not in section:
        return read_own_gpu(section, problems)
    if "like" not in section:
        names = ", ".join(GPU["like"][0])  # type: ignore[arg-type]
        problems.append(
            f"cluster.gpu: {format_value(section)}; allowed: {names}, an object whose like is one "
            "of them, or one with peak, memory and memory_bandwidth"
        )
        return None
    values = read_section("cluster.gpu", section, GPU, problems)
    if len(problems) > before:
        return None
    gpu = ACCELERATORS[values["like"]]
    if values["power_limit"]:
        gpu = with_power_limit(gpu, values["power_limit"])
    return replace(
        gpu,
        memory=values["memory"] or gpu.memory,
        memory_bandwidth=values["memory_bandwidth"] or gpu.memory_bandwidth,
    )


def read_plan(section: object, problems: list[str]) -> dict[str, Any]:
    """Return the plan's fields; `pipeline_layout` is a list of the layers of each piece."""
    if not isinstance(section, Mapping) or "pipeline_layout" not in section:
        return read_section("parallelism", section, PLAN, problems)
    layout = section["pipeline_layout"]
    section = {key: section[key] for key in section if key != "pipeline_layout"}
    values = read_section("parallelism", section, PLAN, problems)
    whole = isinstance(layout, list) and all(
        isinstance(n, int) and not isinstance(n, bool) and 0 <= n <= 4096 for n in layout
    )
    if not whole:
        problems.append(
            f"parallelism.pipeline_layout: {format_value(layout)}; allowed: a list of whole "
            "numbers, the layers of each piece of the pipeline"
        )
        return values
    return values | {"stage_layers": tuple(layout)}


def read_training(section: object, problems: list[str]) -> dict[str, Any]:
    """Return the training settings; `recompute` may be a list of recomputed modules."""
    modules = section.get("recompute") if isinstance(section, Mapping) else None
    if not isinstance(section, Mapping) or not isinstance(modules, list):
        return with_both_overlaps(read_section("training", section, TRAINING, problems))
    check_words("training.recompute", modules, RECOMPUTED, problems)
    values = read_section("training", {**section, "recompute": "modules"}, TRAINING, problems)
    if problems:
        return values
    return with_both_overlaps(values) | {"recompute_modules": tuple(modules)}


def with_both_overlaps(values: dict[str, Any]) -> dict[str, Any]:
    """Return settings in which the one switch of older files speaks for experts too.

    `overlap_tensor_parallel` was a switch of both before `overlap_expert_parallel` was a key.
    """
    if values.get("overlap_expert_parallel", ...) is None:
        values["overlap_expert_parallel"] = values["overlap_tensor_parallel"]
    return values


# Contradictory sizes of a model, by the path of the key.


def model_contradictions(model: Model) -> list[str]:
    """Return the contradictions between a model's sizes, one line each."""
    return _latent_problems(model) + _expert_problems(model)


def _latent_problems(model: Model) -> list[str]:
    sizes = {
        "query_latent_size": model.query_latent_size,
        "key_value_latent_size": model.key_value_latent_size,
        "rotary_head_size": model.rotary_head_size,
        "value_head_size": model.value_head_size,
    }
    if model.attention != "mla":
        # The size of values has a meaning without latents, too.
        unexpected = {key: size for key, size in sizes.items() if size and key != "value_head_size"}
        return [_combined_problem(unexpected, '0, or attention "mla"')] if unexpected else []
    # Queries may be projected directly.
    missing = {key: size for key, size in sizes.items() if not size and key != "query_latent_size"}
    problems = [_combined_problem(missing, "1 or more with attention mla")] if missing else []
    if not problems and head_size(model) <= model.rotary_head_size:
        problems.append(
            f"model.head_size: {head_size(model)}; allowed: with attention mla more than "
            f"rotary_head_size = {model.rotary_head_size}, which is a part of it"
        )
    return problems


def _expert_problems(model: Model) -> list[str]:
    if model.num_experts:
        if model.dense_layer_every == 1:
            return ["model.dense_layer_every: 1; allowed: 0, or 2 or more, there are experts"]
        return []
    sizes = {
        "dense_layer_every": model.dense_layer_every,
        "nodes_per_token": model.nodes_per_token,
    }
    unexpected = {key: size for key, size in sizes.items() if size}
    return [_combined_problem(unexpected, "0 where num_experts is 0")] if unexpected else []


def _combined_problem(sizes: Mapping[str, Count], allowed: str) -> str:
    """Return one line for sizes that are wrong for the same reason; the first has the path."""
    (key, size), *others = sizes.items()
    also = "".join(f", {other}: {its}" for other, its in others)
    return f"model.{key}: {size}{also}; allowed: {allowed}"
