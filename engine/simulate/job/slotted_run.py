"""A job in slots of equal length: each is work, a checkpoint, a restart, or destroyed by a failure.

Small enough to be counted by hand, and to be compared with its exact mean. A failure takes the slot
that it strikes and all work since the last checkpoint; a failure in a restart begins it anew.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from engine.core.units import Count, Ratio
from engine.simulate.numerics.rng import uniforms

WORK, SAVED, CHECKPOINT, LOST, FAILED, RESTART = (
    "work",
    "saved",
    "checkpoint",
    "lost",
    "failed",
    "restart",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlottedJob:
    """A job in slots of equal length.

    Attributes:
        work: slots of work that the job needs.
        interval: slots of work between two checkpoints.
        checkpoint, restart: slots that each takes.
        mtbf: mean slots between two failures; at least 2.
    """

    work: Count
    interval: Count
    checkpoint: Count
    restart: Count
    mtbf: Ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotEvent:
    """A checkpoint, failure or restart that ends at a slot.

    Attributes:
        kind: CHECKPOINT, FAILED or RESTART.
        slots: what every slot up to then was, as known by then.
        done: slots of work that last.
        lost: slots of work that this failure destroyed.
    """

    kind: str
    slots: tuple[str, ...]
    done: Count
    lost: Count = 0


def work_pieces(job: SlottedJob) -> tuple[Count, ...]:
    """Return the work slots before each checkpoint; the last piece may be shorter."""
    whole, remainder = divmod(job.work, job.interval)
    return (job.interval,) * whole + ((remainder,) if remainder else ())


def slot_events(job: SlottedJob, seed: int, limit: Count) -> Iterator[SlotEvent]:
    """Yield the events until the job is done or `limit` slots are over.

    Failures strike each slot with the same chance. The last piece is saved as well.
    """
    failures = (draw < 1 / job.mtbf for draw in uniforms(seed))
    slots: list[str] = []
    done = 0
    for piece in work_pieces(job):
        while True:
            start = len(slots)
            for kind in (WORK,) * piece + (CHECKPOINT,) * job.checkpoint:
                slots.append(kind)
                if next(failures):
                    break
            else:
                slots[start : start + piece] = [SAVED] * piece
                done += piece
                yield SlotEvent(kind=CHECKPOINT, slots=tuple(slots), done=done)
                break
            lost = slots[start:].count(WORK)
            slots[start:-1] = [LOST] * (len(slots) - 1 - start)
            slots[-1] = FAILED
            yield SlotEvent(kind=FAILED, slots=tuple(slots), done=done, lost=lost)
            _restart(job, failures, slots)
            if job.restart:
                yield SlotEvent(kind=RESTART, slots=tuple(slots), done=done)
            if len(slots) > limit:
                return


def _restart(job: SlottedJob, failures: Iterator[bool], slots: list[str]) -> None:
    """Add a restart, from its beginning after every failure in it."""
    left = job.restart
    while left:
        slots.append(RESTART)
        left -= 1
        if next(failures):
            slots[-1] = FAILED
            left = job.restart


def mean_slots(job: SlottedJob) -> Ratio:
    """Return the expected number of slots of the job.

    With q the chance that a slot is spared, a piece of L slots with its checkpoint takes on average
    (q^-L - 1) q^-R / (1 - q) slots: a row of L successes, begun anew and after a restart of R slots
    whenever it is struck. It is Daly's complete model with time in slots. Derived; source of the
    mean of a row: Feller 1968, XIII.7.
    """
    fails = 1 / job.mtbf
    spared = 1 - fails
    rows = (spared ** -(piece + job.checkpoint) - 1 for piece in work_pieces(job))
    return sum(rows) * spared**-job.restart / fails
