"""Claims about summing gradients: a data-parallel job of 7B parameters on 8 GPUs."""

from engine.basis.text import say
from engine.basis.units import BYTES, COUNT, LINK_SPEED, RATIO, SECONDS, TOKENS, Gbit, MiB
from engine.calculators.reference.claims_checked.claim import Claim
from engine.catalog.hardware import GPUS, MEASURED
from engine.catalog.transports import INFINIBAND
from engine.form.printed_sync import COMPUTE, SOURCE, printed
from engine.formulas.communication import (
    ring_all_reduce_time,
    ring_bytes_sent,
    star_bytes_sent,
    tree_all_reduce_time,
)
from engine.formulas.overlap import (
    backward_time,
    break_even_tokens,
    compute_time,
    gradient_size,
    required_bandwidth,
)
from engine.formulas.stragglers import all_below, slowest_of

_SIZE = gradient_size(7e9, 2.0)
_PORT = 400 * Gbit
_PEAK = GPUS["h100"].peak["bf16"]
_RING = ring_all_reduce_time(_SIZE, 8, _PORT)
_NVLINK = ring_all_reduce_time(_SIZE, 8, MEASURED["h200_ring"].bus_bandwidth)
_TOKENS = COMPUTE * 0.5 * _PEAK / (6 * 7e9)
_PRINTED = printed(7e9, 2.0, 8, _PORT)


def claims() -> tuple[Claim, ...]:
    """Return the claims, in the order of the published page."""
    return (*_times(), *_shares(), *_bytes(), *_waiting())


def _times() -> tuple[Claim, ...]:
    return (
        Claim(
            key="E3.1",
            said="Gradients of 7B parameters in bf16",
            printed=_PRINTED["gradient"],
            right=say("{size}", size=(_SIZE, BYTES)),
            verdict="wrong",
            why="It divides by 2³⁰ and writes GB.",
            sources=(SOURCE,),
        ),
        Claim(
            key="E3.2",
            said="Ring all-reduce of them over 8 GPUs with a 400 Gb/s port each",
            printed=_PRINTED["ring"],
            right=say(
                "{ring}; {node} inside one NVLink node",
                ring=(_RING, SECONDS),
                node=(_NVLINK, SECONDS),
            ),
            verdict="wrong",
            why="GiB divided by GB/s; and eight GPUs are usually one node, with a faster link.",
            sources=(SOURCE, "patarasuk2009", "bekman2025"),
        ),
        Claim(
            key="E3.3",
            said="The same by a tree",
            printed=_PRINTED["tree"],
            right=say("{tree}", tree=(tree_all_reduce_time(_SIZE, 8, _PORT), SECONDS)),
            verdict="wrong",
            why="The same unit error, and the tree's lower latency, its point, is missing.",
            sources=(SOURCE, "sanders2009"),
        ),
        Claim(
            key="E3.4",
            said="Computing a step of this job",
            printed=_PRINTED["compute"],
            right=say(
                "{time} for 4,096 tokens on a GPU",
                time=(compute_time(7e9, 4096, 0.5, _PEAK), SECONDS),
            ),
            verdict="wrong",
            why=say("What it prints is the time of {n} tokens.", n=(round(_TOKENS), TOKENS)),
            sources=(SOURCE, "kaplan2020"),
        ),
    )


def _shares() -> tuple[Claim, ...]:
    window = backward_time(7e9, 4096, 0.5, _PEAK)
    least = required_bandwidth(ring_bytes_sent(_SIZE, 8), window)
    hidden = break_even_tokens(_RING, 7e9, 0.5, _PEAK)
    return (
        Claim(
            key="E3.6",
            said="Share of the step that is communication, and what is left",
            printed=f"{_PRINTED['overhead']} and {_PRINTED['efficiency']}",
            right=say("none from {n} tokens on a GPU on", n=(hidden, TOKENS)),
            verdict="misleading",
            why="An artifact of its compute time; overlap is left out.",
            sources=(SOURCE, "li2020"),
        ),
        Claim(
            key="E3.7",
            said="The least bandwidth that avoids a bottleneck",
            printed=_PRINTED["bandwidth"],
            right=say("{b} a GPU at 4,096 tokens", b=(least, LINK_SPEED)),
            verdict="wrong",
            why="It forgets 2(n − 1)/n, and that the backward pass hides the transfer.",
            sources=(SOURCE,),
        ),
        Claim(
            key="E3.8",
            said="The upgrade that it suggests",
            printed=_PRINTED["upgrade"],
            right="no such link exists",
            verdict="wrong",
            why="Rounded up to hundreds, then multiplied by 400: a slip.",
            sources=(SOURCE,),
        ),
        Claim(
            key="E3.10",
            said="400 Gb/s synchronizes models up to 70B in under a second",
            printed="under 1 s",
            right=say(
                "{one} through one port a node, {eight} through eight",
                one=(ring_all_reduce_time(140e9, 1024, _PORT), SECONDS),
                eight=(ring_all_reduce_time(140e9, 1024, 8 * _PORT), SECONDS),
            ),
            verdict="condition",
            why="True with a port for every GPU of a node of eight, not with one for all.",
            sources=(SOURCE,),
        ),
    )


