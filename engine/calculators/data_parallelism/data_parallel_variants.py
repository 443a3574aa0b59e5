"""Data-parallel variants: star, ring, per-tensor overlap and buckets, run side by side."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from engine.catalog.transports import INFINIBAND
from engine.core.inputs import GBITS, MEBIBYTES, MICROSECONDS, MILLISECONDS, Choice, Number, Unit
from engine.core.outputs import Teller, Told, Views
from engine.core.text import say
from engine.core.units import (
    BYTES,
    COUNT,
    MICRO,
    MILLI,
    SECONDS,
    SHARE,
    Count,
    Gbit,
    MiB,
    Seconds,
    Share,
)
from engine.core.views import Bar, Bars, Code, Lane, Segment, Table, Timeline
from engine.core.views import Span as Drawn
from engine.form.missing_range import UNRANGED
from engine.formulas.overlap import EFFICIENCY
from engine.simulate.streams.ddp_variants import TENSORS, Job, Loop, play
from engine.simulate.streams.streams import COMPUTE

NAMES = {
    "star": "Naive: through rank 0",
    "ring": "One ring, blocking",
    "interleaved": "Interleaved, per tensor",
    "buckets": "DDP, buckets",
}


def bars(tell: Teller, loops: Mapping[str, Loop]) -> Bars:
    """Return what one step of every loop is made of."""
    high = max(one.account.length for one in loops.values())
    return Bars(
        title="One step of each",
        axis=tell.axis("step_time", "time", low=0.0, high=high * 1.05),
        bars=tuple(
            Bar(
                key=name,
                label=NAMES[name],
                segments=(
                    Segment(
                        key="compute", label="compute", value=one.account.compute, color="compute"
                    ),
                    Segment(
                        key="exposed",
                        label="exposed",
                        value=one.account.exposed,
                        color="communication",
                    ),
                ),
            )
            for name, one in loops.items()
        ),
    )


def timeline(tell: Teller, loops: Mapping[str, Loop]) -> Timeline:
    """Return the three rings; the star would leave them no room."""
    shown = [name for name in loops if name != "star"]
    drawn = [one for name in shown for one in _drawn(name, loops[name])]
    end = max(one.end for one in drawn)
    return Timeline(
        title="The three rings in time",
        axis=tell.axis("step_time", "time", low=0.0, high=end * 1.02),
        lanes=tuple(
            Lane(key=f"{name}:{kind}", label=f"{NAMES[name]}: {kind}")
            for name in shown
            for kind in ("compute", "network")
        ),
        spans=tuple(drawn),
        caption="Hatched is what the step waits for. The star is left out: it would not fit.",
        player=True,
    )


def _drawn(name: str, loop: Loop) -> list[Drawn]:
    """Return the passes, and stretches of the network without a pause."""
    spans, (forward, backward) = loop.spans, loop.passes
    found = [
        Drawn(
            key=f"{name} {label}",
            lane=f"{name}:compute",
            start=start,
            end=end,
            label=label,
            color="compute",
        )
        for label, start, end in (("forward", 0.0, forward), ("backward", forward, backward))
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
            for at, stop, exposed in loop.parts(start, end)
        ]
    return found


def _few(found: list[tuple[float, float, str]]) -> list[tuple[float, float, str]]:
    """Return at most about a hundred stretches, neighbors joined where there are more."""
    each = -(-len(found) // 100)
    return [
        (found[first][0], found[min(first + each, len(found)) - 1][1], found[first][2])
        for first in range(0, len(found), each)
    ]


def table(loops: Mapping[str, Loop]) -> Table:
    """Return the loops in figures."""
    return Table(
        title="Four loops in figures",
        columns=("Loop", "Step", "Efficiency", "Collectives", "Busiest GPU sends"),
        rows=tuple(
            (
                NAMES[name],
                say("{t}", t=(one.account.length, SECONDS)),
                say("{e}", e=(one.efficiency, SHARE)),
                say("{n}", n=(one.collectives, COUNT)),
                say("{b}", b=(one.sent, BYTES)),
            )
            for name, one in loops.items()
        ),
    )


CODE = {
    "star": """\
for inputs, targets in loader:
    loss = loss_function(model(inputs), targets)
    loss.backward()
    for parameter in model.parameters():       # every tensor, after the backward pass
        gradient = parameter.grad
        if dist.get_rank() > 0:
            dist.send(gradient, dst=0)
            dist.recv(gradient, src=0)
            continue
        received = torch.empty_like(gradient)
        for rank in range(1, dist.get_world_size()):
            dist.recv(received, src=rank)      # rank 0 takes all of them in, one by one,
            gradient += received
        gradient /= dist.get_world_size()
        for rank in range(1, dist.get_world_size()):
            dist.send(gradient, dst=rank)      # and sends the mean to everyone
    optimizer.step()
    optimizer.zero_grad()
