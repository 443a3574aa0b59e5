"""In-network gain: what sums in the switch win by the number of GPUs, measured beside modeled."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, cast

from engine.catalog.measured_collectives import (
    COLLECTIVES,
    RAMP_SIZE,
    RAMP_SOURCE,
    RAMPS,
    Collective,
    Ramp,
)
from engine.catalog.nodes import NODES
from engine.catalog.transports import SWITCH_SHARE
from engine.core.inputs import Choice, Number
from engine.core.lazy import Later
from engine.core.outputs import Teller, Told, Views
from engine.core.text import Text, say
from engine.core.units import BANDWIDTH, COUNT, SECONDS, Bandwidth, Count, GiB, Ratio, Share
from engine.core.views import Cell, Cite, Lines, Point, Series, Table
from engine.form.collective_names import TESTED
from engine.form.nccl_fields import off_words
from engine.formulas.bandwidth import Operation
from engine.formulas.communication import in_network_gain
from engine.simulate.collectives.nccl_choice import charged, place, times
from engine.simulate.collectives.nccl_effect import bandwidth_of

MOST = 8
COLUMN = tuple(range(2, MOST + 1))
_HUGE = 16 * GiB
_Rates = tuple[Bandwidth, Bandwidth]  # of a ring, and of sums in the switch
_MODEL = ("The times that a training step is charged, of 8 GiB in one node.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    world_size: Annotated[
        int, Number(label="GPUs of one node", low=2, high=MOST, whole=True, symbol="n")
    ] = 8
    machine: Annotated[
        str, Choice(label="Node", options={"dgx-h200": "8 H200", "p6-b200": "8 B200"})
    ] = "dgx-h200"


def _gain(label: str, note: str, basis: str, assumes: tuple[str, ...] = _MODEL) -> Told:
    sources = (RAMP_SOURCE,) if basis == "measured" else ()
    return Told(label, "", note, "data", assumes, sources, basis)


def _large(label: str) -> Told:
    assumes = ("16 GiB on eight H200 of one node.",)
    return Told(
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
        _gain(
            "Gain, measured",
            "left to NCCL, over a ring",
            "measured",
            ("8 GiB; NCCL with NVLS, over NCCL with NVLS switched off.",),
        ),
    ]
    modelled: Annotated[Ratio, _gain("Gain, modeled", "the faster one, over a ring", "modelled")]
    bound: Annotated[
        Ratio,
        Told(
            "At most, by the bytes",
            note="2(n − 1)/(n + 1)",
            assumes=("If the switch moved its bytes as fast as a ring moves its own.",),
            sources=("graham2016", "bekman2025"),
        ),
    ]
    ring: Annotated[Bandwidth, _gain("Ring, modeled", "bus bandwidth", "modelled")]
    switch: Annotated[Bandwidth, _gain("In the switch, modeled", "bus bandwidth", "modelled")]
    modelled_column: tuple[Ratio, ...]
    bound_column: tuple[Ratio, ...]
    measured_rows: tuple[Ramp, ...]
    modelled_rows: tuple[_Rates, ...]
    elsewhere: Later[tuple[float, ...]]
    worst: Annotated[
        Share, _gain("Largest error of the model", "of the gains that were measured", "modelled")
    ]
    reach: Annotated[
        Share,
        Told(
            "Of a ring's rate",
            note="that transfers through the switch reach",
            assumes=("Fitted to the measured all-reduces of 5 to 8 H200.",),
            sources=(RAMP_SOURCE,),
        ),
    ] = SWITCH_SHARE
    ring_measured: Annotated[Bandwidth, _large("All-reduce around a ring")]
    gather_measured: Annotated[Bandwidth, _large("All-gather")]
    scatter_measured: Annotated[Bandwidth, _large("Reduce-scatter")]


def _measured_large(operation: str, algorithm: str) -> Bandwidth:
    """Return what 8 H200 reached with 16 GiB."""
    return next(
        one.bandwidth
        for one in COLLECTIVES
        if (one.operation, one.algorithm, one.ranks) == (operation, algorithm, 8)
    )


def solve(inputs: Inputs) -> Result:
    """Return the gains of one machine."""
    machine, n = inputs.machine, inputs.world_size
    rows = tuple(row for row in RAMPS if row.machine == machine)
    here = next((row for row in rows if row.ranks == n), None)
    ring, switch = _rates(machine, n)
    rates = tuple(_rates(machine, row.ranks) for row in rows)
    return Result(
        measured=here.chosen / here.ring if here else float("inf"),
        modelled=_gained((ring, switch)),
        bound=in_network_gain(n),
        ring=ring,
        switch=switch,
        ring_measured=_measured_large("all_reduce", "Ring"),
        gather_measured=_measured_large("all_gather", "Ring"),
        scatter_measured=_measured_large("reduce_scatter", "Ring"),
        modelled_column=tuple(_gained(_rates(machine, ranks)) for ranks in COLUMN),
        bound_column=tuple(map(in_network_gain, COLUMN)),
        measured_rows=rows,
        modelled_rows=rates,
        elsewhere=Later(lambda: tuple(map(_modelled, COLLECTIVES))),
        worst=max(
            abs(_gained(one) / (row.chosen / row.ring) - 1)
            for row, one in zip(rows, rates, strict=True)
        ),
    )


def _rates(machine: str, ranks: Count) -> _Rates:
    """Return the bus bandwidth of a ring, and of sums in the switch (0: it cannot)."""
    found = times("all_reduce", RAMP_SIZE, place(machine, ranks))
    rates = (
        bandwidth_of("all_reduce", RAMP_SIZE, found.get(name, float("inf")), ranks)
        for name in ("Ring Simple", "NVLS Simple")
    )
    ring, switch = rates
    return ring, switch


def _gained(rates: _Rates) -> Ratio:
    return max(rates) / rates[0]


def _modelled(one: Collective) -> float:
    where = place(one.machine, one.ranks)
    size = one.size or _HUGE
    found = times(one.operation, size, where)
    named = found.get(f"{one.algorithm} Simple", charged(one.operation, size, where))
    if not one.bandwidth:
        return named
    return bandwidth_of(cast(Operation, one.operation), size, named, one.ranks)


TITLE = "Sums in the switch, by number of GPUs"
QUESTION = "How much faster is an all-reduce if the NVSwitch adds?"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(inputs, result)
    return {
        "curve": partial(_curve, tell, inputs, result),
        **tell.values("measured", "modelled", "bound", "ring", "switch", "worst", "reach"),
        **tell.values("ring_measured", "gather_measured", "scatter_measured"),
        "ramp": partial(_ramp, result),
        "elsewhere": partial(_elsewhere, result),
    }


def _curve(tell: Teller, inputs: Inputs, result: Result) -> Lines:
    ranks = tuple(map(float, COLUMN))
    rows = result.measured_rows
    series = (
        Series(
            key="measured",
            label="measured",
            x=tuple(float(row.ranks) for row in rows),
            y=tuple(row.chosen / row.ring for row in rows),
            color="communication",
        ),
        Series(
            key="modelled",
            label="modeled",
            x=ranks,
            y=result.modelled_column,
            color="ink",
            dashed=True,
        ),
        Series(key="bound", label="by the bytes", x=ranks, y=result.bound_column, color="data"),
    )
    return Lines(
        title="All-reduce with sums in the switch, over a ring",
        x=tell.axis("world_size", "GPUs of one node", low=2.0, high=float(MOST)),
        y=tell.axis("bound", "gain", low=0.5, high=1.7),
        series=series,
        points=(
            Point(key="now", label=tell.say("{modelled}"), x=inputs.world_size, y=result.modelled),
        ),
        handle="world_size",
        caption="Large messages of 8 GiB. Below 1, sums in the switch would lose, and NCCL keeps "
        "the ring. Drag the handle.",
    )


def _ramp(result: Result) -> Table:
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


def _elsewhere(result: Result) -> Table:
    return Table(
        title="Other operations, and several nodes",
        columns=("Machines", "Operation", "Algorithm", "Measured", "Modeled", "Off by", "Source"),
        rows=tuple(map(_row, COLLECTIVES, result.elsewhere())),
        caption="Modeled: the fastest that the model has, or the algorithm named where it has "
        "that. It knows no sums in the switches of the network (SHARP).",
    )


def _row(one: Collective, model: float) -> tuple[Cell, ...]:
    measured = one.bandwidth or one.time
    return (
        f"{one.ranks} GPUs, {one.called or NODES[one.machine].name}",
        TESTED[one.operation],
        one.algorithm,
        _said(one, measured),
        _said(one, model),
        off_words(model / measured - 1),
        Cite((one.source,)),
    )


def _said(one: Collective, number: float) -> Text:
    if one.bandwidth:
        return say("{b}", b=(number, BANDWIDTH))
    return say("{t}", t=(number, SECONDS))
