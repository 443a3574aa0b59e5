"""Loader queue: workers prepare batches ahead, and a GPU waits when the queue is empty."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.core.inputs import MILLISECONDS, Number, Scalar
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import COUNT, MILLI, SECONDS, SHARE, Count, Seconds, Share
from engine.core.views import Axis, Badge, Lane, Line, Lines, Point, Scale, Span, Timeline
from engine.form.missing_range import NO_RANGE
from engine.simulate.job.loader_queue import (
    DataLoader,
    LoadedBatch,
    enough_workers,
    load_batches,
    mean_step_time,
    wait_share,
)

PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "No workers": {"workers": 0},
    "Two workers, far ahead": {"workers": 2, "prefetch": 8},
    "Three workers, one ahead": {"workers": 3, "prefetch": 1},
    "Three workers, two ahead": {"workers": 3},
}
DRAWN, STEPS, SKIPPED = 16, 240, 40
MOST, FAR = 16, 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    workers: Annotated[int, Number(label="Workers", low=0, high=MOST, whole=True, symbol="w")] = 2
    prefetch: Annotated[
        int,
        Number(label="Ahead, per worker", low=1, high=FAR, whole=True, symbol="p", help="Batches."),
    ] = 2
    prepare: Annotated[
        float,
        Number(
            label="Preparing a batch",
            unit=MILLISECONDS,
            low=1 * MILLI,
            high=5.0,
            scale="log",
            help="Reading, decoding, tokenizing and packing, in one worker.",
        ),
    ] = 0.25
    step: Annotated[
        float,
        Number(label="Step", unit=MILLISECONDS, low=1 * MILLI, high=5.0, scale="log"),
    ] = 0.1
    slow: Annotated[
        float,
        Number(
            label="A slow batch",
            unit=MILLISECONDS,
            low=1 * MILLI,
            high=20.0,
            scale="log",
            help="The next file is opened, say. Never less than any other batch.",
        ),
    ] = 0.6
    every: Annotated[
        int,
        Number(label="One batch is slow in", low=2, high=60, whole=True),
    ] = 13


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The batches of the configured loader, and the waiting by number of workers."""

    batches: tuple[LoadedBatch, ...]
    curve: tuple[Share, ...]
    waiting: Annotated[
        Share,
        Output(
            "GPU waits for data",
            note="of the time, after the first {skipped} batches",
            color="bad",
            basis="simulated",
            assumes=(
                "Batches go to the workers in turn and are taken in their order, as in PyTorch.",
                "Copies to the GPU take no time; workers do not slow each other down.",
            ),
            sources=("pytorch_data",),
        ),
    ]
    enough: Annotated[
        Count,
        Output(
            "Workers that keep up",
            note="in the mean, slow batches included",
            color="compute",
            assumes=("The mean time of a batch over the time of a step, rounded up.",),
            sources=("pytorch_data",),
        ),
    ]
    ahead: Annotated[
        Count,
        Output(
            "Batches held",
            note="in the host's memory, at most",
            color="buffers",
            assumes=("Workers times batches ahead of each.",),
            sources=("pytorch_data",),
        ),
    ]
    mean_step: Annotated[
        Seconds,
        Output(
            "A step takes",
            note="its waiting included",
            color="compute",
            basis="simulated",
            assumes=("The mean after the first {skipped} batches.", NO_RANGE),
            sources=("pytorch_data",),
        ),
    ]
    far: Annotated[Share, Output()]
    skipped: Count = SKIPPED


_LANES = 6


def timeline(inputs: Inputs, result: Result) -> Timeline:
    """Return a timeline of the first batches: a lane for the GPU and for each worker."""
    lanes = [Lane(key="gpu", label="GPU")]
    lanes += [Lane(key=f"w{i}", label=f"worker {i}") for i in range(min(inputs.workers, _LANES))]
    spans = tuple(span for k, batch in enumerate(result.batches) for span in _spans(k, batch))
    few = inputs.workers <= _LANES
    return Timeline(
        title="The first sixteen batches",
        axis=Axis(
            label="time",
            quantity=SECONDS,
            low=0.0,
            high=max(batch.ended for batch in result.batches),
        ),
        lanes=tuple(lanes),
        spans=spans,
        keys=(("step", "compute"), ("prepared", "memory"), ("waits", "idle")),
        caption="A worker begins its next batch when the queue has room for it."
        + ("" if few else " Six of the workers are drawn."),
        player=True,
    )


