"""Overlap schedules: a job under five schedules, with hidden and exposed communication."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Annotated

from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text, say
from engine.core.units import (
    LINK_SPEED,
    SECONDS,
    SHARE,
    Bytes,
    Count,
    Gbit,
    Ratio,
    Seconds,
    Share,
    with_digits,
)
from engine.core.views import Badge, Challenge, Condition, Published, Table, Value
from engine.form.overlap import FORMERLY as FORMERLY
from engine.form.overlap import (
    SCHEDULES,
    overlap_run,
    residue_bars,
    schedule_timeline,
    schedules_timeline,
    step_bars,
)
from engine.form.overlap import Inputs as Inputs
from engine.form.run.prediction_text import no_range_assumptions
from engine.formulas.overlap import hidden_share
from engine.run.run import Run
from engine.simulate.layer.device_model import rank_rates
from engine.simulate.overlap.schedule_step import (
    ScheduleOutcome,
    schedule_outcomes,
)
from engine.simulate.step.axis_wires import ring_line_rate

START: Mapping[str, float | int | str | bool] = {"schedule": "paired", "port": 100 * Gbit}


SOLUTION: Mapping[str, float | int | str | bool] = {
    **START,
    "tokens": 32_768,
    "num_microbatches": 8,
}


_TARGET: Seconds = 17.0
_TOKENS: Count = 16_384 * 16  # of a replica, per step


def challenge(inputs: Inputs, outcome: ScheduleOutcome) -> Challenge:
    """Return the challenge: a short sharded step on slow ports."""
    conditions = (
        Condition(
            text="Llama 3 70B on 1,024 H100, split as at the start",
            met=(
                inputs.model,
                inputs.gpu,
                inputs.tensor_parallel,
                inputs.pipeline_parallel,
                inputs.data_parallel,
            )
            == ("llama-3-70b", "h100", "8", "4", 32),
        ),
        Condition(
            text=say("ports of at most {p}", p=(100 * Gbit, LINK_SPEED)),
            met=inputs.port <= 100 * Gbit,
        ),
        Condition(
            text="as many tokens per step, gradients in fp32",
            met=inputs.tokens * inputs.num_microbatches >= _TOKENS and inputs.gradients == "fp32",
        ),
        Condition(
            text="parameters and gradients sharded (schedules 3 to 5)",
            met=inputs.schedule in ("sharded", "async", "paired"),
        ),
        Condition(
            text=say("a step of at most {t}", t=(_TARGET, with_digits(SECONDS))),
            met=outcome.step <= _TARGET,
        ),
    )
    return Challenge(
        title="Challenge: a quarter of the network",
        goal=say(
            "With ports of 100 Gb/s, bring the step of a sharded schedule down to {t}.",
            t=(_TARGET, with_digits(SECONDS)),
        ),
        conditions=conditions,
        hints=(
            "Count how often the same parameters cross the network in one step.",
            "Fewer micro-batches gather less often, and leave a longer bubble.",
        ),
        start=START,
        solution=SOLUTION,
    )


_ESTIMATED = (
    "The parts of the estimate for this job under each schedule; their sum is its step. Under "
    "PyTorch: DDP in the first two schedules, FSDP in the others."
)
_LEFT_OUT = (
    "Of paired passes the model has the smaller bubble alone; that one micro-batch computes while "
    "another communicates is left out, and so is a prefetch of more than one unit."
)
_MEANING = (
    "Exposed: a collective runs and the GPU computes nothing. Hidden: it runs beside computation."
)


def _output(label: str, how: str, note: str, color: str = "ink") -> Output:
    return Output(
        label,
        note=note,
        color=color,
        assumes=(how, _ESTIMATED, _LEFT_OUT),
        sources=("hta", "rajbhandari2020", "li2020"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The chosen schedule, the others for comparison, and the traffic per wire.

    Attributes:
        job: without a schedule.
        outcomes: of every schedule.
        hidden_shares: likewise.
        computing, residue_share: shares of the step.
        sent: bytes of data parallelism of one GPU, in `messages` collectives.
        line_rate: of the link that carries them.
        tensor_sent: bytes of tensor parallelism of one GPU, in `tensor_messages` collectives.
    """

    step_time: Annotated[
        Seconds,
        _output(
            "Step",
            "Compute, exposed communication, bubble, optimizer, host, slowest GPU.",
            "{computing} of it computing",
        ),
    ]
    exposed: Annotated[
        Seconds, _output("Exposed communication", _MEANING, "per step", "communication")
    ]
    hidden: Annotated[Share, _output("Hidden share", _MEANING, "of the communication")]
    residue: Annotated[
        Seconds,
        _output("Residue", "Step minus its computation alone.", "{residue_share} of the step"),
    ]
    gain: Annotated[
        Ratio,
        _output(
            "Against blocking",
            "Step of the blocking schedule over the step of the one shown.",
            "as fast",
        ),
    ]
    async_gain: Annotated[
        Ratio,
        _output(
            "Async TP against blocking TP",
            "Collectives inside layers beside products, as far as the model finds them hidden.",
            "the same step, schedule 3 over schedule 4",
        ),
    ]
    wire_minimum: Annotated[
        Seconds,
        _output(
            "Data parallelism, wire minimum",
            "{sent} at the line rate of the link, {line_rate}, and nothing else.",
            "bytes over line rate",
            "communication",
        ),
    ]
    isolated: Annotated[
        Seconds,
        _output(
            "Data parallelism, collectives alone",
            "All collectives of data parallelism of a step, with the latencies, "
            "protocols and bandwidth of NCCL, one after the other.",
            "what a benchmark shows",
            "communication",
        ),
    ]
    waited: Annotated[
        Seconds,
        _output(
            "Data parallelism, exposed",
            "What the step takes longer for data parallelism: collectives with nothing computed "
            "beside them, and what their channels take of the computation beside the others.",
            "what the step pays",
            "communication",
        ),
    ]
    job: Run
    outcomes: Mapping[str, ScheduleOutcome]
    hidden_shares: Mapping[str, Share]
    computing: Share
    residue_share: Share
    sent: Bytes
    messages: Count
    line_rate: Annotated[float, LINK_SPEED]
    tensor_sent: Bytes
    tensor_messages: Count


