"""The settings of ZeRO-3 in DeepSpeed with the cost and gain of each."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, NamedTuple

from engine.core.inputs import ELEMENTS, Choice, Number, Scalar, Switch
from engine.core.lazy import Lazy
from engine.core.outputs import Output, Presenter, Views
from engine.core.slices import SlicedRun, Slices, step_progress
from engine.core.text import Text, say
from engine.core.units import (
    BYTES,
    COUNT,
    GB,
    GIGA,
    MEGA,
    PARAMETERS,
    SECONDS,
    Bytes,
    Count,
    Gbit,
    Parameters,
    Seconds,
    with_digits,
)
from engine.core.views import (
    Axis,
    Badge,
    Bar,
    Bars,
    Challenge,
    Condition,
    Line,
    Lines,
    Point,
    Scale,
    Segment,
    Table,
)
from engine.form.fields import LabGpu, OwnConstants
from engine.form.run.prediction_text import no_range_assumptions
from engine.form.sharded.knobs import KnobModel, KnobPort, knob_fields, knob_job
from engine.form.sharded.lab import LabRanks, LabTokens, gradient_setting
from engine.run.parallelism import GradientPrecision
from engine.simulate.data_parallel.fetched_step import (
    BUCKET,
    LIVE,
    PERSISTENT,
    PREFETCH,
    REUSE,
    FetchedStep,
    FetchSettings,
    ReduceBuckets,
    fetch_plan,
    fetched_step,
)


class Setting(NamedTuple):
    """A size in elements that DeepSpeed's configuration sets.

    Attributes:
        key: in the configuration.
        low, high: of its slider.
        shows: over its range, in its figure: exposed time, buffers or collectives.
        tried: instead of the default, by the board.
    """

    key: str
    words: str
    default: float
    low: float
    high: float
    shows: str
    tried: float


SETTINGS: Mapping[str, Setting] = {
    "live": Setting(
        "stage3_max_live_parameters",
        "No prefetch is started while this many elements are gathered.",
        *(LIVE, 10 * MEGA, 10 * GIGA, "buffers", 1e8),
    ),
    "prefetch": Setting(
        "stage3_prefetch_bucket_size",
        "Elements that one prefetch gathers; each module starts one.",
        *(PREFETCH, MEGA, 5 * GIGA, "exposed", 1e6),
    ),
    "bucket": Setting(
        "reduce_bucket_size",
        "Gradients that are reduced together.",
        *(BUCKET, MEGA, 4 * GIGA, "exposed", 5e7),
    ),
    "reuse": Setting(
        "stage3_max_reuse_distance",
        "A tensor stays if it is used again before this many other elements are.",
        *(REUSE, MEGA, 10 * GIGA, "buffers", 1e10),
    ),
    "persistent": Setting(
        "stage3_param_persistence_threshold",
        "Tensors up to this size are never divided.",
        *(PERSISTENT, 1e3, 100 * MEGA, "calls", 2e7),
    ),
}
DEFAULTS = {name: setting.default for name, setting in SETTINGS.items()}


def _elements_field(name: str) -> Number:
    setting = SETTINGS[name]
    label = setting.key.removeprefix("stage3_").removeprefix("param_")
    low, high = setting.low, setting.high
    return Number(label=label, unit=ELEMENTS, low=low, high=high, scale="log", help=setting.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs; M is a million elements, and labels leave out "stage3_"."""

    live: Annotated[float, _elements_field("live")] = LIVE
    prefetch: Annotated[float, _elements_field("prefetch")] = PREFETCH
    bucket: Annotated[float, _elements_field("bucket")] = BUCKET
    reuse: Annotated[float, _elements_field("reuse")] = REUSE
    persistent: Annotated[float, _elements_field("persistent")] = PERSISTENT
    overlap: Annotated[
        bool,
        Switch(label="overlap_comm", help="On by default for stage 3, off for stages 1 and 2."),
    ] = True
    gradients: Annotated[
        GradientPrecision,
        Choice(
            label="communication_data_type",
            options={"bf16": "bf16", "fp32": "fp32"},
            help="Of gradients on the wire. Unset, DeepSpeed takes the type of the model: bf16.",
        ),
    ] = "bf16"
    model: KnobModel = "llama-3-8b"
    ranks: LabRanks = 64
    tokens: LabTokens = 4096
    port: KnobPort = 400 * Gbit
    gpu: LabGpu = "h100"
    own_constants: OwnConstants = ""


