"""What has changed against a kept state: numbers in words, pictures as they were."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from engine.calculator import Calculator, make
from engine.core.inputs import InputError, Scalar
from engine.core.numbers import Display, format_significant, format_value, typeset
from engine.core.views import Bars, Heatmap, Lines, Scene, Timeline, Value, View
from engine.draw.view_json import view_json

PICTURES = (Lines, Bars, Timeline, Heatmap, Scene)  # can be drawn behind another of their kind
_FACTOR = 2.0  # from here on a change is said as a factor, not in percent


def change_text(before: float, after: float) -> str:
    """Return "+12 %" or "×3.4"; "" where neither says anything."""
    if not (math.isfinite(before) and math.isfinite(after)) or before * after <= 0:
        return ""
    ratio = after / before
    if ratio == 1:
        return "±0 %"
    if not 1 / _FACTOR < ratio < _FACTOR:
        return f"×{format_significant(ratio, 2, trim=True)}"
    percent = 100 * (ratio - 1)
    return typeset(f"{percent:+.1f} %" if abs(percent) < 10 else f"{percent:+.0f} %")


def relative_size(before: float, after: float) -> float:
    """Return the size of a change for sorting: the logarithm of its factor, 0 if nothing changed.

    A change from or to zero, or of the sign, is larger than any other.
    """
    if before == after:
        return 0.0
    if not (math.isfinite(before) and math.isfinite(after)) or before * after <= 0:
        return math.inf
    return abs(math.log(after / before))


def read_state(
    calculator: Calculator, texts: Mapping[str, str]
) -> tuple[dict[str, Scalar], list[str]]:
    """Return the inputs (SI) of a kept state, and why some have their default instead."""
    values: dict[str, Scalar] = dict(calculator.defaults)
    problems = []
    for key, text in texts.items():
        name = calculator.formerly.get(key, key)
        try:
            if name not in calculator.fields:
                raise InputError(f"there is no input '{key}' any more")
            values[name] = calculator.fields[name].read(str(text), typed=False)
        except InputError as error:
            problems.append(str(error))
    return values, problems


def kept_outputs(
    calculator: Calculator,
    texts: Mapping[str, str],
    now: Mapping[str, View],
    pictures: Iterable[str],
    display: Display,
) -> dict[str, Any]:
    """Return output -> what it was in a kept state.

    Args:
        calculator: whose state it is.
        texts: its inputs, SI.
        now: the views of today's reply; those of the same names are made.
        pictures: the charts and drawings that are wanted too.
        display: how the reader wants numbers shown.

    Returns:
        A number as {"text", "change"}, a picture as its view; {} where the state cannot be
        computed.
    """
    numbers = {name: view for name, view in now.items() if isinstance(view, Value)}
    try:
        lazy = calculator.lazy(make(calculator, read_state(calculator, texts)[0]))
        then = lazy.compute([*numbers, *pictures])
    except InputError:
        return {}
    kept: dict[str, Any] = {}
    for name, view in then.items():
        if isinstance(view, Value) and name in numbers:
            text = format_value(view.value, view.quantity, display)
            kept[name] = {"text": text, "change": change_text(view.value, numbers[name].value)}
        elif isinstance(view, PICTURES):
            kept[name] = view_json(view, display=display)
    return kept
