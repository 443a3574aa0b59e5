"""Animation of the search for the largest batch: a row per attempt, against the capacity."""

from collections.abc import Sequence

from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, SHARE, Bytes
from engine.core.views import Frame, Scene, Shape
from engine.simulate.step.batch_search import Probe

_WIDTH, _ROW, _TOP = 720.0, 32.0, 40.0
_LEFT, _RIGHT = 108.0, 20.0
_FONT = 21.1  # still read on a phone, where the sheet is half as wide


def search_scene(probes: Sequence[Probe], usable: Bytes) -> Scene:
    """Return the search animation: each frame adds an attempt and the bounds known after it."""
    most = max(usable, *(probe.needed for probe in probes))
    scale = (_WIDTH - _LEFT - _RIGHT) / most
    height = _TOP + _ROW * len(probes) + 40
    line = _line(_LEFT + usable * scale, height - 36)
    frames = [_frame(probes, now, usable, scale, line) for now in range(len(probes))]
    return Scene(
        title="Trying until memory runs out",
        width=_WIDTH,
        height=height,
        frames=tuple(frames),
        opening=min(2, len(frames) - 1),
        caption="Double the batch until it does not fit; then halve the gap between the largest "
        "that fits and the smallest that does not.",
    )


def _frame(
    probes: Sequence[Probe], now: int, usable: Bytes, scale: float, line: list[Shape]
) -> Frame:
    rows = [
        shape
        for row, probe in enumerate(probes)
        for shape in _row(row, probe, usable, scale, shown=row <= now)
    ]
    known = _text(
        "known", _WIDTH / 2, _TOP + _ROW * len(probes) + 30, _FONT, _known_range(probes, now)
    )
    return Frame(caption=_caption(probes, now, usable), shapes=(*rows, *line, known))


def _row(row: int, probe: Probe, usable: Bytes, scale: float, *, shown: bool) -> list[Shape]:
    """Return the name of an attempt, its bar and its verdict, which wait for its turn."""
    top = _TOP + row * _ROW
    color = "activations" if probe.fits else "buffers"
    width = probe.needed * scale
    share = f"{100 * probe.needed / usable:,.0f} %"
    verdict = f"{share}, fits" if probe.fits else f"{share}, out of memory"
    # The verdict stands behind a short bar and on a long one.
    behind = width < 0.55 * (_WIDTH - _LEFT - _RIGHT)
    at = _LEFT + width + 8 if behind else _LEFT + 10
    opacity = "1" if shown else "0"
    link = f"batch:{probe.batch}"
    bar = Shape(
        key=f"bar{row}",
        tag="rect",
        attributes={
            "x": f"{_LEFT:g}",
            "y": f"{top + 4:g}",
            "width": f"{width if shown else 0:.1f}",
            "height": f"{_ROW - 8:g}",
            "class": f"sent c-{color}",
            "fill-opacity": "0.3",
            "data-links": link,
        },
    )
    called = f"b = {probe.batch:,}" if shown else f"no. {row + 1}"
    name = _text(f"name{row}", _LEFT - 10, top + 22, _FONT, called, "end", "1" if shown else "0.6")
    words = _text(f"verdict{row}", at, top + 22, _FONT, verdict, "start", opacity)
    return [bar, name, words]


def _line(x: float, bottom: float) -> list[Shape]:
    rule = Shape(
        key="capacity",
        tag="line",
        attributes={
            "x1": f"{x:.1f}",
            "x2": f"{x:.1f}",
            "y1": f"{_TOP - 8:g}",
            "y2": f"{bottom:g}",
            "class": "c-ink",
            "stroke": "currentColor",
            "stroke-width": "2",
        },
    )
    anchor = "middle" if x < _WIDTH - 80 else "end"
    return [rule, _text("usable", min(x, _WIDTH - 4), _TOP - 18, _FONT, "usable memory", anchor)]


def _text(
    key: str,
    x: float,
    y: float,
    size: float,
    text: str,
    anchor: str = "middle",
    opacity: str = "1",
) -> Shape:
    return Shape(
        key=key,
        tag="text",
        attributes={
            "x": f"{x:.1f}",
            "y": f"{y:g}",
            "font-size": f"{size:g}",
            "text-anchor": anchor,
            "class": "c-ink",
            "opacity": opacity,
        },
        text=text,
    )


def _known_range(probes: Sequence[Probe], now: int) -> str:
    low, high = probes[now].low, probes[now].high
    if now == len(probes) - 1:
        return f"answer: {low:,}" if low else "not even one sequence fits"
    return f"at least {low:,}, less than {high:,}" if high else f"at least {low:,}"


def _caption(probes: Sequence[Probe], now: int, usable: Bytes) -> Text:
    probe = probes[now]
    outcome = "It fits." if probe.fits else "Out of memory."
    end = ""
    if now == len(probes) - 1:
        end = f" After {len(probes)} attempts the answer is {probe.low:,}."
    elif probe.high:
        end = f" The answer lies between {probe.low:,} and {probe.high:,}."
    needs = "sequence needs" if probe.batch == 1 else "sequences at once need"
    return say(
        f"{{b}} {needs} {{m}}, {{u}} of what there is. {outcome}{end}",
        b=(probe.batch, COUNT),
        m=(probe.needed, BYTES),
        u=(probe.needed / usable, SHARE),
    )
