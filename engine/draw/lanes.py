"""Where the lanes of a timeline lie: a few high ones with names above, many thin ones beside names.

Under the lanes there may be curves on the same time axis.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from engine.draw.frame import TICK_CHAR, Frame, rows_frame

CURVE_GAP, CURVE_HEIGHT, CURVE_TICKS = 34.0, 110.0, 4
_HIGH_LANES = 3  # up to so many lanes have their names above
_LONGEST = 14  # characters of a name beside a lane
_NAME_ROW = 13  # pixels that a name beside a lane needs
# Lanes up to so many, pixels of a lane, of the bar's top in it, of the bar.
_THIN = ((6, 34, 3, 28), (12, 27, 2, 23), (20, 20, 2, 16), (36, 13, 1, 11), (64, 9, 1, 7))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """How the lanes are drawn, in pixels.

    Attributes:
        row: height of a lane.
        top: of the bar in its lane.
        bar: height of the bar.
        left: margin for names and the curves' ticks.
        beside: whether names stand beside the lanes.
    """

    row: float
    top: float
    bar: float
    left: float
    beside: bool

    @property
    def every(self) -> int:
        """Each how many lanes there is room for a name."""
        return math.ceil(_NAME_ROW / self.row)


def rows_of(names: Sequence[str], curve_ticks: Sequence[str]) -> Rows:
    """Return how lanes of these names are drawn over curves with these texts at their axis."""
    count, longest = len(names), max(map(len, names), default=0)
    ticks = max(map(len, curve_ticks), default=0)
    if count <= _HIGH_LANES or (longest > _LONGEST and count <= _THIN[0][0]):
        return Rows(row=54, top=22, bar=24, left=_margin(ticks), beside=False)
    _, row, top, bar = next((one for one in _THIN if count <= one[0]), _THIN[-1])
    left = _margin(max(min(longest, _LONGEST), ticks))
    return Rows(row=row, top=top, bar=bar, left=left, beside=True)


def _margin(characters: int) -> float:
    return 8.0 * math.ceil((TICK_CHAR * characters + 9) / 8) if characters else 2.0


def short_name(name: str) -> str:
    """Return a lane's name as it fits beside the lane."""
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"


def frame_of(names: Sequence[str], *, num_rules: int, curve_ticks: Sequence[str]) -> Frame:
    """Return the frame of a timeline; the rules' labels lie above it, curves at its foot."""
    rows = rows_of(names, curve_ticks)
    frame = rows_frame(len(names), rows.row, left=rows.left, top=6 + 17 * num_rules)
    under = CURVE_GAP + CURVE_HEIGHT if curve_ticks else 0.0
    return Frame(
        left=frame.left,
        right=frame.right,
        top=frame.top,
        bottom=frame.bottom,
        height=frame.height + under,
    )
