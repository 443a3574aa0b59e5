"""Imported configuration: parsed job, memory fit and step time."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Annotated

from engine.catalog.models import MODELS
from engine.catalog.nodes import NODES
from engine.core.inputs import Choice, Number, Switch, Text
from engine.core.lazy import Lazy
from engine.core.outputs import Output, Presenter, Views
from engine.core.slices import SlicedRun, Slices
from engine.core.text import say
from engine.core.units import (
    BYTES,
    COUNT,
    RATIO,
    SECONDS,
    SHARE,
    TOKEN_RATE,
    Bytes,
    Count,
    Quantity,
    Ratio,
)
from engine.core.views import Axis, Bar, Bars, Challenge, Code, Condition, Receipt, Segment, Value
from engine.form.fields import OwnConstants
from engine.form.imported import exports, verdicts
from engine.form.imported.run_text import AS_SAID, parse_job_text
from engine.form.imported.samples import SAMPLES
from engine.form.imported.text_lines import lines_table
from engine.form.imported.verdicts import JobLinks, job_links
from engine.form.run import charts
from engine.form.run.result import RunEstimate, run_estimate
from engine.form.run.views import EQUATIONS as EQUATIONS
from engine.form.run.views import estimate_values
from engine.form.text_validation import text_check
from engine.run.importers.assemble import ImportedRun
from engine.run.run import Run
from engine.simulate.planner.plan_upgrades import PlanUpgrade, find_plan_upgrade
from engine.simulate.step.single_changes import SingleChange, best_changes, gpu_multiple_that_fits

_NOTHING = Receipt(
    basis="definition", assumptions=("No job could be put together from the text above.",)
)
_SPEEDS: Mapping[str, tuple[str, Quantity]] = {
    "step_time": ("Step", SECONDS),
    "mfu": ("MFU", SHARE),
    "token_rate": ("Per GPU", TOKEN_RATE),
}
_LINES: Mapping[str, tuple[str, Quantity]] = {
    "allocated": ("Allocated", BYTES),
    "reserved": ("Reserved", BYTES),
    "process": ("nvidia-smi", BYTES),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """Memory readings of three tools on the GPU that holds most."""

    allocated: Annotated[
        Bytes,
        Output(
            "Allocated",
            note="torch.cuda.max_memory_allocated",
            color="memory",
            assumes=("Tensors and workspaces of the rank that holds most at its peak.",),
        ),
    ]
    reserved: Annotated[
        Bytes,
        Output(
            "Reserved",
            note="torch.cuda.max_memory_reserved",
            color="memory",
            assumes=(
                "Beyond what is allocated: blocks of the caching allocator that fit nothing. "
                "Their share is fitted to torchtitan's published peaks.",
            ),
        ),
    ]
    process: Annotated[
        Bytes,
        Output(
            "nvidia-smi",
            note="reserved, the CUDA context, NCCL's buffers",
            color="memory",
            assumes=(
                "The context is measured, NCCL's buffers are fitted (BigScience 2022). Other "
                "software that uses the GPU comes on top.",
            ),
        ),
    ]


def speeds(estimated_job: RunEstimate | None) -> dict[str, Value]:
    """Return step, MFU and tokens per second."""
    if estimated_job is None:
        return _missing(_SPEEDS)
    numbers = estimate_values(estimated_job)
    return {name: _unlinked(numbers[name]) for name in _SPEEDS}


def _unlinked(value: Value) -> Value:
    """Return a value whose receipt highlights no input: all inputs come from the text."""
    return replace(value, receipt=replace(value.receipt, inputs={}))


def memory_lines(estimated_job: RunEstimate | None) -> dict[str, Value]:
    """Return the memory readings of the three tools."""
    if estimated_job is None:
        return _missing(_LINES)
    lines = Lines(**{name: estimated_job.estimate[f"memory_{name}"] for name in _LINES})
    return Presenter(lines).values(*_LINES)


def _missing(kinds: Mapping[str, tuple[str, Quantity]]) -> dict[str, Value]:
    return {
        name: Value(label=label, value=float("inf"), quantity=quantity, receipt=_NOTHING)
        for name, (label, quantity) in kinds.items()
    }


_LONGER: Ratio = 1.02  # than the published plan's, at most
_STAGES: Count = 2
_COMMAND = r"""torchrun --nproc_per_node=8 --nnodes 8 run_recipe.py \
  --recipe llama3_70b_pretrain_config \
  model.tensor_model_parallel_size={tensor} model.pipeline_model_parallel_size=2 \
  model.virtual_pipeline_model_parallel_size={pieces} \
  train.micro_batch_size={micro} train.global_batch_size=128 dataset.seq_length=8192 \
  mixed_precision=bf16_mixed comm_overlap.tp_comm_overlap={overlap}
