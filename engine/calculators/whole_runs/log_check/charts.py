"""The verdict on a log, its steps over time, and what was read of it."""

from engine.calculators.whole_runs.log_check.inputs import Result
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, SECONDS, SHARE
from engine.core.views import Axis, Badge, Cell, Lines, Rule, Series, Table
from engine.simulate.measured.log_check import ALIKE, LogCheck

# So much drift from the first quarter to the last is not chance.
_DRIFTS = 0.03
_DRAWN = 400


def verdict(result: Result) -> Badge:
    """Return whether the step is the expected one, and whether it stays so."""
    found = result.found
    if found is None:
        return Badge(text="No whole step", sentence="The log ends before its first step does.")
    off = found.steady.median / found.predicted - 1
    numbers = {
        "off": (abs(off), SHARE),
        "low": (found.least, SECONDS),
        "high": (found.most, SECONDS),
        "drift": (abs(found.steady.drift), SHARE),
    }
    drift = ""
    if abs(found.steady.drift) > _DRIFTS:
        way = "slower" if found.steady.drift > 0 else "faster"
        drift = f" It becomes {way}: {{drift}} from the first quarter of the log to the last."
    batch = result.run.training.global_batch_size
    if found.batch != batch:
        numbers |= {"logged": (found.batch, COUNT), "batch": (batch, COUNT)}
        words = "A step of this log takes {logged} sequences, a step of the job below takes "
        words += "{batch}. Describe your run below to compare the two."
        return Badge(text="Another job", sentence=say(words + drift, **numbers), color="muted")
    if found.steady.median > found.most:
        words = "{off} above the prediction, whose range is {low} to {high}: look at the spread, "
        words += "then at what waits."
        return Badge(text="Slower", sentence=say(words + drift, **numbers), color="communication")
    if found.steady.median < found.least:
        words = "{off} below the prediction, whose range is {low} to {high}: does the job below "
        words += "describe this run?"
        return Badge(text="Faster", sentence=say(words + drift, **numbers), color="memory")
    words = "Within the range of the prediction, {low} to {high}."
    return Badge(text="As predicted", sentence=say(words + drift, **numbers), color="compute")


def printed(result: Result) -> Text:
    """Return how the MFU that the log prints compares."""
    found = result.found
    if found is None or not found.printed_mfu:
        return "the log prints none"
    if abs(found.printed_mfu / found.mfu - 1) <= ALIKE:
        return say("the log prints {p}", p=(found.printed_mfu, SHARE))
    return say("the log prints {p}: another count or another peak", p=(found.printed_mfu, SHARE))


def steps(result: Result) -> Lines:
    """Return the time of each step after warm-up, with the prediction."""
    found = result.found
    if found is None:
        return _lines((0.0, 1.0), (0.0, 0.0), ())
    times, warm = found.times, found.steady.skipped
    every = max(1, len(times) // _DRAWN)
    numbers = tuple(map(float, found.numbers[warm::every]))
    rules = (
        Rule(
            key="predicted",
            label=say("predicted {t}", t=(found.predicted, SECONDS)),
            axis="y",
            at=found.predicted,
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
    """Return what was read, and the memory beside the model's."""
    rows: list[tuple[Cell, ...]] = [
        ("Printed by", result.log.source, ""),
        ("Steps read", say("{n}", n=(len(result.log.steps), COUNT)), ""),
        ("Lines that could not be read", say("{n}", n=(result.log.unread, COUNT)), ""),
    ]
    if result.found is not None:
        rows += _of_found(result, result.found)
    return Table(title="What was read", columns=("What", "Log", "Model or job"), rows=tuple(rows))


def _of_found(result: Result, found: LogCheck) -> list[tuple[Cell, ...]]:
    ours = result.ours
    batch = result.run.training.global_batch_size
    told: list[tuple[Cell, ...]] = [
        (
            "Warm-up left out",
            say("{n} steps", n=(found.steady.skipped, COUNT)),
            "",
        ),
        (
            "Step",
            say("{t}", t=(found.steady.median, SECONDS)),
            say("{a} to {b}", a=(found.least, SECONDS), b=(found.most, SECONDS)),
        ),
        ("Sequences of a step", say("{n}", n=(found.batch, COUNT)), say("{n}", n=(batch, COUNT))),
    ]
    for label, read, model in (
        ("Allocated", found.allocated, ours.allocated),
        ("Reserved", found.reserved, ours.reserved),
    ):
        value = say("{m}", m=(read, BYTES)) if read else "not printed"
        told.append((label, value, say("{m}", m=(model, BYTES))))
    return told
