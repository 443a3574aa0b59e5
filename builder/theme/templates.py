"""The theme's Jinja environment, with a bytecode cache, and its panels that a page fetches."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import jinja2
from jinja2.bccache import Bucket
from markupsafe import Markup, escape

from builder.core import html_tree
from builder.core.folders import files, read_checksummed, write_checksummed
from engine.draw import line_breaking


class _TestableUndefined(jinja2.StrictUndefined):
    """Undefined value that a template may test (`if view.handle`) but not print."""

    def __bool__(self) -> bool:  # type: ignore[override]
        return False


class _TemplateCache(jinja2.BytecodeCache):
    """Bytecode cache keyed by template source, so that projects share compiled templates."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load cached bytecode; a damaged file is compiled again."""
        if data := read_checksummed(self.folder / bucket.key):
            bucket.bytecode_from_string(data)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Store compiled bytecode."""
        write_checksummed(self.folder / bucket.key, bucket.bytecode_to_string())

    def get_bucket(
        self, environment: jinja2.Environment, name: str, filename: str | None, source: str
    ) -> Bucket:
        """Return the bucket of a template, with the template's own path in its tracebacks."""
        checksum = self.get_source_checksum(source)
        key = self.get_cache_key(f"{name} {checksum} {jinja2.__version__}")
        bucket = Bucket(environment, key, checksum)
        self.load_bytecode(bucket)
        if bucket.code and filename:
            bucket.code = _with_filename(bucket.code, filename)
        return bucket


def _with_filename(code: CodeType, filename: str) -> CodeType:
    """Return the code object with this file name, in nested code objects too."""
    inner = (
        _with_filename(constant, filename) if isinstance(constant, CodeType) else constant
        for constant in code.co_consts
    )
    return code.replace(co_filename=filename, co_consts=tuple(inner))


@cache
def load_templates(folder: Path, cache: Path) -> jinja2.Environment:
    """Return the Jinja environment of a template folder; bytecode is stored in the cache folder."""
    # Cached, since compiling templates is most of a small rebuild; changed files are read again.
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=_TestableUndefined,
        bytecode_cache=_TemplateCache(cache / "templates"),
    )
    # `whole` keeps names and quantities on one line; `breaking` also lets paths break.
    environment.filters["whole"] = lambda text: Markup(_unbroken(str(escape(text))))
    environment.filters["breaking"] = lambda text: Markup(
        _unbroken(line_breaking.break_long_names(str(escape(text))))
    )
    return environment


def _unbroken(html: str) -> str:
    return line_breaking.keep_names_whole(line_breaking.bind_units(html))


# Panels that a page fetches when a reader opens one: the search, the keyboard shortcuts.
#
# Each template of `theme/templates/panels` is a panel with its own styles. Its HTML is stored
# beside the scripts and loaded on demand.

FOLDER, KEYS = "panels", "keys.toml"


def render_panels(theme: Path, templates: Any) -> dict[str, str]:  # noqa: ANN401 (a Jinja environment)
    """Return path beside the scripts -> HTML of every panel."""
    paths = files(theme / "templates" / FOLDER, "*.html")
    groups = key_groups(theme)
    return {
        f"{FOLDER}/{path.name}": templates.get_template(f"{FOLDER}/{path.name}").render(
            groups=groups
        )
        for path in paths
    }


def panel_styles(panels: Mapping[str, str]) -> dict[str, str]:
    """Return name -> CSS of every panel."""
    styles = {path: html_tree.parse(html).first("style") for path, html in panels.items()}
    return {f"{path}.css": style.inner_html() for path, style in styles.items() if style}


def with_styles(panels: Mapping[str, str], minified: Mapping[str, str]) -> dict[str, str]:
    """Return the panels with their CSS replaced by minified CSS."""
    styled = dict(panels)
    for name, style in minified.items():
        path = name.removesuffix(".css")
        if path in styled:
            panel = html_tree.parse(styled[path])
            if element := panel.first("style"):
                element.replace_children([style])
            styled[path] = panel.html()
    return styled


def key_groups(theme: Path) -> list[dict[str, Any]]:
    """Return the groups of keyboard shortcuts in `theme/keys.toml`, each with its `keys`."""
    path = theme / KEYS
    text = path.read_text("utf-8") if path.is_file() else ""
    return list(tomllib.loads(text).get("groups", []))
