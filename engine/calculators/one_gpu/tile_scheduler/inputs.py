"""The inputs of the tile scheduler, and every number of the page."""

from dataclasses import dataclass
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.constants import achieved
from engine.catalog.hardware import ON_CHIP
from engine.catalog.measured_kernels import MEASURED, OWN_SQUARES, MeasuredProduct
from engine.catalog.reader_constants import parse
from engine.catalog.reader_constants import reached as reached_of
from engine.core.inputs import Choice, Number
from engine.core.lazy import Later
from engine.core.outputs import Told
from engine.core.units import Count, FlopRate, Intensity, Seconds, Share
from engine.form.fields import OwnConstants
from engine.formulas.roofline import intensity, product_bytes
from engine.simulate.layer.tile_waves import (
    MOST_WARPS,
    Schedule,
    Tiling,
    places_by,
    run_tiles,
    wave_efficiency,
)

_GPU = ACCELERATORS["H100-SXM"]
# The largest tile of the libraries for Hopper.
_TILE_ROWS, _TILE_COLUMNS = 128, 256
_GPUS = {key: gpu.name for key, gpu in ACCELERATORS.items() if gpu.name in ON_CHIP}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    rows: Annotated[
        int, Number(label="Rows", low=1, high=65_536, scale="log2", whole=True, symbol="m")
    ] = 896
    columns: Annotated[
        int, Number(label="Columns", low=1, high=65_536, scale="log2", whole=True, symbol="n")
    ] = 4864
    inner: Annotated[
        int, Number(label="Inner sum", low=16, high=65_536, scale="log2", whole=True, symbol="k")
    ] = 4096
    tile_rows: Annotated[
        int, Number(label="Rows of a tile", low=16, high=256, scale="log2", whole=True)
    ] = 128
    tile_columns: Annotated[
        int, Number(label="Columns of a tile", low=16, high=256, scale="log2", whole=True)
    ] = 256
    sms: Annotated[int, Number(label="Multiprocessors", low=1, high=200, whole=True)] = 132
    places: Annotated[
        int,
        Number(
            label="Tiles on a multiprocessor at once",
            low=1,
            high=8,
            whole=True,
            help="No more than its registers, its shared memory and its warps allow.",
        ),
    ] = 1
    gpu: Annotated[str, Choice(label="GPU", options=_GPUS)] = "H100-SXM"
    own_constants: OwnConstants = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Square:
    """A square product that was timed on an H100, and what the waves of its tiles give."""

    product: MeasuredProduct
    tiles: Count
    in_use: Share
    rate: FlopRate


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A product as it runs, what the multiprocessors have room for, and timed products."""

    rate: Annotated[
        FlopRate,
        Told(
            "Achieved",
            color="compute",
            assumes=(
                "A multiprocessor computes at the measured rate of large products; every wave "
                "waits once for its first operands.",
                "One tile size, no splitting of the inner sum: libraries choose better ones.",
            ),
        ),
    ]
    time: Annotated[Seconds, Told("Time", assumes=("The waves one after the other.",))]
    tiles: Annotated[Count, Told("Tiles", assumes=("Rows and columns rounded up to tiles.",))]
    waves: Annotated[Count, Told("Waves", assumes=("As the scheduler ran them.",))]
    in_use: Annotated[
        Share,
        Told(
            "Places in use",
            note="of all multiprocessors, over all waves",
            assumes=("Tiles over places times waves.",),
        ),
    ]
    sticking_out: Annotated[
        Share,
        Told(
            "Computed in vain",
            note="by tiles that stick out over the edge",
            assumes=("Operations of whole tiles beyond those of the product.",),
        ),
    ]
    occupancy: Annotated[
        Share,
        Told(
            "Occupancy",
            note="of the 64 warp slots",
            assumes=("Four warps for each 64 rows of a tile, and four that load.",),
            sources=("hopper_tuning",),
        ),
    ]
    per_byte: Annotated[
        Intensity,
        Told("Operations per byte", assumes=("16 bits, every element through memory once.",)),
    ]
    held: Annotated[
        Count,
        Told(
            "Tiles that fit at once",
            assumes=("Registers or tensor memory, shared memory, and warps of a multiprocessor.",),
        ),
    ]
    limit: str
    places: Count
    schedule: Schedule
    squares: Later[tuple[Square, ...]]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    gpu = ACCELERATORS[inputs.gpu]
    chip, reached = ON_CHIP[gpu.name], reached_of(gpu, parse(inputs.own_constants))
    tiling = Tiling(
        rows=inputs.rows,
        columns=inputs.columns,
        inner=inputs.inner,
        tile_rows=inputs.tile_rows,
        tile_columns=inputs.tile_columns,
    )
    by = places_by(tiling, chip.room, chip.shared)
    limit = min(by, key=lambda name: by[name])
    places = max(1, min(inputs.places, by[limit]))
    rate = gpu.peak["fp16"] * reached.matmul / gpu.sms
    schedule = run_tiles(tiling, inputs.sms, places, rate, reached.fill)
    moved = product_bytes(inputs.rows, inputs.columns, inputs.inner, 2.0, 2.0)
    return Result(
        rate=tiling.useful / schedule.time,
        time=schedule.time,
        tiles=tiling.tiles,
        waves=schedule.count,
        in_use=tiling.tiles / (inputs.sms * places * schedule.count),
        sticking_out=1 - tiling.useful / (tiling.each * tiling.tiles),
        occupancy=min(places * tiling.warps, MOST_WARPS) / MOST_WARPS,
        per_byte=intensity(tiling.useful, moved),
        held=max(1, by[limit]),
        limit=limit,
        places=places,
        schedule=schedule,
        squares=Later(lambda: tuple(map(_square, squares()))),
    )


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


def _square(one: MeasuredProduct) -> Square:
    tiles, rate = modelled(one)
    return Square(product=one, tiles=tiles, in_use=wave_efficiency(tiles, _GPU.sms), rate=rate)
