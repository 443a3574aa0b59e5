"""The tile scheduler: a product's tiles on the multiprocessors, played wave by wave."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.constants import achieved
from engine.catalog.hardware import ON_CHIP
from engine.catalog.measured_kernels import MEASURED, OWN_DATE, OWN_SQUARES, MeasuredProduct
from engine.catalog.reader_constants import parse
from engine.catalog.reader_constants import reached as reached_of
from engine.core.inputs import Choice, Number, Scalar
from engine.core.lazy import Later
from engine.core.outputs import Teller, Told, Views
from engine.core.text import Text
from engine.core.units import (
    COUNT,
    FLOP_RATE,
    SECONDS,
    SHARE,
    Count,
    FlopRate,
    Intensity,
    Seconds,
    Share,
)
from engine.core.views import Badge, Cell, Challenge, Cite, Condition, Frame, Scene, Shape, Table
from engine.form.fields import OwnConstants
from engine.form.plural import noun
from engine.formulas.roofline import intensity, product_bytes
from engine.simulate.layer.tile_waves import (
    MOST_WARPS,
    Schedule,
    Tiling,
    Wave,
    places_by,
    run_tiles,
    wave_efficiency,
)

_WIDTH, _TOP, _GAP = 640.0, 34.0, 3.0
_LETTER = 19.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """A wave to draw.

    Attributes:
        on: tiles on each multiprocessor.
        title: over the grid.
        caption: of its frame.
    """

    on: tuple[int, ...]
    title: str
    caption: Text


def sm_grid(waves: Sequence[Filled], places: int, caption: Text) -> Scene:
    """Return a frame for each wave; a cell is as dark as its multiprocessor is full."""
    count = len(waves[0].on)
    columns = math.ceil(math.sqrt(2 * count))
    side = (_WIDTH + _GAP) / columns - _GAP
    rows = -(-count // columns)
    return Scene(
        title="The multiprocessors, wave by wave",
        width=_WIDTH,
        height=_TOP + rows * (side + _GAP),
        frames=tuple(
            Frame(caption=one.caption, shapes=tuple(_shapes(one, columns, side, places)))
            for one in waves
        ),
        caption=caption,
    )


def _shapes(wave: Filled, columns: int, side: float, places: int) -> list[Shape]:
    head = {"x": "0", "y": "21", "font-size": f"{_LETTER:g}", "class": "value c-ink"}
    found = [Shape(key="title", tag="text", attributes=head, text=wave.title)]
    for index, tiles in enumerate(wave.on):
        row, column = divmod(index, columns)
        attributes = {
            "x": f"{column * (side + _GAP):.1f}",
            "y": f"{_TOP + row * (side + _GAP):.1f}",
            "width": f"{side:.1f}",
            "height": f"{side:.1f}",
            "rx": "3",
            "class": "cell c-compute" if tiles else "cell c-muted",
            "fill-opacity": f"{0.25 + 0.65 * tiles / places:.2f}" if tiles else "0.06",
            "data-links": f"sm:{index}",
        }
        found.append(Shape(key=f"sm{index}", tag="rect", attributes=attributes))
    return found


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


TITLE = "A product on the multiprocessors"
QUESTION = "How many waves does a matrix product take, and how full is the last?"
EQUATIONS = ()
PRESETS = {
    "132 tiles": {"rows": 1408, "columns": 3072},
    "MLP of Llama 3 8B, 4,096 tokens": {"rows": 4096, "columns": 14_336},
    "A small product": {"rows": 512, "columns": 512},
    "Small tiles, three at once": {"tile_rows": 64, "tile_columns": 64, "places": 3},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs)
    return {
        **tell.values("rate"),
        "verdict": _verdict(tell, inputs, result),
        "grid": partial(_grid, tell, result),
        **tell.values("time", "tiles", "waves", "in_use", "sticking_out", "occupancy"),
        "held": tell.value("held", note=f"limited by {result.limit}"),
        **tell.values("per_byte"),
        "measured": partial(_measured, tell, result),
        "challenge": _challenge(inputs, result),
    }


def _verdict(tell: Teller, inputs: Inputs, result: Result) -> Badge:
    if inputs.places > result.held:
        return Badge(
            text="Not so many at once",
            sentence=tell.say(f"{{held}} fit at once, limited by {result.limit}.", held="held"),
            color="memory",
        )
    many = noun(result.waves, "wave")
    used = f"{{in_use}} of the places are in use over {{waves}} {many}."
    if result.in_use < 0.7:
        return Badge(
            text="A thin last wave",
            sentence=tell.say(used),
            color="memory",
        )
    return Badge(
        text="Well filled",
        sentence=tell.say(used),
        color="compute",
    )


def _grid(tell: Teller, result: Result) -> Scene:
    """Return the waves; of many full ones the first."""
    found = []
    before = 0
    for wave, repeats in zip(result.schedule.waves, result.schedule.repeats, strict=True):
        for number in range(min(repeats, 3)):
            found.append(_filled(tell, result, wave, before + number + 1, number * _length(wave)))
        before += repeats
    idle = Filled(
        on=(0,) * len(found[0].on),
        title="done",
        caption=tell.say("The kernel ends after {time}, with {rate}."),
    )
    many = result.schedule.repeats[0] > 3
    return sm_grid(
        [*found, idle],
        result.places,
        "A cell is a multiprocessor. The stronger its color, the more tiles it works on."
        + (" Of the full waves the first three are drawn." if many else ""),
    )


def _length(wave: Wave) -> float:
    return wave.end - wave.start


def _filled(tell: Teller, result: Result, wave: Wave, number: int, later: float) -> Filled:
    idle = sum(tiles == 0 for tiles in wave.on)
    done = _tiles(wave.tiles, str(wave.tiles))
    return Filled(
        on=wave.on,
        title=f"wave {number} of {result.waves}: {done}, {idle} idle",
        caption=tell.say(
            "Wave {n} of {w}, from {s} to {e}: "
            f"{_tiles(wave.tiles, '{t}')}, and {_resting(idle)}.",
            n=(number, COUNT),
            w=(result.waves, COUNT),
            s=(wave.start + later, SECONDS),
            e=(wave.end + later, SECONDS),
            t=(wave.tiles, COUNT),
            i=(idle, COUNT),
        ),
    )


def _tiles(count: int, shown: str) -> str:
    return f"{shown} tile" if count == 1 else f"{shown} tiles"


def _resting(idle: int) -> str:
    """Return how many multiprocessors have nothing to do, as the end of a sentence."""
    if idle == 0:
        return "no multiprocessor is idle"
    return "{i} multiprocessors are idle" if idle > 1 else "{i} multiprocessor is idle"


def _measured(tell: Teller, result: Result) -> Table:
    """Return timed products: tiles, places in use, modelled and measured rates."""
    return Table(
        title="Square products on an H100",
        columns=("Side", "In", "Tiles", "Places in use", "Modeled", "Measured", "Source"),
        rows=tuple(_row(tell, one) for one in result.squares()),
        caption="Tiles of 128 by 256, one at a time on each multiprocessor. The rate of a full "
        "multiprocessor is fitted to training runs, so it is no free parameter here. A product "
        "that runs alone is faster than in a step, where the limit of power slows the clock.",
    )


def _row(tell: Teller, square: Square) -> tuple[Cell, ...]:
    one = square.product
    return (
        f"{one.rows:,}",
        one.precision,
        tell.say("{t}", t=(square.tiles, COUNT)),
        tell.say("{u}", u=(square.in_use, SHARE)),
        tell.say("{r}", r=(square.rate, FLOP_RATE)),
        tell.say("{r}", r=(one.rate, FLOP_RATE)),
        Cite((one.source,)) if one.source else f"measured by us, {OWN_DATE}",
    )


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    start: Mapping[str, Scalar] = {"rows": 1024, "columns": 4096, "inner": 4096}
    given = (inputs.rows, inputs.columns, inputs.inner, inputs.sms, inputs.gpu)
    return Challenge(
        title="Challenge: two tiles at once",
        goal="Multiply 1,024 by 4,096 by 4,096 on an H100. Tiles of 128 by 256 take one wave that "
        "is almost full. Cut the product so that two tiles share each multiprocessor, in no more "
        "than two waves. Then compare the rates.",
        conditions=(
            Condition(
                text="1,024 × 4,096 × 4,096 on 132 multiprocessors of an H100",
                met=given == (1024, 4096, 4096, 132, "H100-SXM"),
            ),
            Condition(text="at least two tiles at once", met=result.places >= 2),
            Condition(text="at most two waves", met=result.waves <= 2),
            Condition(text="at least 90 % of the places in use", met=result.in_use >= 0.9),
        ),
        hints=(
            "What is the limit for two tiles of 128 by 256? Look at what the verdict says.",
            "A quarter of that tile fits twice, and there are four times as many.",
        ),
        start=start,
        solution=dict(start) | {"tile_columns": 64, "places": 2},
    )
