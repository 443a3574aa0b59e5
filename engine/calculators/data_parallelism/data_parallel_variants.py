"""Data-parallel variants: star, ring, per-tensor overlap and buckets, run side by side."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from engine.catalog.transports import INFINIBAND
from engine.core.inputs import GBITS, MEBIBYTES, MICROSECONDS, MILLISECONDS, Choice, Number, Unit
from engine.core.outputs import Output, Presenter, Views
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
from engine.core.views import Span as ViewSpan
from engine.form.missing_range import NO_RANGE
from engine.formulas.overlap import EFFICIENCY
from engine.simulate.streams.ddp_variants import TENSORS, DdpJob, LoopStep, run_loops
from engine.simulate.streams.streams import COMPUTE

NAMES = {
    "star": "Naive: through rank 0",
    "ring": "One ring, blocking",
    "interleaved": "Interleaved, per tensor",
    "buckets": "DDP, buckets",
}


def bars(present: Presenter, loops: Mapping[str, LoopStep]) -> Bars:
    """Return the bars of step time by part, for every loop."""
    high = max(loop.account.length for loop in loops.values())
    return Bars(
        title="One step of each",
        axis=present.axis("step_time", "time", low=0.0, high=high * 1.05),
        bars=tuple(
            Bar(
                key=name,
                label=NAMES[name],
                segments=(
                    Segment(
                        key="compute", label="compute", value=loop.account.compute, color="compute"
                    ),
                    Segment(
                        key="exposed",
                        label="exposed",
                        value=loop.account.exposed,
                        color="communication",
                    ),
                ),
            )
            for name, loop in loops.items()
        ),
    )


def timeline(present: Presenter, loops: Mapping[str, LoopStep]) -> Timeline:
    """Return the three rings; the star would leave them no room."""
    shown = [name for name in loops if name != "star"]
    drawn = [span for name in shown for span in _loop_spans(name, loops[name])]
    end = max(span.end for span in drawn)
    return Timeline(
        title="The three rings in time",
        axis=present.axis("step_time", "time", low=0.0, high=end * 1.02),
        lanes=tuple(
            Lane(key=f"{name}:{kind}", label=f"{NAMES[name]}: {kind}")
            for name in shown
            for kind in ("compute", "network")
        ),
        spans=tuple(drawn),
        caption="Hatched is what the step waits for. The star is left out: it would not fit.",
        player=True,
    )


def _loop_spans(name: str, loop: LoopStep) -> list[ViewSpan]:
    """Return the passes, and stretches of the network without a pause."""
    spans, (forward, backward) = loop.spans, loop.passes
    drawn = [
        ViewSpan(
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
    for start, end, key in _joined(network):
        drawn += [
            ViewSpan(
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
    return drawn


def _joined(stretches: list[tuple[float, float, str]]) -> list[tuple[float, float, str]]:
    """Return at most about a hundred stretches, neighbors joined where there are more."""
    each = -(-len(stretches) // 100)
    return [
        (
            stretches[first][0],
            stretches[min(first + each, len(stretches)) - 1][1],
            stretches[first][2],
        )
        for first in range(0, len(stretches), each)
    ]


def table(loops: Mapping[str, LoopStep]) -> Table:
    """Return the loops in figures."""
    return Table(
        title="Four loops in figures",
        columns=("Loop", "Step", "Efficiency", "Collectives", "Busiest GPU sends"),
        rows=tuple(
            (
                NAMES[name],
                say("{t}", t=(loop.account.length, SECONDS)),
                say("{e}", e=(loop.efficiency, SHARE)),
                say("{n}", n=(loop.collectives, COUNT)),
                say("{b}", b=(loop.sent, BYTES)),
            )
            for name, loop in loops.items()
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
HEADLINE = "step_time"
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
        NO_RANGE,
    ),
    "sources": ("li2020",),
    "basis": "simulated",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

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
    """A step of every loop; `step_time` belongs to the loop whose code is shown."""

    loops: Mapping[str, LoopStep]
    fastest: str
    tensors: Count = TENSORS
    step_time: Annotated[
        Seconds, Output("Step", "", "forward, backward, exposed communication", **_RUN)
    ]
    best: Annotated[Seconds, Output("Fastest", **_RUN)]
    naive: Annotated[
        Seconds, Output("Through rank 0", "", "every gradient through one port", **_RUN)
    ]
    efficiency: Annotated[
        Share, Output("Efficiency", "q", assumes=("Times of both are simulated.",))
    ]
    compute: Annotated[Seconds, Output(symbol="Tc")]
    exposed: Annotated[Seconds, Output(symbol="Te")]


def solve(inputs: Inputs) -> Result:
    """Return a simulated step of every loop."""
    loops = run_loops(
        DdpJob(
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
    loop = loops[inputs.variant]
    fastest = min(loops, key=lambda name: loops[name].account.length)
    return Result(
        loops=loops,
        fastest=fastest,
        step_time=loop.account.length,
        best=loops[fastest].account.length,
        naive=loops["star"].account.length,
        efficiency=loop.efficiency,
        compute=loop.account.compute,
        exposed=loop.account.exposed,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result, equations=EQUATIONS)
    shown = NAMES[inputs.variant]
    return {
        "step_time": present.value("step_time"),
        "best": present.value("best", note=NAMES[result.fastest]),
        "naive": present.value("naive"),
        "efficiency": present.value("efficiency", note=f"of {shown}"),
        "bars": partial(bars, present, result.loops),
        "timeline": partial(timeline, present, result.loops),
        "table": partial(table, result.loops),
        "code": Code(title=shown, language="python", text=CODE[inputs.variant]),
    }
