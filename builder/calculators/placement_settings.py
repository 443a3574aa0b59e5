"""What a setting of a placement, `[[loan.payment rate=5]]`, means where it cannot be used."""

from engine.core.inputs import Field, InputError, Number


def meant(name: str, field: Field, text: str) -> str:
    """Return a hint for a number without a unit, "" where there is nothing to say.

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
    said = f"; without a unit it is {field.show(value)}"
    written = f"{text}{field.unit.text.strip()}"
    try:
        field.read(written, typed=False)
    except InputError:
        return said
    return f"{said}: write {name}={written}"
