"""The file, and the job that it is for."""

from dataclasses import dataclass
from typing import Annotated

from engine.calculators.data_parallelism.deepspeed_linter.samples import SAMPLES
from engine.core.inputs import Text
from engine.core.units import Gbit
from engine.form.fields import LabGpu, OwnConstants
from engine.form.sharded.knobs import KnobModel, KnobPort
from engine.form.sharded.lab import LabRanks, LabTokens
from engine.run.deepspeed_text import read_settings

PRESETS = {
    "The same for 70B on 128 GPUs": {"model": "llama-3-70b", "ranks": 128},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    text: Annotated[
        str,
        Text(
            label="DeepSpeed JSON",
            samples=SAMPLES,
            placeholder="Paste a DeepSpeed configuration.",
            rows=16,
            files=".json",
            longest=50_000,
            check=read_settings,
        ),
    ] = SAMPLES["stage3"].text
    model: KnobModel = "llama-3-8b"
    ranks: LabRanks = 64
    tokens: LabTokens = 4096
    port: KnobPort = 400 * Gbit
    gpu: LabGpu = "h100"
    own_constants: OwnConstants = ""
