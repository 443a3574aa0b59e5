"""Everybody waits for the slowest: order statistics of the step times of n GPUs."""

import math

from engine.core.equation import Equation
from engine.core.units import Count, GpuTime, Ratio, Share
from engine.formulas._run_symbols import symbols

# The integral of the slowest runs over so many standard deviations either way, in so many strips.
# Flat at both ends, the plain sum is right to a millionth of a deviation.
_TAIL, _STRIPS = 9.0, 96


def normal(deviations: Ratio) -> Share:
    """Return the share of a normal distribution that lies below so many deviations."""
    return math.erfc(-deviations / math.sqrt(2)) / 2


def slowest_share(ratio: Ratio, num_gpus: Count, deviation: Share) -> Share:
    """Return the probability that all of n step times are below `ratio` times their mean.

    One GPU's step times are normal around 1 and independent of the others'.
    """
    if deviation == 0:
        return 1.0 if ratio >= 1 else 0.0
    return normal((ratio - 1) / deviation) ** num_gpus


def all_done_share(ratio: Ratio, num_gpus: Count, deviation: Share, slower: Share) -> Share:
    """Return the probability that all of n are done by then, one of which is a slow GPU.

    The slow one's times are normal around 1/(1 - `slower`); at least one other GPU is there.
    """
    others = slowest_share(ratio, max(1, num_gpus - 1), deviation)
    return others * slowest_share(1 + ratio - 1 / (1 - slower), 1, deviation)


SLOWEST = Equation(
    name="slowest_of_n",
    tex=(
        r"\v{m} = 1 + \v{s}\int_{-\infty}^{\infty} z\;"
        r"\frac{\mathrm{d}}{\mathrm{d}z}\,\Phi(z)^{\v{n}}\,\mathrm{d}z"
    ),
    symbols=symbols("m s n"),
    sources=("david2003",),
    title="Slowest of n GPUs",
)


def slowest_of(num_gpus: Count, deviation: Share) -> Ratio:
    """Return the mean of the slowest of n normal step times, over the mean of one.

    Source: David and Nagaraja 2003, section 3.1 (the mean of the largest order statistic).
    Limit: independent from GPU to GPU; a cause that hits all at once makes nobody wait.
    """
    return slowest_with_one_slow(num_gpus, deviation, 0.0)


# Of 1, 2, 4, ... 2^20 GPUs: by how many standard deviations the slowest is behind the mean, from
# the integral of `slowest_of`.
_BEHIND = (
    0.0000,
    0.5642,
    1.0294,
    1.4236,
    1.7660,
    2.0697,
    2.3437,
    2.5946,
    2.8269,
    3.0439,
    3.2482,
    3.4418,
    3.6261,
    3.8023,
    3.9714,
    4.1341,
    4.2911,
    4.4430,
    4.5903,
    4.7332,
    4.8723,
)


def deviations_behind(num_gpus: Count) -> Ratio:
    """Return by how many standard deviations the slowest of n is behind the mean, for any number.

    The integral of `slowest_of` at powers of two, straight in the logarithm between them: within
    1.2 % (at three), within 0.3 % from 16 on; beyond 2^20 as there. `slowest_of` is 1 + this times
    the deviation.
    """
    doublings = min(math.log2(num_gpus), len(_BEHIND) - 1.0)
    whole = min(int(doublings), len(_BEHIND) - 2)
    return _BEHIND[whole] + (doublings - whole) * (_BEHIND[whole + 1] - _BEHIND[whole])


SLOWEST_WITH_SLOW = Equation(
    name="slowest_with_one_slow",
    tex=(
        r"\v{m} = \int_0^\infty 1 - \Phi\!\left(\frac{x - 1}{\v{s}}\right)^{\v{n} - 1}"
        r"\Phi\!\left(\frac{x - 1/(1 - \v{l})}{\v{s}}\right)\mathrm{d}x"
    ),
    symbols=symbols("m s n l"),
    sources=("david2003",),
    title="Slowest of n GPUs, one of them slow",
)


def slowest_with_one_slow(num_gpus: Count, deviation: Share, slower: Share) -> Ratio:
    """Return the mean of the slowest of n step times, one of which is a slow GPU's.

    The slow one runs at 1 - `slower` of the others' speed, so its mean is 1/(1 - slower); the mean
    of a positive time is the integral of the probability that it is exceeded. Order statistics
    of independent times that differ in their means: David and Nagaraja 2003, chapter 5.
    """
    slow = 1 / (1 - slower)
    if deviation == 0:
        return slow
    # Left of `low` some GPU is almost surely above: the integrand is 1 there.
    low, high = slow - _TAIL * deviation, slow + _TAIL * deviation
    step = (high - low) / _STRIPS
    total = 0.5
    for i in range(1, _STRIPS):
        x = low + i * step
        below = normal((x - 1) / deviation) ** (num_gpus - 1) * normal((x - slow) / deviation)
        total += 1 - below
    return low + total * step


LARGEST_POSSIBLE = Equation(
    name="largest_possible_slowest",
    tex=r"\v{m} \le 1 + \v{s}\,\frac{\v{n} - 1}{\sqrt{2\,\v{n} - 1}}",
    symbols=symbols("m s n"),
    sources=("hartley1954",),
    title="Bound of the slowest of n, for any distribution",
)


def largest_possible(num_gpus: Count, deviation: Share) -> Ratio:
    """Return what the mean of the slowest of n cannot exceed, whatever their distribution.

    Source: Hartley and David 1954.
    """
    return 1 + deviation * (num_gpus - 1) / math.sqrt(2 * num_gpus - 1)


ALL_BELOW = Equation(
    name="all_below_quantile",
    tex=r"\v{A} = \v{q}^{\v{n}}",
    symbols=symbols("A q n"),
    sources=("david2003",),
)


def all_below(quantile: Share, num_gpus: Count) -> Share:
    """Return the probability that all of n steps stay below a quantile of one GPU's step time.

    Holds for every distribution, as long as the GPUs are independent.
    """
    return quantile**num_gpus


SLOW_DOWN_COST = Equation(
    name="slow_down_cost",
    tex=r"\v{Gl} = \v{G}\left(1 - \frac{1}{\v{S}}\right)",
    symbols=symbols("Gl G S"),
)


def lost_to_waiting(gpus: GpuTime, slow_down: Ratio) -> GpuTime:
    """Return the GPU hours of a run that it would not need without the slowdown."""
    return gpus * (1 - 1 / slow_down)
