"""How a reader is told that a value cannot be used."""

# Letters; a reader wants to know what is allowed, not to read a catalog.
LONGEST_LIST = 140


class InputError(ValueError):
    """A reader's value that cannot be used; the message names the value and what is allowed."""


def quoted(text: str) -> str:
    """Return what the reader gave, in quotes; of a long text only its beginning."""
    return f"'{text}'" if len(text) <= 40 else f"'{text[:39]}…'"


def listed(options: list[str]) -> str:
    """Return the options; of a long list its beginning, and how many there are besides."""
    shown = options
    while len(", ".join(shown)) > LONGEST_LIST:
        shown = shown[:-1]
    rest = len(options) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")
