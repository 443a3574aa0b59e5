"""The numbers of the five schedules, what binds, and the wires' traffic."""

from engine.calculators.whole_runs.overlap_schedules.result import Result, wire_of
from engine.core.outputs import Teller
from engine.core.text import Text, say
from engine.core.units import SECONDS, SHARE
from engine.core.views import Badge, Published, Table, Value
from engine.form.overlap.inputs import SCHEDULES, Inputs
from engine.form.run.prediction_text import unranged
from engine.simulate.overlap.overlap_step import Outcome

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
