"""The inputs of the check of a trace: the trace, the rules, its job; and every number."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import Annotated

from engine.core import text
from engine.core.inputs import Number, Sample, Scalar, Switch, Text
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.record import record
from engine.core.units import COUNT, Bandwidth, Count, Seconds, Share
from engine.form import short_job, trace_sample
from engine.form.fields import OwnConstants
from engine.form.text_validation import text_check
from engine.run.run import Run
from engine.run.traces.document import LONGEST_TRACE, MOST_RANKS, read_traces
from engine.simulate.measured.traced_gpu import (
    is_of_another_gpu,
    is_of_other_ranks,
    traced_gpus,
)
from engine.simulate.profile_analysis.account import (
    KernelUse,
    StreamUse,
    TimeUse,
    kernel_uses,
    stream_uses,
)
from engine.simulate.profile_analysis.check import TraceCheck, check_trace, mean_use
from engine.simulate.profile_analysis.collectives import (
    CollectiveKind,
    clock_offset,
    collective_kinds,
)
from engine.simulate.profile_analysis.rules import RULES, UNKNOWN, parse_rules
from engine.simulate.profile_analysis.sample_job import TOKENS, WORLD_SIZE
from engine.simulate.step.prediction_evidence import Evidence, evidence
from engine.simulate.step.step_range import step_range
from engine.simulate.step.step_time import StepTime
from engine.simulate.step.what_if import run_step_time

# Totals of each trace file, with the waiting times of its rank and the others.


@record
class RankUse:
    """A rank of the trace.

    Attributes:
        use: where the time of its mean step went.
        waits: in each step, for the others and they for it; None with one file.
        ahead: its clock, of the first rank's; None where nothing tells.
    """

    use: TimeUse
    waits: tuple[Seconds, Seconds] | None
    ahead: Seconds | None


def rank_uses(checked: TraceCheck) -> tuple[RankUse, ...]:
    """Return all ranks in their order."""
    rows = []
    for rank, uses in enumerate(checked.uses):
        both = checked.wait_suffered(rank) / len(uses), checked.wait_caused(rank) / len(uses)
        ahead = clock_offset(checked.ranks, checked.collectives, rank)
        waits = both if checked.collectives else None
        rows.append(RankUse(use=mean_use(uses), waits=waits, ahead=ahead))
    return tuple(rows)


_INFINITE = float("inf")
SAMPLES: Mapping[str, Sample] = {
    "simulated": Sample(title="two ranks of a simulated FSDP step", text=trace_sample.TEXT)
}
RULE_SAMPLES: Mapping[str, Sample] = {
    "ours": Sample(title="the rules of this page", text=RULES),
    "three": Sample(
        title="three kinds, as Holistic Trace Analysis names them",
        text="communication: nccl, hccl\nmemory copies: memcpy, memset, dma_\n",
    ),
}
PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "The rank that is waited for": {"rank": 2},
    "The second step alone": {"step": 2},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs(short_job.Shape):
    """The calculator's inputs."""

    trace: Annotated[
        str,
        Text(
            label="Your trace",
            longest=LONGEST_TRACE,
            samples=SAMPLES,
            files=".json,.gz",
            reader="trace",
            help="Kineto's JSON, plain or gzip: what torch.profiler writes, one file or one for "
            "each rank.",
            empty="No trace is here yet; choose a file, or try the sample",
            check=text_check(read_traces),
        ),
    ] = SAMPLES["simulated"].text
    rank: Annotated[
        int,
        Number(label="File shown", low=1, high=MOST_RANKS, whole=True, help="By rank, from 1."),
    ] = 1
    step: Annotated[
        int,
        Number(
            label="Step shown",
            low=0,
            high=1000,
            whole=True,
            help="0: the mean of all; the timeline then shows the first.",
        ),
    ] = 0
    compare: Annotated[
        bool, Switch(label="Compare with the job below", help="Its predicted step, part by part.")
    ] = True
    model: short_job.AnyModelName = "llama-3-8b"
    gpu: short_job.GpuName = "H100-SXM"
    world_size: short_job.WorldSize = WORLD_SIZE
    sequence_length: short_job.SequenceLength = TOKENS
    global_batch_size: short_job.GlobalBatch = WORLD_SIZE
    micro_batch_size: short_job.MicroBatch = 1
    tensor_parallel: short_job.TensorParallel = 1
    pipeline_parallel: short_job.PipelineParallel = 1
    context_parallel: short_job.ContextParallel = 1
    expert_parallel: short_job.ExpertParallel = 1
    zero_stage: short_job.ZeroStage = "3"
    precision: short_job.PrecisionName = "bf16"
    recompute: short_job.RecomputeName = "none"
    framework: short_job.FrameworkName = "fsdp"
    own_constants: OwnConstants = ""
    rules: Annotated[
        str,
        Text(
            label="Rules: what a kernel is, by its name",
            longest=20_000,
            rows=10,
            samples=RULE_SAMPLES,
            help="The first line with a word of the name decides. Change them, and all numbers "
            "follow.",
            empty="No rule is here; take those of this page",
            check=text_check(parse_rules),
            advanced=True,
        ),
    ] = RULES


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The chosen rank and steps.

    Attributes:
        rank: its place.
        steps: places of the steps whose mean is told.
        window: (start, end) of the step that is drawn.
        whole: (start, end) of all steps whose mean is told.
        use: where the time went, of a step.
        kinds: its collectives.
        drawn: the streams in the window.
        streams, kernels: what ran in all the steps.
    """

    rank: int
    steps: tuple[int, ...]
    window: tuple[Seconds, Seconds]
    whole: tuple[Seconds, Seconds]
    use: TimeUse
    kinds: tuple[CollectiveKind, ...]
    drawn: Lazy[tuple[StreamUse, ...]]
    streams: Lazy[tuple[StreamUse, ...]]
    kernels: Lazy[tuple[KernelUse, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """The step of the job, and its range."""

    step: StepTime
    least: Seconds
    most: Seconds


_ONCE = "What several streams do at once counts once."


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Numbers of the trace; not finite where the trace lacks them."""

    changes: tuple[text.Text, ...]
    evidence: Evidence
    checked: TraceCheck
    shown: Shown
    ranks: Lazy[tuple[RankUse, ...]]
    job: Predicted | None
    another: text.Text
    step_time: Annotated[
        Seconds,
        Output(
            "Step",
            "T",
            basis="measured",
            assumes=("From one step's mark to the next; the last ends with its own mark.",),
        ),
    ]
    predicted: Annotated[
        Seconds, Output("Step, predicted", assumes=("The cost model, fitted to published runs.",))
    ]
    compute: Annotated[
        Share, Output("Computing", color="compute", basis="measured", assumes=(_ONCE,))
    ]
    exposed: Annotated[
        Share,
        Output(
            "Exposed communication",
            color="communication",
            basis="measured",
            assumes=("Communication runs and computation does not.", _ONCE),
        ),
    ]
    hidden: Annotated[
        Share,
        Output(
            "Hidden",
            note="of all communication",
            color="communication",
            basis="measured",
            assumes=("Communication beside computation, over all communication.",),
        ),
    ]
    copies: Annotated[
        Share,
        Output(
            "Memory copies alone",
            color="memory",
            basis="measured",
            assumes=("Copies and fills while nothing else runs.",),
        ),
    ]
    idle: Annotated[
        Share, Output("Idle", basis="measured", assumes=("No stream of the GPU runs anything.",))
    ]
    waited: Annotated[
        Seconds,
        Output(
            "Waits for other ranks",
            note="in a step, in collectives that several files hold",
            color="communication",
            basis="measured",
            assumes=(
                "The rank that comes last to a collective runs its kernel for the shortest time; "
                "what the others run longer is waiting. No common clock is needed.",
            ),
        ),
    ]
    bus: Annotated[
        Bandwidth,
        Output(
            "Bus bandwidth",
            note="of the collective that takes the most time",
            color="communication",
            basis="measured",
            assumes=("Where PyTorch recorded sizes; by the convention of nccl-tests.",),
            sources=("nccl_tests",),
        ),
    ]
    unnamed: Annotated[
        Share,
        Output(
            "Not named by a rule",
            note="of the time of all kernels; counted as computation",
            basis="measured",
            assumes=("Of all kernels of the file, their times added up.",),
        ),
    ]
    kernels: Annotated[Count, Output("GPU events", basis="measured", assumes=("In this file.",))]


