"""In-network gain: speed-up of in-switch reduction by number of GPUs, measured and modeled."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, cast

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.constants import switch_share
from engine.catalog.measured_collectives import (
    COLLECTIVES,
    RAMP_SIZE,
    RAMP_SOURCE,
    RAMPS,
    MeasuredCollective,
    MeasuredRamp,
)
from engine.catalog.nodes import NODES
from engine.core.inputs import Choice, Number
from engine.core.lazy import Lazy
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text, say
from engine.core.units import BANDWIDTH, COUNT, SECONDS, Bandwidth, Count, GiB, Ratio, Share
from engine.core.views import Cell, Citation, Line, Lines, Scale, Table
from engine.form.collective_names import TESTED
from engine.form.nccl_fields import difference_text
from engine.formulas.bandwidth import Operation
from engine.formulas.communication import in_network_gain
from engine.simulate.collectives.collective import NCCL, collective_time
from engine.simulate.collectives.nccl_effect import (
    algorithm_times,
    bus_bandwidth_of,
    place_collective,
)

MAX_GPUS = 8
COLUMN = tuple(range(2, MAX_GPUS + 1))
_LARGE_SIZE = 16 * GiB
# The algorithms that sources name, as `collective_time` does.
_WAYS = {
    "Ring": "ring",
    "NVLS": "NVLS Simple",
    "NVLSTree": "NVLSTree Simple",
    "SHARP": "in_network",
}
_Rates = tuple[Bandwidth, Bandwidth]  # of a ring, and of sums in the switch
_MODEL = ("The times that a training step is charged, of 8 GiB in one node.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    world_size: Annotated[
        int, Number(label="GPUs of one node", low=2, high=MAX_GPUS, whole=True, symbol="n")
    ] = 8
    machine: Annotated[
        str, Choice(label="Node", options={"dgx-h200": "8 H200", "p6-b200": "8 B200"})
    ] = "dgx-h200"


def _gain_output(label: str, note: str, basis: str, assumes: tuple[str, ...] = _MODEL) -> Output:
    sources = (RAMP_SOURCE,) if basis == "measured" else ()
    return Output(label, "", note, "data", assumes, sources, basis)


def _large_output(label: str) -> Output:
    assumes = ("16 GiB on eight H200 of one node.",)
    return Output(
        label, "", "bus bandwidth, measured on 8 H200", "ink", assumes, (RAMP_SOURCE,), "measured"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Rings, sums in the switch, and their ratio; no finite value where nothing was measured.

    `elsewhere` is what the model has for each of `COLLECTIVES`: a bandwidth, or the time where that
    was measured.
    """

    measured: Annotated[
        Ratio,
        _gain_output(
            "Gain, measured",
            "left to NCCL, over a ring",
            "measured",
            ("8 GiB; NCCL with NVLS, over NCCL with NVLS switched off.",),
        ),
    ]
    modelled: Annotated[
        Ratio, _gain_output("Gain, modeled", "the faster one, over a ring", "modelled")
    ]
    bound: Annotated[
        Ratio,
        Output(
            "At most, by the bytes",
            note="2(n − 1)/(n + 1)",
            assumes=("If the switch moved its bytes as fast as a ring moves its own.",),
            sources=("graham2016", "bekman2025"),
        ),
    ]
    ring: Annotated[Bandwidth, _gain_output("Ring, modeled", "bus bandwidth", "modelled")]
    switch: Annotated[
        Bandwidth, _gain_output("In the switch, modeled", "bus bandwidth", "modelled")
    ]
    modelled_column: tuple[Ratio, ...]
    bound_column: tuple[Ratio, ...]
    measured_rows: tuple[MeasuredRamp, ...]
    modelled_rows: tuple[_Rates, ...]
    elsewhere: Lazy[tuple[float, ...]]
    worst: Annotated[
        Share,
        _gain_output("Largest error of the model", "of the gains that were measured", "modelled"),
    ]
    reach: Annotated[
        Share,
        Output(
            "Of a ring's rate",
            note="that transfers through the switch reach",
            assumes=("Fitted to the measured all-reduces of 5 to 8 H200, and of 6 to 8 B200.",),
            sources=(RAMP_SOURCE,),
        ),
    ]
    ring_measured: Annotated[Bandwidth, _large_output("All-reduce around a ring")]
    gather_measured: Annotated[Bandwidth, _large_output("All-gather")]
    scatter_measured: Annotated[Bandwidth, _large_output("Reduce-scatter")]


def _measured_large(operation: str, algorithm: str) -> Bandwidth:
    """Return the measured bus bandwidth of 8 H200 with 16 GiB."""
    return next(
        row.bandwidth
        for row in COLLECTIVES
        if (row.operation, row.algorithm, row.ranks) == (operation, algorithm, 8)
    )


