"""Tokenizer for nccl-tests lines: launcher prefixes, spreadsheet separators, locales.

nccl-tests print plain numbers with a point. A table that has been through a spreadsheet may have
decimal commas, grouped digits and other separators between its columns.
"""

import re

_LONGEST_LINE = 600
_COLORS = re.compile(r"\x1b\[[0-9;]{0,20}m")
# What a launcher puts before a line: "Thu Jul 18 15:41:05 2024<stdout>:", "[1,0]<stdout>:", "0: ".
_STREAM = re.compile(r"^[^<>]{0,80}<std(?:out|err)>:")
_PREFIX = re.compile(r"^\s*(?:\[?[\w.-]{1,60}\]?:(?=\s))?\s*")
# Slurm and others number every piece that a rank writes, in the middle of a line too.
_PIECE = re.compile(r"\[\d{1,5}\]")
_BETWEEN = re.compile(r"[|;\t]+")
_PLAIN = re.compile(r"\d{1,12}(?:\.\d{1,9})?(?:e[+-]?\d{1,2})?")
_COMMA = re.compile(r"\d{1,12},(?:\d{1,2}|\d{4,9})")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3}){1,5}(?:\.\d{1,9})?")
_GROUPED_POINT = re.compile(r"\d{1,3}(?:\.\d{3}){1,5},\d{1,9}")
_GROUPED_SIZE = re.compile(r"\d{1,3}(?:[,.'\u2019\u202f]\d{3}){1,5}")
_TYPES = {
    *("int8", "uint8", "int32", "uint32", "int64", "uint64", "half", "float", "double", "bfloat16"),
    *("fp8_e4m3", "fp8_e5m2", "f8e4m3", "f8e5m2", "all"),
}


def strip_decoration(line: str) -> str:
    """Return a line without color codes and launcher prefixes."""
    line = _STREAM.sub("", _COLORS.sub("", line[:_LONGEST_LINE]), count=1)
    return _PREFIX.sub("", line, count=1)


def split_words(line: str) -> list[str]:
    """Return the words of a line, for any column separator."""
    words = _BETWEEN.sub(" ", _PIECE.sub(" ", line)).split()
    # Columns that only commas separate are one word, or a few where texts have blanks.
    return line.replace(",", " ").split() if len(words) < 3 and line.count(",") > 6 else words


def is_size(word: str) -> bool:
    """Return whether a word is a whole number, its digits grouped or not."""
    plain = word.isascii() and word.isdigit() and len(word) <= 16
    return plain or _GROUPED_SIZE.fullmatch(word) is not None


def parse_size(word: str) -> int:
    """Return the number that `is_size` has recognized."""
    return int(re.sub(r"\D", "", word))


def is_decimal(word: str) -> bool:
    """Return whether a word is a number, with a point or with a decimal comma."""
    return any(pattern.fullmatch(word) for pattern in (_PLAIN, _COMMA, _GROUPED, _GROUPED_POINT))


def parse_decimal(word: str) -> float:
    """Return the number that `is_decimal` has recognized.

    A comma before exactly three digits groups them: nccl-tests print at most two behind the point.
    """
    if _GROUPED.fullmatch(word):
        return float(word.replace(",", ""))
    if _GROUPED_POINT.fullmatch(word):
        return float(word.replace(".", "").replace(",", "."))
    return float(word.replace(",", "."))


def is_data_type(word: str) -> bool:
    """Return whether a word is a data type of nccl-tests."""
    return word in _TYPES


def quote_word(word: str) -> str:
    """Return a word of the text in quotes, short and of printed characters only."""
    return "'" + "".join(c if c.isprintable() else "?" for c in word[:20]) + "'"
