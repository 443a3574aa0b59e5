"""The statements of a module: what it imports is among them, and most of its tree is not."""

import ast
from collections.abc import Iterator

BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")  # where a statement holds others


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all statements in a node, those in functions, classes and branches too."""
    for name in BLOCKS:
        block = getattr(node, name, None)
        if isinstance(block, list):  # a lambda and a conditional expression have a body, too
            for one in block:
                yield one
                yield from statements(one)
