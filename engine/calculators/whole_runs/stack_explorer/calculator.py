"""The stack explorer: one job, from a hop of nanoseconds to a run of months."""

from dataclasses import replace
from functools import cache

from engine.basis.equation import Equation
from engine.basis.text import say
from engine.basis.units import (
    COUNT,
    MONEY,
    PRICE,
    SECONDS,
    SHARE,
    TOKEN_RATE,
    TOKENS,
    Money,
)
from engine.basis.views import Challenge, Condition, Receipt, Value, View
from engine.calculators.whole_runs.stack_explorer import layers, ruler, step, wires
from engine.calculators.whole_runs.stack_explorer.events import events
from engine.calculators.whole_runs.stack_explorer.inputs import PRESETS as PRESETS
from engine.calculators.whole_runs.stack_explorer.inputs import Inputs as Inputs
from engine.calculators.whole_runs.stack_explorer.model import BILLION, Job, cost, job
from engine.form.levers import views as _levers_views
from engine.form.run import charts as _run_charts
from engine.form.run import verdicts as _run_verdicts
from engine.form.run import views as _run_views
from engine.form.run.equations import MFU, STEP

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
EQUATIONS = (RATE, COST, MFU, STEP)


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the header, the ruler, the layers, and what stands on each tab."""
    found = job(inputs)
    placed = events(inputs, found)
    return {
        **_header(inputs, found),
        "possible": _run_verdicts.possible(found.run, found.changes),
        "fits": _run_verdicts.fit(found.run, found.found),
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
        "parts": _run_charts.time_parts(found.run, found.found),
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
        "mfu": _run_views.values(run, found.found)["mfu"],
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
        "step_time": _run_views.values(run, found.found)["step_time"],
    }


START = PRESETS["13B on eight nodes with one port of 100 Gb/s"]
SOLUTION = {
    **START,
    "tensor_parallel": 8,
    "pipeline_parallel": 8,
    "zero_stage": "1",
    "recompute": "none",
}
_GIVEN = (
    "model",
    "gpu",
    "world_size",
    "global_batch_size",
    "sequence_length",
    "nic_bandwidth",
    "nics_per_node",
    "price",
)


@cache
def _start() -> tuple[Inputs, Money]:
    """Return where the challenge starts, and what a billion tokens cost there."""
    start = replace(Inputs(), **START)  # type: ignore[arg-type]
    return start, cost(start, job(start))


def _challenge(inputs: Inputs, found: Job) -> Challenge:
    """Return the goal: a quarter of the cost on the same machine."""
    start, price = _start()
    return Challenge(
        title="The wire stays",
        goal="A 13B model is sharded over eight nodes that have one port of 100 Gb/s each. Bring "
        "the cost of a token to a quarter without another machine or another batch.",
        conditions=(
            Condition(
                text=say("at most {c} per billion tokens", c=(price / 4, MONEY)),
                met=cost(inputs, found) <= price / 4,
            ),
            Condition(text="it fits", met=bool(found.found["fits"])),
            Condition(
                text="the same model, GPUs, ports, batch, sequences and price",
                met=not found.changes
                and all(getattr(inputs, n) == getattr(start, n) for n in _GIVEN),
            ),
        ),
        hints=(
            "On the tab for topology, see what crosses the network, and how often in a step.",
            "Which axis sends least, so that it may cross the slow port?",
            "With room in memory, what need not be computed twice?",
        ),
        start=START,
        solution=SOLUTION,
    )
