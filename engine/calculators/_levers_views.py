"""What the levers show: the tornado, the table behind it, advice, Amdahl's curve, a challenge."""

from dataclasses import replace
from functools import cache

from engine.calculators._levers import exposed
from engine.calculators._levers_accuracy import GAIN_ERROR, PAIRS
from engine.calculators._levers_inputs import Inputs, as_run
from engine.calculators._levers_model import Gain, Job
from engine.equation import Equation
from engine.inputs import Scalar
from engine.simulate.step_time import step_time
from engine.text import Text, say
from engine.units import COUNT, RATIO, SECONDS, SHARE, Gbit, Ratio, Share
from engine.views import (
    Advice,
    Axis,
    Badge,
    Bar,
    Bars,
    Cell,
    Challenge,
    Cite,
    Condition,
    Lines,
    Point,
    Receipt,
    Remedy,
    Segment,
    Series,
    Table,
    Value,
)

AMDAHL = Equation(
    name="amdahl",
    tex=r"\v{g} = \frac{1}{1 - \v{e}\left(1 - \frac{1}{\v{k}}\right)} - 1",
    symbols={
        "g": ("g", "by how much the step gets faster"),
        "e": ("e", "share of the step that gets faster"),
        "k": ("k", "how many times as fast"),
    },
    sources=("amdahl1967",),
)
_FAMILIES = {
    "setting": ("setting", "compute"),
    "plan": ("plan", "communication"),
    "machine": ("machine", "memory"),
    "waiting": ("waiting", "muted"),
}
_SHOWN = 12
START: dict[str, Scalar] = {
    "model": "llama-3-70b",
    "gpu": "H100-SXM",
    "world_size": 256,
    "sequence_length": 8192,
    "global_batch_size": 256,
    "micro_batch_size": 1,
    "tensor_parallel": 8,
    "pipeline_parallel": 4,
    "virtual_pipeline": 1,
    "context_parallel": 1,
    "zero_stage": "1",
    "recompute": "full",
    "precision": "bf16",
    "nic_bandwidth": 400 * Gbit,
    "nics_per_node": 8,
    "overlap_tensor_parallel": False,
}


def amdahl(share: Share, factor: Ratio) -> Ratio:
    """Return the speed-up of a step of which `share` gets `factor` times as fast.

    Source: Amdahl 1967.
    """
    return 1 / (1 - share * (1 - 1 / factor))


def band() -> Text:
    """Return how well such gains were predicted."""
    return say(
        "On {n} pairs of published runs that differ in one setting, the ratio of their speeds was "
        "predicted within {e} in eight of ten.",
        n=(PAIRS, COUNT),
        e=(GAIN_ERROR, SHARE),
    )


def step_value(found: Job) -> Value:
    """Return the step as it is."""
    return Value(
        label="Step now",
        value=found.step.total,
        quantity=SECONDS,
        receipt=Receipt(
            assumptions=(
                "The cost model, whose constants are fitted to published runs.",
                *found.changes,
                band(),
            ),
        ),
    )


def exposed_value(found: Job) -> Value:
    """Return the share of the step that waits for communication."""
    return Value(
        label="Waiting for communication",
        value=found.exposed_share,
        quantity=SHARE,
        receipt=Receipt(assumptions=("Exposed communication over the step; the rest is hidden.",)),
        note=say("{t} of the step", t=(exposed(found.step), SECONDS)),
        color="communication",
    )


def tornado(found: Job) -> Bars:
    """Return the levers as bars, the largest gain first, with the model's error."""
    shown = [gain for gain in found.gains if gain.gain > 1][:_SHOWN] or list(found.gains[:1])
    return Bars(
        title="What each lever gives",
        axis=Axis(
            label="faster by",
            quantity=SHARE,
            low=0.0,
            high=max(0.1, 1.05 * max(gain.high - 1 for gain in shown)),
        ),
        bars=tuple(_bar(gain) for gain in shown),
        caption="One lever at a time. Blue: a setting; orange: the plan; green: another machine; "
        "gray: only less waiting. The thin line spans the error of such predictions.",
    )


def _bar(gain: Gain) -> Bar:
    label, color = _FAMILIES[gain.lever.family]
    name = gain.lever.label if gain.fits else f"{gain.lever.label} (does not fit)"
    return Bar(
        key=gain.lever.key,
        label=name,
        segments=(
            Segment(key=gain.lever.key, label=label, value=max(0.0, gain.gain - 1), color=color),
        ),
        links=(f"lever:{gain.lever.key}",),
        low=max(0.0, gain.low - 1),
        high=max(0.0, gain.high - 1),
    )


def table(found: Job) -> Table:
    """Return every lever with its gain, its price and the evidence."""
    rows: list[tuple[Cell, ...]] = [
        (
            gain.lever.label,
            _FAMILIES[gain.lever.family][0],
            say("{g}", g=(gain.gain, RATIO)),
            say("{low} to {high}", low=(gain.low, RATIO), high=(gain.high, RATIO)),
            "yes" if gain.fits else "no",
            gain.lever.side,
            gain.lever.evidence or "modelled",
            Cite(gain.lever.sources),
        )
        for gain in found.gains
    ]
    rows += [
        (
            lever.label,
            _FAMILIES[lever.family][0],
            "does not apply",
            "",
            "",
            lever.side,
            lever.evidence or "modelled",
            Cite(lever.sources),
        )
        for lever in found.idle
    ]
    return Table(
        title="All levers",
        columns=("Lever", "What changes", "Speed", "Range", "Fits", "Price", "Evidence", "Sources"),
        rows=tuple(rows),
        caption=band(),
        links=tuple(
            (f"lever:{lever.key}",)
            for lever in (*(gain.lever for gain in found.gains), *found.idle)
        ),
    )


