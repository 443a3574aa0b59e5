"""The record of a published whole run, and the plans that several of them share."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.catalog.models import MODELS, Model
from engine.catalog.reported_runs import SettingValue
from engine.catalog.whole_run_forecasts import FORECAST_HOURS
from engine.core.units import HOUR, GpuTime, Ratio, Tokens

Settings = Mapping[str, SettingValue]
_SHAPE = (
    "num_layers",
    "hidden_size",
    "num_attention_heads",
    "num_key_value_heads",
    "ffn_hidden_size",
    "vocab_size",
    "mlp",
    "tied_embeddings",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeRun:
    """A published run.

    Attributes:
        name: as its authors name it.
        tokens: that were trained on.
        gpu_time: as published.
        settings: of its plan, by the names of a run file's keys, flat.
        published_plan: whether the source gives the plan; otherwise it is the planner's best.
        includes: what the hours hold or leave out, as far as the source says.
        source: key of the bibliography.
    """

    name: str
    tokens: Tokens
    gpu_time: GpuTime
    settings: Settings
    published_plan: bool
    includes: str
    source: str

    @property
    def shape(self) -> Model:
        """The model: of `MODELS`, or of the settings where that has no row."""
        key = str(self.settings["model"])
        if key in MODELS:
            return MODELS[key]
        sizes: dict[str, Any] = {size: self.settings[size] for size in _SHAPE}
        return Model(name=self.name, **sizes)

    @property
    def gpu(self) -> str:
        """Key of `ACCELERATORS`."""
        return str(self.settings["gpu"])

    @property
    def forecast(self) -> GpuTime:
        """GPU time of its steps alone, by the step model (`whole_run_forecasts`)."""
        return FORECAST_HOURS[self.name][0] * HOUR

    @property
    def factor(self) -> Ratio:
        """Published GPU time over the forecast."""
        return self.gpu_time / self.forecast


PLAIN: Settings = {
    "tensor_parallel": 1,
    "pipeline_parallel": 1,
    "virtual_pipeline": 1,
    "context_parallel": 1,
    "schedule": "1f1b",
    "sequence_parallel": False,
    "overlap_tensor_parallel": False,
    "zero_stage": "1",
}
SPLIT: Settings = {**PLAIN, "schedule": "interleaved", "sequence_parallel": True}
A100: Settings = {"gpu": "A100-SXM-80GB", "nic_bandwidth": 25e9}
# A p4d of AWS: four ports of 100 Gb/s.
A100_40: Settings = {"gpu": "A100-SXM-40GB", "nics_per_node": 4, "nic_bandwidth": 12.5e9}
FSDP: Settings = {**PLAIN, "zero_stage": "2", "framework": "fsdp", "shard_group": 256}


def batch(model: str, gpus: int, sequences: int, length: int, micro_batch: int) -> Settings:
    """Return the settings of a model, its GPUs and its batch."""
    return {
        "model": model,
        "world_size": gpus,
        "global_batch_size": sequences,
        "sequence_length": length,
        "micro_batch_size": micro_batch,
    }


def shape(*sizes: int, mlp: str = "swiglu", tied: bool = False) -> Settings:
    """Return the settings of a model's shape.

    Args:
        sizes: layers, hidden size, heads, key-value heads, feed-forward size, vocabulary.
        mlp: as in `Model`.
        tied: whether the output layer is the input embedding.
    """
    return {**dict(zip(_SHAPE, sizes, strict=False)), "mlp": mlp, "tied_embeddings": tied}


def whole_run(
    name: str,
    tokens: Tokens,
    hours: float,
    source: str,
    settings: Settings,
    includes: str,
    *,
    published_plan: bool = False,
) -> WholeRun:
    """Return a published run from its GPU-hours."""
    return WholeRun(
        name=name,
        tokens=tokens,
        gpu_time=hours * HOUR,
        settings=settings,
        published_plan=published_plan,
        includes=includes,
        source=source,
    )
