"""Wallclock: step time, memory and communication of distributed GPU training, in SI units."""

from engine.library.functions import (
    all_reduce,
    collective,
    estimate,
    gpus,
    models,
    nodes,
    plan,
    read_config,
    read_texts,
    read_trace,
)
from engine.library.notebook import Calculation, Grid, calculate, sweep
from engine.library.results import (
    CollectiveTime,
    Config,
    Estimate,
    PlannedRun,
    Plans,
    RangeBasis,
    RankMemory,
    StepParts,
    TracedStep,
    TraceSummary,
    as_dict,
)
from engine.library.widget import widget
from engine.run.document import InputError
from engine.run.importers.text_error import TextError
from engine.run.run import Run

__all__ = [
    "Calculation",
    "CollectiveTime",
    "Config",
    "Estimate",
    "Grid",
    "InputError",
    "PlannedRun",
    "Plans",
    "RangeBasis",
    "RankMemory",
    "Run",
    "StepParts",
    "TextError",
    "TraceSummary",
    "TracedStep",
    "all_reduce",
    "as_dict",
    "calculate",
    "collective",
    "estimate",
    "gpus",
    "models",
    "nodes",
    "plan",
    "read_config",
    "read_texts",
    "read_trace",
    "sweep",
    "widget",
]
__version__ = "source"
