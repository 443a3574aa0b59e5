"""Scripts and styles without what only their authors read: comments, indentation, empty lines."""

import re

# A comment that has its lines to itself. One behind code stays: telling it from a string or a
# pattern takes a parser, and would save little.
_BLOCK = re.compile(r"^[ \t]*/\*.*?\*/[ \t]*\n", re.DOTALL | re.MULTILINE)
# A type for the checker, before an expression in parentheses or a declaration.
_TYPE = re.compile(r"/\*\* @\w+ [^\n*]*\*/ ?")
_LINE = re.compile(r"^[ \t]*//.*\n", re.MULTILINE)
_MARGIN = re.compile(r"^[ \t]+|[ \t]+$|^\n", re.MULTILINE)


def script(text: str) -> str:
    """Return a JavaScript module; its strings and templates must not span lines that begin so."""
    return _MARGIN.sub("", _TYPE.sub("", _LINE.sub("", _BLOCK.sub("", text))))


def style(text: str) -> str:
    """Return a style sheet."""
    bare = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return re.sub(r"\s*([{};,])\s*", r"\1", bare).strip() + "\n"
