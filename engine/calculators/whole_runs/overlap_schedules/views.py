"""The numbers of the five schedules, what binds, and the wires' traffic."""

from collections.abc import Mapping

from engine.basis.text import Text, say
from engine.basis.units import BYTES, COUNT, LINK_SPEED, RATIO, SECONDS, SHARE, Quantity
from engine.basis.views import Badge, Published, Receipt, Table, Value
from engine.form.overlap.inputs import SCHEDULES, Inputs
from engine.form.overlap.model import Job, Outcome
from engine.formulas.overlap import hidden_share
from engine.simulate.streams import SCALE_UP

_PARTS = {
    "exposed": ("Exposed communication", "Computation waits for wires"),
    "contention": ("Contention", "Computation shares the GPU with collectives"),
    "bubble": ("Pipeline bubble", "Stages wait for the first and the last micro-batch"),
    "slowest": ("Slowest GPU", "All wait for the last one"),
}
_SIMULATED: Text = (
    "One stage of the pipeline, simulated for one and for two micro-batches; each further one adds "
    "what the second added."
)
_LEFT_OUT: Text = (
    "Layers only: embedding, output layer, optimizer and messages between stages are left out."
)
_MEANING: Text = (
    "Exposed: a collective runs and the GPU computes nothing. Hidden: it runs beside computation."
)


def receipt(*assumptions: Text, published: Published | None = None) -> Receipt:
    """Return the receipt of a simulated number."""
    return Receipt(
        basis="simulated",
        assumptions=(*assumptions, _SIMULATED, _LEFT_OUT),
        sources=("hta", "rajbhandari2020", "li2020"),
        published=published,
    )


def values(inputs: Inputs, work: Job, found: Mapping[str, Outcome]) -> dict[str, Value]:
    """Return the numbers of the schedule that is shown, and what the last one gains."""
    one, first = found[inputs.schedule], found["blocking"]
    hidden = hidden_share(one.communication, one.exposed)
    name = SCHEDULES[inputs.schedule]
    return {
        "step_time": Value(
            label="Step",
            value=one.step,
            quantity=SECONDS,
            receipt=receipt("Compute, contention, exposed communication, bubble, slowest GPU."),
            note=say("{c} of it computing", c=(one.compute / one.step, SHARE)),
        ),
        "exposed": Value(
            label="Exposed communication",
            value=one.exposed,
            quantity=SECONDS,
            receipt=receipt(_MEANING),
            note=f"per step, {name}",
            color="communication",
        ),
        "contention": Value(
            label="Contention",
            value=one.contention,
            quantity=SECONDS,
            receipt=receipt(
                say(
                    "While a collective runs, computation takes {c} longer.",
                    c=(inputs.slow_down, SHARE),
                )
            ),
            note="what hiding costs the computation",
            color="compute",
        ),
        "hidden": Value(
            label="Hidden share",
            value=hidden,
            quantity=SHARE,
            receipt=receipt(
                _MEANING,
                published=_claim(
                    "hide 90%+", "It may well be so; see contention for what that costs.", "E0.8"
                ),
            ),
            note="of the communication",
        ),
        "residue": Value(
            label="Residue",
            value=one.residue,
            quantity=SECONDS,
            receipt=receipt(
                "Step minus its computation alone.",
                published=_claim(
                    "latency disappears entirely",
                    "The first gather, the last reduction, contention, bubble and jitter stay.",
                    "E0.5",
                ),
            ),
            note=say("{s} of the step", s=(one.residue / one.step, SHARE)),
        ),
        "gain": Value(
            label="Against blocking",
            value=first.step / one.step,
            quantity=RATIO,
            receipt=receipt("Step of the blocking schedule over the step of the one shown."),
            note="as fast",
        ),
        "async_gain": Value(
            label="Async TP against blocking TP",
            value=found["sharded"].step / found["async"].step,
            quantity=RATIO,
            receipt=receipt(
                "Products and their collectives in as many pieces as tensor-parallel GPUs.",
                published=_claim(
                    "TP cannot be overlapped",
                    "Only the first and the last piece "
                    "of each collective have nothing to run beside.",
                    "E0.4",
                ),
            ),
            note="the same step, schedule 3 over schedule 4",
        ),
        **_strip(work, one),
    }


