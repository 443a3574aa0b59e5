"""Data-parallel variants: bars, the three rings in time, and their figures."""

from collections.abc import Mapping

from engine.core.outputs import Teller
from engine.core.text import say
from engine.core.units import BYTES, COUNT, SECONDS, SHARE
from engine.core.views import Bar, Bars, Lane, Segment, Table, Timeline
from engine.core.views import Span as Drawn
from engine.simulate.streams.ddp_variants import Loop
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
