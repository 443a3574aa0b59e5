"""The roof of a GPU as a chart: its slope, its ridge, and what lies under it."""

from engine.core.units import Bandwidth, FlopRate, Intensity
from engine.core.views import Series
from engine.formulas.roofline import Roof


def roof(
    key: str, label: str, rates: tuple[FlopRate, Bandwidth], ends: tuple[Intensity, Intensity]
) -> Series:
    """Return the roof between two intensities; `rates` are its peak and its memory bandwidth."""
    top = Roof(*rates)
    x = (ends[0], min(max(top.ridge, ends[0]), ends[1]), ends[1])
    return Series(
        key=key,
        label=label,
        x=x,
        y=tuple(top.at(one) for one in x),
        color="compute",
        dashed=key != "roof",
    )
