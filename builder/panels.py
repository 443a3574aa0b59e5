"""Boxes over the page that are fetched when somebody opens one: the search, the keys.

A template of `theme/templates/panels` is one box with its own styles. It lies beside the scripts,
so that a page which nobody opens it on sends nothing of it.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

from builder import slim
from builder.folders import files

FOLDER, KEYS = "panels", "keys.toml"
_STYLE = re.compile(r"(?<=<style>).*?(?=</style>)", re.DOTALL)


def rendered(theme: Path, templates: Any) -> dict[str, str]:  # noqa: ANN401 (a Jinja environment)
    """Return path beside the scripts -> HTML of every box."""
    found = files(theme / "templates" / FOLDER, "*.html")
    groups = keys(theme)
    return {
        f"{FOLDER}/{path.name}": _STYLE.sub(
            lambda style: slim.style(style[0]),
            templates.get_template(f"{FOLDER}/{path.name}").render(groups=groups),
        )
        for path in found
    }


def keys(theme: Path) -> list[dict[str, Any]]:
    """Return the groups of keys that `theme/keys.toml` declares, each with its `keys`."""
    path = theme / KEYS
    text = path.read_text("utf-8") if path.is_file() else ""
    return list(tomllib.loads(text).get("groups", []))
