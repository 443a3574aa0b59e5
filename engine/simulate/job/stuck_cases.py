"""Seven runs of one small job, each with a fault that makes it hang.

Eight ranks under data parallelism: two buckets of 25 MiB per step, three healthy steps before the
fault. Each run is what people report; the causes are five.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf

from engine.core.units import Count, Seconds
from engine.simulate.job.stuck_job import (
    COLLECTIVE,
    COMPUTE,
    DEATH,
    HOST,
    SYNCHRONIZE,
    WORLD,
    JobOutcome,
    Operation,
    simulate_job,
)

RANKS: Count = 8
HEALTHY_STEPS: Count = 3
BUCKET: Count = 6_553_600  # elements: 25 MiB in fp32
METRICS = "metrics"
SAVING: Seconds = 720.0

CAUSES = {
    "uneven": "A rank has fewer batches",
    "order": "The order of collectives differs",
    "dead": "A process is gone",
    "host": "A rank is busy or stuck outside: loader, disk, checkpoint",
    "network": "The network, or a setting of NCCL",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StuckCase:
    """A run that hangs.

    Attributes:
        cause: key of CAUSES.
        ranks: those at fault; none if the fault is no rank's.
        programs: makes the program of every rank.
        repair: what to change.
    """

    cause: str
    ranks: frozenset[Count]
    programs: Callable[[], list[list[Operation]]]
    repair: str


def _compute(seconds: Seconds, frame: str) -> Operation:
    return Operation(kind=COMPUTE, seconds=seconds, frame=frame)


def _all_reduce(
    elements: Count = BUCKET, *, seconds: Seconds = 0.1, group: str = WORLD
) -> Operation:
    return Operation(
        kind=COLLECTIVE, seconds=seconds, name="ALLREDUCE", elements=elements, group=group
    )


def _wait(frame: str) -> Operation:
    return Operation(kind=SYNCHRONIZE, frame=frame)


def training_step(*, bucket_time: Seconds = 0.1, load: Seconds = 0.1) -> list[Operation]:
    """Return a step: batch, forward and backward pass, two buckets on the way, the loss read."""
    return [
        Operation(kind=HOST, seconds=load, frame="next(batches) (train.py:41)"),
        _compute(0.6, "forward (train.py:44)"),
        _all_reduce(seconds=bucket_time),
        _compute(0.3, "backward (train.py:46)"),
        _all_reduce(seconds=bucket_time),
        _wait("loss.item() (train.py:47)"),
        _compute(0.1, "optimizer.step() (train.py:48)"),
    ]


def _evaluation() -> list[Operation]:
    """Return the end of an epoch: the count of right answers, summed over the ranks."""
    return [
        _compute(0.4, "evaluate (train.py:60)"),
        _all_reduce(1),
        _wait("correct.item() (train.py:63)"),
    ]


def _steps(count: Count) -> list[list[Operation]]:
    return [[op for _ in range(count) for op in training_step()] for _ in range(RANKS)]


def _loader() -> list[list[Operation]]:
    programs = _steps(HEALTHY_STEPS)
    for rank, program in enumerate(programs):
        program += training_step(load=inf if rank == 6 else 0.1)
    return programs


def _save_best() -> list[list[Operation]]:
    """Return a run in which rank 0 alone broadcasts the score that it keeps."""
    programs = _steps(HEALTHY_STEPS)
    programs[0] += [
        Operation(kind=COLLECTIVE, seconds=0.1, name="BROADCAST", elements=1),
        _wait("save_best (train.py:71)"),
    ]
    return [[*program, *training_step()] for program in programs]


def _killed() -> list[list[Operation]]:
    programs = _steps(HEALTHY_STEPS)
    for rank, program in enumerate(programs):
        step = training_step()
        program += [*step[:3], Operation(kind=DEATH)] if rank == 3 else step
    return programs


def _uneven() -> list[list[Operation]]:
    programs = [[*program, *training_step()] for program in _steps(HEALTHY_STEPS)]
    programs[5] = _steps(HEALTHY_STEPS)[0]
    return [[*program, *_evaluation()] for program in programs]


def _network() -> list[list[Operation]]:
    return [[*program, *training_step(bucket_time=inf)] for program in _steps(HEALTHY_STEPS)]


def _two_groups() -> list[list[Operation]]:
    """Return a run in which rank 4 sums its metrics before its gradients, the others after."""
    metrics = [_all_reduce(4, group=METRICS), _wait("metrics (train.py:55)")]
    programs = [[*program, *training_step(), *metrics] for program in _steps(HEALTHY_STEPS)]
    programs[4] = [*_steps(HEALTHY_STEPS)[0], *metrics, *training_step()]
    return programs


def _saving() -> list[list[Operation]]:
    programs = _steps(HEALTHY_STEPS)
    programs[0].append(Operation(kind=HOST, seconds=SAVING, frame="torch.save (train.py:75)"))
    return [[*program, *training_step()] for program in programs]


CASES: dict[str, StuckCase] = {
    "1": StuckCase(
        cause="host",
        ranks=frozenset({6}),
        programs=_loader,
        repair="Read the stack of that rank's loader workers, and df -h /dev/shm and its disk.",
    ),
    "2": StuckCase(
        cause="order",
        ranks=frozenset({0}),
        programs=_save_best,
        repair="Call the collective on every rank; keep only the writing under if rank == 0.",
    ),
    "3": StuckCase(
        cause="dead",
        ranks=frozenset({3}),
        programs=_killed,
        repair="Read dmesg of its node: the out-of-memory killer, or an Xid of its GPU.",
    ),
    "4": StuckCase(
        cause="uneven",
        ranks=frozenset({5}),
        programs=_uneven,
        repair="Give every rank the same number of steps: drop_last=True, or Join around the loop.",
    ),
    "5": StuckCase(
        cause="network",
        ranks=frozenset(),
        programs=_network,
        repair="Run nccl-tests on the same nodes with NCCL_DEBUG=INFO, then halve the group.",
    ),
    "6": StuckCase(
        cause="order",
        ranks=frozenset({4}),
        programs=_two_groups,
        repair="Issue the collectives of both groups in the same order on every rank.",
    ),
    "7": StuckCase(
        cause="host",
        ranks=frozenset({0}),
        programs=_saving,
        repair="Nothing hangs: save from all ranks at once, or set the timeout above the save.",
    ),
}


@cache
def simulate_case(case: str, timeout: Seconds) -> JobOutcome:
    """Return the outcome of a run with a timeout of the watchdog."""
    programs: Sequence[Sequence[Operation]] = CASES[case].programs()
    groups = {WORLD: range(RANKS), METRICS: range(RANKS)}
    return simulate_job(programs, groups, timeout)
