"""Two networks on one job: what the reader can change, and both runs."""

from dataclasses import dataclass, replace
from typing import Annotated

from engine.core.inputs import Choice, Number
from engine.core.outputs import Told
from engine.core.text import Text
from engine.core.units import HOUR, Price, Ratio, Seconds
from engine.form import short_job
from engine.form.fields import OwnConstants
from engine.form.price import PRICE
from engine.formulas.fabric import break_even_price, waiting_step
from engine.run.networks import NETWORKS
from engine.run.run import Run
from engine.simulate.memory.allocator import fits
from engine.simulate.memory.memory import memory
from engine.simulate.step.prediction_evidence import Evidence, evidence
from engine.simulate.step.step_time import StepTime, step_time

_OPTIONS = {key: one.name for key, one in NETWORKS.items()}
_WAIT = "By how much late messages lengthen what the step waits for; see the tails above."
ALIKE = (
    "The same GPUs, plan and software on both; nodes of 8 GPUs. Nothing is oversubscribed.",
    "Late messages lengthen what the step waits for, by the factor given.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    first: Annotated[str, Choice(label="Network A", options=_OPTIONS)] = "ib-400"
    second: Annotated[str, Choice(label="Network B", options=_OPTIONS)] = "roce-400"
    model: short_job.ModelName = "deepseek-v3"
    gpu: short_job.GpuName = "H100-SXM"
    world_size: short_job.WorldSize = 512
    tensor_parallel: short_job.TensorParallel = 1
    pipeline_parallel: short_job.PipelineParallel = 8
    context_parallel: short_job.ContextParallel = 1
    expert_parallel: short_job.ExpertParallel = 64
    zero_stage: short_job.ZeroStage = "1"
    micro_batch_size: short_job.MicroBatch = 1
    global_batch_size: short_job.GlobalBatch = 4096
    sequence_length: short_job.SequenceLength = 4096
    precision: short_job.PrecisionName = "bf16"
    recompute: short_job.RecomputeName = "full"
    framework: short_job.FrameworkName = "megatron"
    first_wait: Annotated[
        float,
        Number(label="A: late messages", low=1.0, high=20.0, step=0.1, help=_WAIT),
    ] = 1.0
    second_wait: Annotated[
        float,
        Number(label="B: late messages", low=1.0, high=20.0, step=0.1, help=_WAIT, symbol="w"),
    ] = 1.0
    price: Annotated[float, replace(PRICE, label="A: price of a GPU", symbol="q")] = 2 / HOUR
    own_constants: OwnConstants = ""


def _told(label: str, note: str = "", color: str = "ink", symbol: str = "") -> Told:
    return Told(label, symbol, note, color, ALIKE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The job on both networks."""

    evidence: tuple[Evidence, Evidence]
    steps: tuple[StepTime, StepTime]
    first_step: Annotated[
        Seconds, _told("Step on A", "{first_exposed} of it waits", "pipeline", "A")
    ]
    second_step: Annotated[Seconds, _told("Step on B", "{second_exposed} of it waits", "data", "T")]
    slower: Annotated[
        Ratio, Told("B over A", assumes=("The step on B over the step on A.", *ALIKE))
    ]
    break_even: Annotated[
        Price,
        Told(
            "B may cost per GPU",
            "p",
            "so that a token costs as much as on A",
            assumes=("Prices of all that a GPU needs, in your own currency.",),
        ),
    ]
    undisturbed: Annotated[Seconds, Told(symbol="P")]
    first_exposed: Seconds
    second_exposed: Seconds
    exposed: Annotated[Seconds, Told(symbol="E")]
    fits: bool
    changes: tuple[Text, ...]


def runs_of(inputs: Inputs) -> tuple[Run, Run]:
    """Return the reader's run on both networks."""
    run = short_job.job_run(inputs)
    return _on(run, inputs.first), _on(run, inputs.second)


def _on(run: Run, key: str) -> Run:
    fabric = NETWORKS[key]
    per_node = fabric.node.nics_per_node * run.cluster.gpus_per_node // fabric.node.gpus_per_node
    cluster = replace(
        run.cluster,
        transport=fabric.transport,
        nics_per_node=per_node,
        nic_bandwidth=fabric.node.nic_bandwidth,
    )
    return replace(run, cluster=cluster)


def solve(inputs: Inputs) -> Result:
    """Return the step on both networks."""
    runs = runs_of(inputs)
    first, second = (step_time(run.model, run.cluster, run.plan, run.training) for run in runs)
    one = waiting_step(first.total, first.exposed, inputs.first_wait)
    other = waiting_step(second.total, second.exposed, inputs.second_wait)
    held = memory(runs[0].model, runs[0].plan, runs[0].training)
    return Result(
        evidence=(evidence(runs[0]), evidence(runs[1])),
        steps=(first, second),
        first_step=one,
        second_step=other,
        slower=other / one,
        break_even=break_even_price(inputs.price, one, other),
        undisturbed=second.total,
        first_exposed=first.exposed * inputs.first_wait,
        second_exposed=second.exposed * inputs.second_wait,
        exposed=second.exposed,
        changes=short_job.job_told(inputs)[1],
        fits=fits(held, runs[0].training, runs[0].cluster.gpu.memory),
    )
