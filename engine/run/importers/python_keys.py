"""Settings of a Python configuration: parsed with `ast`, never executed."""

import ast
import re
import warnings
from collections.abc import Mapping
from typing import Any

from engine.run.importers.import_report import Setting, TextError

_LONGEST = 200_000
_DEEPEST = 60


def read_python(text: str, first_line: int = 1) -> list[Setting]:
    """Return keywords of nested calls and attribute assignments, keys joined by points.

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
    settings: list[Setting] = []
    scope = _scope(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            _read_assignment(node, settings, first_line, scope)
        elif isinstance(node, ast.FunctionDef):
            settings.append(Setting(key="def", value=node.name, line=node.lineno + first_line - 1))
            settings += _parameter_defaults(node, first_line)
        elif (isinstance(node, ast.Return) and isinstance(node.value, ast.Call)) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        ):
            _read_call(node.value, "", settings, first_line, scope)
    return sorted(settings, key=lambda setting: setting.line)


def configuration_functions(text: str) -> list[tuple[str, int]]:
    """Return name and line of each public function, a configuration each."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    functions = (function for function in body if isinstance(function, ast.FunctionDef))
    return [
        (function.name, function.lineno)
        for function in functions
        if not function.name.startswith("_")
    ]


def require_single_configuration(text: str, first_line: int) -> None:
    """Reject a file with several configurations, such as a registry of recipes.

    Raises:
        TextError: what the text holds, and what to do.
    """
    functions = configuration_functions(text)
    if len(functions) > 1:
        names = ", ".join(f"{name} (line {first_line + line - 1})" for name, line in functions[:12])
        more = f" and {len(functions) - 12} more" if len(functions) > 12 else ""
        raise TextError(
            f"line {first_line}: {len(functions)} configurations, {names}{more}; paste one of "
            "these functions alone"
        )


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
    """Return the calls assigned to variables that are passed by name: `compile=compile_config`."""
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


def _read_assignment(
    node: ast.Assign | ast.AnnAssign, settings: list[Setting], first: int, scope: Scope
) -> None:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        path = _dotted(target)
        if path in scope:
            continue  # read where it is handed on
        if path and isinstance(node.value, ast.Call):
            inside = path.partition(".")[2]
            _read_call(node.value, f"{inside}." if inside else "", settings, first, scope)
        elif path and node.value is not None and "." in path:
            key = path.partition(".")[2]
            settings.append(
                Setting(key=key, value=_literal(node.value), line=node.lineno + first - 1)
            )


def _parameter_defaults(node: ast.FunctionDef, first: int) -> list[Setting]:
    """Return the defaults of a recipe's parameters: `tensor_model_parallel_size: int = 4`."""
    names = node.args.args[len(node.args.args) - len(node.args.defaults) :]
    pairs = [*zip(names, node.args.defaults, strict=True)]
    pairs += [
        (name, value)
        for name, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        if value is not None
    ]
    return [
        Setting(key=name.arg, value=_literal(value), line=name.lineno + first - 1)
        for name, value in pairs
    ]


def _read_call(
    node: ast.Call, path: str, settings: list[Setting], first: int, scope: Scope
) -> None:
    name = _dotted(node.func)
    line = node.lineno + first - 1
    constant = bool(node.args) and isinstance(node.args[0], ast.Constant)
    if path and constant and len(node.args) == 1:
        settings.append(Setting(key=path[:-1], value=_literal(node.args[0]), line=line))
    elif path and (not node.keywords or "AC" in name):
        settings.append(Setting(key=path[:-1], value=name, line=line))
    for argument in node.args:
        if isinstance(argument, ast.Call):
            _read_call(argument, path, settings, first, scope)
    for word in node.keywords:
        if word.arg is not None:
            _read_keyword(word.value, f"{path}{word.arg}", settings, first, scope)


def _read_keyword(
    node: ast.expr, path: str, settings: list[Setting], first: int, scope: Scope
) -> None:
    if isinstance(node, ast.Name) and node.id in scope:
        others = {name: call for name, call in scope.items() if name != node.id}
        _read_call(scope[node.id], f"{path}.", settings, first, others)
    elif isinstance(node, ast.Call):
        _read_call(node, f"{path}.", settings, first, scope)
    else:
        settings.append(Setting(key=path, value=_literal(node), line=node.lineno + first - 1))


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
        return [_literal(element) for element in node.elts[:4096]]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        left, right = _literal(node.left), _literal(node.right)
        if isinstance(left, int) and isinstance(right, int) and max(left, right) < 10**9:
            return left * right
    return _dotted(node) or "an expression"
