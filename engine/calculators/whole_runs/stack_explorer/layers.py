"""Layers of the stack, from links to job: meaning and tools."""

from dataclasses import dataclass

from engine.calculators.whole_runs.stack_explorer.inputs import Inputs
from engine.calculators.whole_runs.stack_explorer.job import Job
from engine.calculators.whole_runs.stack_explorer.names import LAYER_NAMES
from engine.core.outputs import Presenter
from engine.core.text import Text
from engine.core.units import BANDWIDTH, LINK_SPEED, SHARE
from engine.core.views import CalculatorLink, Cell, Table


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
                h=(job.found.hfu, SHARE),
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
                "MFU near {m}, and the same in every hour", m=(job.found.mfu, SHARE)
            ),
            relation="A step that is a tenth shorter ends the run a tenth earlier.",
        ),
    )


def table(present: Presenter, job: Job) -> Table:
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


def panel(present: Presenter, inputs: Inputs, job: Job) -> Table:
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
