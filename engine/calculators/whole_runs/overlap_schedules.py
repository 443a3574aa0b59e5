"""Overlap schedules: a job under five schedules, with hidden and exposed communication."""

from collections.abc import Mapping
from dataclasses import dataclass
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
    MiB,
    Ratio,
    Seconds,
    Share,
    with_digits,
)
from engine.core.views import Badge, Challenge, Condition, Published, Table, Value
from engine.form.overlap.charts import (
    residue_bars,
    schedule_timeline,
    schedules_timeline,
    step_bars,
)
from engine.form.overlap.inputs import SCHEDULES, overlap_job
from engine.form.overlap.inputs import Inputs as Inputs
from engine.form.run.prediction_text import no_range_assumptions
from engine.formulas.overlap import hidden_share
from engine.simulate.overlap.overlap_job import OverlapJob, OverlapSetting, build_overlap_job
from engine.simulate.overlap.overlap_step import (
    ScheduleOutcome,
    data_messages,
    schedule_outcomes,
    tensor_traffic,
)
from engine.simulate.streams.streams import SCALE_UP

START: Mapping[str, float | int | str | bool] = {
    "schedule": "paired",
    "port": 100 * Gbit,
    "prefetch": 0,
}


SOLUTION: Mapping[str, float | int | str | bool] = {**START, "prefetch": 1, "reshard": False}


_TARGET = 0.25


def challenge(inputs: Inputs, outcome: ScheduleOutcome) -> Challenge:
    """Return the challenge: a small residue on slow ports."""
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
            text="no more tokens, no more micro-batches, no less contention or jitter",
            met=inputs.tokens <= 16_384
            and inputs.num_microbatches <= 16
            and inputs.slow_down >= 0.19
            and inputs.deviation >= 0.01,
        ),
        Condition(
            text="parameters and gradients sharded (schedules 3 to 5)",
            met=inputs.schedule in ("sharded", "async", "paired"),
        ),
        Condition(
            text=say("a residue below {r} of the step", r=(_TARGET, with_digits(SHARE))),
            met=outcome.residue < _TARGET * outcome.step,
        ),
    )
    return Challenge(
        title="Challenge: a quarter of the network",
        goal="With ports of 100 Gb/s, get the residue of a sharded schedule below a quarter.",
        conditions=conditions,
        hints=(
            "Without prefetch, every gather is waited for.",
            "Count how often the same parameters cross the network in one step.",
        ),
        start=START,
        solution=SOLUTION,
    )


_SIMULATED = (
    "One stage of the pipeline, simulated for its first micro-batches; each further one adds what "
    "the last of them added."
)
_LEFT_OUT = (
    "Layers only: embedding, output layer, optimizer and messages between stages are left out."
)
_MEANING = (
    "Exposed: a collective runs and the GPU computes nothing. Hidden: it runs beside computation."
)


def _output(label: str, how: str, note: str, color: str = "ink") -> Output:
    return Output(
        label,
        note=note,
        color=color,
        assumes=(how, _SIMULATED, _LEFT_OUT),
        sources=("hta", "rajbhandari2020", "li2020"),
        basis="simulated",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The chosen schedule, the others for comparison, and the traffic per wire.

    Attributes:
        work: the job.
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
            "Compute, contention, exposed communication, bubble, slowest GPU.",
            "{computing} of it computing",
        ),
    ]
    exposed: Annotated[
        Seconds, _output("Exposed communication", _MEANING, "per step", "communication")
    ]
    contention: Annotated[
        Seconds,
        _output(
            "Contention",
            "While a collective runs, computation takes {slow_down} longer.",
            "what hiding costs the computation",
            "compute",
        ),
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
            "Products and their collectives in as many pieces as tensor-parallel GPUs.",
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
            "The time in which a collective of data parallelism runs and nothing else does: "
            "no computation, and no collective of tensor parallelism.",
            "what the step pays",
            "communication",
        ),
    ]
    work: OverlapJob
    outcomes: Mapping[str, ScheduleOutcome]
    hidden_shares: Mapping[str, Share]
    computing: Share
    residue_share: Share
    sent: Bytes
    messages: Count
    line_rate: Annotated[float, LINK_SPEED]
    tensor_sent: Bytes
    tensor_messages: Count


