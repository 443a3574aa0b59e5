"""Inputs of the stack explorer's job, shared by all tabs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import inf, prod
from typing import Annotated

from engine.core.inputs import GBITS, TRILLIONS, Choice, Number, Scalar, Unit
from engine.core.lazy import Lazy
from engine.core.slices import Slices, step_progress
from engine.core.text import Text
from engine.core.units import (
    DAY,
    GB,
    HOUR,
    KB,
    MICRO,
    MILLI,
    NANO,
    Count,
    Gbit,
    Money,
    Price,
    TokenRate,
)
from engine.form.fields import OwnConstants, PortsPerEight
from engine.form.message import MESSAGE
from engine.form.overlap import SCHEDULES
from engine.form.price import PRICE
from engine.form.run.result import RunEstimate, run_estimate
from engine.form.saving_inputs import LLAMA3_MTBF, SECONDS
from engine.form.what_if import inputs as _levers_inputs
from engine.form.what_if.inputs import GPU_NAMES, MODEL_NAMES
from engine.form.what_if.inputs import Inputs as JobInputs
from engine.form.what_if.views import Job as Levers
from engine.form.what_if.views import what_if_job as levers_of
from engine.formulas.job import cost_of_tokens, token_rate
from engine.run.run import Run
from engine.simulate.layer.device_model import Axis, RankRates, rank_rates
from engine.simulate.overlap.schedule_step import ScheduleOutcome, schedule_outcome
from engine.simulate.step.axis_wires import AxisTimes, axis_times
from engine.simulate.step.map_traffic import TRAFFIC_AXES
from engine.simulate.step.rank_map import Mesh
from engine.simulate.step.step_time import StepTime, step_time

# The names of the explorer's layers and events, from the smallest time to the largest.

LAYER_NAMES: Mapping[str, str] = {
    "link": "L0 Links",
    "gpu": "L1 GPU",
    "collective": "L2 Collectives",
    "step": "L3 Step",
    "job": "L4 Job",
}
EVENT_NAMES: Mapping[str, str] = {
    "memory": "HBM access",
    "nvlink": "NVLink hop",
    "gap": "Gap between kernels",
    "launch": "Launch of a collective",
    "network": "Network hop",
    "gemm": "One matrix product",
    "tensor": "Gather of tensor parallelism",
    "send": "Message to the next stage",
    "layer": "One layer forward",
    "optimizer": "Optimizer",
    "bucket": "Gradients of one layer",
    "microbatch": "One micro-batch on a stage",
    "gradients": "All gradients of a GPU",
    "bubble": "Pipeline bubble",
    "step": "One step",
    "checkpoint": "Checkpoint",
    "restart": "Restart after a failure",
    "interval": "Work between checkpoints",
    "mtbf": "Until something fails",
    "run": "The whole run",
}


_TIMES = {
    "ns": NANO,
    "us": MICRO,
    "µs": MICRO,
    "ms": MILLI,
    "s": 1.0,
    "min": 60.0,
    "h": HOUR,
    "days": DAY,
}
SHORT_TIMES = Unit(" µs", MICRO, _TIMES, shown=("ns", "µs", "ms", "s"))
LONG_TIMES = Unit(" h", HOUR, _TIMES, shown=("s", "min", "h", "days"))
HOURS = Unit(" h", HOUR, _TIMES)
_SHARED = (
    "model",
    "gpu",
    "world_size",
    "sequence_length",
    "global_batch_size",
    "micro_batch_size",
    "tensor_parallel",
    "pipeline_parallel",
    "virtual_pipeline",
    "context_parallel",
    "expert_parallel",
    "zero_stage",
    "recompute",
    "nic_bandwidth",
    "nics_per_node",
    "own_constants",
)


def _count_input(
    label: str, high: int, *, low: int = 1, symbol: str = "", first: bool = False
) -> Number:
    return Number(
        label=label, low=low, high=high, scale="log2", whole=True, symbol=symbol, advanced=not first
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    model: Annotated[str, Choice(label="Model", cites=False, options=MODEL_NAMES)] = "llama-3-405b"
    gpu: Annotated[str, Choice(label="GPU", options=GPU_NAMES)] = "H100-SXM"
    world_size: Annotated[int, _count_input("GPUs", 131_072, symbol="n", first=True)] = 16_384
    nic_bandwidth: Annotated[
        float,
        Number(label="Port, one way", unit=GBITS, low=10 * Gbit, high=1600 * Gbit, scale="log"),
    ] = 400 * Gbit
    tensor_parallel: Annotated[int, _count_input("Tensor parallel", 64)] = 8
    pipeline_parallel: Annotated[int, _count_input("Pipeline parallel", 64)] = 16
    virtual_pipeline: Annotated[int, _count_input("Virtual stages per rank", 16)] = 8
    context_parallel: Annotated[int, _count_input("Context parallel", 64)] = 1
    expert_parallel: Annotated[int, _count_input("Expert parallel", 256)] = 1
    micro_batch_size: Annotated[int, _count_input("Micro-batch", 64)] = 1
    global_batch_size: Annotated[
        int, _count_input("Global batch, sequences", 65_536, symbol="B")
    ] = 2048
    sequence_length: Annotated[
        int, _count_input("Sequence length", 1 << 18, low=128, symbol="s")
    ] = 8192
    nics_per_node: PortsPerEight = 8
    zero_stage: Annotated[
        str, Choice(label="ZeRO", options={str(i): str(i) for i in range(4)}, advanced=True)
    ] = "2"
    recompute: Annotated[
        str,
        Choice(
            label="Recompute",
            options={"none": "nothing", "selective": "attention only", "full": "every layer"},
            advanced=True,
        ),
    ] = "none"
    tokens: Annotated[
        float,
        Number(
            label="Tokens of the run",
            unit=TRILLIONS,
            low=1e9,
            high=1e14,
            scale="log",
            symbol="D",
            advanced=True,
        ),
    ] = 15.6e12
    price: Annotated[float, replace(PRICE, advanced=True)] = 2 / HOUR
    own_constants: OwnConstants = ""
    checkpoint: Annotated[
        float,
        Number(
            label="Time of a checkpoint",
            unit=SECONDS,
            low=0.1,
            high=HOUR,
            scale="log",
            help="Only the part in which no step runs.",
            advanced=True,
        ),
    ] = 60.0
    gpu_mtbf: Annotated[
        float,
        Number(
            label="Mean time between failures of one GPU",
            unit=HOURS,
            low=1e3 * HOUR,
            high=1e6 * HOUR,
            scale="log",
            help="With its share of host, cables and software.",
            advanced=True,
        ),
    ] = LLAMA3_MTBF
    event: Annotated[
        str,
        Choice(
            label="Event", options=EVENT_NAMES, help="Arrow keys go along the axis.", advanced=True
        ),
    ] = "step"
    ruler_from: Annotated[
        float,
        Number(
            label="Ruler from",
            unit=SHORT_TIMES,
            low=10 * NANO,
            high=1.0,
            scale="log",
            advanced=True,
        ),
    ] = 100 * NANO
    ruler_to: Annotated[
        float,
        Number(
            label="Ruler to",
            unit=LONG_TIMES,
            low=36.0,
            high=10_000 * DAY,
            scale="log",
            advanced=True,
        ),
    ] = 100 * DAY
    layer: Annotated[
        str,
        Choice(
            label="Layer", options=LAYER_NAMES, help="Arrow keys go up and down.", advanced=True
        ),
    ] = "step"
    message: Annotated[
        float,
        Number(label="Message", unit=MESSAGE, low=8.0, high=1 * GB, scale="log", advanced=True),
    ] = 64 * KB
    schedule: Annotated[str, Choice(label="Schedule shown", options=SCHEDULES, advanced=True)] = (
        "buckets"
    )


PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "70B on 256 H100": {
        "model": "llama-3-70b",
        "world_size": 256,
        "pipeline_parallel": 4,
        "virtual_pipeline": 5,
        "global_batch_size": 256,
        "recompute": "full",
    },
    "8B on one node": {
        "model": "llama-3-8b",
        "world_size": 8,
        "tensor_parallel": 1,
        "pipeline_parallel": 1,
        "virtual_pipeline": 1,
        "global_batch_size": 64,
        "zero_stage": "3",
        "recompute": "full",
        "tokens": 1e11,
    },
    "13B on eight nodes with one port of 100 Gb/s": {
        "model": "llama-2-13b",
        "world_size": 64,
        "tensor_parallel": 1,
        "pipeline_parallel": 1,
        "virtual_pipeline": 1,
        "global_batch_size": 64,
        "sequence_length": 4096,
        "zero_stage": "3",
        "recompute": "full",
        "nic_bandwidth": 100 * Gbit,
        "nics_per_node": 1,
        "tokens": 1e12,
    },
    "Experts: Qwen3 235B on 512 H100": {
        "model": "qwen3-235b-a22b",
        "world_size": 512,
        "tensor_parallel": 1,
        "pipeline_parallel": 8,
        "virtual_pipeline": 1,
        "expert_parallel": 64,
        "global_batch_size": 2048,
        "recompute": "full",
        "sequence_length": 4096,
    },
}


def shared_inputs(inputs: Inputs) -> _levers_inputs.Inputs:
    """Return the inputs of the job, without the inputs of the views."""
    return _levers_inputs.Inputs(**{name: getattr(inputs, name) for name in _SHARED})


# The drawn part of the job: some GPUs with their groups, and a simulated stage.

_DRAWN: Count = 256  # GPUs on the map, at most
_ORDER: tuple[Axis, ...] = ("tensor", "context", "data", "pipeline")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """The GPUs that are drawn.

    Attributes:
        mesh: they.
        firsts: of each of them, the first GPU of its group along each axis that has several.
        sizes: of all axes of the whole job.
        world_size: all GPUs.
    """

    mesh: Mesh
    firsts: tuple[Mapping[Axis, Count], ...]
    sizes: Mapping[Axis, Count]
    world_size: Count


def part_of(run: Run) -> Part:
    """Return the GPUs of a run by node, a part of them if the job is large."""
    plan = run.plan
    whole: dict[Axis, Count] = {
        "tensor": plan.tensor_parallel,
        "context": plan.context_parallel,
        "data": plan.data_parallel,
        "pipeline": plan.pipeline_parallel,
    }
    sizes = _drawn_sizes(whole)
    stage = sizes["tensor"] * sizes["context"] * sizes["data"]
    mesh = Mesh(
        sizes=sizes,
        order=_ORDER,
        expert=plan.expert_parallel if stage % plan.expert_parallel == 0 else 1,
        gpus_per_node=run.cluster.gpus_per_node,
    )
    ranks = {**sizes, "expert": mesh.expert}
    shown = [axis for axis in TRAFFIC_AXES if ranks[axis] > 1]
    return Part(
        mesh=mesh,
        firsts=tuple(
            {axis: mesh.group(axis, rank)[0] for axis in shown} for rank in range(mesh.world_size)
        ),
        sizes={**whole, "expert": plan.expert_parallel},
        world_size=plan.world_size,
    )


def _drawn_sizes(sizes: Mapping[Axis, Count]) -> dict[Axis, Count]:
    """Return reduced axis sizes to draw: fewer replicas first, then fewer stages."""
    left = dict(sizes)
    order: tuple[Axis, ...] = ("data", "pipeline", "context", "tensor")
    for axis in order:
        while prod(left.values()) > _DRAWN and left[axis] > 2:
            left[axis] = -(-left[axis] // 2)
    return left


def play_stage(inputs: Inputs, run: Run) -> Slices[ScheduleOutcome]:
    """Return the job under the chosen schedule, and its first micro-batches."""
    outcome = schedule_outcome(run, inputs.schedule)
    yield step_progress(1, 2)
    return outcome


# The job behind the explorer: its run, its estimate, its levers and its wires.

BILLION = 1e9
Variant = tuple[str, str, StepTime]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The explorer's job, independent of the view.

    Attributes:
        run: model, cluster, plan and training.
        changes: what had to change for the plan to be possible.
        estimate: its estimate.
        step: its parts.
        rank: rates of a GPU.
        levers: what each change would give.
        variants: (key, name, step) with nothing overlapped, gradients, tensor parallelism too.
        wires: of its axes.
        rate: tokens per second of all GPUs.
        part: its GPUs on the map.
    """

    run: Run
    changes: tuple[Text, ...]
    estimate: RunEstimate
    step: StepTime
    rank: RankRates
    levers: Levers
    variants: tuple[Variant, ...]
    wires: tuple[AxisTimes, ...]
    rate: TokenRate
    part: Lazy[Part]

    @property
    def runs(self) -> bool:
        """Whether its GPU that holds most holds the job; otherwise it has no rate and no price."""
        return self.estimate.fit.runs

    @property
    def uneven(self) -> bool:
        """Whether some stages have more layers than others."""
        return self.run.model.num_layers % self.run.plan.pipeline_parallel > 0

    def cost(self, price: Price) -> Money:
        """Return the cost of a billion tokens while steps run; infinite if none can."""
        if not self.runs:
            return inf
        return cost_of_tokens(BILLION, self.run.plan.world_size, price, self.rate)


