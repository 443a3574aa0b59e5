"""Checkpoint lab: size, time and best interval of a job's checkpoints."""

from collections.abc import Mapping
from functools import partial

from engine.calculators.whole_runs.checkpoint_lab.result import (
    BLOOM,
    LLAMA_3,
    TOKEN,
    Inputs,
    Result,
)
from engine.calculators.whole_runs.checkpoint_lab.result import PRESETS as PRESETS
from engine.core.inputs import Scalar
from engine.core.numbers import format_significant
from engine.core.outputs import Presenter, Views
from engine.core.text import Sentence, say
from engine.core.units import (
    BYTES,
    DAY,
    GB,
    SECONDS,
    SHARE,
    Bytes,
    GiB,
    Seconds,
    Share,
    TiB,
    with_digits,
)
from engine.core.views import (
    Axis,
    Badge,
    Bar,
    Bars,
    Challenge,
    Citation,
    Condition,
    Line,
    Lines,
    Point,
    Rule,
    Scale,
    Segment,
    Table,
)
from engine.form.adjusted_inputs import with_changes
from engine.form.run.prediction_text import value_with_range
from engine.form.saving_inputs import LLAMA3_MTBF
from engine.form.short_job import job_run, job_run_and_changes
from engine.formulas.checkpoint import CHECKPOINT_BYTES, TOKEN_BYTES, WRITE_TIME, token_bytes_rate
from engine.formulas.goodput import DALY_INTERVAL, JOB_MTBF, YOUNG_INTERVAL, job_mtbf
from engine.formulas.parameters import total_parameters
from engine.simulate.job.saved_run import (
    Checkpoint,
    CheckpointCost,
    CheckpointStorage,
    checkpoint_cost,
    run_checkpoint,
    run_token_rate,
)
from engine.simulate.step.prediction_evidence import evidence
from engine.simulate.step.what_if import run_fit

TITLE = "Checkpoint lab"
QUESTION = "What does saving my job cost, and how often should I?"
HEADLINE = "goodput"
EQUATIONS = (
    CHECKPOINT_BYTES,
    WRITE_TIME,
    TOKEN_BYTES,
    JOB_MTBF,
    YOUNG_INTERVAL,
    DALY_INTERVAL,
)


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    run, changes = job_run_and_changes(inputs)
    checkpoint = _saved_checkpoint(inputs)
    mtbf = job_mtbf(inputs.gpu_mtbf, run.plan.world_size)

    def at(interval: Seconds, background: bool) -> CheckpointCost:
        return checkpoint_cost(checkpoint, interval, inputs.restart, mtbf, background=background)

    now = at(inputs.interval, inputs.background)
    tokens = run_token_rate(run)
    return Result(
        evidence=evidence(run),
        changes=changes,
        saved=checkpoint,
        bloom=_saved_checkpoint(Inputs(**PRESETS[BLOOM])),  # type: ignore[arg-type]
        llama=_saved_checkpoint(Inputs(**PRESETS[LLAMA_3])),  # type: ignore[arg-type]
        now=now,
        fit=run_fit(run),
        whole=checkpoint.whole,
        per_gpu=checkpoint.per_gpu,
        host=checkpoint.per_node if inputs.background else 0.0,
        write=checkpoint.write,
        rank_0=checkpoint.rank_0,
        stall=now.stall,
        mtbf=mtbf,
        young=now.young,
        daly=now.daly,
        goodput=now.goodput,
        tokens=tokens,
        reading=token_bytes_rate(tokens, TOKEN),
        best=now.best,
        size=total_parameters(run.model),
        weight=checkpoint.weight,
        optimizer=checkpoint.optimizer,
        per_parameter=checkpoint.weight + checkpoint.optimizer,
        gpus=run.plan.world_size,
        largest=checkpoint.per_node,
        writers=checkpoint.writers,
        node=inputs.node,
        curve=tuple((at(t, False).goodput, at(t, True).goodput) for t in INTERVALS),
    )


