"""One small figure for each setting, and all of them changed one at a time."""

from engine.calculators.data_parallelism.zero_3_knobs.inputs import RANGES, Inputs
from engine.calculators.data_parallelism.zero_3_knobs.result import (
    DEFAULTS,
    SHOWN,
    TRIED,
    Result,
)
from engine.core.outputs import Teller
from engine.core.slices import Slices
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, PARAMETERS, SECONDS
from engine.core.views import Axis, Badge, Bar, Bars, Lines, Point, Segment, Series, Table
from engine.simulate.data_parallel.fetched_step import FetchedStep

KEYS = {
    "live": "stage3_max_live_parameters",
    "prefetch": "stage3_prefetch_bucket_size",
    "bucket": "reduce_bucket_size",
    "reuse": "stage3_max_reuse_distance",
    "persistent": "stage3_param_persistence_threshold",
}
_AXES = {
    "exposed": ("exposed per step", SECONDS, "communication"),
    "buffers": ("buffers", BYTES, "buffers"),
    "calls": ("collectives per step", COUNT, "communication"),
}


def curve(name: str, inputs: Inputs, result: Result) -> Slices[Lines]:
    """Show what one setting changes over its range, the others as they are."""
    what = SHOWN[name]
    title, quantity, color = _AXES[what]
    low, high = RANGES[name]
    found = yield from result.curves[name].rest()
    now, default, step = getattr(inputs, name), DEFAULTS[name], result.step
    points = [Point(key="now", label=say("{y}", y=(found.now, quantity)), x=now, y=found.now)]
    if now != default:
        other = found.default
        points.insert(0, Point(key="default", label="default", x=default, y=other, color="ink"))
    return Lines(
        title=f"{KEYS[name]}: {title}",
        x=Axis(label="elements", quantity=PARAMETERS, low=low, high=high, scale="log"),
        y=Axis(
            label=title,
            quantity=quantity,
            low=0.0,
            high=max(*found.y, *(p.y for p in points)) * 1.15,
        ),
        series=(Series(key=what, label=title, x=found.x, y=found.y, color=color),),
        points=tuple(points),
        handle=name,
        caption=say(
            "At the point: {b} of buffers, {t} exposed per step, {c} collectives. The axis of "
            "elements is logarithmic. Drag the handle.",
            b=(step.buffers, BYTES),
            t=(step.seen.exposed, SECONDS),
            c=(step.gathers + step.reductions, COUNT),
        ),
    )


def memory(result: Result) -> Bars:
    """Return what the settings cost, beside the states."""
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


def board(result: Result) -> Slices[Table]:
    """Show every setting changed alone, the job as the reader has it."""
    usual, *changed, last = yield from result.tried.rest()
    rows = [_row("all defaults", "", usual)]
    for (name, value), step in zip(TRIED.items(), changed, strict=True):
        change = f"{DEFAULTS[name]:.0e} \N{RIGHTWARDS ARROW} {value:.0e}".replace(
            "e+0", "e"
        ).replace("e+", "e")
        rows.append(_row(KEYS[name], change, step))
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
        say("{t}", t=(step.seen.exposed, SECONDS)),
    )


def regime(tell: Teller, inputs: Inputs, result: Result) -> Badge:
    """Return what the settings give away."""
    share = result.exposed / result.step_time
    if share > 0.1:
        return Badge(
            text="The step waits",
            sentence=tell.say("{exposed} of {step_time} is exposed. {gathered} are gathered."),
            color="communication",
        )
    if result.most > inputs.live:
        return Badge(
            text="Above the limit",
            sentence=tell.say(
                "{most} elements are gathered at once, although the limit is {limit}: it stops "
                "prefetches before they begin, and no tensor is ever cut.",
                limit=(inputs.live, PARAMETERS),
            ),
            color="buffers",
        )
    return Badge(
        text="Within the limit",
        sentence=tell.say("{most} elements are gathered at most. {exposed} is exposed."),
        color="compute",
    )
