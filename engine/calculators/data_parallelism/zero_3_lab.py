"""ZeRO-3 at real scale: FSDP2's streams, prefetch, resharding, and memory over time."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Annotated

from engine.core.inputs import Number, Scalar, Switch
from engine.core.lazy import Lazy
from engine.core.outputs import Presenter, Views
from engine.core.text import Text, render_text, say
from engine.core.text import render_text as plain_words
from engine.core.units import BYTES, COUNT, SECONDS, Bytes, Gbit, Seconds, Share, with_digits
from engine.core.views import Axis, Badge, Bar, Bars, Challenge, Condition, Frame, Scene, Shape
from engine.draw.shapes import rect, text
from engine.form.fields import LabGpu, OwnConstants
from engine.form.sharded.lab import (
    LabGradients,
    LabMicro,
    LabModel,
    LabPort,
    LabRanks,
    LabTokens,
    fit_badge,
    gradient_setting,
    simulated_output,
    simulated_step,
    step_segments,
    step_timeline,
)
from engine.simulate.data_parallel.sharded_step import (
    ShardedSetting,
    ShardedStep,
    simulate_sharded_step,
)
from engine.simulate.streams.streams import COMPUTE, OpSpan

_WIDTH, _LEFT, _HIGH, _TOP = 430.0, 8.0, 74.0, 34.0
_GatherTimes = dict[int, list[tuple[Seconds, Seconds, Seconds]]]
_LOOK = {"sharded": "0.06", "gathering": "0.3", "gathered": "0.55", "computing": "0.85"}


def gather_scene(ran: ShardedStep) -> Scene:
    """Return the animation: a frame per pass of each unit in the first micro-batch."""
    units = ran.job.work.layers
    passes = [
        span
        for span in ran.spans
        if span.op.stream == COMPUTE and span.op.key[0] in "FB" and _micro(span) == 0
    ]
    rooms = _gather_times(ran)
    frames = tuple(_frame(ran, now, units, rooms) for now in passes)
    return Scene(
        title="Which layers are there",
        width=_WIDTH,
        height=_TOP + _HIGH + 106,
        frames=frames,
        caption="A box is a layer. Empty: only this GPU's share is there. Orange: its "
        "parameters are on their way. Full: they are all there. Blue: computing.",
    )


def _micro(span: OpSpan) -> int:
    return int(span.op.key[1:].partition(".")[0])


def _unit(span: OpSpan) -> int:
    return int(span.op.key.partition(".")[2])


def _frame(ran: ShardedStep, now: OpSpan, units: int, rooms: _GatherTimes) -> Frame:
    middle = now.start + (now.end - now.start) / 2
    states = [_state(rooms.get(unit, []), middle) for unit in range(units)]
    states[_unit(now)] = "computing"
    shapes: list[Shape] = [
        text("input", _LEFT, 20, 14, "input", "start"),
        text("output", _WIDTH - _LEFT, 20, 14, "output", "end"),
    ]
    for unit, state in enumerate(states):
        shapes += _box(unit, units, state)
    memory = ran.memory[bisect_right(ran.memory, middle, key=lambda step: step[0]) - 1][1]
    there = sum(state != "sharded" for state in states)
    shapes += _bar(ran, memory)
    return Frame(caption=_caption(ran, now, there), shapes=tuple(shapes))


@lru_cache(maxsize=4096)
def _box(unit: int, units: int, state: str) -> tuple[Shape, Shape]:
    """Return the box of a layer and its number, if there is room for that."""
    wide = (_WIDTH - 2 * _LEFT) / units
    corner = (_LEFT + unit * wide + 1, _TOP)
    color = {"computing": "compute", "gathering": "communication"}.get(state, "parameters")
    more = (("fill-opacity", _LOOK[state]),)
    box = rect(f"u{unit}", corner, (max(wide - 2, 1), _HIGH), f"cell c-{color}", more)
    every = max(1, round(24 / wide))
    name = f"{unit + 1}" if unit % every == every - 1 or units <= 16 else ""
    return box, text(f"n{unit}", corner[0] + wide / 2 - 1, _TOP + _HIGH + 16, 13, name)


def _gather_times(ran: ShardedStep) -> _GatherTimes:
    """Return for each layer when its gathers of the first micro-batch start, end and are freed."""
    spans = {span.op.key: span for span in ran.spans}
    gathers: _GatherTimes = {}
    for key, span in spans.items():
        name, mark, rest = key.partition(":")
        if mark and rest == "parameters" and name[1:].startswith("0."):
            layer = int(name.partition(".")[2])
            gathers.setdefault(layer, []).append((span.start, span.end, ran.freed(key, spans)))
    return gathers


def _state(rooms: list[tuple[Seconds, Seconds, Seconds]], middle: Seconds) -> str:
    """Return the state of a layer's parameters in the middle of another layer's pass."""
    for start, end, freed in rooms:
        if start <= middle < end:
            return "gathering"
        if end <= middle < freed:
            return "gathered"
    return "sharded"


def _bar(ran: ShardedStep, memory: float) -> list[Shape]:
    top = _TOP + _HIGH + 54
    wide = _WIDTH - 2 * _LEFT
    most = max(ran.peak, 1.0)
    label = plain_words(say("{m} of states and buffers", m=(memory, BYTES)))
    return [
        text("held", _LEFT, top - 10, 14, label, "start"),
        rect("room", (_LEFT, top), (wide, 16), "port", ()),
        rect("fill", (_LEFT, top), (wide * memory / most, 16), "sent c-buffers", ()),
        text(
            "peak",
            _WIDTH - _LEFT,
            top + 36,
            14,
            plain_words(say("at most {m}", m=(ran.peak, BYTES))),
            "end",
        ),
    ]


def _caption(ran: ShardedStep, now: OpSpan, there: int) -> Text:
    name = "Backward" if now.op.key[0] == "B" else "Forward"
    waited = now.waited_for.endswith(":parameters")
    idle = "It had to wait for its parameters. " if waited else ""
    return say(
        f"{name} pass of layer {_unit(now) + 1}, from {{s}}. {idle}Parameters of {{n}} layers are "
        "there or on their way.",
        s=(now.start, SECONDS),
        n=(there, COUNT),
    )


_SOURCES = ("rajbhandari2020", "zhao2023")
_output = partial(simulated_output, _SOURCES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    prefetch: Annotated[
        int,
        Number(
            label="Prefetch depth",
            low=0,
            high=4,
            whole=True,
            help="Parameters are gathered this many layers ahead of the one that computes.",
        ),
    ] = 1
    reshard: Annotated[
        bool,
        Switch(
            label="Free after the forward pass",
            help="reshard_after_forward of FSDP2. Off: one gather per micro-batch less.",
        ),
    ] = True
    tokens: LabTokens = 4096
    micro_batches: LabMicro = 1
    model: LabModel = "llama-3-8b"
    ranks: LabRanks = 64
    port: LabPort = 400 * Gbit
    gradients: LabGradients = "fp32"
    gpu: LabGpu = "h100"
    own_constants: OwnConstants = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The step; `by_depth` holds a micro-batch at each prefetch depth from 0."""

    ran: ShardedStep
    by_depth: Lazy[tuple[ShardedStep, ...]]
    step_time: Annotated[Seconds, _output("Step", "{closing} of it optimizer, host, slowest GPU")]
    closing: Seconds
    computing: Share
    exposed: Annotated[
        Seconds,
        _output(
            "Exposed communication", "of {isolated} in all collectives, alone", "communication"
        ),
    ]
    isolated: Seconds
    peak: Annotated[Bytes, _output("States and buffers, at most", "{kept} of it states", "buffers")]
    kept: Annotated[Bytes, _output("States on each GPU", "between steps", "optimizer")]
    sent: Annotated[Bytes, _output("Sent by each GPU", "per step", "communication")]


