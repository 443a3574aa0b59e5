"""Animated previews: the opening figure of a guide as an animated SVG of a few of its states.

A scene contributes frames of its player, a chart with a handle positions of the handle, and any
other chart the presets of its calculator. Lists of guides animate these previews in plain CSS while
a reader points at them, but not for readers who prefer reduced motion.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from builder.calculators.calculator_context import CalculatorContext
from builder.calculators.calculator_set import DrawCharts
from builder.content.article import Article
from builder.core.build_cache import BuildCache
from builder.core.folders import digest
from builder.core.process_pool import ProcessPool
from builder.figures import hero_figures
from builder.markdown.article_html import ArticleHtml
from engine import calculator as calculators
from engine.answer import dump, reply
from engine.core.inputs import Number
from engine.core.parsing import exact_text
from engine.core.views import Scene
from engine.draw.scene import scene_svg

_FRAMES = 6
_POSITIONS = (0.5, 0.3, 0.15, 0.4, 0.65)  # of a handle on its axis, there and back
LOCAL_LIMIT = 4  # up to this many figures are computed in this process
Charts = dict[str, Any]
# (calculator, name in the build cache) -> digest of its results and of this module.
CacheKey = Callable[[str, str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewSettings:
    """Settings of the preview renderer.

    Attributes:
        style: CSS of drawings (`hero_figures.drawing_rules`).
        draw: charts -> SVG, many in one call.
        key: returns the cache key of a preview.
        layout: digest of the chart renderer.
    """

    style: str
    draw: DrawCharts
    key: CacheKey
    layout: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpeningChart:
    """The opening chart of a guide at its calculator's defaults, and its presets."""

    calculator: str
    output: str
    view: Mapping[str, Any]
    spoken: str
    presets: tuple[Mapping[str, Any], ...]


def render_previews(
    guides: Iterable[tuple[Article, ArticleHtml]],
    tools: Mapping[str, CalculatorContext],
    settings: PreviewSettings,
    cache: BuildCache,
    pool: ProcessPool,
) -> dict[str, bytes]:
    """Return slug -> animated SVG of every guide whose opening figure has several states.

    Args:
        guides: with their rendered HTML.
        tools: the calculators by name.
        settings: settings of the renderer.
        cache: the build cache.
        pool: pool of worker processes.
    """
    opening = _opening_figures(guides)
    stills = {
        f"states {name}.{output}": _opening_chart(tools[name], output)
        for name, output in opening.values()
        if not isinstance(tools[name].views[output], Scene)
    }
    chart_states: dict[str, Charts] = cache.get_many(
        {
            cache_name: settings.key(chart.calculator, cache_name)
            for cache_name, chart in stills.items()
        },
        lambda names: pool.map(
            _chart_states, [stills[name] for name in names], serial_limit=LOCAL_LIMIT
        ),
    )
    charts = {state: chart for states in chart_states.values() for state, chart in states.items()}
    drawn = cache.get(
        "previews", digest((settings.layout, dump(charts))), partial(settings.draw, charts)
    )
    previews = {}
    for slug, (name, output) in opening.items():
        view = tools[name].views[output]
        states = [drawn[state] for state in chart_states.get(f"states {name}.{output}", ())]
        if isinstance(view, Scene):
            cache_name = f"frames {name}.{output}"
            states = cache.get(
                cache_name, settings.key(name, cache_name), partial(scene_frames, view)
            )
        frames = list(dict.fromkeys(states))
        if picture := hero_figures.animated_figure(frames, settings.style):
            previews[slug] = picture.encode()
    return previews


def _opening_figures(guides: Iterable[tuple[Article, ArticleHtml]]) -> dict[str, tuple[str, str]]:
    """Return slug -> (calculator, output) of the opening figure of each guide."""
    openings: dict[str, tuple[str, str]] = {}
    for article, prose in guides:
        figures = prose.facts.drawn
        opening = next((figure for figure in figures if figure not in openings.values()), None)
        if article.kind == "guide" and opening:
            openings[article.slug] = opening
    return openings


def scene_frames(scene: Scene) -> list[str]:
    """Return evenly spaced frames of a scene as SVG, the opening frame first."""
    count, last = min(_FRAMES, len(scene.frames)), len(scene.frames) - 1
    frames = sorted({round(i * last / max(1, count - 1)) for i in range(count)})
    nearest = min(frames, key=lambda frame: abs(frame - scene.opening))
    frames = [scene.opening if frame == nearest else frame for frame in frames]
    first = frames.index(scene.opening)
    return [
        scene_svg(replace(scene, opening=frame)) for frame in (*frames[first:], *frames[:first])
    ]


def _opening_chart(calculator: CalculatorContext, output: str) -> OpeningChart:
    return OpeningChart(
        calculator=calculator.name,
        output=output,
        view=calculator.outputs[output],
        spoken=calculator.reply["extra"]["spoken"][output],
        presets=tuple(preset["values"] for preset in calculator.presets),
    )


def _chart_states(opening: OpeningChart) -> Charts:
    """Return state -> chart of the default and of other inputs (for `static_charts`)."""
    name, output = opening.calculator, opening.output
    handle = opening.view.get("handle")
    changes = _handle_inputs(name, handle) if handle else opening.presets
    charts: Charts = {f"{name}.{output}.0": {"view": opening.view, "spoken": opening.spoken}}
    for number, values in enumerate(changes[: _FRAMES - 1], start=1):
        reply_options = {"only": [output], "want": {"spoken": [output]}}
        replied = reply({"calculator": name, "values": values, **reply_options})
        view = replied["outputs"].get(output)
        if view and view["kind"] == opening.view["kind"]:
            charts[f"{name}.{output}.{number}"] = {
                "view": view,
                "spoken": replied["extra"]["spoken"][output],
            }
    return charts


def _handle_inputs(calculator: str, handle: str) -> tuple[dict[str, str], ...]:
    """Return the inputs for successive positions of a chart's handle."""
    field = calculators.load(calculator).fields[handle]
    if not isinstance(field, Number):
        return ()
    return tuple({handle: exact_text(field.at(position))} for position in _POSITIONS)
