"""The inputs: DeepSpeed's settings in elements, and the job that they are tried on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.core.inputs import ELEMENTS, Number, Scalar, Switch
from engine.core.units import GIGA, MEGA, Gbit
from engine.form.fields import LabGpu, OwnConstants
from engine.form.sharded.knobs import KnobModel, KnobPort
from engine.form.sharded.lab import LabRanks, LabTokens
from engine.simulate.data_parallel.fetched_step import BUCKET
from engine.simulate.data_parallel.parameter_fetch import LIVE, PERSISTENT, PREFETCH, REUSE

# name -> lowest and highest value of its slider
RANGES: Mapping[str, tuple[float, float]] = {
    "prefetch": (MEGA, 5 * GIGA),
    "live": (10 * MEGA, 10 * GIGA),
    "reuse": (MEGA, 10 * GIGA),
    "persistent": (1e3, 100 * MEGA),
    "bucket": (MEGA, 4 * GIGA),
}


def _elements(name: str, label: str, words: str) -> Number:
    low, high = RANGES[name]
    return Number(label=label, unit=ELEMENTS, low=low, high=high, scale="log", help=words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change; M is a million elements. The labels leave out "stage3_"."""

    live: Annotated[
        float,
        _elements(
            "live",
            "max_live_parameters",
            "No prefetch is started while this many elements are gathered.",
        ),
    ] = LIVE
    prefetch: Annotated[
        float,
        _elements(
            "prefetch",
            "prefetch_bucket_size",
            "Elements that one prefetch gathers; each module starts one.",
        ),
    ] = PREFETCH
    bucket: Annotated[
        float,
        _elements("bucket", "reduce_bucket_size", "Gradients that are reduced together."),
    ] = BUCKET
    reuse: Annotated[
        float,
        _elements(
            "reuse",
            "max_reuse_distance",
            "A tensor stays if it is used again before this many other elements are.",
        ),
    ] = REUSE
    persistent: Annotated[
        float,
        _elements(
            "persistent",
            "persistence_threshold",
            "Tensors up to this size are never divided.",
        ),
    ] = PERSISTENT
    overlap: Annotated[
        bool,
        Switch(label="overlap_comm", help="On by default for stage 3, off for stages 1 and 2."),
    ] = True
    model: KnobModel = "llama-3-8b"
    ranks: LabRanks = 64
    tokens: LabTokens = 4096
    port: KnobPort = 400 * Gbit
    gpu: LabGpu = "h100"
    own_constants: OwnConstants = ""


def auto(hidden: int) -> Mapping[str, Scalar]:
    """Return what "auto" means to Hugging Face's accelerate for a hidden size."""
    return {
        "bucket": float(hidden * hidden),
        "prefetch": float(int(0.9 * hidden * hidden)),
        "persistent": float(10 * hidden),
    }


PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "\N{LEFT DOUBLE QUOTATION MARK}auto\N{RIGHT DOUBLE QUOTATION MARK} of accelerate, 8B": auto(
        4096
    ),
    "Little memory": {"live": 100 * MEGA, "bucket": 50 * MEGA},
    "Everything large": {"live": 10 * GIGA, "bucket": 2 * GIGA, "prefetch": 500 * MEGA},
    "70B on 128 GPUs": {"model": "llama-3-70b", "ranks": 128},
}
