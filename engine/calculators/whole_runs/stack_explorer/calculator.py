"""Stack explorer: a job from a hop of nanoseconds to a run of months."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from engine.calculators.whole_runs.stack_explorer import ruler, wires
from engine.calculators.whole_runs.stack_explorer.inputs import LAYER_NAMES, Inputs, Job
from engine.calculators.whole_runs.stack_explorer.inputs import PRESETS as PRESETS
from engine.calculators.whole_runs.stack_explorer.result import (
    START,
    Result,
    start,
    steps_alone,
    terms,
)
from engine.calculators.whole_runs.stack_explorer.result import solve as solve
from engine.calculators.whole_runs.stack_explorer.ruler import Event, events, time_of, time_text
from engine.core.outputs import Presenter, Views
from engine.core.slices import Slices
from engine.core.text import Text, say
from engine.core.units import (
    BANDWIDTH,
    COUNT,
    GPU_TIME,
    LINK_SPEED,
    MONEY,
    SECONDS,
    SHARE,
    Seconds,
    with_digits,
)
from engine.core.views import (
    Axis,
    Bar,
    Bars,
    CalculatorLink,
    Cell,
    Challenge,
    Citation,
    Code,
    Condition,
    Published,
    Receipt,
    Segment,
    Table,
    Timeline,
    Value,
)
from engine.form.memory_fit import fit_badge
from engine.form.overlap import schedule_timeline
from engine.form.run import charts, verdicts
from engine.form.run import views as run_views
from engine.form.run.equations import MFU, STEP
from engine.form.run.prediction_text import range_text
from engine.form.what_if import views as levers
from engine.formulas.job import COST, RATE
from engine.simulate.step.step_time import StepTime

TITLE = "The job"
QUESTION = "Where does every microsecond of one job go?"
HEADLINE = "mfu"
EQUATIONS = (RATE, COST, MFU, STEP)

RUNS = {"forecast_time": terms, "run_time": steps_alone}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views: the header, the ruler, the layers, and each tab."""
    present, job = Presenter(result, inputs, equations=EQUATIONS), result.job
    estimated, placed = job.estimate, events(result)
    values = run_views.estimate_values(estimated)
    return {
        **_header(present, values, result),
        "possible": verdicts.possible_badge(job.run, estimated.doubts, job.changes),
        "fits": fit_badge(estimated.fit),
        "published": partial(published_table, present, result),
        "ruler": partial(ruler.scene, inputs, placed, result.ruler),
        "event_time": ruler.time_value(present, inputs, placed),
        "event_panel": partial(event_panel, inputs, placed, result.step_time),
        "events": partial(ruler.table, inputs, placed),
        **present.values("decades"),
        "layer_panel": partial(layer_panel, present, inputs, job),
        "layers": partial(layer_table, present, job),
        **present.values("message_time"),
        "message_regime": wires.message_regime(present, inputs, result),
        "waterfall": partial(wires.waterfall, present, result),
        "three_times": partial(wires.axis_times, job),
        "map": lambda: wires.cluster_map(job.part()),
        "axes": partial(wires.axes, job),
        **present.values("overlap_gain"),
        "overlaps": partial(overlaps, job),
        "timeline": partial(timeline, result),
        "parts": partial(charts.time_bars, estimated),
        "look": partial(profiling_table, job),
        "commands": partial(commands, job),
        "first": levers.first_lever_badge(job.levers),
        "tornado": partial(levers.tornado, job.levers),
        "levers": partial(levers.gains_table, job.levers),
        "challenge": partial(challenge, inputs, result),
    }


_NONE = "it does not fit"
_NO_STEP = Receipt(assumptions=("It does not fit, so there is no step.",))


def _header(present: Presenter, values: Mapping[str, Value], result: Result) -> dict[str, Value]:
    """Return speed and price, with a note if the job does not fit."""
    header = {
        "mfu": mfu_value(values["mfu"], result),
        **present.values("token_rate", "exposed_share", "cost_of_tokens"),
        "step_time": values["step_time"],
    }
    if result.job.runs:
        return header
    rates = ("token_rate", "cost_of_tokens")
    return header | {
        "mfu": replace(header["mfu"], note=_NONE),
        "step_time": replace(header["step_time"], note=_NONE),
        **{name: present.value(name, receipt=_NO_STEP, note=_NONE) for name in rates},
    }


# Published figures of the explorer's job.


