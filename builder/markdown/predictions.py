"""Predictions: the positions of a guessing slider, each with its text and verdict."""

import math
import re
from dataclasses import dataclass
from typing import Any

from engine.core.numbers import DEFAULT, format_value
from engine.core.ticks import tick_text, ticks
from engine.core.units import Quantity
from engine.core.views import Axis, Value

STOPS = 61
_NUMBER = re.compile(r"[\d.,]*\d(?= times)")
# A slider's length on a phone and on a wide window, and its labels, in pixels.
_PHONE, _WIDE, _CHARACTER, _GAP = 240.0, 520.0, 8.0, 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A guessing slider as its template shows it; positions are percent of the slider's length.

    Attributes:
        label: of the guessed value.
        truth: the text of the true value.
        at: position of the true value.
        marks: {"at", "text", "back", "wide"} of the labels under the slider: "back" is the share of
            a label left of its position, "wide" whether only wide windows have room for it.
        stops: (guess, comparison with the true value) of every slider position, in even steps.
        verdict_words: words of a verdict before the guess, and between it and the comparison.
    """

    label: str
    truth: str
    at: float
    marks: tuple[dict[str, Any], ...]
    stops: tuple[tuple[str, str], ...]
    verdict_words: tuple[str, str]

    @property
    def page_data(self) -> dict[str, Any]:
        """Return `verdict_words` and `stops` as page JSON, with repeated wording stored once."""
        forms: dict[tuple[str, str], int] = {}
        stops: list[tuple[Any, ...]] = []
        for text, comparison in self.stops:
            match = _NUMBER.search(comparison)
            if match is None:
                stops.append((text, comparison))
                continue
            form = (comparison[: match.start()], comparison[match.end() :])
            stops.append((text, forms.setdefault(form, len(forms)), match[0]))
        return {"said": self.verdict_words, "forms": [*forms], "stops": stops}


def make_prediction(view: Value, low: float, high: float, scale: str = "log") -> Prediction:
    """Return the prediction of `view` on a slider from `low` to `high` (SI).

    Raises:
        ValueError: the range is empty or does not hold the true value.
    """
    if not (low < high and (scale == "linear" or low > 0)):
        raise ValueError(f"the range {low:g} to {high:g} is empty or cannot be logarithmic")
    if not low <= view.value <= high:
        raise ValueError(f"the true value {view.value:g} is outside the range {low:g} to {high:g}")
    axis = Axis(label=view.label, quantity=view.quantity, low=low, high=high, scale=scale)
    truth = format_value(view.value, view.quantity, DEFAULT)
    return Prediction(
        label=view.label,
        truth=truth,
        at=_position(view.value, axis),
        marks=_labels([(_position(at, axis), text) for at, text in ticks(axis, DEFAULT)]),
        stops=tuple(_stop(index, axis, view) for index in range(STOPS)),
        verdict_words=_verdict_words(view.value, view.quantity),
    )


def _labels(labels: list[tuple[float, str]]) -> tuple[dict[str, Any], ...]:
    """Return the labels that do not overlap; a phone shows every second, third ... of them."""
    wide = _label_step(labels, _WIDE, 1)
    phone = _label_step(labels, _PHONE, wide)
    return tuple(
        {
            "at": at,
            "text": text,
            "back": round(_label_offset(at, text), 1),
            "wide": index % phone != 0,
        }
        for index, (at, text) in enumerate(labels)
        if index % wide == 0
    )


def _label_step(labels: list[tuple[float, str]], width: float, least: int) -> int:
    """Return the smallest stride, a multiple of `least`, at which no labels overlap."""
    stride = least
    while not _labels_fit(labels[::stride], width):
        stride += least
    return stride


def _labels_fit(labels: list[tuple[float, str]], available: float) -> bool:
    end = -math.inf
    for at, text in labels:
        label_width = _CHARACTER * len(text)
        left = at / 100 * available - _label_offset(at, text) / 100 * label_width
        if left < end:
            return False
        end = left + label_width + _GAP
    return True


def _label_offset(at: float, text: str) -> float:
    """Return the percentage of a label left of its position; labels at an end stay inside."""
    width = _CHARACTER * len(text)
    offset = min(50.0, max(at / 100 * _PHONE / width * 100, 0.0))
    return max(offset, 100 - (100 - at) / 100 * _PHONE / width * 100)


def _stop(index: int, axis: Axis, view: Value) -> tuple[str, str]:
    share = index / (STOPS - 1)
    if axis.scale == "linear":
        guess = axis.low + share * (axis.high - axis.low)
    else:
        guess = axis.low * (axis.high / axis.low) ** share
    guess = float(f"{guess:.2g}")
    text = tick_text(guess, view.quantity, DEFAULT)
    return text, _comparison(guess, view.value, view.quantity)


def _position(value: float, axis: Axis) -> float:
    if axis.scale == "linear":
        return round(100 * (value - axis.low) / (axis.high - axis.low), 3)
    return round(100 * math.log(value / axis.low) / math.log(axis.high / axis.low), 3)


def verdict(guess: float, truth: float, quantity: Quantity) -> str:
    """Return a sentence that compares a guess with the true value."""
    before, between = _verdict_words(truth, quantity)
    comparison = _comparison(guess, truth, quantity)
    return f"{before}{tick_text(guess, quantity, DEFAULT)}{between}{comparison}"


def _verdict_words(truth: float, quantity: Quantity) -> tuple[str, str]:
    return "You said ", f"; it is {format_value(truth, quantity, DEFAULT)}"


def _comparison(guess: float, truth: float, quantity: Quantity) -> str:
    if guess <= 0 or truth <= 0:
        return "."
    ratio = truth / guess
    # A count may number something, as a layer: there is no "as much" of it.
    unit = {"seconds": "times as long", "count": "times that"}.get(quantity.name, "times as much")
    if 0.95 <= ratio <= 1.05:
        return ", so you were right within 5 %."
    if ratio > 1:
        return f", {_ratio_text(ratio)} {unit}."
    return f": your guess was {_ratio_text(1 / ratio)} {unit}."


def _ratio_text(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 100 else (f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}")
