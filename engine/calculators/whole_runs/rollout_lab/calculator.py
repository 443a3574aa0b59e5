"""A step of reinforcement learning: who generates, who trains, and who waits."""

from collections.abc import Iterator, Mapping
from functools import partial

from engine.calculators.whole_runs.rollout_lab.result import (
    JOB,
    MINUTE,
    MODE_NAMES,
    SPLITS,
    SPREAD,
    SPREADS,
    Inputs,
    Result,
)
from engine.calculators.whole_runs.rollout_lab.result import SHARE as SHARES
from engine.calculators.whole_runs.rollout_lab.result import search as search
from engine.calculators.whole_runs.rollout_lab.result import solve as solve
from engine.catalog.rollout_steps import SOURCE
from engine.core.inputs import Scalar
from engine.core.outputs import Presenter, Views
from engine.core.slices import Slices
from engine.core.text import say
from engine.core.units import COUNT, SECONDS, SHARE, Seconds
from engine.core.views import (
    Axis,
    Badge,
    Bar,
    Bars,
    Cell,
    Challenge,
    Citation,
    Condition,
    Lane,
    Line,
    Lines,
    Rule,
    Scale,
    Segment,
    Series,
    Span,
    Table,
    Timeline,
)
from engine.simulate.job.reinforcement import MODES, RlMode, RlStep

TITLE = "A step of reinforcement learning"
QUESTION = "Which GPUs idle while others generate?"
HEADLINE = "step"
EQUATIONS = ()
PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "All equally long": {"spread": 0.0},
    "Apart, one step off": {"mode": "one_step_off"},
    "verl's 7B on 64 H20": {"world_size": 64, **JOB},
    "32B on 64 H100": {"model": "qwen2.5-32b", "world_size": 64, "engine": "4"},
}
START: Mapping[str, Scalar] = {"mode": "separate", "share": 0.5, "spread": 1.0, "world_size": 32}
SOLUTION: Mapping[str, Scalar] = {**START, "mode": "colocated", "engine": "8"}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the timeline, the numbers and the curves."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "timeline": partial(timeline, result.steps[inputs.mode]),  # type: ignore[index]
        **present.values("step", "idle"),
        "regime": _regime(present, inputs, result),
        **present.values("generation", "tail", "learning", "update", "rate", "stale"),
        **present.values("mean", "over_mean"),
        "tail_curve": partial(tail, present, inputs, result),
        "survivors": partial(survivors, result),
        "measured": partial(measured, result),
        "placements": partial(placements, result),
        "split": partial(split, present, inputs, result),
        "challenge": partial(_challenge, inputs, result),
    }


