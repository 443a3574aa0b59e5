"""A measured layer with and without recomputation, predicted; and the steps of whole runs.

What layers keep between their passes was measured too, on one GPU.
"""

from dataclasses import dataclass, replace
from functools import cache

from engine.catalog.measured_timings import KeptLayer
from engine.catalog.models import MODELS
from engine.catalog.recompute_times import LAYER_TIMES, RUN, LayerTimes
from engine.core.units import Bytes, Ratio, Seconds
from engine.formulas.activations import layer_memory
from engine.run.parallelism import Plan, Training
from engine.simulate.layer.device_model import rank_of
from engine.simulate.layer.layer_time import LayerTime, layer_time
from engine.simulate.step.published_runs import Predicted, predictions


@dataclass(frozen=True, slots=True, kw_only=True)
class Modelled:
    """A measured row and its prediction.

    Attributes:
        measured: the row.
        time: predicted, by what it is spent on.
    """

    measured: LayerTimes
    time: LayerTime

    @property
    def total(self) -> Seconds:
        """Predicted, both passes."""
        return self.time.total

    @property
    def error(self) -> Ratio:
        """Predicted over measured, less one."""
        return self.total / self.measured.total - 1


@cache
def layers() -> dict[str, Modelled]:
    """Return every row of the table with its prediction."""
    run = next(one for one in predictions() if one.case.row["row_id"] == RUN).case.run
    found = {}
    for key, row in LAYER_TIMES.items():
        training = replace(run.training, recompute=row.recompute)
        plan = replace(run.plan, sequence_parallel=row.sequence_parallel)
        rank = rank_of(run.cluster, training)
        time = layer_time(run.model, plan, training, rank, sparse=False)
        found[key] = Modelled(measured=row, time=time)
    return found


def kept(row: KeptLayer) -> Bytes:
    """Return what the engine says that a layer on one GPU keeps."""
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
def steps() -> tuple[Predicted, ...]:
    """Return the published runs with full and with selective recomputation, in pairs."""
    return tuple(one for one in predictions() if one.case.row["row_id"].startswith("korth-t5"))
