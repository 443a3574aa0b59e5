"""Claims about summing gradients: a data-parallel job of 7B parameters on 8 GPUs."""

from engine.calculators.reference.claims_checked.claim import Claim
from engine.catalog.hardware import GPUS, MEASURED
from engine.catalog.transports import INFINIBAND
from engine.core.text import say
from engine.core.units import BYTES, COUNT, LINK_SPEED, RATIO, SECONDS, TOKENS, Gbit, MiB
from engine.form.published_sync_calculator import COMPUTE, SOURCE, published_outputs
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
_PRINTED = published_outputs(7e9, 2.0, 8, _PORT)


def claims() -> tuple[Claim, ...]:
    """Return the claims, in the order of the published page."""
    return (*_times(), *_shares(), *_bytes(), *_waiting())


def _times() -> tuple[Claim, ...]:
    return (
        Claim(
            key="E3.1",
            said="Size of the gradients of a 7B model in bf16",
            printed=_PRINTED["gradient"],
            right=say("{size}", size=(_SIZE, BYTES)),
            verdict="wrong",
            why="The source divides by 2³⁰ and labels the result GB.",
            sources=(SOURCE,),
        ),
        Claim(
            key="E3.2",
            said="Time of a ring all-reduce of those gradients over 8 GPUs, with a 400 Gb/s port "
            "each",
            printed=_PRINTED["ring"],
            right=say(
                "{ring}; {node} inside one NVLink node",
                ring=(_RING, SECONDS),
                node=(_NVLINK, SECONDS),
            ),
            verdict="wrong",
            why="The source divides GiB by GB/s. Besides, eight GPUs are usually one node, with a "
            "faster link.",
            sources=(SOURCE, "patarasuk2009", "bekman2025"),
        ),
        Claim(
            key="E3.3",
            said="Time of the same all-reduce by a tree",
            printed=_PRINTED["tree"],
            right=say("{tree}", tree=(tree_all_reduce_time(_SIZE, 8, _PORT), SECONDS)),
            verdict="wrong",
            why="The unit error is the same. The source also leaves out the latency, the only "
            "thing in which a tree is better.",
            sources=(SOURCE, "sanders2009"),
        ),
        Claim(
            key="E3.4",
            said="Computing time of a step of this job",
            printed=_PRINTED["compute"],
            right=say(
                "{time} for 4,096 tokens per GPU",
                time=(compute_time(7e9, 4096, 0.5, _PEAK), SECONDS),
            ),
            verdict="wrong",
            why=say(
                "The printed time is that of {n} tokens. The source names no number of tokens.",
                n=(round(_TOKENS), TOKENS),
            ),
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
            said="Share of the step spent on communication, and the efficiency that is left",
            printed=f"{_PRINTED['overhead']} and {_PRINTED['efficiency']}",
            right=say(
                "from {n} tokens per GPU on, only the last bucket is exposed", n=(hidden, TOKENS)
            ),
            verdict="misleading",
            why="The shares follow from the printed computing time, which names no number of "
            "tokens. Overlap is left out.",
            sources=(SOURCE, "li2020"),
        ),
        Claim(
            key="E3.7",
            said="Least bandwidth at which the network is no bottleneck",
            printed=_PRINTED["bandwidth"],
            right=say("{b} per GPU with 4,096 tokens", b=(least, LINK_SPEED)),
            verdict="wrong",
            why="The source leaves out the factor 2(n − 1)/n of an all-reduce. It also takes the "
            "whole computing time, although only the backward pass hides the transfer.",
            sources=(SOURCE,),
        ),
        Claim(
            key="E3.8",
            said="The network upgrade that the source suggests",
            printed=_PRINTED["upgrade"],
            right="no such link exists",
            verdict="wrong",
            why="The source counts the bandwidth in units of 100 Gb/s, rounded up, and then "
            "multiplies this count by 400.",
            sources=(SOURCE,),
        ),
        Claim(
            key="E3.10",
            said="Time to synchronize the gradients of models of up to 70B over 400 Gb/s",
            printed="under 1 s",
            right=say(
                "{one} with one port per node, {eight} with eight",
                one=(ring_all_reduce_time(140e9, 1024, _PORT), SECONDS),
                eight=(ring_all_reduce_time(140e9, 1024, 8 * _PORT), SECONDS),
            ),
            verdict="condition",
            why="The claim holds for 70B if every GPU of a node has a port of its own. With one "
            "port per node it does not hold.",
            sources=(SOURCE,),
        ),
    )