"""
START = _COMMAND.format(tensor=2, pieces="null", micro=3, overlap="false")
_SOLUTION = _COMMAND.format(tensor=8, pieces=10, micro=1, overlap="true")


@cache
def sample() -> RunEstimate:
    """Return the estimate of the sample, which a publication ran."""
    run = parse_job_text(SAMPLES["bridge"].text).run
    if run is None:
        raise AssertionError("the sample describes a job")
    return run_estimate(run)


def challenge(estimated_job: RunEstimate | None, start: Lazy[RunEstimate]) -> Challenge:
    """Return the goal, and how far the reader's text is."""
    job, step = start().run, start().step_time
    run = estimated_job.run if estimated_job else None
    return Challenge(
        title="Mend a launch command",
        goal="A colleague's command for Llama 3 70B on 64 H100 does not start. Mend it, and keep "
        "to two pipeline stages: edit the text in its box.",
        conditions=(
            Condition(text="the text contradicts itself nowhere", met=run is not None),
            Condition(
                text="the job of the start: model, GPUs, batch, length, 16 bits",
                met=run is not None and _same_job(run, job),
            ),
            Condition(
                text=say("at most {n} pipeline stages", n=(_STAGES, COUNT)),
                met=run is not None and run.plan.pipeline_parallel <= _STAGES,
            ),
            Condition(
                text="it fits",
                met=estimated_job is not None and estimated_job.fit.verdict == "fits",
            ),
            Condition(
                text=say(
                    "a step of at most {t}, {r} of the published plan's four stages",
                    t=(_LONGER * step, SECONDS),
                    r=(_LONGER, RATIO),
                ),
                met=estimated_job is not None and estimated_job.step_time <= _LONGER * step,
            ),
        ),
        hints=(
            "128 sequences are divided among the data-parallel ranks, and each share is divided "
            "into micro-batches. Which of the two does not divide?",
            "What then does not fit is parameters and optimizer states: which axis divides them "
            "without a third stage?",
            "More tensor parallelism costs collectives in every layer. Which key hides them, and "
            "which one makes the bubble smaller?",
        ),
        start={"text": START},
        solution={"text": _SOLUTION},
    )


def _same_job(run: Run, job: Run) -> bool:
    training, other_training = run.training, job.training
    return (run.model, run.cluster.gpu, run.plan.world_size) == (
        job.model,
        job.cluster.gpu,
        job.plan.world_size,
    ) and (training.global_batch_size, training.sequence_length, training.precision) == (
        other_training.global_batch_size,
        other_training.sequence_length,
        other_training.precision,
    )