# To look at another schedule of the same job takes no new simulation.
@lru_cache(maxsize=4)
def _simulated(setting: OverlapSetting) -> tuple[OverlapJob, Mapping[str, ScheduleOutcome]]:
    work = build_overlap_job(setting)
    return work, schedule_outcomes(setting, work)


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    setting = overlap_job(inputs)
    work, outcomes = _simulated(setting)
    chosen = outcomes[inputs.schedule]
    hidden = {
        name: hidden_share(each.communication, each.exposed) for name, each in outcomes.items()
    }
    tensor_sent, tensor_messages = tensor_traffic(setting, work)
    return Result(
        step_time=chosen.step,
        exposed=chosen.exposed,
        contention=chosen.contention,
        hidden=hidden[inputs.schedule],
        residue=chosen.residue,
        gain=outcomes["blocking"].step / chosen.step,
        async_gain=outcomes["sharded"].step / outcomes["async"].step,
        wire_minimum=chosen.sent / work.line_rate,
        isolated=chosen.isolated,
        waited=chosen.waited,
        work=work,
        outcomes=outcomes,
        hidden_shares=hidden,
        computing=chosen.compute / chosen.step,
        residue_share=chosen.residue / chosen.step,
        sent=chosen.sent,
        messages=data_messages(setting, work, inputs.schedule),
        line_rate=work.line_rate,
        tensor_sent=tensor_sent,
        tensor_messages=tensor_messages,
    )


def wire_of(result: Result) -> str:
    """Return the link that carries data parallelism."""
    return "NVLink" if result.work.stream == SCALE_UP else "network"


_PARTS = {
    "exposed": ("Exposed communication", "Computation waits for wires"),
    "contention": ("Contention", "Computation shares the GPU with collectives"),
    "bubble": ("Pipeline bubble", "Stages wait for the first and the last micro-batch"),
    "slowest": ("Slowest GPU", "All wait for the last one"),
}


def _published_claim(text: str, reason: str, row: str) -> Published:
    return Published(
        text=f"a published page says: {text}", reason=reason, source="day1inference", claim=row
    )


_CLAIMS = {
    "hidden": _published_claim(
        "hide 90%+", "It may well be so; see contention for what that costs.", "E0.8"
    ),
    "residue": _published_claim(
        "latency disappears entirely",
        "The first gather, the last reduction, contention, bubble and jitter stay.",
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
    _, *rest = present.value("wire_minimum").receipt.assumptions
    line = f"{{sent}} at the line rate of {wire}, {{line_rate}}, and nothing else."
    return {
        "step_time": present.value(
            "step_time",
            assumes=(
                *present.value("step_time").receipt.assumptions,
                *no_range_assumptions(result.work.evidence),
            ),
        ),
        "exposed": present.value("exposed", note=f"per step, {SCHEDULES[inputs.schedule]}"),
        **present.values("contention"),
        "hidden": present.value("hidden", published=_CLAIMS["hidden"]),
        "residue": present.value("residue", published=_CLAIMS["residue"]),
        **present.values("gain"),
        "async_gain": present.value("async_gain", published=_CLAIMS["async_gain"]),
        "wire_minimum": present.value("wire_minimum", assumes=(line, *rest)),
        **present.values("isolated", "waited"),
    }


def regime(outcome: ScheduleOutcome) -> Badge:
    """Return the largest part of the residue."""
    if not max(float(getattr(outcome, key)) for key in _PARTS):
        return Badge(
            text="Nothing but computation", sentence="No wire is waited for.", color="compute"
        )
    part = max(_PARTS, key=lambda key: float(getattr(outcome, key)))
    name, words = _PARTS[part]
    return Badge(
        text=name,
        sentence=say(
            f"{words}: {{t}}, {{s}} of the step, more than any other part of the residue.",
            t=(float(getattr(outcome, part)), SECONDS),
            s=(float(getattr(outcome, part)) / outcome.step, SHARE),
        ),
        color="compute" if part == "contention" else "communication",
    )


def strip_table(result: Result) -> Table:
    """Return exposed and step time of every schedule in figures."""
    rows = tuple(
        (
            SCHEDULES[name],
            say("{x}", x=(outcome.step, SECONDS)),
            say("{x}", x=(outcome.exposed, SECONDS)),
            say("{x}", x=(outcome.contention, SECONDS)),
            say("{x}", x=(result.hidden_shares[name], SHARE)),
            say("{x}", x=(outcome.residue / outcome.step, SHARE)),
        )
        for name, outcome in result.outcomes.items()
    )
    columns = ("Schedule", "Step", "Exposed", "Contention", "Hidden", "Residue")
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
PRESETS = {
    "8B on 64 GPUs, sharded only": {
        "model": "llama-3-8b",
        "tensor_parallel": "1",
        "pipeline_parallel": "1",
        "data_parallel": 64,
        "num_microbatches": 1,
        "tokens": 8192,
        "bucket": 25 * MiB,
    },
    "405B on 4,096 GPUs": {
        "model": "llama-3-405b",
        "pipeline_parallel": "16",
        "num_microbatches": 32,
    },
    "No contention": {"slow_down": 0.0},
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
        "timeline": partial(schedule_timeline, inputs.schedule, result.work, outcome),
        "figures": partial(strip_table, result),
        "traffic": partial(traffic, present, inputs, result),
        "challenge": partial(challenge, inputs, outcome),
    }
