"""The settings of a Python configuration: read as a tree, never run."""

import ast
import re
import warnings
from collections.abc import Mapping
from typing import Any

from engine.run.importers.import_report import Given, TextError

_LONGEST = 200_000
_DEEPEST = 60


def python_keys(text: str, first_line: int = 1) -> list[Given]:
    """Return keywords of nested calls, and assignments to attributes, joined by points.

    `parallelism=ParallelismConfig(tensor_parallel_degree=8)` and `cfg.model.seq_length = 4096`.
    """
    if len(text) > _LONGEST or _depth(text) > _DEEPEST or re.search(r"[-+~]{100}", text):
        raise TextError(f"line {first_line}: too long or too deeply nested to be read as Python")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a reader pasted warns nobody
            tree = ast.parse(text)
    except SyntaxError as error:
        line = first_line + (error.lineno or 1) - 1
        raise TextError(f"line {line}, column {error.offset or 1}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError):
        raise TextError(f"line {first_line}: this cannot be read as Python") from None
    found: list[Given] = []
    scope = _scope(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            _assigned(node, found, first_line, scope)
        elif isinstance(node, ast.FunctionDef):
            found.append(Given(key="def", value=node.name, line=node.lineno + first_line - 1))
            found += _defaults(node, first_line)
        elif (isinstance(node, ast.Return) and isinstance(node.value, ast.Call)) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        ):
            _call(node.value, "", found, first_line, scope)
    return sorted(found, key=lambda one: one.line)


def configurations(text: str) -> list[tuple[str, int]]:
    """Return name and line of the functions that hold a configuration each."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    functions = (one for one in body if isinstance(one, ast.FunctionDef))
    return [(one.name, one.lineno) for one in functions if not one.name.startswith("_")]


def _depth(text: str) -> int:
    depth = most = 0
    for letter in text:
        if letter in "([{":
            depth += 1
            most = max(most, depth)
        elif letter in ")]}":
            depth -= 1
    return most


Scope = Mapping[str, ast.Call]


def _scope(tree: ast.Module) -> dict[str, ast.Call]:
    """Return what variables hold that are handed on by name: `compile=compile_config`."""
    nodes = list(ast.walk(tree))
    handed = {
        word.value.id
        for node in nodes
        if isinstance(node, ast.Call)
        for word in node.keywords
        if isinstance(word.value, ast.Name)
    }
    return {
        node.targets[0].id: node.value
        for node in nodes
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in handed
    }


def _assigned(
    node: ast.Assign | ast.AnnAssign, found: list[Given], first: int, scope: Scope
) -> None:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        path = _dotted(target)
        if path in scope:
            continue  # read where it is handed on
        if path and isinstance(node.value, ast.Call):
            inside = path.partition(".")[2]
            _call(node.value, f"{inside}." if inside else "", found, first, scope)
        elif path and node.value is not None and "." in path:
            key = path.partition(".")[2]
            found.append(Given(key=key, value=_literal(node.value), line=node.lineno + first - 1))


def _defaults(node: ast.FunctionDef, first: int) -> list[Given]:
    """Return the defaults of a recipe's parameters: `tensor_model_parallel_size: int = 4`."""
    names = node.args.args[len(node.args.args) - len(node.args.defaults) :]
    pairs = [*zip(names, node.args.defaults, strict=True)]
    pairs += [
        (name, value)
        for name, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        if value is not None
    ]
    return [
        Given(key=name.arg, value=_literal(value), line=name.lineno + first - 1)
        for name, value in pairs
    ]


def _call(node: ast.Call, path: str, found: list[Given], first: int, scope: Scope) -> None:
    name = _dotted(node.func)
    line = node.lineno + first - 1
    constant = bool(node.args) and isinstance(node.args[0], ast.Constant)
    if path and constant and len(node.args) == 1:
        found.append(Given(key=path[:-1], value=_literal(node.args[0]), line=line))
    elif path and (not node.keywords or "AC" in name):
        found.append(Given(key=path[:-1], value=name, line=line))
    for argument in node.args:
        if isinstance(argument, ast.Call):
            _call(argument, path, found, first, scope)
    for word in node.keywords:
        if word.arg is not None:
            _keyword(word.value, f"{path}{word.arg}", found, first, scope)


def _keyword(node: ast.expr, path: str, found: list[Given], first: int, scope: Scope) -> None:
    if isinstance(node, ast.Name) and node.id in scope:
        others = {name: call for name, call in scope.items() if name != node.id}
        _call(scope[node.id], f"{path}.", found, first, others)
    elif isinstance(node, ast.Call):
        _call(node, f"{path}.", found, first, scope)
    else:
        found.append(Given(key=path, value=_literal(node), line=node.lineno + first - 1))


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        return ".".join(reversed([*parts, node.id]))
    return ""


def _literal(node: ast.expr) -> Any:  # noqa: ANN401
    """Return a constant, a list of constants, a product of whole numbers, or its text."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Call):
        return _dotted(node.func) or "an expression"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _literal(node.operand)
        return -inner if isinstance(inner, int | float) else inner
    if isinstance(node, ast.List | ast.Tuple):
        return [_literal(one) for one in node.elts[:4096]]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        left, right = _literal(node.left), _literal(node.right)
        if isinstance(left, int) and isinstance(right, int) and max(left, right) < 10**9:
            return left * right
    return _dotted(node) or "an expression"