def setting_of(inputs: Inputs, prefetch: int) -> ShardedSetting:
    """Return the job, its parameters gathered so many layers ahead."""
    return ShardedSetting(
        model=inputs.model,
        gpu=inputs.gpu,
        ranks=inputs.ranks,
        num_microbatches=inputs.micro_batches,
        tokens=inputs.tokens,
        port=inputs.port,
        gradient=gradient_setting("fsdp", inputs.gradients),
        own_constants=inputs.own_constants,
        prefetch=prefetch,
        reshard=inputs.reshard,
    )


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    setting = setting_of(inputs, inputs.prefetch)
    ran = simulate_sharded_step(setting)
    return Result(
        ran=ran,
        by_depth=Lazy(partial(_by_depth, setting)),
        step_time=ran.step,
        closing=ran.closing,
        computing=ran.computing,
        exposed=ran.account.exposed,
        isolated=ran.isolated,
        peak=ran.peak,
        kept=ran.states.total,
        sent=ran.sent,
    )


def _by_depth(setting: ShardedSetting) -> tuple[ShardedStep, ...]:
    single = replace(setting, num_microbatches=1)
    return tuple(simulate_sharded_step(replace(single, prefetch=depth)) for depth in range(5))


TITLE = "ZeRO-3 at real scale"
QUESTION = "How much of gathering and freeing can a step hide, and at which memory?"
HEADLINE = "step_time"
PRESETS = {
    "No prefetch": {"prefetch": 0},
    "Kept after the forward pass": {"reshard": False},
    "70B on 128 GPUs": {"model": "llama-3-70b", "ranks": 128},
    "One port of 100 Gb/s per node": {"port": 12.5 * Gbit},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        "carousel": partial(gather_scene, result.ran),
        "step_time": simulated_step(present, result.ran.evidence),
        **present.values("exposed"),
        "regime": _regime(present, inputs, result),
        "timeline": partial(
            step_timeline,
            "A step of FSDP on its streams",
            result.ran,
            "FSDP2 has a stream for gathers and one for reductions; here they take turns on the "
            "wire. Hatched: communication that nothing hides.",
        ),
        **present.values("peak", "kept", "sent"),
        "fits": fit_badge(present, result.ran),
        "depths": partial(_depth_bars, result),
        "challenge": partial(_challenge, inputs, result),
    }


