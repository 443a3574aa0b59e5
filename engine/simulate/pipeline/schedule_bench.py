"""Benchmark of pipeline schedules: one simulated with given times, and all others to compare."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import ModuleType

from engine.core import registry
from engine.core.pipeline_op import parts
from engine.core.slices import Slices, partial_progress, run_to_end, step_progress
from engine.core.units import Bytes, Count, Ratio, Seconds, Share
from engine.run.stage_cut import moved_layers
from engine.simulate.pipeline.pipeline import (
    PACKAGE,
    PipelineRun,
    PipelineTimes,
    compile_schedule,
    run_program,
)
from engine.simulate.pipeline.pipeline_measures import (
    idle_over_ideal,
    idle_share,
    layers_of_ranks,
    peak_activations,
    peak_layers,
)

# Input of a schedule simulation: stages, micro-batches, times and sizes.

_ORDER = (
    "naive",
    "gpipe",
    "one_f_one_b",
    "interleaved",
    "breadth_first",
    "zb_h1",
    "zb_h2",
    "zb_v",
    "v_half",
    "v_min",
    "dualpipe",
    "dualpipe_v",
)


def schedule_titles() -> dict[str, str]:
    """Return the title of every schedule by module name, in reading order."""
    names = registry.module_names(PACKAGE)
    ordered = [name for name in _ORDER if name in names]
    ordered += [name for name in names if name not in ordered]
    return {name: registry.module(PACKAGE, name).TITLE for name in ordered}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleCase:
    """A schedule simulation to run.

    Attributes:
        schedule: its name.
        pipeline_parallel, num_microbatches: as wanted.
        num_chunks: of a rank, as wanted; most schedules fix it.
        forward, backward_input, backward_weight: of a rank's layers on one micro-batch.
        message: time of one between neighbors.
        overlapped: how long F&B takes, over F + B + W.
        slow_stage: a stage that takes longer by the ratio `slowness`.
        num_layers: of the model, cut into whole ones; 0 if all parts are alike.
        embedding, output: what the ends take besides their layers, in the time of layers.
        off_first, off_last: layers that are moved from the ends to the parts between.
        recompute: the backward pass repeats the forward pass first.
        synchronized: ranks wait for one another between steps.
        activation_size: of one micro-batch, over all stages.
        weight_size: of one copy of the model.
        message_size: bytes of a message.
    """

    schedule: str
    pipeline_parallel: Count
    num_microbatches: Count
    num_chunks: Count
    forward: Seconds
    backward_input: Seconds
    backward_weight: Seconds
    message: Seconds
    overlapped: Ratio
    slow_stage: Count
    slowness: Ratio
    num_layers: Count
    embedding: Ratio
    output: Ratio
    off_first: Count
    off_last: Count
    recompute: bool
    synchronized: bool
    activation_size: Bytes
    weight_size: Bytes
    message_size: Bytes

    @property
    def backward(self) -> Seconds:
        """Time of the backward pass for the inputs, with recomputation."""
        return self.backward_input + (self.forward if self.recompute else 0.0)

    @property
    def pair(self) -> Seconds:
        """Time of an overlapped forward and backward pass, with recomputation."""
        whole = self.forward + self.backward_input + self.backward_weight
        return self.overlapped * whole + (self.forward if self.recompute else 0.0)


def part_layers(case: ScheduleCase, num_parts: Count) -> tuple[Count, ...]:
    """Return the number of layers of each model part; empty if all parts are equal."""
    if not case.num_layers:
        return ()
    return moved_layers(case.num_layers, num_parts, case.off_first, case.off_last)


def part_times(case: ScheduleCase, num_parts: Count) -> tuple[Ratio, ...]:
    """Return the relative time of each model part; empty if all parts are equal.

    An even part has its share of the layers and nothing else. The embedding and the output layer
    come on top.
    """
    layers: list[float] = list(part_layers(case, num_parts))
    if not layers:
        return ()
    layers[0] += case.embedding
    layers[-1] += case.output
    return tuple(size * num_parts / case.num_layers for size in layers)


def case_times(case: ScheduleCase, stages: Count, num_parts: Count) -> PipelineTimes:
    """Return the operation times of the case for a number of stages and model parts."""
    whole = case.forward + case.backward_input + case.backward_weight
    slow = min(case.slow_stage, stages - 1)
    return PipelineTimes(
        forward=case.forward,
        backward_input=case.backward_input,
        backward_weight=case.backward_weight,
        pair=whole * case.overlapped,
        recompute=case.recompute,
        message=case.message_size,
        bandwidth=case.message_size / case.message if case.message else 0.0,
        slowness=tuple(1 + case.slowness * (rank == slow) for rank in range(stages))
        if case.slowness
        else (),
        pieces=part_times(case, num_parts),
    )


# More operations than these would take seconds in a browser: of the wanted ones schedule, of each
# that stands beside it, and of the longer of two runs that one of those is drawn out from.
_LARGEST, _LARGEST_BESIDE, _LARGEST_DRAWN = 70_000, 3_000, 13_000
_LARGEST_CURVE = 2_500  # all steps of the curve over the micro-batches together
MOST_MICROBATCHES = 256  # micro-batches


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleSetting:
    """Stages, micro-batches and chunks with which a schedule is simulated.

    Attributes:
        reason: why these differ from the requested numbers; empty if they do not.
        refused: whether the schedule itself cannot run with the requested numbers.
    """

    pipeline_parallel: Count
    num_microbatches: Count
    num_chunks: Count
    reason: str = ""
    refused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleResult:
    """Figures of a simulated schedule.

    Attributes:
        step: from one step to the next.
        idle_share: idle time of all ranks as a share of the step.
        idle_over_compute: the same over computing time.
        peak: most activations that a rank holds, in those of a rank for one micro-batch.
        activations, weights: bytes on the fullest rank.
        extrapolated: whether it is extrapolated from two shorter runs.
    """

    name: str
    title: str
    setting: ScheduleSetting
    step: Seconds
    idle_share: Share
    idle_over_compute: Ratio
    peak: Ratio
    activations: Bytes
    weights: Bytes
    messages: Count
    extrapolated: bool = False

    @property
    def memory(self) -> Bytes:
        """Weights and activations of the fullest rank."""
        return self.activations + self.weights


def feasible_setting(case: ScheduleCase) -> ScheduleSetting:
    """Return the requested setting, or the nearest that the schedule can run."""
    schedule = registry.module(PACKAGE, case.schedule)
    v = _allowed_chunks(schedule, case.num_chunks)
    stages = (case.pipeline_parallel, case.pipeline_parallel - 1)
    for p in (count for count in stages if count >= 2):
        limit = min(MOST_MICROBATCHES, _LARGEST // (p * v * 2))
        first = min(case.num_microbatches, limit)
        for m in (*range(first, limit + 1), *range(first - 1, 0, -1)):
            if not schedule.obstacle(p, m):
                return _make_setting(schedule, case, p, m, v)
    raise ValueError(f"{schedule.TITLE} cannot be played with {case.pipeline_parallel} stages")


def _make_setting(
    schedule: ModuleType, case: ScheduleCase, p: Count, m: Count, v: Count
) -> ScheduleSetting:
    why = schedule.obstacle(case.pipeline_parallel, case.num_microbatches)
    same = (p, m) == (case.pipeline_parallel, case.num_microbatches)
    return ScheduleSetting(
        pipeline_parallel=p,
        num_microbatches=m,
        num_chunks=v,
        reason="" if same else str(why) or "more would take too long to play",
        refused=bool(why),
    )


def _allowed_chunks(schedule: ModuleType, wanted: Count) -> Count:
    return int(min(max(wanted, schedule.CHUNKS[0]), schedule.CHUNKS[-1]))


def simulate_schedule(case: ScheduleCase, setting: ScheduleSetting) -> PipelineRun:
    """Return the simulated step of the schedule."""
    return run_to_end(simulate_in_steps(case, setting))


def simulate_in_steps(case: ScheduleCase, setting: ScheduleSetting) -> Slices[PipelineRun]:
    """Simulate the step of the schedule in two cooperative steps: compile, run."""
    p, m, v = setting.pipeline_parallel, setting.num_microbatches, setting.num_chunks
    yield step_progress(1, 2)
    program = compile_schedule(case.schedule, p, m, v)
    yield step_progress(2, 2)
    return run_program(program, case_times(case, p, _num_model_parts(case, setting)))


def _num_model_parts(case: ScheduleCase, setting: ScheduleSetting) -> Count:
    placement = registry.module(PACKAGE, case.schedule).PLACEMENT
    return setting.pipeline_parallel * parts(setting.num_chunks, placement)


def measure_schedule(
    case: ScheduleCase, setting: ScheduleSetting, run: PipelineRun
) -> ScheduleResult:
    """Return the figures of a simulated step."""
    schedule = registry.module(PACKAGE, case.schedule)
    step = run.length if case.synchronized else run.period
    peak = max(peak_activations(run))
    p, cut = setting.pipeline_parallel, part_layers(case, _num_model_parts(case, setting))
    activation_share, weight_share = peak / p, schedule.COPIES / p
    if cut:
        activation_share = max(peak_layers(run, cut)) / case.num_layers
        weight_share = max(layers_of_ranks(run, cut)) / case.num_layers
    return ScheduleResult(
        name=case.schedule,
        title=schedule.TITLE,
        setting=setting,
        step=step,
        idle_share=_without_rounding(idle_share(run, step)),
        idle_over_compute=_without_rounding(idle_over_ideal(run, step)),
        peak=peak,
        activations=activation_share * case.activation_size,
        weights=weight_share * case.weight_size,
        messages=run.program.num_messages,
    )


def model_copies(name: str) -> Count:
    """Return the number of weight copies that a rank of the schedule holds."""
    return int(registry.module(PACKAGE, name).COPIES)


def _without_rounding(share: float) -> float:
    """Return the share, with rounding residue set to 0."""
    return share if share > 1e-9 else 0.0


def schedule_result(case: ScheduleCase) -> ScheduleResult:
    """Return the figures of the schedule."""
    setting = feasible_setting(case)
    return measure_schedule(case, setting, simulate_schedule(case, setting))


def compare_schedules(
    case: ScheduleCase, chosen: ScheduleResult
) -> Slices[dict[str, ScheduleResult | str]]:
    """Return the figures of every schedule for the same case, or the reason for none."""
    results = {}
    for number, name in enumerate(names := schedule_titles(), start=1):
        yield replace(
            step_progress(number, len(names), "Schedule"), share=(number - 1) / len(names)
        )
        results[name] = yield from partial_progress(
            _compare_schedule(case, name, chosen), number - 1, len(names)
        )
    return results


def _compare_schedule(
    case: ScheduleCase, name: str, chosen: ScheduleResult
) -> Slices[ScheduleResult | str]:
    schedule = registry.module(PACKAGE, name)
    p, m = case.pipeline_parallel, case.num_microbatches
    if why := schedule.obstacle(p, m):
        return str(why)
    if name == chosen.name:
        return chosen
    v = _allowed_chunks(schedule, case.num_chunks)
    other_case = replace(case, schedule=name)
    if num_operations(p, m, v) <= _LARGEST_BESIDE:
        setting = ScheduleSetting(pipeline_parallel=p, num_microbatches=m, num_chunks=v)
        return measure_schedule(other_case, setting, simulate_schedule(other_case, setting))
    return (yield from _extrapolate(other_case, schedule, v))


def num_operations(p: Count, m: Count, v: Count) -> Count:
    """Return the approximate number of operations of a step."""
    return 2 * p * m * v


def _extrapolate(
    case: ScheduleCase, schedule: ModuleType, v: Count
) -> Slices[ScheduleResult | str]:
    """Extrapolate the figures of a long run from two shorter ones.

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
    if m <= second or num_operations(p, second, v) > _LARGEST_DRAWN:
        return "too long to play beside; choose it"
    runs = []
    for done, n in enumerate((first, second)):
        setting = ScheduleSetting(pipeline_parallel=p, num_microbatches=n, num_chunks=v)
        pipeline_run = yield from partial_progress(simulate_in_steps(case, setting), done, 2)
        runs.append(measure_schedule(case, setting, pipeline_run))
    low, high = runs
    distance = (m - first) / p

    def interpolate(a: float, b: float) -> float:
        return a + distance * (b - a)

    idle = interpolate(low.idle_share * low.step, high.idle_share * high.step)
    step = interpolate(low.step, high.step)
    return replace(
        high,
        setting=replace(high.setting, num_microbatches=m),
        step=step,
        idle_share=idle / step,
        idle_over_compute=idle / (step - idle),
        peak=interpolate(low.peak, high.peak),
        activations=interpolate(low.activations, high.activations),
        messages=round(interpolate(low.messages, high.messages)),
        extrapolated=True,
    )


