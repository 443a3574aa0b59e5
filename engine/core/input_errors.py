"""Error messages for input values that cannot be used."""

# Letters; a reader wants to know what is allowed, not to read a catalog.
LONGEST_LIST = 140


class InputError(ValueError):
    """An invalid input value; the message names the value and the allowed ones."""


def quote(text: str) -> str:
    """Return a value in quotes, shortened to 40 characters."""
    return f"'{text}'" if len(text) <= 40 else f"'{text[:39]}…'"


def list_options(options: list[str]) -> str:
    """Return the options as a list in words, shortened to a sentence's length."""
    shown = options
    while len(", ".join(shown)) > LONGEST_LIST:
        shown = shown[:-1]
    rest = len(options) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")
