"""What notebooks want: any calculator by name, and grids of estimates as arrays."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from typing import Any

from engine.answer import read_inputs
from engine.calculator import load, make, names
from engine.core.closest_name import closest
from engine.core.input_units import Scalar
from engine.core.views import Value, View
from engine.library.functions import Document, estimate
from engine.run.document import InputError
from engine.run.values import format_value

_NEEDED = "{package} is needed: pip install 'wallclock-training[notebook]'"
# What a grid holds of every estimate, beside whether it fits.
MEASURES = (
    "step_time",
    "step_time_low",
    "step_time_high",
    "tokens_per_second_per_gpu",
    "mfu",
    "memory_process",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calculation:
    """The answer of one calculator of the site.

    Attributes:
        name: of the calculator, as `wallclock list` names it.
        title: as its page shows it.
        inputs: every input in SI units.
        numbers: name -> result in SI units.
        views: numbers, tables, charts and drawings, as the page shows them.
    """

    name: str
    title: str
    inputs: Mapping[str, Scalar]
    numbers: Mapping[str, float]
    views: Mapping[str, View]

    def _repr_html_(self) -> str:
        from engine.library.display import views_html

        return views_html(self.title, self.views)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Estimates over a grid of run files.

    Attributes:
        axes: path of a run file's key -> its values; the order is that of the arrays' axes.
        values: name -> NumPy array, one axis for each of `axes`; NaN where a run is impossible.
            The names are `MEASURES`, and "fits" with 1 or 0.
        problems: (place on each axis) -> why that run is impossible.
    """

    axes: Mapping[str, tuple[Any, ...]]
    values: Mapping[str, Any]
    problems: Mapping[tuple[int, ...], tuple[str, ...]]

    def frame(self) -> Any:  # noqa: ANN401 (pandas is not a dependency)
        """Return a pandas frame with a row for each run.

        Raises:
            ImportError: pandas is not installed.
        """
        pandas = notebook_package("pandas")
        columns = [name.rpartition(".")[2] for name in self.axes]
        rows = [dict(zip(columns, point, strict=True)) for point in product(*self.axes.values())]
        arrays = {name: array.ravel() for name, array in self.values.items()}
        return pandas.DataFrame(rows).assign(**arrays)

    def _repr_html_(self) -> str:
        html: str = self.frame()._repr_html_()
        return html


def calculate(calculator: str, /, **inputs: Scalar) -> Calculation:
    """Return the answer of any calculator of the site.

    Args:
        calculator: its name, as `wallclock list` names it.
        inputs: numbers in SI units, names of choices, or texts with a unit, such as "400 Gb/s".

    Raises:
        InputError: there is no such calculator or input, or a value cannot be used.

    Example:
        >>> sync = calculate("gradient_sync", world_size=64, port="400 Gb/s")
        >>> sync.inputs["port"]
        50000000000.0
        >>> 0 < sync.numbers["all_reduce_time"] < 1
        True
    """
    if calculator not in names():
        near = closest(calculator, names())
        hint = f"did you mean '{near}'? " if near else ""
        raise InputError(
            [f"calculator: {format_value(calculator)}; {hint}`wallclock list` has all"]
        )
    chosen = load(calculator)
    typed = {name: value for name, value in inputs.items() if _has_unit(value)}
    plain = {name: _as_text(value) for name, value in inputs.items() if name not in typed}
    values, errors, problems = read_inputs(chosen, {"values": plain, "typed": typed})
    if errors or problems:
        raise InputError([*problems, *(f"{name}: {error}" for name, error in errors.items())])
    views = chosen.compute(make(chosen, values))
    return Calculation(
        name=calculator,
        title=chosen.title,
        inputs=values,
        numbers={n: view.value for n, view in views.items() if isinstance(view, Value)},
        views=views,
    )


def sweep(run: Document, axes: Mapping[str, Sequence[Any]]) -> Grid:
    """Return estimates over a grid: every combination of some values of a run file.

    Args:
        run: a run file, whose values hold where no axis says otherwise.
        axes: path of a key -> values to try, such as "parallelism.tensor_parallel": [2, 4, 8].

    Raises:
        InputError: no axis is given, or one has no values.
        ImportError: NumPy is not installed.

    Example:
        >>> grid = sweep(run, {
        ...     "parallelism.tensor_parallel": [4, 8],
        ...     "training.micro_batch_size": [1, 2, 4],
        ... })
        >>> grid.values["step_time"].shape
        (2, 3)
        >>> len(grid.frame())
        6
    """
    numpy = notebook_package("numpy")
    if not axes or not all(len(values) for values in axes.values()):
        raise InputError([f"axes: {format_value(axes)}; allowed: paths of keys with their values"])
    shape = tuple(len(values) for values in axes.values())
    arrays = {name: numpy.full(shape, numpy.nan) for name in (*MEASURES, "fits")}
    problems: dict[tuple[int, ...], tuple[str, ...]] = {}
    for index, point in zip(numpy.ndindex(shape), product(*axes.values()), strict=True):
        try:
            result = estimate(_with_values(run, zip(axes, point, strict=True)))
        except InputError as error:
            problems[index] = error.problems
            continue
        for name in arrays:
            arrays[name][index] = float(getattr(result, name))
    named = {path: tuple(values) for path, values in axes.items()}
    return Grid(axes=named, values=arrays, problems=problems)


def _with_values(run: Document, changes: Iterator[tuple[str, Any]]) -> Document:
    """Return a run file with other values at some paths."""
    changed: dict[str, Any] = dict(run)
    for path, value in changes:
        *sections, key = path.split(".")
        section = changed
        for name in sections:
            section[name] = dict(section.get(name, {}))
            section = section[name]
        section[key] = value
    return changed


def _has_unit(value: Scalar) -> bool:
    """Return whether a value is a number with a unit, which is read as on the page."""
    if not isinstance(value, str) or not value[:1].isdigit():
        return False
    return not value.replace(",", "").replace(".", "").isdigit()


def _as_text(value: Scalar) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return value if isinstance(value, str) else repr(value)


def notebook_package(name: str) -> Any:  # noqa: ANN401
    """Return a package of the extra [notebook].

    Raises:
        ImportError: it is not installed; the message says how.
    """
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(_NEEDED.format(package=name)) from None