def auto_values(hidden: int) -> Mapping[str, Scalar]:
    """Return the values of "auto" in Hugging Face's accelerate for a hidden size."""
    return {
        "bucket": float(hidden * hidden),
        "prefetch": float(int(0.9 * hidden * hidden)),
        "persistent": float(10 * hidden),
    }


PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "\N{LEFT DOUBLE QUOTATION MARK}auto\N{RIGHT DOUBLE QUOTATION MARK} of accelerate, 8B": (
        auto_values(4096)
    ),
    "Little memory": {"live": 100 * MEGA, "bucket": 50 * MEGA},
    "Everything large": {"live": 10 * GIGA, "bucket": 2 * GIGA, "prefetch": 500 * MEGA},
    "70B on 128 GPUs": {"model": "llama-3-70b", "ranks": 128},
}


_POINTS = 9
_ASSUMED: tuple[str, ...] = (
    "With every setting at its default, the step is that of the estimate: between nodes all "
    "collectives use one port of a node. That is inferred from six runs of 2021 and nothing else; "
    "newer releases may use more.",
    "Other settings change it by what they change in a fetch schedule, played over the same port: "
    "one micro-batch, every matrix a module, gathers and reductions in turn.",
    "A module's own fetch starts when the module before it has ended. A host that runs ahead of "
    "the GPU hides more.",
    "The copy of the gradients in single precision that the update makes is not counted.",
)


