"""The roofline of a GPU as a chart series."""

from engine.core.units import Bandwidth, FlopRate, Intensity
from engine.core.views import Series
from engine.formulas.roofline import Roof


def roof_series(
    key: str, label: str, rates: tuple[FlopRate, Bandwidth], ends: tuple[Intensity, Intensity]
) -> Series:
    """Return the roofline between two intensities; `rates` are peak and memory bandwidth."""
    roof = Roof(*rates)
    x = (ends[0], min(max(roof.ridge, ends[0]), ends[1]), ends[1])
    return Series(
        key=key,
        label=label,
        x=x,
        y=tuple(roof.at(intensity) for intensity in x),
        color="compute",
        dashed=key != "roof",
    )