def job(inputs: Inputs) -> Job:
    """Return the job; moving along the axis does not compute it again."""
    return _job(shared_inputs(inputs))


@lru_cache(maxsize=8)
def _job(inputs: JobInputs) -> Job:
    levers = levers_of(inputs)
    run, step = levers.run, levers.step
    training = run.training
    return Job(
        run=run,
        changes=levers.changes,
        estimate=run_estimate(run),
        step=step,
        rank=rank_rates(run.cluster, training),
        levers=levers,
        variants=_variants(run),
        wires=axis_times(run, step),
        rate=token_rate(training.global_batch_size, training.sequence_length, step.total),
        part=Lazy(partial(part_of, run)),
    )


def _variants(run: Run) -> tuple[Variant, ...]:
    settings = (
        ("nothing", "nothing overlapped", False, False),
        ("gradients", "gradients overlapped (the job)", True, False),
        ("both", "collectives of layers overlapped too", True, True),
    )
    variants = []
    for key, label, gradients, layers in settings:
        training = replace(
            run.training,
            overlap_gradient_reduce=gradients,
            overlap_tensor_parallel=layers,
            overlap_expert_parallel=layers,
        )
        variants.append((key, label, step_time(run.model, run.cluster, run.plan, training)))
    return tuple(variants)
