"""Overlap schedules: one job under five schedules, what each hides, and what none does."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated

from engine.core.outputs import Teller, Told, Views
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
    as_given,
)
from engine.core.views import Badge, Challenge, Condition, Published, Table, Value
from engine.form.overlap.charts import chosen, comparison, residue, stacked
from engine.form.overlap.inputs import SCHEDULES, setting_of
from engine.form.overlap.inputs import Inputs as Inputs
from engine.form.run.prediction_text import unranged
from engine.formulas.overlap import hidden_share
from engine.simulate.overlap.overlap_job import Job, Setting, job
from engine.simulate.overlap.overlap_step import Outcome, data_messages, outcomes, tensor_traffic
from engine.simulate.streams.streams import SCALE_UP

START: Mapping[str, float | int | str | bool] = {
    "schedule": "paired",
    "port": 100 * Gbit,
    "prefetch": 0,
}


SOLUTION: Mapping[str, float | int | str | bool] = {**START, "prefetch": 1, "reshard": False}


_TARGET = 0.25


def challenge(inputs: Inputs, one: Outcome) -> Challenge:
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
            text=say("a residue below {r} of the step", r=(_TARGET, as_given(SHARE))),
            met=one.residue < _TARGET * one.step,
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


def _told(label: str, how: str, note: str, color: str = "ink") -> Told:
    return Told(
        label,
        note=note,
        color=color,
        assumes=(how, _SIMULATED, _LEFT_OUT),
        sources=("hta", "rajbhandari2020", "li2020"),
        basis="simulated",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The schedule that is shown, what the others do beside it, and the wires' traffic.

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
        _told(
            "Step",
            "Compute, contention, exposed communication, bubble, slowest GPU.",
            "{computing} of it computing",
        ),
    ]
    exposed: Annotated[
        Seconds, _told("Exposed communication", _MEANING, "per step", "communication")
    ]
    contention: Annotated[
        Seconds,
        _told(
            "Contention",
            "While a collective runs, computation takes {slow_down} longer.",
            "what hiding costs the computation",
            "compute",
        ),
    ]
    hidden: Annotated[Share, _told("Hidden share", _MEANING, "of the communication")]
    residue: Annotated[
        Seconds,
        _told("Residue", "Step minus its computation alone.", "{residue_share} of the step"),
    ]
    gain: Annotated[
        Ratio,
        _told(
            "Against blocking",
            "Step of the blocking schedule over the step of the one shown.",
            "as fast",
        ),
    ]
    async_gain: Annotated[
        Ratio,
        _told(
            "Async TP against blocking TP",
            "Products and their collectives in as many pieces as tensor-parallel GPUs.",
            "the same step, schedule 3 over schedule 4",
        ),
    ]
    wire_minimum: Annotated[
        Seconds,
        _told(
            "Data parallelism, wire minimum",
            "{sent} at the line rate of the link, {line_rate}, and nothing else.",
            "bytes over line rate",
            "communication",
        ),
    ]
    isolated: Annotated[
        Seconds,
        _told(
            "Data parallelism, collectives alone",
            "All collectives of data parallelism of a step, with the latencies, "
            "protocols and bandwidth of NCCL, one after the other.",
            "what a benchmark shows",
            "communication",
        ),
    ]
    waited: Annotated[
        Seconds,
        _told(
            "Data parallelism, exposed",
            "The time in which a collective of data parallelism runs and nothing else does: "
            "no computation, and no collective of tensor parallelism.",
            "what the step pays",
            "communication",
        ),
    ]
    work: Job
    outcomes: Mapping[str, Outcome]
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
def _simulated(setting: Setting) -> tuple[Job, Mapping[str, Outcome]]:
    work = job(setting)
    return work, outcomes(setting, work)


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    setting = setting_of(inputs)
    work, found = _simulated(setting)
    one = found[inputs.schedule]
    hidden = {name: hidden_share(each.communication, each.exposed) for name, each in found.items()}
    tensor_sent, tensor_messages = tensor_traffic(setting, work)
    return Result(
        step_time=one.step,
        exposed=one.exposed,
        contention=one.contention,
        hidden=hidden[inputs.schedule],
        residue=one.residue,
        gain=found["blocking"].step / one.step,
        async_gain=found["sharded"].step / found["async"].step,
        wire_minimum=one.sent / work.line_rate,
        isolated=one.isolated,
        waited=one.waited,
        work=work,
        outcomes=found,
        hidden_shares=hidden,
        computing=one.compute / one.step,
        residue_share=one.residue / one.step,
        sent=one.sent,
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


def _claim(text: str, reason: str, row: str) -> Published:
    return Published(
        text=f"a published page says: {text}", reason=reason, source="day1inference", claim=row
    )


_CLAIMS = {
    "hidden": _claim("hide 90%+", "It may well be so; see contention for what that costs.", "E0.8"),
    "residue": _claim(
        "latency disappears entirely",
        "The first gather, the last reduction, contention, bubble and jitter stay.",
        "E0.5",
    ),
    "async_gain": _claim(
        "TP cannot be overlapped",
        "Only the first and the last piece of each collective have nothing to run beside.",
        "E0.4",
    ),
}


def values(tell: Teller, inputs: Inputs, result: Result) -> dict[str, Value]:
    """Return the numbers of the schedule that is shown, and what the last one gains.

    Data parallelism comes in three numbers that are often taken for one another.
    """
    per_node = max(1, 8 // int(inputs.tensor_parallel))
    ports = "the port" if per_node == 1 else f"the {per_node} ports of a node that its ranks have"
    wire = "NVLink" if wire_of(result) == "NVLink" else ports
    _, *rest = tell.value("wire_minimum").receipt.assumptions
    line = f"{{sent}} at the line rate of {wire}, {{line_rate}}, and nothing else."
    return {
        "step_time": tell.value(
            "step_time",
            assumes=(*tell.value("step_time").receipt.assumptions, *unranged(result.work.evidence)),
        ),
        "exposed": tell.value("exposed", note=f"per step, {SCHEDULES[inputs.schedule]}"),
        **tell.values("contention"),
        "hidden": tell.value("hidden", published=_CLAIMS["hidden"]),
        "residue": tell.value("residue", published=_CLAIMS["residue"]),
        **tell.values("gain"),
        "async_gain": tell.value("async_gain", published=_CLAIMS["async_gain"]),
        "wire_minimum": tell.value("wire_minimum", assumes=(line, *rest)),
        **tell.values("isolated", "waited"),
    }


def regime(one: Outcome) -> Badge:
    """Return the largest part of the residue."""
    if not max(float(getattr(one, key)) for key in _PARTS):
        return Badge(
            text="Nothing but computation", sentence="No wire is waited for.", color="compute"
        )
    part = max(_PARTS, key=lambda key: float(getattr(one, key)))
    name, words = _PARTS[part]
    return Badge(
        text=name,
        sentence=say(
            f"{words}: {{t}}, {{s}} of the step, more than any other part of the residue.",
            t=(float(getattr(one, part)), SECONDS),
            s=(float(getattr(one, part)) / one.step, SHARE),
        ),
        color="compute" if part == "contention" else "communication",
    )


def strip_table(result: Result) -> Table:
    """Return exposed and step time of every schedule in figures."""
    rows = tuple(
        (
            SCHEDULES[name],
            say("{x}", x=(one.step, SECONDS)),
            say("{x}", x=(one.exposed, SECONDS)),
            say("{x}", x=(one.contention, SECONDS)),
            say("{x}", x=(result.hidden_shares[name], SHARE)),
            say("{x}", x=(one.residue / one.step, SHARE)),
        )
        for name, one in result.outcomes.items()
    )
    columns = ("Schedule", "Step", "Exposed", "Contention", "Hidden", "Residue")
    return Table(title="Five schedules in figures", columns=columns, rows=rows)


def traffic(tell: Teller, inputs: Inputs, result: Result) -> Table:
    """Return which axis sends what, on which wire, and what can hide it."""
    none: Text = "none: one GPU"
    reduced = inputs.schedule in ("blocking", "buckets")
    operation = "all-reduce" if reduced else "gathers, scatters"
    rows = (
        (
            "Tensor",
            "gathers, scatters" if result.tensor_sent else none,
            tell.say("{tensor_sent}"),
            tell.say("{tensor_messages}"),
            "yes, in every layer",
            "pieces, pairs",
            "NVLink",
        ),
        (
            "Data",
            operation if result.sent else none,
            tell.say("{sent}"),
            tell.say("{messages}"),
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
    tell = Teller(result, inputs)
    one = result.outcomes[inputs.schedule]
    return {
        **values(tell, inputs, result),
        "regime": regime(one),
        "stacked": partial(stacked, result.outcomes),
        "comparison": partial(comparison, result.outcomes),
        "residue_bars": partial(residue, result.outcomes),
        "timeline": partial(chosen, inputs.schedule, result.work, one),
        "figures": partial(strip_table, result),
        "traffic": partial(traffic, tell, inputs, result),
        "challenge": partial(challenge, inputs, one),
    }
