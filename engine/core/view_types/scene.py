"""Pictures of shapes, frame by frame."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.core.text import Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """An SVG element of a scene: its attributes may change between frames, its key may not."""

    key: str
    tag: str
    attributes: Mapping[str, str]
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One state of a scene, with a caption for sighted readers and screen readers."""

    caption: Text
    shapes: tuple[Shape, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Frames of a drawing. Every frame has the same shapes, by key, in the same order.

    Attributes:
        opening: the frame that is seen before anyone has touched the player: one that shows what
            the scene is about. Play begins with frame 0 all the same.
    """

    title: str
    width: float
    height: float
    frames: tuple[Frame, ...]
    caption: Text = ""
    opening: int = 0