def _bytes() -> tuple[Claim, ...]:
    big = gradient_size(175e9, 2.0)
    star, ring = star_bytes_sent(_SIZE, 8), ring_bytes_sent(_SIZE, 8)
    return (
        Claim(
            key="E3.11",
            said="What each GPU communicates for 175B parameters",
            printed=say("{size}", size=(big, BYTES)),
            right=say(
                "{eight} sent at 8 GPUs, {many} at 1,024, and as much received",
                eight=(ring_bytes_sent(big, 8), BYTES),
                many=(ring_bytes_sent(big, 1024), BYTES),
            ),
            verdict="misleading",
            why="That is the size of the buffer, not the traffic.",
            sources=(SOURCE, "patarasuk2009"),
        ),
        Claim(
            key="E3.12",
            said="A star's communication grows with the square of the GPUs",
            printed="O(n²)",
            right=say(
                "{star} through the root's port, {ring} through each port of a ring",
                star=(2 * star, BYTES),
                ring=(ring, BYTES),
            ),
            verdict="wrong",
            why="It is O(n), but all of it passes one port (7B parameters on 8 GPUs; the root "
            "receives as much as it sends, both counted).",
            sources=(SOURCE, "thakur2005"),
        ),
        Claim(
            key="E3.15",
            said="The time does not depend on the size of the cluster",
            printed="128 or 16,384 alike",
            right=say(
                "latencies alone take {few} at 128 and {many} at 16,384",
                few=(ring_all_reduce_time(0.0, 128, _PORT, INFINIBAND.step), SECONDS),
                many=(ring_all_reduce_time(0.0, 16384, _PORT, INFINIBAND.step), SECONDS),
            ),
            verdict="misleading",
            why=say(
                "The bytes do not; the 2(n − 1) steps of a flat ring do ({hop} each).",
                hop=(INFINIBAND.step, SECONDS),
            ),
            sources=(SOURCE, "hu2025"),
        ),
        Claim(
            key="E3.16",
            said="A bucket of PyTorch DDP",
            printed="25M to 50M parameters",
            right=say(
                "{size} by default: {wide} elements of fp32",
                size=(25 * MiB, BYTES),
                wide=(25 * MiB / 4, COUNT),
            ),
            verdict="wrong",
            why="The setting counts MiB, not parameters.",
            sources=(SOURCE, "pytorch_ddp"),
        ),
    )


def _waiting() -> tuple[Claim, ...]:
    return (
        Claim(
            key="E2.3",
            said="The slowest node governs the speed",
            printed="unquantified",
            right=say(
                "with a spread of 1 %, {eight} of the mean at 8 GPUs, {many} at 16,384",
                eight=(slowest_of(8, 0.01), RATIO),
                many=(slowest_of(16384, 0.01), RATIO),
            ),
            verdict="right",
            why="Order statistics of normal, independent step times.",
            sources=("pingdo_job", "david2003"),
        ),
        Claim(
            key="E0.11",
            said="Tails of the fabric matter least",
            printed="rank 5 of 5",
            right=say(
                "all of 1,024 ranks stay below their own 99th percentile in one step of {n}",
                n=(1 / all_below(0.99, 1024), COUNT),
            ),
            verdict="unsourced",
            why="A step waits for the slowest rank; the order depends on the job.",
            sources=("day1inference",),
        ),
    )
