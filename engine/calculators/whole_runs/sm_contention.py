"""SM contention: what a collective takes from the products beside it, and what was measured."""

from dataclasses import dataclass
from typing import Annotated

from engine.basis.inputs import PERCENT, Number, Switch
from engine.basis.text import say
from engine.basis.units import COUNT, RATIO, SHARE, Ratio, Share
from engine.basis.views import Axis, Lines, Point, Published, Receipt, Rule, Series, Value, View
from engine.catalog.hardware import GPUS
from engine.form.fields import LabGpu
from engine.formulas.contention import CONTENTION, MOST_GAINED, contention, most_gained

TITLE = "The price of hiding"
QUESTION = "How much slower are products while a collective runs beside them?"
EQUATIONS = (CONTENTION, MOST_GAINED)
PRESETS = {
    "Copy engines carry the bytes": {"copy_engine": True},
    "40 multiprocessors": {"taken": 40},
}
_MOST = 40
MEASURED = {
    "measured_mean": ("Measured, mean", 0.189),
    "measured_largest": ("Measured, largest", 0.40),
    "sequential_mean": ("Not overlapping costs, mean", 0.102),
    "sequential_largest": ("Not overlapping costs, largest", 0.266),
}
ASYNC = {
    "async_forward_small": ("Async TP, forward, 7B", 0.29),
    "async_step_small": ("Async TP, whole step, 7B", 0.08),
    "async_forward_large": ("Async TP, forward, 70B", 0.20),
    "async_step_large": ("Async TP, whole step, 70B", 0.08),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    taken: Annotated[
        int,
        Number(
            label="Multiprocessors taken",
            low=0,
            high=_MOST,
            whole=True,
            symbol="s",
            help="By the kernels of the collective. DeepSeek-V3 set 20 of 132 apart.",
        ),
    ] = 20
    copy_engine: Annotated[
        bool,
        Switch(
            label="Copy engines move the bytes",
            help="Copies take no multiprocessors; they still read and write memory. Sums cannot.",
        ),
    ] = False
    beside: Annotated[
        float,
        Number(
            label="Computation with a collective beside it",
            unit=PERCENT,
            low=0.0,
            high=1.0,
            step=0.01,
            symbol="d",
        ),
    ] = 0.5
    memory: Annotated[
        float,
        Number(
            label="Memory bandwidth taken",
            unit=PERCENT,
            low=0.0,
            high=0.5,
            step=0.01,
            symbol="h",
            help="All bytes that links carry are read from memory and written to it.",
        ),
    ] = 0.1
    bound: Annotated[
        float,
        Number(
            label="Computation that waits for memory",
            unit=PERCENT,
            low=0.0,
            high=1.0,
            step=0.01,
            symbol="b",
            help="Norms, activations, additions: everything that is no product.",
        ),
    ] = 0.15
    gpu: LabGpu = "h100"


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    total = GPUS[inputs.gpu].sms
    taken = 0 if inputs.copy_engine else inputs.taken
    now = contention(taken, total, inputs.bound, inputs.memory)
    gain = most_gained(now, inputs.beside)
    symbols = {
        "c": (now, RATIO),
        "b": (inputs.bound, SHARE),
        "s": (float(taken), COUNT),
        "S": (float(total), COUNT),
        "h": (inputs.memory, SHARE),
        "d": (inputs.beside, SHARE),
        "g": (gain, RATIO),
    }
    linked = {"b": "bound", "s": "taken", "h": "memory", "d": "beside"}
    return {
        "slow_down": Value(
            label="Slow-down while it runs",
            value=now,
            quantity=SHARE,
            receipt=Receipt(
                equation=CONTENTION,
                symbols={key: symbols[key] for key in CONTENTION.symbols},
                inputs={key: linked[key] for key in ("b", "s", "h")},
                assumptions=("No power limit, no shared cache; both can make it worse.",),
            ),
            note=say("{s} of {n} multiprocessors gone", s=(taken, COUNT), n=(total, COUNT)),
            color="compute",
        ),
        "most_gained": Value(
            label="The most that removing it can gain",
            value=gain,
            quantity=RATIO,
            receipt=Receipt(
                equation=MOST_GAINED,
                symbols={key: symbols[key] for key in MOST_GAINED.symbols},
                inputs={"d": "beside"},
                assumptions=("A step that also waits for something gains less.",),
                published=Published(
                    text="a published page says: eliminating SM contention gives 1.5 to 2.6 times",
                    reason="2.6 is a communication kernel against NCCL's, not a training step.",
                    source="day1inference",
                    claim="E0.6",
                ),
            ),
            note="the whole step, nothing else changed",
        ),
        "curve": _curve(inputs, now, taken, total),
        **{key: _measured(*row) for key, row in MEASURED.items()},
        **{key: _async(*row) for key, row in ASYNC.items()},
    }


def _curve(inputs: Inputs, now: Ratio, taken: int, total: int) -> Lines:
    counts = tuple(range(_MOST + 1))
    slow = tuple(contention(s, total, inputs.bound, inputs.memory) for s in counts)
    products = tuple(contention(s, total, 0.0, 0.0) for s in counts)
    high = max(slow[-1], now, 0.42) * 1.1
    return Lines(
        title="Slow-down against multiprocessors taken",
        x=Axis(label="multiprocessors taken", quantity=COUNT, low=0.0, high=float(_MOST)),
        y=Axis(label="longer by", quantity=SHARE, low=0.0, high=high),
        series=(
            Series(key="all", label="all kernels", x=counts, y=slow, color="compute"),
            Series(
                key="products",
                label="products",
                x=counts,
                y=products,
                color="muted",
                dashed=True,
            ),
        ),
        points=(Point(key="now", label=say("{c}", c=(now, SHARE)), x=float(taken), y=now),),
        rules=tuple(
            Rule(
                key=key,
                label=MEASURED[key][0].lower(),
                axis="y",
                at=_of(key),
            )
            for key in ("measured_mean", "measured_largest")
        ),
        handle="taken",
        caption="Drag the handle. The two lines across were measured, not modelled.",
    )


def _of(key: str) -> Share:
    return MEASURED[key][1]


def _measured(label: str, value: Share) -> Value:
    return Value(
        label=label,
        value=value,
        quantity=SHARE,
        receipt=Receipt(
            basis="measured",
            assumptions=(
                "GPT and Llama models on 4 GPUs of one kind: A100, H100, MI210 or MI250.",
                "Slow-down of computation beside communication against computation alone; not "
                "overlapping is compared with the overlapped step.",
            ),
            sources=("lee2025",),
        ),
        note="published measurement, not of your inputs",
    )


def _async(label: str, value: Share) -> Value:
    return Value(
        label=label,
        value=value,
        quantity=SHARE,
        receipt=Receipt(
            basis="measured",
            assumptions=("Up to so much faster than blocking tensor parallelism, Llama 3.",),
            sources=("async_tp2024",),
        ),
        note="published measurement: up to so much faster",
    )
