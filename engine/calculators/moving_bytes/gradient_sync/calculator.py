"""Gradient sync lab: how long the all-reduce of a data-parallel step takes, and if it matters."""

from dataclasses import replace

from engine.basis.text import Text, say
from engine.basis.units import BYTES, SECONDS
from engine.basis.views import Formula, Table, Value, View
from engine.calculators.moving_bytes.gradient_sync.advice import advice, challenge, regime
from engine.calculators.moving_bytes.gradient_sync.charts import (
    algorithms,
    efficiency_curve,
    parts,
    required_curve,
    timeline,
)
from engine.form.sync.inputs import Inputs as Inputs
from engine.form.sync.model import Sync, model
from engine.form.sync.published import ring_note, table
from engine.form.sync.step import step_values
from engine.form.sync.values import (
    BYTES_EQUATION,
    TIME_EQUATION,
    all_reduce_values,
    effective,
    time_receipt,
    wire_symbols,
    wire_words,
)
from engine.formulas import bandwidth, overlap
from engine.formulas.communication import ring_bytes_sent
from engine.formulas.hierarchy import hierarchical_bytes_sent

TITLE = "Gradient sync lab"
QUESTION = "How long does the all-reduce of the gradients take, and does it matter?"
PRESETS = {
    "A published calculator's inputs": {"published": True},
    "The same 8 GPUs in one NVLink node": {"gpus_per_node": 8},
    "GPT-3 175B on 128 nodes of 8": {
        "parameters": 175e9,
        "world_size": 1024,
        "gpus_per_node": 8,
        "ports_per_node": 8,
        "algorithm": "hierarchical",
    },
    "Llama 3 70B on 64 nodes of 8": {
        "parameters": 70.6e9,
        "world_size": 512,
        "gpus_per_node": 8,
        "ports_per_node": 8,
        "tokens_per_gpu": 8192,
        "algorithm": "auto",
        "bucket": 256 * 2.0**20,
    },
}
EQUATIONS = (
    *TIME_EQUATION.values(),
    *BYTES_EQUATION.values(),
    overlap.GRADIENT_SIZE,
    bandwidth.ALGORITHM_BANDWIDTH,
    bandwidth.BUS_BANDWIDTH,
    overlap.COMPUTE_TIME,
    overlap.BACKWARD_TIME,
    overlap.EXPOSED_TIME,
    overlap.STEP_TIME,
    overlap.COMMUNICATION_SHARE,
    overlap.EFFICIENCY,
    overlap.BREAK_EVEN,
    overlap.REQUIRED_BANDWIDTH,
)


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views of the lab, in the order of the page."""
    sync = model(inputs)
    wire = all_reduce_values(inputs, sync)
    step = step_values(inputs, sync)
    return {
        "all_reduce_time": _headline(inputs, sync),
        "regime": regime(inputs, sync),
        "efficiency_curve": efficiency_curve(inputs, sync),
        "timeline": timeline(inputs, sync),
        **step,
        "advice": advice(inputs, sync),
        "required_curve": required_curve(inputs, sync),
        "formula": _formula(inputs, sync),
        "parts": parts(sync),
        **wire,
        "algorithms": algorithms(inputs, sync),
        "traffic": traffic(inputs, sync),
        "published_digits": table(inputs, sync),
        "challenge": challenge(inputs, sync),
    }


def _headline(inputs: Inputs, sync: Sync) -> Value:
    published = ring_note(inputs) if effective(inputs, sync) == "ring" else None
    return Value(
        label="All-reduce",
        value=sync.collective,
        quantity=SECONDS,
        receipt=replace(time_receipt(inputs, sync), published=published),
        note=wire_words(inputs, sync),
        color="communication",
    )


def _formula(inputs: Inputs, sync: Sync) -> Formula:
    equation = TIME_EQUATION[effective(inputs, sync)]
    symbols = wire_symbols(inputs, sync)
    return Formula(
        title="The formula, with your numbers",
        equation=equation,
        symbols={key: symbols[key] for key in equation.symbols},
        inputs={"n": "world_size", "B": "port", "a": "latency", "g": "gpus_per_node"},
    )


def traffic(inputs: Inputs, sync: Sync) -> Table:
    """Return the bytes that each tier carries per all-reduce, flat ring against hierarchical."""
    flat = ring_bytes_sent(sync.size, inputs.world_size)
    inside = ring_bytes_sent(sync.size, sync.local)
    across = hierarchical_bytes_sent(sync.size, sync.local, sync.num_nodes)
    crossing = flat if sync.num_nodes > 1 else 0.0

    def row(label: str, ring: float, hierarchical: float) -> tuple[Text, ...]:
        return (
            label,
            say("{x}", x=(ring, BYTES)),
            say("{x}", x=(hierarchical, BYTES)),
        )

    return Table(
        title="Bytes per tier and all-reduce",
        columns=("Where", "Flat ring", "Hierarchical"),
        rows=(
            row("sent by a GPU, all links", flat, inside + across),
            row("sent by a GPU into the network, mean", crossing / sync.local, across),
            row("leaving a node", crossing, across * sync.local),
        ),
        caption="A flat ring enters and leaves each node once, so both move the same bytes out of "
        "a node; the hierarchy spreads them over all ports and takes fewer steps across nodes.",
    )