def _shown_steps(checked: TraceCheck, rank: int, step: int) -> Shown:
    sorted_trace, steps, uses = checked.ranks[rank], checked.steps[rank], checked.uses[rank]
    step_indices = (min(step, len(uses)) - 1,) if step else tuple(range(len(uses)))
    window = steps.windows[step_indices[0]]
    whole = window if step else (steps.windows[0][0], steps.windows[-1][1])
    return Shown(
        rank=rank,
        steps=step_indices,
        window=window,
        whole=whole,
        use=mean_use([uses[step_index] for step_index in step_indices]),
        kinds=collective_kinds(sorted_trace, whole, rank, checked.collectives),
        drawn=Lazy(partial(stream_uses, sorted_trace, window[0], max(window[1], window[0] + 1e-9))),
        streams=Lazy(partial(stream_uses, sorted_trace, *whole)),
        kernels=Lazy(partial(kernel_uses, sorted_trace, *whole)),
    )


def solve(inputs: Inputs) -> Result:
    """Return the numbers of the chosen rank and step."""
    run, changes = short_job.job_run_and_changes(inputs)
    checked = check_trace(inputs.trace, inputs.rules)
    shown = _shown_steps(checked, min(inputs.rank, len(checked.ranks)) - 1, inputs.step)
    use = shown.use
    another = _another_job(checked, run, given=_is_given(inputs)) if inputs.compare else ""
    job = _predicted(run) if inputs.compare and not another else None
    kernels = kernel_uses(checked.ranks[shown.rank], 0.0, _INFINITE)
    total = sum(kernel.time for kernel in kernels)
    steps = len(checked.uses[shown.rank])
    return Result(
        evidence=evidence(run),
        changes=changes,
        checked=checked,
        shown=shown,
        ranks=Lazy(partial(rank_uses, checked)),
        job=job,
        another=another,
        step_time=use.length,
        predicted=job.step.total if job else _INFINITE,
        compute=use.share(use.compute),
        exposed=use.share(use.exposed),
        hidden=use.overlap if use.communication else _INFINITE,
        copies=use.share(use.copies),
        idle=use.share(use.idle),
        waited=checked.wait_suffered(shown.rank) / steps if checked.collectives else _INFINITE,
        bus=next((kind.bus_bandwidth for kind in shown.kinds if kind.bus_bandwidth), _INFINITE),
        unnamed=sum(kernel.time for kernel in kernels if kernel.group == UNKNOWN) / total
        if total
        else 0.0,
        kernels=len(checked.ranks[shown.rank].trace.start),
    )


