"""Static SVG charts, rendered under Node by the theme's own chart layout."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from builder.core import node
from builder.core.folders import digest_of_files

_SCRIPT = Path(__file__).with_name("static_charts.mjs")


def layout_digest(theme: Path) -> str:
    """Return the digest of the chart renderer."""
    return digest_of_files(theme / "runtime" / "charts")


def draw_charts(theme: Path, charts: Mapping[str, Any]) -> Mapping[str, str]:
    """Return name -> SVG of charts, each given as {"view": view JSON, "spoken": alt text}.

    Raises:
        node.NodeError: Node is not usable, or a chart cannot be drawn.
    """
    module = theme / "runtime" / "charts" / "svg.js"
    drawn: Any = node.run(_SCRIPT, {"module": str(module), "charts": charts}) if charts else {}
    return dict(drawn)
