"""Wave quantization: how much of a GPU a number of tiles uses."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import Count, Share
from engine.core.views import Line, Lines, Rule, Scale
from engine.simulate.layer.tile_waves import last_wave_share, wave_efficiency

TITLE = "Tiles on multiprocessors"
QUESTION = "Why are 133 tiles half as fast as 132?"
HEADLINE = "efficiency"
EQUATIONS = ()
PRESETS = {"One wave exactly": {"tiles": 132}, "Ten waves and one tile": {"tiles": 1321}}
_MAX_TILES = 1500


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    tiles: Annotated[int, Number(label="Tiles", low=1, high=_MAX_TILES, whole=True)] = 100
    sms: Annotated[int, Number(label="Multiprocessors", low=1, high=200, whole=True)] = 132


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Wave efficiency of the tiles, and the fill of the last wave."""

    efficiency: Annotated[
        Share,
        Output(
            "Of the GPU in use",
            color="compute",
            assumes=("One tile at a time on each multiprocessor, all tiles alike.",),
            sources=("nvidia_matmul",),
        ),
    ]
    waves: Annotated[Count, Output("Waves", assumes=("Tiles over multiprocessors, rounded up.",))]
    last: Annotated[Share, Output("Of the last wave", assumes=("What is left for it.",))]
    column: tuple[Share, ...]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    return Result(
        efficiency=wave_efficiency(inputs.tiles, inputs.sms),
        waves=-(-inputs.tiles // inputs.sms),
        last=last_wave_share(inputs.tiles, inputs.sms),
        column=tuple(wave_efficiency(tiles, inputs.sms) for tiles in _tile_counts(inputs.sms)),
    )


def _tile_counts(sms: Count) -> tuple[Count, ...]:
    """Return numbers of tiles: on both sides of every edge, and some between."""
    edges = {tiles for n in range(1, _MAX_TILES // sms + 1) for tiles in (n * sms, n * sms + 1)}
    return tuple(
        sorted({tiles for tiles in edges if tiles <= _MAX_TILES} | set(range(1, _MAX_TILES, 20)))
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result)
    return {
        **present.values("efficiency", "waves", "last"),
        "curve": partial(_curve, present, inputs, result),
    }


def _curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    return present.curve(
        "Share of the GPU in use, over the tiles",
        over=Scale("tiles", "tiles", 1, _MAX_TILES),
        shows=Scale("efficiency", "in use", 0.0, 1.05),
        x=_tile_counts(inputs.sms),
        lines=(Line("use", "in use", result.column, "compute"),),
        rules=(Rule(key="wave", label="one wave", axis="x", at=inputs.sms),),
        caption="Drag the handle across the line. One tile too many starts another wave.",
    )