""",
    "ring": """\
for inputs, targets in loader:
    loss = loss_function(model(inputs), targets)
    loss.backward()
    gradients = [parameter.grad for parameter in model.parameters()]
    flat = torch.cat([gradient.flatten() for gradient in gradients])
    dist.all_reduce(flat, op=dist.ReduceOp.AVG)   # one ring over one buffer, blocking
    offset = 0
    for gradient in gradients:
        gradient.copy_(flat[offset:offset + gradient.numel()].view_as(gradient))
        offset += gradient.numel()
    optimizer.step()
    optimizer.zero_grad()
""",
    "interleaved": """\
works = []

def reduce(parameter):                         # called when its gradient is complete
    work = dist.all_reduce(parameter.grad, op=dist.ReduceOp.AVG, async_op=True)
    works.append(work)

for parameter in model.parameters():
    parameter.register_post_accumulate_grad_hook(reduce)

for inputs, targets in loader:
    loss_function(model(inputs), targets).backward()
    for work in works:
        work.wait()
    works.clear()
    optimizer.step()
    optimizer.zero_grad()
""",
    "buckets": """\
model = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=25)

for inputs, targets in loader:
    loss = loss_function(model(inputs), targets)
    loss.backward()                            # buckets are reduced meanwhile
    optimizer.step()
    optimizer.zero_grad()
""",
}


TITLE = "Four ways to write the loop"
QUESTION = "Which of four training loops is fastest, and why?"
EQUATIONS = (EFFICIENCY,)
PRESETS = {
    "Slow network": {"port": 25 * Gbit},
    "Many small layers": {"layers": 80, "parameters": 2e6, "forward": 2e-4, "backward": 4e-4},
    "64 GPUs": {"world_size": 64},
}
_MILLIONS = Unit("M", 1e6, {"K": 1e3, "B": 1e9})
_RUN: Mapping[str, Any] = {
    "assumes": (
        "bf16 gradients in {tensors} equal tensors per layer; a star or a ring over {world_size} "
        "equal links, no contention.",
        "Optimizer, data loading and launches are left out.",
        UNRANGED,
    ),
    "sources": ("li2020",),
    "basis": "simulated",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    variant: Annotated[
        str,
        Choice(label="Code shown", options=NAMES),
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
    ] = INFINIBAND.step
    bucket: Annotated[
        float,
        Number(
            label="Bucket", unit=MEBIBYTES, low=1 * MiB, high=1024 * MiB, scale="log", advanced=True
        ),
    ] = 25 * MiB


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One step of every loop; `step_time` is of the loop whose code is shown."""

    loops: Mapping[str, Loop]
    fastest: str
    tensors: Count = TENSORS
    step_time: Annotated[
        Seconds, Told("Step", "", "forward, backward, exposed communication", **_RUN)
    ]
    best: Annotated[Seconds, Told("Fastest", **_RUN)]
    naive: Annotated[Seconds, Told("Through rank 0", "", "every gradient through one port", **_RUN)]
    efficiency: Annotated[Share, Told("Efficiency", "q", assumes=("Times of both are simulated.",))]
    compute: Annotated[Seconds, Told(symbol="Tc")]
    exposed: Annotated[Seconds, Told(symbol="Te")]


def solve(inputs: Inputs) -> Result:
    """Return one step of every loop."""
    loops = play(
        Job(
            world_size=inputs.world_size,
            layers=inputs.layers,
            forward=inputs.forward,
            backward=inputs.backward,
            port=inputs.port,
            parameters=inputs.parameters,
            latency=inputs.latency,
            bucket=inputs.bucket,
        )
    )
    own = loops[inputs.variant]
    fastest = min(loops, key=lambda name: loops[name].account.length)
    return Result(
        loops=loops,
        fastest=fastest,
        step_time=own.account.length,
        best=loops[fastest].account.length,
        naive=loops["star"].account.length,
        efficiency=own.efficiency,
        compute=own.account.compute,
        exposed=own.account.exposed,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(inputs, result, equations=EQUATIONS)
    shown = NAMES[inputs.variant]
    return {
        "step_time": tell.value("step_time"),
        "best": tell.value("best", note=NAMES[result.fastest]),
        "naive": tell.value("naive"),
        "efficiency": tell.value("efficiency", note=f"of {shown}"),
        "bars": partial(bars, tell, result.loops),
        "timeline": partial(timeline, tell, result.loops),
        "table": partial(table, result.loops),
        "code": Code(title=shown, language="python", text=CODE[inputs.variant]),
    }
