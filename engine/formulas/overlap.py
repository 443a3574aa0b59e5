"""Computation of a data-parallel step, and how much of its communication the step waits for."""

import math

from engine.core.equation import Equation
from engine.core.units import (
    Bandwidth,
    Bytes,
    Count,
    FlopRate,
    Operations,
    Parameters,
    Seconds,
    Share,
    Tokens,
)
from engine.formulas._symbols import symbols

# Per parameter and token: a multiply and an add forward, twice that backward.
FORWARD: Operations = 2.0
BACKWARD: Operations = 4.0

GRADIENT_SIZE = Equation(
    name="gradient_size",
    tex=r"\v{S} = \v{P}\,\v{e}",
    symbols=symbols("S P e"),
)


def gradient_size(parameters: Parameters, element: Bytes) -> Bytes:
    """Return the buffer that every rank reduces: one element per parameter."""
    return parameters * element


FORWARD_TIME = Equation(
    name="forward_time",
    tex=r"\v{Tf} = \frac{2\,\v{P}\,\v{t}}{\v{u}\,\v{F}}",
    symbols=symbols("Tf P t u F"),
    sources=("kaplan2020", "chowdhery2022"),
)


def forward_time(
    parameters: Parameters, tokens: Tokens, utilization: Share, peak: FlopRate
) -> Seconds:
    """Return the forward pass of so many tokens on one GPU: 2 operations per parameter and token.

    Source: Kaplan et al. 2020 for the count, Chowdhery et al. 2022 for the utilization (MFU).
    Limit: attention scores are left out, which matters for long sequences.
    """
    return FORWARD * parameters * tokens / (utilization * peak)


BACKWARD_TIME = Equation(
    name="backward_time",
    tex=r"\v{Tb} = \frac{4\,\v{P}\,\v{t}}{\v{u}\,\v{F}}",
    symbols=symbols("Tb P t u F"),
    sources=("kaplan2020", "chowdhery2022"),
)


def backward_time(
    parameters: Parameters, tokens: Tokens, utilization: Share, peak: FlopRate
) -> Seconds:
    """Return the backward pass: twice the forward one. Sources and limits as `forward_time`."""
    return BACKWARD * parameters * tokens / (utilization * peak)


COMPUTE_TIME = Equation(
    name="compute_time",
    tex=r"\v{Tc} = \frac{6\,\v{P}\,\v{t}}{\v{u}\,\v{F}}",
    symbols=symbols("Tc P t u F"),
    sources=("kaplan2020", "chowdhery2022"),
)


def compute_time(
    parameters: Parameters, tokens: Tokens, utilization: Share, peak: FlopRate
) -> Seconds:
    """Return forward plus backward pass, 6 operations per parameter and token (no recompute)."""
    return (FORWARD + BACKWARD) * parameters * tokens / (utilization * peak)


def tokens_of(
    compute: Seconds, parameters: Parameters, utilization: Share, peak: FlopRate
) -> Tokens:
    """Return the tokens that a GPU passes forward and backward in a time: `compute_time` undone."""
    return compute * utilization * peak / ((FORWARD + BACKWARD) * parameters)


def bucket_count(size: Bytes, bucket: Bytes) -> Count:
    """Return how many equal buckets of at most `bucket` bytes hold the gradients.

    Source: Li et al. 2020. Limit: PyTorch never splits a tensor and makes the first bucket
    smaller (1 MiB), so its own count differs a little.
    """
    return max(1, math.ceil(size / bucket))


EXPOSED_TIME = Equation(
    name="exposed_time",
    tex=(
        r"\v{Te} = \max\left(\frac{\v{Tm}}{\v{N}},\;"
        r" \v{Tm} - \frac{\v{N}-1}{\v{N}}\,\v{Tb}\right)"
    ),
    symbols=symbols("Te Tm N Tb"),
    sources=("li2020",),
)


