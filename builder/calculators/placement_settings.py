"""Hints for rejected settings of a placement, such as `[[loan.payment rate=5]]`."""

from engine.core.inputs import Field, InputError, Number


def unit_hint(name: str, field: Field, text: str) -> str:
    """Return a hint for a rejected number without a unit, "" where there is none.

    A bare number is in SI units, while the field beside it shows its own.

    Args:
        name: of the input.
        field: its declaration.
        text: what was written, which is refused.
    """
    if not isinstance(field, Number) or not field.unit.text.strip() or field.unit.size == 1:
        return ""
    try:
        value = float(text)
    except ValueError:
        return ""
    hint = f"; without a unit it is {field.show(value)}"
    with_unit = f"{text}{field.unit.text.strip()}"
    try:
        field.read(with_unit, typed=False)
    except InputError:
        return hint
    return f"{hint}: write {name}={with_unit}"
