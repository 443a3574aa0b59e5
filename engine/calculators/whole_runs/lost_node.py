"""Lost node: wait for its repair, hold a spare one, or go on with what is left."""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.core.inputs import Number, Unit
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text
from engine.core.units import HOUR, SECONDS, Count, Seconds, Share
from engine.core.views import Badge, Line, Lines, Point, Scale
from engine.form import short_job
from engine.form.adjusted_inputs import with_changes
from engine.form.fields import OwnConstants
from engine.form.memory_fit import fit_badge, with_fit
from engine.form.run.prediction_text import value_with_range
from engine.run.problems import problems
from engine.run.run import Run
from engine.simulate.memory.allocator import MemoryFit
from engine.simulate.step.prediction_evidence import Evidence, evidence
from engine.simulate.step.what_if import run_fit, run_step_time

TITLE = "A node is gone"
QUESTION = "Wait for it, hold a spare one, or go on with what is left?"
HEADLINE = "lost_on"
PRESETS = {
    "8B, sharded over 256 GPUs": {
        "model": "llama-3-8b",
        "world_size": 256,
        "tensor_parallel": 1,
        "zero_stage": "3",
        "framework": "fsdp",
        "global_batch_size": 1024,
    },
    "405B in replicas of 128 GPUs": {
        "model": "llama-3-405b",
        "world_size": 2048,
        "tensor_parallel": 8,
        "pipeline_parallel": 16,
        "global_batch_size": 2048,
    },
    "A repair of two days": {"repair": 48 * HOUR},
}
_TIME = Unit(" h", HOUR, {"s": 1.0, "min": 60.0, "d": 86_400.0}, quantity=SECONDS)
_ASSUMES = (
    "Counted in time of all GPUs at full speed: what the run is behind when the node is back.",
    "Whoever goes on restarts twice, without the node and with it. All else restarts once. What is "
    "lost since the last checkpoint comes on top, for each of the choices.",
)
_GRID: Count = 41
_SHORTEST: Seconds = 60.0
_LONGEST: Seconds = 14 * 24 * HOUR


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    repair: Annotated[
        float,
        Number(
            label="Until the node is back",
            unit=_TIME,
            low=_SHORTEST,
            high=_LONGEST,
            scale="log",
            symbol="T",
        ),
    ] = 6 * HOUR
    restart: Annotated[
        float,
        Number(
            label="A restart takes", unit=_TIME, low=10.0, high=4 * HOUR, scale="log", symbol="R"
        ),
    ] = 15 * 60.0
    world_size: short_job.WorldSize = 512
    model: short_job.ModelName = "llama-3-70b"
    tensor_parallel: short_job.TensorParallel = 8
    pipeline_parallel: short_job.PipelineParallel = 1
    context_parallel: short_job.ContextParallel = 1
    expert_parallel: short_job.ExpertParallel = 1
    zero_stage: short_job.ZeroStage = "1"
    micro_batch_size: short_job.MicroBatch = 1
    global_batch_size: short_job.GlobalBatch = 1024
    sequence_length: short_job.SequenceLength = 4096
    gpu: short_job.GpuName = "H100-SXM"
    precision: short_job.PrecisionName = "bf16"
    recompute: short_job.RecomputeName = "selective"
    framework: short_job.FrameworkName = "megatron"
    own_constants: OwnConstants = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The run before and after the loss, and what each choice costs."""

    run: Run
    evidence: Evidence
    fewer: Run | None
    fewer_evidence: Evidence
    fit: MemoryFit
    problems: tuple[str, ...]
    changes: tuple[Text, ...]
    step: Annotated[Seconds, Output("Step before", color="compute")]
    left: Annotated[
        Count,
        Output(
            "GPUs that go on",
            note="a replica has {replica} GPUs",
            assumes=("A replica that lacks one GPU cannot compute; all of its GPUs stand idle.",),
        ),
    ]
    fewer_step: Annotated[
        Seconds,
        Output(
            "Step on them",
            note="the same batch: {each} sequences per replica where there were {before}",
            color="compute",
            assumes=(
                "The estimate of the job with a whole number of micro-batches for each replica.",
            ),
        ),
    ]
    slowdown: Annotated[Share, Output("Speed that is lost", assumes=("The same global batch.",))]
    lost_wait: Annotated[
        Seconds, Output("Behind, if it waits", color="bad", symbol="W", assumes=_ASSUMES)
    ]
    lost_on: Annotated[
        Seconds,
        Output("Behind, if it goes on", color="communication", symbol="C", assumes=_ASSUMES),
    ]
    lost_spare: Annotated[
        Seconds, Output("Behind, with a spare node", color="memory", assumes=_ASSUMES)
    ]
    spare_pays: Annotated[
        Seconds,
        Output(
            "One spare node pays if nodes fail every",
            note="or more often, on the whole job",
            color="memory",
            assumes=(
                "The spare node's GPU time between two failures against the GPU time that all "
                "others lose without it, by the better of the two other choices.",
            ),
        ),
    ]
    replica: Count
    each: Count
    before: Count


def after_the_loss(run: Run) -> tuple[Run, tuple[str, ...]]:
    """Return the run on what is left when a node is gone, with the same batch, and its problems.

    The global batch is rounded up to whole micro-batches of every replica.
    """
    plan, training = run.plan, run.training
    replica = plan.world_size // plan.data_parallel
    lost = replica * math.ceil(run.cluster.gpus_per_node / replica)
    left = plan.world_size - lost
    if left <= 0:
        return run, ("No replica is left.",)
    replicas = left // replica
    micro = training.micro_batch_size
    each = micro * math.ceil(training.global_batch_size / replicas / micro)
    fewer = replace(
        run,
        plan=replace(plan, world_size=left),
        training=replace(training, global_batch_size=each * replicas),
    )
    return fewer, tuple(problems(fewer.model, fewer.cluster, fewer.plan, fewer.training))


def behind(repair: Seconds, restart: Seconds, slowdown: Share) -> tuple[Seconds, Seconds, Seconds]:
    """Return the delay of a run when the node is back: waiting, going on, with a spare node.

    Waiting: T + R. Going on: R, then T - R at a speed of 1 - x, and R again with the node.
    """
    going = restart + max(0.0, repair - restart) * slowdown + restart
    return repair + restart, going, restart


def solve(inputs: Inputs) -> Result:
    """Return the cost of each choice."""
    run, changes = short_job.job_run_and_changes(inputs)
    plan = run.plan
    fewer, notes = after_the_loss(run)
    step = run_step_time(run).total
    after = step if notes else run_step_time(fewer).total
    slowdown = 1.0 if notes else max(0.0, 1 - step / after)
    lost = behind(inputs.repair, inputs.restart, slowdown)
    saved: Seconds = min(lost[0], math.inf if notes else lost[1]) - lost[2]
    replicas = fewer.plan.data_parallel
    return Result(
        run=run,
        evidence=evidence(run),
        fewer=None if notes else fewer,
        fewer_evidence=evidence(run if notes else fewer),
        fit=run_fit(run if notes else fewer),
        problems=notes,
        changes=changes,
        step=step,
        left=0 if notes else fewer.plan.world_size,
        fewer_step=0.0 if notes else after,
        slowdown=slowdown,
        lost_wait=lost[0],
        lost_on=lost[0] if notes else lost[1],
        lost_spare=lost[2],
        spare_pays=saved * plan.world_size / run.cluster.gpus_per_node,
        replica=plan.world_size // plan.data_parallel,
        each=fewer.training.global_batch_size // replicas,
        before=run.training.global_batch_size // plan.data_parallel,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result)
    return {
        "verdict": with_changes(_verdict(present, inputs, result), result.changes),
        "curve": partial(_curve, present, inputs, result),
        "step": value_with_range(present, "step", result.evidence),
        **present.values("left"),
        "fewer_step": value_with_range(present, "fewer_step", result.fewer_evidence),
        **present.values("slowdown", "lost_wait", "lost_on", "lost_spare", "spare_pays"),
    }


def _verdict(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    if result.fewer is None:
        return Badge(
            text="It has to wait",
            sentence="Nothing runs on what is left. " + " ".join(result.problems),
            color="bad",
        )
    if result.fit.verdict == "does not fit":
        return fit_badge(result.fit, "On what is left, the rank that holds most")
    if result.lost_on >= result.lost_wait:
        return Badge(
            text="Wait",
            sentence=present.say(
                "The node is back before a restart is worth it: {lost_wait} behind, against "
                "{lost_on}."
            ),
            color="data",
        )
    badge = Badge(
        text="Go on with what is left",
        sentence=present.say(
            "{left} GPUs with the same batch lose {slowdown} of the speed: {lost_on} behind when "
            "the node is back, against {lost_wait} if all of them wait."
        ),
        color="communication",
    )
    return with_fit(badge, result.fit)


def _curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    low, high = _SHORTEST, _LONGEST
    grid = [low * (high / low) ** (index / (_GRID - 1)) for index in range(_GRID)]
    lost = [behind(repair, inputs.restart, result.slowdown) for repair in grid]
    names = (
        ("wait", "waiting", "bad"),
        ("on", "going on", "communication"),
        ("spare", "a spare node", "memory"),
    )
    least, most = min(map(min, lost)), max(map(max, lost))
    return present.curve(
        "Behind when the node is back",
        over=Scale(SECONDS, "until the node is back", low, high, log=True),
        shows=Scale(SECONDS, "time at full speed", least / 2, 1.5 * most, log=True),
        x=grid,
        lines=[
            Line(key, label, [each[index] for each in lost], color)
            for index, (key, label, color) in enumerate(names)
            if key != "on" or result.fewer
        ],
        handle="repair",
        marked=False,
        points=(Point(key="you", label="you", x=inputs.repair, y=result.lost_on),),
    )
