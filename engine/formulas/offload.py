"""What a step moves when its tensors live in a slower memory than that of the GPU.

How often each tensor moves is that of Rajbhandari et al. 2021 ("Bandwidth requirements"), with
every layer recomputed in the backward pass.
"""

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

# Per parameter and token: 2 forward, 2 to recompute, 4 backward.
RECOMPUTED: Operations = 8.0
# Per micro-batch: parameters are read forward, once more to recompute, and backward.
PARAMETER_LOADS: Count = 3
# Per micro-batch: a gradient goes to where gradients are summed.
GRADIENT_STORES: Count = 1
# Per micro-batch: what the backward pass needs is written forward and read backward.
ACTIVATION_MOVES: Count = 2
# Per step: the update reads and writes what the optimizer keeps.
OPTIMIZER_MOVES: Count = 2

RECOMPUTED_TIME = Equation(
    name="recomputed_time",
    tex=r"\v{C} = \frac{8\,\v{P}\,\v{t}}{\v{u}\,\v{F}}",
    symbols={
        "C": ("C", "computation"),
        "P": ("P", "parameters"),
        "t": ("t", "tokens per GPU and step"),
        "u": ("u", "share of the peak that large products reach"),
        "F": ("F", "peak of the GPU"),
    },
    sources=("rajbhandari2021", "kaplan2020"),
    title="Computation of a step with full recomputation",
)


def recomputed_time(
    parameters: Parameters, tokens: Tokens, utilization: Share, peak: FlopRate
) -> Seconds:
    """Return forward, recomputed forward and backward pass: 8 operations per parameter and token.

    Source: Rajbhandari et al. 2021, "Bandwidth requirements". Limit: attention scores are left out.
    """
    return RECOMPUTED * parameters * tokens / (utilization * peak)


def moving_time(size: Bytes, times: Count, bandwidth: Bandwidth) -> Seconds:
    """Return how long it takes to move `size` bytes so many times. Latency left out."""
    return times * size / bandwidth


HOST_UPDATE = Equation(
    name="host_update_time",
    tex=r"\v{A} = \frac{\v{P}}{\v{p}}\,\v{a}",
    symbols={
        "A": ("A", "update on the host"),
        "P": ("P", "parameters that the host updates"),
        "p": ("P_0", "parameters of the measurement"),
        "a": ("A_0", "time of the measurement"),
    },
    sources=("ren2021",),
    title="Optimizer update on the host",
)


def host_update_time(parameters: Parameters, measured: Parameters, time: Seconds) -> Seconds:
    """Return a step of Adam on the host's processors, in proportion to a measured one.

    Source: Ren et al. 2021, table 4. Limit: newer processors with more memory channels are faster.
    """
    return parameters / measured * time


SERIAL_STEP = Equation(
    name="serial_step_time",
    tex=r"\v{T} = \v{C} + \v{M}",
    symbols={
        "T": ("T", "step, if nothing hides"),
        "C": ("C", "computation"),
        "M": ("M", "moving and updating"),
    },
    sources=("rajbhandari2021",),
    says="The step if nothing overlaps: the computation, then all that moves and is updated.",
    title="Step with offloading, nothing overlapped",
)
OFFLOAD_EFFICIENCY = Equation(
    name="offload_efficiency",
    tex=r"\v{e} = \frac{\v{C}}{\v{C} + \v{M}}",
    symbols={"e": ("e", "efficiency")} | {k: SERIAL_STEP.symbols[k] for k in ("C", "M")},
    sources=("rajbhandari2021",),
    title="Efficiency of offloading",
)


def offload_efficiency(compute: Seconds, moving: Seconds) -> Share:
    """Return the share of a step that computes if nothing moves meanwhile.

    With an intensity I in operations per byte, a bandwidth B and a rate R it is I B / (I B + R).

    Source: Rajbhandari et al. 2021, "Bandwidth requirements".
    """
    return compute / (compute + moving)


OVERLAPPED_STEP = Equation(
    name="overlapped_step_time",
    tex=r"\v{T} = \max\left(\v{C},\; \v{W}\right) + \v{U}",
    symbols={
        "T": ("T", "step, if all that can hide does"),
        "C": ("C", "computation"),
        "W": ("W", "busiest wire during the passes"),
        "U": ("U", "busiest part of the update"),
    },
    sources=("rajbhandari2021",),
    title="Step with offloading, all overlapped",
)


def overlapped_step_time(compute: Seconds, passes: Seconds, update: Seconds) -> Seconds:
    """Return a step whose passes hide what moves; its update is not hidden.

    The update waits for the last gradient, and the next forward pass for the update.

    Source: Rajbhandari et al. 2021, "Bandwidth requirements".
    """
    return max(compute, passes) + update
