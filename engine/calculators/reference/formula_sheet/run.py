"""Numbers for the equations on a whole run: files run, goodput and stragglers."""

from collections.abc import Mapping

from engine.calculators.reference.formula_sheet.inputs import (
    Example,
    Inputs,
    SymbolValues,
    world_size,
)
from engine.core.units import (
    COUNT,
    ENERGY,
    FLOP_RATE,
    GPU_TIME,
    MONEY,
    PARAMETERS,
    POWER,
    PRICE,
    RATIO,
    SECONDS,
    SHARE,
    TOKEN_RATE,
    TOKENS,
    GpuTime,
    Ratio,
    Seconds,
    Share,
    TokenRate,
)
from engine.formulas import goodput, run, stragglers

_FAILURES = {"d": "checkpoint", "R": "restart"}
# The quantile in the example of independent GPUs: the slowest hundredth of one GPU's steps.
_QUANTILE: Share = 0.99


def _rate(x: Inputs) -> TokenRate:
    return run.token_rate(x.parameters, x.utilization, x.peak)


def _mtbf(x: Inputs) -> Seconds:
    return goodput.job_mtbf(x.gpu_mtbf, world_size(x))


def _interval(x: Inputs) -> Seconds:
    """Return the checkpoint interval by Young's formula."""
    return goodput.young_interval(x.checkpoint, _mtbf(x))


def _goodput(x: Inputs) -> Share:
    return goodput.goodput(_interval(x), x.checkpoint, x.restart, _mtbf(x))


def _slowest(x: Inputs) -> Ratio:
    return stragglers.slowest_of(world_size(x), x.deviation)


def _work(x: Inputs) -> Seconds:
    return run.work_time(x.run_tokens, world_size(x), _rate(x))


def _run(x: Inputs) -> Seconds:
    return run.run_time(_work(x), _slowest(x), _goodput(x))


def _hours(x: Inputs) -> GpuTime:
    return run.gpu_time(world_size(x), _run(x))


def _utilization_symbols(x: Inputs) -> SymbolValues:
    """Return the symbols that relate token rate and utilization."""
    return {
        "r": (_rate(x), TOKEN_RATE),
        "u": (run.utilization(x.parameters, _rate(x), x.peak), SHARE),
        "F": (x.peak, FLOP_RATE),
        "P": (x.parameters, PARAMETERS),
    }


def _time(x: Inputs) -> SymbolValues:
    return {
        "Tk": (_work(x), SECONDS),
        "Tr": (_run(x), SECONDS),
        "D": (x.run_tokens, TOKENS),
        "n": (world_size(x), COUNT),
        "r": (_rate(x), TOKEN_RATE),
        "m": (_slowest(x), RATIO),
        "g": (_goodput(x), SHARE),
    }


def _price(x: Inputs) -> SymbolValues:
    gpus = _hours(x)
    return {
        "G": (gpus, GPU_TIME),
        "n": (world_size(x), COUNT),
        "Tr": (_run(x), SECONDS),
        "K": (run.cost(gpus, x.price), MONEY),
        "p": (x.price, PRICE),
        "E": (run.energy(gpus, x.power, x.overhead), ENERGY),
        "W": (x.power, POWER),
        "x": (x.overhead, RATIO),
    }


def _failure_symbols(x: Inputs, interval: Seconds, share: Share) -> SymbolValues:
    return {
        "M": (_mtbf(x), SECONDS),
        "Mg": (x.gpu_mtbf, SECONDS),
        "n": (world_size(x), COUNT),
        "t": (interval, SECONDS),
        "d": (x.checkpoint, SECONDS),
        "R": (x.restart, SECONDS),
        "g": (share, SHARE),
    }


def _goodput_symbols(x: Inputs) -> SymbolValues:
    return _failure_symbols(x, _interval(x), _goodput(x))


def _daly(x: Inputs) -> SymbolValues:
    return _failure_symbols(x, goodput.daly_interval(x.checkpoint, _mtbf(x)), 0.0)


def _first_order(x: Inputs) -> SymbolValues:
    interval = _interval(x)
    share = goodput.first_order_goodput(interval, x.checkpoint, x.restart, _mtbf(x))
    return _failure_symbols(x, interval, share)


def _all_below(x: Inputs) -> SymbolValues:
    share = stragglers.all_below(_QUANTILE, world_size(x))
    return {"A": (share, SHARE), "q": (_QUANTILE, SHARE), "n": (world_size(x), COUNT)}


def _waiting(x: Inputs) -> SymbolValues:
    gpus, slowest = _hours(x), _slowest(x)
    lost = stragglers.lost_to_waiting(gpus, slowest)
    return {"Gl": (lost, GPU_TIME), "G": (gpus, GPU_TIME), "S": (slowest, RATIO)}


# By the name of the equation.
EXAMPLES: Mapping[str, Example] = {
    "token_rate": Example(
        title="Tokens per second of a GPU",
        function=run.token_rate,
        symbols=_utilization_symbols,
        inputs={"u": "utilization", "F": "peak", "P": "parameters"},
    ),
    "utilization_of_rate": Example(
        title="Share of the peak that a rate amounts to",
        function=run.utilization,
        symbols=_utilization_symbols,
        inputs={"F": "peak", "P": "parameters"},
    ),
    "work_time": Example(
        title="Time of the steps alone",
        function=run.work_time,
        symbols=_time,
        inputs={"D": "run_tokens"},
    ),
    "run_time": Example(
        title="Time of a run", function=run.run_time, symbols=_time, inputs={"D": "run_tokens"}
    ),
    "gpu_hours": Example(title="GPU hours", function=run.gpu_time, symbols=_price),
    "run_cost": Example(title="Cost", function=run.cost, symbols=_price, inputs={"p": "price"}),
    "run_energy": Example(
        title="Energy",
        function=run.energy,
        symbols=_price,
        inputs={"W": "power", "x": "overhead"},
    ),
    "job_mtbf": Example(
        title="Time between failures of a job",
        function=goodput.job_mtbf,
        symbols=_goodput_symbols,
        inputs={"Mg": "gpu_mtbf"},
    ),
    "young_interval": Example(
        title="Young's interval between checkpoints",
        function=goodput.young_interval,
        symbols=_goodput_symbols,
        inputs=_FAILURES,
    ),
    "daly_interval": Example(
        title="Daly's interval between checkpoints",
        function=goodput.daly_interval,
        symbols=_daly,
        inputs=_FAILURES,
    ),
    "first_order_goodput": Example(
        title="Goodput to first order",
        function=goodput.first_order_goodput,
        symbols=_first_order,
        inputs=_FAILURES,
    ),
    "goodput": Example(
        title="Goodput", function=goodput.goodput, symbols=_goodput_symbols, inputs=_FAILURES
    ),
    "all_below_quantile": Example(
        title="All GPUs below a quantile", function=stragglers.all_below, symbols=_all_below
    ),
    "slow_down_cost": Example(
        title="GPU hours lost to waiting", function=stragglers.lost_to_waiting, symbols=_waiting
    ),
}
