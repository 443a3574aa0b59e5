"""SM contention: slowdown of matrix products by a concurrent collective, with measurements."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.hardware import GPUS
from engine.core.inputs import PERCENT, Number, Switch
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import COUNT, RATIO, SHARE, Count, Ratio, Share
from engine.core.views import Line, Lines, Point, Published, Receipt, Rule, Scale, Value
from engine.form.fields import LabGpu
from engine.formulas.contention import CONTENTION, MOST_GAINED, contention, most_gained

TITLE = "The price of hiding"
QUESTION = "How much slower are products while a collective runs beside them?"
HEADLINE = "slow_down"
EQUATIONS = (CONTENTION, MOST_GAINED)
PRESETS = {
    "Copy engines carry the bytes": {"copy_engine": True},
    "40 multiprocessors": {"taken": 40},
}
_MOST = 40
_COUNTS = tuple(range(_MOST + 1))
MEASURED = {
    "measured_mean": ("Measured, mean", 0.189),
    "measured_largest": ("Measured, largest", 0.40),
    "sequential_mean": ("Not overlapping costs, mean", 0.102),
    "sequential_largest": ("Not overlapping costs, largest", 0.266),
}
ASYNC = {
    "async_forward_small": ("Async TP, forward, 8B", 0.29),
    "async_step_small": ("Async TP, whole step, 8B", 0.08),
    "async_forward_large": ("Async TP, forward, 70B", 0.20),
    "async_step_large": ("Async TP, whole step, 70B", 0.08),
}
_BESIDE = Receipt(
    basis="measured",
    assumptions=(
        "GPT and Llama models on 4 GPUs of one kind: A100, H100, MI210 or MI250.",
        "Slowdown of computation beside communication against computation alone; not "
        "overlapping is compared with the overlapped step.",
    ),
    sources=("lee2025",),
)
_ASYNC_TP = Receipt(
    basis="measured",
    assumptions=("Up to this much faster than blocking tensor parallelism, Llama 3.",),
    sources=("async_tp2024",),
)
_CLAIM = Published(
    text="a published page says: eliminating SM contention gives 1.5 to 2.6 times",
    reason="2.6 is a communication kernel against NCCL's, not a training step.",
    source="day1inference",
    claim="E0.6",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

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
            help="NCCL_CTA_POLICY=ZERO, for buffers registered as symmetric windows. Copies take "
            "no multiprocessors but still read and write memory. Sums cannot be copied.",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The slowdown, the upper bound of its removal, and the slowdown by taken SMs."""

    slow_down: Annotated[
        Share,
        Output(
            "Slowdown while it runs",
            "c",
            "{gone} of {total} multiprocessors gone",
            color="compute",
            assumes=("No power limit, no shared cache; both can make it worse.",),
        ),
    ]
    most_gained: Annotated[
        Ratio,
        Output(
            "The most that removing it can gain",
            "g",
            "the whole step, nothing else changed",
            assumes=("A step that also waits for something gains less.",),
        ),
    ]
    gone: Count
    total: Annotated[int, COUNT, Output(symbol="S")]
    all_kernels: tuple[Share, ...]
    products: tuple[Share, ...]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    total = GPUS[inputs.gpu].sms
    gone = 0 if inputs.copy_engine else inputs.taken
    now = contention(gone, total, inputs.bound, inputs.memory)
    return Result(
        slow_down=now,
        most_gained=most_gained(now, inputs.beside),
        gone=gone,
        total=total,
        all_kernels=tuple(contention(s, total, inputs.bound, inputs.memory) for s in _COUNTS),
        products=tuple(contention(s, total, 0.0, 0.0) for s in _COUNTS),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result, equations=EQUATIONS)
    slower = {"c": (result.slow_down, RATIO)}  # in an equation of ratios
    taken = "taken" if result.gone == inputs.taken else "gone"
    return {
        "slow_down": present.value("slow_down", symbols=slower | {"s": taken}),
        "most_gained": present.value("most_gained", symbols=slower, published=_CLAIM),
        "curve": partial(_curve, present, result),
        **{
            key: _published(*row, _BESIDE, "published measurement, not of your inputs")
            for key, row in MEASURED.items()
        },
        **{
            key: _published(*row, _ASYNC_TP, "published measurement: up to this much faster")
            for key, row in ASYNC.items()
        },
    }


def _published(label: str, share: Share, receipt: Receipt, note: str) -> Value:
    return Value(label=label, value=share, quantity=SHARE, receipt=receipt, note=note)


def _curve(present: Presenter, result: Result) -> Lines:
    now = result.slow_down
    return present.curve(
        "Slowdown against multiprocessors taken",
        over=Scale("gone", "multiprocessors taken", 0.0, float(_MOST)),
        shows=Scale("slow_down", "longer by", 0.0, max(result.all_kernels[-1], now, 0.42) * 1.1),
        x=_COUNTS,
        lines=(
            Line("all", "all kernels", result.all_kernels, "compute"),
            Line("products", "products", result.products, "muted", dashed=True),
        ),
        handle="taken",
        marked=False,
        points=(Point(key="now", label=present.say("{slow_down}"), x=result.gone, y=now),),
        rules=tuple(
            Rule(key=key, label=MEASURED[key][0].lower(), axis="y", at=MEASURED[key][1])
            for key in ("measured_mean", "measured_largest")
        ),
        caption="Drag the handle. The two lines across were measured, not modeled.",
    )
