"""In-network gain: what the reader can change, and the gains."""

from dataclasses import dataclass
from typing import Annotated, cast

from engine.catalog.measured_collectives import (
    COLLECTIVES,
    RAMP_SIZE,
    RAMP_SOURCE,
    RAMPS,
    Collective,
    Ramp,
)
from engine.catalog.transports import SWITCH_SHARE
from engine.core.inputs import Choice, Number
from engine.core.lazy import Later
from engine.core.outputs import Told
from engine.core.units import Bandwidth, Count, GiB, Ratio, Share
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
