"""Checks of the theme: unclosed styles, scripts that do not parse, overrides without effect.

Pages load nothing from other hosts, so a style sheet may name only fonts of the theme and data
URLs.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import jinja2
from jinja2 import nodes

from builder.core.build_cache import BuildCache
from builder.core.folders import Folders, digest, digest_of_files, files
from builder.core.problem import Problem
from builder.core.text_files import read_text
from builder.project import ui_strings
from builder.project.theme_overlay import THEME_FOLDERS

THEME = "theme"
_OTHER_FILES = (ui_strings.FILE, "node_modules")
_DOCUMENT_PREFIXES = (".", "README", "LICENSE")  # prefixes of documentation and hidden files
_STYLES_HINT = "only style sheets may be new on their own"


def override_problems(folders: Folders, cache: BuildCache) -> list[Problem]:
    """Return the problems of files in the project's theme that have no effect."""
    if folders.base_theme is None:
        return []
    project_theme = folders.root / THEME
    key = digest(digest_of_files(project_theme / folder) for folder in THEME_FOLDERS)
    named = sorted(path.name for path in project_theme.iterdir())
    key = digest((key, *named, digest_of_files(folders.base_theme / "templates")))
    return cache.get(
        "own theme",
        key,
        lambda: [*_unused_files(project_theme, folders.base_theme), *_unknown_blocks(folders)],
    )


def _unused_files(project_theme: Path, original: Path | None) -> Iterable[Problem]:
    assert original
    for path in sorted(project_theme.iterdir()):
        known = path.name in (*THEME_FOLDERS, *_OTHER_FILES) or path.name.startswith(
            _DOCUMENT_PREFIXES
        )
        if not known and not (path.is_file() and (original / path.name).is_file()):
            unknown_files = files(path)[:1] if path.is_dir() else [path]
            for file in unknown_files:
                yield _unused_problem(project_theme, file, original)
    for folder in THEME_FOLDERS:
        for path in files(project_theme / folder):
            inner = path.relative_to(project_theme)
            new = not (original / inner).is_file() and folder != "styles"
            if (new and not _is_named(project_theme, path)) or (
                folder == "styles" and path.suffix != ".css"
            ):
                yield _unused_problem(project_theme, path, original)


def _is_named(project_theme: Path, path: Path) -> bool:
    """Say whether another file of the project's theme names a file."""
    if path.parent.name == "panels" or path.name.startswith(_DOCUMENT_PREFIXES):
        return True
    word = re.compile(rf"(?<![\w-]){re.escape(path.name)}(?![\w-])")
    return any(
        word.search(other.read_text("utf-8", errors="replace"))
        for folder in THEME_FOLDERS
        for other in files(project_theme / folder)
        if other != path and other.suffix in (".html", ".js", ".css")
    )


def _unused_problem(project_theme: Path, path: Path, original: Path) -> Problem:
    source = f"{THEME}/{path.relative_to(project_theme).as_posix()}"
    same_name = [
        f"{THEME}/{name}" for name in _original_files(original) if Path(name).name == path.name
    ]
    hint = f"; there is {' and '.join(same_name)}" if same_name else f"; {_STYLES_HINT}"
    return Problem(
        source, 1, f"replaces nothing of the generator's theme, and no file of yours names it{hint}"
    )


def _original_files(original: Path) -> list[str]:
    return [
        path.relative_to(original).as_posix()
        for folder in THEME_FOLDERS
        for path in files(original / folder)
    ]


def _unknown_blocks(folders: Folders) -> Iterable[Problem]:
    """Yield the problems of template blocks that the extended template lacks."""
    for path in files(folders.root / THEME / "templates", "*.html"):
        tree = _parse_template(path)
        parent = _parent_template(tree)
        known = _template_blocks(folders.theme / "templates", parent)
        source = f"{THEME}/{path.relative_to(folders.root / THEME).as_posix()}"
        for block in tree.body if tree and known else ():
            if isinstance(block, nodes.Block) and block.name not in known:
                message = f"'{parent}' has no block '{block.name}'; there are {', '.join(known)}"
                yield Problem(source, block.lineno, message)


def _parse_template(path: Path) -> nodes.Template | None:
    try:
        return jinja2.Environment().parse(path.read_text("utf-8"))
    except (jinja2.TemplateSyntaxError, OSError, UnicodeDecodeError):  # reported where it is used
        return None


