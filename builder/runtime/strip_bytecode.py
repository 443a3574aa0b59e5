"""Byte code as small as it gets: without words, types and lines. Runs inside Pyodide, too.

What a data class compiles when its module is imported is noted, so that it can travel along.
"""

import ast
import marshal
from _frozen_importlib_external import MAGIC_NUMBER
from binascii import crc32
from types import CodeType
from typing import Any

# Module -> what its data classes have compiled, by the checksum of the text.
RECORDS: dict[str, dict[int, CodeType]] = {}
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")  # where a statement holds others
UNCHECKED = (1).to_bytes(4, "little")  # a hash-based .pyc that nobody compares with its source


def byte_code(source: str | bytes, path: str, optimize: int, *, bare: bool = False) -> bytes:
    """Return the content of the .pyc of a source file; `bare` without the types of functions."""
    tree = ast.parse(source)
    if bare:  # the standard library may read its own types
        take_types_out(tree)
    code = compile(tree, path, "exec", dont_inherit=True, optimize=optimize)
    if optimize:
        code = without_lines(code)
    # Through marshal twice: how often an object is shared must not depend on this process.
    stable = marshal.dumps(marshal.loads(marshal.dumps(code)))
    return MAGIC_NUMBER + UNCHECKED + bytes(8) + stable


def without_lines(code: CodeType) -> CodeType:
    """Return code that does not know its line numbers: half of the compressed bytes."""
    inner = [without_lines(c) if isinstance(c, CodeType) else c for c in code.co_consts]
    return code.replace(co_linetable=b"", co_consts=tuple(inner))


def take_types_out(node: ast.AST) -> None:
    """Take the types of functions and variables out; those of fields say what a reader can set.

    A class gets words of its own: a data class without any writes all its inputs with their types.
    Only statements are looked at: nothing in an expression has a type, and most of a tree is
    expressions.
    """
    if isinstance(node, ast.ClassDef) and node.decorator_list:
        node.body[:0] = ast.parse(f"__doc__ = {node.name!r}").body
    for name in BLOCKS:
        block: Any = getattr(node, name, None)
        for place, part in enumerate(block if isinstance(block, list) else ()):
            if isinstance(part, ast.AnnAssign) and not isinstance(node, ast.ClassDef):
                block[place] = without_type(part)
            elif isinstance(part, ast.FunctionDef):
                take_out_of_function(part)
            take_types_out(part)


def without_type(node: ast.AnnAssign) -> ast.stmt:
    """Return an assignment without type; a mere declaration stays."""
    if node.value is None:
        return node
    return ast.copy_location(ast.Assign(targets=[node.target], value=node.value), node)


def take_out_of_function(node: ast.FunctionDef) -> None:
    """Take the types of a function's arguments and of what it returns out."""
    node.returns = None
    given = node.args
    for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
        if one:
            one.annotation = None


def noted(text: str, scope: dict[str, Any], names: dict[str, Any]) -> None:
    """Run what a data class has written, in the place of `exec`, and keep the code."""
    tree = ast.parse(text)
    take_types_out(tree)
    code = without_lines(compile(tree, "", "exec", dont_inherit=True, optimize=2))
    RECORDS.setdefault(scope["__name__"], {})[crc32(text.encode())] = code
    exec(code, scope, names)


def records(path: str) -> bytes:
    """Return the codes of a module's data classes, in the order of their checksums."""
    codes = dict(sorted(RECORDS[dotted(path)].items()))
    return marshal.dumps(marshal.loads(marshal.dumps(codes)))


def dotted(path: str) -> str:
    """Return the name of a module by its path."""
    return path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