def _bytes() -> tuple[Claim, ...]:
    big = gradient_size(175e9, 2.0)
    star, ring = star_bytes_sent(_SIZE, 8), ring_bytes_sent(_SIZE, 8)
    return (
        Claim(
            key="E3.11",
            said="Bytes that each GPU communicates for 175B parameters",
            printed=say("{size}", size=(big, BYTES)),
            right=say(
                "{eight} sent at 8 GPUs, {many} at 1,024, and as much received",
                eight=(ring_bytes_sent(big, 8), BYTES),
                many=(ring_bytes_sent(big, 1024), BYTES),
            ),
            verdict="misleading",
            why="The printed number is the size of the buffer. A ring sends almost twice as much.",
            sources=(SOURCE, "patarasuk2009"),
        ),
        Claim(
            key="E3.12",
            said="How the communication of a star grows with the number of GPUs",
            printed="O(n²)",
            right=say(
                "linearly: {star} pass the root's port, {ring} each port of a ring",
                star=(2 * star, BYTES),
                ring=(2 * ring, BYTES),
            ),
            verdict="wrong",
            why="The total grows as O(n), but all of it passes one port. Our numbers are for 7B "
            "parameters on 8 GPUs, with what a port sends and receives added up.",
            sources=(SOURCE, "thakur2005"),
        ),
        Claim(
            key="E3.15",
            said="How the time of an all-reduce depends on the number of GPUs",
            printed="it is the same for 128 and 16,384",
            right=say(
                "latencies alone take {few} at 128 and {many} at 16,384",
                few=(ring_all_reduce_time(0.0, 128, _PORT, INFINIBAND.step), SECONDS),
                many=(ring_all_reduce_time(0.0, 16384, _PORT, INFINIBAND.step), SECONDS),
            ),
            verdict="misleading",
            why=say(
                "The bytes per GPU hardly depend on the number of GPUs. The number of steps of a "
                "flat ring does: it is 2(n − 1), and each step takes {hop} of latency.",
                hop=(INFINIBAND.step, SECONDS),
            ),
            sources=(SOURCE, "hu2025"),
        ),
        Claim(
            key="E3.16",
            said="Size of a bucket in PyTorch's DDP",
            printed="25M to 50M parameters",
            right=say(
                "{size} by default: {wide} elements of fp32",
                size=(25 * MiB, BYTES),
                wide=(25 * MiB / 4, COUNT),
            ),
            verdict="wrong",
            why="The setting bucket_cap_mb is in MiB, not in parameters.",
            sources=(SOURCE, "pytorch_ddp"),
        ),
    )


def _waiting() -> tuple[Claim, ...]:
    return (
        Claim(
            key="E2.3",
            said="How much the slowest node slows down a step",
            printed="it governs the speed, without a number",
            right=say(
                "with a standard deviation of 1 %, a step takes {eight} the mean time on 8 GPUs "
                "and {many} on 16,384",
                eight=(slowest_of(8, 0.01), RATIO),
                many=(slowest_of(16384, 0.01), RATIO),
            ),
            verdict="right",
            why="This is the expected maximum of as many independent, normally distributed step "
            "times as there are GPUs.",
            sources=("pingdo_job", "david2003"),
        ),
        Claim(
            key="E0.11",
            said="How much slow outliers of the network matter",
            printed="least of five causes",
            right=say(
                "in only one of {n} steps, all of 1,024 ranks stay below their 99th percentile",
                n=(1 / all_below(0.99, 1024), COUNT),
            ),
            verdict="unsourced",
            why="A step waits for the slowest rank, so outliers hit almost every step of a large "
            "job. The source gives no measurement for its order.",
            sources=("day1inference",),
        ),
    )
