"""The numbers of a run, each with its receipt."""

import math

from engine.basis.equation import Equation
from engine.basis.text import Text, say
from engine.basis.units import (
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
    Quantity,
)
from engine.basis.views import Receipt, Value
from engine.calculators.whole_runs.job_time.model import Job
from engine.catalog.accelerators import ACCELERATORS
from engine.form.job_inputs import LLAMA3_FAILURES, LLAMA3_GPUS, LLAMA3_WINDOW, Inputs
from engine.formulas import goodput, run, stragglers

_QUANTILE = 0.99
_RAREST = 1e-6
_POISSON = "Failures strike at random and independently, at a constant rate."
_WAITS = "All GPUs wait for the slowest in every step; their times are independent."
_NEVER = "it fails before it gets anywhere"

Symbols = dict[str, tuple[float, Quantity]]
FROM = {
    "D": "tokens",
    "P": "parameters",
    "n": "num_gpus",
    "d": "checkpoint",
    "t": "interval",
    "R": "restart",
    "p": "price",
    "W": "power",
    "x": "overhead",
    "s": "deviation",
    "l": "slower",
    "Mg": "gpu_mtbf",
}


def symbols(inputs: Inputs, job: Job) -> Symbols:
    """Return every symbol of the equations on a run with its value."""
    return {
        "D": (inputs.tokens, TOKENS),
        "P": (inputs.parameters, PARAMETERS),
        "u": (job.utilization, SHARE),
        "F": (job.peak, FLOP_RATE),
        "n": (float(inputs.num_gpus), COUNT),
        "r": (job.rate, TOKEN_RATE),
        "Tk": (job.work, SECONDS),
        "Tr": (job.wall, SECONDS),
        "G": (job.gpus, GPU_TIME),
        "p": (inputs.price, PRICE),
        "K": (job.cost, MONEY),
        "W": (inputs.power, POWER),
        "x": (inputs.overhead, RATIO),
        "E": (job.energy, ENERGY),
        "Mg": (inputs.gpu_mtbf, SECONDS),
        "M": (job.mtbf, SECONDS),
        "d": (inputs.checkpoint, SECONDS),
        "t": (inputs.interval, SECONDS),
        "R": (inputs.restart, SECONDS),
        "g": (job.goodput, SHARE),
        "s": (inputs.deviation, SHARE),
        "l": (inputs.slower, SHARE),
        "m": (job.slow_down, RATIO),
        "S": (job.slow_down / job.jitter, RATIO),
        "q": (_QUANTILE, SHARE),
    }


def result(inputs: Inputs, job: Job) -> dict[str, Value]:
    """Return how long it takes, and what it takes."""
    known = symbols(inputs, job)
    luck: Text = say("± {s} by the luck of failures alone", s=(job.spread, SECONDS))
    endless = not math.isfinite(job.wall)
    return {
        "wall_time": Value(
            label="The run takes",
            value=job.wall,
            quantity=SECONDS,
            receipt=_receipt(
                run.RUN_TIME,
                known,
                _POISSON,
                _WAITS,
                "No evaluation, no planned maintenance, no run that had to be repeated.",
            ),
            note=_NEVER if endless else luck,
        ),
        "gpu_hours": Value(
            label="GPU hours",
            value=job.gpus,
            quantity=GPU_TIME,
            receipt=_receipt(run.GPU_HOURS, known, "Idle GPUs count: nobody else has them."),
            note=say("{n} GPUs for the whole run", n=(inputs.num_gpus, COUNT)),
        ),
        "cost": Value(
            label="Cost",
            value=job.cost,
            quantity=MONEY,
            receipt=_receipt(run.COST, known, "In the currency of the price; storage left out."),
            note=say("in your currency, at {p}", p=(inputs.price, PRICE)),
        ),
        "energy": Value(
            label="Energy",
            value=job.energy,
            quantity=ENERGY,
            receipt=_receipt(
                run.ENERGY, known, "Full power for the whole time; a GPU that waits draws less."
            ),
            note=say(
                "{n} GPUs draw {p} with their building",
                n=(inputs.num_gpus, COUNT),
                p=(inputs.num_gpus * inputs.power * inputs.overhead, POWER),
            ),
        ),
    }


def speed(inputs: Inputs, job: Job) -> dict[str, Value]:
    """Return the ideal run and the speed it rests on."""
    known = symbols(inputs, job)
    gpu = ACCELERATORS[inputs.gpu]
    peak = say(f"{gpu.name}, dense 16-bit peak {{f}}.", f=(job.peak, FLOP_RATE))
    measured = inputs.speed_from == "measured"
    six = "Six operations per parameter and token; attention scores left out."
    return {
        "work_time": Value(
            label="If nothing fails and nobody waits",
            value=job.work,
            quantity=SECONDS,
            receipt=_receipt(run.WORK_TIME, known, "The speed of one GPU times their number."),
            note=say("{g} of work", g=(job.work * inputs.num_gpus, GPU_TIME)),
            color="compute",
        ),
        "token_rate": Value(
            label="Speed of one GPU",
            value=job.rate,
            quantity=TOKEN_RATE,
            receipt=Receipt(basis="measured", assumptions=("As the reader gives it.",))
            if measured
            else Receipt(
                equation=run.TOKEN_RATE,
                symbols=known,
                inputs=FROM | {"u": "utilization"},
                assumptions=(peak, six),
                sources=(gpu.source,),
            ),
            note="as measured" if measured else "from the MFU",
        ),
        "reached": Value(
            label="Share of the peak",
            value=job.utilization,
            quantity=SHARE,
            receipt=Receipt(
                equation=run.UTILIZATION,
                symbols=known,
                inputs=FROM,
                assumptions=(peak, six),
                sources=(gpu.source,),
            ),
            note="more than there is: check the speed" if job.utilization > 1 else "MFU",
        ),
    }


