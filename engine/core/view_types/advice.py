"""Advice with remedies, and challenges with conditions."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.core.fields.scalar import Scalar
from engine.core.text import Text
from engine.core.units import Quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """A change of inputs and its effect: `after` is the new value of the advice's figure."""

    key: str
    label: Text
    change: Mapping[str, Scalar]
    after: float
    side_effect: Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """A verdict and remedies with their computed effect on one figure (smaller is better).

    Where a job cannot run as it is, remedies are `enabling`: each makes it run, and the figure may
    grow.
    """

    title: str
    verdict: Text
    figure: str
    now: float
    quantity: Quantity
    remedies: tuple[Remedy, ...]
    enabling: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition of a challenge and whether the reader's inputs meet it."""

    text: Text
    met: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """A goal to reach. `start` sets the scene; `solution` is replayed by the build, never shown."""

    title: str
    goal: Text
    conditions: tuple[Condition, ...]
    hints: tuple[str, ...]
    start: Mapping[str, Scalar]
    solution: Mapping[str, Scalar]
