"""Failures and checkpoints: how often to save, and how much of the time is work that lasts."""

import math

from engine.core.equation import Equation
from engine.core.units import Count, Ratio, Seconds, Share
from engine.formulas._run_symbols import symbols

# Beyond e^700 a float ends. Long before that the job never gets anywhere.
_MOST = 700.0
_SHORT = 1e-3

JOB_MTBF = Equation(
    name="job_mtbf",
    tex=r"\v{M} = \frac{\v{Mg}}{\v{n}}",
    symbols=symbols("M Mg n"),
    sources=("dubey2024",),
)


def job_mtbf(gpu_mtbf: Seconds, num_gpus: Count) -> Seconds:
    """Return the mean time between failures of a job that stops when any of its GPUs does.

    Every failure of a run counts toward "its GPU", whatever broke: host, cable or software.
    Published: 419 interruptions in 54 days on 16,384 GPUs (Llama 3, section 3.3.4).
    """
    return gpu_mtbf / num_gpus


YOUNG_INTERVAL = Equation(
    name="young_interval",
    tex=r"\v{t} = \sqrt{2\,\v{d}\,\v{M}}",
    symbols=symbols("t d M"),
    sources=("young1974",),
)


def young_interval(checkpoint: Seconds, mtbf: Seconds) -> Seconds:
    """Return the work between two checkpoints that loses least, to first order.

    Source: Young 1974. Limit: checkpoints much shorter than the mean time between failures.
    """
    return math.sqrt(2 * checkpoint * mtbf)


DALY_INTERVAL = Equation(
    name="daly_interval",
    tex=(
        r"\v{t} = \sqrt{2\,\v{d}\,\v{M}}\left(1 + \frac{1}{3}\sqrt{\frac{\v{d}}{2\,\v{M}}}"
        r" + \frac{\v{d}}{18\,\v{M}}\right) - \v{d}"
    ),
    symbols=symbols("t d M"),
    sources=("daly2006",),
)


def daly_interval(checkpoint: Seconds, mtbf: Seconds) -> Seconds:
    """Return the work between two checkpoints that loses least, to higher order.

    Source: Daly 2006; from checkpoints of twice the mean time between failures on it is that
    time itself.
    """
    if checkpoint >= 2 * mtbf:
        return mtbf
    ratio = checkpoint / (2 * mtbf)
    longer = 1 + math.sqrt(ratio) / 3 + ratio / 9
    return math.sqrt(2 * checkpoint * mtbf) * longer - checkpoint


FIRST_ORDER_GOODPUT = Equation(
    name="first_order_goodput",
    tex=(
        r"\v{g} = \frac{1}{1 + \frac{\v{d}}{\v{t}} + \frac{\v{t}}{2\,\v{M}}"
        r" + \frac{\v{R}}{\v{M}}}"
    ),
    symbols=symbols("g d t M R"),
    sources=("young1974",),
)


def first_order_goodput(
    interval: Seconds, checkpoint: Seconds, restart: Seconds, mtbf: Seconds
) -> Share:
    """Return the share of the time spent on work that lasts, to first order.

    Beside each second of work stand a share of a checkpoint, half an interval per failure to be
    done again, and a restart per failure. Its best interval is Young's. Source: Young 1974.
    """
    return 1 / (1 + checkpoint / interval + interval / (2 * mtbf) + restart / mtbf)


GOODPUT = Equation(
    name="goodput",
    tex=(
        r"\v{g} = \frac{\v{t}}{\v{M}}\,e^{-\v{R}/\v{M}}"
        r"\left(e^{(\v{t} + \v{d})/\v{M}} - 1\right)^{-1}"
    ),
    symbols=symbols("g t M R d"),
    sources=("daly2006",),
    title="Goodput with failures and checkpoints",
)


def goodput(interval: Seconds, checkpoint: Seconds, restart: Seconds, mtbf: Seconds) -> Share:
    """Return the share of the time spent on work that lasts: checkpointed before a failure.

    Failures strike at random, at any time, checkpoints and restarts included. 0 where the work
    between two checkpoints is never finished in practice. Source: Daly 2006, complete model.
    """
    segment = (interval + checkpoint) / mtbf
    if segment + restart / mtbf > _MOST:
        return 0.0
    return interval / mtbf * math.exp(-restart / mtbf) / math.expm1(segment)


def restart_share(restart: Seconds, mtbf: Seconds) -> Share:
    """Return the share of the time spent in restarts, those that fail themselves included.

    A restart lasts `restart` or until the next failure, on average M(1 - e^(-R/M)), and one
    follows each failure, every M.
    """
    return -math.expm1(-restart / mtbf)


def failures(time: Seconds, mtbf: Seconds) -> Ratio:
    """Return the expected number of failures."""
    return time / mtbf


def spread(
    work: Seconds, interval: Seconds, checkpoint: Seconds, restart: Seconds, mtbf: Seconds
) -> Seconds:
    """Return the standard deviation of the run's time that the luck of failures alone makes.

    Sums the variance of each interval in the model of `goodput`: a geometric number of failures,
    each after a time below the interval, each followed by restarts until one lasts. Derived.
    """
    segment, again = (interval + checkpoint) / mtbf, restart / mtbf
    if 2 * (segment + again) > _MOST:
        return math.inf
    tries, waited = math.expm1(segment), math.expm1(again)
    lost, lost_variance = _lost(segment)
    within = tries * (lost_variance + _waited_variance(again))
    number = tries * (1 + tries) * (lost + waited) ** 2
    return mtbf * math.sqrt(work / interval * (within + number))


def _lost(segment: Ratio) -> tuple[Ratio, Ratio]:
    """Return mean and variance of a failure's time, given that it strikes within the segment.

    All in units of the mean time between failures; short segments by series, as the closed forms
    are small differences of large numbers there.
    """
    if segment < _SHORT:
        return segment / 2 - segment**2 / 12, segment**2 / 12
    tries = math.expm1(segment)
    return 1 - segment / tries, 1 - segment**2 * math.exp(segment) / tries**2


def _waited_variance(again: Ratio) -> Ratio:
    """Return the variance of the time until a restart lasts, in the same units."""
    if again < _SHORT:
        return again**3 / 3 * (1 + again)
    return math.expm1(2 * again) - 2 * again * math.exp(again)
