"""A prediction: the stops of its slider, each with its text and verdict, made at build time."""

import math
import re
from dataclasses import dataclass
from typing import Any

from engine.core.numbers import DEFAULT, show
from engine.core.ticks import short, ticks
from engine.core.units import Quantity
from engine.core.views import Axis, Value

STOPS = 61
_NUMBER = re.compile(r"[\d.,]*\d(?= times)")
# A slider's length on a phone and on a wide window, and its labels, in pixels.
_PHONE, _WIDE, _CHARACTER, _GAP = 240.0, 520.0, 8.0, 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What the template draws; positions are percent of the slider's length.

    Attributes:
        label: what is guessed.
        truth: the text of the true value.
        at: where the true value lies.
        marks: {"at", "text", "back", "wide"} of the labels under the slider: what share of a label
            is left of its place, and whether there is room for it on wide windows only.
        stops: of every place the slider stops at, in even steps: the guess there, and how the truth
            compares with it.
        said: what a verdict says before the guess, and between it and that comparison.
    """

    label: str
    truth: str
    at: float
    marks: tuple[dict[str, Any], ...]
    stops: tuple[tuple[str, str], ...]
    said: tuple[str, str]

    @property
    def told(self) -> dict[str, Any]:
        """Return `said` and `stops` as a page holds them: words around a number stand once."""
        forms: dict[tuple[str, str], int] = {}
        stops: list[tuple[Any, ...]] = []
        for text, compared in self.stops:
            found = _NUMBER.search(compared)
            if found is None:
                stops.append((text, compared))
                continue
            form = (compared[: found.start()], compared[found.end() :])
            stops.append((text, forms.setdefault(form, len(forms)), found[0]))
        return {"said": self.said, "forms": [*forms], "stops": stops}


def prediction(view: Value, low: float, high: float, scale: str = "log") -> Prediction:
    """Return the prediction of `view` on a slider from `low` to `high` (SI).

    Raises:
        ValueError: the range is empty or does not hold the true value.
    """
    if not (low < high and (scale == "linear" or low > 0)):
        raise ValueError(f"the range {low:g} to {high:g} is empty or cannot be logarithmic")
    if not low <= view.value <= high:
        raise ValueError(f"the true value {view.value:g} is outside the range {low:g} to {high:g}")
    axis = Axis(label=view.label, quantity=view.quantity, low=low, high=high, scale=scale)
    truth = show(view.value, view.quantity, DEFAULT)
    return Prediction(
        label=view.label,
        truth=truth,
        at=_position(view.value, axis),
        marks=_marks([(_position(at, axis), text) for at, text in ticks(axis, DEFAULT)]),
        stops=tuple(_stop(index, axis, view) for index in range(STOPS)),
        said=_said(view.value, view.quantity),
    )


def _marks(places: list[tuple[float, str]]) -> tuple[dict[str, Any], ...]:
    """Return the labels that do not meet: on a phone every other one, or every third, and so on."""
    wide = _step(places, _WIDE, 1)
    phone = _step(places, _PHONE, wide)
    return tuple(
        {"at": at, "text": text, "back": round(_back(at, text), 1), "wide": index % phone != 0}
        for index, (at, text) in enumerate(places)
        if index % wide == 0
    )


def _step(places: list[tuple[float, str]], room: float, least: int) -> int:
    """Return every how many labels one has to stand so that none meet, a multiple of `least`."""
    step = least
    while not _apart(places[::step], room):
        step += least
    return step


def _apart(places: list[tuple[float, str]], room: float) -> bool:
    free = -math.inf
    for at, text in places:
        width = _CHARACTER * len(text)
        left = at / 100 * room - _back(at, text) / 100 * width
        if left < free:
            return False
        free = left + width + _GAP
    return True


def _back(at: float, text: str) -> float:
    """Return what share of a label is left of its place; at an end it begins or ends there."""
    width = _CHARACTER * len(text)
    back = min(50.0, max(at / 100 * _PHONE / width * 100, 0.0))
    return max(back, 100 - (100 - at) / 100 * _PHONE / width * 100)


def _stop(index: int, axis: Axis, view: Value) -> tuple[str, str]:
    share = index / (STOPS - 1)
    if axis.scale == "linear":
        guess = axis.low + share * (axis.high - axis.low)
    else:
        guess = axis.low * (axis.high / axis.low) ** share
    guess = float(f"{guess:.2g}")
    text = short(guess, view.quantity, DEFAULT)
    return text, _compared(guess, view.value, view.quantity)


def _position(value: float, axis: Axis) -> float:
    if axis.scale == "linear":
        return round(100 * (value - axis.low) / (axis.high - axis.low), 3)
    return round(100 * math.log(value / axis.low) / math.log(axis.high / axis.low), 3)


def verdict(guess: float, truth: float, quantity: Quantity) -> str:
    """Return one sentence that compares a guess with the truth."""
    before, between = _said(truth, quantity)
    compared = _compared(guess, truth, quantity)
    return f"{before}{short(guess, quantity, DEFAULT)}{between}{compared}"


def _said(truth: float, quantity: Quantity) -> tuple[str, str]:
    return "You said ", f"; it is {show(truth, quantity, DEFAULT)}"


def _compared(guess: float, truth: float, quantity: Quantity) -> str:
    if guess <= 0 or truth <= 0:
        return "."
    ratio = truth / guess
    # A count may number something, as a layer: there is no "as much" of it.
    much = {"seconds": "times as long", "count": "times that"}.get(quantity.name, "times as much")
    if 0.95 <= ratio <= 1.05:
        return ", so you were right within 5 %."
    if ratio > 1:
        return f", {_times(ratio)} {much}."
    return f": your guess was {_times(1 / ratio)} {much}."


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 100 else (f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}")
