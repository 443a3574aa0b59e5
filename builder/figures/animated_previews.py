"""A guide's opening figure in motion: a few of its own frames, drawn by the layout of the page.

A scene gives frames of its player, a chart with a handle the states of the handle, and any other
chart those of its calculator's presets. The pictures that lists of guides show move with them while
a reader points at them, in plain CSS, and stand still for readers who want less motion.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from builder.calculators.calculator_context import Live
from builder.calculators.calculator_set import Draw
from builder.content.article import Article
from builder.core.build_cache import Memo
from builder.core.folders import digest
from builder.core.process_pool import ProcessPool
from builder.figures import hero_figures
from builder.markdown.article_html import Prose
from engine import calculator as calculators
from engine.answer import dump, reply
from engine.core.inputs import Number
from engine.core.parsing import plain
from engine.core.views import Scene
from engine.draw.scene import scene_svg

_FRAMES = 6
_POSITIONS = (0.5, 0.3, 0.15, 0.4, 0.65)  # of a handle on its axis, there and back
_FIGURE = re.compile(r'<figure class="(?:chart|scene-figure)" data-of="(\w+)" data-output="(\w+)"')
FEW = 4  # figures that are asked for their states before another process has begun
Charts = dict[str, Any]
# (calculator, name in the memory) -> digest of what its results and this module depend on.
Key = Callable[[str, str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What figures in motion are made with.

    Attributes:
        style: of drawings (`openings.rules`).
        draw: charts -> SVG, many in one call.
        key: of what a figure in motion is made.
        layout: digest of what draws.
    """

    style: str
    draw: Draw
    key: Key
    layout: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Still:
    """The chart that a guide opens with, at its calculator's defaults; presets as in `Live`."""

    calculator: str
    output: str
    view: Mapping[str, Any]
    spoken: str
    presets: tuple[Mapping[str, Any], ...]


def made(
    guides: Iterable[tuple[Article, Prose]],
    tools: Mapping[str, Live],
    means: Means,
    memo: Memo,
    hands: ProcessPool,
) -> dict[str, bytes]:
    """Return slug -> moving picture of every guide whose opening figure has more than one state.

    Args:
        guides: with their prose, in which the figures stand.
        tools: the calculators by name.
        means: what else they are made with.
        memo: what earlier builds made.
        hands: other processes.
    """
    opening = _opening(guides)
    stills = {
        f"states {name}.{output}": _still(tools[name], output)
        for name, output in opening.values()
        if not isinstance(tools[name].views[output], Scene)
    }
    asked: dict[str, Charts] = memo.many(
        {kept: means.key(one.calculator, kept) for kept, one in stills.items()},
        lambda names: hands.each(_states, [stills[name] for name in names], few=FEW),
    )
    charts = {state: chart for states in asked.values() for state, chart in states.items()}
    drawn = memo.get("previews", digest((means.layout, dump(charts))), partial(means.draw, charts))
    found = {}
    for slug, (name, output) in opening.items():
        view = tools[name].views[output]
        states = [drawn[state] for state in asked.get(f"states {name}.{output}", ())]
        if isinstance(view, Scene):
            kept = f"frames {name}.{output}"
            states = memo.get(kept, means.key(name, kept), partial(frames_of, view))
        frames = list(dict.fromkeys(states))
        if picture := hero_figures.moving(frames, means.style):
            found[slug] = picture.encode()
    return found


def _opening(guides: Iterable[tuple[Article, Prose]]) -> dict[str, tuple[str, str]]:
    """Return slug -> (calculator, output) of the figure that each guide opens with."""
    found: dict[str, tuple[str, str]] = {}
    for article, prose in guides:
        html = prose.html if prose.figures else ""
        named = [(match[1], match[2]) for match in _FIGURE.finditer(html)]
        own = next((one for one in named if one not in found.values()), None)
        if article.kind == "guide" and own:
            found[article.slug] = own
    return found


def frames_of(scene: Scene) -> list[str]:
    """Return frames of the player at even distances, the opening one first."""
    count, last = min(_FRAMES, len(scene.frames)), len(scene.frames) - 1
    places = sorted({round(i * last / max(1, count - 1)) for i in range(count)})
    nearest = min(places, key=lambda place: abs(place - scene.opening))
    places = [scene.opening if place == nearest else place for place in places]
    first = places.index(scene.opening)
    return [
        scene_svg(replace(scene, opening=place)) for place in (*places[first:], *places[:first])
    ]


def _still(one: Live, output: str) -> Still:
    return Still(
        calculator=one.name,
        output=output,
        view=one.outputs[output],
        spoken=one.reply["extra"]["spoken"][output],
        presets=tuple(preset["values"] for preset in one.presets),
    )


def _states(still: Still) -> Charts:
    """Return state -> chart of the defaults and of other inputs, as `drawing.draw` takes them."""
    name, output = still.calculator, still.output
    handle = still.view.get("handle")
    changes = _along(name, handle) if handle else still.presets
    found: Charts = {f"{name}.{output}.0": {"view": still.view, "spoken": still.spoken}}
    for number, values in enumerate(changes[: _FRAMES - 1], start=1):
        asked = {"only": [output], "want": {"spoken": [output]}}
        answer = reply({"calculator": name, "values": values, **asked})
        view = answer["outputs"].get(output)
        if view and view["kind"] == still.view["kind"]:
            found[f"{name}.{output}.{number}"] = {
                "view": view,
                "spoken": answer["extra"]["spoken"][output],
            }
    return found


def _along(calculator: str, handle: str) -> tuple[dict[str, str], ...]:
    """Return the inputs of a handle that is dragged there and back."""
    field = calculators.load(calculator).fields[handle]
    if not isinstance(field, Number):
        return ()
    return tuple({handle: plain(field.at(place))} for place in _POSITIONS)
