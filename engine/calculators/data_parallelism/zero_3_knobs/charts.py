"""One small figure for each setting, and all of them changed one at a time."""

from collections.abc import Mapping

from engine.basis.slices import Slices, steps_done
from engine.basis.text import Text, say
from engine.basis.told import Teller
from engine.basis.units import BYTES, COUNT, PARAMETERS, SECONDS
from engine.basis.views import Axis, Badge, Bar, Bars, Lines, Point, Segment, Series, Table
from engine.calculators.data_parallelism.zero_3_knobs.inputs import RANGES, Inputs
from engine.calculators.data_parallelism.zero_3_knobs.result import Result, plan_of, step_of
from engine.simulate.fetched_step import BUCKET, FetchedStep
from engine.simulate.parameter_fetch import LIVE, PERSISTENT, PREFETCH, REUSE

DEFAULTS = {
    "prefetch": PREFETCH,
    "live": LIVE,
    "reuse": REUSE,
    "persistent": PERSISTENT,
    "bucket": BUCKET,
}
KEYS = {
    "live": "stage3_max_live_parameters",
    "prefetch": "stage3_prefetch_bucket_size",
    "bucket": "reduce_bucket_size",
    "reuse": "stage3_max_reuse_distance",
    "persistent": "stage3_param_persistence_threshold",
}
# What the figure of a setting shows: exposed time, buffers or collectives.
_SHOWN = {
    "live": "buffers",
    "prefetch": "exposed",
    "bucket": "exposed",
    "reuse": "buffers",
    "persistent": "calls",
}
_AXES = {
    "exposed": ("exposed per step", SECONDS, "communication"),
    "buffers": ("buffers", BYTES, "buffers"),
    "calls": ("collectives per step", COUNT, "communication"),
}
_POINTS = 9
# name -> value that the board tries instead of the default
_TRIED = {"live": 1e8, "prefetch": 1e6, "bucket": 5e7, "reuse": 1e10, "persistent": 2e7}


def _shown(inputs: Inputs, changes: Mapping[str, float], what: str) -> float:
    if what == "exposed":
        return step_of(inputs, changes).seen.exposed
    plan = plan_of(inputs, changes)
    return plan.buffers if what == "buffers" else float(plan.gathers + plan.reductions)


def curve(name: str, inputs: Inputs, result: Result) -> Slices[Lines]:
    """Find what one setting changes over its range, the others as they are."""
    what = _SHOWN[name]
    title, quantity, color = _AXES[what]
    low, high = RANGES[name]
    xs = tuple(low * (high / low) ** (i / (_POINTS - 1)) for i in range(_POINTS))
    ys = []
    for place, x in enumerate(xs, start=1):
        yield steps_done(place, _POINTS, "Point")
        ys.append(_shown(inputs, {name: x}, what))
    now, default = getattr(inputs, name), DEFAULTS[name]
    step = result.step
    mine = _shown(inputs, {}, what)
    label = say("{y}", y=(mine, quantity))
    points = [Point(key="now", label=label, x=now, y=mine)]
    if now != default:
        other = _shown(inputs, {name: default}, what)
        points.insert(0, Point(key="default", label="default", x=default, y=other, color="ink"))
    return Lines(
        title=f"{KEYS[name]}: {title}",
        x=Axis(label="elements", quantity=PARAMETERS, low=low, high=high, scale="log"),
        y=Axis(
            label=title,
            quantity=quantity,
            low=0.0,
            high=max(*ys, *(p.y for p in points)) * 1.15,
        ),
        series=(Series(key=what, label=title, x=xs, y=tuple(ys), color=color),),
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


def memory(inputs: Inputs, result: Result) -> Bars:
    """Return what the settings cost, beside the states."""
    usual = step_of(inputs, DEFAULTS)
    rows = {"now": ("your settings", result.step), "default": ("defaults", usual)}
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


def board(inputs: Inputs) -> Slices[Table]:
    """Find every setting changed alone, the job as the reader has it."""
    usual = {**DEFAULTS, "overlap": True}
    rows = [_row("all defaults", "", step_of(inputs, usual))]
    for place, (name, value) in enumerate(_TRIED.items(), start=1):
        yield steps_done(place, len(_TRIED), "Setting")
        change = f"{DEFAULTS[name]:.0e} \N{RIGHTWARDS ARROW} {value:.0e}".replace(
            "e+0", "e"
        ).replace("e+", "e")
        rows.append(_row(KEYS[name], change, step_of(inputs, {**usual, name: value})))
    rows.append(
        _row(
            "overlap_comm",
            "true \N{RIGHTWARDS ARROW} false",
            step_of(inputs, {**usual, "overlap": False}),
        )
    )
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
