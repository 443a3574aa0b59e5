"""Profiling tree from MFU to link counters: readings to named losses and next measurement."""

from dataclasses import asdict, dataclass
from functools import partial
from typing import Annotated

from engine.calculators.whole_runs.profile_tree.rules import (
    RULES,
    causes,
    guilty_nodes,
    top_node,
    tree,
)
from engine.catalog.flop_conventions import CONVENTIONS
from engine.core.inputs import GBYTES_PER_SECOND, PERCENT, Number, Switch
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import GB, SHARE, Share
from engine.core.views import Axis, Badge, Bar, Bars, Segment
from engine.form.commands import COMMANDS, LAYERS
from engine.simulate.data_parallel.peak_account import (
    HealthyJob,
    JobReadings,
    healthy_job,
    repaired_mfu,
)

TITLE = "From MFU to the port"
QUESTION = "Which layer is guilty?"
HEADLINE = "computing"
_ALIKE = "All readings are of the same steps."
_LOGGED = (
    f"Of the training log. Megatron-LM counts {CONVENTIONS['causal'].name}, torchtitan "
    f"{CONVENTIONS['matrices'].name}; neither counts what is repeated."
)
_WELL = {"busbw": 350 * GB, "link_errors": 0}
PRESETS = {
    "A slow link": {"mfu": 0.22, "exposed": 0.5, "busbw": 90 * GB, "link_errors": 40},
    "A slow rank": {**_WELL, "mfu": 0.35, "exposed": 0.25, "skew": 0.25},
    "Bad overlap": {**_WELL, "mfu": 0.28, "exposed": 0.4},
    "Starving": {**_WELL, "mfu": 0.33, "exposed": 0.05, "loading": 0.3, "gaps": 0.02},
    "Launch-bound": {**_WELL, "mfu": 0.31, "exposed": 0.05, "gaps": 0.35, "loading": 0.0},
    "Stuck": {
        **_WELL,
        "mfu": 0.025,
        "exposed": 0.95,
        "gaps": 0.0,
        "loading": 0.0,
        "sm_active": 0.16,
        "tensor_active": 0.03,
    },
    "Healthy": {
        **_WELL,
        "mfu": 0.48,
        "exposed": 0.06,
        "gaps": 0.02,
        "loading": 0.0,
        "sm_active": 0.93,
        "tensor_active": 0.52,
    },
}


