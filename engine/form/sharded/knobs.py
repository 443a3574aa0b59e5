"""The job on which sharding settings are tried."""

from operator import attrgetter
from typing import Annotated

from engine.catalog.models import MODELS
from engine.core.inputs import GBITS, Choice, Number
from engine.core.units import Bandwidth, Count, Gbit
from engine.simulate.data_parallel.sharded_step import ShardedSetting

_OFFERED = ("llama-3-8b", "llama-2-13b", "llama-3-70b")
KnobModel = Annotated[
    str, Choice(label="Model", cites=False, options={key: MODELS[key].name for key in _OFFERED})
]
KnobPort = Annotated[
    float,
    Number(
        label="Network port per GPU",
        unit=GBITS,
        low=12.5 * Gbit,
        high=1600 * Gbit,
        scale="log",
        help="Line rate, one way, eight ports for the eight GPUs of a node.",
    ),
]


# What a calculator of a setting asks of its job, in the order of `knob_job`.
knob_fields = attrgetter("model", "gpu", "ranks", "tokens", "port", "own_constants")


def knob_job(
    model: str, gpu: str, ranks: Count, tokens: Count, port: Bandwidth, own_constants: str = ""
) -> ShardedSetting:
    """Return a fully sharded job of DeepSpeed: one micro-batch."""
    return ShardedSetting(
        model=model,
        gpu=gpu,
        ranks=ranks,
        tokens=tokens,
        port=port,
        framework="deepspeed",
        own_constants=own_constants,
    )
