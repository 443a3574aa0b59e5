"""Data-parallel steps: five phases on real numbers, sixteen samples, one to eight GPUs."""

from dataclasses import dataclass
from typing import Annotated

from engine.basis.inputs import MILLISECONDS, Choice, Number
from engine.basis.text import say
from engine.basis.units import COUNT, MILLI, SECONDS
from engine.basis.views import Badge, Receipt, Value, View
from engine.draw.replicas import Clock, replicas_scene
from engine.simulate.replicas import SAMPLES, Step, shards, train
from engine.simulate.streams import COMPUTE, NETWORK, Op, run

TITLE = "Five phases"
QUESTION = "What do four GPUs do with one batch, and do they stay identical?"
PRESETS = {
    "One GPU": {"num_gpus": 1},
    "Uneven shards": {"extra": 3},
    "Uneven, weighted by samples": {"extra": 3, "average": "samples"},
}
_FORWARD, _BACKWARD, _UPDATE = 1 * MILLI, 2 * MILLI, 1 * MILLI


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    num_gpus: Annotated[int, Number(label="GPUs", low=1, high=8, whole=True, symbol="n")] = 4
    extra: Annotated[
        int,
        Number(
            label="Samples moved to GPU 0",
            low=0,
            high=8,
            whole=True,
            help="From the last GPU, which keeps at least one.",
        ),
    ] = 0
    step: Annotated[int, Number(label="Step", low=1, high=30, whole=True)] = 1
    average: Annotated[
        str,
        Choice(
            label="Average",
            options={"gpus": "over the GPUs (DDP)", "samples": "over all samples"},
            help="The same thing, as long as all shards are equal.",
        ),
    ] = "gpus"
    all_reduce: Annotated[
        float,
        Number(label="All-reduce", unit=MILLISECONDS, low=0.0, high=0.02, step=0.5 * MILLI),
    ] = 4 * MILLI


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    parts = shards(inputs.num_gpus, inputs.extra)
    step = train(parts, inputs.step, weighted=inputs.average == "samples")
    alone = train(shards(1, 0), inputs.step, weighted=True)
    clock = _clock(inputs, [len(part) for part in parts])
    first = step.replicas[0].after
    apart = max(
        abs(one - other)
        for replica in step.replicas
        for one, other in zip(first, replica.after, strict=True)
    )
    off = max(abs(a - b) for a, b in zip(first, alone.replicas[0].after, strict=True))
    receipt = Receipt(
        basis="simulated",
        assumptions=(
            "Computed in the run that the scene shows, sample by sample, GPU by GPU.",
            "The model is a line, its loss half the squared error, the learning rate 0.1.",
        ),
        sources=("li2020",),
    )
    timed = Receipt(
        basis="simulated",
        assumptions=(
            say(
                "Each sample takes {f} forward and {b} backward, the update {u}.",
                f=(_FORWARD, SECONDS),
                b=(_BACKWARD, SECONDS),
                u=(_UPDATE, SECONDS),
            ),
            "No overlap: the all-reduce starts when the last GPU is done.",
        ),
    )
    return {
        "step_time": Value(
            label="Step",
            value=clock.end,
            quantity=SECONDS,
            receipt=timed,
            note="made-up times, the same for every sample",
        ),
        "scene": replicas_scene(step, clock, inputs.step),
        "apart": Value(
            label="Copies differ by",
            value=apart,
            quantity=COUNT,
            receipt=receipt,
            note="largest difference of a parameter between two GPUs",
        ),
        "off": Value(
            label="From one GPU with the whole batch",
            value=off if off > 1e-12 else 0.0,
            quantity=COUNT,
            receipt=receipt,
            note="largest difference of a parameter, rounding aside",
        ),
        "loss": Value(
            label="Loss before the step",
            value=step.loss,
            quantity=COUNT,
            receipt=receipt,
            note=say("{l} after it", l=(step.loss_after, COUNT)),
        ),
        "waiting": Value(
            label="Fastest GPU waits",
            value=clock.ready - min(clock.backward),
            quantity=SECONDS,
            receipt=timed,
            note="for the slowest, before the all-reduce",
        ),
        "verdict": _verdict(inputs, step, off),
    }


def _clock(inputs: Inputs, sizes: list[int]) -> Clock:
    """Run the step on the streams of all GPUs."""
    ranks = range(len(sizes))
    everyone = tuple(ranks)
    ops = [
        Op(
            key=f"{way}{rank}",
            stream=COMPUTE,
            time=each * size,
            ranks=(rank,),
            label=f"{way} {rank}",
        )
        for rank, size in enumerate(sizes)
        for way, each in (("F", _FORWARD), ("B", _BACKWARD))
    ]
    ops.append(
        Op(
            key="sum",
            stream=NETWORK,
            time=inputs.all_reduce if len(sizes) > 1 else 0.0,
            after=tuple(f"B{rank}" for rank in ranks),
            ranks=everyone,
            label="all-reduce",
        )
    )
    ops += [
        Op(
            key=f"U{rank}",
            stream=COMPUTE,
            time=_UPDATE,
            after=("sum",),
            ranks=(rank,),
            label="update",
        )
        for rank in ranks
    ]
    spans = {span.op.key: span for span in run(ops)}
    return Clock(
        forward=tuple(spans[f"F{rank}"].end for rank in ranks),
        backward=tuple(spans[f"B{rank}"].end for rank in ranks),
        ready=spans["sum"].start,
        reduced=spans["sum"].end,
        end=spans["U0"].end,
    )


def _verdict(inputs: Inputs, step: Step, off: float) -> Badge:
    sizes = {len(replica.samples) for replica in step.replicas}
    if off < 1e-12:
        text = "Same as one GPU"
        sentence = (
            "All copies are identical, and equal to those of one GPU with the whole batch of "
            f"{len(SAMPLES)}."
        )
        return Badge(text=text, sentence=sentence, color="compute")
    return Badge(
        text="Not the same batch",
        sentence=f"The copies are identical, but shards of {min(sizes)} to {max(sizes)} samples "
        "count alike: samples of a small shard weigh more.",
        color="communication",
    )