def failing(inputs: Inputs, job: Job) -> dict[str, Value]:
    """Return how often it fails, how often to save, and what is left."""
    known = symbols(inputs, job)
    habits = inputs.interval, inputs.checkpoint, inputs.restart, job.mtbf
    first = goodput.first_order_goodput(*habits)
    young = known | {"t": (job.young, SECONDS)}
    daly = known | {"t": (job.daly, SECONDS)}
    best = daly | {"g": (job.best, SHARE)}
    origin = say(
        "The default is Llama 3's: {k} interruptions in {t} on {n} GPUs.",
        k=(LLAMA3_FAILURES, COUNT),
        t=(LLAMA3_WINDOW, SECONDS),
        n=(LLAMA3_GPUS, COUNT),
    )
    failures: Text = say("{k} failures expected in the run", k=(round_up(job.failures), COUNT))
    return {
        "mtbf": Value(
            label="Something fails every",
            value=job.mtbf,
            quantity=SECONDS,
            receipt=_receipt(goodput.JOB_MTBF, known, _POISSON, origin),
            note=failures if math.isfinite(job.failures) else _NEVER,
        ),
        "goodput": Value(
            label="Goodput",
            value=job.goodput,
            quantity=SHARE,
            receipt=_receipt(goodput.GOODPUT, known, _POISSON),
            note="share of the time that is work which lasts",
        ),
        "first_order": Value(
            label="Goodput, first order",
            value=first,
            quantity=SHARE,
            receipt=_receipt(
                goodput.FIRST_ORDER_GOODPUT,
                known | {"g": (first, SHARE)},
                "At most one failure between two checkpoints, none in a checkpoint or a restart.",
            ),
            note="too kind where failures are frequent",
        ),
        "young": Value(
            label="Save every (Young)",
            value=job.young,
            quantity=SECONDS,
            receipt=_receipt(goodput.YOUNG_INTERVAL, young, _POISSON),
            note="first order",
        ),
        "daly": Value(
            label="Save every (Daly)",
            value=job.daly,
            quantity=SECONDS,
            receipt=_receipt(goodput.DALY_INTERVAL, daly, _POISSON)
            if inputs.checkpoint < 2 * job.mtbf
            else Receipt(
                assumptions=(
                    "A checkpoint takes twice the mean time between failures or more.",
                    "Then that mean time itself is the best there is.",
                ),
                sources=("daly2006",),
            ),
            note="higher order; work only, without the checkpoint",
        ),
        "best_goodput": Value(
            label="Goodput at Daly's interval",
            value=job.best,
            quantity=SHARE,
            receipt=_receipt(goodput.GOODPUT, best, _POISSON),
            note="what saving at the right moments can reach",
        ),
    }


def round_up(number: float) -> float:
    """Return a number of failures without decimals that nobody can count."""
    return float(round(number)) if number >= 10 and math.isfinite(number) else number


def slowest(inputs: Inputs, job: Job) -> dict[str, Value]:
    """Return what waiting for the slowest costs."""
    known = symbols(inputs, job)
    bound = stragglers.largest_possible(inputs.num_gpus, inputs.deviation)
    lucky = stragglers.all_below(_QUANTILE, inputs.num_gpus)
    lost = (
        job.gpus
        if math.isinf(job.gpus)
        else stragglers.lost_to_waiting(job.gpus, job.slow_down / job.jitter)
    )
    return {
        "slow_down": Value(
            label="A step takes",
            value=job.slow_down,
            quantity=RATIO,
            receipt=_receipt(stragglers.SLOWEST_WITH_SLOW, known, _WAITS, "Normal step times."),
            note=say("an average one; {a} if all GPUs were alike", a=(job.jitter, RATIO)),
        ),
        "bound": Value(
            label="At most, all alike",
            value=bound,
            quantity=RATIO,
            receipt=_receipt(stragglers.LARGEST_POSSIBLE, known | {"m": (bound, RATIO)}, _WAITS),
            note="whatever the distribution of step times",
        ),
        "all_below": Value(
            label="Steps in which no GPU has its slowest percent",
            value=lucky,
            quantity=SHARE,
            receipt=_receipt(
                stragglers.ALL_BELOW, known | {"A": (lucky, SHARE)}, "Any distribution of times."
            ),
            note=say("one step in {k}", k=(1 / lucky, COUNT))
            if lucky > _RAREST
            else "less than one step in a million",
        ),
        "slow_gpu": Value(
            label="GPU hours lost to the one slow GPU",
            value=lost,
            quantity=GPU_TIME,
            receipt=_receipt(stragglers.SLOW_DOWN_COST, known | {"Gl": (lost, GPU_TIME)}, _WAITS),
            note="set how much slower it is" if inputs.slower == 0 else "by all who wait for it",
        ),
    }


def _receipt(equation: Equation, known: Symbols, *assumptions: Text) -> Receipt:
    return Receipt(equation=equation, symbols=known, inputs=FROM, assumptions=assumptions)
