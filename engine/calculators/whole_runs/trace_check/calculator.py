"""Drop your trace: step breakdown of a PyTorch profiler trace, against the prediction."""

from collections.abc import Mapping
from functools import partial

from engine.calculators.whole_runs.trace_check import charts
from engine.calculators.whole_runs.trace_check.charts import measured_parts, predicted_parts
from engine.calculators.whole_runs.trace_check.result import PRESETS as PRESETS
from engine.calculators.whole_runs.trace_check.result import Inputs as Inputs
from engine.calculators.whole_runs.trace_check.result import Result
from engine.calculators.whole_runs.trace_check.result import solve as solve
from engine.core.outputs import Presenter, Views
from engine.core.text import Text, say
from engine.core.units import BANDWIDTH, BYTES, COUNT, RATIO, SECONDS, SHARE, Seconds
from engine.core.views import Cell, Table
from engine.form.adjusted_inputs import with_changes
from engine.form.kernel_names import short_kernel
from engine.form.run.prediction_text import value_with_range
from engine.simulate.profile_analysis.account import KernelUse
from engine.simulate.profile_analysis.collectives import CollectiveKind
from engine.simulate.profile_analysis.rules import UNKNOWN

TITLE = "Read my trace"
QUESTION = "Where did the time of my steps go, who waited for whom, and what was to be expected?"
HEADLINE = "step_time"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        **present.values("step_time"),
        "verdict": with_changes(
            charts.with_another_job(charts.verdict(result), result), result.changes
        ),
        "predicted": value_with_range(present, "predicted", result.evidence),
        **present.values("compute", "exposed", "hidden", "copies", "idle", "waited", "bus"),
        "parts": partial(charts.parts, result),
        "timeline": partial(charts.timeline, inputs, result),
        "compared": partial(comparison, result),
        "every_step": partial(charts.every_step, result),
        "who_waits": partial(charts.who_waits, result),
        "ranks": partial(ranks, result),
        "collectives": partial(collectives, result),
        "groups": partial(groups, result),
        "longest": partial(longest, result),
        **present.values("unnamed", "kernels"),
        "unknown": partial(unknown, result),
        "streams": partial(streams, result),
        "reading": partial(reading, result),
    }


# Tables of a trace: parts, groups, kernels, streams, collectives, ranks, files.

_MOST_KERNELS, _MOST_KINDS, _MOST_STREAMS = 20, 16, 16


def comparison(result: Result) -> Table:
    """Return measured and predicted parts of the step."""
    predicted = predicted_parts(result)
    rows: list[tuple[Cell, ...]] = []
    total = result.shown.use.length
    for at, (part, _, time) in enumerate(measured_parts(result.shown.use)):
        rows.append(
            (part, _time(time), _share(time, total), *_predicted_cells(time, predicted, at))
        )
    if result.job:
        ratio = (total / result.job.step.total, RATIO)
        rows.append(
            ("whole step", _time(total), _share(total, total), _time(result.job.step.total),
             say("{r}", r=ratio))
        )  # fmt: skip
    columns = ("Part", "Measured", "Of the step", "Predicted", "Measured over predicted")
    return Table(
        title="Part by part",
        columns=columns if result.job else columns[:3],
        rows=tuple(rows),
        caption="A part that is far above its prediction is where to look first.",
    )


def _predicted_cells(
    time: Seconds, predicted: tuple[tuple[str, str, Seconds], ...], at: int
) -> tuple[Cell, ...]:
    if not predicted:
        return ()
    model = predicted[at][2]
    ratio: Text = say("{r}", r=(time / model, RATIO)) if model > 0 else "–"
    return _time(model), ratio


def _time(value: Seconds) -> Text:
    return say("{t}", t=(value, SECONDS))


def _share(value: Seconds, whole: Seconds) -> Text:
    return say("{s}", s=(value / whole if whole > 0 else 0.0, SHARE))


def groups(result: Result) -> Table:
    """Return the time of all kernels by group, as the rules name them."""
    times: dict[str, tuple[Seconds, int]] = {}
    for kernel in result.shown.kernels():
        time, count = times.get(kernel.group, (0.0, 0))
        times[kernel.group] = time + kernel.time, count + kernel.count
    total = sum(time for time, _ in times.values())
    ordered = sorted(times.items(), key=lambda pair: -pair[1][0])
    return Table(
        title="Kernels by kind",
        columns=("Kind", "Time", "Of all kernels", "Runs"),
        rows=tuple(
            (group, _time(time), _share(time, total), say("{n}", n=(count, COUNT)))
            for group, (time, count) in ordered
        ),
        caption="Times of kernels added up: two at once count twice here. The rules stand "
        "under More inputs and can be changed.",
    )


def longest(result: Result) -> Table:
    """Return the longest kernels."""
    return _kernel_table("The longest kernels", result.shown.kernels(), "By the sum of their runs.")


def unknown(result: Result) -> Table:
    """Return the kernels without a rule, longest first."""
    kernels = tuple(kernel for kernel in result.shown.kernels() if kernel.group == UNKNOWN)
    caption = "They count as computation. Add a word of a name to a rule, and they move."
    return _kernel_table(
        "Kernels that no rule names", kernels, caption if kernels else "There is none."
    )


