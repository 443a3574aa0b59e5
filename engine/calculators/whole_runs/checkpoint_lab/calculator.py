"""Checkpoint lab: what a checkpoint of my job weighs, how long it takes, how often it pays."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.basis.told import Teller, Told, Views
from engine.basis.units import Bandwidth, Bytes, Parameters, Seconds, Share, TokenRate
from engine.calculators.whole_runs.checkpoint_lab import charts
from engine.calculators.whole_runs.checkpoint_lab.inputs import PRESETS as PRESETS
from engine.calculators.whole_runs.checkpoint_lab.inputs import Inputs as Inputs
from engine.form.short_job import job_run
from engine.formulas.checkpoint import CHECKPOINT_BYTES, TOKEN_BYTES, WRITE_TIME, token_bytes_rate
from engine.formulas.goodput import DALY_INTERVAL, JOB_MTBF, YOUNG_INTERVAL, job_mtbf
from engine.formulas.parameters import total_parameters
from engine.run.run import Run
from engine.simulate.levers import run_fits
from engine.simulate.saved_run import Pace, Saved, Storage, pace, saved, token_rate

TITLE = "Checkpoint lab"
QUESTION = "What does saving my job cost, and how often should I?"
EQUATIONS = (
    CHECKPOINT_BYTES,
    WRITE_TIME,
    TOKEN_BYTES,
    JOB_MTBF,
    YOUNG_INTERVAL,
    DALY_INTERVAL,
)
# Token numbers of a vocabulary beyond 65,536.
TOKEN: Bytes = 4.0
_POISSON = "Failures strike at random and independently, at a constant rate."


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A checkpoint of the job, and the pace of saving it."""

    run: Run
    saved: Saved
    now: Pace
    waits: Pace
    behind: Pace
    fits: bool
    whole: Annotated[
        Bytes,
        Told(
            "A checkpoint",
            "C",
            "{per_parameter} for each parameter",
            "optimizer",
            assumes=("Gradients and activations are made anew; the data loader's place is small.",),
        ),
    ]
    per_gpu: Annotated[
        Bytes,
        Told(
            "Of that, one GPU writes",
            note="{writers} GPUs write",
            color="optimizer",
            assumes=("Evenly over all GPUs where states are sharded, else over one replica's.",),
            sources=("bytecheckpoint2024",),
        ),
    ]
    host: Annotated[
        Bytes,
        Told(
            "Held in a host's memory",
            note="while it is written behind the steps",
            color="buffers",
            assumes=("One copy of what the node writes, in pinned memory.",),
            sources=("bytecheckpoint2024",),
        ),
    ]
    write: Annotated[Seconds, Told("Written after", "Tw", "all nodes at once", "memory")]
    rank_0: Annotated[
        Seconds,
        Told(
            "Written by one node",
            note="if rank 0 gathered all of it",
            color="memory",
            assumes=("The rate of one node to the storage; gathering is left out.",),
            sources=("bytecheckpoint2024",),
        ),
    ]
    stall: Annotated[
        Seconds,
        Told(
            "Steps wait",
            note="for each checkpoint",
            color="bad",
            assumes=(
                "In the background: for the copy to the host over PCIe at its line rate. Otherwise "
                "until all is written.",
            ),
            sources=("bytecheckpoint2024",),
        ),
    ]
    mtbf: Annotated[
        Seconds, Told("Something fails every", "M", "in the whole job", assumes=(_POISSON,))
    ]
    young: Annotated[Seconds, Told("Save every (Young)", "t", "first order", assumes=(_POISSON,))]
    daly: Annotated[
        Seconds,
        Told(
            "Save every",
            note="by Daly, but not before the last one is written",
            assumes=(_POISSON,),
            sources=("daly2006",),
        ),
    ]
    goodput: Annotated[
        Share,
        Told(
            "Goodput",
            note="{best} with the best interval",
            color="compute",
            assumes=(
                _POISSON,
                "A failure loses the steps since the last checkpoint that was written whole.",
            ),
            sources=("daly2006",),
        ),
    ]
    tokens: Annotated[
        TokenRate,
        Told(
            "Tokens of all GPUs",
            note="in a second",
            assumes=("From the step time that the planner computes.",),
            sources=("narayanan2021",),
        ),
    ]
    reading: Annotated[
        Bandwidth, Told("Read of tokens", "B", "by all GPUs together, 4 bytes each", "memory")
    ]
    best: Share
    size: Annotated[Parameters, Told(symbol="P", of="model")]
    weight: Annotated[Bytes, Told(symbol="w")]
    optimizer: Annotated[Bytes, Told(symbol="o")]
    per_parameter: Bytes
    largest: Annotated[Bytes, Told(symbol="c")]
    writers: int
    curve: tuple[tuple[Pace, Pace], ...]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    run = job_run(inputs)
    storage = Storage(rate=inputs.storage, node=inputs.node, host=run.cluster.gpu.pcie)
    one = saved(run, storage, optimizer=inputs.optimizer == "yes")
    mtbf = job_mtbf(inputs.gpu_mtbf, run.plan.world_size)

    def at(interval: Seconds, background: bool) -> Pace:
        return pace(one, interval, inputs.restart, mtbf, background=background)

    now = at(inputs.interval, inputs.background)
    tokens = token_rate(run)
    return Result(
        run=run,
        saved=one,
        now=now,
        waits=at(inputs.interval, False),
        behind=at(inputs.interval, True),
        fits=run_fits(run),
        whole=one.whole,
        per_gpu=one.per_gpu,
        host=one.per_node if inputs.background else 0.0,
        write=one.write,
        rank_0=one.rank_0,
        stall=now.stall,
        mtbf=mtbf,
        young=now.young,
        daly=now.daly,
        goodput=now.goodput,
        tokens=tokens,
        reading=token_bytes_rate(tokens, TOKEN),
        best=now.best,
        size=total_parameters(run.model),
        weight=one.weight,
        optimizer=one.optimizer,
        per_parameter=one.weight + one.optimizer,
        largest=one.per_node,
        writers=one.writers,
        curve=tuple((at(t, False), at(t, True)) for t in charts.INTERVALS),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        **tell.values("goodput"),
        "verdict": charts.verdict(tell, inputs, result.fits, result.saved, result.now),
        "curve": partial(charts.curve, inputs, result.now, result.curve),
        **tell.values("whole", "per_gpu", "host"),
        "write": tell.value("write", symbols={"S": "storage", "B": "node"}),
        **tell.values("rank_0", "stall", "mtbf"),
        "young": tell.value("young", equation=YOUNG_INTERVAL, symbols={"d": "stall"}),
        **tell.values("daly", "tokens"),
        "reading": tell.value("reading", symbols={"r": "tokens", "b": (TOKEN, charts.BYTES)}),
        "parts": partial(charts.parts, result.saved, result.size),
        "published": charts.published(tell, inputs),
        "challenge": charts.challenge(inputs, result.goodput, result.fits),
    }
