"""Scenes of expert loads: a histogram per step, with biases below it."""

from collections.abc import Iterable, Mapping, Sequence

from engine.core.text import say
from engine.core.units import COUNT, RATIO, SHARE, Count
from engine.core.views import Frame, Scene, Shape
from engine.draw.shapes import rect, text
from engine.simulate.layer.router_life import RouterHistory

_WIDTH, _LEFT, _TOP, _HIGH, _LOW = 428.0, 8.0, 34.0, 190.0, 46.0
_FRAMES = 20
_FONT = 14.0


def histogram_scene(life: RouterHistory) -> Scene:
    """Return about twenty steps from first to last: load and bias of each expert."""
    count = len(life.asked)
    numbers = sorted({round(i * (count - 1) / _FRAMES) for i in range(_FRAMES + 1)})
    most = max(max(loads) for loads in life.asked)
    reach = max((abs(b) for row in life.biases for b in row), default=0.0)
    frames = tuple(
        Frame(
            caption=say(
                "Step {n}: the busiest expert is asked {r} the mean, and {d} of the choices are "
                "dropped.",
                n=(number + 1, COUNT),
                r=(max(life.asked[number]) * len(life.asked[0]) / sum(life.asked[number]), RATIO),
                d=(life.dropped[number], SHARE),
            ),
            shapes=tuple(_shapes(life, number, most, reach)),
        )
        for number in numbers
    )
    return Scene(
        title="Loads of the experts, step by step",
        width=_WIDTH,
        height=_TOP + _HIGH + 30 + 2 * _LOW,
        frames=frames,
        caption="A bar is how often one expert is asked in a step; what lies above the solid line "
        "finds no place. The dashed line is the mean. Below: the bias that is added to its score.",
    )


def _shapes(life: RouterHistory, number: Count, most: Count, reach: float) -> Iterable[Shape]:
    loads, biases = life.asked[number], life.biases[number]
    wide = (_WIDTH - 2 * _LEFT) / len(loads)
    floor = _TOP + _HIGH
    zero = floor + 30 + _LOW
    yield _text("step", (_LEFT, 18), f"step {number + 1}", "start")
    for expert, (count, bias) in enumerate(zip(loads, biases, strict=True)):
        left = _LEFT + expert * wide + 2
        taken = min(count, life.capacity)
        high = [_HIGH * part / most for part in (taken, count - taken)]
        links = {"data-links": f"expert:{expert}", "fill-opacity": "0.75"}
        size = (wide - 4, high[0])
        yield _rect(f"taken{expert}", (left, floor - high[0]), size, "cell c-expert", links)
        over = (left, floor - high[0] - high[1])
        dropped = {"data-links": f"expert:{expert}", "fill-opacity": "0.12"}
        yield _rect(f"over{expert}", over, (wide - 4, high[1]), "cell c-ink", dropped)
        name = f"E{expert + 1}" if len(loads) <= 10 else f"{expert + 1}"
        yield _text(f"name{expert}", (left + wide / 2 - 2, floor + 17), name, "middle")
        tall = _LOW * 0.8 * abs(bias) / reach if reach else 0.0
        top = zero - tall if bias > 0 else zero
        yield _rect(f"bias{expert}", (left, top), (wide - 4, tall), "cell c-accent", links)
    mean = floor - _HIGH * sum(loads) / len(loads) / most
    yield _line("mean", mean, dashed=True)
    capacity_height = floor - _HIGH * min(life.capacity / most, 1.08)
    yield _line("capacity", capacity_height, dashed=False)
    yield _line("zero", zero, dashed=True)
    bias_text = f"bias, up to {reach:.3f}" if reach else "no biases"
    yield _text("told", (_LEFT, zero + _LOW - 4), bias_text, "start")


def _line(key: str, y: float, *, dashed: bool) -> Shape:
    attributes = {
        "x1": f"{_LEFT:g}",
        "x2": f"{_WIDTH - _LEFT:g}",
        "y1": f"{y:.1f}",
        "y2": f"{y:.1f}",
        "class": "c-ink",
        "stroke": "currentColor",
        "stroke-width": "1" if dashed else "2",
        "stroke-dasharray": "4 4" if dashed else "none",
    }
    return Shape(key=key, tag="line", attributes=attributes)


def _text(key: str, at: tuple[float, float], words: str, anchor: str) -> Shape:
    return text(key, *at, _FONT, words, anchor)


def _rect(
    key: str, at: tuple[float, float], size: Sequence[float], kind: str, more: Mapping[str, str]
) -> Shape:
    return rect(key, at, (size[0], max(size[1], 0.0)), kind, tuple(more.items()))
