"""Rack domain: a job on racks of 72 when NVLink joins all of a rack, part of it, or one tray."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Annotated, Any

from engine.catalog.nodes import NODES
from engine.core.inputs import Choice, Number
from engine.core.lazy import Lazy
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text, say
from engine.core.units import (
    BANDWIDTH,
    COUNT,
    GB,
    SECONDS,
    Bandwidth,
    Bytes,
    Count,
    Ratio,
    Seconds,
    Share,
)
from engine.core.views import Axis, Badge, Bar, Bars, Cell, Lines, Point, Segment, Series, Table
from engine.form import short_job
from engine.form.adjusted_inputs import with_changes
from engine.form.fields import ExpertExchange, OwnConstants
from engine.form.memory_fit import fit_badge, with_fit
from engine.form.run.prediction_text import value_with_range
from engine.formulas import bandwidth as formulas
from engine.run.machines import cluster_of
from engine.run.parallelism import Cluster
from engine.run.run import Run
from engine.simulate.collectives.collective import collective_rank, collective_time
from engine.simulate.layer.device_model import rank_group
from engine.simulate.memory.allocator import MemoryFit
from engine.simulate.step.prediction_evidence import Evidence, evidence
from engine.simulate.step.step_time import StepTime, step_time
from engine.simulate.step.what_if import run_fit

TITLE = "A rack, or eighteen hosts"
QUESTION = "What does a job lose when NVLink does not join the trays of its rack?"
HEADLINE = "step"
# GPUs that NVLink joins: a rack as jobs use it, parts of one, a tray by itself.
WHOLE: Count = 64
ALONE: Count = 4
DOMAINS: dict[str, str] = {
    "64": "16 trays of a rack (64 GPUs)",
    "32": "8 trays (32)",
    "16": "4 trays (16)",
    "8": "2 trays (8)",
    "4": "each tray alone (4): NVLink between hosts is off",
}
RACKS = {key: node.name for key, node in NODES.items() if key.endswith("nvl72")}
PRESETS = {
    "The whole rack": {"domain": "64"},
    "405B, tensor parallelism of 8": {
        "model": "llama-3-405b",
        "tensor_parallel": 8,
        "pipeline_parallel": 8,
        "expert_parallel": 1,
        "global_batch_size": 512,
        "sequence_length": 8192,
    },
    "70B, nothing but data parallelism": {
        "model": "llama-3-70b",
        "pipeline_parallel": 1,
        "expert_parallel": 1,
        "zero_stage": "3",
        "framework": "fsdp",
        "global_batch_size": 512,
    },
}
_TESTED: Bytes = 16 * GB
_ASSUMES = (
    "Ranks in the usual order: those of tensor, context and expert parallelism are neighbors.",
    "Every GPU keeps its port to the network; what NVLink does not carry goes through it.",
)


def _folded(field: Any) -> Number | Choice:  # noqa: ANN401 (an annotation)
    """Return the declaration of an input, folded away until it is asked for."""
    mark: Number | Choice = field.__metadata__[0]
    return replace(mark, advanced=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    domain: Annotated[str, Choice(label="NVLink joins", cites=False, options=DOMAINS)] = "4"
    rack: Annotated[str, Choice(label="Machine", options=RACKS)] = "gb200-nvl72"
    model: short_job.ModelName = "deepseek-v3"
    world_size: short_job.WorldSize = 512
    tensor_parallel: short_job.TensorParallel = 1
    pipeline_parallel: short_job.PipelineParallel = 8
    context_parallel: Annotated[int, _folded(short_job.ContextParallel)] = 1
    expert_parallel: short_job.ExpertParallel = 64
    zero_stage: Annotated[str, _folded(short_job.ZeroStage)] = "1"
    micro_batch_size: Annotated[int, _folded(short_job.MicroBatch)] = 1
    global_batch_size: short_job.GlobalBatch = 4096
    sequence_length: short_job.SequenceLength = 4096
    precision: Annotated[str, _folded(short_job.PrecisionName)] = "fp8"
    recompute: Annotated[str, _folded(short_job.RecomputeName)] = "full"
    framework: Annotated[str, _folded(short_job.FrameworkName)] = "megatron"
    exchange: ExpertExchange = "auto"
    own_constants: OwnConstants = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The job with the reader's domain and with a whole rack."""

    evidence: Evidence
    fit: MemoryFit
    times: dict[Count, StepTime]
    speeds: dict[Count, Bandwidth]
    changes: tuple[Text, ...]
    step: Annotated[Seconds, Output("Step", note="{whole} with the whole rack", color="compute")]
    whole: Seconds
    slower: Annotated[
        Ratio, Output("Over the step with the whole rack", color="bad", assumes=_ASSUMES)
    ]
    exchanged: Annotated[
        Seconds,
        Output(
            "Exchange of tokens in it",
            note="{exchanged_whole} with the whole rack",
            color="communication",
            assumes=_ASSUMES,
        ),
    ]
    exchanged_whole: Seconds
    bus: Annotated[
        Bandwidth,
        Output(
            "nccl-tests would show",
            note="all_reduce_perf of {tested} on 64 GPUs; {bus_whole} with the whole rack",
            color="communication",
            assumes=("NCCL's choice by the forms that are fitted to measured curves.",),
        ),
    ]
    bus_whole: Bandwidth
    alone: Ratio
    lost: Annotated[Share, Output("Speed that is lost", assumes=_ASSUMES)]
    tested: Bytes = _TESTED
    machines: Lazy[Mapping[tuple[str, formulas.Operation], tuple[Bandwidth, ...]]]


