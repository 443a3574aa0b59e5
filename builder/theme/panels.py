"""Boxes over the page that are fetched when somebody opens one: the search, the keys.

A template of `theme/templates/panels` is one box with its own styles. It lies beside the scripts,
so that a page which nobody opens it on sends nothing of it.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from builder.core.folders import files

FOLDER, KEYS = "panels", "keys.toml"
_STYLE = re.compile(r"(?<=<style>).*?(?=</style>)", re.DOTALL)


def rendered(theme: Path, templates: Any) -> dict[str, str]:  # noqa: ANN401 (a Jinja environment)
    """Return path beside the scripts -> HTML of every box."""
    found = files(theme / "templates" / FOLDER, "*.html")
    groups = keys(theme)
    return {
        f"{FOLDER}/{path.name}": templates.get_template(f"{FOLDER}/{path.name}").render(
            groups=groups
        )
        for path in found
    }


def styles(boxes: Mapping[str, str]) -> dict[str, str]:
    """Return the style of every box under a name of its own."""
    found = {path: _STYLE.search(html) for path, html in boxes.items()}
    return {f"{path}.css": style[0] for path, style in found.items() if style}


def dressed(boxes: Mapping[str, str], made: Mapping[str, str]) -> dict[str, str]:
    """Return the boxes with the styles that were `made` of theirs."""
    found = dict(boxes)
    for name, style in made.items():
        path = name.removesuffix(".css")
        if path in found:
            before, _, rest = found[path].partition("<style>")
            found[path] = f"{before}<style>{style}</style>{rest.partition('</style>')[2]}"
    return found


def keys(theme: Path) -> list[dict[str, Any]]:
    """Return the groups of keys that `theme/keys.toml` declares, each with its `keys`."""
    path = theme / KEYS
    text = path.read_text("utf-8") if path.is_file() else ""
    return list(tomllib.loads(text).get("groups", []))