def first(found: Job) -> Badge:
    """Return the lever that comes first, and whether it stands out of the error."""
    usable = [gain for gain in found.gains if gain.fits] or list(found.gains)
    best, second = usable[0], usable[min(1, len(usable) - 1)]
    clear = best.low > second.gain
    more = (
        "ahead of everything else by more than the error of the model."
        if clear
        else "but the next ones lie within the error of the model: try them too."
    )
    return Badge(
        text=best.lever.label,
        sentence=say(f"{{gain}} as fast, {more}", gain=(best.gain, RATIO)),
        color="compute",
    )


def advice(found: Job) -> Advice:
    """Return the three best levers that a change of inputs pulls, to apply and to undo."""
    usable = [
        gain for gain in found.gains if gain.change and gain.alike and gain.fits and gain.gain > 1
    ]
    return Advice(
        title="Pull one",
        verdict=say(
            "{share} of the step waits for communication.", share=(found.exposed_share, SHARE)
        ),
        figure="step_time",
        now=found.step.total,
        quantity=SECONDS,
        remedies=tuple(
            Remedy(
                key=gain.lever.key,
                label=gain.lever.label,
                change=gain.change,
                after=gain.step,
                side_effect=gain.lever.side,
            )
            for gain in usable[:3]
        ),
    )


def amdahl_curve(inputs: Inputs, found: Job) -> Lines:
    """Return what faster communication gives, by the share of the step that waits for it."""
    shares = tuple(i / 50 for i in range(46))
    here = found.exposed_share
    return Lines(
        title="A faster part, a hardly faster step",
        x=Axis(label="share that gets faster", quantity=SHARE, low=0.0, high=0.9),
        y=Axis(label="speed of the step", quantity=RATIO, low=1.0, high=4.0),
        series=tuple(
            Series(
                key=f"k{factor:g}",
                label=f"{factor:g} times as fast",
                x=shares,
                y=tuple(amdahl(share, factor) for share in shares),
                color=color,
            )
            for factor, color in ((1.5, "muted"), (inputs.kernel_gain, "communication"))
        ),
        points=(
            Point(
                key="you",
                label="your job",
                x=min(here, 0.9),
                y=min(4.0, amdahl(here, inputs.kernel_gain)),
            ),
        ),
        caption="What does not get faster stays, however fast the rest becomes.",
    )


def amdahl_value(label: str, share: Share, factor: Ratio) -> Value:
    """Return the speed-up of a step of which `share` gets `factor` times as fast."""
    speed = amdahl(share, factor)
    return Value(
        label=label,
        value=speed - 1,
        quantity=SHARE,
        receipt=Receipt(
            equation=AMDAHL,
            symbols={"g": (speed - 1, SHARE), "e": (share, SHARE), "k": (factor, RATIO)},
        ),
    )


def challenge(found: Job) -> Challenge:
    """Return the goal: faster by half on the same GPUs, with the same batch, in memory."""
    rate = found.run.training.global_batch_size / found.step.total
    return Challenge(
        title="Half as fast again",
        goal="Bring this 70B job on 256 H100 to one and a half times its speed with bf16, the same "
        "256 sequences in a step, and no other machine.",
        conditions=(
            Condition(
                text=say("at least {n} of the speed at the start", n=(1.5, RATIO)),
                met=rate >= 1.5 * _start_rate(),
            ),
            Condition(text="it fits", met=found.fits),
            Condition(
                text="Llama 3 70B, 256 H100 with 400 Gb/s, bf16, 256 sequences of 8,192",
                met=_same_job(found),
            ),
        ),
        hints=(
            "What does the first bar of the tornado cost, and is there room for it?",
            "Tensor parallelism makes waits and small products; how little of it does still fit?",
            "A bubble shrinks with pieces or with fewer stages.",
        ),
        start=START,
        solution={
            "recompute": "none",
            "overlap_tensor_parallel": True,
            "virtual_pipeline": 5,
        },
    )


@cache
def _start_rate() -> float:
    """Return the sequences per second that the challenge starts from."""
    run, _ = as_run(replace(Inputs(), **START))  # type: ignore[arg-type]
    step = step_time(run.model, run.cluster, run.plan, run.training)
    return run.training.global_batch_size / step.total


def _same_job(found: Job) -> bool:
    run = found.run
    return (
        run.model.name == "Llama 3 70B"
        and run.plan.world_size == 256
        and run.cluster.gpu.name.startswith("H100")
        and run.cluster.nic_bandwidth == 50e9
        and run.cluster.nics_per_node == 8
        and run.training.precision == "bf16"
        and run.training.global_batch_size == 256
        and run.training.sequence_length == 8192
    )
