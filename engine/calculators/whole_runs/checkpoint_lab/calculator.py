"""Checkpoint lab: what a checkpoint of my job weighs, how long it takes, how often it pays."""

from functools import partial

from engine.calculators.whole_runs.checkpoint_lab import charts
from engine.calculators.whole_runs.checkpoint_lab.challenge import challenge
from engine.calculators.whole_runs.checkpoint_lab.inputs import BLOOM, LLAMA_3
from engine.calculators.whole_runs.checkpoint_lab.inputs import PRESETS as PRESETS
from engine.calculators.whole_runs.checkpoint_lab.inputs import Inputs as Inputs
from engine.calculators.whole_runs.checkpoint_lab.result import TOKEN
from engine.calculators.whole_runs.checkpoint_lab.result import Result as Result
from engine.core.outputs import Teller, Views
from engine.core.units import BYTES, Seconds
from engine.form.run.prediction_text import ranged
from engine.form.short_job import job_run, job_told
from engine.formulas.checkpoint import CHECKPOINT_BYTES, TOKEN_BYTES, WRITE_TIME, token_bytes_rate
from engine.formulas.goodput import DALY_INTERVAL, JOB_MTBF, YOUNG_INTERVAL, job_mtbf
from engine.formulas.parameters import total_parameters
from engine.simulate.job.saved_run import Pace, Saved, Storage, pace, saved, token_rate
from engine.simulate.step.prediction_evidence import evidence
from engine.simulate.step.what_if import run_fits

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


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    run, changes = job_told(inputs)
    one = _saved(inputs)
    mtbf = job_mtbf(inputs.gpu_mtbf, run.plan.world_size)

    def at(interval: Seconds, background: bool) -> Pace:
        return pace(one, interval, inputs.restart, mtbf, background=background)

    now = at(inputs.interval, inputs.background)
    tokens = token_rate(run)
    return Result(
        evidence=evidence(run),
        changes=changes,
        saved=one,
        bloom=_saved(Inputs(**PRESETS[BLOOM])),  # type: ignore[arg-type]
        llama=_saved(Inputs(**PRESETS[LLAMA_3])),  # type: ignore[arg-type]
        now=now,
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
        gpus=run.plan.world_size,
        largest=one.per_node,
        writers=one.writers,
        node=inputs.node,
        curve=tuple((at(t, False).goodput, at(t, True).goodput) for t in charts.INTERVALS),
    )


def _saved(inputs: Inputs) -> Saved:
    run = job_run(inputs)
    storage = Storage(rate=inputs.storage, node=inputs.node, host=run.cluster.gpu.pcie)
    return saved(run, storage, optimizer=inputs.optimizer == "yes")


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        **tell.values("goodput"),
        "verdict": charts.verdict(tell, inputs, result),
        "curve": partial(charts.curve, inputs, result),
        **tell.values("whole", "per_parameter", "per_gpu", "host"),
        "write": tell.value(
            "write", note=charts.binding(result), symbols={"S": "storage", "B": "node"}
        ),
        **tell.values("rank_0", "stall", "mtbf"),
        "young": tell.value("young", equation=YOUNG_INTERVAL, symbols={"d": "stall"}),
        **tell.values("daly", "best"),
        "tokens": ranged(tell, "tokens", result.evidence, assumes=(charts.STEP,)),
        "reading": tell.value("reading", symbols={"r": "tokens", "b": (TOKEN, BYTES)}),
        "parts": partial(charts.parts, result),
        "published": partial(charts.published, tell, result),
        "challenge": challenge(inputs, result.goodput, result.fits),
    }
