"""Data-parallel variants: star, ring, per-tensor overlap and buckets, run side by side."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.basis import discover
from engine.basis.inputs import GBITS, MEBIBYTES, MICROSECONDS, MILLISECONDS, Choice, Number, Unit
from engine.basis.text import say
from engine.basis.units import BYTES, COUNT, MICRO, MILLI, SECONDS, SHARE, Gbit, MiB
from engine.basis.views import (
    Axis,
    Bar,
    Bars,
    Code,
    Lane,
    Receipt,
    Segment,
    Table,
    Timeline,
    Value,
    View,
)
from engine.basis.views import Span as Drawn
from engine.calculators.data_parallelism.data_parallel_variants.code import CODE
from engine.formulas.overlap import EFFICIENCY, efficiency
from engine.simulate.stream_account import Account, account, cut
from engine.simulate.streams import COMPUTE, Op, Span, run
from engine.simulate.workload import Workload, ring_wire, star_wire

TITLE = "Four ways to write the loop"
QUESTION = "Which of four training loops is fastest, and why?"
EQUATIONS = (EFFICIENCY,)
VARIANTS = {
    "star": ("Naive: through rank 0", "naive_data_parallel"),
    "ring": ("One ring, blocking", "flat_data_parallel"),
    "interleaved": ("Interleaved, per tensor", "interleaved_data_parallel"),
    "buckets": ("DDP, buckets", "bucketed_data_parallel"),
}
PRESETS = {
    "Slow network": {"port": 25 * Gbit},
    "Many small layers": {"layers": 80, "parameters": 2e6, "forward": 2e-4, "backward": 4e-4},
    "64 GPUs": {"world_size": 64},
}
_MILLIONS = Unit("M", 1e6, {"K": 1e3, "B": 1e9})
_PACKAGE = "engine.simulate.programs"
_TENSORS, _ELEMENT = 7, 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    variant: Annotated[
        str,
        Choice(label="Code shown", options={key: name for key, (name, _) in VARIANTS.items()}),
    ] = "buckets"
    world_size: Annotated[
        int, Number(label="GPUs", low=2, high=64, scale="log2", whole=True, symbol="n")
    ] = 8
    layers: Annotated[int, Number(label="Layers", low=2, high=80, whole=True)] = 16
    forward: Annotated[
        float,
        Number(
            label="Forward, per layer",
            unit=MILLISECONDS,
            low=0.1 * MILLI,
            high=50 * MILLI,
            scale="log",
        ),
    ] = 2 * MILLI
    backward: Annotated[
        float,
        Number(
            label="Backward, per layer",
            unit=MILLISECONDS,
            low=0.1 * MILLI,
            high=50 * MILLI,
            scale="log",
        ),
    ] = 4 * MILLI
    port: Annotated[
        float,
        Number(label="Link per GPU", unit=GBITS, low=1 * Gbit, high=7200 * Gbit, scale="log"),
    ] = 400 * Gbit
    parameters: Annotated[
        float,
        Number(
            label="Parameters, per layer",
            unit=_MILLIONS,
            low=1e5,
            high=3e9,
            scale="log",
            advanced=True,
        ),
    ] = 5e7
    latency: Annotated[
        float,
        Number(
            label="Latency of one step",
            unit=MICROSECONDS,
            low=1 * MICRO,
            high=50 * MICRO,
            scale="log",
            advanced=True,
        ),
    ] = 10 * MICRO
    bucket: Annotated[
        float,
        Number(
            label="Bucket", unit=MEBIBYTES, low=1 * MiB, high=1024 * MiB, scale="log", advanced=True
        ),
    ] = 25 * MiB


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    spans = {name: run(_program(inputs, name)) for name in VARIANTS}
    found = {name: account(one) for name, one in spans.items()}
    own, star = found[inputs.variant], found["star"]
    speed = efficiency(own.compute, own.exposed)
    best = min(found, key=lambda name: found[name].length)
    return {
        "step_time": _value(inputs, "Step", own.length, "forward, backward, what sticks out"),
        "best": _value(inputs, "Fastest", found[best].length, VARIANTS[best][0]),
        "naive": _value(inputs, "Through rank 0", star.length, "the slowest way that works"),
        "efficiency": Value(
            label="Efficiency",
            value=speed,
            quantity=SHARE,
            receipt=Receipt(
                equation=EFFICIENCY,
                symbols={
                    "q": (speed, SHARE),
                    "Tc": (own.compute, SECONDS),
                    "Te": (own.exposed, SECONDS),
                },
                assumptions=("Times of both are simulated.",),
            ),
            note=f"of {VARIANTS[inputs.variant][0]}",
        ),
        "bars": _bars(found),
        "timeline": _timeline(spans),
        "table": _table(inputs, spans, found),
        "code": Code(
            title=VARIANTS[inputs.variant][0], language="python", text=CODE[inputs.variant]
        ),
    }


def _program(inputs: Inputs, name: str) -> tuple[Op, ...]:
    wire = star_wire if name == "star" else ring_wire
    work = Workload(
        layers=inputs.layers,
        forward=inputs.forward,
        backward=inputs.backward,
        parameters=inputs.parameters,
        data=wire(inputs.world_size, inputs.port, inputs.latency),
        gradient=_ELEMENT,
        tensors=_TENSORS,
        bucket=inputs.bucket,
    )
    ops: tuple[Op, ...] = discover.module(_PACKAGE, VARIANTS[name][1]).program(work)
    return ops


def _value(inputs: Inputs, label: str, value: float, note: str) -> Value:
    return Value(
        label=label,
        value=value,
        quantity=SECONDS,
        receipt=Receipt(
            basis="simulated",
            assumptions=(
                say(
                    "bf16 gradients in {k} equal tensors per layer; a star or a ring over {n} "
                    "equal links, no contention.",
                    k=(_TENSORS, COUNT),
                    n=(inputs.world_size, COUNT),
                ),
                "Optimizer, data loading and launches are left out.",
            ),
            sources=("li2020",),
        ),
        note=note,
    )


def _bars(found: Mapping[str, Account]) -> Bars:
    high = max(one.length for one in found.values())
    return Bars(
        title="One step of each",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=high * 1.05),
        bars=tuple(
            Bar(
                key=name,
                label=VARIANTS[name][0],
                segments=(
                    Segment(key="compute", label="compute", value=one.compute, color="compute"),
                    Segment(
                        key="exposed", label="exposed", value=one.exposed, color="communication"
                    ),
                ),
            )
            for name, one in found.items()
        ),
    )


def _timeline(spans: Mapping[str, tuple[Span, ...]]) -> Timeline:
    """Return the three rings; the star would leave them no room."""
    shown = [name for name in VARIANTS if name != "star"]
    drawn = [one for name in shown for one in _drawn(name, spans[name])]
    end = max(one.end for one in drawn)
    return Timeline(
        title="The three rings in time",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=end * 1.02),
        lanes=tuple(
            Lane(key=f"{name}:{kind}", label=f"{VARIANTS[name][0]}: {kind}")
            for name in shown
            for kind in ("compute", "network")
        ),
        spans=tuple(drawn),
        caption="Hatched is what the step waits for. The star is left out: it would not fit.",
        player=True,
    )


def _drawn(name: str, spans: tuple[Span, ...]) -> list[Drawn]:
    """Return the passes, and stretches of the network without a pause."""
    ends = [max(span.end for span in spans if span.op.key.startswith(way)) for way in ("F", "B")]
    found = [
        Drawn(
            key=f"{name} {label}",
            lane=f"{name}:compute",
            start=start,
            end=end,
            label=label,
            color="compute",
        )
        for label, start, end in (("forward", 0.0, ends[0]), ("backward", ends[0], ends[1]))
    ]
    network: list[tuple[float, float, str]] = []
    for span in spans:
        if span.op.stream == COMPUTE:
            continue
        if network and span.start - network[-1][1] < 1e-9 and len(spans) > 300:
            network[-1] = network[-1][0], span.end, network[-1][2]
        else:
            network.append((span.start, span.end, span.op.key))
    for start, end, key in _few(network):
        found += [
            Drawn(
                key=f"{name} {key}{'!' if exposed else ''}",
                lane=f"{name}:network",
                start=at,
                end=stop,
                label="all-reduce",
                color="communication",
                exposed=exposed,
            )
            for at, stop, exposed in cut((start, end), [(0.0, ends[1])])
        ]
    return found


def _few(found: list[tuple[float, float, str]]) -> list[tuple[float, float, str]]:
    """Return at most about a hundred stretches, neighbors joined where there are more."""
    each = -(-len(found) // 100)
    return [
        (found[first][0], found[min(first + each, len(found)) - 1][1], found[first][2])
        for first in range(0, len(found), each)
    ]


def _table(
    inputs: Inputs, spans: Mapping[str, tuple[Span, ...]], found: Mapping[str, Account]
) -> Table:
    rows = []
    for name, one in found.items():
        messages = [span for span in spans[name] if span.op.stream != COMPUTE]
        sent = 0.0
        for span in messages:
            sent += span.op.size
        rows.append(
            (
                VARIANTS[name][0],
                say("{t}", t=(one.length, SECONDS)),
                say("{e}", e=(efficiency(one.compute, one.exposed), SHARE)),
                say("{n}", n=(len(messages), COUNT)),
                say("{b}", b=(sent, BYTES)),
            )
        )
    return Table(
        title="Four loops in figures",
        columns=("Loop", "Step", "Efficiency", "Collectives", "Busiest GPU sends"),
        rows=tuple(rows),
    )