def _saved_checkpoint(inputs: Inputs) -> Checkpoint:
    run = job_run(inputs)
    storage = CheckpointStorage(rate=inputs.storage, node=inputs.node, host=run.cluster.gpu.pcie)
    return run_checkpoint(run, storage, optimizer=inputs.optimizer == "yes")


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        **present.values("goodput"),
        "verdict": verdict(present, inputs, result),
        "curve": partial(curve, present, inputs, result),
        **present.values("whole", "per_parameter", "per_gpu", "host"),
        "write": present.value(
            "write", note=binding(result), symbols={"S": "storage", "B": "node"}
        ),
        **present.values("rank_0", "stall", "mtbf"),
        "young": present.value("young", equation=YOUNG_INTERVAL, symbols={"d": "stall"}),
        **present.values("daly", "best"),
        "tokens": value_with_range(present, "tokens", result.evidence, assumes=(STEP,)),
        "reading": present.value("reading", symbols={"r": "tokens", "b": (TOKEN, BYTES)}),
        "parts": partial(parts, result),
        "published": partial(published, present, result),
        "challenge": challenge(inputs, result.goodput, result.fit.verdict == "fits"),
    }


# Charts of the checkpoint lab: lost time by interval, contents, published runs.

STEP = "From the step that the planner predicts."
_LEAST: Seconds = 30.0
INTERVALS = tuple(_LEAST * (DAY / _LEAST) ** (i / 40) for i in range(41))
_FLOOR: Share = 1e-4
# Goodput this near to the best is as good as the best.
_NEAR: Share = 0.002


