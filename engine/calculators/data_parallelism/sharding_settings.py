"""Every setting of ZeRO in DeepSpeed and of FSDP2, with its true default."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.deepspeed_settings import SETTINGS
from engine.catalog.deepspeed_settings import VERSION as DEEPSPEED
from engine.catalog.fsdp2_settings import ARGUMENTS
from engine.catalog.fsdp2_settings import VERSION as PYTORCH
from engine.core.inputs import Choice
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import Count
from engine.core.views import Table

TITLE = "Settings and their defaults"
QUESTION = "What is the default of this setting, and what does it do?"
HEADLINE = "count"
PRESETS = {
    "DeepSpeed, stage 2": {"stage": "2"},
    "FSDP2": {"library": "fsdp2"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    library: Annotated[
        str,
        Choice(label="Library", options={"deepspeed": "DeepSpeed", "fsdp2": "FSDP2 (PyTorch)"}),
    ] = "deepspeed"
    stage: Annotated[
        str,
        Choice(
            label="Stage of ZeRO",
            options={"1": "1", "2": "2", "3": "3"},
            help="Settings that the stage does not read are left out. FSDP2 has no stages.",
        ),
    ] = "3"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The rows."""

    rows: tuple[tuple[str, str, str], ...]
    count: Annotated[
        Count,
        Output(
            "Settings",
            note="that are read",
            assumes=("Deprecated and removed ones are left out.",),
            basis="definition",
            sources=("deepspeed_config", "pytorch_fsdp2"),
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the settings of the library."""
    if inputs.library == "fsdp2":
        rows = tuple((setting.name, setting.default, setting.effect) for setting in ARGUMENTS)
    else:
        rows = tuple(
            (name, setting.default or "none", setting.effect)
            for name, setting in SETTINGS.items()
            if int(inputs.stage) in setting.stages and not setting.replacement and not setting.gone
        )
    return Result(rows=rows, count=len(rows))


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    return {
        **Presenter(result, inputs).values("count"),
        "settings": partial(_settings, inputs, result),
    }


def _settings(inputs: Inputs, result: Result) -> Table:
    version = PYTORCH if inputs.library == "fsdp2" else DEEPSPEED
    return Table(
        title="Settings and their defaults",
        columns=("Setting", "Default", "What it does"),
        rows=result.rows,
        caption=f"From the source of {version}.",
    )
