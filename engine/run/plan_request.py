"""What the planner is asked, as a document: a model, machines, a batch, and what it may choose.

A run file without a plan. Keys, defaults and errors are those of `engine.run.file`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from engine.core.units import Count, Tokens
from engine.run.document import InputError, read_cluster
from engine.run.file import read, read_model
from engine.run.fp8_layouts import reads_either_way
from engine.run.keys import PLAN, TRAINING, without
from engine.run.parallelism import Cluster, Framework, Precision, Recompute, Schedule, Training
from engine.run.plan_space import Job, plans
from engine.run.run import Run
from engine.run.values import Spec, section, shown, unknown, value, words_of

_KEYS = (
    "model",
    "sequence_length",
    "cluster",
    "world_size",
    "global_batch_size",
    "training",
    "choose",
    "kept_free",
    "count",
    "tokens",
    "why",
)
# What no plan changes; the rest of a run file's training is what plans choose between.
_TRAINING: Spec = without(
    TRAINING,
    "micro_batch_size",
    "global_batch_size",
    "precision",
    "recompute",
    "schedule",
    "framework",
)
_WORDS: Mapping[str, tuple[str, ...]] = {
    "frameworks": get_args(Framework),
    "precisions": get_args(Precision),
    "recompute": tuple(word for word in get_args(Recompute) if word != "modules"),
    "schedules": get_args(Schedule),
}
_AXES = ("tensor_parallel", "pipeline_parallel", "context_parallel", "expert_parallel")
_LARGEST = 1 << 20
_COUNTS = (1, 1000)
_TOKENS = (0, 10**16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the planner is asked.

    Attributes:
        job: with what plans may choose.
        count: plans to print.
        tokens: of the whole run; 0 if it is not said.
        why: a plan that the asker names.
    """

    job: Job
    count: Count
    tokens: Tokens
    why: Run | None


def read_request(document: object) -> Asked:
    """Return what a document asks; raise `InputError` with every problem found."""
    found: list[str] = []
    if not isinstance(document, Mapping):
        raise InputError([f"request: {shown(document)}; allowed: an object"])
    unknown("", document, _KEYS, found)
    model = read_model(document.get("model", ...), found)
    cluster = read_cluster(document.get("cluster", ...), found)
    numbers = {
        key: value(key, document.get(key, default), kind, found)
        for key, kind, default in (
            ("sequence_length", (1, 1 << 30), ...),
            ("world_size", (1, _LARGEST), ...),
            ("global_batch_size", (1, _LARGEST), ...),
            ("count", _COUNTS, 10),
            ("tokens", _TOKENS, 0),
        )
    }
    training = section("training", document.get("training", {}), _TRAINING, found)
    chosen = _chosen(document.get("choose", {}), found)
    free = _free(document.get("kept_free", 0.0), found)
    if found or model is None:
        raise InputError(found)
    job = Job(
        model=model,
        cluster=Cluster(**cluster),
        world_size=numbers["world_size"],
        training=Training(
            micro_batch_size=1,
            global_batch_size=numbers["global_batch_size"],
            sequence_length=numbers["sequence_length"],
            **training,
            block_scales=reads_either_way(cluster["gpu"]),
        ),
        kept_free=free,
        **chosen,
    )
    if not any(True for _ in plans(job)):
        raise InputError([_nothing(job)])
    why = _named(document, job)
    return Asked(job=job, count=numbers["count"], tokens=numbers["tokens"], why=why)


def _nothing(job: Job) -> str:
    return (
        f"world_size: {job.world_size}; allowed: GPUs over which a global batch of "
        f"{job.training.global_batch_size} sequences divides, with the choices given"
    )


def _free(given: object, found: list[str]) -> float:
    number = isinstance(given, int | float) and not isinstance(given, bool)
    if not number or not isinstance(given, int | float) or not 0 <= given < 1:
        found.append(f"kept_free: {shown(given)}; allowed: a number from 0 to less than 1")
        return 0.0
    return float(given)


def _chosen(given: object, found: list[str]) -> dict[str, Any]:
    """Return what plans may choose between; what is left out is as in `Job`."""
    if not isinstance(given, Mapping):
        found.append(f"choose: {shown(given)}; allowed: an object with {', '.join(_choices())}")
        return {}
    unknown("choose.", given, _choices(), found)
    chosen: dict[str, Any] = {}
    for key, allowed in _WORDS.items():
        if key in given:
            words_of(f"choose.{key}", given[key], allowed, found)
            chosen["recomputes" if key == "recompute" else key] = _tuple(given[key])
    for key in _AXES:
        if key in given:
            _sizes(f"choose.{key}", given[key], found)
            chosen[key] = _tuple(given[key])
    return chosen


def _choices() -> tuple[str, ...]:
    return (*_WORDS, *_AXES)


def _tuple(given: object) -> tuple[Any, ...]:
    return tuple(given) if isinstance(given, list) else ()


def _sizes(path: str, given: object, found: list[str]) -> None:
    fine = isinstance(given, list) and given
    if not fine or not isinstance(given, list) or not all(_is_size(size) for size in given):
        found.append(f"{path}: {shown(given)}; allowed: a list of whole numbers from 1")


def _is_size(given: object) -> bool:
    return isinstance(given, int) and not isinstance(given, bool) and 1 <= given <= _LARGEST


def _named(document: Mapping[str, Any], job: Job) -> Run | None:
    """Return the plan that is asked about: `why` holds its keys of parallelism and training."""
    given = document.get("why", ...)
    if given is ...:
        return None
    names = (*PLAN, "pipeline_layout", *TRAINING)
    if not isinstance(given, Mapping):
        raise InputError(
            [f"why: {shown(given)}; allowed: an object with keys of a run file's plan"]
        )
    found: list[str] = []
    unknown("why.", given, names, found)
    if found:
        raise InputError(found)
    plan = {key: given[key] for key in given if key in PLAN or key == "pipeline_layout"}
    training = {key: given[key] for key in given if key in TRAINING}
    held = dict(document.get("training", {}))
    return read(
        {
            "model": document["model"],
            "sequence_length": document["sequence_length"],
            "cluster": document["cluster"],
            "parallelism": {"world_size": job.world_size, **plan},
            "training": {
                "micro_batch_size": 1,
                "global_batch_size": job.training.global_batch_size,
                "precision": job.precisions[0],
                "framework": job.frameworks[0],
                **held,
                **training,
            },
        }
    )
