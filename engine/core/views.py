"""Views: what a calculator returns. Plain frozen data; numbers stay SI floats until they are shown.

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
from engine.core.view_types.table import Cell, Cite, Open, Table, cell_words, table_words
from engine.core.view_types.value import Badge, Code, Formula, Published, Receipt, Value

__all__ = [
    "Advice",
    "Axis",
    "Badge",
    "Bar",
    "Bars",
    "Cell",
    "Challenge",
    "Chart",
    "Cite",
    "Code",
    "Condition",
    "Formula",
    "Frame",
    "Heatmap",
    "Lane",
    "Lines",
    "Open",
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
    "cell_words",
    "table_words",
]

View = Value | Badge | Chart | Scene | Table | Formula | Advice | Challenge | Code
