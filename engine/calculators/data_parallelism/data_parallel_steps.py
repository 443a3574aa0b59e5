"""Data-parallel steps: five phases on real numbers, 16 samples, 1 to 8 GPUs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from engine.core.inputs import MILLISECONDS, Choice, Number
from engine.core.numbers import typeset
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text, say
from engine.core.units import COUNT, MILLI, SECONDS, Count, Seconds
from engine.core.views import Badge, Frame, Scene, Shape
from engine.draw.drag_handle import DragHandle
from engine.form.missing_range import SYNTHETIC_JOB
from engine.simulate.data_parallel.replicas import (
    SAMPLES,
    Line,
    TrainingStep,
    parameter_distance,
    sample_shards,
    train_steps,
)
from engine.simulate.streams.replica_clock import (
    BACKWARD,
    FORWARD,
    UPDATE,
    ReplicaClock,
    replica_times,
)

_WIDTH, _LEFT, _TILE, _ROW, _TOP = 560.0, 6.0, 34.0, 88.0, 84.0
_GLIDE = "transition:transform var(--step,0.5s) ease-in-out"
_FORWARD = 2  # the first frame in which the GPUs compute
_PHASES = ("partition", "forward", "backward", "all-reduce", "update")

# Dragging a tile up gives GPU 0 one sample more of the last GPU's; down gives it back. The number
# in the form does the same by keyboard.
_GRIPS = tuple(
    DragHandle(name="extra", key=f"{sample}", notch=0.6 * _ROW, steps=1, up=True).attributes()
    for sample in range(len(SAMPLES))
)


def replicas_scene(step: TrainingStep, clock: ReplicaClock, number: Count) -> Scene:
    """Return a step as eight frames: the batch, and the five phases with their moments of truth."""
    lanes = len(step.replicas)
    height = _TOP + lanes * _ROW + 42
    stages = range(8)
    return Scene(
        title="A step of data-parallel training",
        width=_WIDTH,
        height=height,
        opening=_FORWARD,
        frames=tuple(
            Frame(
                caption=_caption(step, clock, number, stage),
                shapes=tuple(_shapes(step, clock, stage, height)),
            )
            for stage in stages
        ),
        caption="Each tile is a sample: its x and y, then the error of its prediction. The bar in "
        "a lane is the time that its GPU has computed.",
    )


def _shapes(step: TrainingStep, clock: ReplicaClock, stage: int, height: float) -> Iterable[Shape]:
    yield _text("batch", 8, 20, "one batch", "c-ink", 16.5, "start")
    for lane, replica in enumerate(step.replicas):
        top = _TOP + lane * _ROW
        links = f"rank:{lane}"
        yield _rect(f"box{lane}", 0, top, _WIDTH, _ROW - 8, "rank", links)
        line = replica.after if stage == 7 else step.before
        shown = _gradient_text(step, lane, stage)
        yield _text(f"gpu{lane}", 8, top + 18, f"GPU {lane}", "c-ink", 16.5, "start")
        yield _text(f"line{lane}", 84, top + 18, f"y = {_line_text(line)}", "c-ink", 16.5, "start")
        yield _text(f"grad{lane}", _WIDTH - 8, top + 18, shown, "c-ink", 16.5, "end")
        yield from _clock_shapes(clock, lane, stage, top)
        for position, sample in enumerate(replica.samples):
            yield from _tile(step, (lane, position, sample), stage)
    yield from _progress(clock, stage, height)


def _tile(step: TrainingStep, where: tuple[int, int, int], stage: int) -> Iterable[Shape]:
    """Yield a tile: in the batch at first, then in its lane."""
    lane, position, sample = where
    moved = stage > 0
    x = _LEFT + _TILE * (position if moved else sample)
    y = _TOP + lane * _ROW + 24 if moved else 26.0
    style = f"transform:translate({x:g}px,{y:g}px);{_GLIDE}"
    sample_x, sample_y = SAMPLES[sample]
    error = step.replicas[lane].errors[position]
    links = f"rank:{lane} sample:{sample + 1}"
    yield Shape(
        key=f"tile{sample}",
        tag="rect",
        attributes={
            "x": "1.5",
            "y": "1.5",
            "width": f"{_TILE - 3:g}",
            "height": "41",
            "rx": "2",
            "class": "cell c-activations" if stage < 3 else "cell c-gradients",
            "fill-opacity": "0.12" if stage < 2 else "0.3",
            "style": style,
            "data-links": links,
            **(_GRIPS[sample] if moved else {}),
        },
    )
    rows = (
        typeset(f"{sample_x:g}"),
        typeset(f"{sample_y:g}") if stage < 2 else _short_number(error),
    )
    for row, text in enumerate(rows):
        yield Shape(
            key=f"tile{sample}.{row}",
            tag="text",
            attributes={
                "x": f"{_TILE / 2:g}",
                "y": f"{18 + 18 * row}",
                "font-size": "16.5",
                "text-anchor": "middle",
                "class": "value c-ink",
                "style": style,
            },
            text=text,
        )


def _clock_shapes(clock: ReplicaClock, lane: int, stage: int, top: float) -> Iterable[Shape]:
    """Yield how far the GPU has come, and the ground that its bar grows over."""
    whole = _WIDTH - _LEFT - 12
    done = (0.0, 0.0, clock.forward[lane], clock.backward[lane])
    at = done[stage] if stage < 4 else clock.backward[lane]
    yield _rect(f"ground{lane}", _LEFT, top + 70, whole, 7, "port", f"rank:{lane}")
    share = at / clock.end if clock.end else 0.0
    yield _rect(f"busy{lane}", _LEFT, top + 70, whole * share, 7, "sent c-compute", f"rank:{lane}")
    after = clock.reduced - clock.ready if stage >= 5 else 0.0
    start = _LEFT + whole * clock.ready / clock.end
    width = whole * after / clock.end
    yield _rect(f"comm{lane}", start, top + 70, width, 7, "sent c-communication", f"rank:{lane}")
    last = clock.end - clock.reduced if stage == 7 else 0.0
    start = _LEFT + whole * clock.reduced / clock.end
    width = whole * last / clock.end
    yield _rect(f"last{lane}", start, top + 70, width, 7, "sent c-compute", f"rank:{lane}")


def _progress(clock: ReplicaClock, stage: int, height: float) -> Iterable[Shape]:
    whole = _WIDTH - _LEFT - 12
    share = _time_of(clock, stage) / clock.end if clock.end else 0.0
    yield _text("clock", 8, height - 24, f"{share:.0%} of the step", "c-ink", 16.5, "start")
    yield _rect("all", _LEFT, height - 16, whole, 12, "port", "")
    yield _rect("now", _LEFT, height - 16, whole * share, 12, "sent c-ink", "")
    phase = _PHASES[_phase(stage)] if stage else "the batch"
    yield _text("phase", _WIDTH - 8, height - 24, phase, "c-ink", 16.5, "end")


def _phase(stage: int) -> int:
    return (0, 0, 1, 2, 3, 3, 4, 4)[stage]


def _time_of(clock: ReplicaClock, stage: int) -> Seconds:
    """Return the simulated time that a frame shows."""
    forward, first = max(clock.forward), min(clock.backward)
    times = (0.0, 0.0, forward, first, clock.ready, clock.reduced, clock.reduced, clock.end)
    return times[stage]


def _gradient_text(step: TrainingStep, lane: int, stage: int) -> str:
    """Return the gradient that a GPU holds."""
    if stage < 3:
        return ""
    gradient = step.replicas[lane].gradient
    return (
        f"\N{NABLA} = {_pair_text(gradient)}"
        if stage < 5
        else f"mean \N{NABLA} = {_pair_text(step.average)}"
    )


def _caption(step: TrainingStep, clock: ReplicaClock, number: Count, stage: int) -> Text:
    replicas = step.replicas
    sizes = sorted({len(replica.samples) for replica in replicas})
    each = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    first = replicas[0]
    gradients = ", ".join(typeset(f"{replica.gradient[0]:.2f}") for replica in replicas)
    wait = clock.ready - min(clock.backward)
    alike = all(replica.after == first.after for replica in replicas)
    average = _pair_text(step.average)
    captions: tuple[Text, ...] = (
        say(
            f"Step {number}: a batch of {len(SAMPLES)} samples, and {{n}} GPUs with the same "
            f"model, y = {_line_text(step.before)}.",
            n=(len(replicas), COUNT),
        ),
        f"Phase 1 of 5, partition: each GPU gets {each} samples of its own. No sample goes twice.",
        say(
            "Phase 2 of 5, forward: each GPU predicts y for its own samples and finds its errors. "
            "{t} have passed.",
            t=(_time_of(clock, stage), SECONDS),
        ),
        say(
            "Phase 3 of 5, backward: each GPU averages the gradient of its own samples. The "
            "slopes differ: " + gradients + ". The first GPU is done after {t}.",
            t=(_time_of(clock, stage), SECONDS),
        ),
        say(
            "The barrier: the sum needs every GPU. The fastest has waited {w} for the slowest.",
            w=(wait, SECONDS),
        ),
        f"Phase 4 of 5, all-reduce: every GPU now holds the same average, {average}.",
        f"Phase 5 of 5, update: each GPU subtracts {average} times the learning rate "
        "from its own copy.",
        say(
            f"Done: all {{n}} copies are {'identical' if alike else 'different'}, "
            f"y = {_line_text(first.after)}. The loss fell from {step.loss:.3g} to "
            f"{step.loss_after:.3g}.",
            n=(len(replicas), COUNT),
        ),
    )
    return captions[stage]


def _short_number(number: float) -> str:
    """Return a number that fits a tile."""
    text = f"{number:.1f}".removesuffix(".0")
    return "0" if text == "-0" else typeset(text)


def _line_text(line: Line) -> str:
    return typeset(f"{line[0]:.2f} x {'-' if line[1] < 0 else '+'} {abs(line[1]):.2f}")


def _pair_text(pair: Line) -> str:
    return typeset(f"({pair[0]:.2f}, {pair[1]:.2f})")


def _text(key: str, x: float, y: float, text: str, kind: str, size: float, anchor: str) -> Shape:
    return Shape(
        key=key,
        tag="text",
        attributes={
            "x": f"{x:g}",
            "y": f"{y:g}",
            "font-size": f"{size:g}",
            "text-anchor": anchor,
            "class": kind,
        },
        text=text,
    )


def _rect(
    key: str, x: float, y: float, width: float, height: float, kind: str, links: str
) -> Shape:
    attributes = {
        "x": f"{x:.1f}",
        "y": f"{y:g}",
        "width": f"{max(0.0, width):.1f}",
        "height": f"{height:g}",
        "class": kind,
    }
    return Shape(
        key=key, tag="rect", attributes=attributes | ({"data-links": links} if links else {})
    )


TITLE = "Five phases"
QUESTION = "What do four GPUs do with one batch, and do they stay identical?"
HEADLINE = "step_time"
PRESETS = {
    "One GPU": {"num_gpus": 1},
    "Uneven shards": {"extra": 3},
    "Uneven, weighted by samples": {"extra": 3, "average": "samples"},
}
_ROUNDING = 1e-12
Plain = Annotated[float, COUNT]
_RUN: Mapping[str, Any] = {
    "assumes": (
        "Computed in the run that the scene shows, sample by sample, GPU by GPU.",
        "The model is a line, its loss half the squared error, the learning rate 0.1.",
    ),
    "sources": ("li2020",),
    "basis": "simulated",
}
_TIMED: Mapping[str, Any] = {
    "assumes": (
        "Each sample takes {forward} forward and {backward} backward, the update {update}.",
        "No overlap: the all-reduce starts when the last GPU is done.",
        SYNTHETIC_JOB,
    ),
    "basis": "simulated",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    num_gpus: Annotated[int, Number(label="GPUs", low=1, high=8, whole=True, symbol="n")] = 4
    extra: Annotated[
        int,
        Number(
            label="Samples moved to GPU 0",
            low=0,
            high=8,
            whole=True,
            help="From the last GPU, which keeps at least one.",
        ),
    ] = 0
    step: Annotated[int, Number(label="Step", low=1, high=30, whole=True)] = 1
    average: Annotated[
        str,
        Choice(
            label="Average",
            options={"gpus": "over the GPUs (DDP)", "samples": "over all samples"},
            help="The same thing, as long as all shards are equal.",
        ),
    ] = "gpus"
    all_reduce: Annotated[
        float,
        Number(label="All-reduce", unit=MILLISECONDS, low=0.0, high=0.02, step=0.5 * MILLI),
    ] = 4 * MILLI


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A step on all GPUs beside the same on a single GPU; `clock` holds the ends of its phases."""

    step: TrainingStep
    clock: ReplicaClock
    step_time: Annotated[
        Seconds, Output("Step", "", "made-up times, the same for every sample", **_TIMED)
    ]
    forward: Seconds = FORWARD
    backward: Seconds = BACKWARD
    update: Seconds = UPDATE
    apart: Annotated[
        Plain,
        Output(
            "Copies differ by", "", "largest difference of a parameter between two GPUs", **_RUN
        ),
    ]
    off: Annotated[
        Plain,
        Output(
            "From one GPU with the whole batch",
            "",
            "largest difference of a parameter, rounding aside",
            **_RUN,
        ),
    ]
    loss: Annotated[Plain, Output("Loss before the step", "", "{loss_after} after it", **_RUN)]
    loss_after: Plain
    waiting: Annotated[
        Seconds, Output("Fastest GPU waits", "", "for the slowest, before the all-reduce", **_TIMED)
    ]


