"""A grid of jobs for the planner: models x clusters x lengths, each at several prices.

A point is a request of the planner (`engine.run.plan_request`) with a key that is its content: the
same point has the same key in every grid, whatever stands around it.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from engine.core.units import HOUR, Count, Price
from engine.run.document import InputError
from engine.run.plan_request import PlanRequest, read_request
from engine.run.values import format_value, report_unknown_keys

_KEYS = (
    "models",
    "clusters",
    "prices",
    "sequence_lengths",
    "global_batch_tokens",
    "tokens",
    "kept_free",
    "choose",
    "training",
)
_LISTS = ("models", "clusters", "prices", "sequence_lengths")


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPoint:
    """One point of a sweep: a planner request and the GPU prices to report.

    Attributes:
        key: tells it from all others.
        cluster: name of the machines.
        prices: of a GPU, per second, at which the plan found is told.
        request: to the planner, as a document.
    """

    key: str
    cluster: str
    prices: tuple[Price, ...]
    request: Mapping[str, Any]


def read_grid(document: object) -> tuple[SweepPoint, ...]:
    """Return the points of a grid; raise `InputError` with every problem found."""
    if not isinstance(document, Mapping):
        raise InputError([f"grid: {format_value(document)}; allowed: an object"])
    problems: list[str] = []
    report_unknown_keys("", document, _KEYS, problems)
    for key in _LISTS:
        if not isinstance(document.get(key), list) or not document[key]:
            problems.append(
                f"{key}: {format_value(document.get(key, ...))}; allowed: a list, not empty"
            )
    if not _is_count(document.get("global_batch_tokens")):
        tokens = format_value(document.get("global_batch_tokens", ...))
        problems.append(f"global_batch_tokens: {tokens}; allowed: a whole number from 1")
    if problems:
        raise InputError(problems)
    _check_grid(document, problems)
    points = tuple(_points(document)) if not problems else ()
    for point in points:
        problems += _point_problems(point)
    if problems:
        raise InputError(problems)
    return points


def planner_request(point: SweepPoint) -> PlanRequest:
    """Return the planner request of a grid point."""
    return read_request(point.request)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _check_grid(document: Mapping[str, Any], problems: list[str]) -> None:
    for price in document["prices"]:
        if isinstance(price, bool) or not isinstance(price, int | float) or not 0 <= price < inf:
            problems.append(
                f"prices: {format_value(price)}; allowed: numbers from 0, of a GPU for an hour"
            )
    names = [
        cluster.get("name") if isinstance(cluster, Mapping) else None
        for cluster in document["clusters"]
    ]
    if not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        problems.append("clusters: every one needs a name of its own")
    tokens = document.get("tokens", 0)
    number = isinstance(tokens, int | float) and not isinstance(tokens, bool)
    if not (number and 0 <= tokens < inf and tokens == int(tokens)):
        problems.append(f"tokens: {format_value(tokens)}; allowed: a whole number from 0")
    for length in document["sequence_lengths"]:
        if not _is_count(length) or document["global_batch_tokens"] % length:
            allowed = f"lengths that divide {document['global_batch_tokens']} tokens"
            problems.append(f"sequence_lengths: {format_value(length)}; allowed: {allowed}")


def _points(document: Mapping[str, Any]) -> Iterator[SweepPoint]:
    prices = tuple(price / HOUR for price in document["prices"])
    for model in document["models"]:
        for cluster in document["clusters"]:
            for length in document["sequence_lengths"]:
                request = _request(document, model, cluster, length)
                content = json.dumps([request, cluster["name"], prices], sort_keys=True)
                yield SweepPoint(
                    key=hashlib.sha256(content.encode()).hexdigest()[:16],
                    cluster=cluster["name"],
                    prices=prices,
                    request=request,
                )


def _request(
    document: Mapping[str, Any], model: object, cluster: Mapping[str, Any], length: Count
) -> dict[str, Any]:
    machines = {key: value for key, value in cluster.items() if key not in ("name", "world_size")}
    same = {key: document[key] for key in ("kept_free", "choose", "training") if key in document}
    return {
        "model": model,
        "sequence_length": length,
        "cluster": machines,
        "world_size": cluster.get("world_size"),
        "global_batch_size": document["global_batch_tokens"] // length,
        "count": 1,
        "tokens": int(document.get("tokens", 0)),
        **same,
    }


def _point_problems(point: SweepPoint) -> Sequence[str]:
    try:
        planner_request(point)
    except InputError as error:
        return [f"{point.cluster}: {problem}" for problem in error.problems]
    return ()
