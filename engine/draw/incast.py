"""An incast as a scene: hosts, the leaf they share, the full port, and a victim on its way."""

from collections.abc import Iterable

from engine.core.text import Text, say
from engine.core.units import BYTES, SECONDS, SHARE, Bytes, Share
from engine.core.views import Frame, Scene, Shape
from engine.draw.shapes import rect, text
from engine.simulate.network.head_of_line_blocking import Incast, Moment, Played

_WIDTH, _HEIGHT, _FONT = 720.0, 392.0, 23.0
_HOST, _LEAF, _SWITCH, _ENDS = 84.0, 268.0, 470.0, 636.0
_VICTIM, _HOT, _OTHERS = 74.0, 176.0, 312.0

Point = tuple[float, float]


def incast_scene(scene: Incast, played: Played) -> Scene:
    """Return the run, one frame for each of its moments."""
    most = max(played.longest, scene.pause_at, *(one.uplink for one in played.moments))
    frames = tuple(
        Frame(caption=_caption(one), shapes=tuple(_shapes(scene, one, most)))
        for one in played.moments
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


def _caption(one: Moment) -> Text:
    return say(
        "{t}: the victim gets {v} of a port and its neighbor {h}; the uplink is paused for {p} of "
        "the time; {q} wait for the full port, and {u} in the leaf.",
        t=(one.time, SECONDS),
        v=(one.victim, SHARE),
        h=(one.hot, SHARE),
        p=(one.paused, SHARE),
        q=(one.queue, BYTES),
        u=(one.uplink, BYTES),
    )


def _shapes(scene: Incast, one: Moment, most: Bytes) -> Iterable[Shape]:
    others = scene.senders - 1
    each = (1.0 - one.hot) / others if others else 0.0
    yield _line("v1", (_HOST, _VICTIM), (_LEAF, 124.0), one.victim, "c-data")
    yield _line("h1", (_HOST, _HOT), (_LEAF, 124.0), one.hot, "c-communication")
    kind = "c-ink" if one.paused > 0.02 else "c-communication"
    yield _line("up", (_LEAF, 124.0), (_SWITCH, 176.0), (one.victim + one.hot) / 2, kind)
    yield _line("others", (_HOST, _OTHERS), (_SWITCH, 230.0), min(1.0, each * others), kind)
    yield _line("v2", (_SWITCH, 150.0), (_ENDS, 90.0), one.victim, "c-data")
    yield _line("h2", (_SWITCH, 230.0), (_ENDS, 270.0), 1.0, "c-communication")
    yield from _box("victim", (_HOST, _VICTIM), (140.0, 44.0), "victim", "c-data")
    yield from _box("hot", (_HOST, _HOT), (140.0, 44.0), "sender 1", "c-communication")
    name = "no other" if not others else "sender 2" if others == 1 else f"{others} others"
    yield from _box("rest", (_HOST, _OTHERS), (140.0, 44.0), name, "c-communication")
    yield from _queue("leaf", (_LEAF, 124.0), one.uplink / most, "leaf")
    yield from _queue("switch", (_SWITCH, 196.0), one.queue / most, "switch")
    yield from _box("idle", (_ENDS, 90.0), (150.0, 44.0), "idle port", "c-data")
    yield from _box("full", (_ENDS, 270.0), (150.0, 44.0), "full port", "c-communication")
    told = f"victim: {one.victim * 100:.0f} %"
    yield text("told", _ENDS, 52.0, _FONT, told, "middle", "value c-ink")
    # In two lines, which fit between the leaf and the switch and over the link they speak of.
    middle = (_LEAF + _SWITCH) / 2
    yield text("paused", middle, 96.0, _FONT, "paused", "middle", "value c-ink")
    share = f"{one.paused * 100:.0f} %"
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