TITLE = "Bring your own configuration"
QUESTION = "What does my configuration mean, does it fit, and what would make it faster?"
HEADLINE = "step_time"
# On few GPUs the search for a better plan is short.
SMALL = {"text": SAMPLES["torchtitan-toml"].text}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    text: Annotated[
        str,
        Text(
            label="Your configuration",
            samples=SAMPLES,
            rows=12,
            placeholder="Paste a launch script, a log, a TOML, a JSON, a YAML: one or several",
            help="Several texts of one job go together, each below a line such as --- file ---.",
            check=text_check(parse_job_text),
        ),
    ] = SAMPLES["bridge"].text
    model: Annotated[
        str,
        Choice(
            label="Model, where the text names none",
            cites=False,
            options={AS_SAID: "the text names it"}
            | {key: model.name for key, model in MODELS.items()},
        ),
    ] = AS_SAID
    node: Annotated[
        str,
        Choice(
            label="Machines, where the text names none",
            options={key: node.name for key, node in NODES.items()},
        ),
    ] = "dgx-h100"
    gpus: Annotated[
        int,
        Number(
            label="GPUs, where the text names none",
            low=0,
            high=131_072,
            step=8,
            whole=True,
            help="0: as few as its degrees need.",
        ),
    ] = 0
    leave_out: Annotated[
        bool,
        Switch(
            label="Leave out what is not read",
            help="A text that no reader takes stops the answer until this is set.",
        ),
    ] = False
    own_constants: OwnConstants = ""
    export: Annotated[str, Choice(label="Export as", cites=False, options=exports.OPTIONS)] = (
        "megatron"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The parsed text, and the estimate if it describes a job.

    Attributes:
        read: of the text.
        estimate: the estimate.
        start: that of the sample, which a publication ran.
        best: the best single changes.
        more: with how many times the GPUs a job fits that does not; 0 otherwise.
        together: the plan that changes several settings, where one is worth naming.
        links: to calculators that take the job.
    """

    read: ImportedRun
    estimate: RunEstimate | None
    start: Lazy[RunEstimate]
    best: tuple[SingleChange, ...] = ()
    more: Count = 0
    together: SlicedRun[tuple[PlanUpgrade, ...]] | None = None
    links: JobLinks | None = None


def solve(inputs: Inputs) -> Result:
    """Return the parsed text and its estimate."""
    read = parse_job_text(
        inputs.text, inputs.model, inputs.node, inputs.gpus, inputs.own_constants, inputs.leave_out
    )
    if read.run is None:
        return Result(read=read, estimate=None, start=Lazy(sample))
    estimated_job = run_estimate(read.run)
    more = 0 if estimated_job.fit.runs else gpu_multiple_that_fits(read.run)
    best = best_changes(read.run)
    return Result(
        read=read,
        estimate=estimated_job,
        start=Lazy(sample),
        best=best,
        more=more,
        together=SlicedRun(_combined_change(read.run, best)),
        links=job_links(read.run),
    )


def _combined_change(run: Run, best: tuple[SingleChange, ...]) -> Slices[tuple[PlanUpgrade, ...]]:
    # Another precision is not a plan's to choose.
    singles = [change.step for change in best if change.setting != "precision"]
    combined = yield from find_plan_upgrade(run, min(singles, default=float("inf")))
    return (combined,) if combined else ()


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    read, estimated_job = result.read, result.estimate
    numbers = speeds(estimated_job)
    return {
        "step_time": numbers.pop("step_time"),
        "verdict": verdicts.verdict_badge(read, estimated_job),
        **numbers,
        **memory_lines(estimated_job),
        "binds": verdicts.bottleneck_badge(estimated_job),
        "changes": verdicts.changes_table(estimated_job, result.best, result.more),
        "plan": partial(verdicts.plan_table, estimated_job, result.together),
        "time_parts": partial(_time, result),
        "memory_parts": partial(_memory, result),
        "lines": partial(lines_table, inputs.text, read),
        "keys": partial(verdicts.keys_table, read),
        "places": verdicts.targets_table(result.links),
        "exported": Code(
            title=exports.OPTIONS[inputs.export],
            language=exports.language(inputs.export),
            text=exports.write_export(inputs.export, read, estimated_job),
        ),
        "challenge": partial(challenge, estimated_job, result.start),
    }


def _time(result: Result) -> Bars:
    return (
        charts.time_bars(result.estimate)
        if result.estimate
        else _empty_views("Where the step goes")
    )


def _memory(result: Result) -> Bars:
    if result.estimate is None:
        return _empty_views("Memory of the GPU that holds most")
    return charts.memory_bars(result.estimate)


def _empty_views(title: str) -> Bars:
    nothing = Segment(key="none", label="nothing", value=0.0, color="muted")
    return Bars(
        title=title,
        axis=Axis(label="no job yet", quantity=SHARE, low=0.0, high=1.0),
        bars=(Bar(key="none", label="no job yet", segments=(nothing,)),),
        caption="The text above contradicts itself, or leaves something out.",
    )
