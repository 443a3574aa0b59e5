"""The tile scheduler: a product's tiles on the multiprocessors, played wave by wave."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.constants import achieved_shares
from engine.catalog.hardware import ON_CHIP
from engine.catalog.measured_kernels import MEASURED, OWN_DATE, OWN_SQUARES, MeasuredProduct
from engine.catalog.reader_constants import gpu_constants as reached_of
from engine.catalog.reader_constants import parse_constants
from engine.core.inputs import Choice, Number, Scalar
from engine.core.lazy import Lazy
from engine.core.outputs import Output, Presenter, Views
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
from engine.core.views import (
    Badge,
    Cell,
    Challenge,
    Citation,
    Condition,
    Frame,
    Scene,
    Shape,
    Table,
)
from engine.form.fields import OwnConstants
from engine.form.plural import pluralize
from engine.formulas.roofline import intensity, product_bytes
from engine.simulate.layer.tile_waves import (
    MOST_WARPS,
    TileSchedule,
    TileWave,
    Tiling,
    run_tiles,
    tiles_per_limit,
    wave_efficiency,
)

_WIDTH, _TOP, _GAP = 640.0, 34.0, 3.0
_LETTER = 19.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnWave:
    """A wave to draw.

    Attributes:
        on: tiles on each multiprocessor.
        title: over the grid.
        caption: of its frame.
    """

    on: tuple[int, ...]
    title: str
    caption: Text


def sm_grid(waves: Sequence[DrawnWave], places: int, caption: Text) -> Scene:
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
            Frame(caption=wave.caption, shapes=tuple(_shapes(wave, columns, side, places)))
            for wave in waves
        ),
        caption=caption,
    )


def _shapes(wave: DrawnWave, columns: int, side: float, places: int) -> list[Shape]:
    head = {"x": "0", "y": "21", "font-size": f"{_LETTER:g}", "class": "value c-ink"}
    shapes = [Shape(key="title", tag="text", attributes=head, text=wave.title)]
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
        shapes.append(Shape(key=f"sm{index}", tag="rect", attributes=attributes))
    return shapes


_GPU = ACCELERATORS["H100-SXM"]
# The largest tile of the libraries for Hopper.
_TILE_ROWS, _TILE_COLUMNS = 128, 256
_GPUS = {key: gpu.name for key, gpu in ACCELERATORS.items() if gpu.name in ON_CHIP}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

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
class SquareProduct:
    """A square product timed on an H100, and the rate modeled from its tile waves."""

    product: MeasuredProduct
    tiles: Count
    in_use: Share
    rate: FlopRate


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The tile waves of a product, the occupancy of the multiprocessors, and timed products."""

    rate: Annotated[
        FlopRate,
        Output(
            "Achieved",
            color="compute",
            assumes=(
                "A multiprocessor computes at the measured rate of large products; every wave "
                "waits once for its first operands.",
                "One tile size, no splitting of the inner sum: libraries choose better ones.",
            ),
        ),
    ]
    time: Annotated[Seconds, Output("Time", assumes=("The waves one after the other.",))]
    tiles: Annotated[Count, Output("Tiles", assumes=("Rows and columns rounded up to tiles.",))]
    waves: Annotated[Count, Output("Waves", assumes=("As the scheduler ran them.",))]
    in_use: Annotated[
        Share,
        Output(
            "Places in use",
            note="of all multiprocessors, over all waves",
            assumes=("Tiles over places times waves.",),
        ),
    ]
    sticking_out: Annotated[
        Share,
        Output(
            "Computed in vain",
            note="by tiles that stick out over the edge",
            assumes=("Operations of whole tiles beyond those of the product.",),
        ),
    ]
    occupancy: Annotated[
        Share,
        Output(
            "Occupancy",
            note="of the 64 warp slots",
            assumes=("Four warps for each 64 rows of a tile, and four that load.",),
            sources=("hopper_tuning",),
        ),
    ]
    per_byte: Annotated[
        Intensity,
        Output("Operations per byte", assumes=("16 bits, every element through memory once.",)),
    ]
    held: Annotated[
        Count,
        Output(
            "Tiles that fit at once",
            assumes=("Registers or tensor memory, shared memory, and warps of a multiprocessor.",),
        ),
    ]
    limit: str
    places: Count
    schedule: TileSchedule
    squares: Lazy[tuple[SquareProduct, ...]]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    gpu = ACCELERATORS[inputs.gpu]
    chip, reached = ON_CHIP[gpu.name], reached_of(gpu, parse_constants(inputs.own_constants))
    tiling = Tiling(
        rows=inputs.rows,
        columns=inputs.columns,
        inner=inputs.inner,
        tile_rows=inputs.tile_rows,
        tile_columns=inputs.tile_columns,
    )
    by = tiles_per_limit(tiling, chip.room, chip.shared)
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
        squares=Lazy(lambda: tuple(map(_modeled_square, square_products()))),
    )


