"""The model behind the schedule lab: the reader's schedule played, and all others beside it."""

from dataclasses import dataclass, replace
from types import ModuleType

from engine.basis import discover
from engine.basis.units import Bytes, Count, Ratio, Seconds, Share
from engine.calculators.splitting_the_model.schedule_lab.inputs import Inputs, schedules
from engine.simulate.pipeline import PACKAGE, Run, Times, simulate
from engine.simulate.pipeline_measures import idle_over_ideal, idle_share, peak_activations

# More operations than these would take seconds in a browser: of the reader's own schedule, of each
# that stands beside it, and of the longer of two runs that one of those is drawn out from.
_LARGEST, _LARGEST_BESIDE, _LARGEST_DRAWN = 70_000, 3_000, 13_000
_LONGEST = 256  # micro-batches


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """With which numbers a schedule is played.

    Attributes:
        reason: why not with the reader's own, if so.
        refused: whether the schedule itself cannot run with those.
    """

    pipeline_parallel: Count
    num_microbatches: Count
    num_chunks: Count
    reason: str = ""
    refused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A schedule, played.

    Attributes:
        step: from one step to the next.
        share: idle time of all ranks as a share of the step.
        over: the same over computing time.
        peak: most activations that a rank holds, in those of a rank for one micro-batch.
        activations, weights: bytes on the fullest rank.
        continued: whether it is drawn out from two shorter runs.
    """

    name: str
    title: str
    setting: Setting
    step: Seconds
    share: Share
    over: Ratio
    peak: Ratio
    activations: Bytes
    weights: Bytes
    messages: Count
    continued: bool = False

    @property
    def memory(self) -> Bytes:
        """Weights and activations of the fullest rank."""
        return self.activations + self.weights


def times_of(inputs: Inputs, stages: Count) -> Times:
    """Return the times of the inputs for so many stages."""
    whole = inputs.forward + inputs.backward_input + inputs.backward_weight
    slow = min(inputs.slow_stage, stages - 1)
    return Times(
        forward=inputs.forward,
        backward_input=inputs.backward_input,
        backward_weight=inputs.backward_weight,
        pair=whole * inputs.overlapped,
        recompute=inputs.recompute,
        message=inputs.message_size,
        bandwidth=inputs.message_size / inputs.message if inputs.message else 0.0,
        slowness=tuple(1 + inputs.slowness * (rank == slow) for rank in range(stages))
        if inputs.slowness
        else (),
    )


def setting_of(inputs: Inputs) -> Setting:
    """Return with which numbers the reader's schedule can be played: theirs, or the nearest."""
    schedule = discover.module(PACKAGE, inputs.schedule)
    v = _chunks(schedule, inputs.num_chunks)
    stages = (inputs.pipeline_parallel, inputs.pipeline_parallel - 1)
    for p in (one for one in stages if one >= 2):
        limit = min(_LONGEST, _LARGEST // (p * v * 2))
        first = min(inputs.num_microbatches, limit)
        for m in (*range(first, limit + 1), *range(first - 1, 0, -1)):
            if not schedule.obstacle(p, m):
                return _setting(schedule, inputs, p, m, v)
    raise ValueError(f"{schedule.TITLE} cannot be played with {inputs.pipeline_parallel} stages")


def _setting(schedule: ModuleType, inputs: Inputs, p: Count, m: Count, v: Count) -> Setting:
    why = schedule.obstacle(inputs.pipeline_parallel, inputs.num_microbatches)
    same = (p, m) == (inputs.pipeline_parallel, inputs.num_microbatches)
    return Setting(
        pipeline_parallel=p,
        num_microbatches=m,
        num_chunks=v,
        reason="" if same else str(why) or "more would take too long to play",
        refused=bool(why),
    )


def _chunks(schedule: ModuleType, wanted: Count) -> Count:
    return int(min(max(wanted, schedule.CHUNKS[0]), schedule.CHUNKS[-1]))


def play(inputs: Inputs, setting: Setting) -> Run:
    """Return the step of the reader's schedule."""
    p, m, v = setting.pipeline_parallel, setting.num_microbatches, setting.num_chunks
    return simulate(inputs.schedule, p, m, v, times_of(inputs, p))


def measured(inputs: Inputs, setting: Setting, run: Run) -> Played:
    """Return the figures of a step."""
    schedule = discover.module(PACKAGE, inputs.schedule)
    step = run.length if inputs.synchronized else run.period
    peak = max(peak_activations(run))
    p = setting.pipeline_parallel
    return Played(
        name=inputs.schedule,
        title=schedule.TITLE,
        setting=setting,
        step=step,
        share=_clean(idle_share(run, step)),
        over=_clean(idle_over_ideal(run, step)),
        peak=peak,
        activations=peak * inputs.activation_size / p,
        weights=schedule.COPIES * inputs.weight_size / p,
        messages=run.program.num_messages,
    )


def _clean(share: float) -> float:
    """Return the share; what summing many times has left of nothing is nothing."""
    return share if share > 1e-9 else 0.0


def played(inputs: Inputs) -> Played:
    """Return the figures of the reader's schedule."""
    setting = setting_of(inputs)
    return measured(inputs, setting, play(inputs, setting))


def beside(inputs: Inputs, own: Played) -> dict[str, Played | str]:
    """Return the figures of every schedule with the reader's numbers, or why there are none."""
    return {name: _one(inputs, name, own) for name in schedules()}


def _one(inputs: Inputs, name: str, own: Played) -> Played | str:
    schedule = discover.module(PACKAGE, name)
    p, m = inputs.pipeline_parallel, inputs.num_microbatches
    if why := schedule.obstacle(p, m):
        return str(why)
    if name == own.name:
        return own
    v = _chunks(schedule, inputs.num_chunks)
    theirs = replace(inputs, schedule=name)
    if cost(p, m, v) <= _LARGEST_BESIDE:
        setting = Setting(pipeline_parallel=p, num_microbatches=m, num_chunks=v)
        return measured(theirs, setting, play(theirs, setting))
    return _continued(theirs, schedule, v)


def cost(p: Count, m: Count, v: Count) -> Count:
    """Return about how many operations a step has."""
    return 2 * p * m * v


def _continued(inputs: Inputs, schedule: ModuleType, v: Count) -> Played | str:
    """Return the figures of a long run from two shorter ones.

    Once a pipeline is full, p more micro-batches add the same to every figure, so all of them lie
    on a straight line over the micro-batches.
    """
    p, m = inputs.pipeline_parallel, inputs.num_microbatches
    first = 2 * p + m % p
    second = first + p
    if schedule.obstacle(p, first) or m <= second or cost(p, second, v) > _LARGEST_DRAWN:
        return "too long to play beside; choose it"
    low, high = (
        measured(inputs, setting, play(inputs, setting))
        for setting in (
            Setting(pipeline_parallel=p, num_microbatches=n, num_chunks=v) for n in (first, second)
        )
    )
    way = (m - first) / p

    def at(a: float, b: float) -> float:
        return a + way * (b - a)

    idle = at(low.share * low.step, high.share * high.step)
    step = at(low.step, high.step)
    return replace(
        high,
        setting=replace(high.setting, num_microbatches=m),
        step=step,
        share=idle / step,
        over=idle / (step - idle),
        peak=at(low.peak, high.peak),
        activations=at(low.activations, high.activations),
        messages=round(at(low.messages, high.messages)),
        continued=True,
    )
