"""Charts: lines, bars, time lines and heat maps over axes."""

from dataclasses import dataclass

from engine.core.text import Text
from engine.core.units import Quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A chart's axis; `ticks` are chosen when it is drawn."""

    label: str
    quantity: Quantity
    low: float
    high: float
    scale: str = "linear"


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A line of a chart: equally long columns x and y in SI units."""

    key: str
    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    color: str
    dashed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A marked point of a chart, e.g. the reader's own."""

    key: str
    label: Text
    x: float
    y: float
    color: str = "accent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A reference line at one value of an axis: a capacity, a break-even."""

    key: str
    label: Text
    axis: str
    at: float
    color: str = "ink"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """Curves over a common x axis.

    Attributes:
        handle: the input whose slider lies on the x axis (the axis spans that input's range).
        dots: keys of series of measurements with nothing between them, so that no line joins their
            points; of a dashed series they are hollow.
    """

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    points: tuple[Point, ...] = ()
    rules: tuple[Rule, ...] = ()
    handle: str = ""
    caption: Text = ""
    dots: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A part of a bar, in SI units; `links` as in `Span`."""

    key: str
    label: str
    value: float
    color: str
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A horizontal bar of stacked segments.

    Attributes:
        links: as in `Span`.
        low, high: ends of the range that its total may have; equal where none is known.
    """

    key: str
    label: str
    segments: tuple[Segment, ...]
    links: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """Horizontal bars on a common axis that starts at zero."""

    title: str
    axis: Axis
    bars: tuple[Bar, ...]
    rules: tuple[Rule, ...] = ()
    caption: Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A lane of a timeline; compute lanes are always above communication lanes.

    `links` as in `Span`.
    """

    key: str
    label: str
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """An interval in a lane of a timeline, from start to end (seconds).

    Attributes:
        label: written on it.
        links: the objects it belongs to, as "kind:name" ("bucket:3", "rank:0", "layer:12"). What
            shows the same object in any view of the page lights up together with it.
        after: keys of the spans that had to end before it could start, other lanes' included.
        called: what sentences, tables and files call it; the label if it has no longer name.
    """

    key: str
    lane: str
    start: float
    end: float
    label: str
    color: str
    exposed: bool = False
    links: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    called: str = ""

    @property
    def name(self) -> str:
        """The full name, for sentences."""
        return self.called or self.label


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """Spans on lanes over a common time axis.

    Attributes:
        curves: drawn under the lanes on the same time axis; a value holds until the next x.
        curve_axis: their axis; given if there are curves.
        keys: (what a color means, color), where names of spans and lanes do not say it.
        player: whether the reader can play it, step through its events and pin it for comparison.
    """

    title: str
    axis: Axis
    lanes: tuple[Lane, ...]
    spans: tuple[Span, ...]
    rules: tuple[Rule, ...] = ()
    caption: Text = ""
    curves: tuple[Series, ...] = ()
    curve_axis: Axis | None = None
    keys: tuple[tuple[str, str], ...] = ()
    player: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Heatmap:
    """A grid of values: values[row][column], NaN where there is none; rows by y, columns by x.

    Attributes:
        points: marked places, counted in cells: x = 0 is the middle of the first column, and 0.5
            lies between the first two. What lies outside of the grid is not drawn.
    """

    title: str
    x_label: str
    y_label: str
    x: tuple[str, ...]
    y: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    quantity: Quantity
    points: tuple[Point, ...] = ()
    caption: Text = ""


Chart = Lines | Bars | Timeline | Heatmap
