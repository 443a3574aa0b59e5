"""Pause lab: several hosts fill one port, and a flow to another port is held up with them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Annotated

from engine.core.inputs import Choice, Number, Unit
from engine.core.lazy import Later
from engine.core.outputs import Teller, Told, Views
from engine.core.slices import Slices, steps_done
from engine.core.text import Text, say
from engine.core.units import BYTES, MILLI, SECONDS, SHARE, Bytes, KiB, Seconds, Share
from engine.core.views import Axis, Badge, Lines, Series, Table
from engine.draw.incast import incast_scene
from engine.simulate.network.head_of_line_blocking import (
    CELL,
    CONTROLS,
    FEEDBACK,
    LENGTH,
    Incast,
    Played,
    play,
)

TITLE = "Pause, marks and a victim"
QUESTION = "Why does a flow to an idle port wait?"
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
_MARKED = (
    "Rates fall and recover in the manner of DCQCN, with the constants of 2015; {feedback} from a "
    "mark until the host slows down.",
)
_SOURCES = ("zhu2015", "gangidi2024")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

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


def _told(label: str, note: str, color: str = "ink") -> Told:
    return Told(label, "", note, color, _ASSUMES, _SOURCES, "simulated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What everybody gets, and the same hosts under every control."""

    scene: Incast
    played: Played
    controls: Mapping[str, Later[Played]]
    victim: Annotated[Share, _told("The victim gets", "of a port that is idle", "data")]
    hot: Annotated[Share, _told("Its neighbor gets", "of the full port", "communication")]
    full_port: Annotated[Share, _told("The full port is busy", "the more, the better")]
    paused: Annotated[Share, _told("Uplink paused", "of the time")]
    lost: Annotated[Share, _told("Cells lost", "and sent again")]
    longest: Annotated[Bytes, _told("Longest queue", "for the full port", "buffers")]
    cell: Bytes = CELL
    length: Seconds = LENGTH
    feedback: Seconds = FEEDBACK


def solve(inputs: Inputs) -> Result:
    """Return the run under the control that was chosen."""
    scene = Incast(
        senders=inputs.senders,
        control=inputs.control,
        pause_at=inputs.pause_at,
        mark_at=inputs.mark_at,
    )
    played = _played(scene)
    return Result(
        scene=scene,
        played=played,
        controls={name: Later(partial(_played, replace(scene, control=name))) for name in CONTROLS},
        victim=played.victim,
        hot=played.hot,
        full_port=played.full_port,
        paused=played.paused,
        lost=played.lost,
        longest=played.longest,
    )


# The table of all controls asks for runs that the reader has seen.
_played = lru_cache(maxsize=32)(play)


def views(inputs: Inputs, result: Result) -> Views:
    """Return the scene, what everybody gets, and all controls side by side."""
    tell = Teller(result, inputs)
    assumes = _ASSUMES + (_MARKED if inputs.control == "ecn" else ())
    names = ("victim", "hot", "full_port", "paused", "lost", "longest")
    return {
        "scene": partial(incast_scene, result.scene, result.played),
        "verdict": _verdict(tell, result),
        **{name: tell.value(name, assumes=assumes) for name in names},
        "rates": partial(_rates, result),
        "controls": partial(_controls, result),
    }


def _verdict(tell: Teller, result: Result) -> Badge:
    if result.victim < 0.95:
        return Badge(
            text="Head-of-line blocking",
            sentence=tell.say(
                "The victim's way is free, but it stands behind its neighbor in a paused queue: "
                "{victim} of a port."
            ),
            color="communication",
        )
    if result.lost > 0.01:
        return Badge(
            text="Cells are lost",
            sentence=tell.say("The victim is not held up. {lost} of the cells are sent in vain."),
            color="communication",
        )
    if result.full_port < 0.95:
        return Badge(
            text="The victim passes, at a price",
            sentence=tell.say(
                "After the first burst, marks keep the switch from pausing. The hosts slow down "
                "too far, and the full port is busy for {full_port} of the time."
            ),
            color="data",
        )
    return Badge(text="The victim passes", sentence="Nothing holds it up.", color="data")


def _rates(result: Result) -> Lines:
    moments = result.played.moments
    when = tuple(one.time for one in moments)
    columns: Mapping[str, tuple[str, tuple[Share, ...], str]] = {
        "victim": ("victim", tuple(one.victim for one in moments), "data"),
        "hot": ("its neighbor", tuple(one.hot for one in moments), "communication"),
        "paused": ("uplink paused", tuple(one.paused for one in moments), "ink"),
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


def _controls(result: Result) -> Slices[Table]:
    rows: list[tuple[Text, ...]] = []
    for place, (name, label) in enumerate(CONTROLS.items(), start=1):
        yield steps_done(place, len(CONTROLS), "Control")
        one = result.controls[name]()
        cells = (one.victim, one.hot, one.full_port, one.paused, one.lost)
        rows.append(
            (
                label,
                *(say("{s}", s=(share, SHARE)) for share in cells),
                say("{b}", b=(one.longest, BYTES)),
            )
        )
    return Table(
        title="The same hosts under every control",
        columns=("Control", "Victim", "Neighbor", "Full port busy", "Paused", "Lost", "Queue"),
        rows=tuple(rows),
    )