def mfu_value(mfu: Value, result: Result) -> Value:
    """Return the modeled MFU, with the published MFU if any."""
    known = result.published
    if known is None:
        return mfu
    published = Published(
        text=say("the Llama 3 paper gives {m} for this job", m=(known.mfu, SHARE)),
        reason="The model counts steps alone, and its range holds for four runs in five.",
        source=known.sources[0],
    )
    return replace(
        mfu,
        receipt=replace(mfu.receipt, published=published),
        note=say("modeled; published: {m}", m=(known.mfu, SHARE)),
    )


def published_table(present: Presenter, result: Result) -> Table:
    """Return published and modelled figures of the job."""
    known = result.published
    rows: tuple[tuple[Cell, ...], ...] = (
        ("MFU", "no publication of this job", present.say("{mfu}"), ""),
    )
    if known:
        rows = (
            (
                "MFU",
                say("{m}", m=(known.mfu, SHARE)),
                present.say("{mfu}"),
                range_text(result.job.estimate.evidence),
            ),
            (
                "The run",
                say(
                    "{g}, {t} of all GPUs",
                    g=(known.gpu_time, with_digits(GPU_TIME)),
                    t=(known.wall, SECONDS),
                ),
                present.say("{forecast_time}; {run_time} for the steps alone"),
                "Published: all GPU hours. Modeled: checkpoints every hour, Llama 3's failures, "
                "no smaller batch at the start.",
            ),
        )
    return Table(
        title="This job, published and modeled",
        columns=("What", "Published", "Modeled", "Why they differ"),
        rows=rows,
        caption="Llama 3 paper, table 4, and the model card of Llama 3.1." if known else "",
    )


# The challenge of the explorer: another plan on the same slow wire.

SOLUTION = {
    **START,
    "tensor_parallel": 8,
    "pipeline_parallel": 8,
    "zero_stage": "1",
    "recompute": "none",
}
_GIVEN = (
    "model",
    "gpu",
    "world_size",
    "global_batch_size",
    "sequence_length",
    "nic_bandwidth",
    "nics_per_node",
    "price",
)


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the goal: a quarter of the cost on the same machine."""
    start_job, price, job = start(), result.start_price, result.job
    return Challenge(
        title="The wire stays",
        goal="A 13B model is sharded over eight nodes that have one port of 100 Gb/s each. Bring "
        "the cost of a token to a quarter without another machine or another batch.",
        conditions=(
            Condition(
                text=say("at most {c} per billion tokens", c=(price / 4, MONEY)),
                met=result.cost_of_tokens <= price / 4,
            ),
            Condition(text="it fits", met=job.estimate.fit.verdict == "fits"),
            Condition(
                text="the same model, GPUs, ports, batch, sequences and price",
                met=not job.changes
                and all(getattr(inputs, n) == getattr(start_job, n) for n in _GIVEN),
            ),
        ),
        hints=(
            "On the Topology tab, see what crosses the network, and how often in a step.",
            "Which axis sends least, so that it may cross the slow port?",
            "With room in memory, what need not be computed twice?",
        ),
        start=START,
        solution=SOLUTION,
    )


# Layers of the stack, from links to job: meaning and tools.


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A layer of the stack.

    Attributes:
        key: of the layer.
        meaning, tool, metric, healthy, relation: what it is, what shows it, the figure to look at,
            the range in which it is healthy for this job, and what it means for the step.
    """

    key: str
    meaning: Text
    tool: Text
    metric: Text
    healthy: Text
    relation: Text


