"""Square products that were timed on an H100, beside the waves of their tiles."""

from engine.basis.told import Teller
from engine.basis.units import COUNT, FLOP_RATE, SHARE
from engine.basis.views import Cell, Cite, Table
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.constants import achieved
from engine.catalog.measured_kernels import MEASURED, OWN_DATE, OWN_SQUARES, MeasuredProduct
from engine.simulate.tile_waves import Tiling, run_tiles, wave_efficiency

_GPU = ACCELERATORS["H100-SXM"]
# The largest tile of the libraries for Hopper.
_TILE_ROWS, _TILE_COLUMNS = 128, 256


def squares() -> tuple[MeasuredProduct, ...]:
    """Return the square products: fp8 ones of the tables, then our own, the smallest first."""
    found = [
        one
        for one in MEASURED
        if one.gpu == "H100-SXM" and one.precision == "fp8" and one.source == "azure_gpu_guide"
    ]
    square = (one for one in found if one.rows == one.columns == one.inner)
    return (*sorted(square, key=lambda one: one.rows), *OWN_SQUARES)


def modelled(one: MeasuredProduct) -> tuple[int, float]:
    """Return the tiles of a product and the rate that their waves give."""
    tiling = Tiling(
        rows=one.rows,
        columns=one.columns,
        inner=one.inner,
        tile_rows=_TILE_ROWS,
        tile_columns=_TILE_COLUMNS,
    )
    reached = achieved(_GPU)
    share = reached.matmul_fp8 if one.precision == "fp8" else reached.matmul
    rate = _GPU.peak[one.precision] * share / _GPU.sms
    time = run_tiles(tiling, _GPU.sms, 1, rate, reached.fill).time
    return tiling.tiles, tiling.useful / time


def measured(tell: Teller) -> Table:
    """Return the table: tiles, places in use, modelled and measured rates."""
    return Table(
        title="Square products on an H100",
        columns=("Side", "In", "Tiles", "Places in use", "Modeled", "Measured", "Source"),
        rows=tuple(_row(tell, one) for one in squares()),
        caption="Tiles of 128 by 256, one at a time on each multiprocessor. The rate of a full "
        "multiprocessor is fitted to training runs, so it is no free parameter here. A product "
        "that runs alone is faster than in a step, where the limit of power slows the clock.",
    )


def _row(tell: Teller, one: MeasuredProduct) -> tuple[Cell, ...]:
    tiles, rate = modelled(one)
    return (
        f"{one.rows:,}",
        one.precision,
        tell.say("{t}", t=(tiles, COUNT)),
        tell.say("{u}", u=(wave_efficiency(tiles, _GPU.sms), SHARE)),
        tell.say("{r}", r=(rate, FLOP_RATE)),
        tell.say("{r}", r=(one.rate, FLOP_RATE)),
        Cite((one.source,)) if one.source else f"measured by us, {OWN_DATE}",
    )
