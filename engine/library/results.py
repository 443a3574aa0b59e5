"""Records that the library's functions return, in SI units: bytes, seconds, FLOP/s."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal

from engine.core.units import Bandwidth, Bytes, Count, FlopRate, Money, Parameters, Ratio, Seconds
from engine.run.importers.import_report import ReportEntry
from engine.run.run import Run

Fit = Literal["fits", "tight", "does not fit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankMemory:
    """Memory of the rank that holds most, in bytes; the parts add up to `Estimate.peak_memory`.

    Attributes:
        parameters: weights that the rank holds, and their copies in other precisions.
        gradients: of those weights.
        optimizer: states of the optimizer, and its own copy of the weights.
        activations: what the backward pass needs of the forward passes under way.
        buffers: of communication and of the loss.
        reserve: what the software sets aside beside them.
    """

    parameters: Bytes
    gradients: Bytes
    optimizer: Bytes
    activations: Bytes
    buffers: Bytes
    reserve: Bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class StepParts:
    """Parts of one step in seconds; each counts what nothing else hides, and they add up to it.

    Attributes:
        compute: kernels of the layers, forward and backward.
        tensor_parallel: collectives of tensor parallelism.
        context_parallel: exchange of keys and values along the sequence.
        expert_parallel: exchange of tokens between experts.
        pipeline: messages between stages.
        data_parallel: gradients and sharded parameters.
        bubble: waiting for other stages.
        optimizer: the update of the weights.
        other: the rest, such as launches and the loss.
    """

    compute: Seconds
    tensor_parallel: Seconds
    context_parallel: Seconds
    expert_parallel: Seconds
    pipeline: Seconds
    data_parallel: Seconds
    bubble: Seconds
    optimizer: Seconds
    other: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeBasis:
    """The evidence of a step's range: a class of jobs, and its number of measured runs."""

    name: str
    runs: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Step time, rates and memory of one training run.

    Attributes:
        step_time: seconds of one optimizer step.
        step_time_low: from where four of five such steps lie.
        step_time_high: up to where they lie.
        range_basis: the measured runs behind the range.
        extrapolates: beyond which measured scale, model or GPU the run goes, a sentence each.
        tokens_per_second_per_gpu: training tokens per second of one GPU.
        model_flops_rate: FLOP/s per GPU, attention counted and recomputation not.
        hardware_flops_rate: FLOP/s per GPU with recomputation.
        mfu: `model_flops_rate` over the dense peak of the precision.
        hfu: `hardware_flops_rate` over that peak.
        parameters: of the whole model.
        peak_memory: bytes of the rank that holds most, as its framework reports them.
        memory: parts of `peak_memory`.
        time: parts of `step_time`.
        fits: whether the run has enough memory.
        problems: what speaks against the run, a sentence each.
        memory_allocated: bytes of tensors at the peak.
        memory_reserved: bytes that the allocator holds.
        memory_process: bytes of the process, as nvidia-smi shows them.
        fit: "fits", "tight" or "does not fit".
        memory_usable: bytes that a process should fill at most.
        memory_to_give_back: bytes that the allocator must give back for the run to fit.
        cost_per_step: of all GPUs, where the cluster has a price; otherwise None.
    """

    step_time: Seconds
    step_time_low: Seconds
    step_time_high: Seconds
    range_basis: RangeBasis
    extrapolates: tuple[str, ...]
    tokens_per_second_per_gpu: float
    model_flops_rate: FlopRate
    hardware_flops_rate: FlopRate
    mfu: Ratio
    hfu: Ratio
    parameters: Parameters
    peak_memory: Bytes
    memory: RankMemory
    time: StepParts
    fits: bool
    problems: tuple[str, ...]
    memory_allocated: Bytes
    memory_reserved: Bytes
    memory_process: Bytes
    fit: Fit
    memory_usable: Bytes
    memory_to_give_back: Bytes
    cost_per_step: Money | None = None

    def _repr_html_(self) -> str:
        from engine.library.display import estimate_html

        return estimate_html(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """One plan of a job with its step time and memory.

    Attributes:
        name: the plan in words, such as "tensor 4, pipeline 2, ZeRO 1".
        step_time: seconds of one step, as in `Estimate`, and the range of four in five.
        step_time_low: from where.
        step_time_high: up to where.
        tokens_per_second_per_gpu: training tokens per second of one GPU.
        peak_memory: bytes of the rank that holds most, as its framework reports them.
        memory_process: bytes of its process.
        room: bytes that the process should fill at most.
        fit: "fits", "tight" or "does not fit".
        memory_to_give_back: bytes that the allocator must give back.
        time: parts of the step.
        document: the run file of this plan, which `estimate` takes.
        days: of the whole run without failures, where the request names its tokens.
        days_in_the_end: 10th, 50th and 90th percentile of what such runs took in the end.
        cost: of the whole run, where the cluster has a price.
        tied: whether predictions are too coarse to tell it from the fastest plan.
        also_with: settings of plans of the same kind that tie with the fastest too.
    """

    name: str
    step_time: Seconds
    step_time_low: Seconds
    step_time_high: Seconds
    tokens_per_second_per_gpu: float
    peak_memory: Bytes
    memory_process: Bytes
    room: Bytes
    fit: Fit
    memory_to_give_back: Bytes
    time: StepParts
    document: Mapping[str, Any]
    days: float | None = None
    days_in_the_end: tuple[float, ...] = ()
    cost: Money | None = None
    tied: bool = False
    also_with: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plans:
    """The plans of a job, one of each kind: the fastest, what ties with it, then slower ones.

    Attributes:
        plans: that fit; empty where none does.
        timed: plans that were timed on the way.
        tied: kinds of plans that tie with the fastest, that of the fastest among them.
        simplest: the simplest plan of those kinds: the fewest kinds of parallelism, then the
            fewest virtual stages, then the least recomputation.
        reason: why a plan that the request names is not the best; empty without one.
        published: published plans of the model on this job: `source`, the machine it was published
            for, its step over that of the fastest, the bytes of its process beyond, and the plan.
    """

    plans: tuple[PlannedRun, ...]
    timed: Count
    tied: Count = 0
    simplest: PlannedRun | None = None
    reason: str = ""
    published: tuple[Mapping[str, Any], ...] = ()

    def _repr_html_(self) -> str:
        from engine.library.display import plans_html

        return plans_html(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """A training run as it was read from a run file or from a trainer's configuration.

    Attributes:
        run: model, cluster, plan and training settings.
        document: the run file that says the same, as JSON.
        formats: what was recognized, such as "Megatron-LM arguments".
        entries: every setting: its line, what it means, whether it was assumed.
        warnings: what the estimate leaves out, a clause each.
    """

    run: Run
    document: Mapping[str, Any]
    formats: tuple[str, ...] = ()
    entries: tuple[ReportEntry, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveTime:
    """Time of one collective on one machine.

    Attributes:
        time: seconds with the algorithm and the protocol that NCCL takes.
        choice: those, such as "Ring LL128".
        bus_bandwidth: bytes/s of each rank's port, as nccl-tests print it ("busbw").
        choices: "algorithm protocol" -> seconds of every possible choice.
    """

    time: Seconds
    choice: str
    bus_bandwidth: Bandwidth
    choices: Mapping[str, Seconds]


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedStep:
    """Mean step of one rank of a trace: `compute`, `exposed`, `copies` and `idle` add up to `time`.

    Attributes:
        rank: as the trace numbers it.
        steps: that were averaged.
        time: seconds of a step.
        compute: while some computation runs.
        communication: while some communication runs, beside computation or not.
        exposed: of that, while nothing is computed.
        copies: while memory is copied and nothing else runs.
        idle: while nothing runs.
        waited: of all steps, seconds that the rank waited for others in collectives.
    """

    rank: int
    steps: Count
    time: Seconds
    compute: Seconds
    communication: Seconds
    exposed: Seconds
    copies: Seconds
    idle: Seconds
    waited: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSummary:
    """Where the steps of a profiler trace went.

    Attributes:
        ranks: mean step of every rank, by number.
        straggler: rank that the others waited for the longest; None where nobody waited.
    """

    ranks: tuple[TracedStep, ...]
    straggler: int | None


def as_dict(record: Any) -> Any:  # noqa: ANN401 (any record, and what it holds)
    """Return a record as plain data for JSON: objects, lists, numbers, texts.

    Args:
        record: any record of the library, or a collection of records.

    Example:
        >>> sorted(as_dict(estimate(run).memory))
        ['activations', 'buffers', 'gradients', 'optimizer', 'parameters', 'reserve']
    """
    if is_dataclass(record) and not isinstance(record, type):
        return {field.name: as_dict(getattr(record, field.name)) for field in fields(record)}
    if isinstance(record, Mapping):
        return {str(key): as_dict(value) for key, value in record.items()}
    if isinstance(record, list | tuple):
        return [as_dict(value) for value in record]
    return record