def _regime(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    share = result.exposed / result.step_time
    if inputs.prefetch == 0:
        return Badge(
            text="Every gather is waited for",
            sentence="Without prefetch a layer's gather starts when the layer before it has ended.",
            color="communication",
        )
    if share < 0.1:
        return Badge(
            text="Compute-bound",
            sentence=present.say("Of {isolated} of communication only {exposed} is exposed."),
            color="compute",
        )
    return Badge(
        text="Network-bound",
        sentence=present.say("The network never rests for long: {exposed} is exposed."),
        color="communication",
    )


def _depth_bars(result: Result) -> Bars:
    depths = result.by_depth()
    high = max(step.step for step in depths) * 1.05
    return Bars(
        title="One micro-batch by prefetch depth",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=high),
        bars=tuple(
            Bar(
                key=f"depth{depth}",
                label=f"depth {depth}, {_gigabytes(step.peak)}",
                segments=step_segments(step),
            )
            for depth, step in enumerate(depths)
        ),
        caption="Beside the depth: states and buffers at most.",
    )


def _gigabytes(size: Bytes) -> str:
    return render_text(say("{m}", m=(size, BYTES)))


START: Mapping[str, Scalar] = {"model": "llama-3-70b", "prefetch": 0, "tokens": 4096, "ranks": 64}
SOLUTION: Mapping[str, Scalar] = {**START, "prefetch": 1, "ranks": 128}
_MOST: Bytes = 20e9


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    share = result.exposed / result.step_time
    return Challenge(
        title="Challenge: 70B in a quarter of the memory",
        goal=say(
            "Train Llama 3 70B with at most {m} of states and buffers, and wait for less than a "
            "tenth of the step.",
            m=(_MOST, with_digits(BYTES)),
        ),
        conditions=(
            Condition(
                text="Llama 3 70B on H100, ports of at most 400 Gb/s",
                met=inputs.model == "llama-3-70b"
                and inputs.gpu == "h100"
                and inputs.port <= 400 * Gbit,
            ),
            Condition(
                text="at most 4,096 tokens in a micro-batch, one micro-batch",
                met=inputs.tokens <= 4096 and inputs.micro_batches == 1,
            ),
            Condition(
                text=say("at most {m} for states and buffers", m=(_MOST, with_digits(BYTES))),
                met=result.peak <= _MOST,
            ),
            Condition(text="less than 10 % of the step exposed", met=share < 0.1),
        ),
        hints=(
            "Prefetch hides gathers, and costs the memory of one more unit per level.",
            "States shrink with the number of GPUs. Buffers do not.",
        ),
        start=START,
        solution=SOLUTION,
    )