def _share_input(
    label: str, low: float, high: float, help_text: str = "", *, advanced: bool = False
) -> Number:
    return Number(
        label=label,
        unit=PERCENT,
        low=low,
        high=high,
        step=0.01,
        help=help_text,
        advanced=advanced,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs: readings of a typical step."""

    mfu: Annotated[float, _share_input("MFU", 0.01, 0.8, _LOGGED)] = 0.25
    exposed: Annotated[
        float,
        _share_input("Exposed communication", 0.0, 0.95, "Of the step; PyTorch profiler, HTA."),
    ] = 0.42
    gaps: Annotated[float, _share_input("Gaps: GPU waits for CPU", 0.0, 0.9, "Of the step.")] = 0.05
    loading: Annotated[float, _share_input("Waiting for a batch", 0.0, 0.9, "Of the step.")] = 0.02
    skew: Annotated[
        float, _share_input("Slowest rank computes longer by", 0.0, 1.0, "Than the median rank.")
    ] = 0.02
    busbw: Annotated[
        float,
        Number(
            label="All-reduce bus bandwidth",
            unit=GBYTES_PER_SECOND,
            low=1 * GB,
            high=2000 * GB,
            scale="log",
            help="nccl-tests, the largest size.",
        ),
    ] = 140 * GB
    link_errors: Annotated[
        int,
        Number(label="Errors per hour, worst port", low=0, high=10_000, whole=True, step=1),
    ] = 12
    sm_active: Annotated[float, _share_input("SM active", 0.0, 1.0, "DCGM 1002.")] = 0.86
    tensor_active: Annotated[float, _share_input("Tensor active", 0.0, 1.0, "DCGM 1004.")] = 0.27
    utilization: Annotated[float, _share_input("GPU utilization", 0.0, 1.0, "nvidia-smi.")] = 1.0
    clock: Annotated[
        float, _share_input("Clock under load", 0.3, 1.0, "Of the highest.", advanced=True)
    ] = 0.95
    bubble: Annotated[
        float, _share_input("Pipeline bubble", 0.0, 0.9, "Of the step.", advanced=True)
    ] = 0.0
    recomputed: Annotated[
        float, _share_input("Forward pass computed again", 0.0, 1.0, advanced=True)
    ] = 0.0
    ports: Annotated[
        float,
        Number(
            label="Ports of a node together",
            unit=GBYTES_PER_SECOND,
            low=10 * GB,
            high=2000 * GB,
            scale="log",
            advanced=True,
        ),
    ] = 400 * GB
    everything: Annotated[
        bool, Switch(label="Open all branches", help="Off: only those that lead to a cause.")
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Results of the readings: the causes in order, and the loss of the first.

    Attributes:
        causes: keys of the rules that are broken, what explains most first.
    """

    measures: JobReadings
    well: HealthyJob
    causes: tuple[str, ...]
    computing: Annotated[
        Share,
        Output(
            "Computing",
            note="of the step",
            color="compute",
            assumes=("The step less waiting, gaps, bubble and exposed communication.", _ALIKE),
        ),
    ]
    efficiency: Annotated[
        Share,
        Output(
            "Of the peak while computing",
            assumes=(
                "MFU and what is computed twice, over the computing share and the clock. "
                "Repeating the whole forward pass adds a third.",
                "Operations as the log counts them, and no more exact than that count.",
                _ALIKE,
            ),
        ),
    ]
    repaired: Annotated[
        Share,
        Output(
            "MFU without the first cause",
            assumes=(
                "The step shorter by what the first cause takes; of slow kernels or a low clock, "
                "the loss comes back as achieved. At most 100 %.",
                _ALIKE,
            ),
        ),
    ]
    loss: Share
    lost: Share
    mfu: Share
    clock: Share


def solve(inputs: Inputs) -> Result:
    """Return the causes and losses behind the readings."""
    readings = asdict(inputs)
    readings.pop("everything")
    m = JobReadings(**readings)
    causes = tuple(guilty_nodes(m))
    loss = RULES[causes[0]].loss(m) if causes else 0.0
    of_time = not causes or top_node(causes[0]) != "efficiency"
    return Result(
        measures=m,
        well=healthy_job(),
        causes=causes,
        computing=m.computing,
        efficiency=m.efficiency,
        repaired=repaired_mfu(m, loss, of_time=of_time),
        loss=loss,
        lost=1 - m.mfu,
        mfu=m.mfu,
        clock=m.clock,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result)
    m, first = result.measures, next(iter(result.causes), "")
    note = "it takes {loss}" if first else "nothing found"
    return {
        "next": next_measurement(present, first, clash=m.inconsistent),
        "waterfall": partial(waterfall, m, result.well),
        **present.values("computing", "efficiency"),
        "repaired": present.value("repaired", note=note),
        "causes": partial(causes, m, result.causes),
        "tree": partial(tree, m, everything=inputs.everything),
    }


# Views of the profiling tree: waterfall, next question, and verdict.

_PARTS = (
    ("mfu", "achieved", "compute"),
    ("kernels", "kernels", "accent"),
    ("slowed", "clock", "muted"),
    ("repeated", "computed twice", "activations"),
    ("exposed", "exposed communication", "communication"),
    ("bubble", "bubble", "pipeline"),
    ("gaps", "waiting for the CPU", "ink"),
    ("loading", "waiting for data", "memory"),
)


def next_measurement(present: Presenter, first: str, *, clash: bool) -> Badge:
    """Return the guilty layer and the next measurement; `first` is the first cause, if any."""
    if clash:
        words = "Readings clash: {computing} of the step is left to compute at {clock} of the "
        words += "clock, which is less than an MFU of {mfu} needs. Measure again over the same "
        return Badge(text="Measure again", sentence=present.say(words + "steps."))
    if not first:
        words = "No part exceeds its limit. What is lost, {lost} of the peak, is spread over all."
        return Badge(text="Healthy", sentence=present.say(words), color="compute")
    rule = RULES[first]
    return Badge(
        text=LAYERS[rule.layer],
        sentence=present.say(
            f"It takes {{loss}} of the peak. {rule.cause} Next: {COMMANDS[rule.tool].name}."
        ),
        color="communication" if top_node(first) == "exposed" else "ink",
    )


def waterfall(m: JobReadings, well: HealthyJob) -> Bars:
    """Return waterfalls from the peak: the configured job, and a simulated healthy job."""
    total = sum(float(getattr(m, name)) for name, _, _ in _PARTS)
    return Bars(
        title="From peak to achieved",
        axis=Axis(label="share of the peak", quantity=SHARE, low=0.0, high=max(1.0, total) * 1.02),
        bars=(
            Bar(
                key="yours",
                label="your job",
                segments=tuple(
                    Segment(key=name, label=label, value=float(getattr(m, name)), color=color)
                    for name, label, color in _PARTS
                ),
            ),
            Bar(
                key="healthy",
                label="a healthy job, simulated",
                segments=tuple(
                    Segment(
                        key=name, label=label, value=float(getattr(well, name, 0.0)), color=color
                    )
                    for name, label, color in _PARTS
                ),
            ),
        ),
        caption="A loss of time counts as the work that could have been done in it.",
    )
