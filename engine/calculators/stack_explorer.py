"""The stack explorer: one job, from a hop of nanoseconds to a run of months."""

from functools import cache

from engine.calculators import _explorer_layers as layers
from engine.calculators import _explorer_ruler as ruler
from engine.calculators import _explorer_step as step
from engine.calculators import _explorer_wires as wires
from engine.calculators import _levers_views, _run_views
from engine.calculators._explorer_events import events
from engine.calculators._explorer_inputs import PRESETS as PRESETS
from engine.calculators._explorer_inputs import Inputs as Inputs
from engine.calculators._explorer_model import BILLION, Job, cost, job
from engine.equation import Equation
from engine.text import say
from engine.units import (
    COUNT,
    MONEY,
    PRICE,
    SECONDS,
    SHARE,
    TOKEN_RATE,
    TOKENS,
    Money,
)
from engine.views import Challenge, Condition, Receipt, Value, View

TITLE = "The job"
QUESTION = "Where does every microsecond of one job go?"
RATE = Equation(
    name="job_token_rate",
    tex=r"\v{R} = \frac{\v{B}\,\v{s}}{\v{T}}",
    symbols={
        "R": ("R", "tokens per second of all GPUs"),
        "B": ("B", "sequences in a step"),
        "s": ("s", "tokens in a sequence"),
        "T": (r"T_{\mathrm{step}}", "step"),
    },
)
COST = Equation(
    name="job_cost_of_tokens",
    tex=r"\v{K} = \frac{\v{D}\,\v{n}\,\v{p}}{\v{R}}",
    symbols={
        "K": ("K", "cost"),
        "D": ("D", "tokens"),
        "n": ("n", "GPUs"),
        "p": ("p", "price of a GPU and second"),
        "R": ("R", "tokens per second of all GPUs"),
    },
)
EQUATIONS = (RATE, COST, _run_views.MFU, _run_views.STEP)


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the header, the ruler, the layers, and what stands on each tab."""
    found = job(inputs)
    placed = events(inputs, found)
    return {
        **_header(inputs, found),
        "possible": _run_views.possible(found.run, found.changes),
        "fits": _run_views.fit(found.run, found.found),
        "ruler": ruler.scene(inputs, placed),
        "event_time": ruler.time_value(inputs, placed),
        "event_panel": ruler.panel(inputs, placed, found.step),
        "events": ruler.table(inputs, placed),
        "decades": ruler.decades_value(placed),
        "layer_panel": layers.panel(inputs, found),
        "layers": layers.table(found),
        "message_time": wires.message_value(inputs, found),
        "message_regime": wires.message_regime(inputs, found),
        "waterfall": wires.waterfall(inputs, found),
        "three_times": wires.three_times(found),
        "map": wires.cluster_map(found),
        "axes": wires.axes(found),
        "overlap_gain": step.overlap_gain(found),
        "overlaps": step.overlaps(found),
        "timeline": step.timeline(inputs, found),
        "parts": _run_views.time_parts(found.run, found.found),
        "look": step.look(found),
        "commands": step.commands(found),
        "first": _levers_views.first(found.levers),
        "tornado": _levers_views.tornado(found.levers),
        "levers": _levers_views.table(found.levers),
        "challenge": _challenge(inputs, found),
    }


def _header(inputs: Inputs, found: Job) -> dict[str, Value]:
    run = found.run
    training = run.training
    price = cost(inputs, found)
    return {
        "token_rate": Value(
            label="Tokens per second",
            value=found.rate,
            quantity=TOKEN_RATE,
            receipt=Receipt(
                equation=RATE,
                symbols={
                    "R": (found.rate, TOKEN_RATE),
                    "B": (float(training.global_batch_size), COUNT),
                    "s": (float(training.sequence_length), TOKENS),
                    "T": (found.step, SECONDS),
                },
                inputs={"B": "global_batch_size", "s": "sequence_length"},
                assumptions=("While steps run: no failure, no checkpoint.",),
            ),
        ),
        "mfu": _run_views.utilization(run, found.found, "mfu"),
        "exposed_share": Value(
            label="Exposed communication",
            value=found.exposed,
            quantity=SHARE,
            receipt=Receipt(
                assumptions=(
                    "Communication that no computation hides, over the step; all axes together.",
                )
            ),
            note="of the step",
            color="communication",
        ),
        "cost_of_tokens": Value(
            label="Cost of a billion tokens",
            value=price,
            quantity=MONEY,
            receipt=Receipt(
                equation=COST,
                symbols={
                    "K": (price, MONEY),
                    "D": (BILLION, TOKENS),
                    "n": (float(run.plan.world_size), COUNT),
                    "p": (inputs.price, PRICE),
                    "R": (found.rate, TOKEN_RATE),
                },
                inputs={"n": "world_size", "p": "price"},
                assumptions=("While steps run; in the currency of the price.",),
            ),
            note="in your currency",
        ),
        "step_time": _run_views.step_value(run, found.found),
    }


@cache
def _start_cost() -> Money:
    """Return what a billion tokens cost where the challenge starts."""
    start = Inputs(recompute="full", virtual_pipeline=1)
    return cost(start, job(start))


def _challenge(inputs: Inputs, found: Job) -> Challenge:
    """Return the goal: a third off the price of a token with the same machine and batch."""
    plain = Inputs()
    names = ("model", "gpu", "world_size", "global_batch_size", "sequence_length", "price")
    wires_same = inputs.nic_bandwidth == plain.nic_bandwidth and inputs.nics_per_node == 8
    return Challenge(
        title="A third off",
        goal="Make a billion tokens of the 405B job cost a third less, on the same 16,384 GPUs "
        "with the same ports, the same batch, and in memory.",
        conditions=(
            Condition(
                text=say("at most {c} per billion tokens", c=(_start_cost() * 2 / 3, MONEY)),
                met=cost(inputs, found) <= _start_cost() * 2 / 3,
            ),
            Condition(text="it fits", met=bool(found.found["fits"])),
            Condition(
                text="the same model, GPUs, ports, batch, sequences and price",
                met=wires_same and all(getattr(inputs, n) == getattr(plain, n) for n in names),
            ),
        ),
        hints=(
            "Look at the parts of the step on the tab for profiling: which two are largest?",
            "The ruler has an event for the bubble. What makes it shorter?",
            "What is computed twice?",
        ),
        start={"recompute": "full", "virtual_pipeline": 1},
        solution={"recompute": "none", "virtual_pipeline": 7},
    )
