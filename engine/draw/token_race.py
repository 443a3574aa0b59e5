"""Two lanes that generate text: weights travel in one, activations in the other, on one clock."""

from collections.abc import Iterable, Sequence

from engine.core.numbers import show
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, SECONDS, Bytes, Count, Seconds
from engine.core.views import Frame, Scene, Shape
from engine.draw.shapes import rect, text
from engine.simulate.job.generation import Generated

_WIDTH, _LANE, _PROMPT, _GAP, _HIGH = 372.0, 96.0, 92.0, 3.0, 30.0
_FONT = 14.0
_NAMES = (("zero", "ZeRO-3: weights travel"), ("tensor", "TP: activations travel"))
_COLORS = {"zero": "parameters", "tensor": "activations"}


def race_scene(lanes: dict[str, Generated], prompt: Count) -> Scene:
    """Return a frame for each pass that the faster lane ends, and one for the end of the slower."""
    fastest = min(lanes.values(), key=lambda one: one.ends[-1])
    times = [0.0, *fastest.ends]
    last = max(one.ends[-1] for one in lanes.values())
    if last > times[-1]:
        times.append(last)
    frames = tuple(
        Frame(caption=_caption(lanes, time), shapes=tuple(_shapes(lanes, time, prompt)))
        for time in times
    )
    return Scene(
        title="A prompt and its tokens",
        width=_WIDTH,
        height=24 + len(_NAMES) * _LANE,
        frames=frames,
        opening=len(fastest.ends),
        caption="The wide box is the prompt, a narrow one a new token. All sequences of the batch "
        "move together. Each step of the player is one pass of the faster lane.",
    )


def _caption(lanes: dict[str, Generated], time: Seconds) -> Text:
    zero, tensor = lanes["zero"], lanes["tensor"]
    return say(
        "After {t}. New tokens with ZeRO-3: {z}, sent by each GPU: {zb}. New tokens with tensor "
        "parallelism: {n}, sent by each GPU: {nb}.",
        t=(time, SECONDS),
        z=(_made(zero, time), COUNT),
        zb=(zero.sent(time), BYTES),
        n=(_made(tensor, time), COUNT),
        nb=(tensor.sent(time), BYTES),
    )


def _made(one: Generated, time: Seconds) -> Count:
    """Return the new tokens by then: the pass of the prompt gives the first."""
    return int(one.done(time) + 1e-9)


def _shapes(lanes: dict[str, Generated], time: Seconds, prompt: Count) -> Iterable[Shape]:
    yield text("clock", 0, 16, _FONT, show(time, SECONDS), "start", "value c-ink")
    for index, (key, name) in enumerate(_NAMES):
        one, top = lanes[key], 40 + index * _LANE
        yield text(f"{key}.name", 0, top, _FONT, name, "start", "value c-ink")
        yield from _boxes(key, one, time, top + 8, prompt)
        made = _made(one, time)
        counts = f"{made} token{'s' if made != 1 else ''}, {_size(one.sent(time))} sent"
        yield text(f"{key}.count", 0, top + _HIGH + 28, _FONT, counts, "start", "c-muted")


def _size(size: Bytes) -> str:
    return show(size, BYTES)


def _boxes(key: str, one: Generated, time: Seconds, top: float, prompt: Count) -> Iterable[Shape]:
    done = one.done(time)
    wide = (_WIDTH - _PROMPT - len(one.ends) * _GAP) / max(1, len(one.ends) - 1)
    widths: Sequence[float] = [_PROMPT, *(wide,) * (len(one.ends) - 1)]
    left = 0.0
    for index, width in enumerate(widths):
        part = min(1.0, max(0.0, done - index))
        kind = f"cell c-{_COLORS[key]}"
        faint, solid = (("fill-opacity", "0.12"),), (("fill-opacity", "0.5"),)
        yield rect(f"{key}.e{index}", (left, top), (width, _HIGH), kind, faint)
        yield rect(f"{key}.d{index}", (left, top), (width * part, _HIGH), kind, solid)
        left += width + _GAP
    label = f"{prompt:,} tokens"
    yield text(f"{key}.prompt", _PROMPT / 2, top + 20, 12.0, label, "middle", "c-ink")
