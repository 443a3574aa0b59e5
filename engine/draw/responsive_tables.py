"""Responsive tables: which ones stack their cells on narrow pages."""

import re
from collections.abc import Sequence

LINE = 32  # letters of a cell that need not break
WORDS = 14  # letters of words in a cell that need not break
_SENTENCES = 90  # letters from which a column counts three times
_MANY = 5  # columns, those of sentences counted twice, fit a narrow page
_PHONE = 40  # letters, with one between two columns, that a table has on a phone
_TABLET = 105  # likewise on a tablet
_SENTENCE = 17  # letters of a line of a sentence on a phone, as 57-stack.css has it
_NAME = 12  # letters of a line of a name that may break
_NAMES = 48  # letters up to which what names a row is a name, and no sentence
_FIGURES = re.compile(r"[\d,.]{13,}")  # which do not break
_TAG = re.compile(r"<[^>]*>")


def stack_class(names: Sequence[str], rows: list[list[str]]) -> str:
    """Return the CSS class of a table: "stack" on narrow pages, "stack few" on phones, or "".

    Those of many columns and sentences do on every narrow page, and so does what is wider than a
    tablet. What is wider than a phone, most often numbers in more than four columns, does there.
    """
    columns = list(zip(*rows, strict=True))
    longest = [max(len(cell) for cell in (*column, "") if cell[:1] != "<") for column in columns]
    long = sum((most > LINE) + (most > _SENTENCES) for most in longest)
    if any(most > LINE for most in longest[1:]) and len(columns) + long > _MANY:
        return "stack"
    # The names of rows may break, and so may what stands last.
    inner = [False, *[True] * (len(columns) - 2), False]
    limits = [_NAMES, *[LINE] * (len(columns) - 1)]
    least = sum(map(_column_width, names, columns, inner, limits)) + len(columns) - 1
    if least > _TABLET:
        return "stack"
    return "stack few" if least > _PHONE and len(columns) > 2 else ""


def _column_width(name: str, column: Sequence[str], inner: bool, limit: int) -> int:
    """Return the minimum width of a column in letters; cells past `limit` are sentences."""
    words = max(map(len, name.split()), default=0)
    return max(words, *(_cell_width(cell, visible_length(cell), inner, limit) for cell in column))


def _cell_width(cell: str, shown: int, inner: bool, limit: int) -> int:
    if "data-cite" in cell:
        return _NAME
    if shown > limit:
        return _SENTENCE
    if inner and stays_on_line(cell, shown):
        return shown
    return max(min(shown, _NAME), *map(len, _FIGURES.findall(cell)), 0)


def stays_on_line(cell: str, shown: int) -> bool:
    """Return whether a cell stays on one line: a number, a link, a word or two."""
    return shown <= WORDS or cell.startswith("<") or any(map(str.isdigit, cell))


def visible_length(cell: str) -> int:
    """Return the number of visible letters of a cell."""
    # The page puts shorter names in place of a citation's keys.
    return 0 if "data-cite" in cell else len(_TAG.sub("", cell))
