"""A training run as a document of a run file: keys, defaults, and what is allowed.

Every value is in SI units. A document that cannot be read ends in an `InputError` that names each
problem by the path of its key, the value, and what is allowed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from engine.catalog.accelerators import ACCELERATORS, Gpu
from engine.catalog.models import MODELS, Model
from engine.catalog.power_limited import limited
from engine.catalog.reader_constants import OwnConstants, parse
from engine.core.units import HOUR
from engine.run.fp8_layouts import reads_either_way
from engine.run.impossible_model import impossible_model
from engine.run.keys import CLUSTER, GPU, MODEL, PLAN, RECOMPUTED, SECTIONS, TRAINING
from engine.run.limits import impossible
from engine.run.parallelism import Cluster, Plan, Training
from engine.run.run import Run
from engine.run.values import section, shown, unknown, value, words_of

# Takes what a document says of its model and the list of what is wrong; None if something is.
ModelReader = Callable[[object, list[str]], Model | None]


class InputError(Exception):
    """A document that describes no training run.

    Attributes:
        problems: one line for each: path of the key, value, what is allowed.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


def read_model(given: object, found: list[str]) -> Model | None:
    """Return a model of the catalog or of the keys of a run file."""
    if isinstance(given, str):
        if given in MODELS:
            return MODELS[given]
        found.append(f"model: {shown(given)}; allowed: an object, or one of {', '.join(MODELS)}")
        return None
    before = len(found)
    values = section("model", given, MODEL, found)
    if len(found) > before:
        return None
    if values["num_key_value_heads"] is None:
        values["num_key_value_heads"] = values["num_attention_heads"]
    values["attention"] = "mla" if values["attention"] == "mla" else "mha"
    model = _one_of_its_kind(Model(name="custom", **values))
    found += impossible_model(model)
    return model if len(found) == before else None


@lru_cache(maxsize=1024)
def _one_of_its_kind(model: Model) -> Model:
    """Return the first of all equal models: tables by model then find it without comparing."""
    return model


def read_document(document: object, model_of: ModelReader = read_model) -> Run:
    """Return the run that a document describes; raise `InputError` with every problem found."""
    found: list[str] = []
    if not isinstance(document, Mapping):
        raise InputError([f"run: {shown(document)}; allowed: an object"])
    unknown("", document, SECTIONS, found)
    model = model_of(document.get("model", ...), found)
    length = value("sequence_length", document.get("sequence_length", ...), (1, 1 << 30), found)
    cluster = read_cluster(document.get("cluster", ...), found)
    plan = read_plan(document.get("parallelism", ...), found)
    training = read_training(document.get("training", ...), found)
    if found or model is None:
        raise InputError(found)
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
            block_scales=reads_either_way(cluster["gpu"]),
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


def read_cluster(given: object, found: list[str]) -> dict[str, Any]:
    """Return what the machines are; the GPU may be an object, like one of the catalog."""
    own: object = ""
    one = None
    if isinstance(given, Mapping):
        one = given.get("gpu")
        if "own_constants" in given:
            own = given["own_constants"]
            given = {key: given[key] for key in given if key != "own_constants"}
    if isinstance(given, Mapping) and isinstance(one, Mapping):
        gpu = _gpu(one, found)
        values = section("cluster", {**given, "gpu": "H100-SXM"}, CLUSTER, found)
    else:
        values = section("cluster", given, CLUSTER, found)
        gpu = None if found else ACCELERATORS[values["gpu"]]
    price = values.get("price_per_hour")
    hourly = 0.0 if found or not price else price / HOUR
    return values | {"gpu": gpu, "price_per_hour": hourly, "own": _own(own, found)}


def _own(given: object, found: list[str]) -> OwnConstants | None:
    """Return constants that were measured on the cluster, from the text they are written in."""
    if not isinstance(given, str):
        found.append(f"cluster.own_constants: {shown(given)}; allowed: a text")
        return None
    try:
        return parse(given)
    except ValueError as error:
        # The reason may quote the text, which may have several lines.
        found.append(f"cluster.own_constants: {' '.join(str(error).split())}")
        return None


def _gpu(given: Mapping[str, Any], found: list[str]) -> Gpu | None:
    before = len(found)
    if "like" not in given:
        names = ", ".join(GPU["like"][0])  # type: ignore[arg-type]
        found.append(
            f"cluster.gpu: {shown(given)}; allowed: {names}, or an object whose like is one of them"
        )
        return None
    values = section("cluster.gpu", given, GPU, found)
    if len(found) > before:
        return None
    gpu = ACCELERATORS[values["like"]]
    if values["power_limit"]:
        gpu = limited(gpu, values["power_limit"])
    return replace(
        gpu,
        memory=values["memory"] or gpu.memory,
        memory_bandwidth=values["memory_bandwidth"] or gpu.memory_bandwidth,
    )


def read_plan(given: object, found: list[str]) -> dict[str, Any]:
    """Return the plan; `pipeline_layout` is a list of the layers of each piece."""
    if not isinstance(given, Mapping) or "pipeline_layout" not in given:
        return section("parallelism", given, PLAN, found)
    layout = given["pipeline_layout"]
    given = {key: given[key] for key in given if key != "pipeline_layout"}
    values = section("parallelism", given, PLAN, found)
    whole = isinstance(layout, list) and all(
        isinstance(n, int) and not isinstance(n, bool) and 0 <= n <= 4096 for n in layout
    )
    if not whole:
        found.append(
            f"parallelism.pipeline_layout: {shown(layout)}; allowed: a list of whole numbers, the "
            "layers of each piece of the pipeline"
        )
        return values
    return values | {"stage_layers": tuple(layout)}


def read_training(given: object, found: list[str]) -> dict[str, Any]:
    """Return how the run trains; `recompute` may be a list of the modules that are repeated."""
    modules = given.get("recompute") if isinstance(given, Mapping) else None
    if not isinstance(given, Mapping) or not isinstance(modules, list):
        return section("training", given, TRAINING, found)
    words_of("training.recompute", modules, RECOMPUTED, found)
    values = section("training", {**given, "recompute": "modules"}, TRAINING, found)
    return values if found else values | {"recompute_modules": tuple(modules)}
