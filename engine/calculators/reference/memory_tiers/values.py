"""The numbers of the memory tiers: what computes, what moves, and what can hide."""

from engine.basis.equation import Equation
from engine.basis.text import Text, say
from engine.basis.units import FLOP_RATE, PARAMETERS, SECONDS, SHARE, TOKENS, Seconds
from engine.basis.views import Receipt, Value
from engine.calculators.reference.memory_tiers.inputs import Inputs
from engine.calculators.reference.memory_tiers.model import Placement
from engine.catalog.hosts import CPU_ADAM
from engine.formulas.offload import (
    HOST_UPDATE,
    OFFLOAD_EFFICIENCY,
    OVERLAPPED_STEP,
    RECOMPUTED_TIME,
    SERIAL_STEP,
    offload_efficiency,
    overlapped_step_time,
)

WIRES = {"hbm": "HBM", "peer": "NVLink", "host": "PCIe", "nvme": "NVMe"}
MOVING = Equation(
    name="serial_moves",
    tex=r"\v{M} = \v{h} + \v{l} + \v{p} + \v{d} + \v{A}",
    symbols={
        "M": ("M", "moving and updating"),
        "h": (r"T_{\mathrm{HBM}}", "on the GPU's own memory"),
        "l": (r"T_{\mathrm{NVLink}}", "on NVLink"),
        "p": (r"T_{\mathrm{PCIe}}", "on PCIe"),
        "d": (r"T_{\mathrm{NVMe}}", "on the NVMe drives"),
        "A": ("A", "update on the host"),
    },
    sources=("rajbhandari2021",),
)
EQUATIONS = (
    SERIAL_STEP,
    MOVING,
    RECOMPUTED_TIME,
    OFFLOAD_EFFICIENCY,
    OVERLAPPED_STEP,
    HOST_UPDATE,
)
_LINE_RATES = "Line rates of the datasheets, and measured rates of the drives; no latency."


def step(found: Placement) -> Value:
    """Return the step in which nothing hides."""
    return _seconds(
        "Step, nothing hidden",
        found.compute + found.moving,
        SERIAL_STEP,
        {"C": found.compute, "M": found.moving},
        "Everything one after the other: computation, every move, and the update.",
        _LINE_RATES,
    )


def best(found: Placement) -> Value:
    """Return the step in which everything hides that can."""
    return _seconds(
        "Step, at best",
        overlapped_step_time(found.compute, found.passes, found.update),
        OVERLAPPED_STEP,
        {"C": found.compute, "W": found.passes, "U": found.update},
        "Each wire carries one thing at a time, all wires work at once, and what the passes need "
        "is fetched in time.",
        "The update waits for the last gradient and the next forward pass for the update, so that "
        "it hides behind nothing; its own reads, writes and computation run as a pipeline.",
        note="all that can hide does; the update cannot",
    )


def compute(inputs: Inputs, found: Placement) -> Value:
    """Return the computation of a step."""
    job = found.job
    tokens = job.tokens * inputs.num_microbatches
    return Value(
        label="Computation",
        value=found.compute,
        quantity=SECONDS,
        receipt=Receipt(
            equation=RECOMPUTED_TIME,
            symbols={
                "C": (found.compute, SECONDS),
                "P": (job.parameters, PARAMETERS),
                "t": (tokens, TOKENS),
                "u": (job.rate, SHARE),
                "F": (job.peak, FLOP_RATE),
            },
            inputs={"P": "model", "F": "node"},
            assumptions=(
                "Every layer is recomputed in the backward pass; attention scores are left out.",
                "Large products reach a share of the peak that was fitted to published runs.",
            ),
            sources=(job.gpu.source,),
        ),
        color="compute",
    )


def moving(found: Placement) -> Value:
    """Return everything that is not computation, in a row."""
    busy = {wire: found.on(wire, update=False) + found.on(wire, update=True) for wire in WIRES}
    return _seconds(
        "Moving and updating",
        found.moving,
        MOVING,
        dict(zip("hlpd", busy.values(), strict=True)) | {"A": found.host_update},
        "Parameters are read three times per micro-batch and written once per step; a gradient "
        "goes out once per micro-batch; checkpoints and logits go out and come back; the update "
        "reads gradients, reads and writes master weights and moments.",
        "Gathering and reducing shards over the links is left out: it is the same for all "
        "placements.",
        _LINE_RATES,
        note=say("{r} of the computation", r=(found.moving / found.compute, SHARE)),
    )


def efficiency(found: Placement) -> Value:
    """Return the share of the step that computes."""
    value = offload_efficiency(found.compute, found.moving)
    return Value(
        label="Efficiency",
        value=value,
        quantity=SHARE,
        receipt=Receipt(
            equation=OFFLOAD_EFFICIENCY,
            symbols={
                "e": (value, SHARE),
                "C": (found.compute, SECONDS),
                "M": (found.moving, SECONDS),
            },
            assumptions=("Nothing hides behind the computation.",),
        ),
        note="if nothing hides",
        color="compute",
    )


def host_update(found: Placement) -> Value:
    """Return the update on the host's processors."""
    note = "" if found.on_host else "the moments are with the GPU, and so is the update"
    return Value(
        label="Update on the host",
        value=found.host_update,
        quantity=SECONDS,
        receipt=Receipt(
            equation=HOST_UPDATE,
            symbols={
                "A": (found.host_update, SECONDS),
                "P": (found.on_host, PARAMETERS),
                "p": (CPU_ADAM.parameters, PARAMETERS),
                "a": (CPU_ADAM.time, SECONDS),
            },
            inputs={"P": "ranks"},
            assumptions=(
                "In proportion to a measurement of 2020; the processors of this node have "
                "faster memory, so they should take less.",
                "One host updates the shards of all GPUs of the job on its node.",
            ),
        ),
        note=note or "at a measured rate",
        color="optimizer",
    )


def _seconds(
    label: str,
    value: Seconds,
    equation: Equation,
    parts: dict[str, Seconds],
    *assumptions: str,
    note: Text = "",
) -> Value:
    left = equation.tex.partition("{")[2].partition("}")[0]
    return Value(
        label=label,
        value=value,
        quantity=SECONDS,
        receipt=Receipt(
            equation=equation,
            symbols={left: (value, SECONDS)}
            | {key: (part, SECONDS) for key, part in parts.items()},
            assumptions=assumptions,
        ),
        note=note,
    )
