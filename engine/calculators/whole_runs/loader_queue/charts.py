"""The loader queue: its workers in time, and the waiting by their number."""

from engine.calculators.whole_runs.loader_queue.inputs import MOST, Inputs, Result
from engine.core.units import COUNT, SECONDS, SHARE
from engine.core.views import Axis, Lane, Lines, Point, Series, Span, Timeline
from engine.simulate.job.loader_queue import Batch

_LANES = 6


def timeline(inputs: Inputs, result: Result) -> Timeline:
    """Return the first batches in time: the GPU's lane, and one for each worker."""
    lanes = [Lane(key="gpu", label="GPU")]
    lanes += [Lane(key=f"w{i}", label=f"worker {i}") for i in range(min(inputs.workers, _LANES))]
    spans = tuple(span for k, one in enumerate(result.batches) for span in _spans(k, one))
    few = inputs.workers <= _LANES
    return Timeline(
        title="The first sixteen batches",
        axis=Axis(
            label="time",
            quantity=SECONDS,
            low=0.0,
            high=max(one.ended for one in result.batches),
        ),
        lanes=tuple(lanes),
        spans=spans,
        keys=(("step", "compute"), ("prepared", "memory"), ("waits", "idle")),
        caption="A worker begins its next batch when the queue has room for it."
        + ("" if few else " Six of the workers are drawn."),
        player=True,
    )


def _spans(k: int, one: Batch) -> list[Span]:
    """Return what is drawn of a batch: the GPU's waiting, its preparation, its step."""
    alone = one.worker < 0
    found = []
    if one.waited > 0 and not alone:
        found.append(
            Span(
                key=f"wait{k}",
                lane="gpu",
                start=one.wanted,
                end=one.taken,
                label="waits",
                color="idle",
            )
        )
    if one.worker < _LANES:
        found.append(
            Span(
                key=f"load{k}",
                lane="gpu" if alone else f"w{one.worker}",
                start=one.begun,
                end=one.ready,
                label=str(k),
                color="memory",
                called=f"batch {k} is prepared",
            )
        )
    found.append(
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
    return found


def curve(inputs: Inputs, result: Result) -> Lines:
    """Return the share of the time that the GPU waits, by the number of workers."""
    return Lines(
        title="Waiting by the number of workers",
        x=Axis(label="workers", quantity=COUNT, low=0.0, high=float(MOST)),
        y=Axis(label="of the time", quantity=SHARE, low=0.0, high=1.0),
        series=(
            Series(
                key="waiting",
                label="the GPU waits",
                x=tuple(map(float, range(MOST + 1))),
                y=result.curve,
                color="memory",
            ),
        ),
        points=(Point(key="you", label="you", x=float(inputs.workers), y=result.waiting),),
        handle="workers",
    )
