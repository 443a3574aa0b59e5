"""The numbers of the memory tiers: what computes, what moves, and what can hide."""

from dataclasses import dataclass
from typing import Annotated

from engine.calculators.reference.memory_tiers.inputs import TENSORS, Inputs, home
from engine.catalog.hosts import CPU_ADAM
from engine.core.equation import Equation
from engine.core.outputs import Symbol, Teller, Told
from engine.core.units import Bandwidth, Bytes, FlopRate, Parameters, Seconds, Share, Tokens
from engine.core.views import Value
from engine.form.missing_range import UNRANGED
from engine.formulas.offload import (
    HOST_UPDATE,
    OFFLOAD_EFFICIENCY,
    OVERLAPPED_STEP,
    RECOMPUTED_TIME,
    SERIAL_STEP,
    offload_efficiency,
    overlapped_step_time,
)
from engine.simulate.memory.memory_tiers import Placement, place, shared_bandwidth, tile_bytes
from engine.simulate.memory.tiered_job import Placed

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The placement, and the numbers that are told of it.

    Attributes:
        placed: what is held and moved.
        homes: tensor -> the memory that it lives in.
        shared_bandwidth: of all shared memories of the GPU.
        tile: bytes of the sums of a tile, and of the slices that are loaded for it.
    """

    placed: Placement
    homes: dict[str, str]
    shared_bandwidth: Bandwidth
    tile: tuple[Bytes, Bytes]
    step: Annotated[
        Seconds,
        Told(
            "Step, nothing hidden",
            "T",
            assumes=(
                "Everything one after the other: computation, every move, and the update.",
                _LINE_RATES,
                UNRANGED,
            ),
        ),
    ]
    best: Annotated[
        Seconds,
        Told(
            "Step, at best",
            note="all that can hide does; the update cannot",
            assumes=(
                "Each wire carries one thing at a time, all wires work at once, and what the "
                "passes need is fetched in time.",
                "The update waits for the last gradient and the next forward pass for the update, "
                "so that it hides behind nothing; its own reads, writes and computation run as a "
                "pipeline.",
                UNRANGED,
            ),
        ),
    ]
    passes: Annotated[Seconds, Symbol("W")]
    update: Annotated[Seconds, Symbol("U")]
    compute: Annotated[
        Seconds,
        Told(
            "Computation",
            "C",
            color="compute",
            assumes=(
                "Every layer is recomputed in the backward pass; attention scores are left out.",
                "Large products reach a share of the peak that was fitted to published runs.",
            ),
        ),
    ]
    parameters: Annotated[Parameters, Told(symbol="P", of="model")]
    tokens: Annotated[Tokens, Symbol("t")]
    rate: Annotated[Share, Symbol("u")]
    peak: Annotated[FlopRate, Told(symbol="F", of="node")]
    moving: Annotated[
        Seconds,
        Told(
            "Moving and updating",
            "M",
            note="{moving_ratio} of the computation",
            assumes=(
                "Parameters are read three times per micro-batch and written once per step. A "
                "gradient goes out once per micro-batch. Checkpoints and logits go out and come "
                "back. The update reads gradients, reads and writes master weights and moments.",
                "Gathering and reducing shards over the links is left out: it is the same for all "
                "placements.",
                _LINE_RATES,
            ),
        ),
    ]
    moving_ratio: Share
    on_hbm: Annotated[Seconds, Symbol("h")]
    on_links: Annotated[Seconds, Symbol("l")]
    on_pcie: Annotated[Seconds, Symbol("p")]
    on_drives: Annotated[Seconds, Symbol("d")]
    efficiency: Annotated[
        Share,
        Told(
            "Efficiency",
            "e",
            note="if nothing hides",
            color="compute",
            assumes=("Nothing hides behind the computation.",),
        ),
    ]
    host_update: Annotated[
        Seconds,
        Told(
            "Update on the host",
            "A",
            note="at a measured rate",
            color="optimizer",
            assumes=(
                "In proportion to a measurement of 2020; the processors of this node have "
                "faster memory, so they should take less.",
                "One host updates the shards of all GPUs of the job on its node.",
            ),
        ),
    ]
    on_host: Annotated[Parameters, Told(of="ranks")]
    measured_parameters: Parameters
    measured_time: Annotated[Seconds, Symbol("a")]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    homes = {tensor: home(inputs, tensor) for tensor in TENSORS}
    found = place(
        Placed(
            model=inputs.model,
            node=inputs.node,
            ranks=inputs.ranks,
            sequence_length=inputs.sequence_length,
            micro_batch_size=inputs.micro_batch_size,
            num_microbatches=inputs.num_microbatches,
            homes=homes,
            own=inputs.own_constants,
        )
    )
    job, busy = found.job, {wire: found.busy(wire) for wire in WIRES}
    return Result(
        placed=found,
        homes=homes,
        shared_bandwidth=shared_bandwidth(job),
        tile=tile_bytes(),
        step=found.compute + found.moving,
        best=overlapped_step_time(found.compute, found.passes, found.update),
        passes=found.passes,
        update=found.update,
        compute=found.compute,
        parameters=job.parameters,
        tokens=found.tokens,
        rate=job.rate,
        peak=job.peak,
        moving=found.moving,
        moving_ratio=found.moving / found.compute,
        on_hbm=busy["hbm"],
        on_links=busy["peer"],
        on_pcie=busy["host"],
        on_drives=busy["nvme"],
        efficiency=offload_efficiency(found.compute, found.moving),
        host_update=found.host_update,
        on_host=found.on_host,
        measured_parameters=CPU_ADAM.parameters,
        measured_time=CPU_ADAM.time,
    )


def computed(tell: Teller, result: Result) -> dict[str, Value]:
    """Return the computation, what moves, and the efficiency."""
    return {
        "compute": tell.value("compute", sources=(result.placed.job.gpu.source,)),
        **tell.values("moving", "efficiency"),
        "best": tell.value("best", equation=OVERLAPPED_STEP, symbols={"T": "best"}),
    }


def host_update(tell: Teller, result: Result) -> Value:
    """Return the update on the host's processors."""
    symbols = {"P": "on_host", "p": "measured_parameters"}
    if result.on_host:
        return tell.value("host_update", symbols=symbols)
    near = "the moments are with the GPU, and so is the update"
    return tell.value("host_update", symbols=symbols, note=near)