# To look at another schedule of the same job takes no new estimates.
@lru_cache(maxsize=4)
def _outcomes(inputs: Inputs) -> Mapping[str, ScheduleOutcome]:
    return schedule_outcomes(overlap_run(inputs))


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    run = overlap_run(inputs)
    outcomes = _outcomes(replace(inputs, schedule="blocking"))
    chosen = outcomes[inputs.schedule]
    hidden = {
        name: hidden_share(each.communication, min(each.communication, each.exposed))
        for name, each in outcomes.items()
    }
    tensor = chosen.axes.get("tensor")
    return Result(
        step_time=chosen.step,
        exposed=chosen.exposed,
        hidden=hidden[inputs.schedule],
        residue=chosen.residue,
        gain=outcomes["blocking"].step / chosen.step,
        async_gain=outcomes["sharded"].step / outcomes["async"].step,
        wire_minimum=chosen.data_part("at_line_rate"),
        isolated=chosen.data_part("alone"),
        waited=chosen.data_part("exposed"),
        job=run,
        outcomes=outcomes,
        hidden_shares=hidden,
        computing=chosen.compute / chosen.step,
        residue_share=chosen.residue / chosen.step,
        sent=chosen.data_part("sent"),
        messages=round(chosen.data_part("messages")),
        line_rate=ring_line_rate(
            run.cluster,
            rank_rates(run.cluster, run.training),
            inputs.data_parallel,
            run.plan.tensor_parallel,
        ),
        tensor_sent=tensor.sent if tensor else 0.0,
        tensor_messages=round(tensor.messages) if tensor else 0,
    )


def wire_of(result: Result) -> str:
    """Return the link that carries data parallelism."""
    axis = next(iter(result.outcomes.values())).axes.get("data")
    return "NVLink" if axis and axis.inside else "network"


_PARTS = {
    "inside": ("Collectives inside layers", "Computation waits for wires"),
    "data": ("Data parallelism", "Computation waits for gathers and reductions"),
    "pipeline": ("Messages between stages", "Stages wait for wires"),
    "bubble": ("Pipeline bubble", "Stages wait for the first and the last micro-batch"),
    "optimizer": ("Optimizer", "It reads and writes all states of a GPU"),
    "other": ("Slowest GPU", "All wait for the host and for the last GPU"),
}


def _published_claim(text: str, reason: str, row: str) -> Published:
    return Published(
        text=f"a published page says: {text}", reason=reason, source="day1inference", claim=row
    )


_CLAIMS = {
    "hidden": _published_claim(
        "hide 90%+",
        "It may well be so of FSDP on fast ports; most of a step's residue is no communication.",
        "E0.8",
    ),
    "residue": _published_claim(
        "latency disappears entirely",
        "The first gather, the last reduction, the bubble and the slowest GPU stay.",
        "E0.5",
    ),
    "async_gain": _published_claim(
        "TP cannot be overlapped",
        "Only the first and the last piece of each collective have nothing to run beside.",
        "E0.4",
    ),
}


