"""Scenes as SVG, with the attribute changes from frame to frame."""

import re
from collections import deque
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from engine.core.numbers import Display
from engine.core.views import Scene, Shape
from engine.draw.escape import escape
from engine.draw.line_breaking import page_text

# Drawn larger than this its letters would be larger than those of the text.
_LARGEST = 1.15
_WHOLE = re.compile(r"(?<=\d)\.0+(?![\d.])")  # what a number says no more with than without


def scene_svg(scene: Scene) -> str:
    """Return the opening frame as an SVG element that scales to its container."""
    shapes = "".join(_element(shape) for shape in scene.frames[scene.opening].shapes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="scene" role="img" '
        f'viewBox="0 0 {scene.width:g} {scene.height:g}" '
        f'style="max-width:{_LARGEST * scene.width:g}px" '
        f'aria-label="{escape(scene.title)}">{shapes}</svg>'
    )


def _element(shape: Shape) -> str:
    attributes = "".join(map(_attribute, shape.attributes.items()))
    # Shapes are found by their place: every frame has the same ones in the same order.
    inside = escape(shape.text)
    return f"<{shape.tag}{attributes}" + (
        f">{inside}</{shape.tag}>" if inside or shape.tag == "text" else "/>"
    )


# Drawings repeat positions and classes, and themselves after most changes of an input.
@lru_cache(maxsize=16_384)
def _attribute(pair: tuple[str, str]) -> str:
    return f' {pair[0]}="{escape(_short_value(*pair))}"'


@lru_cache(maxsize=16_384)
def _short_value(name: str, value: str) -> str:
    return value if name.startswith("data-") else _WHOLE.sub("", value)


def scene_json(scene: Scene, display: Display) -> dict[str, Any]:
    """Return `scene_changes`, cached for the latest scenes."""
    entry = next(
        (cached for cached in _LATEST if cached[0] is scene and cached[1] == display), None
    )
    if entry is None:
        entry = scene, display, scene_changes(scene, display)
        _LATEST.append(entry)
    return entry[2]


# Calculators keep a scene that a change of their inputs does not touch.
_LATEST: deque[tuple[Scene, Display, dict[str, Any]]] = deque(maxlen=4)


def scene_changes(scene: Scene, display: Display) -> dict[str, Any]:
    """Return {"svg", "opening", "frames": [{"caption", "changes": [[shape, {attr}, text]]}]}.

    `svg` shows the frame `opening`, from which the changes of frame 0 lead to the beginning; those
    of any other frame lead from the frame before. `shape` is the shape's position in the drawing; a
    text of None is unchanged, an attribute of None is taken away. Playing to a frame and jumping to
    it are the same fold over the changes.
    """
    frames: list[dict[str, Any]] = []
    before: tuple[Shape, ...] = scene.frames[scene.opening].shapes
    for frame in scene.frames:
        changes = []
        for index, (old, new) in enumerate(zip(before, frame.shapes, strict=True)):
            if old is new:  # most shapes of a frame are the very ones of the frame before
                continue
            attributes = _changed_attributes(old.attributes, new.attributes)
            text = None if old.text == new.text else new.text
            if attributes or text is not None:
                changes.append([index, attributes, text])
        frames.append({"caption": page_text(frame.caption, display), "changes": changes})
        before = frame.shapes
    return {"svg": scene_svg(scene), "opening": scene.opening, "frames": frames}


def _changed_attributes(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str | None]:
    if old.keys() == new.keys():
        return {
            name: _short_value(name, value) for name, value in new.items() if old[name] != value
        }
    changed: dict[str, str | None] = {
        name: _short_value(name, value) for name, value in new.items() if old.get(name) != value
    }
    # Not by a set: its order would differ from one run to the next.
    return changed | {name: None for name in old if name not in new}
