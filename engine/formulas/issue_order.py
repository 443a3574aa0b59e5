"""A sharded step on one compute and one communication stream: what no order of operations beats."""

from engine.core.equation import Equation
from engine.core.units import Count, Seconds

LEAST_STEP = Equation(
    name="least_ordered_step",
    tex=(r"\v{T} = \max\left(\max\left(\v{a},\; \v{m}\right) + \v{u},\; \v{g} + \v{c}\right)"),
    symbols={
        "T": (r"T_{\min}", "least step"),
        "a": (r"t_{\mathrm{layers}}", "end of the last reduction, as the layers allow it"),
        "m": (r"t_{\mathrm{stream}}", "the same, as the communication stream allows it"),
        "u": ("u", "optimizer after it"),
        "g": ("g", "first gather"),
        "c": ("c", "all computation"),
    },
    title="Least step that the order allows",
)


def least_step(
    layered: Seconds, streamed: Seconds, update: Seconds, gather: Seconds, compute: Seconds
) -> Seconds:
    """Return the time below which no order of the operations brings the step.

    Derived: the optimizer follows the last reduction, and nothing is computed before the first
    gather. Limit: a bound, not always reached; it does not count what little memory costs.
    """
    return max(max(layered, streamed) + update, gather + compute)


def layered_end(
    gather: Seconds, forward: Seconds, backward: Seconds, reduction: Seconds, layers: Count
) -> Seconds:
    """Return the earliest end of the last reduction by what each layer waits for.

    The forward pass of layer l ends no sooner than l gathers and the layers behind it allow, or
    one gather and all layers. From there on, either all backward passes and one reduction follow
    one another, or one backward pass and all reductions. Both sums are linear in l, so that the
    first and the last layer decide. Derived from the dependencies of ZeRO-3 (Rajbhandari et al.
    2020).
    """
    first = max(gather + layers * forward, layers * gather + forward)
    return first + max(layers * backward + reduction, backward + layers * reduction)


def streamed_end(
    gather: Seconds, gathers: Count, backward: Seconds, reduction: Seconds, layers: Count
) -> Seconds:
    """Return the earliest end of the last reduction by what the communication stream carries.

    It carries all gathers, and then at least the last backward pass and its reduction, or all
    reductions. Derived.
    """
    return gathers * gather + max(layers * reduction, backward + reduction)
