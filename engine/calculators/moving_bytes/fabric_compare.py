"""Two networks compared on the same job: step time, exposed time, price and properties."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.catalog.transports import TRANSPORTS
from engine.core.inputs import Choice, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text, say
from engine.core.units import BANDWIDTH, HOUR, RATIO, SECONDS, Price, Ratio, Seconds
from engine.core.views import Axis, Badge, Bar, Bars, Citation, Segment, Table
from engine.form import short_job
from engine.form.adjusted_inputs import with_changes
from engine.form.fields import OwnConstants
from engine.form.price import PRICE
from engine.form.run.prediction_text import evidence_assumptions, value_with_range
from engine.formulas.fabric import BREAK_EVEN_PRICE, WAITING_STEP, break_even_price, waiting_step
from engine.run.networks import NETWORKS, Network
from engine.run.run import Run
from engine.simulate.memory.allocator import MemoryFit
from engine.simulate.step.prediction_evidence import Evidence, evidence
from engine.simulate.step.step_time import StepTime, step_time
from engine.simulate.step.what_if import run_fit

_OPTIONS = {key: network.name for key, network in NETWORKS.items()}
_WAIT_HELP = "By how much late messages lengthen what the step waits for; see the tails above."
ASSUMES = (
    "The same GPUs, plan and software on both; nodes of 8 GPUs. Nothing is oversubscribed.",
    "Late messages lengthen what the step waits for, by the factor given.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

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
        Number(label="A: late messages", low=1.0, high=20.0, step=0.1, help=_WAIT_HELP),
    ] = 1.0
    second_wait: Annotated[
        float,
        Number(label="B: late messages", low=1.0, high=20.0, step=0.1, help=_WAIT_HELP, symbol="w"),
    ] = 1.0
    price: Annotated[float, replace(PRICE, label="A: price of a GPU", symbol="q")] = 2 / HOUR
    own_constants: OwnConstants = ""


def _output(label: str, note: str = "", color: str = "ink", symbol: str = "") -> Output:
    return Output(label, symbol, note, color, ASSUMES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The job on both networks."""

    evidence: tuple[Evidence, Evidence]
    steps: tuple[StepTime, StepTime]
    first_step: Annotated[
        Seconds, _output("Step on A", "{first_exposed} of it waits", "pipeline", "A")
    ]
    second_step: Annotated[
        Seconds, _output("Step on B", "{second_exposed} of it waits", "data", "T")
    ]
    slower: Annotated[
        Ratio, Output("B over A", assumes=("The step on B over the step on A.", *ASSUMES))
    ]
    break_even: Annotated[
        Price,
        Output(
            "B may cost per GPU",
            "p",
            "so that a token costs as much as on A",
            assumes=("Prices of all that a GPU needs, in your own currency.",),
        ),
    ]
    undisturbed: Annotated[Seconds, Output(symbol="P")]
    first_exposed: Seconds
    second_exposed: Seconds
    exposed: Annotated[Seconds, Output(symbol="E")]
    fit: MemoryFit
    changes: tuple[Text, ...]


def runs_of(inputs: Inputs) -> tuple[Run, Run]:
    """Return the reader's run on both networks."""
    run = short_job.job_run(inputs)
    return _run_on_network(run, inputs.first), _run_on_network(run, inputs.second)


def _run_on_network(run: Run, key: str) -> Run:
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
    step = waiting_step(first.total, first.exposed, inputs.first_wait)
    other = waiting_step(second.total, second.exposed, inputs.second_wait)
    return Result(
        evidence=(evidence(runs[0]), evidence(runs[1])),
        steps=(first, second),
        first_step=step,
        second_step=other,
        slower=other / step,
        break_even=break_even_price(inputs.price, step, other),
        undisturbed=second.total,
        first_exposed=first.exposed * inputs.first_wait,
        second_exposed=second.exposed * inputs.second_wait,
        exposed=second.exposed,
        changes=short_job.job_run_and_changes(inputs)[1],
        fit=run_fit(runs[0]),
    )


