"""Schedules on a bench: one played with given times, and all others beside it."""

from dataclasses import dataclass, replace
from types import ModuleType

from engine.core import registry
from engine.core.pipeline_op import parts
from engine.core.slices import Slices, part, steps_done, whole
from engine.core.units import Bytes, Count, Ratio, Seconds, Share
from engine.simulate.pipeline.pipeline import PACKAGE, Run, compiled, run
from engine.simulate.pipeline.pipeline_measures import (
    idle_over_ideal,
    idle_share,
    layers_of_ranks,
    peak_activations,
    peak_layers,
)
from engine.simulate.pipeline.schedule_case import Case, cut_of, schedules, times_of

# More operations than these would take seconds in a browser: of the wanted ones schedule, of each
# that stands beside it, and of the longer of two runs that one of those is drawn out from.
_LARGEST, _LARGEST_BESIDE, _LARGEST_DRAWN = 70_000, 3_000, 13_000
_LARGEST_CURVE = 2_500  # all steps of the curve over the micro-batches together
LONGEST = 256  # micro-batches


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """With which numbers a schedule is played.

    Attributes:
        reason: why not with the wanted ones, if so.
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


def setting_of(case: Case) -> Setting:
    """Return with which numbers the schedule can be played: theirs, or the nearest."""
    schedule = registry.module(PACKAGE, case.schedule)
    v = _chunks(schedule, case.num_chunks)
    stages = (case.pipeline_parallel, case.pipeline_parallel - 1)
    for p in (one for one in stages if one >= 2):
        limit = min(LONGEST, _LARGEST // (p * v * 2))
        first = min(case.num_microbatches, limit)
        for m in (*range(first, limit + 1), *range(first - 1, 0, -1)):
            if not schedule.obstacle(p, m):
                return _setting(schedule, case, p, m, v)
    raise ValueError(f"{schedule.TITLE} cannot be played with {case.pipeline_parallel} stages")


def _setting(schedule: ModuleType, case: Case, p: Count, m: Count, v: Count) -> Setting:
    why = schedule.obstacle(case.pipeline_parallel, case.num_microbatches)
    same = (p, m) == (case.pipeline_parallel, case.num_microbatches)
    return Setting(
        pipeline_parallel=p,
        num_microbatches=m,
        num_chunks=v,
        reason="" if same else str(why) or "more would take too long to play",
        refused=bool(why),
    )


def _chunks(schedule: ModuleType, wanted: Count) -> Count:
    return int(min(max(wanted, schedule.CHUNKS[0]), schedule.CHUNKS[-1]))


def play(case: Case, setting: Setting) -> Run:
    """Return the step of the schedule."""
    return whole(playing(case, setting))


def playing(case: Case, setting: Setting) -> Slices[Run]:
    """Play the step of the schedule: its orders are made, and then run."""
    p, m, v = setting.pipeline_parallel, setting.num_microbatches, setting.num_chunks
    yield steps_done(1, 2)
    program = compiled(case.schedule, p, m, v)
    yield steps_done(2, 2)
    return run(program, times_of(case, p, _parts(case, setting)))


def _parts(case: Case, setting: Setting) -> Count:
    placement = registry.module(PACKAGE, case.schedule).PLACEMENT
    return setting.pipeline_parallel * parts(setting.num_chunks, placement)


def measured(case: Case, setting: Setting, run: Run) -> Played:
    """Return the figures of a step."""
    schedule = registry.module(PACKAGE, case.schedule)
    step = run.length if case.synchronized else run.period
    peak = max(peak_activations(run))
    p, cut = setting.pipeline_parallel, cut_of(case, _parts(case, setting))
    held, fullest = peak / p, schedule.COPIES / p
    if cut:
        held = max(peak_layers(run, cut)) / case.num_layers
        fullest = max(layers_of_ranks(run, cut)) / case.num_layers
    return Played(
        name=case.schedule,
        title=schedule.TITLE,
        setting=setting,
        step=step,
        share=_clean(idle_share(run, step)),
        over=_clean(idle_over_ideal(run, step)),
        peak=peak,
        activations=held * case.activation_size,
        weights=fullest * case.weight_size,
        messages=run.program.num_messages,
    )


def copies_of(name: str) -> Count:
    """Return how many copies of its part of the model a rank of the schedule holds."""
    return int(registry.module(PACKAGE, name).COPIES)


def _clean(share: float) -> float:
    """Return the share; what summing many times has left of nothing is nothing."""
    return share if share > 1e-9 else 0.0


def played(case: Case) -> Played:
    """Return the figures of the schedule."""
    setting = setting_of(case)
    return measured(case, setting, play(case, setting))


def beside(case: Case, own: Played) -> Slices[dict[str, Played | str]]:
    """Find the figures of every schedule with the same numbers, or why there are none."""
    found = {}
    for place, name in enumerate(every := schedules(), start=1):
        yield replace(steps_done(place, len(every), "Schedule"), share=(place - 1) / len(every))
        found[name] = yield from part(_one(case, name, own), place - 1, len(every))
    return found


def _one(case: Case, name: str, own: Played) -> Slices[Played | str]:
    schedule = registry.module(PACKAGE, name)
    p, m = case.pipeline_parallel, case.num_microbatches
    if why := schedule.obstacle(p, m):
        return str(why)
    if name == own.name:
        return own
    v = _chunks(schedule, case.num_chunks)
    theirs = replace(case, schedule=name)
    if cost(p, m, v) <= _LARGEST_BESIDE:
        setting = Setting(pipeline_parallel=p, num_microbatches=m, num_chunks=v)
        return measured(theirs, setting, play(theirs, setting))
    return (yield from _continued(theirs, schedule, v))


def cost(p: Count, m: Count, v: Count) -> Count:
    """Return about how many operations a step has."""
    return 2 * p * m * v


def _continued(case: Case, schedule: ModuleType, v: Count) -> Slices[Played | str]:
    """Find the figures of a long run from two shorter ones.

    Once a pipeline is full, p more micro-batches add the same to every figure, so all of them lie
    on a straight line over the micro-batches.
    """
    p, m = case.pipeline_parallel, case.num_microbatches
    first = 2 * p + m % p
    second = first + p
    if not getattr(schedule, "STEADY", True):
        return "too long to play beside; choose it"
    if any(schedule.obstacle(p, n) for n in (first, second)):
        return "too long to play beside; choose it"
    group = getattr(schedule, "group", None)
    if group and len({group(p, n) for n in (first, second, m)}) > 1:
        return "too long to play beside; choose it"
    if m <= second or cost(p, second, v) > _LARGEST_DRAWN:
        return "too long to play beside; choose it"
    runs = []
    for done, n in enumerate((first, second)):
        setting = Setting(pipeline_parallel=p, num_microbatches=n, num_chunks=v)
        played_one = yield from part(playing(case, setting), done, 2)
        runs.append(measured(case, setting, played_one))
    low, high = runs
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


def over_microbatches(case: Case, own: Played) -> Slices[list[tuple[float, float]]]:
    """Find (micro-batches, bubble) of played steps, as many as there is time for.

    They end where the next is too far to draw a line to it.
    """
    p, v = own.setting.pipeline_parallel, own.setting.num_chunks
    schedule = registry.module(PACKAGE, own.name)
    left = _LARGEST_CURVE
    found = {own.setting.num_microbatches: own.share}
    tried = sorted({2**exponent for exponent in range(9)} | {p, 2 * p, 4 * p})
    for place, m in enumerate(tried, start=1):
        yield steps_done(place, len(tried))
        if m in found or m > LONGEST or schedule.obstacle(p, m):
            continue
        left -= 2 * p * m * v
        if left < 0:
            break
        theirs = replace(case, num_microbatches=m, pipeline_parallel=p)
        setting = setting_of(theirs)
        found[m] = measured(theirs, setting, play(theirs, setting)).share
    points = [(float(m), found[m]) for m in sorted(found)]
    far = [i for i in range(1, len(points)) if points[i][0] > 2.5 * points[i - 1][0]]
    return points[: far[0]] if far else points
