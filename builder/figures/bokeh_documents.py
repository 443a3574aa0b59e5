"""The Bokeh document of a chart, from one that is kept for every kind of chart.

To import Bokeh takes longer than to render a hundred articles, so it is left alone where the cache
has the documents.
"""

import json
import re
from functools import lru_cache
from importlib import metadata, util
from pathlib import Path
from typing import Any

from builder.core.folders import digest, seal, sealed

_PLOT = Path(__file__).with_name("bokeh_templates.py")


def json_item(name: str, view: dict[str, Any], cache: Path | None = None) -> dict[str, Any]:
    """Return {"item": Bokeh's embeddable JSON, "view": the data to fill it with}.

    Args:
        name: "calculator.output", which names the models so that no two figures share an id.
        view: a chart as `engine.wire.view_json` gives it.
        cache: a folder for the documents.
    """
    return {"item": _own_ids(json.loads(_document(view["kind"], cache)), name), "view": view}


@lru_cache(maxsize=64)
def _document(kind: str, cache: Path | None) -> bytes:
    """Return the document of a kind of chart as JSON."""
    made_by = digest((_PLOT.read_bytes(), metadata.version("bokeh")))
    kept = cache / f"{kind}-{made_by}.json" if cache else None
    found = sealed(kept) if kept else None
    if found is None:
        from builder.figures import bokeh_templates

        found = json.dumps(bokeh_templates.document(kind)).encode()
        if kept:
            seal(kept, found)
    return found


def bokeh_js() -> bytes:
    """Return the minified BokehJS of the installed package, so that both sides match."""
    spec = util.find_spec("bokeh")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("bokeh is not installed")
    folder = Path(spec.origin).parent / "server" / "static" / "js"
    return (folder / "bokeh.min.js").read_bytes()


def _own_ids(item: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the JSON with ids that depend on nothing but the name and the order of appearance."""
    prefix = re.sub(r"\W+", "-", name)
    ids: dict[str, str] = {}

    def renamed(value: object) -> Any:  # noqa: ANN401
        if isinstance(value, list):
            return [renamed(one) for one in value]
        if not isinstance(value, dict):
            return value
        return {
            key: own(one) if key in ("id", "root_id") else renamed(one)
            for key, one in value.items()
        }

    def own(old: str) -> str:
        return ids.setdefault(old, f"{prefix}-{len(ids) + 1}")

    result: dict[str, Any] = renamed(item)
    return result
