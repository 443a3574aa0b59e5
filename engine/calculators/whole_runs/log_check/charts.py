"""Views of a log check: verdict, steps over time, and parsed fields."""

from engine.calculators.whole_runs.log_check.inputs import Result
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, SECONDS, SHARE
from engine.core.views import Axis, Badge, Cell, Lines, Rule, Series, Table
from engine.simulate.measured.log_check import MFU_TOLERANCE, LogCheck

# So much drift from the first quarter to the last is not chance.
_DRIFTS = 0.03
_DRAWN = 400


def verdict(result: Result) -> Badge:
    """Return whether the step time matches the prediction, and whether it drifts."""
    check = result.found
    if check is None:
        return Badge(text="No whole step", sentence="The log ends before its first step does.")
    off = check.steady.median / check.predicted - 1
    numbers = {
        "off": (abs(off), SHARE),
        "low": (check.least, SECONDS),
        "high": (check.most, SECONDS),
        "drift": (abs(check.steady.drift), SHARE),
    }
    drift = ""
    if abs(check.steady.drift) > _DRIFTS:
        way = "slower" if check.steady.drift > 0 else "faster"
        drift = f" It becomes {way}: {{drift}} from the first quarter of the log to the last."
    batch = result.run.training.global_batch_size
    if check.batch != batch:
        numbers |= {"logged": (check.batch, COUNT), "batch": (batch, COUNT)}
        words = "A step of this log takes {logged} sequences, a step of the job below takes "
        words += "{batch}. Describe your run below to compare the two."
        return Badge(text="Another job", sentence=say(words + drift, **numbers), color="muted")
    if check.steady.median > check.most:
        words = "{off} above the prediction, whose range is {low} to {high}: look at the spread, "
        words += "then at what waits."
        return Badge(text="Slower", sentence=say(words + drift, **numbers), color="communication")
    if check.steady.median < check.least:
        words = "{off} below the prediction, whose range is {low} to {high}: does the job below "
        words += "describe this run?"
        return Badge(text="Faster", sentence=say(words + drift, **numbers), color="memory")
    words = "Within the range of the prediction, {low} to {high}."
    return Badge(text="As predicted", sentence=say(words + drift, **numbers), color="compute")


def printed(result: Result) -> Text:
    """Return a comparison of the log's MFU with the model's."""
    check = result.found
    if check is None or not check.printed_mfu:
        return "the log prints none"
    if abs(check.printed_mfu / check.mfu - 1) <= MFU_TOLERANCE:
        return say("the log prints {p}", p=(check.printed_mfu, SHARE))
    return say("the log prints {p}: another count or another peak", p=(check.printed_mfu, SHARE))


def steps(result: Result) -> Lines:
    """Return the time of each step after warm-up, with the prediction."""
    check = result.found
    if check is None:
        return _lines((0.0, 1.0), (0.0, 0.0), ())
    times, warm = check.times, check.steady.skipped
    every = max(1, len(times) // _DRAWN)
    numbers = tuple(map(float, check.numbers[warm::every]))
    rules = (
        Rule(
            key="predicted",
            label=say("predicted {t}", t=(check.predicted, SECONDS)),
            axis="y",
            at=check.predicted,
            color="accent",
        ),
    )
    return _lines(numbers, times[warm::every], rules)


def _lines(x: tuple[float, ...], y: tuple[float, ...], rules: tuple[Rule, ...]) -> Lines:
    low, high = min(x), max(x)
    most = max((*y, *(rule.at for rule in rules)), default=1.0) or 1.0
    return Lines(
        title="Every step",
        x=Axis(label="step", quantity=COUNT, low=low, high=high if high > low else low + 1),
        y=Axis(label="time of a step", quantity=SECONDS, low=0.0, high=1.08 * most),
        series=(Series(key="steps", label="as logged", x=x, y=y, color="compute"),),
        rules=rules,
        caption="The first steps are warm-up: they are not drawn and count in no number.",
    )


def reading(result: Result) -> Table:
    """Return the parsed fields, and measured against modeled memory."""
    rows: list[tuple[Cell, ...]] = [
        ("Printed by", result.log.source, ""),
        ("Steps read", say("{n}", n=(len(result.log.steps), COUNT)), ""),
        ("Lines that could not be read", say("{n}", n=(result.log.unread, COUNT)), ""),
    ]
    if result.found is not None:
        rows += _log_rows(result, result.found)
    return Table(title="What was read", columns=("What", "Log", "Model or job"), rows=tuple(rows))


def _log_rows(result: Result, check: LogCheck) -> list[tuple[Cell, ...]]:
    ours = result.ours
    batch = result.run.training.global_batch_size
    rows: list[tuple[Cell, ...]] = [
        (
            "Warm-up left out",
            say("{n} steps", n=(check.steady.skipped, COUNT)),
            "",
        ),
        (
            "Step",
            say("{t}", t=(check.steady.median, SECONDS)),
            say("{a} to {b}", a=(check.least, SECONDS), b=(check.most, SECONDS)),
        ),
        ("Sequences of a step", say("{n}", n=(check.batch, COUNT)), say("{n}", n=(batch, COUNT))),
    ]
    for label, read, model in (
        ("Allocated", check.allocated, ours.allocated),
        ("Reserved", check.reserved, ours.reserved),
    ):
        value = say("{m}", m=(read, BYTES)) if read else "not printed"
        rows.append((label, value, say("{m}", m=(model, BYTES))))
    return rows
