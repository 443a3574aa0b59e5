"""Planner request as a document: a model, machines, a batch, and allowed choices.

A run file without a plan. Keys, defaults and errors are those of `engine.run.file`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from engine.catalog.constants import KEPT_FREE
from engine.core.units import Count, Tokens
from engine.run.document import InputError, read_cluster, with_both_overlaps
from engine.run.file import read_model, read_run
from engine.run.fp8_layouts import reads_any_operand_layout
from engine.run.keys import PLAN, TRAINING, spec_without
from engine.run.offered_plans import offered_plans, training_problems
from engine.run.parallelism import Cluster, Framework, Precision, Recompute, Schedule, Training
from engine.run.plan_space import PlanningJob, plans
from engine.run.run import Run
from engine.run.values import (
    Spec,
    check_words,
    format_value,
    read_section,
    read_value,
    report_unknown_keys,
)

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
SETTINGS: Spec = spec_without(
    TRAINING,
    "micro_batch_size",
    "global_batch_size",
    "precision",
    "recompute",
    "schedule",
    "framework",
)
CHOSEN_WORDS: Mapping[str, tuple[str, ...]] = {
    "frameworks": get_args(Framework),
    "precisions": get_args(Precision),
    "recompute": tuple(word for word in get_args(Recompute) if word != "modules"),
    "schedules": get_args(Schedule),
}
AXES = (
    *("tensor_parallel", "pipeline_parallel", "context_parallel", "expert_parallel"),
    "expert_tensor_parallel",
)
LARGEST = 1 << 20
# Sequences of a step: a billion tokens in sequences of 128.
LARGEST_BATCH = 1 << 23
COUNTS = (1, 1000)
TOKENS = (0, 10**16)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """A request to the planner.

    Attributes:
        job: with what plans may choose.
        count: plans to print.
        tokens: of the whole run; 0 if it is not said.
        why: a plan that the asker names.
    """

    job: PlanningJob
    count: Count
    tokens: Tokens
    why: Run | None


def read_request(document: object) -> PlanRequest:
    """Return the planner request of a document; raise `InputError` with every problem found."""
    request = read_job(document)
    if not any(True for _ in plans(request.job)):
        raise InputError([_no_plan_message(request.job)])
    return request


def read_job(document: object) -> PlanRequest:
    """Return the same, though no plan may divide."""
    problems: list[str] = []
    if not isinstance(document, Mapping):
        raise InputError([f"request: {format_value(document)}; allowed: an object"])
    report_unknown_keys("", document, _KEYS, problems)
    model = read_model(document.get("model", ...), problems)
    cluster = read_cluster(document.get("cluster", ...), problems)
    numbers = {
        key: read_value(key, document.get(key, default), kind, problems)
        for key, kind, default in (
            ("sequence_length", (1, 1 << 30), ...),
            ("world_size", (1, LARGEST), ...),
            ("global_batch_size", (1, LARGEST_BATCH), ...),
            ("count", COUNTS, 10),
            ("tokens", TOKENS, 0),
        )
    }
    training = with_both_overlaps(
        read_section("training", document.get("training", {}), SETTINGS, problems)
    )
    chosen = _read_choices(document.get("choose", {}), problems)
    free = _read_free_share(document.get("kept_free", KEPT_FREE), problems)
    if problems or model is None:
        raise InputError(problems)
    settings = Training(
        micro_batch_size=1,
        global_batch_size=numbers["global_batch_size"],
        sequence_length=numbers["sequence_length"],
        **training,
        block_scales=reads_any_operand_layout(cluster["gpu"]),
    )
    if unpriced := training_problems(model, settings):
        raise InputError(unpriced)
    machines = Cluster(**cluster)
    job = PlanningJob(
        model=model,
        cluster=machines,
        world_size=numbers["world_size"],
        training=settings,
        kept_free=free,
        **_offered(offered_plans(model, machines, settings), chosen),
    )
    why = _read_named_plan(document, job)
    return PlanRequest(job=job, count=numbers["count"], tokens=numbers["tokens"], why=why)


def _offered(offered: Mapping[str, Any], chosen: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the choices of plans: an asker's own, and the offered ones where there is none.

    Published recipes are tried where nothing but software and precision is chosen.
    """
    named = chosen.keys() - {"frameworks", "precisions"}
    return {**offered, **chosen} | {"recipes": () if named else offered.get("recipes", ())}


def _no_plan_message(job: PlanningJob) -> str:
    return (
        f"world_size: {job.world_size}; allowed: GPUs over which a global batch of "
        f"{job.training.global_batch_size} sequences divides, with the choices given"
    )


def _read_free_share(value: object, problems: list[str]) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not isinstance(value, int | float) or not 0 <= value < 1:
        problems.append(
            f"kept_free: {format_value(value)}; allowed: a number from 0 to less than 1"
        )
        return 0.0
    return float(value)


def _read_choices(section: object, problems: list[str]) -> dict[str, Any]:
    """Return the allowed choices of plans; omitted ones are those of `offered_choices`."""
    if not isinstance(section, Mapping):
        problems.append(
            f"choose: {format_value(section)}; allowed: an object with {', '.join(_choice_keys())}"
        )
        return {}
    report_unknown_keys("choose.", section, _choice_keys(), problems)
    chosen: dict[str, Any] = {}
    for key, allowed in CHOSEN_WORDS.items():
        if key in section:
            check_words(f"choose.{key}", section[key], allowed, problems)
            chosen["recomputes" if key == "recompute" else key] = _as_tuple(section[key])
    for key in AXES:
        if key in section:
            _check_sizes(f"choose.{key}", section[key], problems)
            chosen[key] = _as_tuple(section[key])
    return chosen


def _choice_keys() -> tuple[str, ...]:
    return (*CHOSEN_WORDS, *AXES)


def _as_tuple(value: object) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list) else ()


def _check_sizes(path: str, value: object, problems: list[str]) -> None:
    fine = isinstance(value, list) and value
    if not fine or not isinstance(value, list) or not all(_is_size(size) for size in value):
        problems.append(f"{path}: {format_value(value)}; allowed: a list of whole numbers from 1")


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= LARGEST


def _read_named_plan(document: Mapping[str, Any], job: PlanningJob) -> Run | None:
    """Return the plan named by the request; `why` holds its parallelism and training keys."""
    section = document.get("why", ...)
    if section is ...:
        return None
    names = (*PLAN, "pipeline_layout", *TRAINING)
    if not isinstance(section, Mapping):
        raise InputError(
            [f"why: {format_value(section)}; allowed: an object with keys of a run file's plan"]
        )
    problems: list[str] = []
    report_unknown_keys("why.", section, names, problems)
    if problems:
        raise InputError(problems)
    plan = {key: section[key] for key in section if key in PLAN or key == "pipeline_layout"}
    training = {key: section[key] for key in section if key in TRAINING}
    fixed_training = dict(document.get("training", {}))
    return read_run(
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
                **fixed_training,
                **training,
            },
        }
    )