def _regime(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    if inputs.mode == "colocated" and not result.fit.runs:
        return Badge(
            text="Does not fit",
            sentence="One of the two phases needs more than a GPU has; see the memory below.",
            color="bad",
        )
    together = inputs.mode in ("colocated", "separate")
    if together and result.tail > 0.25 * result.generation:
        return Badge(
            text="The longest responses set the step",
            sentence=present.say("For {tail} of {generation} at least half of the engines wait."),
            color="communication",
        )
    if result.generation > result.learning:
        return Badge(
            text="Generation binds",
            sentence=present.say(
                "It takes {generation}, log-probabilities and training {learning}."
            ),
            color="communication",
        )
    return Badge(
        text="Training binds",
        sentence=present.say(
            "It takes {learning} with its passes before, generation {generation}."
        ),
        color="compute",
    )


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    same = Inputs(mode=inputs.mode, engine=inputs.engine, share=inputs.share) == inputs
    return Challenge(
        title="Challenge: on policy, and at work",
        goal="32 H100 train Qwen2.5 7B on 1,024 responses per step, half of them generating, in "
        "turn. Bring the idle time below 30 percent without training on old responses.",
        conditions=(
            Condition(text="the same model, GPUs, responses and lengths", met=same),
            Condition(text="less than 30 percent of the GPU time is idle", met=result.idle < 0.3),
            Condition(text="no response is behind an update", met=result.stale == 0),
        ),
        hints=(
            "In turn, one half of the cluster always waits for the other.",
            "The longest response waits for its own tokens, one after another. What makes one "
            "token faster?",
        ),
        start=START,
        solution=SOLUTION,
    )


# The charts of the lab: the tail, the survivors, the split, and all placements.


def tail(present: Presenter, inputs: Inputs, result: Result) -> Slices[Lines]:
    """Compute the chart of generation time over the length spread."""
    curve = yield from result.tail_curve.rest()
    now = curve.now
    return present.curve(
        "Generation over the spread of the lengths, all GPUs generating",
        over=Scale(COUNT, "spread", SPREAD[0], SPREAD[1]),
        shows=Scale(SECONDS, "time", 0.0, 1.1 * max(*curve.last, now)),
        x=SPREADS,
        lines=(
            Line("last", "last engine", curve.last, "communication"),
            Line("mean", "mean engine", curve.even, "compute"),
        ),
        handle="spread",
        at=now,
        caption="Between the curves GPUs wait. The median stays as it is; a wider spread makes the "
        "mean longer too.",
    )


def survivors(result: Result) -> Lines:
    """Return the share of unfinished responses over time."""
    times, shares = zip(*result.survivors(), strict=True)
    return Lines(
        title="Responses that still run",
        x=Axis(label="time", quantity=SECONDS, low=0.0, high=times[-1]),
        y=Axis(label="still running or waiting", quantity=SHARE, low=0.0, high=1.0),
        series=(
            Series(
                key="running",
                label="of all responses",
                x=times,
                y=shares,
                color="communication",
            ),
        ),
        rules=(Rule(key="one", label="one in a hundred", axis="y", at=0.01, color="muted"),),
        caption="A synchronous step ends where the curve reaches zero.",
    )


def split(present: Presenter, inputs: Inputs, result: Result) -> Slices[Lines]:
    """Compute step time over the share of generating GPUs, one step off and as a stream."""
    modes: tuple[tuple[RlMode, str, str], ...] = (
        ("separate", "in turn", "tensor"),
        ("one_step_off", "one step off", "communication"),
        ("stream", "a stream", "compute"),
    )
    curve = yield from result.split.rest()
    colocated, now = result.steps["colocated"].total, curve.now
    most = max(*map(max, curve.steps.values()), colocated, now)
    return present.curve(
        "A step over the share of the GPUs that generate",
        over=Scale(SHARE, "GPUs that generate", SHARES[0], SHARES[1]),
        shows=Scale(SECONDS, "step", 0.0, 1.1 * most),
        x=SPLITS,
        lines=(Line(mode, name, curve.steps[mode], color) for mode, name, color in modes),
        handle="share",
        at=now,
        rules=(Rule(key="same", label="same GPUs", axis="y", at=colocated),),
        caption=say(
            f"{MODE_NAMES[curve.mode]}: with {{share}} of them generating, a step takes {{t}}. "
            "Toward the left end too few GPUs generate; toward the right end too few train.",
            share=(inputs.share, SHARE),
            t=(now, SECONDS),
        ),
    )


def placements(result: Result) -> Bars:
    """Return the breakdown of a step's GPU time by placement."""
    bars = []
    for mode in MODES:
        step, world = result.steps[mode], result.setup.world_size
        generating = world if mode == "colocated" else result.setup.generating
        trainers = world if mode == "colocated" else world - generating
        learning = trainers * (step.forwards + step.training) / world
        moved = step.update
        idle = step.idle * step.total
        parts = (
            ("generation", "generating", step.total - idle - moved - learning, "communication"),
            ("learning", "log-probabilities and training", learning, "compute"),
            ("update", "new weights", moved, "parameters"),
            ("idle", "idle", idle, "idle"),
        )
        bars.append(
            Bar(
                key=mode,
                label=MODE_NAMES[mode],
                segments=tuple(
                    Segment(key=key, label=label, value=max(0.0, value), color=color)
                    for key, label, value, color in parts
                ),
            )
        )
    most = max(step.total for step in result.steps.values())
    return Bars(
        title="What the mean GPU does in a step",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=1.05 * most),
        bars=tuple(bars),
        caption="At the split that is set. The length of a bar is the step.",
    )


