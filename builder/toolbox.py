"""All calculators with their default results, and what is wrong with them as a whole."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from builder import live, maths
from builder.library import REFERENCES, Library
from builder.live import Live
from builder.memo import Memo
from builder.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolbox:
    """The calculators by name."""

    calculators: Mapping[str, Live]
    problems: tuple[Problem, ...]

    def load(self, name: str) -> Live:
        """Return the calculator `name`, which exists."""
        return self.calculators[name]


def read(memo: Memo, code: str) -> Toolbox:
    """Return all calculators; `code` is the digest of what their results depend on."""
    found: dict[str, Live] = {}
    problems: list[Problem] = []
    for name in live.names():
        found[name], wrong = memo.get(f"calculator {name}", code, _reader(name))
        problems += wrong
        for equation in found[name].equations:
            for key in maths.unknown_symbols(equation):
                message = f"equation '{equation.name}' uses \\v{{{key}}}, not among its symbols"
                problems.append(Problem(live.source(name), 1, message))
    return Toolbox(calculators=found, problems=tuple(problems))


def _reader(name: str) -> Callable[[], tuple[Live, list[Problem]]]:
    return lambda: live.read(name)


def wrong_sources(toolbox: Toolbox, library: Library) -> list[Problem]:
    """Return the receipts that name a source which is not in the bibliography."""
    return [
        Problem(live.source(name), 1, f"output '{output}' cites '{key}', not in {REFERENCES}")
        for name, calculator in toolbox.calculators.items()
        for output, keys in calculator.sources.items()
        for key in keys
        if key not in library.references
    ]


def unplaced(placed: Iterable[str]) -> list[Problem]:
    """Return the calculators that no page shows."""
    missing = sorted(set(live.names()) - set(placed))
    return [
        Problem(live.source(name), 1, f"calculator '{name}' is placed on no page")
        for name in missing
    ]