def solve(inputs: Inputs) -> Result:
    """Return the in-network gains on the chosen machine."""
    machine, n = inputs.machine, inputs.world_size
    rows = tuple(row for row in RAMPS if row.machine == machine)
    here = next((row for row in rows if row.ranks == n), None)
    ring, switch = _rates(machine, n)
    rates = tuple(_rates(machine, row.ranks) for row in rows)
    return Result(
        measured=here.chosen / here.ring if here else float("inf"),
        modelled=_gain_of((ring, switch)),
        bound=in_network_gain(n),
        ring=ring,
        switch=switch,
        reach=switch_share(ACCELERATORS[NODES[machine].gpu]),
        ring_measured=_measured_large("all_reduce", "Ring"),
        gather_measured=_measured_large("all_gather", "Ring"),
        scatter_measured=_measured_large("reduce_scatter", "Ring"),
        modelled_column=tuple(_gain_of(_rates(machine, ranks)) for ranks in COLUMN),
        bound_column=tuple(map(in_network_gain, COLUMN)),
        measured_rows=rows,
        modelled_rows=rates,
        elsewhere=Lazy(lambda: tuple(map(_modeled, COLLECTIVES))),
        worst=max(
            abs(_gain_of(pair) / (row.chosen / row.ring) - 1)
            for row, pair in zip(rows, rates, strict=True)
        ),
    )


def _rates(machine: str, ranks: Count) -> _Rates:
    """Return the bus bandwidth of a ring, and of sums in the switch (0: it cannot)."""
    by_algorithm = algorithm_times("all_reduce", RAMP_SIZE, place_collective(machine, ranks))
    rates = (
        bus_bandwidth_of("all_reduce", RAMP_SIZE, by_algorithm.get(name, float("inf")), ranks)
        for name in ("Ring Simple", "NVLS Simple")
    )
    ring, switch = rates
    return ring, switch


def _gain_of(rates: _Rates) -> Ratio:
    return max(rates) / rates[0]


def _modeled(row: MeasuredCollective) -> float:
    where = place_collective(row.machine, row.ranks)
    size = row.size or _LARGE_SIZE
    algorithm = _WAYS.get(row.algorithm, NCCL)
    named = collective_time(where.rank, where.group, size, row.operation, algorithm)
    if not row.bandwidth:
        return named
    return bus_bandwidth_of(cast(Operation, row.operation), size, named, row.ranks)


TITLE = "Sums in the switch, by number of GPUs"
QUESTION = "How much faster is an all-reduce if the NVSwitch adds?"
HEADLINE = "measured"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result)
    return {
        "curve": partial(_curve, present, inputs, result),
        **present.values("measured", "modelled", "bound", "ring", "switch", "worst", "reach"),
        **present.values("ring_measured", "gather_measured", "scatter_measured"),
        "ramp": partial(_ramp_table, result),
        "elsewhere": partial(_other_table, result),
    }


def _curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    rows = result.measured_rows
    ranks, gains = [row.ranks for row in rows], [row.chosen / row.ring for row in rows]
    return present.curve(
        "All-reduce with sums in the switch, over a ring",
        over=Scale("world_size", "GPUs of one node", 2.0, float(MAX_GPUS)),
        shows=Scale("modelled", "gain", 0.5, 1.7),
        x=COLUMN,
        lines=(
            Line("measured", "measured", gains, "communication", x=ranks),
            Line("modelled", "modeled", result.modelled_column, "ink", dashed=True),
            Line("bound", "by the bytes", result.bound_column, "data"),
        ),
        caption="Large messages of 8 GiB. Below 1, sums in the switch would lose, and NCCL keeps "
        "the ring. Drag the handle.",
    )


def _ramp_table(result: Result) -> Table:
    rows = []
    for row, (ring, switch) in zip(result.measured_rows, result.modelled_rows, strict=True):
        rows.append(
            (
                say("{n}", n=(row.ranks, COUNT)),
                say("{b}", b=(row.ring, BANDWIDTH)),
                say("{b}", b=(ring, BANDWIDTH)),
                say("{b}", b=(row.chosen, BANDWIDTH)),
                say("{b}", b=(max(ring, switch), BANDWIDTH)),
                "in the switch" if row.switch_adds else "ring",
            )
        )
    return Table(
        title="Bus bandwidth of 8 GiB, measured beside modeled",
        columns=("GPUs", "Ring", "Ring, modeled", "NCCL's choice", "Modeled", "Algorithm"),
        rows=tuple(rows),
    )


def _other_table(result: Result) -> Table:
    return Table(
        title="Other operations, and several nodes",
        columns=("Machines", "Operation", "Algorithm", "Measured", "Modeled", "Off by", "Source"),
        rows=tuple(map(_row, COLLECTIVES, result.elsewhere())),
        caption="Modeled: what NCCL would choose, or the algorithm named.",
    )


def _row(row: MeasuredCollective, model: float) -> tuple[Cell, ...]:
    measured = row.bandwidth or row.time
    return (
        f"{row.ranks} GPUs, {row.called or NODES[row.machine].name}",
        TESTED[row.operation],
        row.algorithm,
        _quantity_text(row, measured),
        _quantity_text(row, model),
        difference_text(model / measured - 1),
        Citation((row.source,)),
    )


def _quantity_text(row: MeasuredCollective, number: float) -> Text:
    if row.bandwidth:
        return say("{b}", b=(number, BANDWIDTH))
    return say("{t}", t=(number, SECONDS))