def square_products() -> tuple[MeasuredProduct, ...]:
    """Return the timed square products: published fp8 products by size, then our own."""
    products = [
        product
        for product in MEASURED
        if product.gpu == "H100-SXM"
        and product.precision == "fp8"
        and product.source == "azure_gpu_guide"
    ]
    square = (product for product in products if product.rows == product.columns == product.inner)
    return (*sorted(square, key=lambda product: product.rows), *OWN_SQUARES)


def tiles_and_rate(product: MeasuredProduct) -> tuple[int, float]:
    """Return the number of tiles of a product and its modeled rate."""
    tiling = Tiling(
        rows=product.rows,
        columns=product.columns,
        inner=product.inner,
        tile_rows=_TILE_ROWS,
        tile_columns=_TILE_COLUMNS,
    )
    reached = achieved_shares(_GPU)
    share = reached.matmul_fp8 if product.precision == "fp8" else reached.matmul
    rate = _GPU.peak[product.precision] * share / _GPU.sms
    time = run_tiles(tiling, _GPU.sms, 1, rate, reached.fill).time
    return tiling.tiles, tiling.useful / time


def _modeled_square(product: MeasuredProduct) -> SquareProduct:
    tiles, rate = tiles_and_rate(product)
    return SquareProduct(
        product=product, tiles=tiles, in_use=wave_efficiency(tiles, _GPU.sms), rate=rate
    )


TITLE = "A product on the multiprocessors"
QUESTION = "How many waves does a matrix product take, and how full is the last?"
HEADLINE = "rate"
EQUATIONS = ()
PRESETS = {
    "132 tiles": {"rows": 1408, "columns": 3072},
    "MLP of Llama 3 8B, 4,096 tokens": {"rows": 4096, "columns": 14_336},
    "A small product": {"rows": 512, "columns": 512},
    "Small tiles, three at once": {"tile_rows": 64, "tile_columns": 64, "places": 3},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        **present.values("rate"),
        "verdict": _verdict(present, inputs, result),
        "grid": partial(_wave_grid, present, result),
        **present.values("time", "tiles", "waves", "in_use", "sticking_out", "occupancy"),
        "held": present.value("held", note=f"limited by {result.limit}"),
        **present.values("per_byte"),
        "measured": partial(_measured_table, present, result),
        "challenge": _challenge(inputs, result),
    }


