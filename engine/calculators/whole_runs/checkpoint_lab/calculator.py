"""Checkpoint lab: size, time and best interval of a job's checkpoints."""

from functools import partial

from engine.calculators.whole_runs.checkpoint_lab import charts
from engine.calculators.whole_runs.checkpoint_lab.challenge import challenge
from engine.calculators.whole_runs.checkpoint_lab.inputs import BLOOM, LLAMA_3
from engine.calculators.whole_runs.checkpoint_lab.inputs import PRESETS as PRESETS
from engine.calculators.whole_runs.checkpoint_lab.inputs import Inputs as Inputs
from engine.calculators.whole_runs.checkpoint_lab.result import TOKEN
from engine.calculators.whole_runs.checkpoint_lab.result import Result as Result
from engine.core.outputs import Presenter, Views
from engine.core.units import BYTES, Seconds
from engine.form.run.prediction_text import value_with_range
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
        curve=tuple((at(t, False).goodput, at(t, True).goodput) for t in charts.INTERVALS),
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
        "verdict": charts.verdict(present, inputs, result),
        "curve": partial(charts.curve, inputs, result),
        **present.values("whole", "per_parameter", "per_gpu", "host"),
        "write": present.value(
            "write", note=charts.binding(result), symbols={"S": "storage", "B": "node"}
        ),
        **present.values("rank_0", "stall", "mtbf"),
        "young": present.value("young", equation=YOUNG_INTERVAL, symbols={"d": "stall"}),
        **present.values("daly", "best"),
        "tokens": value_with_range(present, "tokens", result.evidence, assumes=(charts.STEP,)),
        "reading": present.value("reading", symbols={"r": "tokens", "b": (TOKEN, BYTES)}),
        "parts": partial(charts.parts, result),
        "published": partial(charts.published, present, result),
        "challenge": challenge(inputs, result.goodput, result.fit.verdict == "fits"),
    }
