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

from engine.catalog.reader_constants import OwnConstants, gpu_constants, pace_key
from engine.catalog.unseen_errors import CLASSES
from engine.core.units import Ratio, Share
from engine.run.run import Run
from engine.simulate.step.step_time import step_time

# Of the variance of the logarithms of predicted over measured, of 653 unseen runs: the part between
# groups of one source, GPU, software and precision (one-way analysis of variance).
BETWEEN_GROUPS: Share = 0.32
# What the tails of `CLASSES`, 7.5 % on either side, are in standard deviations.
_TAIL: Ratio = 1.44
# How far a constant lies from that of the next cluster with the same GPUs, as the standard
# deviation of its logarithm. Products: the best of two sources on an A100 are 256.5 and 271.2
# TFLOP/s. Networks: 192 of 200 GB/s, 380 and 320 of 400, 42.6 of 50. The others lie between and are
# assumed.
CLUSTER_DEVIATION: Mapping[str, Ratio] = {
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


def explained_variance(run: Run, name: str) -> Share:
    """Return the share of the variance of a class of runs that the run's own constants explain.

    Below zero where they are less certain than the catalog's: then the range is wider.

    Args:
        run: with its cluster.
        name: key of `CLASSES`.
    """
    own = run.cluster.own_constants
    if own is None or not own.of(run.cluster.gpu):
        return 0.0
    _, low, high = CLASSES[name]
    deviation = (high - low) / (2 * _TAIL)
    differing, uncertain = _constant_variances(run, own)
    share = min(BETWEEN_GROUPS, differing / deviation**2) - uncertain / deviation**2
    if own.paced != pace_key(run.training.precision, run.training.framework):
        return share
    return share + cluster_share(max(0.0, share)) * (BETWEEN_GROUPS - max(0.0, share))


def cluster_share(explained: Share = 0.0) -> Share:
    """Return the share of a logged job's deviation that is attributed to the cluster.

    Source: the weight of one observation of a random effect (Efron and Morris 1975). `explained` is
    what measured constants explain already.
    """
    return (BETWEEN_GROUPS - explained) / (1 - explained)


def sensitivity(run: Run, name: str) -> Ratio:
    """Return the elasticity of the step time with respect to a constant, positive if it grows."""
    table = gpu_constants(run.cluster.gpu, run.cluster.own_constants)
    changed = replace(table, **{name: getattr(table, name) * _STEP})
    before, after = (
        step_time(run.model, run.cluster, run.plan, run.training, constants).total
        for constants in (table, changed)
    )
    return log(before / after) / log(_STEP)


def _constant_variances(run: Run, own: OwnConstants) -> tuple[Ratio, Ratio]:
    """Return the step's variance from usual differences of constants, and from their errors."""
    differing = uncertain = 0.0
    for name, measurement in own.measured:
        slope = sensitivity(run, name) ** 2
        differing += slope * CLUSTER_DEVIATION[name] ** 2
        uncertain += slope * measurement.error**2
    return differing, uncertain