def exposed_time(communication: Seconds, backward: Seconds, num_buckets: Count) -> Seconds:
    """Return how long the step waits for communication after the backward pass has ended.

    The backward pass finishes N equal buckets at even intervals; each is reduced in turn, as soon
    as it is ready and the network is free. Then either every bucket is reduced before the next is
    ready, and only the last one is left over, or the network never rests from the first bucket on:
    it starts one N-th of the backward pass late. The step pays the larger. One bucket hides
    nothing; many leave max(0, T_comm - T_bwd). `communication` is all N all-reduces, each with its
    own latency. Source: derived for the bucketing of Li et al. 2020;
    `tests/engine/simulate/test_programs.py` plays it. Limit: overlap slows neither
    stream down.
    """
    tail = communication / num_buckets
    return max(tail, communication - backward * (num_buckets - 1) / num_buckets)


STEP_TIME = Equation(
    name="step_time",
    tex=r"\v{Ts} = \v{Tc} + \v{Te}",
    symbols=symbols("Ts Tc Te"),
)


def step_time(compute: Seconds, exposed: Seconds) -> Seconds:
    """Return the step without its optimizer: computation plus the wait for communication."""
    return compute + exposed


COMMUNICATION_SHARE = Equation(
    name="communication_share",
    tex=r"\v{q} = \frac{\v{Te}}{\v{Tc} + \v{Te}}",
    symbols=symbols("q Te Tc"),
)


def communication_share(compute: Seconds, exposed: Seconds) -> Share:
    """Return the share of the step spent waiting for communication.

    Pass the whole communication as `exposed` for the blocking share, without overlap.
    """
    return exposed / (compute + exposed)


EFFICIENCY = Equation(
    name="efficiency",
    tex=r"\v{q} = \frac{\v{Tc}}{\v{Tc} + \v{Te}}",
    symbols=symbols("q Tc Te"),
    title="Efficiency of data parallelism",
)


def efficiency(compute: Seconds, exposed: Seconds) -> Share:
    """Return the share of the step spent computing: the speed relative to free communication."""
    return compute / (compute + exposed)


def hidden_share(communication: Seconds, exposed: Seconds) -> Share:
    """Return the share of the communication that runs behind computation; 1 if there is none."""
    return 1 - exposed / communication if communication else 1.0


BREAK_EVEN = Equation(
    name="break_even_tokens",
    tex=r"\v{t} = \frac{\v{Tm}\,\v{u}\,\v{F}}{4\,\v{P}}",
    symbols=symbols("t Tm u F P"),
    sources=("kaplan2020",),
)


def break_even_tokens(
    communication: Seconds, parameters: Parameters, utilization: Share, peak: FlopRate
) -> Tokens:
    """Return the tokens per GPU from which the backward pass is as long as the communication.

    From here on only the last bucket is exposed, whatever the number of buckets: both cases of
    `exposed_time` meet where T_comm = T_bwd. Convention of the published 8,654 tokens: only the
    bandwidth part of the all-reduce counts; pass a communication time with latencies to add them.
    """
    return communication * utilization * peak / (BACKWARD * parameters)


REQUIRED_BANDWIDTH = Equation(
    name="required_bandwidth",
    tex=r"\v{B} = \frac{\v{V}}{\v{Tb} - \v{a}}",
    symbols={**symbols("B V Tb"), "a": (r"\alpha_{\Sigma}", "sum of all latencies")},
)


def required_bandwidth(sent: Bytes, window: Seconds, latency: Seconds = 0.0) -> Bandwidth:
    """Return the one-way bandwidth that moves so many bytes within a time, e.g. the backward pass.

    `latency` is the sum of all latencies on the way. Infinite if they alone fill the window.
    Convention of the published 845 Gb/s (7 billion parameters, 4,096 tokens): no latency, the
    whole backward pass as window, the tail of the last bucket left out.
    """
    return sent / (window - latency) if window > latency else math.inf
