"""Difference between two plans of a job as a short text that can be parsed again."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from engine.run.parallelism import Plan, Training
from engine.run.run import Run


def format_plan_difference(before: Run, after: Run) -> str:
    """Return the differing fields of two plans of one job: "tensor_parallel=4 recompute=full"."""
    return " ".join(
        f"{field.name}={_format_value(getattr(new, field.name))}"
        for old, new in ((before.plan, after.plan), (before.training, after.training))
        for field in fields(old)
        if getattr(old, field.name) != getattr(new, field.name)
    )


def apply_plan_difference(before: Run, text: str) -> Run:
    """Return the plan of a difference text, given the plan that it was compared with."""
    words = dict(word.split("=") for word in text.split())
    return replace(
        before,
        plan=replace(before.plan, **_changed_fields(before.plan, words)),
        training=replace(before.training, **_changed_fields(before.training, words)),
    )


def _changed_fields(part: Plan | Training, words: Mapping[str, str]) -> dict[str, Any]:
    names = (field.name for field in fields(part))
    return {name: _parse_value(words[name], getattr(part, name)) for name in names if name in words}


def _format_value(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _parse_value(text: str, like: object) -> Any:  # noqa: ANN401 (of the kind of `like`)
    if isinstance(like, tuple):
        return tuple(int(part) for part in text.split(",") if part)
    if isinstance(like, bool):
        return text == "True"
    return int(text) if isinstance(like, int) else text
