"""The tile scheduler: a product's tiles on the multiprocessors, played wave by wave."""

from collections.abc import Mapping
from functools import partial

from engine.calculators.one_gpu.tile_scheduler.inputs import Inputs as Inputs
from engine.calculators.one_gpu.tile_scheduler.inputs import Result as Result
from engine.calculators.one_gpu.tile_scheduler.inputs import Square
from engine.calculators.one_gpu.tile_scheduler.inputs import solve as solve
from engine.catalog.measured_kernels import OWN_DATE
from engine.core.inputs import Scalar
from engine.core.outputs import Teller, Views
from engine.core.units import COUNT, FLOP_RATE, SECONDS, SHARE
from engine.core.views import Badge, Cell, Challenge, Cite, Condition, Scene, Table
from engine.draw.sm_grid import Filled, sm_grid
from engine.form.plural import noun
from engine.simulate.layer.tile_waves import Wave

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
