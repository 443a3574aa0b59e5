"""Panels that a page fetches when a reader opens one: the search, the keyboard shortcuts.

Each template of `theme/templates/panels` is a panel with its own styles. Its HTML is stored beside
the scripts and loaded on demand.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from builder.core.folders import files

FOLDER, KEYS = "panels", "keys.toml"
_STYLE = re.compile(r"(?<=<style>).*?(?=</style>)", re.DOTALL)


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
    matches = {path: _STYLE.search(html) for path, html in panels.items()}
    return {f"{path}.css": style[0] for path, style in matches.items() if style}


def with_styles(panels: Mapping[str, str], minified: Mapping[str, str]) -> dict[str, str]:
    """Return the panels with their CSS replaced by minified CSS."""
    styled = dict(panels)
    for name, style in minified.items():
        path = name.removesuffix(".css")
        if path in styled:
            before, _, rest = styled[path].partition("<style>")
            styled[path] = f"{before}<style>{style}</style>{rest.partition('</style>')[2]}"
    return styled


def key_groups(theme: Path) -> list[dict[str, Any]]:
    """Return the groups of keyboard shortcuts in `theme/keys.toml`, each with its `keys`."""
    path = theme / KEYS
    text = path.read_text("utf-8") if path.is_file() else ""
    return list(tomllib.loads(text).get("groups", []))
