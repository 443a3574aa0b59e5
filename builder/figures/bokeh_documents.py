"""Bokeh documents of charts, from one cached template per kind of chart.

Importing Bokeh takes longer than rendering a hundred articles, so it is imported only when the
cache lacks a template.
"""

import json
import re
from functools import lru_cache
from importlib import metadata, util
from pathlib import Path
from typing import Any

from builder.core.folders import digest, read_checksummed, write_checksummed

_TEMPLATES = Path(__file__).with_name("bokeh_templates.py")


def json_item(name: str, view: dict[str, Any], cache: Path | None = None) -> dict[str, Any]:
    """Return {"item": Bokeh's embeddable JSON, "view": the data to fill it with}.

    Args:
        name: "calculator.output", which names the models so that no two figures share an id.
        view: view JSON of a chart (`engine.draw.view_json`).
        cache: a folder for the templates.
    """
    return {"item": _renumber_ids(json.loads(_document(view["kind"], cache)), name), "view": view}


@lru_cache(maxsize=64)
def _document(kind: str, cache: Path | None) -> bytes:
    """Return the document of a kind of chart as JSON."""
    version = digest((_TEMPLATES.read_bytes(), metadata.version("bokeh")))
    file = cache / f"{kind}-{version}.json" if cache else None
    document = read_checksummed(file) if file else None
    if document is None:
        from builder.figures import bokeh_templates

        document = json.dumps(bokeh_templates.document(kind)).encode()
        if file:
            write_checksummed(file, document)
    return document


def bokeh_js() -> bytes:
    """Return the minified BokehJS of the installed package, so that both sides match."""
    spec = util.find_spec("bokeh")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("bokeh is not installed")
    folder = Path(spec.origin).parent / "server" / "static" / "js"
    return (folder / "bokeh.min.js").read_bytes()


def _renumber_ids(item: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the JSON with ids derived from the name and the order of appearance."""
    prefix = re.sub(r"\W+", "-", name)
    ids: dict[str, str] = {}

    def renamed(value: object) -> Any:  # noqa: ANN401
        if isinstance(value, list):
            return [renamed(child) for child in value]
        if not isinstance(value, dict):
            return value
        return {
            key: new_id(child) if key in ("id", "root_id") else renamed(child)
            for key, child in value.items()
        }

    def new_id(old: str) -> str:
        return ids.setdefault(old, f"{prefix}-{len(ids) + 1}")

    result: dict[str, Any] = renamed(item)
    return result
