"""In-network gain: what sums in the switch win by the number of GPUs, measured beside modeled."""

from functools import partial

from engine.calculators.moving_bytes.in_network_gain.result import COLUMN, MOST, Result
from engine.calculators.moving_bytes.in_network_gain.result import Inputs as Inputs
from engine.calculators.moving_bytes.in_network_gain.result import solve as solve
from engine.catalog.measured_collectives import COLLECTIVES, Collective
from engine.catalog.nodes import NODES
from engine.core.outputs import Teller, Views
from engine.core.text import Text, say
from engine.core.units import BANDWIDTH, COUNT, SECONDS
from engine.core.views import Cell, Cite, Lines, Point, Series, Table
from engine.form.collective_names import TESTED
from engine.form.nccl_fields import off_words

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
