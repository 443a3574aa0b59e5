"""Pause lab: an incast fills a port, and PFC pauses delay a flow to another port."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Annotated

from engine.core.inputs import Choice, Number, Unit
from engine.core.lazy import Lazy
from engine.core.outputs import Output, Presenter, Views
from engine.core.slices import Slices, step_progress
from engine.core.text import Text, say
from engine.core.units import BYTES, MILLI, SECONDS, SHARE, Bytes, KiB, Seconds, Share
from engine.core.views import Axis, Badge, Frame, Lines, Scene, Series, Shape, Table
from engine.draw.shapes import rect, text
from engine.simulate.network.head_of_line_blocking import (
    CELL,
    CONTROLS,
    FEEDBACK,
    RUN_TIME,
    Incast,
    IncastRun,
    IncastSample,
    simulate_incast,
)

_WIDTH, _HEIGHT, _FONT = 720.0, 392.0, 23.0
_HOST, _LEAF, _SWITCH, _ENDS = 84.0, 268.0, 470.0, 636.0
_VICTIM, _HOT, _OTHERS = 74.0, 176.0, 312.0

Point = tuple[float, float]


def incast_scene(scene: Incast, played: IncastRun) -> Scene:
    """Return the animation of the run, a frame per moment."""
    most = max(played.longest, scene.pause_at, *(moment.uplink for moment in played.moments))
    frames = tuple(
        Frame(caption=_caption(moment), shapes=tuple(_shapes(scene, moment, most)))
        for moment in played.moments
    )
    return Scene(
        title=f"{scene.senders} hosts send to one port, and a victim passes by",
        width=_WIDTH,
        height=_HEIGHT,
        frames=frames,
        opening=len(frames) // 2,
        caption="The thicker a line, the more crosses it. Bars are queues. A link in the color of "
        "the text is paused for a part of the time.",
    )


def _caption(moment: IncastSample) -> Text:
    return say(
        "{t}: the victim gets {v} of a port and its neighbor {h}; the uplink is paused for {p} of "
        "the time; {q} wait for the full port, and {u} in the leaf.",
        t=(moment.time, SECONDS),
        v=(moment.victim, SHARE),
        h=(moment.hot, SHARE),
        p=(moment.paused, SHARE),
        q=(moment.queue, BYTES),
        u=(moment.uplink, BYTES),
    )


def _shapes(scene: Incast, moment: IncastSample, most: Bytes) -> Iterable[Shape]:
    others = scene.senders - 1
    each = (1.0 - moment.hot) / others if others else 0.0
    yield _line("v1", (_HOST, _VICTIM), (_LEAF, 124.0), moment.victim, "c-data")
    yield _line("h1", (_HOST, _HOT), (_LEAF, 124.0), moment.hot, "c-communication")
    kind = "c-ink" if moment.paused > 0.02 else "c-communication"
    yield _line("up", (_LEAF, 124.0), (_SWITCH, 176.0), (moment.victim + moment.hot) / 2, kind)
    yield _line("others", (_HOST, _OTHERS), (_SWITCH, 230.0), min(1.0, each * others), kind)
    yield _line("v2", (_SWITCH, 150.0), (_ENDS, 90.0), moment.victim, "c-data")
    yield _line("h2", (_SWITCH, 230.0), (_ENDS, 270.0), 1.0, "c-communication")
    yield from _box("victim", (_HOST, _VICTIM), (140.0, 44.0), "victim", "c-data")
    yield from _box("hot", (_HOST, _HOT), (140.0, 44.0), "sender 1", "c-communication")
    name = "no other" if not others else "sender 2" if others == 1 else f"{others} others"
    yield from _box("rest", (_HOST, _OTHERS), (140.0, 44.0), name, "c-communication")
    yield from _queue("leaf", (_LEAF, 124.0), moment.uplink / most, "leaf")
    yield from _queue("switch", (_SWITCH, 196.0), moment.queue / most, "switch")
    yield from _box("idle", (_ENDS, 90.0), (150.0, 44.0), "idle port", "c-data")
    yield from _box("full", (_ENDS, 270.0), (150.0, 44.0), "full port", "c-communication")
    label = f"victim: {moment.victim * 100:.0f} %"
    yield text("told", _ENDS, 52.0, _FONT, label, "middle", "value c-ink")
    # In two lines, which fit between the leaf and the switch and over the link they speak of.
    middle = (_LEAF + _SWITCH) / 2
    yield text("paused", middle, 96.0, _FONT, "paused", "middle", "value c-ink")
    share = f"{moment.paused * 100:.0f} %"
    yield text("share", middle, 122.0, _FONT, share, "middle", "value c-ink")


def _box(key: str, at: Point, size: Point, words: str, kind: str) -> Iterable[Shape]:
    corner = (at[0] - size[0] / 2, at[1] - size[1] / 2)
    yield rect(f"{key}.back", corner, size, "rank", ())
    yield rect(key, corner, size, f"cell {kind}", (("fill-opacity", "0.25"),))
    yield text(f"{key}.t", at[0], at[1] + 8, _FONT, words, "middle", "c-ink")


def _queue(key: str, at: Point, full: Share, words: str) -> Iterable[Shape]:
    """A switch with a bar that fills from below."""
    wide, high = 88.0, 128.0
    corner = (at[0] - wide / 2, at[1] - high / 2)
    level = high * min(1.0, full)
    yield rect(f"{key}.back", corner, (wide, high), "rank port", ())
    bar = (corner[0] + 4, corner[1] + high - level)
    kind = "cell c-buffers"
    yield rect(f"{key}.bar", bar, (wide - 8, level), kind, (("fill-opacity", "0.55"),))
    yield text(f"{key}.t", at[0], corner[1] + high + 26, _FONT, words, "middle", "c-ink")


def _line(key: str, start: Point, end: Point, share: Share, kind: str) -> Shape:
    return Shape(
        key=key,
        tag="line",
        attributes={
            "x1": f"{start[0]:.1f}",
            "y1": f"{start[1]:.1f}",
            "x2": f"{end[0]:.1f}",
            "y2": f"{end[1]:.1f}",
            "class": kind,
            "stroke": "currentColor",
            "stroke-width": f"{1 + 7 * share:.2f}",
            "opacity": f"{0.3 + 0.7 * share:.2f}",
        },
    )


TITLE = "Pause, marks and a victim"
QUESTION = "Why does a flow to an idle port wait?"
HEADLINE = "victim"
PRESETS = {
    "Eight senders": {"senders": 8},
    "Nothing is paused": {"control": "drop"},
    "Pause and marks": {"control": "ecn"},
    "The victim in its own class": {"control": "own_class"},
}
_KIBIBYTES = Unit(" KiB", KiB, {"B": 1, "MiB": 2.0**20, "kB": 1e3, "MB": 1e6}, quantity=BYTES)
_ASSUMES = (
    "Cells of {cell} in slots on ports of 400 Gb/s, for {length}; means of the second half. Hosts "
    "always have something to send.",
    "The uplink is as fast as both hosts of the leaf together. A link is paused from the threshold "
    "on until half of it is left; the pause itself takes no time.",
)
_MARKING_ASSUMES = (
    "Rates fall and recover in the manner of DCQCN, with the constants of 2015; {feedback} from a "
    "mark until the host slows down.",
)
_SOURCES = ("zhu2015", "gangidi2024")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    senders: Annotated[
        int, Number(label="Hosts that send to the full port", low=1, high=8, whole=True)
    ] = 4
    control: Annotated[str, Choice(label="When the queue grows", options=CONTROLS)] = "pause"
    pause_at: Annotated[
        float,
        Number(
            label="Pause from",
            unit=_KIBIBYTES,
            low=64 * KiB,
            high=4096 * KiB,
            scale="log2",
            help="Waiting bytes that came over one link.",
        ),
    ] = 512 * KiB
    mark_at: Annotated[
        float,
        Number(
            label="Mark from",
            unit=_KIBIBYTES,
            low=32 * KiB,
            high=2048 * KiB,
            scale="log2",
            help="Waiting bytes of the full port.",
        ),
    ] = 128 * KiB


def _output(label: str, note: str, color: str = "ink") -> Output:
    return Output(label, "", note, color, _ASSUMES, _SOURCES, "simulated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The rates of all flows, and the same hosts under every congestion control."""

    scene: Incast
    played: IncastRun
    controls: Mapping[str, Lazy[IncastRun]]
    victim: Annotated[Share, _output("The victim gets", "of a port that is idle", "data")]
    hot: Annotated[Share, _output("Its neighbor gets", "of the full port", "communication")]
    full_port: Annotated[Share, _output("The full port is busy", "the more, the better")]
    paused: Annotated[Share, _output("Uplink paused", "of the time")]
    lost: Annotated[Share, _output("Cells lost", "and sent again")]
    longest: Annotated[Bytes, _output("Longest queue", "for the full port", "buffers")]
    cell: Bytes = CELL
    length: Seconds = RUN_TIME
    feedback: Seconds = FEEDBACK