def _kernel_table(title: str, kernels: tuple[KernelUse, ...], caption: str) -> Table:
    total = sum(kernel.time for kernel in kernels)
    rows = tuple(
        (
            short_kernel(kernel.name),
            kernel.group,
            _time(kernel.time),
            _share(kernel.time, total),
            say("{n}", n=(kernel.count, COUNT)),
            _time(kernel.time / kernel.count),
        )
        for kernel in kernels[:_MOST_KERNELS]
    )
    if len(kernels) > _MOST_KERNELS:
        caption += f" The first {_MOST_KERNELS} of {len(kernels):,} are listed."
    return Table(
        title=title,
        columns=("Kernel", "Kind", "Time", "Of these", "Runs", "Each, mean"),
        rows=rows,
        caption=caption,
    )


def streams(result: Result) -> Table:
    """Return the streams with their busy time."""
    start, end = result.shown.whole
    return Table(
        title="Streams",
        columns=("Stream", "Mostly", "Busy", "Of the time", "Events"),
        rows=tuple(
            (
                f"stream {stream.stream}",
                stream.mostly,
                _time(stream.busy),
                _share(stream.busy, end - start),
                say("{n}", n=(stream.events, COUNT)),
            )
            for stream in result.shown.streams()[:_MOST_STREAMS]
        ),
    )


def collectives(result: Result) -> Table:
    """Return the collectives with their bus bandwidth, where sizes are recorded."""
    kinds = result.shown.kinds
    caption = "Bus bandwidth by the convention of nccl-tests. "
    caption += (
        "Time in all includes waiting for the last rank. Each, the median, and the bandwidth count "
        "from the last rank's arrival on where several files hold the collective."
        if result.checked.collectives
        else "With one file, the time includes waiting for the rank that comes last, so the true "
        "bandwidth is at least this."
    )
    if kinds and not any(kind.bus_bandwidth for kind in kinds):
        caption = "This trace records no sizes: PyTorch does since 2.2, and not for every kernel."
    return Table(
        title="Collectives",
        columns=("Collective", "Buffer", "Ranks", "Runs", "Time in all", "Each", "Bus bandwidth"),
        rows=tuple(map(_collective, kinds[:_MOST_KINDS])),
        caption=caption if kinds else "No kernel here is communication.",
    )


def _collective(kind: CollectiveKind) -> tuple[Cell, ...]:
    return (
        short_kernel(kind.name),
        say("{b}", b=(kind.size, BYTES)) if kind.size else "not recorded",
        say("{n}", n=(kind.ranks, COUNT)) if kind.ranks else "–",
        say("{n}", n=(kind.count, COUNT)),
        _time(kind.total),
        _time(kind.median),
        say("{b}", b=(kind.bus_bandwidth, BANDWIDTH)) if kind.bus_bandwidth else "–",
    )


def ranks(result: Result) -> Table:
    """Return a row per file: step parts, own waiting, and the others' waiting for it."""
    rows: list[tuple[Cell, ...]] = []
    for rank, totals in zip(result.checked.ranks, result.ranks(), strict=True):
        use, ahead = totals.use, totals.ahead
        rows.append(
            (
                rank.trace.called,
                _time(use.length),
                _share(use.compute, use.length),
                _share(use.exposed, use.length),
                _share(use.idle, use.length),
                *(map(_time, totals.waits) if totals.waits else ("–", "–")),
                _time(ahead) if ahead is not None and len(rows) else "–",
            )
        )
    return Table(
        title="Ranks",
        columns=("Rank", "Step", "Computing", "Exposed", "Idle", "Waits", "Others wait for it",
                 "Clock ahead of the first"),
        rows=tuple(rows),
        caption="Per step. The rank that the others wait for is the straggler.",
    )  # fmt: skip


def reading(result: Result) -> Table:
    """Return the parsed contents of each file."""
    rows: list[tuple[Cell, ...]] = []
    counts: Mapping[bool, str] = {True: "1 step", False: "{n} steps"}
    for rank, steps in zip(result.checked.ranks, result.checked.steps, strict=True):
        trace = rank.trace
        count = len(steps.numbers)
        rows.append(
            (
                trace.title,
                trace.called if trace.rank >= 0 else "no rank recorded",
                trace.gpu or "not named",
                say("{n}", n=(trace.world_size, COUNT)) if trace.world_size else "–",
                say("{n}", n=(trace.events, COUNT)),
                say("{n}", n=(len(trace.start), COUNT)),
                say("{n}", n=(trace.skipped, COUNT)),
                say(counts[count == 1], n=(count, COUNT)) if count > 1 else counts[True],
            )
        )
    return Table(
        title="What was read",
        columns=(
            "File",
            "Rank",
            "GPU",
            "World size",
            "Events",
            "On the GPU",
            "Unreadable",
            "Steps",
        ),
        rows=tuple(rows),
        caption="Only what ran on the GPU, and the marks of steps, reach the engine.",
    )