def _is_given(inputs: Inputs) -> bool:
    """Return whether the job is the reader's own, or the one that the sample was made of."""
    is_sample = inputs.trace in (sample.text for sample in SAMPLES.values())
    defaults, own = Inputs(), ("trace", "rank", "step", "compare", "rules")
    job = [field.name for field in fields(Inputs) if field.name not in own]
    return is_sample or any(getattr(inputs, name) != getattr(defaults, name) for name in job)


def _another_job(checked: TraceCheck, run: Run, *, given: bool) -> text.Text:
    """Return why a trace is not compared with the job below; empty if it is.

    A job that nobody gave is that of a trace which names its GPU and its number of ranks.
    """
    ranks = [rank.trace for rank in checked.ranks]
    names, gpu = traced_gpus(ranks), run.cluster.gpu.name
    words = []
    if is_of_another_gpu(names, gpu):
        recorded = text.escape_braces(", ".join(names[:3]))
        words.append(f"was recorded on {recorded}, the job below runs on {gpu}")
    world = max(rank.world_size for rank in ranks)
    if is_of_other_ranks(ranks, run.plan.world_size):
        words.append("is one of {traced} ranks, the job below has {asked}")
    if not words:
        if given or (names and world == run.plan.world_size):
            return ""
        return "No job is given yet: choose its model, GPUs and plan below to compare its step."
    sentence = f"Another job: the trace {' and '.join(words)}. Nothing is compared."
    numbers = {"traced": (world, COUNT), "asked": (run.plan.world_size, COUNT)}
    return text.say(sentence, **numbers)


def _predicted(run: Run) -> Predicted:
    step = run_step_time(run)
    least, most, _ = step_range(run, step.total)
    return Predicted(step=step, least=least, most=most)
