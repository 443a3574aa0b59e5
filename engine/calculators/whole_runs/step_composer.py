"""Step composer: order of a sharded step's operations on two streams, and its cost.

Three layers, one micro-batch, parameters sharded as by ZeRO-3 or FSDP.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import partial
from itertools import pairwise
from typing import Annotated

from engine.core.inputs import MILLISECONDS, Number, Order, Scalar, Switch
from engine.core.numbers import format_value
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text, say
from engine.core.units import COUNT, MILLI, SECONDS, SHARE, Count, Seconds, Share, with_digits
from engine.core.views import Badge, Challenge, Condition, Lane, Rule, Scene, Series, Span, Timeline
from engine.draw.drag_handle import DragHandle
from engine.draw.stream_strip import Chip, strip_scene
from engine.form.missing_range import NO_RANGE
from engine.formulas.issue_order import LEAST_STEP
from engine.simulate.streams.composed_step import (
    COMMUNICATION_ITEMS,
    COMPUTE_ITEMS,
    LAYERS,
    ComposedStep,
    LayerTimes,
    OrderPlan,
    compose_step,
    operations_time,
    path_communication,
    plan_orders,
)
from engine.simulate.streams.stream_account import Piece, exposed_pieces
from engine.simulate.streams.streams import COMPUTE, NETWORK

REDUCE_FIRST = "-".join(COMMUNICATION_ITEMS)

PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "Blocking: memory for one layer": {"room": 1},
    "Prefetch by one": {"communication": "AG1-AG2-AG3-AG2b-RS3-AG1b-RS2-RS1"},
    "Everything gathered first": {"room": 3},
}


def _time(label: str, low: Seconds = 0.0) -> Number:
    return Number(
        label=label, unit=MILLISECONDS, low=low, high=20 * MILLI, step=0.5 * MILLI, advanced=True
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    room: Annotated[
        int,
        Number(
            label="Room for gathered layers",
            low=1,
            high=LAYERS,
            whole=True,
            help="With memory for all three, none is freed and gathered again.",
        ),
    ] = 2
    clipped: Annotated[
        bool,
        Switch(
            label="Optimizer waits for all gradients",
            help="As it must to clip them by their norm.",
        ),
    ] = True
    communication: Annotated[
        str,
        Order(
            label="Communication",
            items=COMMUNICATION_ITEMS,
            help="Order of the stream; AG2b gathers layer 2 again, for its backward pass.",
            advanced=True,
        ),
    ] = REDUCE_FIRST
    compute: Annotated[
        str,
        Order(label="Compute", items=COMPUTE_ITEMS, help="Order of the stream.", advanced=True),
    ] = "-".join(COMPUTE_ITEMS)
    gather: Annotated[float, _time("All-gather of a layer (AG)")] = 3 * MILLI
    reduction: Annotated[float, _time("Reduce-scatter (RS)")] = 3 * MILLI
    forward: Annotated[float, _time("Forward (F)", 0.5 * MILLI)] = 2 * MILLI
    backward: Annotated[float, _time("Backward (B)")] = 4 * MILLI
    optimizer: Annotated[float, _time("Optimizer, per layer (Opt)")] = 1 * MILLI


RULES: tuple[str, ...] = (
    "Each stream works in order, one operation at a time. A forward pass waits for its gather and "
    "the layer before, a backward pass for its gather and the layer behind, a reduction for its "
    "backward pass.",
    "The top layer is kept from its forward to its backward pass. Collectives slow nothing down.",
    NO_RANGE,
)
_ROOM = "A layer takes its room from the start of its gather to the end of its last use."
_BOUND = "A lower bound: with little room even the best order may stay above it."
_SHARDED = ("rajbhandari2020", "zhao2023")


def _simulated(label: str, note: str, color: str = "ink") -> Output:
    return Output(label, note=note, color=color, assumes=RULES, sources=_SHARDED, basis="simulated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The composed step.

    Attributes:
        computing: share of the step.
        last_layers, wire, update, first, passes: parts of the bound (`LEAST_STEP`).
        causes: what is waited for on the longest chain, by cause, and how long.
        step: all of it.
        pieces: of each operation that takes time, exposed or not.
    """

    step_time: Annotated[Seconds, _simulated("Step", "{computing} of it computing")]
    exposed: Annotated[
        Seconds,
        _simulated(
            "Exposed communication", "a collective runs and nothing is computed", "communication"
        ),
    ]
    peak: Annotated[
        Count,
        Output(
            "Gathered layers, at most",
            note=f"of {LAYERS}, at one time",
            color="parameters",
            assumes=(_ROOM, *RULES),
            sources=("zhao2023",),
            basis="simulated",
        ),
    ]
    least: Annotated[
        Seconds,
        Output(
            "No order is faster than",
            "T",
            "with these times",
            assumes=(_BOUND,),
            sources=("rajbhandari2020",),
        ),
    ]
    computing: Share
    last_layers: Annotated[Seconds, Output(symbol="a")]
    wire: Annotated[Seconds, Output(symbol="m")]
    update: Annotated[Seconds, Output(symbol="u")]
    first: Annotated[Seconds, Output(symbol="g")]
    passes: Annotated[Seconds, Output(symbol="c")]
    causes: dict[str, tuple[tuple[str, ...], Seconds]]
    step: ComposedStep
    pieces: Mapping[str, list[Piece]]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page; an order that cannot run is repaired."""
    clipped = inputs.clipped
    times = LayerTimes(
        gather=inputs.gather,
        reduction=inputs.reduction,
        forward=inputs.forward,
        backward=inputs.backward,
        optimizer=inputs.optimizer,
    )
    orders = plan_orders(inputs.compute, inputs.communication, inputs.room, clipped=clipped)
    step = compose_step(orders, times, inputs.room, clipped=clipped)
    return Result(
        step_time=step.length,
        exposed=step.account.exposed,
        peak=max(count for _, count in step.gathered_layers),
        least=step.least,
        computing=step.account.compute / step.length,
        last_layers=step.parts["a"],
        wire=step.parts["m"],
        update=step.parts["u"],
        first=step.parts["g"],
        passes=step.parts["c"],
        causes={
            cause: (names, operations_time(step, names))
            for cause, names in path_communication(step).items()
        },
        step=step,
        pieces={name: _pieces(step, name) for name in step.spans},
    )


def _pieces(step: ComposedStep, name: str) -> list[Piece]:
    ran = step.spans[name]
    pieces = [(ran.start, ran.end, False)]
    if ran.op.stream != COMPUTE and ran.end > ran.start:
        pieces = exposed_pieces(ran, step.spans.values())
    return [piece for piece in pieces if piece[1] - piece[0] > 1e-9]


_CHALLENGE_ROOM, _TARGET = 2, 30 * MILLI
_FIXED = ("clipped", "gather", "reduction", "forward", "backward", "optimizer")
START: Mapping[str, Scalar] = {
    field.name: field.default for field in fields(Inputs) if isinstance(field.default, Scalar)
}
SOLUTION: Mapping[str, Scalar] = {
    **START,
    "communication": "AG1-AG2-AG3-AG2b-AG1b-RS3-RS2-RS1",
}


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the challenge for the inputs."""
    conditions = (
        Condition(
            text="the times and the optimizer as at the start",
            met=all(getattr(inputs, name) == START[name] for name in _FIXED),
        ),
        Condition(
            text=say("never more than {n} gathered layers", n=(_CHALLENGE_ROOM, COUNT)),
            met=result.peak <= _CHALLENGE_ROOM,
        ),
        Condition(
            text=say("a step of at most {t}", t=(_TARGET, with_digits(SECONDS))),
            met=result.step_time <= _TARGET * (1 + 1e-9),
        ),
    )
    return Challenge(
        title="Challenge: one order in 148",
        goal=say(
            "With memory for two layers, 148 orders of the communication stream can run. One of "
            "them takes {t}. Find it.",
            t=(_TARGET, with_digits(SECONDS)),
        ),
        conditions=conditions,
        hints=(
            "Look for a reduction that a gather stands behind on the chain with thick borders.",
            "Computation waits for gathers. Only the optimizer waits for reductions.",
        ),
        start=START,
        solution=SOLUTION,
    )