def layers(present: Presenter, job: Job) -> tuple[Layer, ...]:
    """Return the layers for this job, the links first."""
    cluster = job.run.cluster
    return (
        Layer(
            key="link",
            meaning="NVLink, PCIe, network adapters, cables and switches.",
            tool="nvidia-smi nvlink, perfquery, ethtool -S",
            metric="error counters; speed and width of each link",
            healthy=present.say(
                "no errors that grow; ports of {p}, NVLink of {v} one way",
                p=(cluster.nic_bandwidth, LINK_SPEED),
                v=(cluster.gpu.scale_up, BANDWIDTH),
            ),
            relation="One slow link holds up every ring through it, and so every step.",
        ),
        Layer(
            key="gpu",
            meaning="Multiprocessors, matrix units, memory and clocks of one GPU.",
            tool="dcgmi dmon, ncu",
            metric="share of the time in which the matrix units are busy; clocks",
            healthy=present.say(
                "about {h} of the time at full clocks, the HFU of this job",
                h=(job.estimate.hfu, SHARE),
            ),
            relation="The slowest of all GPUs sets the step.",
        ),
        Layer(
            key="collective",
            meaning="NCCL: rings, trees, protocols, channels.",
            tool="nccl-tests, NCCL_DEBUG=INFO",
            metric="bus bandwidth of large messages",
            healthy=present.say("{node_rate} in the node, {port_rate} per port"),
            relation=present.say("Only what is not hidden counts: {exposed_share} of this step."),
        ),
        Layer(
            key="step",
            meaning="Kernels and collectives of one step on their streams.",
            tool="torch.profiler, nsys",
            metric="share of the step in which something is computed",
            healthy=present.say("about {computing}, as the model says"),
            relation="It is the step. What a trace shows as a gap is a wait for a layer below.",
        ),
        Layer(
            key="job",
            meaning="Thousands of steps, with checkpoints, failures and restarts.",
            tool="the log of the run",
            metric="MFU, tokens per second, goodput",
            healthy=present.say(
                "MFU near {m}, and the same in every hour", m=(job.estimate.mfu, SHARE)
            ),
            relation="A step that is a tenth shorter ends the run a tenth earlier.",
        ),
    )


def layer_table(present: Presenter, job: Job) -> Table:
    """Return all layers; the name of each opens its panel."""
    rows: list[tuple[Cell, ...]] = [
        (
            CalculatorLink(
                LAYER_NAMES[layer.key],
                "stack_explorer",
                f"stack_explorer.layer={layer.key}",
                keeps=True,
            ),
            layer.meaning,
            layer.tool,
        )
        for layer in layers(present, job)
    ]
    return Table(
        title="The layers, the links first",
        columns=("Layer", "What it is", "Tool"),
        rows=tuple(rows),
        links=tuple((f"layer:{layer.key}",) for layer in layers(present, job)),
    )


def layer_panel(present: Presenter, inputs: Inputs, job: Job) -> Table:
    """Return a table of facts about the chosen layer."""
    layer = next(candidate for candidate in layers(present, job) if candidate.key == inputs.layer)
    rows: list[tuple[Cell, ...]] = [
        ("What it is", layer.meaning),
        ("Tool", layer.tool),
        ("Key metric", layer.metric),
        ("Healthy", layer.healthy),
        ("For the step", layer.relation),
    ]
    return Table(
        title="The layer",
        columns=("Layer", LAYER_NAMES[layer.key]),
        rows=tuple(rows),
        links=((f"layer:{layer.key}",),) * len(rows),
    )


# Overlap and profiling tabs of the stack explorer.

_PARTS = (
    ("compute", "computing", "compute"),
    ("exposed", "exposed communication", "communication"),
    ("bubble", "bubble", "pipeline"),
    ("rest", "optimizer, host, slowest GPU", "muted"),
)
# Part of the step: where a trace shows it, and the tool.
_SEEN = {
    "compute": ("kernels of products and attention on the compute stream", "ncu on the longest"),
    "tensor_parallel": ("collectives between products, nothing beside them", "nsys, nccl-tests"),
    "context_parallel": ("sends and receives between blocks of attention", "nsys"),
    "expert_parallel": ("all-to-all before and after the experts", "nsys, nccl-tests"),
    "pipeline": ("sends and receives between micro-batches", "nsys"),
    "data_parallel": (
        "reduce-scatters and gathers after the last backward pass",
        "torch.profiler, nccl-tests",
    ),
    "bubble": ("a receive that waits at the start or end of the step", "torch.profiler"),
    "optimizer": ("many small kernels at the end of the step", "torch.profiler"),
    "other": ("gaps, and collectives that wait for a late rank", "the log of all ranks"),
}
_NAMES = {
    "compute": "Computing",
    "tensor_parallel": "Tensor parallel, exposed",
    "context_parallel": "Context parallel, exposed",
    "expert_parallel": "Expert parallel, exposed",
    "pipeline": "Between stages, exposed",
    "data_parallel": "Data parallel, exposed",
    "bubble": "Bubble",
    "optimizer": "Optimizer",
    "other": "Host, slowest GPU",
}


