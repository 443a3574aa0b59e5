"""Loader queue: workers prepare batches ahead, and a GPU waits when the queue is empty."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.basis.inputs import MILLISECONDS, Number
from engine.basis.told import Teller, Told, Views
from engine.basis.units import COUNT, MILLI, SECONDS, SHARE, Count, Seconds, Share
from engine.basis.views import Axis, Badge, Lane, Lines, Point, Series, Span, Timeline
from engine.simulate.loader_queue import Batch, Loader, enough_workers, feed, waiting

TITLE = "A queue of batches"
QUESTION = "How many workers does a data loader need, and what does prefetching add?"
PRESETS = {
    "No workers": {"workers": 0},
    "One worker too few": {"workers": 2},
    "Slow batches, little ahead": {"workers": 4, "prefetch": 1, "slow": 1.2},
    "Slow batches, enough ahead": {"workers": 4, "prefetch": 4, "slow": 1.2},
}
_DRAWN, _STEPS, _SKIPPED = 16, 240, 40
_MOST = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    workers: Annotated[int, Number(label="Workers", low=0, high=_MOST, whole=True, symbol="w")] = 2
    prefetch: Annotated[
        int, Number(label="Batches ahead, per worker", low=1, high=8, whole=True, symbol="p")
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
    ] = 0.5
    step: Annotated[
        float,
        Number(label="Step", unit=MILLISECONDS, low=1 * MILLI, high=5.0, scale="log"),
    ] = 0.2
    slow: Annotated[
        float,
        Number(
            label="A slow batch",
            unit=MILLISECONDS,
            low=1 * MILLI,
            high=20.0,
            scale="log",
            help="The next file is opened, say.",
        ),
    ] = 0.5
    every: Annotated[
        int,
        Number(label="One batch is slow in", low=2, high=60, whole=True),
    ] = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The batches of the reader's loader, and the waiting by number of workers."""

    batches: tuple[Batch, ...]
    curve: tuple[Share, ...]
    waiting: Annotated[
        Share,
        Told(
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
        Told(
            "Workers that keep up",
            note="in the mean, slow batches included",
            color="compute",
            assumes=("The mean time of a batch over the time of a step, rounded up.",),
            sources=("pytorch_data",),
        ),
    ]
    ahead: Annotated[
        Count,
        Told(
            "Batches held",
            note="in the host's memory, at most",
            color="buffers",
            assumes=("Workers times batches ahead of each.",),
            sources=("pytorch_data",),
        ),
    ]
    mean_step: Annotated[
        Seconds,
        Told(
            "A step takes",
            note="its waiting included",
            color="compute",
            basis="simulated",
            assumes=("The mean after the first {skipped} batches.",),
        ),
    ]
    skipped: Count = _SKIPPED


def _loader(inputs: Inputs, workers: Count) -> Loader:
    return Loader(
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
    batches = feed(loader, _STEPS)
    late = batches[_SKIPPED:]
    return Result(
        batches=batches[:_DRAWN],
        curve=tuple(
            waiting(feed(_loader(inputs, workers), _STEPS), _SKIPPED)
            for workers in range(_MOST + 1)
        ),
        waiting=waiting(batches, _SKIPPED),
        enough=enough_workers(loader),
        ahead=inputs.workers * inputs.prefetch,
        mean_step=(late[-1].ended - late[0].wanted) / len(late),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(inputs, result)
    return {
        **tell.values("waiting"),
        "verdict": _verdict(tell, inputs, result),
        "timeline": partial(_timeline, inputs, result),
        "curve": partial(_curve, inputs, result),
        **tell.values("enough", "ahead", "mean_step"),
    }


def _verdict(tell: Teller, inputs: Inputs, result: Result) -> Badge:
    if result.waiting < 1e-9:
        return Badge(
            text="Always fed",
            sentence="Every batch is ready when the GPU asks for it.",
            color="compute",
        )
    if inputs.workers < result.enough:
        return Badge(
            text="Too few workers",
            sentence=tell.say(
                "The GPU waits {waiting} of the time. More batches ahead would not help for long: "
                "{workers} workers prepare them more slowly than the GPU takes them."
            ),
            color="bad",
        )
    return Badge(
        text="Too little ahead",
        sentence=tell.say(
            "In the mean the workers keep up, but a slow batch empties the queue. The GPU waits "
            "{waiting} of the time."
        ),
        color="communication",
    )


def _timeline(inputs: Inputs, result: Result) -> Timeline:
    lanes = [Lane(key="gpu", label="GPU")]
    if inputs.workers:
        lanes += [Lane(key=f"w{i}", label=f"worker {i}") for i in range(min(inputs.workers, 6))]
    spans = []
    for k, one in enumerate(result.batches):
        if one.waited > 0 and one.worker >= 0:
            spans.append(
                Span(
                    key=f"wait{k}",
                    lane="gpu",
                    start=one.wanted,
                    end=one.taken,
                    label="waits",
                    color="idle",
                )
            )
        if one.worker < 6:
            spans.append(
                Span(
                    key=f"load{k}",
                    lane="gpu" if one.worker < 0 else f"w{one.worker}",
                    start=one.begun,
                    end=one.ready,
                    label=str(k),
                    color="memory",
                    called=f"batch {k} is prepared",
                )
            )
        spans.append(
            Span(
                key=f"step{k}",
                lane="gpu",
                start=one.taken,
                end=one.ended,
                label=str(k),
                color="compute",
                called=f"step {k}",
            )
        )
    end = max(one.ended for one in result.batches)
    return Timeline(
        title="The first sixteen batches",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=end),
        lanes=tuple(lanes),
        spans=tuple(spans),
        keys=(("step", "compute"), ("prepared", "memory"), ("waits", "idle")),
        caption="A worker begins its next batch when the queue has room for it. Six workers at "
        "most are drawn.",
        player=True,
    )


def _curve(inputs: Inputs, result: Result) -> Lines:
    return Lines(
        title="Waiting by the number of workers",
        x=Axis(label="workers", quantity=COUNT, low=0.0, high=float(_MOST)),
        y=Axis(label="of the time", quantity=SHARE, low=0.0, high=1.0),
        series=(
            Series(
                key="waiting",
                label="the GPU waits",
                x=tuple(map(float, range(_MOST + 1))),
                y=result.curve,
                color="memory",
            ),
        ),
        points=(Point(key="you", label="you", x=float(inputs.workers), y=result.waiting),),
        handle="workers",
    )
