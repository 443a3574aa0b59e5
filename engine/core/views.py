"""Public view types: frozen data that a calculator returns, with numbers as SI floats.

Colors are names of the one color language (`theme/styles/colors.css`): compute, communication,
memory; parameters, gradients, optimizer, activations, buffers; tensor, pipeline, data, context,
expert; and ink, muted, accent.
"""

from engine.core.view_types.advice import Advice, Challenge, Condition, Remedy
from engine.core.view_types.chart import (
    Axis,
    Bar,
    Bars,
    Chart,
    Heatmap,
    Lane,
    Lines,
    Point,
    Rule,
    Segment,
    Series,
    Span,
    Timeline,
)
from engine.core.view_types.scene import Frame, Scene, Shape
from engine.core.view_types.table import (
    CalculatorLink,
    Cell,
    Citation,
    ColoredText,
    Table,
    WebLink,
    cell_text,
    table_texts,
)
from engine.core.view_types.value import Badge, Code, Formula, Published, Receipt, Value

__all__ = [
    "Advice",
    "Axis",
    "Badge",
    "Bar",
    "Bars",
    "CalculatorLink",
    "Cell",
    "Challenge",
    "Chart",
    "Citation",
    "Code",
    "ColoredText",
    "Condition",
    "Formula",
    "Frame",
    "Heatmap",
    "Lane",
    "Lines",
    "Point",
    "Published",
    "Receipt",
    "Remedy",
    "Rule",
    "Scene",
    "Segment",
    "Series",
    "Shape",
    "Span",
    "Table",
    "Timeline",
    "Value",
    "View",
    "WebLink",
    "cell_text",
    "table_texts",
]

View = Value | Badge | Chart | Scene | Table | Formula | Advice | Challenge | Code