def values(present: Presenter, inputs: Inputs, result: Result) -> dict[str, Value]:
    """Return the values of the chosen schedule, and the gain of the last.

    Data parallelism comes in three numbers that are often taken for one another.
    """
    per_node = max(1, 8 // int(inputs.tensor_parallel))
    ports = "the port" if per_node == 1 else f"the {per_node} ports of a node that its ranks have"
    wire = "NVLink" if wire_of(result) == "NVLink" else ports
    _, *assumptions = present.value("wire_minimum").receipt.assumptions
    line = f"{{sent}} at the line rate of {wire}, {{line_rate}}, and nothing else."
    return {
        "step_time": present.value(
            "step_time",
            assumes=(
                *present.value("step_time").receipt.assumptions,
                *no_range_assumptions(result.outcomes[inputs.schedule].evidence),
            ),
        ),
        "exposed": present.value("exposed", note=f"per step, {SCHEDULES[inputs.schedule]}"),
        "hidden": present.value("hidden", published=_CLAIMS["hidden"]),
        "residue": present.value("residue", published=_CLAIMS["residue"]),
        **present.values("gain"),
        "async_gain": present.value("async_gain", published=_CLAIMS["async_gain"]),
        "wire_minimum": present.value("wire_minimum", assumes=(line, *assumptions)),
        **present.values("isolated", "waited"),
    }


def regime(outcome: ScheduleOutcome) -> Badge:
    """Return the largest part of the residue."""
    part = max(_PARTS, key=lambda key: float(getattr(outcome, key)))
    name, words = _PARTS[part]
    return Badge(
        text=name,
        sentence=say(
            f"{words}: {{t}}, {{s}} of the step, more than any other part of the residue.",
            t=(float(getattr(outcome, part)), SECONDS),
            s=(float(getattr(outcome, part)) / outcome.step, SHARE),
        ),
        color="communication" if part in ("inside", "data", "pipeline") else "pipeline",
    )


def strip_table(result: Result) -> Table:
    """Return exposed and step time of every schedule in figures."""
    rows = tuple(
        (
            SCHEDULES[name],
            say("{x}", x=(outcome.step, SECONDS)),
            say("{x}", x=(outcome.exposed, SECONDS)),
            say("{x}", x=(outcome.bubble, SECONDS)),
            say("{x}", x=(result.hidden_shares[name], SHARE)),
            say("{x}", x=(outcome.residue / outcome.step, SHARE)),
        )
        for name, outcome in result.outcomes.items()
    )
    columns = ("Schedule", "Step", "Exposed", "Bubble", "Hidden", "Residue")
    return Table(title="Five schedules in figures", columns=columns, rows=rows)


def traffic(present: Presenter, inputs: Inputs, result: Result) -> Table:
    """Return each axis's messages, wire and possible overlap."""
    none: Text = "none: one GPU"
    reduced = inputs.schedule in ("blocking", "buckets")
    operation = "all-reduce" if reduced else "gathers, scatters"
    rows = (
        (
            "Tensor",
            "gathers, scatters" if result.tensor_sent else none,
            present.say("{tensor_sent}"),
            present.say("{tensor_messages}"),
            "yes, in every layer",
            "pieces, pairs",
            "NVLink",
        ),
        (
            "Data",
            operation if result.sent else none,
            present.say("{sent}"),
            present.say("{messages}"),
            "first and last",
            "buckets, prefetch",
            wire_of(result),
        ),
    )
    columns = (
        "Axis",
        "Operation",
        "Sent per step",
        "Messages",
        "Critical path?",
        "Hidden by",
        "Link",
    )
    return Table(title="Which axis sends what", columns=columns, rows=rows)


TITLE = "Five schedules"
QUESTION = "How much communication can one job hide, and what is left in the end?"
HEADLINE = "step_time"
PRESETS = {
    "8B on 64 GPUs, sharded only": {
        "model": "llama-3-8b",
        "tensor_parallel": "1",
        "pipeline_parallel": "1",
        "data_parallel": 64,
        "num_microbatches": 1,
        "tokens": 8192,
    },
    "405B on 4,096 GPUs": {
        "model": "llama-3-405b",
        "pipeline_parallel": "16",
        "num_microbatches": 32,
    },
    "Gradients in bf16": {"gradients": "bf16"},
    "Ports of 100 Gb/s": {"port": 12.5e9},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    outcome = result.outcomes[inputs.schedule]
    return {
        **values(present, inputs, result),
        "regime": regime(outcome),
        "stacked": partial(schedules_timeline, result.outcomes),
        "comparison": partial(step_bars, result.outcomes),
        "residue_bars": partial(residue_bars, result.outcomes),
        "timeline": partial(schedule_timeline, outcome),
        "figures": partial(strip_table, result),
        "traffic": partial(traffic, present, inputs, result),
        "challenge": partial(challenge, inputs, outcome),
    }
