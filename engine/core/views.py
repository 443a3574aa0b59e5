"""Public view types: frozen data that a calculator returns, with numbers as SI floats.

Colors are names of the one color language (`theme/styles/colors.css`): compute, communication,
memory; parameters, gradients, optimizer, activations, buffers; tensor, pipeline, data, context,
expert; and ink, muted, accent.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from engine.core.equation import Equation
from engine.core.input_units import Scalar
from engine.core.numbers import DEFAULT, Display
from engine.core.text import Text, render_text
from engine.core.units import Quantity

# Pictures of shapes, frame by frame.


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


# Advice with remedies, and challenges with conditions.


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """A change of inputs and its effect: `after` is the new value of the advice's figure."""

    key: str
    label: Text
    change: Mapping[str, Scalar]
    after: float
    side_effect: Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """A verdict and remedies with their effect on one figure; `enabling` ones may let it grow."""

    title: str
    verdict: Text
    figure: str
    now: float
    quantity: Quantity
    remedies: tuple[Remedy, ...]
    enabling: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition of a challenge and whether the reader's inputs meet it."""

    text: Text
    met: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """A goal to reach. `start` sets the scene; `solution` is replayed by the build, never shown."""

    title: str
    goal: Text
    conditions: tuple[Condition, ...]
    hints: tuple[str, ...]
    start: Mapping[str, Scalar]
    solution: Mapping[str, Scalar]


@dataclass(frozen=True, slots=True)
class Citation:
    """A cell that links to entries of the reference list, by their keys of the bibliography."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CalculatorLink:
    """A cell that links to a calculator of the same page with the inputs of the row.

    Attributes:
        text: of the link.
        calculator: that it opens.
        query: its inputs as in an address, "calculator.input=value&...".
        keeps: whether inputs that the query does not name stay as the reader set them.
        page: where the calculator is, if not on the same page, as "guides/NAME"; the page of the
            link lies as deep.
        job: the reader's job as a query, to be kept on the device for other pages.
    """

    text: str
    calculator: str
    query: str
    keeps: bool = False
    page: str = ""
    job: str = ""


@dataclass(frozen=True, slots=True)
class WebLink:
    """A cell that links to a page outside of the site, by an address of the catalog."""

    text: str
    address: str


@dataclass(frozen=True, slots=True)
class ColoredText:
    """A cell of a word in the color of a part; the word alone says what the color does."""

    text: str
    color: str


Cell = Text | Citation | CalculatorLink | WebLink | ColoredText


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of texts and citations; the first column names the row.

    `links` holds, for each row, the objects it belongs to, as in `Span`; empty if no row has any.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: Text = ""
    links: tuple[tuple[str, ...], ...] = ()


def cell_text(cell: Cell, display: Display = DEFAULT) -> str:
    """Return a cell as plain text: its sentence, citation keys or link text."""
    if isinstance(cell, CalculatorLink | WebLink | ColoredText):
        return cell.text
    return ", ".join(cell.keys) if isinstance(cell, Citation) else render_text(cell, display)


def table_texts(view: Table, display: Display = DEFAULT) -> list[list[str]]:
    """Return all cells as plain text, row by row."""
    return [[cell_text(cell, display) for cell in row] for row in view.rows]


# Numbers with where they come from, verdicts, formulas and listings.


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A published figure for the same number, and why it differs.

    Attributes:
        text: its digits, computed by its own formula from the reader's inputs.
        reason: one sentence.
        source: key of the bibliography.
        claim: the row of the claims page.
    """

    text: Text
    reason: Text
    source: str
    claim: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The origin of a number: formula, assumptions and sources.

    Attributes:
        basis: "modelled", "measured", "datasheet", "definition" or "simulated".
        equation: the formula, if one gives it.
        symbols: symbol key -> (value, quantity) substituted into the equation.
        inputs: symbol key -> name of the input it comes from, for linked highlighting.
        assumptions: sentences.
        sources: keys of the bibliography, besides the equation's own.
        published: what others print for it.
    """

    basis: str = "modelled"
    equation: Equation | None = None
    symbols: Mapping[str, tuple[float, Quantity]] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    assumptions: tuple[Text, ...] = ()
    sources: tuple[str, ...] = ()
    published: Published | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A number with its label and receipt."""

    label: str
    value: float
    quantity: Quantity
    receipt: Receipt
    note: Text = ""
    color: str = "ink"


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """A verdict: a short text, and a sentence that explains it."""

    text: str
    sentence: Text
    color: str = "ink"


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """An equation with the reader's numbers substituted, and its result."""

    title: str
    equation: Equation
    symbols: Mapping[str, tuple[float, Quantity]]
    inputs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """A configuration to copy."""

    title: str
    language: str
    text: str


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


@dataclass(frozen=True, slots=True)
class Scale:
    """The axis of a curve: a field (or a quantity), what is written on it, its ends."""

    of: str | Quantity
    label: str
    low: float
    high: float
    log: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One of the curves over a common column: as `Series`, with an x only if it has its own."""

    key: str
    label: str
    y: Iterable[float]
    color: str
    dashed: bool = False
    x: Iterable[float] | None = None


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
class Grip:
    """A place on a timeline that is dragged along its axis to change an input.

    Attributes:
        input: name of the number that it changes.
        lane: key of the lane on which it lies.
        at: where on the axis (seconds).
        notch: how far it is dragged for one small step of the input (seconds).
        label: what it is called.
        text: where it stands, in words.
    """

    input: str
    lane: str
    at: float
    notch: float
    label: str
    text: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """Spans on lanes over a common time axis.

    Attributes:
        curves: drawn under the lanes on the same time axis; a value holds until the next x.
        curve_axis: their axis; given if there are curves.
        keys: (what a color means, color), where names of spans and lanes do not say it.
        player: whether the reader can play it, step through its events and pin it for comparison.
        grips: what is dragged on it.
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
    grips: tuple[Grip, ...] = ()


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


View = Value | Badge | Chart | Scene | Table | Formula | Advice | Challenge | Code
