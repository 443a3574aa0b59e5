"""What the noise scale shows."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.calculators.one_gpu.noise_scale.inputs import HIGH, LOW, Inputs
from engine.catalog.accelerators import ACCELERATORS
from engine.core.lazy import Later
from engine.core.outputs import Told
from engine.core.units import Count, Ratio, Seconds, Share, Tokens
from engine.formulas.batch_noise import batch_steps, batch_tokens, kaplan_critical_batch, progress

_SAME = ("The noise scale stays the same over the run; in truth it grows.",)


COLUMN = tuple(LOW * (HIGH / LOW) ** (at / 72) for at in range(73))


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """Over the batches of `COLUMN`; `times` are of the run, on as many GPUs as a batch feeds."""

    progress: tuple[Share, ...]
    steps: tuple[float, ...]
    tokens: tuple[Tokens, ...]
    times: tuple[Seconds, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The batch and what follows from it."""

    curves: Later[Curves]

    share: Annotated[
        Share,
        Told("Progress of a step", "e", "of what an infinite batch would make", "compute"),
    ]
    steps: Annotated[
        Count, Told("Steps", "S", "{least_steps} with an infinite batch", assumes=_SAME)
    ]
    tokens: Annotated[Tokens, Told("Tokens in all", "E", assumes=_SAME)]
    excess: Annotated[
        Ratio,
        Told(
            "Over the fewest tokens",
            assumes=("Tokens over the noise scale times the fewest steps.",),
            sources=("mccandlish2018",),
        ),
    ]
    per_gpu: Annotated[
        Tokens,
        Told(
            "Tokens that each GPU needs",
            note="in a step, so that fully sharded training hides its traffic",
            color="data",
            assumes=(
                "The peak of the GPU over what its node sends into the network: F/W.",
                "Data parallelism with full sharding, eight GPUs and their ports per node.",
            ),
            sources=("scaling_book",),
        ),
    ]
    gpus: Annotated[
        Count,
        Told(
            "GPUs that the batch feeds",
            color="data",
            assumes=("The batch over the tokens that each GPU needs; at least one.",),
            sources=("scaling_book",),
        ),
    ]
    time: Annotated[
        Seconds,
        Told(
            "Time of the run",
            color="data",
            assumes=("Steps times the time of a step on that many GPUs.", *_SAME),
            sources=("mccandlish2018",),
        ),
    ]
    quarter: Annotated[
        Share,
        Told(
            "Progress at a quarter of the noise scale",
            assumes=("One over one plus four.",),
            sources=("mccandlish2018",),
        ),
    ]
    fourfold: Annotated[
        Share,
        Told(
            "Progress at four times the noise scale",
            assumes=("One over one plus a quarter.",),
            sources=("mccandlish2018",),
        ),
    ]
    kaplan: Annotated[
        Tokens,
        Told(
            "Critical batch by Kaplan 2020",
            note="tokens, at a loss of {language_loss} nats",
            assumes=(
                "2 × 10⁸ tokens over the loss to the power of 1/0.21; fitted to small models "
                "of 2020.",
            ),
            sources=("kaplan2020",),
        ),
    ]


def _fed(batch: Tokens, per_gpu: Tokens) -> Count:
    """Return the GPUs that a batch feeds; one works on any batch."""
    return max(1, int(batch / per_gpu))


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    scale, least = inputs.noise_scale, inputs.least_steps
    peak = ACCELERATORS[inputs.gpu].peak["bf16"]
    per_gpu = peak / (8 * inputs.port)
    gpus = _fed(inputs.batch, per_gpu)
    steps = batch_steps(inputs.batch, scale, least)
    tokens = batch_tokens(inputs.batch, scale, least)
    step_time = inputs.batch / gpus / inputs.token_rate
    return Result(
        curves=Later(partial(_curves, inputs, per_gpu)),
        share=progress(inputs.batch, scale),
        steps=steps,  # type: ignore[arg-type]
        tokens=tokens,
        excess=tokens / (least * scale),
        per_gpu=per_gpu,
        gpus=gpus,
        time=steps * step_time,
        quarter=progress(0.25, 1.0),
        fourfold=progress(4.0, 1.0),
        kaplan=float(f"{kaplan_critical_batch(inputs.language_loss):.3g}"),
    )


def _curves(inputs: Inputs, per_gpu: Tokens) -> Curves:
    scale, least = inputs.noise_scale, inputs.least_steps
    tokens = tuple(batch_tokens(batch, scale, least) for batch in COLUMN)
    return Curves(
        progress=tuple(progress(batch, scale) for batch in COLUMN),
        steps=tuple(batch_steps(batch, scale, least) for batch in COLUMN),
        tokens=tokens,
        times=tuple(
            count / _fed(batch, per_gpu) / inputs.token_rate
            for batch, count in zip(COLUMN, tokens, strict=True)
        ),
    )