def bubble_curve(case: ScheduleCase, chosen: ScheduleResult) -> Slices[list[tuple[float, float]]]:
    """Return (micro-batches, bubble) of simulated steps, within the operation budget.

    They end where the next is too far to draw a line to it.
    """
    p, v = chosen.setting.pipeline_parallel, chosen.setting.num_chunks
    schedule = registry.module(PACKAGE, chosen.name)
    left = _LARGEST_CURVE
    shares = {chosen.setting.num_microbatches: chosen.idle_share}
    tried = sorted({2**exponent for exponent in range(9)} | {p, 2 * p, 4 * p})
    for done, m in enumerate(tried, start=1):
        yield step_progress(done, len(tried))
        if m in shares or m > MOST_MICROBATCHES or schedule.obstacle(p, m):
            continue
        left -= 2 * p * m * v
        if left < 0:
            break
        other_case = replace(case, num_microbatches=m, pipeline_parallel=p)
        setting = feasible_setting(other_case)
        shares[m] = measure_schedule(
            other_case, setting, simulate_schedule(other_case, setting)
        ).idle_share
    points = [(float(m), shares[m]) for m in sorted(shares)]
    far = [i for i in range(1, len(points)) if points[i][0] > 2.5 * points[i - 1][0]]
    return points[: far[0]] if far else points


# Pareto front of schedules by memory and bubble.


def frontier(results: Sequence[ScheduleResult]) -> list[ScheduleResult]:
    """Return the Pareto-optimal schedules by memory and bubble, the least memory first."""
    best: list[ScheduleResult] = []
    for result in sorted(results, key=lambda result: (result.memory, result.idle_share)):
        if not best or result.idle_share < best[-1].idle_share - 1e-12:
            best.append(result)
    return best
