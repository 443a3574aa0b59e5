"""Loader queue: workers prepare batches ahead, and a GPU waits when the queue is empty."""

from dataclasses import replace
from functools import partial

from engine.calculators.whole_runs.loader_queue import charts
from engine.calculators.whole_runs.loader_queue.inputs import DRAWN, FAR, MOST, SKIPPED, STEPS
from engine.calculators.whole_runs.loader_queue.inputs import PRESETS as PRESETS
from engine.calculators.whole_runs.loader_queue.inputs import Inputs as Inputs
from engine.calculators.whole_runs.loader_queue.inputs import Result as Result
from engine.core.outputs import Teller, Views
from engine.core.units import Count
from engine.core.views import Badge
from engine.simulate.job.loader_queue import Loader, enough_workers, feed, mean_step, waiting

TITLE = "A queue of batches"
QUESTION = "How many workers does a data loader need, and what does prefetching add?"


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
    batches = feed(loader, STEPS)
    return Result(
        batches=batches[:DRAWN],
        curve=tuple(
            waiting(feed(_loader(inputs, workers), STEPS), SKIPPED) for workers in range(MOST + 1)
        ),
        waiting=waiting(batches, SKIPPED),
        enough=enough_workers(loader),
        ahead=inputs.workers * inputs.prefetch,
        mean_step=mean_step(batches, SKIPPED),
        far=waiting(feed(replace(loader, prefetch=FAR), STEPS), SKIPPED),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(inputs, result)
    return {
        **tell.values("waiting"),
        "verdict": _verdict(tell, inputs, result),
        "timeline": partial(charts.timeline, inputs, result),
        "curve": partial(charts.curve, inputs, result),
        **tell.values("enough", "ahead", "mean_step"),
    }


def _verdict(tell: Teller, inputs: Inputs, result: Result) -> Badge:
    if not result.waiting:
        return Badge(
            text="Always fed",
            sentence="Every batch is ready when the GPU asks for it.",
            color="compute",
        )
    if not inputs.workers:
        return Badge(
            text="One after the other",
            sentence=tell.say(
                "The process that trains prepares each batch itself. The GPU waits {waiting} of "
                "the time."
            ),
            color="bad",
        )
    who = "worker prepares" if inputs.workers == 1 else "workers prepare"
    if inputs.workers < result.enough:
        return Badge(
            text="Too few workers",
            sentence=tell.say(
                f"{{workers}} {who} batches more slowly than the GPU takes them. It waits "
                "{waiting} of the time, and would wait {far} with the longest queue."
            ),
            color="bad",
        )
    if result.far < result.waiting / 2:
        return Badge(
            text="Too little ahead",
            sentence=tell.say(
                "On average the workers keep up, but a slow batch empties the queue. The GPU waits "
                "{waiting} of the time, and would wait {far} with the longest queue."
            ),
            color="communication",
        )
    return Badge(
        text="One worker has the slow batches",
        sentence=tell.say(
            "On average the workers keep up. But batches go to them in turn, and one of them has "
            "too many slow ones. The GPU waits {waiting} of the time; a longer queue helps little."
        ),
        color="bad",
    )