def runs(inputs: Inputs) -> tuple[dict[Count, Run], tuple[Text, ...]]:
    """Return the job by the GPUs that NVLink joins, and the changes that make it possible."""
    node = NODES[inputs.rack]
    run, changes = short_job.job_run_and_changes(
        inputs,
        gpu=node.gpu,
        gpus_per_node=node.gpus_per_node,
        nics_per_node=node.nics_per_node,
        nic_bandwidth=node.nic_bandwidth,
    )
    training = replace(run.training, exchange=inputs.exchange)  # type: ignore[arg-type]
    cluster = cluster_of(inputs.rack, inputs.own_constants)
    return {
        int(size): replace(
            run, training=training, cluster=replace(cluster, nvlink_domain=int(size))
        )
        for size in DOMAINS
    }, changes


def bus_bandwidth(cluster: Cluster, operation: formulas.Operation = "all_reduce") -> Bandwidth:
    """Return the bus bandwidth that nccl-tests shows of a collective of 64 GPUs."""
    rank = collective_rank(cluster)
    time = collective_time(rank, rank_group(rank, WHOLE, 1), _TESTED, operation)
    return formulas.bus_bandwidth(_TESTED, time, operation, WHOLE)


def solve(inputs: Inputs) -> Result:
    """Return the step with each size of the domain."""
    jobs, changes = runs(inputs)
    times = {
        size: step_time(run.model, run.cluster, run.plan, run.training)
        for size, run in jobs.items()
    }
    speeds = {size: bus_bandwidth(run.cluster) for size, run in jobs.items()}
    domain = int(inputs.domain)
    step, whole = times[domain].total, times[WHOLE].total
    return Result(
        evidence=evidence(jobs[domain]),
        fit=run_fit(jobs[domain]),
        times=times,
        speeds=speeds,
        changes=changes,
        step=step,
        whole=whole,
        slower=step / whole,
        exchanged=times[domain].expert_parallel,
        exchanged_whole=times[WHOLE].expert_parallel,
        bus=speeds[domain],
        bus_whole=speeds[WHOLE],
        alone=times[ALONE].total / whole,
        lost=1 - whole / step,
        machines=Lazy(partial(_machine_speeds, inputs)),
    )


def _machine_speeds(
    inputs: Inputs,
) -> Mapping[tuple[str, formulas.Operation], tuple[Bandwidth, ...]]:
    """Return the bus bandwidth of each rack and operation, by the GPUs that NVLink joins."""
    clusters = {key: cluster_of(key, inputs.own_constants) for key in RACKS}
    return {
        (key, operation): tuple(
            bus_bandwidth(replace(cluster, nvlink_domain=int(size)), operation) for size in DOMAINS
        )
        for key, cluster in clusters.items()
        for operation in _TESTS
    }


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result)
    return {
        "step": value_with_range(present, "step", result.evidence),
        "verdict": with_changes(_verdict(present, inputs, result), result.changes),
        "parts": partial(_parts, inputs, result),
        **present.values("slower", "lost", "exchanged", "bus"),
        "curve": partial(_curve, inputs, result),
        "machines": partial(_machines, result),
    }


