"""The settings of ZeRO as DeepSpeed would use them: of a file, of "auto", or by default."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from engine.catalog.deepspeed_settings import ALIASES, SETTINGS
from engine.core.units import Count, Parameters
from engine.run.deepspeed_text import Line

ZERO = "zero_optimization."


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What the file does not say.

    Attributes:
        parameters: of the model.
        hidden: its hidden size, by which accelerate replaces "auto".
        matrix: elements of its smallest matrix.
        ranks: data-parallel ranks.
    """

    parameters: Parameters
    hidden: Count
    matrix: Parameters
    ranks: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """The settings of ZeRO as DeepSpeed would use them: of the file, of "auto", or by default."""

    stage: Count
    given: Mapping[str, Any]
    job: Job

    def elements(self, name: str) -> float:
        """Return a number of elements."""
        value = self.given.get(name)
        if value == "auto":
            return auto(name, self.job.hidden) or float(SETTINGS[name].default)
        if is_number(value) and value >= 0:
            return float(value)
        return float(SETTINGS[name].default)

    def switch(self, name: str) -> bool:
        """Return a switch; `overlap_comm` is on by default for stage 3 only."""
        value = self.given.get(name)
        if isinstance(value, bool):
            return value
        return self.stage == 3 if name == "overlap_comm" else SETTINGS[name].default == "true"

    def count(self, name: str) -> Count:
        """Return a number of ranks."""
        value = self.given.get(name)
        return int(value) if is_number(value) else int(SETTINGS[name].default)


def auto(name: str, hidden: Count) -> float:
    """Return what accelerate fills in for "auto"; 0 where it leaves DeepSpeed's default."""
    square = hidden * hidden
    found = {
        "reduce_bucket_size": square,
        "stage3_prefetch_bucket_size": int(0.9 * square),
        "stage3_param_persistence_threshold": 10 * hidden,
    }
    return float(found.get(name, 0))


def values_of(lines: tuple[Line, ...], job: Job) -> Values:
    """Return the settings of ZeRO that a file gives."""
    given: dict[str, Any] = {}
    for line in lines:
        if line.path.startswith(ZERO) and line.path.count(".") == 1:
            name = line.path.removeprefix(ZERO)
            given[ALIASES.get(name, name)] = line.value
    stage = given.get("stage", 0)
    sound = is_number(stage) and stage in (0, 1, 2, 3)
    return Values(stage=int(stage) if sound else 0, given=given, job=job)


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value of JSON is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)