def solve(inputs: Inputs) -> Result:
    """Return the step, computed sample by sample, GPU by GPU."""
    parts = sample_shards(inputs.num_gpus, inputs.extra)
    step = train_steps(parts, inputs.step, weighted=inputs.average == "samples")
    alone = train_steps(sample_shards(1, 0), inputs.step, weighted=True)
    timed = replica_times([len(part) for part in parts], inputs.all_reduce)
    off = parameter_distance(step, alone)
    return Result(
        step=step,
        clock=timed,
        step_time=timed.end,
        apart=parameter_distance(step, step),
        off=off if off > _ROUNDING else 0.0,
        loss=step.loss,
        loss_after=step.loss_after,
        waiting=timed.waiting,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result)
    return {
        "step_time": present.value("step_time"),
        "scene": partial(replicas_scene, result.step, result.clock, inputs.step),
        **present.values("apart", "off", "loss", "waiting"),
        "verdict": _verdict(result),
    }


def _verdict(result: Result) -> Badge:
    sizes = {len(replica.samples) for replica in result.step.replicas}
    if not result.off:
        text = "Same as one GPU"
        sentence = (
            "All copies are identical, and equal to those of one GPU with the whole batch of "
            f"{len(SAMPLES)}."
        )
        return Badge(text=text, sentence=sentence, color="compute")
    return Badge(
        text="Not the same batch",
        sentence=f"The copies are identical, but shards of {min(sizes)} to {max(sizes)} samples "
        "count alike: samples of a small shard weigh more.",
        color="communication",
    )
