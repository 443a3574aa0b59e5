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
from engine.run.plan_request import Asked, read_request
from engine.run.values import shown, unknown

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
class Point:
    """One search of a sweep.

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


def read_grid(document: object) -> tuple[Point, ...]:
    """Return the points of a grid; raise `InputError` with every problem found."""
    if not isinstance(document, Mapping):
        raise InputError([f"grid: {shown(document)}; allowed: an object"])
    found: list[str] = []
    unknown("", document, _KEYS, found)
    for key in _LISTS:
        if not isinstance(document.get(key), list) or not document[key]:
            found.append(f"{key}: {shown(document.get(key, ...))}; allowed: a list, not empty")
    if not _is_count(document.get("global_batch_tokens")):
        given = shown(document.get("global_batch_tokens", ...))
        found.append(f"global_batch_tokens: {given}; allowed: a whole number from 1")
    if found:
        raise InputError(found)
    _check(document, found)
    points = tuple(_points(document)) if not found else ()
    for one in points:
        found += _problems(one)
    if found:
        raise InputError(found)
    return points


def asked(point: Point) -> Asked:
    """Return what a point asks the planner."""
    return read_request(point.request)


def _is_count(given: object) -> bool:
    return isinstance(given, int) and not isinstance(given, bool) and given >= 1


def _check(document: Mapping[str, Any], found: list[str]) -> None:
    for price in document["prices"]:
        if isinstance(price, bool) or not isinstance(price, int | float) or not 0 <= price < inf:
            found.append(f"prices: {shown(price)}; allowed: numbers from 0, of a GPU for an hour")
    names = [one.get("name") if isinstance(one, Mapping) else None for one in document["clusters"]]
    if not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        found.append("clusters: every one needs a name of its own")
    tokens = document.get("tokens", 0)
    number = isinstance(tokens, int | float) and not isinstance(tokens, bool)
    if not (number and 0 <= tokens < inf and tokens == int(tokens)):
        found.append(f"tokens: {shown(tokens)}; allowed: a whole number from 0")
    for length in document["sequence_lengths"]:
        if not _is_count(length) or document["global_batch_tokens"] % length:
            allowed = f"lengths that divide {document['global_batch_tokens']} tokens"
            found.append(f"sequence_lengths: {shown(length)}; allowed: {allowed}")


def _points(document: Mapping[str, Any]) -> Iterator[Point]:
    prices = tuple(price / HOUR for price in document["prices"])
    for model in document["models"]:
        for cluster in document["clusters"]:
            for length in document["sequence_lengths"]:
                request = _request(document, model, cluster, length)
                told = json.dumps([request, cluster["name"], prices], sort_keys=True)
                yield Point(
                    key=hashlib.sha256(told.encode()).hexdigest()[:16],
                    cluster=cluster["name"],
                    prices=prices,
                    request=request,
                )


def _request(
    document: Mapping[str, Any], model: object, cluster: Mapping[str, Any], length: Count
) -> dict[str, Any]:
    machines = {key: one for key, one in cluster.items() if key not in ("name", "world_size")}
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


def _problems(point: Point) -> Sequence[str]:
    try:
        asked(point)
    except InputError as error:
        return [f"{point.cluster}: {problem}" for problem in error.problems]
    return ()
