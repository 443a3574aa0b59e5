"""Formulas and code in a line are looked for only where a text has a mark of theirs.

Their patterns try every place of a text, which takes as long as all else that is done with it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from markdown import Extension, Markdown  # type: ignore[import-untyped]

_MARKS = {"arithmatex-inline": "$\\", "backtick": "`"}


@dataclass(frozen=True, slots=True)
class _Rare:
    pattern: re.Pattern[str]
    marks: str

    def finditer(self, text: str, at: int) -> Iterator[re.Match[str]]:
        """Yield the matches from a place on."""
        return (
            self.pattern.finditer(text, at) if any(one in text for one in self.marks) else iter(())
        )


class RareExtension(Extension):  # type: ignore[misc]
    """Has to come after those whose patterns it holds back."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Put a look for the marks before each pattern."""
        for name, marks in _MARKS.items():
            inline = md.inlinePatterns[name]
            inline.compiled_re = _Rare(inline.compiled_re, marks)
