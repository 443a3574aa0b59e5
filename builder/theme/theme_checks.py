"""What is wrong in the theme before it reaches a page: styles left open, scripts that do not parse.

A page asks no other host for anything, so a style sheet names only fonts of the theme and data.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from builder.core.folders import Folders, files
from builder.core.problem import Problem
from builder.core.text_files import text_of

Faults = list[tuple[str, int, str]]  # name, line, message
CheckModules = Callable[[Mapping[str, str]], Faults]
_PIECES = re.compile(
    r"""(?P<comment>/\*.*?(?:\*/|\Z))|(?P<url>url\(\s*["']?(?P<address>[^"')]*)["']?\s*\))"""
    r"""|(?P<text>"(?:\\.|[^"\\\n])*(?:"|$)|'(?:\\.|[^'\\\n])*(?:'|$))"""
    r"""|(?P<import>@import\b)|(?P<brace>[{}()])""",
    re.DOTALL | re.MULTILINE,
)
_COLOR = re.compile(r"^\.c-([\w-]+) \{", re.MULTILINE)
_CLOSES = {"}": "{", ")": "("}


def problems(folders: Folders, check_modules: CheckModules) -> list[Problem]:
    """Return what is wrong in the styles and the scripts of the theme.

    Args:
        folders: of the project.
        check_modules: name -> text of all modules in, their faults out.
    """
    theme = folders.theme
    fonts = {path.name for path in files(theme / "fonts")}
    found: list[Problem] = []
    for path in files(theme / "styles", "*.css"):
        source = folders.named(path)
        text, unread = text_of(path, source)
        found += unread
        found += [Problem(source, line, message) for line, message in wrong_style(text, fonts)]
    modules: dict[str, str] = {}
    for path in files(theme / "runtime", "*.js"):
        source = folders.named(path)
        modules[source], unread = text_of(path, source)
        found += unread
    return found + [Problem(*fault) for fault in check_modules(modules)]


def colors(theme: Path) -> tuple[str, ...]:
    """Return the names of the colors that figures can have: each has a rule `.c-NAME {`."""
    texts = (path.read_text("utf-8") for path in files(theme / "styles", "*.css"))
    return tuple(dict.fromkeys(name for text in texts for name in _COLOR.findall(text)))


def wrong_style(text: str, fonts: set[str]) -> Iterator[tuple[int, str]]:
    """Yield (line, message) of what a style sheet leaves open or fetches from elsewhere."""
    opened: list[tuple[str, int]] = []
    for piece in _PIECES.finditer(text):
        line = text.count("\n", 0, piece.start()) + 1
        kind, said = str(piece.lastgroup), piece[0]
        if kind == "brace" and said in _CLOSES:
            if not opened or opened.pop()[0] != _CLOSES[said]:
                yield line, f"'{said}' closes nothing"
        elif kind == "brace":
            opened.append((said, line))
        else:
            message = _wrong_piece(kind, said, piece["address"] or "", fonts)
            if message:
                yield line, message
    yield from ((line, f"'{mark}' is never closed") for mark, line in opened)


def _wrong_piece(kind: str, said: str, address: str, fonts: set[str]) -> str:
    if kind == "comment" and not (said.endswith("*/") and len(said) > 3):
        return "this comment is never closed"
    if kind == "text" and (len(said) < 2 or said[-1] != said[0]):
        return "this text is never closed"
    if kind == "import":
        return "@import is not followed; every file of theme/styles is in the style sheet"
    if kind != "url" or address.startswith(("data:", "#")):
        return ""
    if address.rpartition("/")[2] in fonts and ":" not in address and address[:2] != "//":
        return ""
    return f"'{address}' is not a font of theme/fonts; there are {', '.join(sorted(fonts))}"
