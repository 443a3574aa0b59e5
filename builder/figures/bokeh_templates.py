"""Bokeh document templates: named, empty data columns that the page's chart.js fills.

One document serves every kind of chart, because all kinds are drawn from the same marks (see
theme/runtime/charts/frame.js): x is a share of the frame's width, y is pixels down from its top.
The frame's size, the colors and the font are set in the browser.
"""

from typing import Any, TypeAlias

from bokeh.embed import json_item as bokeh_json_item
from bokeh.models import (
    ColumnDataSource,
    HoverTool,
    Line,
    LinearScale,
    MultiLine,
    Plot,
    Quad,
    Range1d,
    Scatter,
    Segment,
    Text,
    Toolbar,
)
from bokeh.models.glyph import Glyph
from bokeh.models.renderers import GlyphRenderer

STRIPES = (2, 4)  # drawn and left out, in pixels along a hatched bar
HALO_WIDTH = 4.0

Renderer: TypeAlias = "GlyphRenderer[Glyph]"

_LINE_COLUMNS = ("xs", "ys", "color", "dash", "width")
_WORD_COLUMNS = ("x", "y", "dx", "dy", "text", "anchor", "size", "style", "color")
_COLUMNS = {
    "back": _LINE_COLUMNS,
    "boxes": ("x0", "x1", "y0", "y1", "color", "strength", "label", "text"),
    "stripes": ("x0", "x1", "y", "width", "color"),
    "curves": _LINE_COLUMNS,
    "front": _LINE_COLUMNS,
    "rings": ("x", "y", "color", "fill", "size", "width"),
    "halo": _WORD_COLUMNS,
    "words": _WORD_COLUMNS,
    "probe": ("x", "y"),
}


def document(kind: str) -> dict[str, Any]:
    """Return the document of a kind of chart as JSON data; making one takes a tenth of a second."""
    return dict(bokeh_json_item(_plot(kind)))


def _plot(kind: str) -> Plot:
    sources = {
        key: ColumnDataSource(data={column: [] for column in columns}, name=key)
        for key, columns in _COLUMNS.items()
    }
    # None is in a level that Bokeh clips: its frame begins half a pixel late. The marks themselves
    # end at the frame, and what is drawn over what is said by their order.
    renderers: list[Renderer] = [
        GlyphRenderer(data_source=sources[key], glyph=glyph, level="annotation")
        for key, glyph in (
            ("back", _lines()),
            ("boxes", _boxes()),
            ("stripes", _stripes()),
            ("curves", _lines()),
            ("probe", Line(line_alpha=0.0, line_width=10)),
            ("front", _lines()),
            ("rings", _rings()),
            ("halo", _words(halo=True)),
            ("words", _words(halo=False)),
        )
    ]
    return Plot(
        name="plot",
        renderers=list(renderers),
        x_range=Range1d(start=0, end=1),
        y_range=Range1d(start=1, end=0),
        x_scale=LinearScale(),
        y_scale=LinearScale(),
        toolbar=Toolbar(tools=[_hover(kind, renderers)], logo=None),
        toolbar_location=None,
        sizing_mode="stretch_width",
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
    )


def _lines() -> Glyph:
    return MultiLine(
        xs="xs", ys="ys", line_color="color", line_dash="dash", line_width="width",
        line_join="round",
    )  # fmt: skip


def _boxes() -> Glyph:
    return Quad(
        left="x0", right="x1", top="y0", bottom="y1", fill_color="color", fill_alpha="strength",
        line_color=None,
    )  # fmt: skip


def _stripes() -> Glyph:
    return Segment(
        x0="x0", x1="x1", y0="y", y1="y", line_color="color", line_width="width",
        line_dash=list(STRIPES),
    )  # fmt: skip


def _rings() -> Glyph:
    return Scatter(
        x="x", y="y", size="size", fill_color="fill", line_color="color", line_width="width"
    )


def _words(*, halo: bool) -> Glyph:
    words = Text(
        x="x", y="y", x_offset="dx", text="text", anchor="anchor", y_offset="dy",
        text_color="color", text_font_style="style", text_font_size="size",
    )  # fmt: skip
    if halo:
        words.update(text_outline_color="color", text_outline_width=HALO_WIDTH)
    return words


def _hover(kind: str, renderers: list[Renderer]) -> HoverTool:
    if kind == "lines":
        # The rows of the tooltip are the series, so they come with the data.
        return HoverTool(
            name="hover", renderers=[renderers[4]], mode="vline", line_policy="nearest",
            tooltips="", attachment="horizontal", show_arrow=False,
        )  # fmt: skip
    return HoverTool(
        name="hover", renderers=[renderers[1]], tooltips="<span>@label</span> <b>@text</b>",
        attachment="vertical", show_arrow=False,
    )  # fmt: skip
