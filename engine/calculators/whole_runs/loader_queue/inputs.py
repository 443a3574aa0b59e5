"""The inputs of the loader queue, and every number of the page."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.core.inputs import MILLISECONDS, Number, Scalar
from engine.core.outputs import Told
from engine.core.units import MILLI, Count, Seconds, Share
from engine.form.missing_range import UNRANGED
from engine.simulate.job.loader_queue import Batch

PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "No workers": {"workers": 0},
    "Two workers, far ahead": {"workers": 2, "prefetch": 8},
    "Three workers, one ahead": {"workers": 3, "prefetch": 1},
    "Three workers, two ahead": {"workers": 3},
}
DRAWN, STEPS, SKIPPED = 16, 240, 40
MOST, FAR = 16, 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    workers: Annotated[int, Number(label="Workers", low=0, high=MOST, whole=True, symbol="w")] = 2
    prefetch: Annotated[
        int,
        Number(label="Ahead, per worker", low=1, high=FAR, whole=True, symbol="p", help="Batches."),
    ] = 2
    prepare: Annotated[
        float,
        Number(
            label="Preparing a batch",
            unit=MILLISECONDS,
            low=1 * MILLI,
            high=5.0,
            scale="log",
            help="Reading, decoding, tokenizing and packing, in one worker.",
        ),
    ] = 0.25
    step: Annotated[
        float,
        Number(label="Step", unit=MILLISECONDS, low=1 * MILLI, high=5.0, scale="log"),
    ] = 0.1
    slow: Annotated[
        float,
        Number(
            label="A slow batch",
            unit=MILLISECONDS,
            low=1 * MILLI,
            high=20.0,
            scale="log",
            help="The next file is opened, say. Never less than any other batch.",
        ),
    ] = 0.6
    every: Annotated[
        int,
        Number(label="One batch is slow in", low=2, high=60, whole=True),
    ] = 13


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The batches of the reader's loader, and the waiting by number of workers."""

    batches: tuple[Batch, ...]
    curve: tuple[Share, ...]
    waiting: Annotated[
        Share,
        Told(
            "GPU waits for data",
            note="of the time, after the first {skipped} batches",
            color="bad",
            basis="simulated",
            assumes=(
                "Batches go to the workers in turn and are taken in their order, as in PyTorch.",
                "Copies to the GPU take no time; workers do not slow each other down.",
            ),
            sources=("pytorch_data",),
        ),
    ]
    enough: Annotated[
        Count,
        Told(
            "Workers that keep up",
            note="in the mean, slow batches included",
            color="compute",
            assumes=("The mean time of a batch over the time of a step, rounded up.",),
            sources=("pytorch_data",),
        ),
    ]
    ahead: Annotated[
        Count,
        Told(
            "Batches held",
            note="in the host's memory, at most",
            color="buffers",
            assumes=("Workers times batches ahead of each.",),
            sources=("pytorch_data",),
        ),
    ]
    mean_step: Annotated[
        Seconds,
        Told(
            "A step takes",
            note="its waiting included",
            color="compute",
            basis="simulated",
            assumes=("The mean after the first {skipped} batches.", UNRANGED),
            sources=("pytorch_data",),
        ),
    ]
    far: Annotated[Share, Told()]
    skipped: Count = SKIPPED
