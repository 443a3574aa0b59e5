"""A data loader as PyTorch runs it: workers in turn, batches in order, a few of them ahead."""

from dataclasses import dataclass

from engine.core.units import Count, Seconds, Share

# Sums of times end in another digit than they began with: no GPU waits for that.
_ROUNDING: Share = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Loader:
    """What feeds a GPU.

    Attributes:
        workers: processes that prepare batches; 0: the training process does it between steps.
        prefetch: batches that each worker may be ahead.
        prepare: time of one batch in one worker.
        slow: time of a slow batch, one in `every`.
        every: batches from one slow batch to the next; 0: none is slow.
        step: of the training, once it has its batch.
    """

    workers: Count
    prefetch: Count
    prepare: Seconds
    slow: Seconds
    every: Count
    step: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One batch on its way.

    Attributes:
        worker: that prepared it; -1 for the training process.
        begun, ready: when the worker had it.
        wanted: when the training asked for it.
        taken: when the training had it.
        ended: when its step was done.
    """

    worker: int
    begun: Seconds
    ready: Seconds
    wanted: Seconds
    taken: Seconds
    ended: Seconds

    @property
    def waited(self) -> Seconds:
        """How long the GPU stood still for it."""
        return self.taken - self.wanted


def feed(loader: Loader, steps: Count) -> tuple[Batch, ...]:
    """Return the batches of so many steps.

    Batch k goes to worker k mod w, as soon as all but w x prefetch batches before it were taken;
    batches are taken in their order (torch.utils.data.DataLoader).
    """
    if not loader.workers:
        return _alone(loader, steps)
    free = [0.0] * loader.workers
    ahead = loader.workers * loader.prefetch
    found: list[Batch] = []
    now = 0.0
    for k in range(steps):
        worker = k % loader.workers
        asked = found[k - ahead].taken if k >= ahead else 0.0
        begun = max(asked, free[worker])
        ready = begun + _time(loader, k)
        free[worker] = ready
        taken = max(now, ready)
        ended = taken + loader.step
        found.append(
            Batch(worker=worker, begun=begun, ready=ready, wanted=now, taken=taken, ended=ended)
        )
        now = ended
    return tuple(found)


def _alone(loader: Loader, steps: Count) -> tuple[Batch, ...]:
    found: list[Batch] = []
    now = 0.0
    for k in range(steps):
        ready = now + _time(loader, k)
        ended = ready + loader.step
        found.append(Batch(worker=-1, begun=now, ready=ready, wanted=now, taken=ready, ended=ended))
        now = ended
    return tuple(found)


def _time(loader: Loader, k: int) -> Seconds:
    """Return the time to prepare batch k; the slow ones are the last of their stretch."""
    return loader.slow if loader.every and (k + 1) % loader.every == 0 else loader.prepare


def waiting(batches: tuple[Batch, ...], skipped: Count) -> Share:
    """Return the share of the time that the GPU stands still, after the first few batches."""
    some = batches[skipped:]
    share = sum(batch.waited for batch in some) / (some[-1].ended - some[0].wanted)
    return share if share > _ROUNDING else 0.0


def mean_step(batches: tuple[Batch, ...], skipped: Count) -> Seconds:
    """Return the mean time of a step, its waiting included, after the first few batches."""
    some = batches[skipped:]
    return (some[-1].ended - some[0].wanted) / len(some)


def enough_workers(loader: Loader) -> Count:
    """Return the workers whose mean pace is that of the steps: slow batches in the mean.

    With fewer, no prefetch helps for long: a queue that empties faster than it fills is empty.
    """
    mean = loader.prepare
    if loader.every:
        mean += (loader.slow - loader.prepare) / loader.every
    return max(1, -int(-mean // loader.step))
