"""What is wrong in the theme before it reaches a page: styles left open, scripts that do not parse.

A page asks no other host for anything, so a style sheet names only fonts of the theme and data.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import jinja2
from jinja2 import nodes

from builder.core.build_cache import Memo
from builder.core.folders import Folders, digest, digest_of_files, files
from builder.core.problem import Problem
from builder.core.text_files import text_of
from builder.project import ui_strings
from builder.project.theme_overlay import ROOMS

THEME = "theme"
_BESIDE = (ui_strings.FILE, "node_modules")
_PAPERS = (".", "README", "LICENSE")  # how the names of files begin that are for people
_NEAR = "only style sheets may be new on their own"


def override_problems(folders: Folders, memo: Memo) -> list[Problem]:
    """Return what of the project's own theme has no effect."""
    if folders.given is None:
        return []
    own = folders.root / THEME
    key = digest(digest_of_files(own / one) for one in ROOMS)
    named = sorted(path.name for path in own.iterdir())
    key = digest((key, *named, digest_of_files(folders.given / "templates")))
    return memo.get("own theme", key, lambda: [*_unread(own, folders.given), *_unshown(folders)])


def _unread(own: Path, given: Path | None) -> Iterable[Problem]:
    assert given
    for path in sorted(own.iterdir()):
        known = path.name in (*ROOMS, *_BESIDE) or path.name.startswith(_PAPERS)
        if not known and not (path.is_file() and (given / path.name).is_file()):
            inside = files(path)[:1] if path.is_dir() else [path]
            for one in inside:
                yield _useless(own, one, given)
    for room in ROOMS:
        for path in files(own / room):
            inner = path.relative_to(own)
            new = not (given / inner).is_file() and room != "styles"
            if (new and not _is_named(own, path)) or (room == "styles" and path.suffix != ".css"):
                yield _useless(own, path, given)


def _is_named(own: Path, path: Path) -> bool:
    """Say whether another file of the project's theme names a file."""
    if path.parent.name == "panels" or path.name.startswith(_PAPERS):  # a panel is a box of its own
        return True
    word = re.compile(rf"(?<![\w-]){re.escape(path.name)}(?![\w-])")
    return any(
        word.search(other.read_text("utf-8", errors="replace"))
        for room in ROOMS
        for other in files(own / room)
        if other != path and other.suffix in (".html", ".js", ".css")
    )


def _useless(own: Path, path: Path, given: Path) -> Problem:
    source = f"{THEME}/{path.relative_to(own).as_posix()}"
    alike = [f"{THEME}/{one}" for one in _of_given(given) if Path(one).name == path.name]
    near = f"; there is {' and '.join(alike)}" if alike else f"; {_NEAR}"
    return Problem(
        source, 1, f"replaces nothing of the generator's theme, and no file of yours names it{near}"
    )


def _of_given(given: Path) -> list[str]:
    return [path.relative_to(given).as_posix() for room in ROOMS for path in files(given / room)]


def _unshown(folders: Folders) -> Iterable[Problem]:
    """Yield the blocks of templates that what they extend does not have."""
    for path in files(folders.root / THEME / "templates", "*.html"):
        tree = _parsed(path)
        above = _extended(tree)
        there = _blocks(folders.theme / "templates", above)
        source = f"{THEME}/{path.relative_to(folders.root / THEME).as_posix()}"
        for block in tree.body if tree and there else ():
            if isinstance(block, nodes.Block) and block.name not in there:
                message = f"'{above}' has no block '{block.name}'; there are {', '.join(there)}"
                yield Problem(source, block.lineno, message)


def _parsed(path: Path) -> nodes.Template | None:
    try:
        return jinja2.Environment().parse(path.read_text("utf-8"))
    except (jinja2.TemplateSyntaxError, OSError, UnicodeDecodeError):  # said where it is used
        return None


def _extended(tree: nodes.Template | None) -> str:
    """Return the template that one extends, "" if none, or one that is chosen when it is used."""
    found = tree.find(nodes.Extends) if tree else None
    return str(found.template.value) if found and isinstance(found.template, nodes.Const) else ""


def _blocks(templates: Path, name: str) -> list[str]:
    """Return the blocks of a template and of what it extends in turn, none if one is unknown."""
    found: list[str] = []
    while name:
        tree = _parsed(templates / name)
        if tree is None:
            return []
        found += (block.name for block in tree.find_all(nodes.Block))
        name = _extended(tree)
    return list(dict.fromkeys(found))


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
