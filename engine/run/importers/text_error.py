"""The error of a text that cannot be read, and the short form of a value for a message."""

_LONGEST_SHOWN = 80


class TextError(ValueError):
    """A text that cannot be read: line, column and reason are in the message."""


def shorten(value: object) -> str:
    """Return a value in a few characters on one line."""
    text = str(value) if not isinstance(value, bool) else ("true" if value else "false")
    text = " ".join(text[: 4 * _LONGEST_SHOWN].split())
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
