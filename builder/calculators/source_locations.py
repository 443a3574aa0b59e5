"""Where in its source a calculator says what: the line of a field, of an output, of a name.

The source is read only where something is wrong.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path, PurePosixPath

from builder.calculators import calculator_context
from builder.core.problem import Problem
from engine import calculator as calculators

SourceLocation = tuple[str, int]  # file from the project's folder, line


@dataclass(frozen=True)
class SourceLocations:
    """The places of one calculator, by its name."""

    name: str

    def problem(self, location: SourceLocation | None, message: str) -> Problem:
        """Return a problem at a place, at the beginning of the calculator's file if there is none.

        Args:
            location: what one of the methods found.
            message: one sentence.
        """
        path, line = location or (calculator_context.source_path(self.name), 1)
        return Problem(path, line, message)

    def find_field(self, record: str, field: str = "") -> SourceLocation | None:
        """Return where a class declares a field, or where it begins."""
        for path, tree in self._trees.items():
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef) and node.name == record:
                    fields = (
                        statement for statement in node.body if isinstance(statement, ast.AnnAssign)
                    )
                    matching = (
                        statement
                        for statement in fields
                        if getattr(statement.target, "id", "") == field
                    )
                    return path, next(matching, node).lineno
        return None

    def find_text(self, text: str, *within: str) -> SourceLocation | None:
        """Return where a text, or an argument of this name, stands first.

        Args:
            text: what is looked for.
            within: names of what it stands in, from the outside in: an assignment, an argument, an
                entry of a dictionary, or a text that stands beside it. What is not there is
                skipped.
        """
        parts: list[tuple[str, ast.AST]] = list(self._trees.items())
        for name in within:
            inner = [(path, node) for path, part in parts for node in _named_nodes(part, name)]
            parts = inner or parts
        locations = ((path, line) for path, part in parts for line in _lines_of_text(part, text))
        return next(locations, None)

    def find_output(self, output: str, kind: str = "", text: str = "") -> SourceLocation | None:
        """Return where an output is made.

        Args:
            output: its name.
            kind: name of the view's class, whose call is looked for.
            text: stands in it, such as the key of a curve: its line goes before that of the view.
        """
        entry_location = self.find_text(output)
        for path, part in self._output_nodes(output):
            calls = [
                node.lineno
                for node in ast.walk(part)
                if isinstance(node, ast.Call) and _called_name(node) == kind
            ]
            lines = [*(_lines_of_text(part, text) if text else ()), *calls]
            if lines:
                return path, lines[0]
        return entry_location

    def _output_nodes(self, output: str) -> Iterator[tuple[str, ast.AST]]:
        """Yield what is made for an output: its entry in a dictionary, the functions it names."""
        entries = [
            value
            for tree in self._trees.values()
            for node in ast.walk(tree)
            if isinstance(node, ast.Dict)
            for key, value in zip(node.keys, node.values, strict=True)
            if isinstance(key, ast.Constant) and key.value == output
        ]
        function_names = {
            n.id for entry in entries for n in ast.walk(entry) if isinstance(n, ast.Name)
        }
        for path, tree in self._trees.items():
            own_entries = [
                entry for entry in entries if any(entry is node for node in ast.walk(tree))
            ]
            yield from ((path, entry) for entry in own_entries)
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef) and node.name in function_names:
                    yield path, node

    @cached_property
    def _trees(self) -> dict[str, ast.Module]:
        """The calculator's own modules: its file, and in a package of its own those beside it."""
        source = PurePosixPath(calculator_context.source_path(self.name))
        file = Path(str(import_module(calculators.module_of(self.name)).__file__))
        is_package = source.stem == calculators.PACKAGE_MODULE
        paths = [file, *sorted(file.parent.glob("*.py"))] if is_package else [file]
        return {
            str(source.parent / path.name): ast.parse(path.read_text("utf-8"))
            for path in dict.fromkeys(paths)
        }


def _named_nodes(part: ast.AST, name: str) -> Iterator[ast.AST]:
    """Yield what has a name: the value of an assignment, of an argument, of an entry, a call."""
    yield from (
        inner
        for node in ast.walk(part)
        for inner, node_name in _node_names(node)
        if node_name == name
    )


def _node_names(node: ast.AST) -> Iterator[tuple[ast.AST, object]]:
    """Yield what a node gives a name, with the name."""
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from ((node.value, getattr(target, "id", "")) for target in targets)
    elif isinstance(node, ast.keyword):
        yield node, node.arg
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            yield value, getattr(key, "value", None)
    elif isinstance(node, ast.Call):  # Equation("name", ...), Series(key="name", ...)
        first_arguments = [*node.args[:1], *(target.value for target in node.keywords[:1])]
        yield from ((node, getattr(target, "value", None)) for target in first_arguments)


def _lines_of_text(part: ast.AST, text: str) -> list[int]:
    """Return the lines on which a text or an argument of this name stands."""
    lines = [
        node.lineno
        for node in ast.walk(part)
        if (isinstance(node, ast.Constant) and node.value == text)
        or (isinstance(node, ast.keyword) and node.arg == text)
    ]
    return sorted(lines)


def _called_name(call: ast.Call) -> str:
    """Return the name of what is called."""
    return str(getattr(call.func, "id", getattr(call.func, "attr", "")))