# Published and simulated steps of a job on three clusters.


def measured(result: Result) -> Table:
    """Return published steps beside simulated ones, in two placements."""
    rows: list[tuple[Cell, ...]] = []
    for row in result.published():
        seen, simulated = row.measured, row.simulated
        learning = seen.forwards + seen.training, simulated.forwards + simulated.training
        generation = seen.generation, simulated.generation if seen.generation else 0.0
        pairs = (seen.step, simulated.total), generation, learning
        times = (_minutes(time) for pair in pairs for time in pair)
        name = "same GPUs" if seen.mode == "colocated" else "a stream"
        rows.append((f"{seen.world_size} GPUs, {name}", *times, Citation((SOURCE,))))
    return Table(
        title="Measured and simulated, in minutes",
        columns=(
            "Cluster",
            "Step, measured",
            "Step, simulated",
            "Generation, measured",
            "Generation, simulated",
            "Training, measured",
            "Training, simulated",
            "Measured by",
        ),
        rows=tuple(rows),
        caption="Generation until the last response is done, where GPUs are the same; training "
        "with the log-probabilities before it, of which a stream has none. A stream has one half "
        "of the GPUs for either.",
    )


def _minutes(time: Seconds) -> str:
    return f"{time / MINUTE:.2f} min" if time else "\u2013"


# Timeline of two steps: work and waits of some engines and the trainers.

_SHOWN = 6


def timeline(step: RlStep) -> Timeline:
    """Return the timeline of two steps; engines in order of completion."""
    ends = sorted(engine.end for engine in step.engines)
    count = min(_SHOWN, len(ends))
    shown = [ends[round(i * (len(ends) - 1) / max(1, count - 1))] for i in range(count)]
    if step.mode == "stream":
        shown = [step.total - step.update] * count
    apart = step.mode != "colocated"
    names = [f"engine {i + 1}" for i in range(count)]
    lanes = [Lane(key=name, label=name) for name in names]
    if apart:
        lanes.append(Lane(key="train", label="training"))
    spans: list[Span] = []
    for number in range(2):
        start = number * step.total
        spans += _step(step, number, start, list(zip(names, shown, strict=True)))
    return Timeline(
        title="Two steps",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=2.04 * step.total),
        lanes=tuple(lanes),
        spans=tuple(spans),
        caption="Six engines, from the one that is done first to the one that is done last. "
        "Hatched: a GPU that waits.",
        keys=(
            ("generating", "communication"),
            ("log-probabilities and training", "compute"),
            ("new weights", "parameters"),
        ),
        player=True,
    )


def _step(
    step: RlStep, number: int, start: Seconds, engines: list[tuple[str, Seconds]]
) -> Iterator[Span]:
    learning = step.forwards + step.training
    begin = start + (step.generation if step.mode in ("colocated", "separate") else 0.0)
    end = start + step.total
    for name, generated in engines:
        yield _span(
            f"g{number}{name}", name, (start, start + generated), "generate", "communication"
        )
        if step.mode == "colocated":
            yield _span(f"t{number}{name}", name, (begin, begin + learning), "train", "compute")
        yield _span(f"u{number}{name}", name, (end - step.update, end), "", "parameters")
    if step.mode != "colocated":
        which = f"train on step {number if step.mode != 'separate' else number + 1}"
        yield _span(f"t{number}", "train", (begin, begin + learning), which, "compute")
        yield _span(f"u{number}", "train", (end - step.update, end), "", "parameters")


def _span(key: str, lane: str, when: tuple[Seconds, Seconds], label: str, color: str) -> Span:
    return Span(
        key=key,
        lane=lane,
        start=when[0],
        end=when[1],
        label=label,
        color=color,
        called=label or "new weights",
    )