def _output(label: str, note: str, color: str = "ink") -> Output:
    return Output(
        label,
        note=note,
        color=color,
        assumes=_ASSUMED,
        sources=("deepspeed_fetch", "rajbhandari2020", "narayanan2021"),
        basis="simulated",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The output of a setting over its range, at the reader's value and at the default."""

    x: tuple[Parameters, ...]
    y: tuple[float, ...]
    now: float
    default: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The step that the settings give.

    Attributes:
        usual: the step with the defaults, overlap as the reader has it.
        curves: setting -> what `SETTINGS` says over its range.
        tried: with the defaults, with each value tried in `SETTINGS`, without overlap.
    """

    step: FetchedStep
    usual: Lazy[FetchedStep]
    curves: Mapping[str, SlicedRun[Curve]]
    tried: SlicedRun[tuple[FetchedStep, ...]]
    exposed: Annotated[
        Seconds, _output("Exposed communication", "of a step of {step_time}", "communication")
    ]
    step_time: Annotated[Seconds, _output("Step", "{closing} of it optimizer, host, slowest GPU")]
    buffers: Annotated[
        Bytes, _output("Buffers", "{gathered} gathered, {reduced} for gradients", "buffers")
    ]
    calls: Annotated[
        Count, _output("Collectives", "{gathers} gathers, {reductions} reductions", "communication")
    ]
    most: Annotated[Parameters, _output("Gathered at once", "elements, at most", "parameters")]
    gathered: Bytes
    reduced: Bytes
    gathers: Count
    reductions: Count
    states: Annotated[Bytes, _output("States", "on each GPU between steps", "optimizer")]
    sent: Annotated[Bytes, _output("Sent by each GPU", "per step", "communication")]
    closing: Seconds


def _step(inputs: Inputs, changes: Mapping[str, Any]) -> FetchedStep:
    """Return the simulated step of the inputs, some of them changed."""
    inputs = replace(inputs, **changes)
    gradient = gradient_setting("deepspeed", inputs.gradients)
    job = replace(knob_job(*knob_fields(inputs)), gradient=gradient)
    return fetched_step(job, *_settings(inputs))


def _settings(inputs: Inputs) -> tuple[FetchSettings, ReduceBuckets]:
    knobs = FetchSettings(
        prefetch=inputs.prefetch,
        live=inputs.live,
        reuse=inputs.reuse,
        persistent=inputs.persistent,
    )
    return knobs, ReduceBuckets(size=inputs.bucket, overlap=inputs.overlap)


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    step = _step(inputs, {})
    return Result(
        step=step,
        usual=Lazy(partial(_step, inputs, DEFAULTS)),
        curves={name: SlicedRun(_curve(inputs, name)) for name in SETTINGS},
        tried=SlicedRun(_try_settings(inputs)),
        exposed=step.exposed,
        step_time=step.step,
        buffers=step.buffers,
        calls=step.gathers + step.reductions,
        most=step.fetched.live,
        gathered=step.live,
        reduced=step.bucket,
        gathers=step.gathers,
        reductions=step.reductions,
        states=step.states,
        sent=step.sent,
        closing=step.estimate.optimizer + step.estimate.other,
    )


def _curve(inputs: Inputs, name: str) -> Slices[Curve]:
    """Compute the curve of a setting over its range, the others fixed."""
    low, high = SETTINGS[name].low, SETTINGS[name].high
    xs = tuple(low * (high / low) ** (i / (_POINTS - 1)) for i in range(_POINTS))
    ys = []
    for done, x in enumerate(xs, start=1):
        yield step_progress(done, _POINTS, "Point")
        ys.append(_curve_value(inputs, name, x))
    now, default = (_curve_value(inputs, name, x) for x in (getattr(inputs, name), DEFAULTS[name]))
    return Curve(x=xs, y=tuple(ys), now=now, default=default)


def _curve_value(inputs: Inputs, name: str, value: float) -> float:
    """Return the output of a setting's curve; only exposed time needs a simulated step."""
    changes: Mapping[str, Any] = {name: value}
    if SETTINGS[name].shows == "exposed":
        return _step(inputs, changes).exposed
    plan = fetch_plan(inputs.model, *_settings(replace(inputs, **changes)))
    return (
        plan.buffers if SETTINGS[name].shows == "buffers" else float(plan.gathers + plan.reductions)
    )


def _try_settings(inputs: Inputs) -> Slices[tuple[FetchedStep, ...]]:
    """Simulate the job with each setting changed alone."""
    usual = {**DEFAULTS, "overlap": True, "gradients": "bf16"}
    steps = [_step(inputs, usual)]
    for done, (name, setting) in enumerate(SETTINGS.items(), start=1):
        yield step_progress(done, len(SETTINGS), "Setting")
        steps.append(_step(inputs, {**usual, name: setting.tried}))
    return *steps, _step(inputs, {**usual, "overlap": False})


_MOST: Bytes = 1.5 * GB
_WAIT: Seconds = 1.02
START: Mapping[str, Scalar] = {"model": "llama-3-8b", "ranks": 64, "tokens": 4096}
SOLUTION: Mapping[str, Scalar] = {**START, "live": 1e8, "bucket": 5e7}


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the challenge for the inputs."""
    return Challenge(
        title="Challenge: give the memory back",
        goal=say(
            "Llama 3 8B on 64 H100: bring the buffers below {m}, and expose less than {t}.",
            m=(_MOST, with_digits(BYTES)),
            t=(_WAIT, with_digits(SECONDS)),
        ),
        conditions=(
            Condition(
                text="Llama 3 8B on 64 H100, 4,096 tokens, ports of at most 400 Gb/s",
                met=inputs.model == "llama-3-8b"
                and (inputs.ranks, inputs.tokens) == (64, 4096)
                and inputs.gpu == "h100"
                and inputs.port <= 50e9,
            ),
            Condition(
                text=say("buffers of at most {m}", m=(_MOST, with_digits(BYTES))),
                met=result.buffers <= _MOST,
            ),
            Condition(
                text=say("less than {t} exposed", t=(_WAIT, with_digits(SECONDS))),
                met=result.exposed < _WAIT,
            ),
        ),
        hints=(
            "The largest buffers are the gathered parameters and the bucket of gradients.",
            "A tenth of the limit still lets every module fetch ahead; a limit of zero does not.",
        ),
        start=START,
        solution=SOLUTION,
    )


_AXES = {
    "exposed": ("exposed per step", SECONDS, "communication"),
    "buffers": ("buffers", BYTES, "buffers"),
    "calls": ("collectives per step", COUNT, "communication"),
}


def curve(present: Presenter, name: str, inputs: Inputs, result: Result) -> Slices[Lines]:
    """Yield progress and return the chart of a setting over its range, the others fixed."""
    setting = SETTINGS[name]
    title, quantity, color = _AXES[setting.shows]
    outputs = yield from result.curves[name].rest()
    default, step, changed = setting.default, result.step, getattr(inputs, name) != setting.default
    other = Point(key="default", label="default", x=default, y=outputs.default, color="ink")
    most = max(*outputs.y, outputs.now, *((outputs.default,) if changed else ()))
    return present.curve(
        f"{setting.key}: {title}",
        over=Scale(PARAMETERS, "elements", setting.low, setting.high, log=True),
        shows=Scale(quantity, title, 0.0, most * 1.15),
        x=outputs.x,
        lines=(Line(setting.shows, title, outputs.y, color),),
        handle=name,
        at=outputs.now,
        points=(other,) if changed else (),
        caption=say(
            "At the point: {b} of buffers, {t} exposed per step, {c} collectives. The axis of "
            "elements is logarithmic. Drag the handle.",
            b=(step.buffers, BYTES),
            t=(step.exposed, SECONDS),
            c=(step.gathers + step.reductions, COUNT),
        ),
    )


def memory(result: Result) -> Bars:
    """Return the memory bars: states, and buffers of the settings."""
    rows = {"now": ("your settings", result.step), "default": ("defaults", result.usual())}
    high = max(step.buffers for _, step in rows.values()) * 1.1
    return Bars(
        title="Buffers on each GPU",
        axis=Axis(label="memory", quantity=BYTES, low=0.0, high=high),
        bars=tuple(
            Bar(
                key=key,
                label=label,
                segments=(
                    Segment(key="live", label="gathered", value=step.live, color="parameters"),
                    Segment(key="bucket", label="bucket", value=step.bucket, color="gradients"),
                    Segment(
                        key="persistent",
                        label="persistent",
                        value=step.persistent,
                        color="buffers",
                    ),
                ),
            )
            for key, (label, step) in rows.items()
        ),
        caption=say(
            "They come on top of {s} of states and of the activations.",
            s=(result.states, BYTES),
        ),
    )


def settings_table(result: Result) -> Slices[Table]:
    """Yield progress and return the table of steps with each setting changed alone."""
    usual, *changed, last = yield from result.tried.rest()
    rows = [_row("all defaults", "", usual)]
    for setting, step in zip(SETTINGS.values(), changed, strict=True):
        change = f"{setting.default:.0e} \N{RIGHTWARDS ARROW} {setting.tried:.0e}"
        change = change.replace("e+0", "e").replace("e+", "e")
        rows.append(_row(setting.key, change, step))
    rows.append(_row("overlap_comm", "true \N{RIGHTWARDS ARROW} false", last))
    return Table(
        title="One setting changed at a time",
        columns=("Setting", "Elements", "Buffers", "Gathers", "Reductions", "Exposed"),
        rows=tuple(rows),
        caption="Your model, GPUs, tokens and ports; every other setting at its default.",
    )


def _row(key: str, change: str, step: FetchedStep) -> tuple[Text, ...]:
    return (
        key,
        change,
        say("{b}", b=(step.buffers, BYTES)),
        say("{n}", n=(step.gathers, COUNT)),
        say("{n}", n=(step.reductions, COUNT)),
        say("{t}", t=(step.exposed, SECONDS)),
    )


def regime(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    """Return the badge on the time or memory lost by the settings."""
    share = result.exposed / result.step_time
    if share > 0.1:
        return Badge(
            text="The step waits",
            sentence=present.say("{exposed} of {step_time} is exposed. {gathered} are gathered."),
            color="communication",
        )
    if result.most > inputs.live:
        return Badge(
            text="Above the limit",
            sentence=present.say(
                "{most} elements are gathered at once, although the limit is {limit}: it stops "
                "prefetches before they begin, and no tensor is ever cut.",
                limit=(inputs.live, PARAMETERS),
            ),
            color="buffers",
        )
    return Badge(
        text="Within the limit",
        sentence=present.say("{most} elements are gathered at most. {exposed} is exposed."),
        color="compute",
    )


TITLE = "Settings of ZeRO-3 in DeepSpeed"
QUESTION = "What does each setting of ZeRO-3 cost in memory, calls and time?"
HEADLINE = "step_time"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        "live_curve": partial(curve, present, "live", inputs, result),
        **present.values("exposed", "buffers"),
        "regime": regime(present, inputs, result),
        "prefetch_curve": partial(curve, present, "prefetch", inputs, result),
        "bucket_curve": partial(curve, present, "bucket", inputs, result),
        "reuse_curve": partial(curve, present, "reuse", inputs, result),
        "persistent_curve": partial(curve, present, "persistent", inputs, result),
        "memory": partial(memory, result),
        "board": partial(settings_table, result),
        **present.values("calls", "most", "states", "sent"),
        "step_time": present.value(
            "step_time", assumes=(*_ASSUMED, *no_range_assumptions(result.step.evidence))
        ),
        "challenge": partial(challenge, inputs, result),
    }
