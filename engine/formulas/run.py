"""From a step to a run: tokens, GPU hours, money and energy."""

from engine.core.equation import Equation
from engine.core.units import (
    Count,
    Energy,
    FlopRate,
    GpuTime,
    Money,
    Operations,
    Parameters,
    Power,
    Price,
    Ratio,
    Seconds,
    Share,
    TokenRate,
    Tokens,
)
from engine.formulas._run_symbols import symbols

# Per parameter and token: forward a multiply and an add, backward twice that.
TRAINING: Operations = 6.0

TOKEN_RATE = Equation(
    name="token_rate",
    tex=r"\v{r} = \frac{\v{u}\,\v{F}}{6\,\v{P}}",
    symbols=symbols("r u F P"),
    sources=("kaplan2020", "chowdhery2022"),
)


def token_rate(parameters: Parameters, utilization: Share, peak: FlopRate) -> TokenRate:
    """Return the tokens that one GPU trains on per second.

    Source: Kaplan et al. 2020 for the count, Chowdhery et al. 2022 for the utilization (MFU).
    Limit: attention scores are left out; of a mixture of experts only those that work count.
    """
    return utilization * peak / (TRAINING * parameters)


UTILIZATION = Equation(
    name="utilization_of_rate",
    tex=r"\v{u} = \frac{6\,\v{P}\,\v{r}}{\v{F}}",
    symbols=symbols("u P r F"),
    sources=("kaplan2020", "chowdhery2022"),
)


def utilization(parameters: Parameters, rate: TokenRate, peak: FlopRate) -> Share:
    """Return the share of the peak that a rate amounts to. Sources, limits as `token_rate`."""
    return TRAINING * parameters * rate / peak


WORK_TIME = Equation(
    name="work_time",
    tex=r"\v{Tk} = \frac{\v{D}}{\v{n}\,\v{r}}",
    symbols=symbols("Tk D n r"),
)


def work_time(tokens: Tokens, num_gpus: Count, rate: TokenRate) -> Seconds:
    """Return the time of the steps alone: nothing fails, and nobody waits for a slow GPU."""
    return tokens / (num_gpus * rate)


RUN_TIME = Equation(
    name="run_time",
    tex=r"\v{Tr} = \frac{\v{D}}{\v{n}\,\v{r}}\cdot\frac{\v{m}}{\v{g}}",
    symbols=symbols("Tr D n r m g"),
    sources=("daly2006",),
)


def run_time(work: Seconds, slowest: Ratio, goodput: Share) -> Seconds:
    """Return the time of a run from first step to last: work, waiting, and what failures take.

    `slowest` is the slowest of n step times over the mean one (`stragglers`), `goodput` the share
    of the time that is work which lasts (`goodput`). Source: Daly 2006 for the division.
    """
    return work * slowest / goodput


GPU_HOURS = Equation(
    name="gpu_hours",
    tex=r"\v{G} = \v{n}\,\v{Tr}",
    symbols=symbols("G n Tr"),
)


def gpu_time(num_gpus: Count, time: Seconds) -> GpuTime:
    """Return what a run occupies: every GPU for the whole time, idle or not."""
    return num_gpus * time


COST = Equation(
    name="run_cost",
    tex=r"\v{K} = \v{p}\,\v{G}",
    symbols=symbols("K p G"),
)


def cost(gpus: GpuTime, price: Price) -> Money:
    """Return the price of the GPU hours, in the currency of the price per GPU hour."""
    return gpus * price


ENERGY = Equation(
    name="run_energy",
    tex=r"\v{E} = \v{W}\,\v{x}\,\v{G}",
    symbols=symbols("E W x G"),
    sources=("patterson2021",),
)


def energy(gpus: GpuTime, power: Power, overhead: Ratio) -> Energy:
    """Return the energy drawn from the grid.

    `power` is per GPU, with its share of the server; `overhead` is the PUE of the building.
    Source: Patterson et al. 2021. Limit: a GPU that waits draws less, which is left out.
    """
    return power * overhead * gpus