def strip(inputs: Inputs, step: ComposedStep) -> Scene:
    """Return the scene: compute above communication, a frame for every operation as it starts."""
    orders = step.plan.orders
    streams = (
        ("compute", inputs.compute, orders.compute),
        ("communication", inputs.communication, orders.communication),
    )
    chips = [
        _chip(step, row, stream, _merged(order, shown), shown, index)
        for row, (stream, order, shown) in enumerate(streams)
        for index in range(len(shown))
    ]
    turns = sorted(
        step.spans.values(), key=lambda span: (span.start, span.end, span.op.stream != COMPUTE)
    )
    rows = (
        ("compute", f"step {format_value(step.length, SECONDS)}"),
        ("communication", f"exposed {format_value(step.account.exposed, SECONDS)}"),
    )
    return strip_scene(rows, chips, [span.op.key for span in turns])


def _chip(
    step: ComposedStep,
    row: int,
    stream: str,
    whole: tuple[str, ...],
    shown: tuple[str, ...],
    index: int,
) -> Chip:
    name = shown[index]
    kind = step.kind(name)
    span = step.spans[name]
    grip = DragHandle(
        name=stream,
        key=name,
        notch=1.0,
        label=f"Place of {name}",
        now=index + 1,
        low=1,
        high=len(shown),
        text=f"{index + 1} of {len(shown)}",
        back=_swap_operations(whole, name, shown[index - 1]) if index else "",
        ahead=_swap_operations(whole, name, shown[index + 1]) if index + 1 < len(shown) else "",
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


def _merged(order: str, shown: tuple[str, ...]) -> tuple[str, ...]:
    """Return all items of the input, the shown items in their order, the others in place."""
    left = iter(shown)
    return tuple(next(left) if name in shown else name for name in order.split("-"))


def _swap_operations(whole: tuple[str, ...], first: str, second: str) -> str:
    change = {first: second, second: first}
    return "-".join(change.get(name, name) for name in whole)


def _caption(step: ComposedStep, name: str) -> Text:
    span = step.spans[name]
    return say(
        f"{name} runs from {{s}} to {{e}}. {_reason(step, name)}",
        s=(span.start, SECONDS),
        e=(span.end, SECONDS),
    )


def _reason(step: ComposedStep, name: str) -> str:
    last = step.spans[name].waited_for
    if not last:
        return "It waits for nothing."
    why = step.plan.needs[name].get(last)
    if why == "room":
        return f"It waited until {last} freed a layer."
    return f"It waited for {last}{'' if why else ', which stands before it'}."


def regime(present: Presenter, result: Result) -> Badge:
    """Return the bottleneck on the step's critical path."""
    if result.step.reaches_bound:
        return Badge(
            text="The least there is",
            sentence="No order of these operations is faster. Only other times are.",
            color="compute",
        )
    causes = result.causes
    # What differs in the last bits only is equal, and then the order comes first.
    worst = max(causes, key=lambda cause: round(causes[cause][1], 9))
    names, time = causes[worst]
    if not time:
        return Badge(
            text="Computation",
            sentence="Only the first gather and the last reduction are waited for.",
            color="compute",
        )
    title, words = {
        "order": (
            "Order",
            f"{_blocking_collective(result.step, names)}, and the step waits for both",
        ),
        "room": ("Room", "Gathers wait until a layer is freed, and computation waits for them"),
        "wire": ("Wire", "Collectives follow one another, and the step waits for them"),
    }[worst]
    return Badge(
        text=title,
        sentence=present.say(
            f"{words}. Such waits are {{t}}, {{s}} of the step.",
            t=(time, SECONDS),
            s=(time / result.step_time, SHARE),
        ),
        color="communication",
    )


def _blocking_collective(step: ComposedStep, names: tuple[str, ...]) -> str:
    """Return the first critical operation that queues behind another collective."""
    pairs = ((before, after) for before, after in pairwise(step.path) if after in names)
    blocking = (pair for pair in pairs if step.spans[pair[0]].op.stream == NETWORK)
    before, after = next(blocking, ("another", "A collective"))
    return f"{after} stands behind {before}"


def verdict(plan: OrderPlan) -> Badge:
    """Return whether the order runs as requested, or the moved operation and the reason."""
    if not plan.moved:
        return Badge(
            text="Runs as ordered",
            sentence="Whatever an operation waits for has its turn before it.",
            color="compute",
        )
    moved = plan.moved
    come = "comes" if len(moved) == 1 else "come"
    return Badge(
        text="Order repaired",
        sentence=f"As asked, nothing would run any more: {plan.why}. "
        f"So {', '.join(moved)} {come} later, as drawn.",
        color="communication",
    )


def timeline(present: Presenter, result: Result) -> Timeline:
    """Return both streams, and below them the gathered layers."""
    step = result.step
    times, counts = zip(*step.gathered_layers, strict=True)
    return Timeline(
        title="The step in this order",
        axis=present.axis("step_time", "time", low=0.0, high=step.length * 1.02),
        lanes=(Lane(key=COMPUTE, label="compute"), Lane(key=NETWORK, label="communication")),
        spans=tuple(_spans(result)),
        rules=(Rule(key="least", label="no order ends sooner", axis="x", at=step.least),),
        caption="Hatched: nothing is computed at the same time. The curve counts gathered layers.",
        curves=(
            Series(
                key="gathered",
                label="gathered",
                x=(*times, step.length),
                y=(*(float(count) for count in counts), float(counts[-1])),
                color="parameters",
            ),
        ),
        curve_axis=present.axis("peak", "gathered layers", low=0.0, high=LAYERS * 1.1),
    )


def _spans(result: Result) -> Iterator[Span]:
    for name, pieces in result.pieces.items():
        ran = result.step.spans[name]
        for number, (start, end, exposed) in enumerate(pieces, start=1):
            yield Span(
                key=name if number == len(pieces) else f"{name} ({number})",
                lane=ran.op.stream,
                start=start,
                end=end,
                label=name,
                color="compute" if ran.op.stream == COMPUTE else "communication",
                exposed=exposed,
                links=ran.op.links,
                after=ran.op.after if number == 1 else (),
            )


TITLE = "Compose a step"
QUESTION = "In which order should gathers and reductions stand?"
HEADLINE = "step_time"
EQUATIONS = (LEAST_STEP,)


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "step_time": present.value("step_time"),
        "regime": regime(present, result),
        "strip": partial(strip, inputs, result.step),
        "verdict": verdict(result.step.plan),
        "timeline": partial(timeline, present, result),
        **present.values("exposed", "peak", "least"),
        "challenge": partial(challenge, inputs, result),
    }
