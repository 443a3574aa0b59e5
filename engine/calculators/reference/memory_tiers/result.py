"""Values of the memory tiers: computation, moves and overlap."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.catalog.hosts import CPU_ADAM, HOSTS
from engine.catalog.models import MODELS
from engine.catalog.nodes import NODES
from engine.core.equation import Equation
from engine.core.inputs import Choice, Number
from engine.core.outputs import Output, Presenter, Symbol
from engine.core.units import Bandwidth, Bytes, FlopRate, Parameters, Seconds, Share, Tokens
from engine.core.views import Value
from engine.form.fields import OwnConstants
from engine.form.missing_range import NO_RANGE
from engine.formulas.offload import (
    HOST_UPDATE,
    OFFLOAD_EFFICIENCY,
    OVERLAPPED_STEP,
    RECOMPUTED_TIME,
    SERIAL_STEP,
    offload_efficiency,
    overlapped_step_time,
)
from engine.simulate.memory.memory_tiers import (
    JobPlacement,
    TierPlacement,
    place_tensors,
    shared_memory_bandwidth,
    tile_bytes,
)

# The inputs of the memory tiers: the job, and where each of its tensors lives.

# The fastest first.
TIERS: Mapping[str, str] = {
    "hbm": "its own HBM",
    "peer": "HBM of idle GPUs",
    "host": "the host's memory",
    "nvme": "NVMe drives",
}
# The tensors of a step: key -> (name, color).
TENSORS: Mapping[str, tuple[str, str]] = {
    "parameters": ("parameters", "parameters"),
    "gradients": ("gradients", "gradients"),
    "master": ("master", "optimizer"),
    "moments": ("moments", "optimizer"),
    "checkpoints": ("checkpoints", "activations"),
    "logits": ("logits", "activations"),
}
_OFFERED_MODELS = (
    "llama-3-8b",
    "llama-2-7b",
    "llama-2-13b",
    "llama-3-70b",
    "gpt-3-175b",
    "llama-3-405b",
)


def _tier_field(label: str, help_text: str) -> Choice:
    return Choice(label=label, options=TIERS, help=help_text, advanced=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    model: Annotated[
        str,
        Choice(
            label="Model", cites=False, options={key: MODELS[key].name for key in _OFFERED_MODELS}
        ),
    ] = "llama-3-8b"
    ranks: Annotated[
        int,
        Number(
            label="GPUs that share the states",
            low=1,
            high=1024,
            scale="log2",
            whole=True,
            symbol="N",
            help="Fully sharded (ZeRO-3); eight or fewer share one node.",
        ),
    ] = 1
    sequence_length: Annotated[
        int,
        Number(label="Sequence length", low=512, high=131_072, scale="log2", whole=True),
    ] = 8192
    micro_batch_size: Annotated[
        int,
        Number(label="Sequences per micro-batch", low=1, high=64, scale="log2", whole=True),
    ] = 1
    num_microbatches: Annotated[
        int,
        Number(
            label="Micro-batches per step",
            low=1,
            high=256,
            scale="log2",
            whole=True,
            symbol="g",
            help="Gradients are accumulated over them; the update runs once.",
        ),
    ] = 1
    node: Annotated[str, Choice(label="Node", options={key: NODES[key].name for key in HOSTS})] = (
        "dgx-h100"
    )
    parameters_in: Annotated[
        str, _tier_field("Parameters live in", "In bf16, as products read them.")
    ] = "hbm"
    gradients_in: Annotated[str, _tier_field("Gradients live in", "In bf16.")] = "hbm"
    master_in: Annotated[
        str, _tier_field("Master weights live in", "The copy in fp32 that the update changes.")
    ] = "hbm"
    moments_in: Annotated[
        str, _tier_field("Moments live in", "Two of Adam in fp32. The update runs next to them.")
    ] = "hbm"
    checkpoints_in: Annotated[
        str, _tier_field("Checkpoints live in", "The input of every layer, for the backward pass.")
    ] = "hbm"
    logits_in: Annotated[
        str, _tier_field("Logits live in", "In fp32, for the loss, with what the final norm keeps.")
    ] = "hbm"
    own_constants: OwnConstants = ""


def tier_of(inputs: Inputs, tensor: str) -> str:
    """Return the tier that a tensor lives in."""
    return str(getattr(inputs, f"{tensor}_in"))


WIRES = {"hbm": "HBM", "peer": "NVLink", "host": "PCIe", "nvme": "NVMe"}
MOVING_EQUATION = Equation(
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
    MOVING_EQUATION,
    RECOMPUTED_TIME,
    OFFLOAD_EFFICIENCY,
    OVERLAPPED_STEP,
    HOST_UPDATE,
)
_LINE_RATES = "Line rates of the datasheets, and measured rates of the drives; no latency."


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The placement of tensors and its times.

    Attributes:
        placed: what is held and moved.
        homes: tensor -> the memory that it lives in.
        shared_bandwidth: of all shared memories of the GPU.
        tile: bytes of the sums of a tile, and of the slices that are loaded for it.
    """

    placed: TierPlacement
    homes: dict[str, str]
    shared_bandwidth: Bandwidth
    tile: tuple[Bytes, Bytes]
    step: Annotated[
        Seconds,
        Output(
            "Step, nothing hidden",
            "T",
            assumes=(
                "Everything one after the other: computation, every move, and the update.",
                _LINE_RATES,
                NO_RANGE,
            ),
        ),
    ]
    best: Annotated[
        Seconds,
        Output(
            "Step, at best",
            note="all that can hide does; the update cannot",
            assumes=(
                "Each wire carries one thing at a time, all wires work at once, and what the "
                "passes need is fetched in time.",
                "The update waits for the last gradient and the next forward pass for the update, "
                "so that it hides behind nothing; its own reads, writes and computation run as a "
                "pipeline.",
                NO_RANGE,
            ),
        ),
    ]
    passes: Annotated[Seconds, Symbol("W")]
    update: Annotated[Seconds, Symbol("U")]
    compute: Annotated[
        Seconds,
        Output(
            "Computation",
            "C",
            color="compute",
            assumes=(
                "Every layer is recomputed in the backward pass; attention scores are left out.",
                "Large products reach a share of the peak that was fitted to published runs.",
            ),
        ),
    ]
    parameters: Annotated[Parameters, Output(symbol="P", of="model")]
    tokens: Annotated[Tokens, Symbol("t")]
    rate: Annotated[Share, Symbol("u")]
    peak: Annotated[FlopRate, Output(symbol="F", of="node")]
    moving: Annotated[
        Seconds,
        Output(
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
        Output(
            "Efficiency",
            "e",
            note="if nothing hides",
            color="compute",
            assumes=("Nothing hides behind the computation.",),
        ),
    ]
    host_update: Annotated[
        Seconds,
        Output(
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
    on_host: Annotated[Parameters, Output(of="ranks")]
    measured_parameters: Parameters
    measured_time: Annotated[Seconds, Symbol("a")]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    homes = {tensor: tier_of(inputs, tensor) for tensor in TENSORS}
    placement = place_tensors(
        JobPlacement(
            model=inputs.model,
            node=inputs.node,
            ranks=inputs.ranks,
            sequence_length=inputs.sequence_length,
            micro_batch_size=inputs.micro_batch_size,
            num_microbatches=inputs.num_microbatches,
            homes=homes,
            own_constants=inputs.own_constants,
        )
    )
    job, busy = placement.job, {wire: placement.busy(wire) for wire in WIRES}
    return Result(
        placed=placement,
        homes=homes,
        shared_bandwidth=shared_memory_bandwidth(job),
        tile=tile_bytes(),
        step=placement.compute + placement.moving,
        best=overlapped_step_time(placement.compute, placement.passes, placement.update),
        passes=placement.passes,
        update=placement.update,
        compute=placement.compute,
        parameters=job.parameters,
        tokens=placement.tokens,
        rate=job.rate,
        peak=job.peak,
        moving=placement.moving,
        moving_ratio=placement.moving / placement.compute,
        on_hbm=busy["hbm"],
        on_links=busy["peer"],
        on_pcie=busy["host"],
        on_drives=busy["nvme"],
        efficiency=offload_efficiency(placement.compute, placement.moving),
        host_update=placement.host_update,
        on_host=placement.on_host,
        measured_parameters=CPU_ADAM.parameters,
        measured_time=CPU_ADAM.time,
    )


def compute_values(present: Presenter, result: Result) -> dict[str, Value]:
    """Return the values of computation, moves and efficiency."""
    return {
        "compute": present.value("compute", sources=(result.placed.job.gpu.source,)),
        **present.values("moving", "efficiency"),
        "best": present.value("best", equation=OVERLAPPED_STEP, symbols={"T": "best"}),
    }


def host_update_value(present: Presenter, result: Result) -> Value:
    """Return the update on the host's processors."""
    symbols = {"P": "on_host", "p": "measured_parameters"}
    if result.on_host:
        return present.value("host_update", symbols=symbols)
    near = "the moments are with the GPU, and so is the update"
    return present.value("host_update", symbols=symbols, note=near)