def verdict(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    """Return the cost of saving at the chosen interval, and changes made to the plan."""
    return with_changes(_verdict(present, inputs, result), result.changes)


def _verdict(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    if not result.fit.runs:
        return Badge(
            text="Does not fit",
            sentence="A GPU cannot hold its part of this job. There is nothing to save.",
            color="bad",
        )
    if inputs.optimizer == "no":
        return Badge(
            text="Not enough to go on",
            sentence=present.say(
                "A checkpoint of weights alone takes {whole}. Training that goes on from it has "
                "lost Adam's moments."
            ),
            color="bad",
        )
    if inputs.background and result.saved.write > inputs.interval:
        return Badge(
            text="Storage too slow",
            sentence=present.say(
                "A checkpoint is written after {write}, later than the next one is due. So the "
                "next one waits."
            ),
            color="bad",
        )
    return _interval(present, inputs, result)


def _interval(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    often = inputs.interval < result.daly
    if result.best - result.goodput < _NEAR:
        text, color = "Near the best interval", "compute"
    else:
        text, color = ("Too often" if often else "Too rarely"), "communication"
    sentence = (
        "Steps wait {stall} for each checkpoint. The best interval is {daly}, with a goodput "
    )
    return Badge(text=text, sentence=present.say(sentence + "of {best}."), color=color)


def binding(result: Result) -> str:
    """Return the bottleneck of writing."""
    shared = result.saved.write > result.saved.per_node / result.node
    return "the storage sets the pace" if shared else "the ports of a node set the pace"


def curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the time lost by interval, for both ways of writing."""
    now = result.now
    waits, behind = ([_lost_share(pair[at]) for pair in result.curve] for at in (0, 1))
    daly = Rule(key="daly", label="best", axis="x", at=now.daly)
    return present.curve(
        "Time lost, by the work between two checkpoints",
        over=Scale(SECONDS, "work between checkpoints", _LEAST, DAY, log=True),
        shows=Scale(SHARE, "of the time is lost", _FLOOR, 1.0, log=True),
        x=INTERVALS,
        lines=(
            Line("waits", "steps wait for the write", waits, "memory", dashed=True),
            Line("behind", "written in the background", behind, "compute"),
        ),
        handle="interval",
        marked=False,
        points=(Point(key="you", label="you", x=inputs.interval, y=_lost_share(now.goodput)),),
        rules=(daly,) if _LEAST <= now.daly <= DAY else (),
        caption="Lost: steps that wait, work done again, restarts.",
    )


def _lost_share(goodput: Share) -> Share:
    return max(_FLOOR, 1.0 - goodput)


def parts(result: Result) -> Bars:
    """Return the contents of a checkpoint, compared with the weights alone."""
    checkpoint, size = result.saved, result.size
    return Bars(
        title="What is in a checkpoint",
        axis=Axis(
            label="bytes",
            quantity=BYTES,
            low=0.0,
            high=1.05 * size * max(14.0, checkpoint.weight + checkpoint.optimizer),
        ),
        bars=(
            Bar(
                key="saved",
                label="your checkpoint",
                segments=(
                    Segment(
                        key="weights",
                        label="weights",
                        value=size * checkpoint.weight,
                        color="parameters",
                    ),
                    Segment(
                        key="optimizer",
                        label="optimizer",
                        value=size * checkpoint.optimizer,
                        color="optimizer",
                    ),
                ),
            ),
            Bar(
                key="weights",
                label="weights in bf16 alone",
                segments=(
                    Segment(key="weights", label="weights", value=2.0 * size, color="parameters"),
                ),
            ),
        ),
    )


def published(present: Presenter, result: Result) -> Table:
    """Return published and computed figures of two runs."""
    bloom, llama = result.bloom, result.llama
    weights = bloom.whole * 2.0 / (bloom.weight + bloom.optimizer)
    return Table(
        title="Published and computed",
        columns=("Of", "Published", "Computed", "Source"),
        rows=(
            (
                "BLOOM 176B: a checkpoint",
                "2.3 TB",
                _both_units(bloom.whole),
                Citation(("bigscience_readme",)),
            ),
            (
                "Its weights in bf16",
                "329 GB",
                _both_units(weights),
                Citation(("bigscience_readme",)),
            ),
            (
                "Its steps wait",
                "40 s",
                say("{t} at 300 GB/s", t=(bloom.write, SECONDS)),
                Citation(("bigscience_chronicles",)),
            ),
            (
                "Llama 3 405B: one GPU writes",
                "1 MB to 4 GB",
                say("{b} on average", b=(llama.per_gpu, BYTES)),
                Citation(("dubey2024",)),
            ),
            (
                "All of it is written",
                "2 TB/s sustained",
                say("{t} at 2 TB/s", t=(llama.write, SECONDS)),
                Citation(("dubey2024",)),
            ),
        ),
        caption="These rows do not change with your job. GiB and TiB are binary units.",
    )


def _both_units(size: Bytes) -> Sentence:
    unit, name = (TiB, "TiB") if size >= TiB else (GiB, "GiB")
    return say("{b}, or " + f"{format_significant(size / unit)} {name}", b=(size, BYTES))


# The challenge of the checkpoint lab: a job that saves on a slow file system.

_GOAL: Share = 0.99
_RESTART: Seconds = 600.0
_START: Mapping[str, Scalar] = {
    "model": "llama-3-70b",
    "world_size": 1024,
    "global_batch_size": 1024,
    "storage": 10 * GB,
    "background": False,
}


def challenge(inputs: Inputs, goodput: Share, fits: bool) -> Challenge:
    """Return the challenge."""
    as_found = inputs.gpu_mtbf == LLAMA3_MTBF and inputs.restart >= _RESTART
    return Challenge(
        title="A cheap file system",
        goal=say(
            "Llama 3 70B on 1,024 GPUs keeps {share} of its time with a storage of 10 GB/s.",
            share=(_GOAL, with_digits(SHARE)),
        ),
        conditions=(
            Condition(text="Llama 3 70B", met=inputs.model == "llama-3-70b"),
            Condition(text="1,024 GPUs", met=inputs.world_size == 1024),
            Condition(text="storage of at most 10 GB/s", met=inputs.storage <= 10 * GB),
            Condition(
                text="GPUs that fail as Llama 3's did, a restart of 10 min or more", met=as_found
            ),
            Condition(text="weights and optimizer are saved", met=inputs.optimizer == "yes"),
            Condition(text="it fits", met=fits),
            Condition(text=say("{g} goodput", g=(_GOAL, with_digits(SHARE))), met=goodput >= _GOAL),
        ),
        hints=(
            "What do the steps wait for if the write runs behind them?",
            "A second checkpoint cannot begin before the one before it is written.",
            "Drag the interval toward the rule in the chart.",
        ),
        start=_START,
        solution={**_START, "background": True, "interval": 600.0},
    )
