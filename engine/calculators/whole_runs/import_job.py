"""Bring your own configuration: what a text says, whether the job fits, how long a step takes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Annotated

from engine.catalog.models import MODELS
from engine.catalog.nodes import NODES
from engine.core.inputs import Choice, Number, Text
from engine.core.lazy import Later
from engine.core.outputs import Teller, Told, Views
from engine.core.slices import Running, Slices
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
from engine.form.imported.job_targets import Links, links_of
from engine.form.imported.run_text import AS_SAID, read_text
from engine.form.imported.samples import SAMPLES
from engine.form.run import charts
from engine.form.run.result import Estimated, estimated
from engine.form.run.views import EQUATIONS as EQUATIONS
from engine.form.run.views import values
from engine.form.text_validation import checked_by
from engine.run.importers.assemble import Imported
from engine.run.run import Run
from engine.simulate.planner.plan_upgrades import WholeChange, whole_change
from engine.simulate.step.single_changes import SingleChange, best_changes, enough_gpus

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
    """The memory of the fullest GPU as three tools show it."""

    allocated: Annotated[
        Bytes,
        Told(
            "Allocated",
            note="torch.cuda.max_memory_allocated",
            color="memory",
            assumes=("Tensors and workspaces of the fullest rank at its peak.",),
        ),
    ]
    reserved: Annotated[
        Bytes,
        Told(
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
        Told(
            "nvidia-smi",
            note="reserved, the CUDA context, NCCL's buffers",
            color="memory",
            assumes=(
                "The context is measured, NCCL's buffers are fitted (BigScience 2022). Other "
                "software that uses the GPU comes on top.",
            ),
        ),
    ]


def speeds(found: Estimated | None) -> dict[str, Value]:
    """Return step, MFU and tokens per second."""
    if found is None:
        return _missing(_SPEEDS)
    numbers = values(found)
    return {name: _unlinked(numbers[name]) for name in _SPEEDS}


def _unlinked(value: Value) -> Value:
    """Return a value whose receipt lights up no input: here they all come from one text."""
    return replace(value, receipt=replace(value.receipt, inputs={}))


def memory_lines(found: Estimated | None) -> dict[str, Value]:
    """Return what the three tools show."""
    if found is None:
        return _missing(_LINES)
    lines = Lines(**{name: found.estimate[f"memory_{name}"] for name in _LINES})
    return Teller(lines).values(*_LINES)


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
def sample() -> Estimated:
    """Return the estimate of the sample, which a publication ran."""
    run = read_text(SAMPLES["bridge"].text).run
    if run is None:
        raise AssertionError("the sample describes a job")
    return estimated(run)


def challenge(found: Estimated | None, start: Later[Estimated]) -> Challenge:
    """Return the goal, and how far the reader's text is."""
    job, step = start().run, start().step_time
    run = found.run if found else None
    return Challenge(
        title="Mend a launch command",
        goal="A colleague's command for Llama 3 70B on 64 H100 does not start. Mend it, and keep "
        "to two pipeline stages: edit the text in its box.",
        conditions=(
            Condition(text="the text contradicts itself nowhere", met=run is not None),
            Condition(
                text="the job of the start: model, GPUs, batch, length, 16 bits",
                met=run is not None and _same(run, job),
            ),
            Condition(
                text=say("at most {n} pipeline stages", n=(_STAGES, COUNT)),
                met=run is not None and run.plan.pipeline_parallel <= _STAGES,
            ),
            Condition(text="it fits", met=found is not None and found.fits),
            Condition(
                text=say(
                    "a step of at most {t}, {r} of the published plan's four stages",
                    t=(_LONGER * step, SECONDS),
                    r=(_LONGER, RATIO),
                ),
                met=found is not None and found.step_time <= _LONGER * step,
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


def _same(run: Run, job: Run) -> bool:
    one, other = run.training, job.training
    return (run.model, run.cluster.gpu, run.plan.world_size) == (
        job.model,
        job.cluster.gpu,
        job.plan.world_size,
    ) and (one.global_batch_size, one.sequence_length, one.precision) == (
        other.global_batch_size,
        other.sequence_length,
        other.precision,
    )


TITLE = "Bring your own configuration"
QUESTION = "What does my configuration mean, does it fit, and what would make it faster?"
# On few GPUs the search for a better plan is short.
SMALL = {"text": SAMPLES["torchtitan-toml"].text}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    text: Annotated[
        str,
        Text(
            label="Your configuration",
            samples=SAMPLES,
            rows=12,
            placeholder="Paste a launch script, a log, a TOML, a JSON, a YAML: one or several",
            help="Several texts of one job go together, each below a line such as --- file ---.",
            check=checked_by(read_text),
        ),
    ] = SAMPLES["bridge"].text
    model: Annotated[
        str,
        Choice(
            label="Model, where the text names none",
            cites=False,
            options={AS_SAID: "the text names it"} | {key: one.name for key, one in MODELS.items()},
        ),
    ] = AS_SAID
    node: Annotated[
        str,
        Choice(
            label="Machines, where the text names none",
            options={key: one.name for key, one in NODES.items()},
        ),
    ] = "dgx-h100"
    gpus: Annotated[
        int,
        Number(
            label="GPUs",
            low=0,
            high=131_072,
            step=8,
            whole=True,
            help="0: as the text says, or as few as its degrees need.",
        ),
    ] = 0
    own_constants: OwnConstants = ""
    export: Annotated[str, Choice(label="Export as", cites=False, options=exports.OPTIONS)] = (
        "megatron"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What was read, and the answer if it gives a job.

    Attributes:
        read: of the text.
        found: the estimate.
        start: that of the sample, which a publication ran.
        best: the best single changes.
        more: with how many times the GPUs a job fits that does not; 0 otherwise.
        together: the plan that changes several settings, where one is worth naming.
        links: to calculators that take the job.
    """

    read: Imported
    found: Estimated | None
    start: Later[Estimated]
    best: tuple[SingleChange, ...] = ()
    more: Count = 0
    together: Running[tuple[WholeChange, ...]] | None = None
    links: Links | None = None


def solve(inputs: Inputs) -> Result:
    """Return what the text says and what follows."""
    read = read_text(inputs.text, inputs.model, inputs.node, inputs.gpus, inputs.own_constants)
    if read.run is None:
        return Result(read=read, found=None, start=Later(sample))
    found = estimated(read.run)
    more = 0 if found.fits else enough_gpus(read.run)
    best = best_changes(read.run)
    return Result(
        read=read,
        found=found,
        start=Later(sample),
        best=best,
        more=more,
        together=Running(_together(read.run, best)),
        links=links_of(read.run),
    )


def _together(run: Run, best: tuple[SingleChange, ...]) -> Slices[tuple[WholeChange, ...]]:
    # Another precision is not a plan's to choose.
    singles = [one.step for one in best if one.setting != "precision"]
    found = yield from whole_change(run, min(singles, default=float("inf")))
    return (found,) if found else ()


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    read, found = result.read, result.found
    numbers = speeds(found)
    return {
        "step_time": numbers.pop("step_time"),
        "verdict": verdicts.verdict(read, found),
        **numbers,
        **memory_lines(found),
        "binds": verdicts.binds(found),
        "changes": verdicts.changes(found, result.best, result.more),
        "plan": partial(verdicts.whole_plan, found, result.together),
        "time_parts": partial(_time, result),
        "memory_parts": partial(_memory, result),
        "keys": partial(verdicts.keys, read),
        "places": verdicts.places(result.links),
        "exported": Code(
            title=exports.OPTIONS[inputs.export],
            language=exports.language(inputs.export),
            text=exports.exported(inputs.export, read, found),
        ),
        "challenge": partial(challenge, found, result.start),
    }


def _time(result: Result) -> Bars:
    return charts.time_parts(result.found) if result.found else _nothing("Where the step goes")


def _memory(result: Result) -> Bars:
    if result.found is None:
        return _nothing("What the fullest GPU holds")
    return charts.memory_parts(result.found)


def _nothing(title: str) -> Bars:
    nothing = Segment(key="none", label="nothing", value=0.0, color="muted")
    return Bars(
        title=title,
        axis=Axis(label="no job yet", quantity=SHARE, low=0.0, high=1.0),
        bars=(Bar(key="none", label="no job yet", segments=(nothing,)),),
        caption="The text above contradicts itself, or leaves something out.",
    )
