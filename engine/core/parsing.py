"""Conversion between typed text and numbers, and exact texts for URLs."""

from collections.abc import Mapping

# A reader may type or paste what the pages show: grouped digits and a printed minus.
_IGNORED_CHARACTERS = str.maketrans({",": "", "_": "", "\u202f": "", "−": "-"})
# Nothing that a reader types is longer; a pasted page is refused before it is looked at.
_MAX_LENGTH = 64


def parse_number(text: str, bare: float, suffixes: Mapping[str, float]) -> float:
    """Return the number of a typed text: "7e9", "1,024", "7 B", "400 Gb/s", "25 MiB", "50 %".

    Args:
        text: what was typed.
        bare: the factor for a number without a unit.
        suffixes: unit -> factor to SI.

    Raises:
        ValueError: it is not a number, or the unit is not among the suffixes.
    """
    if len(text) > _MAX_LENGTH:
        raise ValueError("too long for a number")
    if not _has_valid_grouping(text):
        raise ValueError("not a number (decimals follow a point, a comma separates thousands)")
    cleaned = text.strip().translate(_IGNORED_CHARACTERS)
    end = len(cleaned)
    while end and not _is_number(cleaned[:end]):
        end -= 1
    if not end:
        raise ValueError("not a number")
    unit = cleaned[end:].strip()
    if not unit:
        return float(cleaned) * bare
    folded = {name.lower(): factor for name, factor in suffixes.items()}
    factor = suffixes.get(unit, folded.get(unit.lower()))
    if factor is None:
        raise ValueError(f"in an unknown unit '{unit}'")
    return float(cleaned[:end]) * factor


def _has_valid_grouping(text: str) -> bool:
    """Return whether every comma groups exactly three digits: "0,5" is not five."""
    groups = text.split(",")[1:]
    return all(
        len(group) >= 3 and group[:3].isdecimal() and not group[3:4].isdecimal() for group in groups
    )


def _is_number(text: str) -> bool:
    """Return whether the text is a number in ASCII; its last character rules out "nan", "inf"."""
    if not (text.isascii() and text[-1] in "0123456789."):
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True


def exact_text(value: float | int | str | bool) -> str:
    """Return the shortest exact text of an SI value for a URL: no plus sign, no trailing zeros."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, str):
        return value
    if value == round(value) and abs(value) < 1e7:
        return str(round(value))
    mantissa, e, exponent = f"{value:e}".partition("e")
    tidy = mantissa.rstrip("0").rstrip(".") + e + str(int(exponent))
    exact = [text for text in (f"{value:.12g}", tidy) if float(text) == value]
    return min(exact, key=len, default=repr(value)).replace("e+", "e")
