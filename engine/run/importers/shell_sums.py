"""Sums of whole numbers as a shell has them: `2 * (3 + 4)`, below a trillion."""

import ast
import operator
from collections.abc import Callable, Mapping

_TRILLION = 10**12
_OPERATORS: Mapping[type, Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
_COMPARISONS: Mapping[type, Callable[[int, int], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def evaluate_sum(text: str) -> int | None:
    """Return the value of a sum, 1 or 0 of a comparison; None where it has no whole value."""
    if len(text) > 500:
        return None
    try:
        return _evaluate(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _evaluate(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int and node.value < _TRILLION:
        return node.value
    if isinstance(node, ast.BinOp):
        return _operate(node.op, _evaluate(node.left), _evaluate(node.right))
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        compare = _COMPARISONS.get(type(node.ops[0]))
        if compare:
            return int(compare(_evaluate(node.left), _evaluate(node.comparators[0])))
    raise ValueError("no sum of whole numbers")


def _operate(kind: ast.operator, left: int, right: int) -> int:
    if isinstance(kind, ast.Div | ast.FloorDiv) and right:
        return left // right
    if isinstance(kind, ast.Mod) and right:
        return left % right
    if type(kind) in _OPERATORS and abs(left) < _TRILLION and abs(right) < _TRILLION:
        return _OPERATORS[type(kind)](left, right)
    raise ValueError("no sum of whole numbers")
