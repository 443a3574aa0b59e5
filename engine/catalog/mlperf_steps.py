"""Predicted steps of the rows of MLPerf® Training, written by `tests.validation.mlperf`."""

from functools import cache

from engine.catalog.mlperf_steps_table import TEXT
from engine.core.record import record
from engine.core.units import Seconds

# Parts of a step, as `StepTime` names them.
TERMS = (
    *("compute", "tensor_parallel", "context_parallel", "expert_parallel", "pipeline"),
    *("data_parallel", "bubble", "optimizer", "other"),
)


@record
class MlperfStep:
    """The predicted step of a row.

    Attributes:
        key: of the row.
        seen: whether a constant was fitted to it.
        calibrates: whether it is among the runs that the range was calibrated on.
        predicted: the step.
        low, high: the range in which four of five such steps are to lie.
        warned: whether the estimate says that it extrapolates.
        fits: whether the memory model says that the plan fits.
        range_class: the class of runs that the range is of.
        terms: the parts of the step, in the order of `TERMS`.
        query: the run in the form of the estimate; "" where the form has no field for it.
    """

    key: str
    seen: bool
    calibrates: bool
    predicted: Seconds
    low: Seconds
    high: Seconds
    warned: bool
    fits: bool
    range_class: str
    terms: tuple[Seconds, ...]
    query: str


@cache
def mlperf_steps() -> dict[str, MlperfStep]:
    """Return row -> its predicted step, of all rows with a run file."""
    return read_steps(TEXT)


def read_steps(text: str) -> dict[str, MlperfStep]:
    """Return row -> its predicted step, of the text of such a table."""
    return {step.key: step for step in map(_read, text.splitlines()[1:])}


def _read(line: str) -> MlperfStep:
    key, *marks, predicted, low, high, warned, fits, range_class = line.split("\t")[:9]
    *terms, query = line.split("\t")[9:]
    seen, calibrates = marks
    return MlperfStep(
        key=key,
        seen=seen == "yes",
        calibrates=calibrates == "yes",
        predicted=float(predicted),
        low=float(low),
        high=float(high),
        warned=warned == "yes",
        fits=fits == "yes",
        range_class=range_class,
        terms=tuple(map(float, terms)),
        query=query,
    )
