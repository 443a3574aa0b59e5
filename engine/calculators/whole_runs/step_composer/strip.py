"""The operations of the composed step as boxes to drag, each with what it waited for."""

from engine.calculators.whole_runs.step_composer.inputs import Inputs
from engine.core.numbers import show
from engine.core.text import Text, say
from engine.core.units import SECONDS
from engine.core.views import Scene
from engine.draw.drag_handle import Grip
from engine.draw.stream_strip import Chip, strip_scene
from engine.simulate.streams.composed_step import Composed
from engine.simulate.streams.streams import COMPUTE


def strip(inputs: Inputs, step: Composed) -> Scene:
    """Return the scene: compute above communication, a frame for every operation as it starts."""
    orders = step.plan.orders
    streams = (
        ("compute", inputs.compute, orders.compute),
        ("communication", inputs.communication, orders.communication),
    )
    chips = [
        _chip(step, row, stream, _merged(asked, shown), shown, place)
        for row, (stream, asked, shown) in enumerate(streams)
        for place in range(len(shown))
    ]
    turns = sorted(
        step.spans.values(), key=lambda span: (span.start, span.end, span.op.stream != COMPUTE)
    )
    rows = (
        ("compute", f"step {show(step.length, SECONDS)}"),
        ("communication", f"exposed {show(step.seen.exposed, SECONDS)}"),
    )
    return strip_scene(rows, chips, [span.op.key for span in turns])


def _chip(
    step: Composed,
    row: int,
    stream: str,
    whole: tuple[str, ...],
    shown: tuple[str, ...],
    place: int,
) -> Chip:
    name = shown[place]
    kind = step.kind(name)
    span = step.spans[name]
    grip = Grip(
        name=stream,
        key=name,
        notch=1.0,
        label=f"Place of {name}",
        now=place + 1,
        low=1,
        high=len(shown),
        text=f"{place + 1} of {len(shown)}",
        back=_swapped(whole, name, shown[place - 1]) if place else "",
        ahead=_swapped(whole, name, shown[place + 1]) if place + 1 < len(shown) else "",
    )
    return Chip(
        name=name,
        kind=kind,
        layer=name.removeprefix(kind),
        row=row,
        color=stream,
        marked=name in step.path,
        waits=(span.waited_for,) if span.waited_for else (),
        caption=_caption(step, name),
        grip=grip,
    )


def _merged(asked: str, shown: tuple[str, ...]) -> tuple[str, ...]:
    """Return all items of the input, those shown in their order, the others where they were."""
    left = iter(shown)
    return tuple(next(left) if name in shown else name for name in asked.split("-"))


def _swapped(whole: tuple[str, ...], one: str, two: str) -> str:
    change = {one: two, two: one}
    return "-".join(change.get(name, name) for name in whole)


def _caption(step: Composed, name: str) -> Text:
    span = step.spans[name]
    return say(
        f"{name} runs from {{s}} to {{e}}. {_reason(step, name)}",
        s=(span.start, SECONDS),
        e=(span.end, SECONDS),
    )


def _reason(step: Composed, name: str) -> str:
    last = step.spans[name].waited_for
    if not last:
        return "It waits for nothing."
    why = step.plan.needs[name].get(last)
    if why == "room":
        return f"It waited until {last} freed a layer."
    return f"It waited for {last}{'' if why else ', which stands before it'}."