def _spans(k: int, batch: LoadedBatch) -> list[Span]:
    """Return the spans of a batch: the GPU's waiting, its preparation, its step."""
    alone = batch.worker < 0
    spans = []
    if batch.wait > 0 and not alone:
        spans.append(
            Span(
                key=f"wait{k}",
                lane="gpu",
                start=batch.requested,
                end=batch.received,
                label="waits",
                color="idle",
            )
        )
    if batch.worker < _LANES:
        spans.append(
            Span(
                key=f"load{k}",
                lane="gpu" if alone else f"w{batch.worker}",
                start=batch.started,
                end=batch.ready,
                label=str(k),
                color="memory",
                called=f"batch {k} is prepared",
            )
        )
    spans.append(
        Span(
            key=f"step{k}",
            lane="gpu",
            start=batch.received,
            end=batch.ended,
            label=str(k),
            color="compute",
            called=f"step {k}",
        )
    )
    return spans


def curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the GPU's waiting share by number of workers."""
    return present.curve(
        "Waiting by the number of workers",
        over=Scale(COUNT, "workers", 0.0, float(MOST)),
        shows=Scale(SHARE, "of the time", 0.0, 1.0),
        x=range(MOST + 1),
        lines=(Line("waiting", "the GPU waits", result.curve, "memory"),),
        handle="workers",
        marked=False,
        points=(Point(key="you", label="you", x=inputs.workers, y=result.waiting),),
    )


TITLE = "A queue of batches"
QUESTION = "How many workers does a data loader need, and what does prefetching add?"
HEADLINE = "waiting"


def _loader(inputs: Inputs, workers: Count) -> DataLoader:
    return DataLoader(
        workers=workers,
        prefetch=inputs.prefetch,
        prepare=inputs.prepare,
        slow=max(inputs.slow, inputs.prepare),
        every=inputs.every,
        step=inputs.step,
    )


def solve(inputs: Inputs) -> Result:
    """Return the queue."""
    loader = _loader(inputs, inputs.workers)
    batches = load_batches(loader, STEPS)
    return Result(
        batches=batches[:DRAWN],
        curve=tuple(
            wait_share(load_batches(_loader(inputs, workers), STEPS), SKIPPED)
            for workers in range(MOST + 1)
        ),
        waiting=wait_share(batches, SKIPPED),
        enough=enough_workers(loader),
        ahead=inputs.workers * inputs.prefetch,
        mean_step=mean_step_time(batches, SKIPPED),
        far=wait_share(load_batches(replace(loader, prefetch=FAR), STEPS), SKIPPED),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result)
    return {
        **present.values("waiting"),
        "verdict": _verdict(present, inputs, result),
        "timeline": partial(timeline, inputs, result),
        "curve": partial(curve, present, inputs, result),
        **present.values("enough", "ahead", "mean_step"),
    }


def _verdict(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    if not result.waiting:
        return Badge(
            text="Always fed",
            sentence="Every batch is ready when the GPU asks for it.",
            color="compute",
        )
    if not inputs.workers:
        return Badge(
            text="One after the other",
            sentence=present.say(
                "The process that trains prepares each batch itself. The GPU waits {waiting} of "
                "the time."
            ),
            color="bad",
        )
    who = "worker prepares" if inputs.workers == 1 else "workers prepare"
    if inputs.workers < result.enough:
        return Badge(
            text="Too few workers",
            sentence=present.say(
                f"{{workers}} {who} batches more slowly than the GPU takes them. It waits "
                "{waiting} of the time, and would wait {far} with the longest queue."
            ),
            color="bad",
        )
    if result.far < result.waiting / 2:
        return Badge(
            text="Too little ahead",
            sentence=present.say(
                "On average the workers keep up, but a slow batch empties the queue. The GPU waits "
                "{waiting} of the time, and would wait {far} with the longest queue."
            ),
            color="communication",
        )
    return Badge(
        text="One worker has the slow batches",
        sentence=present.say(
            "On average the workers keep up. But batches go to them in turn, and one of them has "
            "too many slow ones. The GPU waits {waiting} of the time; a longer queue helps little."
        ),
        color="bad",
    )
