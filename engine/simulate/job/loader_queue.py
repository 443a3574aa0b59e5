"""A data loader as PyTorch runs it: workers in turn, batches in order, a few of them ahead."""

from dataclasses import dataclass

from engine.core.units import Count, Seconds, Share

# Sums of times end in another digit than they began with: no GPU waits for that.
_ROUNDING: Share = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class DataLoader:
    """Settings of a data loader and the training step.

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
class LoadedBatch:
    """Times of one batch from worker to GPU.

    Attributes:
        worker: that prepared it; -1 for the training process.
        started, ready: when the worker had it.
        requested: when the training asked for it.
        received: when the training had it.
        ended: when its step was done.
    """

    worker: int
    started: Seconds
    ready: Seconds
    requested: Seconds
    received: Seconds
    ended: Seconds

    @property
    def wait(self) -> Seconds:
        """Time that the GPU waited for the batch."""
        return self.received - self.requested


def load_batches(loader: DataLoader, steps: Count) -> tuple[LoadedBatch, ...]:
    """Return the batch times of a number of steps.

    Batch k goes to worker k mod w, as soon as all but w x prefetch batches before it were taken;
    batches are taken in their order (torch.utils.data.DataLoader).
    """
    if not loader.workers:
        return _load_in_process(loader, steps)
    free = [0.0] * loader.workers
    ahead = loader.workers * loader.prefetch
    batches: list[LoadedBatch] = []
    now = 0.0
    for k in range(steps):
        worker = k % loader.workers
        requested = batches[k - ahead].received if k >= ahead else 0.0
        begun = max(requested, free[worker])
        ready = begun + _prepare_time(loader, k)
        free[worker] = ready
        taken = max(now, ready)
        ended = taken + loader.step
        batches.append(
            LoadedBatch(
                worker=worker,
                started=begun,
                ready=ready,
                requested=now,
                received=taken,
                ended=ended,
            )
        )
        now = ended
    return tuple(batches)


def _load_in_process(loader: DataLoader, steps: Count) -> tuple[LoadedBatch, ...]:
    batches: list[LoadedBatch] = []
    now = 0.0
    for k in range(steps):
        ready = now + _prepare_time(loader, k)
        ended = ready + loader.step
        batches.append(
            LoadedBatch(
                worker=-1, started=now, ready=ready, requested=now, received=ready, ended=ended
            )
        )
        now = ended
    return tuple(batches)


def _prepare_time(loader: DataLoader, k: int) -> Seconds:
    """Return the time to prepare batch k; every `every`-th batch is slow."""
    return loader.slow if loader.every and (k + 1) % loader.every == 0 else loader.prepare


def wait_share(batches: tuple[LoadedBatch, ...], skipped: Count) -> Share:
    """Return the share of time that the GPU waits, after the first few batches."""
    counted = batches[skipped:]
    share = sum(batch.wait for batch in counted) / (counted[-1].ended - counted[0].requested)
    return share if share > _ROUNDING else 0.0


def mean_step_time(batches: tuple[LoadedBatch, ...], skipped: Count) -> Seconds:
    """Return the mean step time including waiting, after the first few batches."""
    counted = batches[skipped:]
    return (counted[-1].ended - counted[0].requested) / len(counted)


def enough_workers(loader: DataLoader) -> Count:
    """Return the number of workers that keep up with the steps on average.

    With fewer, no prefetch helps for long: a queue that empties faster than it fills is empty.
    """
    mean = loader.prepare
    if loader.every:
        mean += (loader.slow - loader.prepare) / loader.every
    return max(1, -int(-mean // loader.step))