def _parent_template(tree: nodes.Template | None) -> str:
    """Return the name of the extended template, "" if there is none or it is dynamic."""
    extends = tree.find(nodes.Extends) if tree else None
    return (
        str(extends.template.value) if extends and isinstance(extends.template, nodes.Const) else ""
    )


def _template_blocks(templates: Path, name: str) -> list[str]:
    """Return the block names of a template and of its ancestors; none if an ancestor is unknown."""
    blocks: list[str] = []
    while name:
        tree = _parse_template(templates / name)
        if tree is None:
            return []
        blocks += (block.name for block in tree.find_all(nodes.Block))
        name = _parent_template(tree)
    return list(dict.fromkeys(blocks))


ModuleFaults = list[tuple[str, int, str]]  # name, line, message
CheckModules = Callable[[Mapping[str, str]], ModuleFaults]
_PIECES = re.compile(
    r"""(?P<comment>/\*.*?(?:\*/|\Z))|(?P<url>url\(\s*["']?(?P<address>[^"')]*)["']?\s*\))"""
    r"""|(?P<text>"(?:\\.|[^"\\\n])*(?:"|$)|'(?:\\.|[^'\\\n])*(?:'|$))"""
    r"""|(?P<import>@import\b)|(?P<brace>[{}()])""",
    re.DOTALL | re.MULTILINE,
)
_COLOR = re.compile(r"^\.c-([\w-]+) \{", re.MULTILINE)
_CLOSES = {"}": "{", ")": "("}


def problems(folders: Folders, check_modules: CheckModules) -> list[Problem]:
    """Return the problems of the theme's styles and scripts.

    Args:
        folders: of the project.
        check_modules: name -> text of all modules to their syntax errors.
    """
    theme = folders.theme
    fonts = {path.name for path in files(theme / "fonts")}
    style_and_script_problems: list[Problem] = []
    for path in files(theme / "styles", "*.css"):
        source = folders.display_path(path)
        text, unread = read_text(path, source)
        style_and_script_problems += unread
        style_and_script_problems += [
            Problem(source, line, message) for line, message in style_problems(text, fonts)
        ]
    modules: dict[str, str] = {}
    for path in files(theme / "runtime", "*.js"):
        source = folders.display_path(path)
        modules[source], unread = read_text(path, source)
        style_and_script_problems += unread
    return style_and_script_problems + [Problem(*fault) for fault in check_modules(modules)]


def colors(theme: Path) -> tuple[str, ...]:
    """Return the names of figure colors: each has a rule `.c-NAME {`."""
    texts = (path.read_text("utf-8") for path in files(theme / "styles", "*.css"))
    return tuple(dict.fromkeys(name for text in texts for name in _COLOR.findall(text)))


def style_problems(text: str, fonts: set[str]) -> Iterator[tuple[int, str]]:
    """Yield (line, message) of unclosed parts and external URLs of a style sheet."""
    opened: list[tuple[str, int]] = []
    for piece in _PIECES.finditer(text):
        line = text.count("\n", 0, piece.start()) + 1
        kind, piece_text = str(piece.lastgroup), piece[0]
        if kind == "brace" and piece_text in _CLOSES:
            if not opened or opened.pop()[0] != _CLOSES[piece_text]:
                yield line, f"'{piece_text}' closes nothing"
        elif kind == "brace":
            opened.append((piece_text, line))
        else:
            message = _piece_problem(kind, piece_text, piece["address"] or "", fonts)
            if message:
                yield line, message
    yield from ((line, f"'{mark}' is never closed") for mark, line in opened)


def _piece_problem(kind: str, piece: str, address: str, fonts: set[str]) -> str:
    if kind == "comment" and not (piece.endswith("*/") and len(piece) > 3):
        return "this comment is never closed"
    if kind == "text" and (len(piece) < 2 or piece[-1] != piece[0]):
        return "this text is never closed"
    if kind == "import":
        return "@import is not followed; every file of theme/styles is in the style sheet"
    if kind != "url" or address.startswith(("data:", "#")):
        return ""
    if address.rpartition("/")[2] in fonts and ":" not in address and address[:2] != "//":
        return ""
    return f"'{address}' is not a font of theme/fonts; there are {', '.join(sorted(fonts))}"