def _verdict(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    if inputs.places > result.held:
        return Badge(
            text="Not so many at once",
            sentence=present.say(f"{{held}} fit at once, limited by {result.limit}.", held="held"),
            color="memory",
        )
    waves = pluralize(result.waves, "wave")
    used = f"{{in_use}} of the places are in use over {{waves}} {waves}."
    if result.in_use < 0.7:
        return Badge(
            text="A thin last wave",
            sentence=present.say(used),
            color="memory",
        )
    return Badge(
        text="Well filled",
        sentence=present.say(used),
        color="compute",
    )


def _wave_grid(present: Presenter, result: Result) -> Scene:
    """Return the drawing of the waves; of many full waves only the first are drawn."""
    waves = []
    before = 0
    for wave, repeats in zip(result.schedule.waves, result.schedule.repeats, strict=True):
        for number in range(min(repeats, 3)):
            waves.append(
                _drawn_wave(present, result, wave, before + number + 1, number * _duration(wave))
            )
        before += repeats
    idle = DrawnWave(
        on=(0,) * len(waves[0].on),
        title="done",
        caption=present.say("The kernel ends after {time}, with {rate}."),
    )
    shortened = result.schedule.repeats[0] > 3
    return sm_grid(
        [*waves, idle],
        result.places,
        "A cell is a multiprocessor. The stronger its color, the more tiles it works on."
        + (" Of the full waves the first three are drawn." if shortened else ""),
    )


def _duration(wave: TileWave) -> float:
    return wave.end - wave.start


def _drawn_wave(
    present: Presenter, result: Result, wave: TileWave, number: int, later: float
) -> DrawnWave:
    idle = sum(tiles == 0 for tiles in wave.on)
    done = _tile_words(wave.tiles, str(wave.tiles))
    return DrawnWave(
        on=wave.on,
        title=f"wave {number} of {result.waves}: {done}, {idle} idle",
        caption=present.say(
            "Wave {n} of {w}, from {s} to {e}: "
            f"{_tile_words(wave.tiles, '{t}')}, and {_idle_words(idle)}.",
            n=(number, COUNT),
            w=(result.waves, COUNT),
            s=(wave.start + later, SECONDS),
            e=(wave.end + later, SECONDS),
            t=(wave.tiles, COUNT),
            i=(idle, COUNT),
        ),
    )


def _tile_words(count: int, shown: str) -> str:
    return f"{shown} tile" if count == 1 else f"{shown} tiles"


def _idle_words(idle: int) -> str:
    """Return how many multiprocessors have nothing to do, as the end of a sentence."""
    if idle == 0:
        return "no multiprocessor is idle"
    return "{i} multiprocessors are idle" if idle > 1 else "{i} multiprocessor is idle"


def _measured_table(present: Presenter, result: Result) -> Table:
    """Return timed products: tiles, places in use, modelled and measured rates."""
    return Table(
        title="Square products on an H100",
        columns=("Side", "In", "Tiles", "Places in use", "Modeled", "Measured", "Source"),
        rows=tuple(_square_row(present, square) for square in result.squares()),
        caption="Tiles of 128 by 256, one at a time on each multiprocessor. The rate of a full "
        "multiprocessor is fitted to training runs, so it is no free parameter here. A product "
        "that runs alone is faster than in a step, where the limit of power slows the clock.",
    )


def _square_row(present: Presenter, square: SquareProduct) -> tuple[Cell, ...]:
    product = square.product
    return (
        f"{product.rows:,}",
        product.precision,
        present.say("{t}", t=(square.tiles, COUNT)),
        present.say("{u}", u=(square.in_use, SHARE)),
        present.say("{r}", r=(square.rate, FLOP_RATE)),
        present.say("{r}", r=(product.rate, FLOP_RATE)),
        Citation((product.source,)) if product.source else f"measured by us, {OWN_DATE}",
    )


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    start: Mapping[str, Scalar] = {"rows": 1024, "columns": 4096, "inner": 4096}
    setting = (inputs.rows, inputs.columns, inputs.inner, inputs.sms, inputs.gpu)
    return Challenge(
        title="Challenge: two tiles at once",
        goal="Multiply 1,024 by 4,096 by 4,096 on an H100. Tiles of 128 by 256 take one wave that "
        "is almost full. Cut the product so that two tiles share each multiprocessor, in no more "
        "than two waves. Then compare the rates.",
        conditions=(
            Condition(
                text="1,024 × 4,096 × 4,096 on 132 multiprocessors of an H100",
                met=setting == (1024, 4096, 4096, 132, "H100-SXM"),
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
