"""Results as HTML for a notebook: the tables and drawings of the pages, in light and dark.

The colors are the site's own style sheets, which the wheel brings as `drawing.css`.
"""

from collections.abc import Iterable, Iterator, Mapping
from pkgutil import get_data

from engine.core.numbers import DEFAULT, format_value
from engine.core.text import render_text, say
from engine.core.units import BYTES, FLOP_RATE, SECONDS, SHARE, TOKEN_RATE
from engine.core.views import (
    Advice,
    Axis,
    Badge,
    Bar,
    Bars,
    Cell,
    Heatmap,
    Lines,
    Scene,
    Segment,
    Table,
    Timeline,
    Value,
    View,
)
from engine.draw.escape import escape
from engine.draw.export_text import table_text
from engine.draw.fragments import badge_fragment, table_fragment
from engine.draw.scene import scene_svg
from engine.library.results import Estimate, Plans, as_dict

_WIDTH, _NAMES, _ROW, _BAR = 640.0, 170.0, 22.0, 14.0  # pixels of a bar chart
# Parts of a step that are neither communication nor the color's own name.
_COLORS = {"compute": "compute", "bubble": "muted", "optimizer": "memory", "other": "muted"}


def style() -> str:
    """Return the style element of a result; without colors where the wheel has not brought them."""
    try:
        text = (get_data(__package__, "drawing.css") or b"").decode()
    except OSError:  # the repository itself, whose styles are those of the theme
        text = ""
    return f"<style>{text}</style>"


def page(title: str, parts: Iterable[str]) -> str:
    """Return HTML that stands by itself, its rules confined to it."""
    body = "".join(part for part in parts if part)
    return f'<div class="wallclock">{style()}<p><strong>{escape(title)}</strong></p>{body}</div>'


def estimate_html(result: Estimate) -> str:
    """Return an estimate: its numbers, and where its time and memory go."""
    rows: list[tuple[Cell, ...]] = [
        ("Step", _with_range(result)),
        ("Tokens of a GPU", say("{v}", v=(result.tokens_per_second_per_gpu, TOKEN_RATE))),
        ("Model FLOP/s of a GPU", say("{v}", v=(result.model_flops_rate, FLOP_RATE))),
        ("MFU", say("{v}", v=(result.mfu, SHARE))),
        ("Memory of the GPU that holds most", say("{v}", v=(result.memory_process, BYTES))),
        ("Of it may be filled", say("{v}", v=(result.memory_usable, BYTES))),
    ]
    table = Table(title="", columns=("What", "Value"), rows=tuple(rows))
    notes = "".join(f"<li>{escape(note)}</li>" for note in (*result.problems, *result.extrapolates))
    parts = [
        table_fragment(table, DEFAULT),
        bars_svg(_bars("Where the step goes", as_dict(result.time), time=True)),
        bars_svg(_bars("Memory of the GPU that holds most", as_dict(result.memory), time=False)),
        f"<ul>{notes}</ul>" if notes else "",
    ]
    return page(f"Estimate: {result.fit}", parts)


def _with_range(result: Estimate) -> Cell:
    return say(
        "{step} ({low} to {high})",
        step=(result.step_time, SECONDS),
        low=(result.step_time_low, SECONDS),
        high=(result.step_time_high, SECONDS),
    )


def _bars(title: str, parts: Mapping[str, float], *, time: bool) -> Bars:
    """Return one bar for each part."""
    quantity = SECONDS if time else BYTES
    bars = []
    for name, value in parts.items():
        color = _COLORS.get(name, "communication") if time else name.replace("reserve", "muted")
        label = name.replace("_", " ")
        segment = Segment(key=name, label=label, value=value, color=color)
        bars.append(Bar(key=name, label=label, segments=(segment,)))
    high = max(parts.values()) or 1.0
    axis = Axis(label="", quantity=quantity, low=0.0, high=high)
    return Bars(title=title, axis=axis, bars=tuple(bars))


def plans_html(plans: Plans) -> str:
    """Return the best plans of a job as a table."""
    rows: list[tuple[Cell, ...]] = [
        (
            plan.name,
            plan.fit,
            say("{v}", v=(plan.step_time, SECONDS)),
            say("{v}", v=(plan.memory_process, BYTES)),
            say("{v}", v=(plan.tokens_per_second_per_gpu, TOKEN_RATE)),
        )
        for plan in plans.plans
    ]
    columns = ("Plan", "Fits", "Step", "Memory", "Tokens of a GPU")
    table = Table(title="", columns=columns, rows=tuple(rows))
    text = f"<p>{escape(plans.reason)}</p>" if plans.reason else ""
    return page(f"{len(plans.plans)} plans", [table_fragment(table, DEFAULT), text])


def views_html(title: str, views: Mapping[str, View]) -> str:
    """Return the views of a calculator: numbers first, then tables, charts and drawings."""
    numbers: list[tuple[Cell, ...]] = [
        (view.label, format_value(view.value, view.quantity, DEFAULT))
        for view in views.values()
        if isinstance(view, Value)
    ]
    table = Table(title="", columns=("Result", "Value"), rows=tuple(numbers))
    return page(title, [table_fragment(table, DEFAULT), *_figures(views.values())])


def _figures(views: Iterable[View]) -> Iterator[str]:
    for view in views:
        if isinstance(view, Badge):
            yield f"<p>{badge_fragment(view, DEFAULT)}</p>"
        elif isinstance(view, Table):
            yield table_fragment(view, DEFAULT)
        elif isinstance(view, Scene):
            yield scene_svg(view)
        elif isinstance(view, Bars):
            yield bars_svg(view)
        elif isinstance(view, Lines | Timeline | Heatmap):
            yield f"<p>{escape(view.title)}</p>{table_text(view, DEFAULT)}"
        elif isinstance(view, Advice):
            yield f"<p>{escape(render_text(view.verdict, DEFAULT))}</p>"


def bars_svg(view: Bars) -> str:
    """Return a bar chart as SVG, a bar a row, with its total beside it."""
    shapes = []
    scale = (_WIDTH - _NAMES - 90) / (view.axis.high or 1.0)
    for row, bar in enumerate(view.bars):
        y, x = _ROW * row, _NAMES
        shapes.append(f'<text x="{_NAMES - 8:g}" y="{y + 12:g}" text-anchor="end">'
                      f"{escape(bar.label)}</text>")  # fmt: skip
        for segment in bar.segments:
            width = max(0.0, segment.value * scale)
            shapes.append(
                f'<rect x="{x:.1f}" y="{y:g}" width="{width:.1f}" height="{_BAR:g}" '
                f'style="fill:var(--{segment.color})"><title>{escape(segment.label)}</title></rect>'
            )
            x += width
        total = sum(segment.value for segment in bar.segments)
        shown = format_value(total, view.axis.quantity, DEFAULT)
        shapes.append(f'<text x="{x + 6:.1f}" y="{y + 12:g}">{escape(shown)}</text>')
    height = _ROW * len(view.bars)
    return (
        f'<p>{escape(view.title)}</p><svg xmlns="http://www.w3.org/2000/svg" class="scene" '
        f'role="img" aria-label="{escape(view.title)}" viewBox="0 0 {_WIDTH:g} {height:g}" '
        f'style="max-width:{_WIDTH:g}px" font-size="12">{"".join(shapes)}</svg>'
    )
