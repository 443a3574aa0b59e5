"""Measured and predicted times of a layer with and without recomputation, and of whole runs.

What layers keep between their passes was measured too, on one GPU.
"""

from dataclasses import dataclass, replace
from functools import cache

from engine.catalog.measured_timings import LAYER_TIMES, RUN, KeptLayer, LayerTimes
from engine.catalog.models import MODELS
from engine.core.units import Bytes, Ratio, Seconds
from engine.formulas.activations import layer_memory
from engine.run.parallelism import Plan, Training
from engine.simulate.layer.device_model import rank_rates
from engine.simulate.layer.layer_time import LayerTime, layer_time
from engine.simulate.step.published_runs import PredictedRun, predictions


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedLayer:
    """A measured row and its prediction.

    Attributes:
        measured: the row.
        time: predicted, by what it is spent on.
    """

    measured: LayerTimes
    time: LayerTime

    @property
    def total(self) -> Seconds:
        """Predicted time of both passes."""
        return self.time.total

    @property
    def error(self) -> Ratio:
        """Relative error of the prediction."""
        return self.total / self.measured.total - 1


@cache
def predicted_layers() -> dict[str, PredictedLayer]:
    """Return every row of the table with its prediction."""
    run = next(
        published for published in predictions() if published.case.row["row_id"] == RUN
    ).case.run
    predicted = {}
    for key, row in LAYER_TIMES.items():
        training = replace(run.training, recompute=row.recompute)
        plan = replace(run.plan, sequence_parallel=row.sequence_parallel)
        rank = rank_rates(run.cluster, training)
        time = layer_time(run.model, plan, training, rank, sparse=False)
        predicted[key] = PredictedLayer(measured=row, time=time)
    return predicted


def predicted_kept_bytes(row: KeptLayer) -> Bytes:
    """Return the predicted bytes that a layer on one GPU keeps for its backward pass."""
    training = Training(
        micro_batch_size=1,
        global_batch_size=1,
        sequence_length=int(row.length),
        framework="fsdp" if row.fused else "megatron",
        compiled=row.style == "compiled",
        flash_attention=row.fused,
        recompute=row.recompute,
    )
    return layer_memory(MODELS[row.model], Plan(world_size=1), training).kept


@cache
def recompute_runs() -> tuple[PredictedRun, ...]:
    """Return the published runs with full and with selective recomputation, in pairs."""
    return tuple(
        published
        for published in predictions()
        if published.case.row["row_id"].startswith("korth-t5")
    )
