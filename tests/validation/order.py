"""Whether the plans of one job are ranked as they were measured.

A job is a model, a batch, a length, a precision and a cluster of one source; its plans differ in
how the work is split. Two plans are compared if their measured times are 2 % apart or more.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from engine.run.published import PublishedRun

APART = math.log(1.02)
# Fewer plans than this are no group.
FEWEST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The plans of one job.

    Attributes:
        name: of the job.
        plans: how many.
        tau: Kendall's, over pairs that are apart; 1 ranks all pairs right, -1 all wrong.
        pairs: that are apart.
        regret: by how much the plan that is predicted fastest is slower than the fastest.
    """

    name: str
    plans: int
    tau: float
    pairs: int
    regret: float


def job_of(case: PublishedRun) -> tuple[str, ...]:
    """What the plans of one job have in common."""
    row, run = case.row, case.run
    release = row["flag"].split(";")[0] if row["source_file"].startswith("megatron_bridge") else ""
    shape = (run.model.num_layers, run.model.hidden_size, run.model.num_experts)
    training = run.training
    return (
        row["source_file"].removesuffix(".csv"),
        row["model"][:24],
        row["gpu"][:12],
        *(str(size) for size in shape),
        str(run.plan.world_size),
        str(training.sequence_length),
        str(training.global_batch_size),
        training.precision,
        release,
    )


def group(
    name: str, runs: Sequence[PublishedRun], predicted: Callable[[PublishedRun], float]
) -> Group:
    """Return how the plans of one job are ranked."""
    right = wrong = 0
    for one, other in combinations(runs, 2):
        measured = math.log(one.time / other.time)
        if abs(measured) < APART:
            continue
        agrees = measured * math.log(predicted(one) / predicted(other))
        right, wrong = right + (agrees > 0), wrong + (agrees <= 0)
    chosen = min(runs, key=predicted)
    return Group(
        name=name,
        plans=len(runs),
        tau=(right - wrong) / max(1, right + wrong),
        pairs=right + wrong,
        regret=chosen.time / min(case.time for case in runs) - 1,
    )


def groups(
    found: Sequence[PublishedRun], predicted: Callable[[PublishedRun], float]
) -> list[Group]:
    """Return every job with enough plans that are apart."""
    jobs: dict[tuple[str, ...], list[PublishedRun]] = defaultdict(list)
    for case in found:
        jobs[job_of(case)].append(case)
    named = (
        group(" ".join(part for part in key if part), runs, predicted)
        for key, runs in sorted(jobs.items())
        if len({(case.run.plan, case.run.training) for case in runs}) >= FEWEST
    )
    return [one for one in named if one.pairs]
