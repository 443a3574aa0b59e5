"""A training run: a model, a cluster, a plan and how it trains.

It stands apart from the file that it is read from, whose keys and formats no page needs that only
computes with it.
"""

from engine.catalog.models import Model
from engine.core.record import record
from engine.run.parallelism import Cluster, Plan, Training


@record
class Run:
    """A training run."""

    model: Model
    cluster: Cluster
    plan: Plan
    training: Training