def _claim(text: str, reason: str, row: str) -> Published:
    return Published(
        text=f"a published page says: {text}", reason=reason, source="day1inference", claim=row
    )


def _strip(work: Job, one: Outcome) -> dict[str, Value]:
    """Return data parallelism in three numbers that are often taken for one another."""
    wire = "NVLink" if work.stream == SCALE_UP else "the port"
    rate: tuple[float, Quantity] = (work.line_rate, LINK_SPEED)
    return {
        "wire_minimum": Value(
            label="Wire minimum",
            value=one.sent / work.line_rate,
            quantity=SECONDS,
            receipt=receipt(
                say(
                    f"{{s}} at the line rate of {wire}, {{r}}, and nothing else.",
                    s=(one.sent, BYTES),
                    r=rate,
                )
            ),
            note="bytes over line rate",
            color="communication",
        ),
        "isolated": Value(
            label="Collectives alone",
            value=one.isolated,
            quantity=SECONDS,
            receipt=receipt(
                "All collectives of data parallelism of a step, with the latencies, "
                "protocols and bandwidth of NCCL, one after the other."
            ),
            note="what a benchmark shows",
            color="communication",
        ),
        "waited": Value(
            label="Exposed in the step",
            value=one.waited,
            quantity=SECONDS,
            receipt=receipt(
                "The time in which a collective of data parallelism runs, nothing is computed, and "
                "tensor parallelism, which would be to blame otherwise, is silent."
            ),
            note="what the step pays",
            color="communication",
        ),
    }


def regime(one: Outcome) -> Badge:
    """Return the largest part of the residue."""
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


def strip_table(inputs: Inputs, work: Job, found: Mapping[str, Outcome]) -> Table:
    """Return exposed and step time of every schedule in figures."""
    rows = []
    for name, one in found.items():
        share = hidden_share(one.communication, one.exposed)
        rows.append(
            (
                SCHEDULES[name],
                say("{x}", x=(one.step, SECONDS)),
                say("{x}", x=(one.exposed, SECONDS)),
                say("{x}", x=(one.contention, SECONDS)),
                say("{x}", x=(share, SHARE)),
                say("{x}", x=(one.residue / one.step, SHARE)),
            )
        )
    columns = ("Schedule", "Step", "Exposed", "Contention", "Hidden", "Residue")
    return Table(title="Five schedules in figures", columns=columns, rows=tuple(rows))


def traffic(inputs: Inputs, work: Job, found: Mapping[str, Outcome]) -> Table:
    """Return which axis sends what, on which wire, and what can hide it."""
    tensor = 4 * work.work.layers * work.work.tensor_size * inputs.num_microbatches
    messages = 8 * work.work.layers * work.layers * inputs.num_microbatches
    data = found[inputs.schedule]
    wire = "NVLink" if work.stream == SCALE_UP else "network"
    none: Text = "none: one GPU"
    rows = (
        (
            "Tensor",
            "gathers, scatters" if tensor else none,
            say("{s}", s=(tensor, BYTES)),
            say("{n}", n=(messages if tensor else 0, COUNT)),
            "yes, in every layer",
            "pieces, pairs",
            "NVLink",
        ),
        (
            "Data",
            _operation(inputs) if data.sent else none,
            say("{s}", s=(data.sent, BYTES)),
            _units(inputs, work, found),
            "first and last",
            "buckets, prefetch",
            wire,
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


def _operation(inputs: Inputs) -> str:
    return "all-reduce" if inputs.schedule in ("blocking", "buckets") else "gathers, scatters"


def _units(inputs: Inputs, work: Job, found: Mapping[str, Outcome]) -> Text:
    spans = found[inputs.schedule].spans
    ours = [
        s
        for s in spans
        if s.op.stream == work.stream and ":gather" not in s.op.key and ":scatter" not in s.op.key
    ]
    once = inputs.schedule in ("blocking", "buckets")
    seen = min(2, inputs.num_microbatches)
    count = len(ours) if once else len(ours) / seen * inputs.num_microbatches
    return say("{n}", n=(round(count), COUNT))