def solve(inputs: Inputs) -> Result:
    """Return the run under the control that was chosen."""
    scene = Incast(
        senders=inputs.senders,
        control=inputs.control,
        pause_at=inputs.pause_at,
        mark_at=inputs.mark_at,
    )
    played = _cached_play(scene)
    return Result(
        scene=scene,
        played=played,
        controls={
            name: Lazy(partial(_cached_play, replace(scene, control=name))) for name in CONTROLS
        },
        victim=played.victim,
        hot=played.hot,
        full_port=played.full_port,
        paused=played.paused,
        lost=played.lost,
        longest=played.longest,
    )


# The table of all controls asks for runs that the reader has seen.
_cached_play = lru_cache(maxsize=32)(simulate_incast)


def views(inputs: Inputs, result: Result) -> Views:
    """Return the scene, the rates, and the comparison of congestion controls."""
    present = Presenter(result, inputs)
    assumes = _ASSUMES + (_MARKING_ASSUMES if inputs.control == "ecn" else ())
    names = ("victim", "hot", "full_port", "paused", "lost", "longest")
    return {
        "scene": partial(incast_scene, result.scene, result.played),
        "verdict": _verdict(present, result),
        **{name: present.value(name, assumes=assumes) for name in names},
        "rates": partial(_rate_chart, result),
        "controls": partial(_control_table, result),
    }


