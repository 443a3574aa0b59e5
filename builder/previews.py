"""A guide's opening figure in motion: a few of its own frames, drawn by the layout of the page.

A scene gives frames of its player, a chart with a handle the states of the handle, and any other
chart those of its calculator's presets. The pictures that lists of guides show move with them while
a reader points at them, in plain CSS, and stand still for readers who want less motion.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from builder import openings
from builder.article import Article
from builder.folders import digest
from builder.live import Live
from builder.memo import Memo
from builder.prose import Prose
from builder.toolbox import Draw
from engine import calculator as calculators
from engine.answer import dump, reply
from engine.basis.inputs import Number
from engine.basis.typed import plain
from engine.basis.views import Scene
from engine.draw.scene import scene_svg

_FRAMES = 6
_POSITIONS = (0.5, 0.3, 0.15, 0.4, 0.65)  # of a handle on its axis, there and back
_FIGURE = re.compile(r'<figure class="(?:chart|scene-figure)" data-of="(\w+)" data-output="(\w+)"')
Charts = dict[str, Any]
# (calculator, name in the memory) -> digest of what its results and this module depend on.
Key = Callable[[str, str], str]


def made(
    guides: Iterable[tuple[Article, Prose]],
    tools: Mapping[str, Live],
    style: str,
    draw: Draw,
    memo: Memo,
    key: Key,
    layout: str,
) -> dict[str, bytes]:
    """Return slug -> moving picture of every guide whose opening figure has more than one state.

    Args:
        guides: with their prose, in which the figures stand.
        tools: the calculators by name.
        style: of drawings (`openings.rules`).
        draw: charts -> SVG, many in one call.
        memo: what earlier builds made.
        key: of what a figure in motion is made.
        layout: digest of what draws.
    """
    opening = _opening(guides)
    asked: dict[tuple[str, str], Charts] = {}
    for name, output in opening.values():
        if not isinstance(tools[name].views[output], Scene):
            kept = f"states {name}.{output}"
            made_of = partial(_states, tools[name], output)
            asked[name, output] = memo.get(kept, key(name, kept), made_of)
    charts = {state: chart for states in asked.values() for state, chart in states.items()}
    drawn = memo.get("previews", digest((layout, dump(charts))), partial(draw, charts))
    found = {}
    for slug, (name, output) in opening.items():
        view = tools[name].views[output]
        states = [drawn[state] for state in asked.get((name, output), ())]
        if isinstance(view, Scene):
            kept = f"frames {name}.{output}"
            states = memo.get(kept, key(name, kept), partial(frames_of, view))
        frames = list(dict.fromkeys(states))
        if picture := openings.moving(frames, style):
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


def _states(one: Live, output: str) -> Charts:
    """Return state -> chart of the defaults and of other inputs, as `drawing.draw` takes them."""
    first = {"view": one.outputs[output], "spoken": one.reply["extra"]["spoken"][output]}
    handle = one.outputs[output].get("handle")
    changes = _along(one, handle) if handle else [preset["values"] for preset in one.presets]
    found: Charts = {f"{one.name}.{output}.0": first}
    for number, values in enumerate(changes[: _FRAMES - 1], start=1):
        asked = {"only": [output], "want": {"spoken": [output]}}
        answer = reply({"calculator": one.name, "values": values, **asked})
        view = answer["outputs"].get(output)
        if view and view["kind"] == first["view"]["kind"]:
            found[f"{one.name}.{output}.{number}"] = {
                "view": view,
                "spoken": answer["extra"]["spoken"][output],
            }
    return found


def _along(one: Live, handle: str) -> list[dict[str, str]]:
    """Return the inputs of a handle that is dragged there and back."""
    field = calculators.load(one.name).fields[handle]
    if not isinstance(field, Number):
        return []
    return [{handle: plain(field.at(place))} for place in _POSITIONS]
