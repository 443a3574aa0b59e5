"""Inputs of the schedule lab, and its schedules."""

from dataclasses import dataclass, fields
from typing import Annotated

from engine.core.inputs import MEBIBYTES, MILLISECONDS, PERCENT, Choice, Number, Switch, Unit
from engine.core.units import BYTES, GB, MILLI, GiB, MiB
from engine.simulate.pipeline.schedule_case import ScheduleCase, schedule_titles

_LAYERS = Unit(" layers", 1.0)
_GIGABYTES = Unit(" GB", GB, {"MB": 1e6, "TB": 1e12, "GiB": GiB}, quantity=BYTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    schedule: Annotated[str, Choice(label="Schedule", options=schedule_titles())] = "one_f_one_b"
    pipeline_parallel: Annotated[
        int, Number(label="Stages", low=2, high=64, scale="log", whole=True, symbol="p")
    ] = 4
    num_microbatches: Annotated[
        int, Number(label="Micro-batches", low=1, high=256, scale="log", whole=True, symbol="m")
    ] = 8
    num_chunks: Annotated[
        int,
        Number(
            label="Chunks per rank",
            low=1,
            high=8,
            whole=True,
            symbol="v",
            help="For interleaved 1F1B and breadth-first; the other schedules fix it.",
        ),
    ] = 2
    forward: Annotated[
        float,
        Number(
            label="Forward",
            unit=MILLISECONDS,
            low=0.1 * MILLI,
            high=1.0,
            scale="log",
            symbol="F",
            help="A rank's layers on one micro-batch.",
        ),
    ] = 1 * MILLI
    backward_input: Annotated[
        float,
        Number(
            label="Backward, inputs",
            unit=MILLISECONDS,
            low=0.1 * MILLI,
            high=1.0,
            scale="log",
            symbol="B",
        ),
    ] = 1 * MILLI
    backward_weight: Annotated[
        float,
        Number(
            label="Backward, weights",
            unit=MILLISECONDS,
            low=0.1 * MILLI,
            high=1.0,
            scale="log",
            symbol="W",
        ),
    ] = 1 * MILLI
    message: Annotated[
        float,
        Number(
            label="Message to the next stage",
            unit=MILLISECONDS,
            low=0.0,
            high=100 * MILLI,
            step=0.05 * MILLI,
            help="Time on the wire; ranks go on computing meanwhile.",
        ),
    ] = 0.0
    overlapped: Annotated[
        float,
        Number(
            label="F&B, of F + B + W",
            unit=PERCENT,
            low=0.5,
            high=1.2,
            step=0.01,
            advanced=True,
            help="How long DualPipe's overlapped pair takes; below 100 % it hides communication.",
        ),
    ] = 1.0
    slow_stage: Annotated[
        int, Number(label="Slow stage", low=0, high=63, whole=True, advanced=True)
    ] = 0
    slowness: Annotated[
        float,
        Number(
            label="It takes longer by",
            unit=PERCENT,
            low=0.0,
            high=1.0,
            step=0.01,
            advanced=True,
        ),
    ] = 0.0
    num_layers: Annotated[
        int,
        Number(
            label="Layers, cut into whole ones",
            low=0,
            high=512,
            whole=True,
            advanced=True,
            help="0: all stages are alike. Where layers do not divide, the ends get fewer.",
        ),
    ] = 0
    embedding: Annotated[
        float,
        Number(
            label="Embedding takes as long as",
            unit=_LAYERS,
            low=0.0,
            high=8.0,
            step=0.1,
            advanced=True,
            help="On the first stage, besides its layers; counts if layers are set.",
        ),
    ] = 0.0
    output: Annotated[
        float,
        Number(
            label="Output layer and loss take as long as",
            unit=_LAYERS,
            low=0.0,
            high=8.0,
            step=0.1,
            advanced=True,
            help="On the last stage, besides its layers; counts if layers are set.",
        ),
    ] = 1.0
    off_first: Annotated[
        int,
        Number(
            label="Layers moved off the first stage",
            low=-32,
            high=32,
            whole=True,
            advanced=True,
            help="To the stages between; negative numbers fetch layers. Of chunks, the first one.",
        ),
    ] = 0
    off_last: Annotated[
        int,
        Number(
            label="Layers moved off the last stage", low=-32, high=32, whole=True, advanced=True
        ),
    ] = 0
    recompute: Annotated[
        bool,
        Switch(
            label="Recompute activations",
            help="The backward pass repeats the forward pass first.",
            advanced=True,
        ),
    ] = False
    synchronized: Annotated[
        bool,
        Switch(
            label="Ranks wait for one another between steps",
            help="As a gradient norm over all stages before the optimizer makes them do.",
            advanced=True,
        ),
    ] = False
    activation_size: Annotated[
        float,
        Number(
            label="Activations, whole model",
            unit=_GIGABYTES,
            low=0.01 * GB,
            high=1000 * GB,
            scale="log",
            advanced=True,
            help="Of one micro-batch: one GPU from each stage, added up.",
        ),
    ] = 11.4 * GB
    weight_size: Annotated[
        float,
        Number(
            label="Weights, whole model",
            unit=_GIGABYTES,
            low=0.01 * GB,
            high=10_000 * GB,
            scale="log",
            advanced=True,
            help="What one copy of the model takes: one GPU from each stage, added up.",
        ),
    ] = 17.65 * GB
    message_size: Annotated[
        float,
        Number(
            label="Bytes of a message",
            unit=MEBIBYTES,
            low=1 * MiB,
            high=1024 * MiB,
            scale="log",
            advanced=True,
        ),
    ] = 64 * MiB


def schedule_case(inputs: Inputs) -> ScheduleCase:
    """Return the schedule case to simulate."""
    return ScheduleCase(
        **{field.name: getattr(inputs, field.name) for field in fields(ScheduleCase)}
    )
