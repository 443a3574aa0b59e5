"""The layers of the stack, from the links to the job: what each is and how to look at it."""

from dataclasses import dataclass

from engine.calculators.whole_runs.stack_explorer.inputs import Inputs
from engine.calculators.whole_runs.stack_explorer.job import Job
from engine.calculators.whole_runs.stack_explorer.names import LAYER_NAMES
from engine.core.outputs import Teller
from engine.core.text import Text
from engine.core.units import BANDWIDTH, LINK_SPEED, SHARE
from engine.core.views import Cell, Open, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One layer.

    Attributes:
        key: of the layer.
        what, tool, metric, healthy, relation: what it is, what shows it, the figure to look at,
            the range in which it is healthy for this job, and what it means for the step.
    """

    key: str
    what: Text
    tool: Text
    metric: Text
    healthy: Text
    relation: Text


def layers(tell: Teller, found: Job) -> tuple[Layer, ...]:
    """Return the layers for this job, the links first."""
    cluster = found.run.cluster
    return (
        Layer(
            key="link",
            what="NVLink, PCIe, network adapters, cables and switches.",
            tool="nvidia-smi nvlink, perfquery, ethtool -S",
            metric="error counters; speed and width of each link",
            healthy=tell.say(
                "no errors that grow; ports of {p}, NVLink of {v} one way",
                p=(cluster.nic_bandwidth, LINK_SPEED),
                v=(cluster.gpu.scale_up, BANDWIDTH),
            ),
            relation="One slow link holds up every ring through it, and so every step.",
        ),
        Layer(
            key="gpu",
            what="Multiprocessors, matrix units, memory and clocks of one GPU.",
            tool="dcgmi dmon, ncu",
            metric="share of the time in which the matrix units are busy; clocks",
            healthy=tell.say(
                "about {h} of the time at full clocks, the HFU of this job",
                h=(found.found.hfu, SHARE),
            ),
            relation="The slowest of all GPUs sets the step.",
        ),
        Layer(
            key="collective",
            what="NCCL: rings, trees, protocols, channels.",
            tool="nccl-tests, NCCL_DEBUG=INFO",
            metric="bus bandwidth of large messages",
            healthy=tell.say("{node_rate} in the node, {port_rate} per port"),
            relation=tell.say("Only what is not hidden counts: {exposed_share} of this step."),
        ),
        Layer(
            key="step",
            what="Kernels and collectives of one step on their streams.",
            tool="torch.profiler, nsys",
            metric="share of the step in which something is computed",
            healthy=tell.say("about {computing}, as the model says"),
            relation="It is the step. What a trace shows as a gap is a wait for a layer below.",
        ),
        Layer(
            key="job",
            what="Thousands of steps, with checkpoints, failures and restarts.",
            tool="the log of the run",
            metric="MFU, tokens per second, goodput",
            healthy=tell.say(
                "MFU near {m}, and the same in every hour", m=(found.found.mfu, SHARE)
            ),
            relation="A step that is a tenth shorter ends the run a tenth earlier.",
        ),
    )


def table(tell: Teller, found: Job) -> Table:
    """Return all layers; the name of each opens its panel."""
    rows: list[tuple[Cell, ...]] = [
        (
            Open(
                LAYER_NAMES[layer.key],
                "stack_explorer",
                f"stack_explorer.layer={layer.key}",
                keeps=True,
            ),
            layer.what,
            layer.tool,
        )
        for layer in layers(tell, found)
    ]
    return Table(
        title="The layers, the links first",
        columns=("Layer", "What it is", "Tool"),
        rows=tuple(rows),
        links=tuple((f"layer:{layer.key}",) for layer in layers(tell, found)),
    )


def panel(tell: Teller, inputs: Inputs, found: Job) -> Table:
    """Return the reader's layer."""
    layer = next(one for one in layers(tell, found) if one.key == inputs.layer)
    rows: list[tuple[Cell, ...]] = [
        ("What it is", layer.what),
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
