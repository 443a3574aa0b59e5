"""How much of a prediction's error constants explain that were measured on the cluster itself.

Errors of unseen runs have two parts: what all runs of one source with one GPU, software and
precision have in common, and what differs among them. Only the first part can be the cluster's,
so it bounds what a calibration explains. Of that, measured constants explain what their usual
differences from cluster to cluster do to the step; their own errors come back in. A logged job
explains a part of what then remains.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import log

from engine.catalog.reader_constants import OwnConstants, pace_key, reached
from engine.catalog.unseen_errors import CLASSES
from engine.core.units import Ratio, Share
from engine.run.run import Run
from engine.simulate.step.step_time import step_time

# Of the variance of the logarithms of predicted over measured, of 653 unseen runs: the part between
# groups of one source, GPU, software and precision (one-way analysis of variance).
BETWEEN: Share = 0.34
# What the tails of `CLASSES`, 7.5 % on either side, are in standard deviations.
_TAIL: Ratio = 1.44
# How far a constant lies from that of the next cluster with the same GPUs, as the standard
# deviation of its logarithm. Products: the best of two sources on an A100 are 256.5 and 271.2
# TFLOP/s. Networks: 192 of 200 GB/s, 380 and 320 of 400, 42.6 of 50. The others lie between and are
# assumed.
DIFFERS: Mapping[str, Ratio] = {
    "matmul": 0.04,
    "matmul_fp8": 0.04,
    "attention_forward": 0.05,
    "attention_backward": 0.05,
    "fill": 0.15,
    "memory": 0.03,
    "scale_up": 0.06,
    "network": 0.09,
}
_STEP: Ratio = 1.01


def explained(run: Run, name: str) -> Share:
    """Return the share of the variance of a class of runs that the run's own constants explain.

    Below zero where they are less certain than the catalog's: then the range is wider.

    Args:
        run: with its cluster.
        name: key of `CLASSES`.
    """
    own = run.cluster.own
    if own is None or not own.of(run.cluster.gpu):
        return 0.0
    _, low, high = CLASSES[name]
    deviation = (high - low) / (2 * _TAIL)
    differing, uncertain = _by_constants(run, own)
    found = min(BETWEEN, differing / deviation**2) - uncertain / deviation**2
    if own.paced != pace_key(run.training.precision, run.training.framework):
        return found
    return found + pull(max(0.0, found)) * (BETWEEN - max(0.0, found))


def pull(found: Share = 0.0) -> Share:
    """Return how much of a logged job's deviation is the cluster's, by the expected parts.

    Source: the weight of one observation of a random effect (Efron and Morris 1975). `found` is
    what measured constants explain already.
    """
    return (BETWEEN - found) / (1 - found)


def sensitivity(run: Run, name: str) -> Ratio:
    """Return by what share the step grows per share that a constant falls."""
    table = reached(run.cluster.gpu, run.cluster.own)
    other = replace(table, **{name: getattr(table, name) * _STEP})
    before, after = (
        step_time(run.model, run.cluster, run.plan, run.training, one).total
        for one in (table, other)
    )
    return log(before / after) / log(_STEP)


def _by_constants(run: Run, own: OwnConstants) -> tuple[Ratio, Ratio]:
    """Return the variance of the step by what constants usually differ, and by their errors."""
    differing = uncertain = 0.0
    for name, one in own.measured:
        slope = sensitivity(run, name) ** 2
        differing += slope * DIFFERS[name] ** 2
        uncertain += slope * one.error**2
    return differing, uncertain
