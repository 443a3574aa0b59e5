"""Source locations in a calculator's files: lines of fields, outputs and texts.

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
    """Finds the source locations of one calculator, by its name."""

    name: str

    def problem(self, location: SourceLocation | None, message: str) -> Problem:
        """Return a problem at a location, by default at the start of the calculator's file.

        Args:
            location: as returned by a `find_` method.
            message: one sentence.
        """
        path, line = location or (calculator_context.source_path(self.name), 1)
        return Problem(path, line, message)

    def find_field(self, record: str, field: str = "") -> SourceLocation | None:
        """Return the location of a field of a class, or of the class."""
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
        """Return the first location of a string constant or of an argument with this name.

        Args:
            text: the string or argument name to find.
            within: names of enclosing nodes, from the outside in: an assignment, an argument, a
                dictionary entry, or a call with this first argument. Missing names are skipped.
        """
        parts: list[tuple[str, ast.AST]] = list(self._trees.items())
        for name in within:
            inner = [(path, node) for path, part in parts for node in _named_nodes(part, name)]
            parts = inner or parts
        locations = ((path, line) for path, part in parts for line in _lines_of_text(part, text))
        return next(locations, None)

    def find_output(self, output: str, kind: str = "", text: str = "") -> SourceLocation | None:
        """Return the location of the code that creates an output.

        Args:
            output: its name.
            kind: name of the view's class, whose call is searched.
            text: a string in the call, such as the key of a curve; its line is preferred.
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
        """Yield the nodes that create an output: its dictionary entry, the functions it names."""
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
        """The syntax trees of the calculator's modules: its file, or all files of its package."""
        source = PurePosixPath(calculator_context.source_path(self.name))
        file = Path(str(import_module(calculators.module_of(self.name)).__file__))
        is_package = source.stem == calculators.PACKAGE_MODULE
        paths = [file, *sorted(file.parent.glob("*.py"))] if is_package else [file]
        return {
            str(source.parent / path.name): ast.parse(path.read_text("utf-8"))
            for path in dict.fromkeys(paths)
        }


def _named_nodes(part: ast.AST, name: str) -> Iterator[ast.AST]:
    """Yield the nodes with a name: values of assignments, arguments, dictionary entries, calls."""
    yield from (
        inner
        for node in ast.walk(part)
        for inner, node_name in _node_names(node)
        if node_name == name
    )


def _node_names(node: ast.AST) -> Iterator[tuple[ast.AST, object]]:
    """Yield (node, name) pairs that a node binds."""
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from ((node.value, getattr(target, "id", "")) for target in targets)
    elif isinstance(node, ast.keyword):
        yield node, node.arg
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            yield value, getattr(key, "value", None)
    elif isinstance(node, ast.Call):  # Equation("name", ...), Series(key="name", ...)
        first_arguments = [*node.args[:1], *(keyword.value for keyword in node.keywords[:1])]
        yield from ((node, getattr(argument, "value", None)) for argument in first_arguments)


def _lines_of_text(part: ast.AST, text: str) -> list[int]:
    """Return the lines of a string constant or of an argument with this name."""
    lines = [
        node.lineno
        for node in ast.walk(part)
        if (isinstance(node, ast.Constant) and node.value == text)
        or (isinstance(node, ast.keyword) and node.arg == text)
    ]
    return sorted(lines)


def _called_name(call: ast.Call) -> str:
    """Return the name of the called function."""
    return str(getattr(call.func, "id", getattr(call.func, "attr", "")))