TITLE = "Two networks on one job"
QUESTION = "Which network does a job notice?"
HEADLINE = "slower"
EQUATIONS = (WAITING_STEP, BREAK_EVEN_PRICE)
PRESETS = {
    "InfiniBand or EFA v2": {"second": "efa-v2"},
    "400 Gb/s or 50 per GPU": {"second": "efa-v1"},
    "Late messages on B": {"second": "ib-400", "second_wait": 1.8},
    "Llama 3 8B, 64 GPUs, FSDP": {
        "model": "llama-3-8b",
        "world_size": 64,
        "pipeline_parallel": 1,
        "expert_parallel": 1,
        "zero_stage": "3",
        "global_batch_size": 64,
        "sequence_length": 8192,
        "recompute": "none",
        "framework": "fsdp",
    },
    "Llama 3 70B, 256 GPUs, FSDP": {
        "model": "llama-3-70b",
        "world_size": 256,
        "pipeline_parallel": 1,
        "expert_parallel": 1,
        "zero_stage": "3",
        "global_batch_size": 256,
        "sequence_length": 8192,
        "recompute": "full",
        "framework": "fsdp",
    },
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    first, second = result.evidence
    return {
        "slower": present.value("slower", assumes=(*ASSUMES, *evidence_assumptions(second))),
        "verdict": with_changes(_verdict(present, inputs, result), result.changes),
        "steps": partial(_steps, inputs, result),
        "first_step": value_with_range(present, "first_step", first, assumes=ASSUMES),
        "second_step": value_with_range(present, "second_step", second, assumes=ASSUMES),
        "break_even": present.value("break_even"),
        "side_by_side": partial(_side_by_side, inputs, result),
        "facts": network_table,
    }


def _verdict(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    if not result.fit.runs:
        return Badge(
            text="Does not fit",
            sentence="The plan needs more memory than the GPUs have, so that its times mean "
            "nothing. Split it further, or recompute more.",
            color="ink",
        )
    if abs(result.slower - 1) < 0.01:
        return Badge(
            text="No difference to speak of",
            sentence="The steps differ by less than one percent. Compare prices, tails and what "
            "you can operate.",
            color="muted",
        )
    name = "B" if result.slower < 1 else "A"
    return Badge(
        text=f"{name} is faster",
        sentence=present.say("A step takes {first_step} on A and {second_step} on B."),
        color="pipeline" if name == "A" else "data",
    )


def _parts(step: StepTime, wait: float) -> tuple[Segment, ...]:
    late = (wait - 1) * step.exposed
    other = step.total - step.compute - step.exposed
    parts = (
        ("compute", "computation", step.compute, "compute"),
        ("other", "bubble, optimizer and other", other, "muted"),
        ("sent", "waits for messages", step.exposed, "communication"),
        ("late", "waits for late messages", late, "ink"),
    )
    return tuple(
        Segment(key=key, label=label, value=time, color=color) for key, label, time, color in parts
    )


def _steps(inputs: Inputs, result: Result) -> Bars:
    names = (f"A: {NETWORKS[inputs.first].name}", f"B: {NETWORKS[inputs.second].name}")
    waits = (inputs.first_wait, inputs.second_wait)
    return Bars(
        title="One step on both networks",
        axis=Axis(
            label="time",
            quantity=SECONDS,
            low=0.0,
            high=1.05 * max(result.first_step, result.second_step),
        ),
        bars=tuple(
            Bar(key=key, label=name, segments=_parts(step, wait))
            for key, name, step, wait in zip("ab", names, result.steps, waits, strict=True)
        ),
    )


def _side_by_side(inputs: Inputs, result: Result) -> Table:
    pair = NETWORKS[inputs.first], NETWORKS[inputs.second]
    rows: list[tuple[Text, ...]] = [
        ("Ports of a GPU, line rate, one way", *(_rate_per_gpu(network) for network in pair)),
        (
            "Share that large messages reach, over that of InfiniBand",
            *(say("{r}", r=(TRANSPORTS[network.transport].share, RATIO)) for network in pair),
        ),
        (
            "A hop of a large message",
            *(say("{t}", t=(TRANSPORTS[network.transport].step, SECONDS)) for network in pair),
        ),
        (
            "A hop of a small message",
            *(say("{t}", t=(_small_message_step(network), SECONDS)) for network in pair),
        ),
        ("Packets arrive", *(network.order for network in pair)),
        ("Packets of a message take", *(network.paths for network in pair)),
        ("A queue grows", *(network.full for network in pair)),
        ("Switches add", *(network.sums for network in pair)),
    ]
    return Table(
        title="What the two networks are",
        columns=("", "A", "B"),
        rows=tuple(rows),
        caption="Latencies include the software: NCCL, and its plug-in for EFA.",
    )


def _rate_per_gpu(network: Network) -> Text:
    rate = network.node.nics_per_node * network.node.nic_bandwidth / network.node.gpus_per_node
    return say("{r}", r=(rate, BANDWIDTH))


def _small_message_step(network: Network) -> float:
    transport = TRANSPORTS[network.transport]
    return transport.step_small or transport.step_eager


def network_table() -> Table:
    """Return all networks with their sources."""
    return Table(
        title="Networks of nodes with eight GPUs",
        columns=("Network", "Per GPU", "Hop, large", "Hop, small", "Packets", "Queues", "Source"),
        rows=tuple(
            (
                network.name,
                _rate_per_gpu(network),
                say("{t}", t=(TRANSPORTS[network.transport].step, SECONDS)),
                say("{t}", t=(_small_message_step(network), SECONDS)),
                f"{network.order}; paths: {network.paths}",
                network.full,
                Citation((network.node.source, *network.sources)),
            )
            for network in NETWORKS.values()
        ),
        caption="Hops: of InfiniBand and EFA v1 fitted to measured collectives, of RoCE taken from "
        "InfiniBand, of later EFA from Amazon's announcements and one public test.",
    )