# Below this, a longer step is no more than its range.
_NOTICED: Ratio = 1.01


def _verdict(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    if result.fit.verdict == "does not fit":
        return fit_badge(result.fit)
    return with_fit(_domain_verdict(present, inputs, result), result.fit)


def _domain_verdict(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    shown = "nccl-tests shows {bus}, where {bus_whole} are right."
    if int(inputs.domain) == WHOLE:
        return Badge(
            text="One NVLink domain",
            sentence=present.say("All trays are joined. nccl-tests should show about {bus}."),
            color="compute",
        )
    if result.slower < _NOTICED:
        return Badge(
            text="Hardly noticed",
            sentence=present.say(
                "The step is {slower} as long: what this job sends between trays hides behind its "
                f"computation, or is little. {shown}"
            ),
            color="data",
        )
    if int(inputs.domain) == ALONE:
        return Badge(
            text="The rack is lost",
            sentence=present.say(f"The step is {{slower}} as long, and nothing fails. {shown}"),
            color="bad",
        )
    return Badge(
        text="Part of the rack is lost",
        sentence=present.say(
            "The step is {slower} as long, and would be {alone} with each tray alone. Nothing "
            f"fails. {shown}"
        ),
        color="bad",
    )


_SHOWN = (
    ("compute", "computation", "compute"),
    ("expert_parallel", "exchange of tokens", "communication"),
    ("tensor_parallel", "tensor parallelism", "tensor"),
    ("data_parallel", "data parallelism", "data"),
    ("pipeline", "between stages", "pipeline"),
)


def _parts(inputs: Inputs, result: Result) -> Bars:
    named = {name for name, _, _ in _SHOWN}
    bars = []
    for size, time in result.times.items():
        parts = {field.name: float(getattr(time, field.name)) for field in fields(time)}
        segments = [
            Segment(key=name, label=label, value=parts[name], color=color)
            for name, label, color in _SHOWN
        ]
        all_else = sum(seconds for name, seconds in parts.items() if name not in named)
        segments.append(Segment(key="rest", label="all else", value=all_else, color="muted"))
        you = " (you)" if size == int(inputs.domain) else ""
        bars.append(Bar(key=str(size), label=f"{size} GPUs{you}", segments=tuple(segments)))
    most = max(time.total for time in result.times.values())
    return Bars(
        title="The step by what NVLink joins",
        axis=Axis(label="one step", quantity=SECONDS, low=0.0, high=1.08 * most),
        bars=tuple(bars),
    )


def _curve(inputs: Inputs, result: Result) -> Lines:
    sizes = sorted(result.speeds)
    speeds = tuple(result.speeds[size] for size in sizes)
    return Lines(
        title="What nccl-tests shows of 64 GPUs",
        x=Axis(label="GPUs that NVLink joins", quantity=COUNT, low=4.0, high=64.0, scale="log"),
        y=Axis(label="bus bandwidth", quantity=BANDWIDTH, low=0.0, high=1.1 * max(speeds)),
        series=(
            Series(
                key="bus",
                label="all-reduce, 16 GB",
                x=tuple(map(float, sizes)),
                y=speeds,
                color="communication",
            ),
        ),
        points=(Point(key="you", label="you", x=float(inputs.domain), y=result.bus),),
    )


# The collectives of nccl-tests: what gradients do, and what experts do.
_TESTS: dict[formulas.Operation, str] = {
    "all_reduce": "all_reduce_perf",
    "all_to_all": "alltoall_perf",
}


def _machines(result: Result) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for (key, operation), speeds in result.machines().items():
        cells = (say("{speed}", speed=(speed, BANDWIDTH)) for speed in speeds)
        rows.append((f"{RACKS[key]}, {_TESTS[operation]}", *cells))
    return Table(
        title="Bus bandwidth of 64 GPUs, by the GPUs that NVLink joins",
        columns=("Machine and test", *(f"{size} GPUs" for size in DOMAINS)),
        rows=tuple(rows),
        caption="By the model, for 16 GB. What a test shows well below the first column, and near "
        "another one, says how many trays are joined.",
    )