def overlaps(job: Job) -> Bars:
    """Return the step with nothing overlapped, with gradients, and with tensor parallelism too."""
    steps = job.variants
    return Bars(
        title="The same step, more and more of it overlapped",
        axis=Axis(
            label="time",
            quantity=SECONDS,
            low=0.0,
            high=1.05 * max(step.total for _, _, step in steps),
        ),
        bars=tuple(_bar(key, label, step) for key, label, step in steps),
        caption="From the cost model. What is still exposed in the last bar stays exposed, with "
        "everything overlapped that the settings can overlap.",
    )


def _bar(key: str, label: str, step: StepTime) -> Bar:
    values = {
        "compute": step.compute,
        "exposed": step.exposed,
        "bubble": step.bubble,
        "rest": step.optimizer + step.other,
    }
    return Bar(
        key=key,
        label=label,
        segments=tuple(
            Segment(key=part, label=name, value=values[part], color=color)
            for part, name, color in _PARTS
        ),
    )


def timeline(result: Result) -> Slices[Timeline]:
    """Return the timeline of the first micro-batches of the slowest stage."""
    return schedule_timeline((yield from result.played.rest()))


def profiling_table(job: Job) -> Table:
    """Return the parts of the step, their place in a trace, and the tool."""
    parts = job.estimate.estimate["time"]
    ordered = sorted((key for key in _SEEN if parts[key] > 0), key=lambda key: -float(parts[key]))
    rows: list[tuple[Cell, ...]] = [
        (
            _NAMES[key],
            say("{s}", s=(float(parts[key]) / job.step.total, SHARE)),
            say("{t}", t=(float(parts[key]), SECONDS)),
            *_SEEN[key],
        )
        for key in ordered
    ]
    return Table(
        title="Where to look, the largest part first",
        columns=("Part", "Share", "Time", "In a trace", "Tool"),
        rows=tuple(rows),
        caption="Modeled. A trace of your job that says otherwise is right, and worth reading.",
    )


def commands(job: Job) -> Code:
    """Return commands of the layers, for this job."""
    nodes = max(1, job.run.plan.world_size // job.run.cluster.gpus_per_node)
    ranks = min(job.run.plan.world_size, job.run.cluster.gpus_per_node)
    pair = f"""
# the same over 2 of {nodes:,} nodes, one process per GPU
mpirun -np {2 * ranks} --map-by ppr:{ranks}:node all_reduce_perf -b 8 -e 8G -f 2 -g 1"""
    text = f"""# L3 step: one rank, only the steps between cudaProfilerStart and cudaProfilerStop
nsys profile --trace=cuda,nvtx --capture-range=cudaProfilerApi python train.py

# L2 collectives: nccl-tests on the GPUs of one node, one process for all of them
all_reduce_perf -b 8 -e 8G -f 2 -g {ranks}{pair if nodes > 1 else ""}

# L1 GPU: which fields this release can watch
dcgmi dmon --list

# L0 links: counters of an InfiniBand port, of an Ethernet port
perfquery -x
ethtool -S eth0
"""
    return Code(title="Commands for this job", language="sh", text=text)


def event_panel(inputs: Inputs, events: tuple[Event, ...], step: Seconds) -> Table:
    """Return a table of facts about the chosen event."""
    event = next(candidate for candidate in events if candidate.key == inputs.event)
    index = events.index(event)
    after = events[min(index + 1, len(events) - 1)]
    rows: list[tuple[Cell, ...]] = [
        ("What it is", event.meaning),
        ("Takes", time_text(event)),
        ("What sets it", event.sets),
        ("Against a step", _step_comparison(event, step)),
        ("Next on the axis", say(f"{after.name}, {{t}}", t=time_of(after))),
        ("The number", event.basis),
        ("Sources", Citation(event.sources) if event.sources else "none: assumed or computed"),
        ("Tab", event.tab),
    ]
    return Table(
        title="The event",
        columns=("Event", event.name),
        rows=tuple(rows),
        links=((f"event:{event.key}",),) * len(rows),
    )


def _step_comparison(event: Event, step: Seconds) -> Cell:
    if event.time <= 0:
        return "not in this job"
    if event.key == "step":
        return "it is the step"
    if event.time > step:
        return say("{n} steps long", n=(event.time / step, COUNT))
    if event.count:
        each = "{n} of them on one GPU, together {s} of the step if nothing hid them"
        share = event.count * event.time / step
        return say(each, n=(event.count, COUNT), s=(share, SHARE))
    return say("{n} of them would fill a step", n=(step / event.time, COUNT))