def _verdict(present: Presenter, result: Result) -> Badge:
    if result.victim < 0.95:
        return Badge(
            text="Head-of-line blocking",
            sentence=present.say(
                "The victim's way is free, but it stands behind its neighbor in a paused queue: "
                "{victim} of a port."
            ),
            color="communication",
        )
    if result.lost > 0.01:
        return Badge(
            text="Cells are lost",
            sentence=present.say(
                "The victim is not held up. {lost} of the cells are sent in vain."
            ),
            color="communication",
        )
    if result.full_port < 0.95:
        return Badge(
            text="The victim passes, at a price",
            sentence=present.say(
                "After the first burst, marks keep the switch from pausing. The hosts slow down "
                "too far, and the full port is busy for {full_port} of the time."
            ),
            color="data",
        )
    return Badge(text="The victim passes", sentence="Nothing holds it up.", color="data")


def _rate_chart(result: Result) -> Lines:
    moments = result.played.moments
    when = tuple(moment.time for moment in moments)
    columns: Mapping[str, tuple[str, tuple[Share, ...], str]] = {
        "victim": ("victim", tuple(moment.victim for moment in moments), "data"),
        "hot": ("its neighbor", tuple(moment.hot for moment in moments), "communication"),
        "paused": ("uplink paused", tuple(moment.paused for moment in moments), "ink"),
    }
    return Lines(
        title="Rates over time",
        x=Axis(label="time", quantity=SECONDS, low=0.0, high=2 * MILLI),
        y=Axis(label="of a port, or of the time", quantity=SHARE, low=0.0, high=1.05),
        series=tuple(
            Series(key=key, label=label, x=when, y=column, color=color, dashed=key == "paused")
            for key, (label, column, color) in columns.items()
        ),
    )


def _control_table(result: Result) -> Slices[Table]:
    rows: list[tuple[Text, ...]] = []
    for done, (name, label) in enumerate(CONTROLS.items(), start=1):
        yield step_progress(done, len(CONTROLS), "Control")
        outcome = result.controls[name]()
        cells = (outcome.victim, outcome.hot, outcome.full_port, outcome.paused, outcome.lost)
        rows.append(
            (
                label,
                *(say("{s}", s=(share, SHARE)) for share in cells),
                say("{b}", b=(outcome.longest, BYTES)),
            )
        )
    return Table(
        title="The same hosts under every control",
        columns=("Control", "Victim", "Neighbor", "Full port busy", "Paused", "Lost", "Queue"),
        rows=tuple(rows),
    )
