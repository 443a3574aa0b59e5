"""The small faults: one changed comparison, operator, constant, condition or result at a time."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A piece of a file, from `start` to `end`, and what stands there instead."""

    line: int
    start: int
    end: int
    before: str
    after: str


def faults(text: str) -> list[Fault]:
    """Return every fault that can be seeded in the text of a module."""
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for node, changed in _changes(ast.parse(text)):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)
        before = text.encode()[start:end].decode()
        after = ast.unparse(ast.fix_missing_locations(changed))
        if isinstance(node, ast.expr) and not isinstance(node, ast.Constant):
            after = f"({after})"
        found.append(Fault(line=node.lineno, start=start, end=end, before=before, after=after))
    return found


def seeded(text: str, fault: Fault) -> str:
    """Return the text with the fault in it."""
    data = text.encode()
    return (data[: fault.start] + fault.after.encode() + data[fault.end :]).decode()


def _changes(tree: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, ast.AST]]:
    """Yield (node, what to write in its place); decorators and texts stay as they are."""
    for node in _walk(tree):
        changed = _of_operator(node) or _of_value(node)
        if changed is not None:
            yield node, changed  # type: ignore[misc]


def _of_operator(node: ast.AST) -> ast.AST | None:
    match node:
        case ast.Compare(left, [op], [right]) if type(op) in _COMPARISONS:
            return ast.Compare(left, [_COMPARISONS[type(op)]()], [right])
        case ast.BinOp(left, op, right) if type(op) in _OPERATORS:
            return ast.BinOp(left, _OPERATORS[type(op)](), right)
        case ast.BoolOp(op, values):
            return ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            return operand
    return None


def _of_value(node: ast.AST) -> ast.AST | None:
    match node:
        case ast.Constant(bool() as value):
            return ast.Constant(not value)
        case ast.Constant(int() | float() as value):
            # One more is nothing to a large number.
            return ast.Constant(value + 1 if abs(value) < 100 else 2 * value)
        case ast.Return(ast.expr() as value) if not _is_none(value):
            return ast.Return(ast.Constant(None))
        case ast.IfExp(test, body, otherwise):
            return ast.IfExp(ast.UnaryOp(ast.Not(), test), body, otherwise)
    return None


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for name, child in ast.iter_fields(node):
        # What a decorator says changes no number; text is read, not tested; types do nothing.
        if name in ("decorator_list", "returns") or isinstance(child, ast.JoinedStr):
            continue
        for one in child if isinstance(child, list) else [child]:
            if isinstance(one, ast.AST) and not isinstance(one, (ast.JoinedStr, ast.Assert)):
                yield from _walk(one)
