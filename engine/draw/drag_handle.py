"""Drag handles: shapes that change an input when dragged.

The page's part is theme/runtime/calculator/drag_handles.js.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DragHandle:
    """A drag handle and the input that it changes.

    Attributes:
        name: of the input.
        key: tells the grips of one drawing apart.
        notch: how far the shape is dragged for one move, in units of the drawing.
        label: what it is called; empty if another control does the same by keyboard.
        now, low, high: where it stands, in whole numbers.
        text: where it stands, in words.
        steps: steps of a number that a move ahead is; 0 if `back` and `ahead` are set instead.
        back, ahead: values that a move sets; empty where there is no further one.
        up: ahead is up, not to the right.
        press: value that a press sets (a click, the space bar); the shape is then a switch, which
            is on if `now` is not 0, and is not dragged.
    """

    name: str
    key: str
    notch: float
    label: str = ""
    now: int = 0
    low: int = 0
    high: int = 0
    text: str = ""
    steps: int = 0
    back: str = ""
    ahead: str = ""
    up: bool = False
    press: str = ""

    def attributes(self) -> dict[str, str]:
        """Return the data attributes of the shape."""
        attributes = {
            "data-grip": self.name,
            "data-grip-key": self.key,
            "data-notch": f"{self.notch:g}",
        }
        if self.label:
            attributes |= {
                "data-grip-label": self.label,
                "data-grip-now": str(self.now),
                "data-grip-low": str(self.low),
                "data-grip-high": str(self.high),
                "data-grip-text": self.text,
            }
        if self.steps:
            attributes["data-move"] = str(self.steps)
        optional = {"data-back": self.back, "data-ahead": self.ahead, "data-press": self.press}
        attributes |= {key: value for key, value in optional.items() if value}
        return attributes | ({"data-up": ""} if self.up else {})
