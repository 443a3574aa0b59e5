"""`/// example`: a construct below its source; what is inside is shown as written, then read."""

import re

_EXAMPLE = re.compile(
    r"^(?P<marks>///+) example\n(?P<text>.*?)^(?P=marks)$", re.MULTILINE | re.DOTALL
)


def expanded(body: str) -> str:
    """Return the article's Markdown with the source of every example above it."""
    return _EXAMPLE.sub(_beside, body)


def _beside(found: re.Match[str]) -> str:
    marks, text = found["marks"], found["text"].strip("\n")
    listing = f"`````markdown\n{text}\n`````"
    return f"{marks} example\n{listing}\n\n{text}\n{marks}"
