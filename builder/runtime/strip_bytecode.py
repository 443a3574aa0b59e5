"""Compiles byte code without docstrings, annotations and line numbers; also runs inside Pyodide.

Methods that data classes compile while their module is imported are recorded, so that they can be
shipped.
"""

import ast
import marshal
from _frozen_importlib_external import MAGIC_NUMBER
from binascii import crc32
from itertools import count, product
from types import CodeType
from typing import Any

# Module -> checksum of the text -> compiled data-class methods.
RECORDS: dict[str, dict[int, CodeType]] = {}
# Fields of a statement that hold statements.
BLOCK_FIELDS = ("body", "orelse", "finalbody", "handlers", "cases")
LETTERS = "abcdefghijklmnopqrstuvwxyz"  # `string` would travel to every reader
# Flags of code objects, by the numbers of `inspect`, a large module.
CO_OPTIMIZED, CO_VARARGS, CO_VARKEYWORDS = 1, 4, 8
# Flags of a hash-based .pyc that is not checked against its source.
UNCHECKED = (1).to_bytes(4, "little")


def compile_source(source: str | bytes, path: str, optimize: int, *, bare: bool = False) -> bytes:
    """Return the .pyc content of a source file; `bare` removes annotations of functions."""
    tree = ast.parse(source)
    if bare:  # not for the standard library, which may read its own annotations
        remove_annotations(tree)
    code = compile(tree, path, "exec", dont_inherit=True, optimize=optimize)
    if optimize:
        code = without_lines(code, short_names=bare)
    # Through marshal twice: how often an object is shared must not depend on this process.
    stable = marshal.dumps(marshal.loads(marshal.dumps(code)))
    return MAGIC_NUMBER + UNCHECKED + bytes(8) + stable


def without_lines(code: CodeType, *, short_names: bool = False) -> CodeType:
    """Return code without line numbers, which are half of its compressed size.

    With `short_names`, local variables of functions are called a, b, c: nothing reads their names.
    """
    inner = [
        without_lines(constant, short_names=short_names)
        if isinstance(constant, CodeType)
        else constant
        for constant in code.co_consts
    ]
    names = short_local_names(code) if short_names else code.co_varnames
    return code.replace(co_linetable=b"", co_consts=tuple(inner), co_varnames=names)


def short_local_names(code: CodeType) -> tuple[str, ...]:
    """Return the names of a function's variables, those that are no parameters as short as can be.

    Parameters may be given by name, and cells are shared by name with inner functions.
    """
    if not code.co_flags & CO_OPTIMIZED:  # a module or a class: its variables are attributes
        return code.co_varnames
    number = code.co_argcount + code.co_kwonlyargcount
    number += bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)
    parameters = code.co_varnames[:number]
    taken = {*parameters, *code.co_cellvars, *code.co_freevars}
    short = (name for name in _short_names() if name not in taken)
    return (*parameters, *(next(short) for _ in code.co_varnames[number:]))


def _short_names() -> Any:  # noqa: ANN401 (an iterator of texts)
    for length in count(1):
        yield from map("".join, product(LETTERS, repeat=length))


def remove_annotations(node: ast.AST) -> None:
    """Remove the annotations of functions and variables, but not those of class fields.

    A decorated class gets a docstring, since a data class without one generates its signature. Only
    statements are visited: no expression has annotations, and most nodes are expressions.
    """
    if isinstance(node, ast.ClassDef) and node.decorator_list:
        node.body[:0] = ast.parse(f"__doc__ = {node.name!r}").body
    for name in BLOCK_FIELDS:
        block: Any = getattr(node, name, None)
        for index, statement in enumerate(block if isinstance(block, list) else ()):
            if isinstance(statement, ast.AnnAssign) and not isinstance(node, ast.ClassDef):
                block[index] = without_annotation(statement)
            elif isinstance(statement, ast.FunctionDef):
                remove_function_annotations(statement)
            remove_annotations(statement)


def without_annotation(node: ast.AnnAssign) -> ast.stmt:
    """Return an assignment without its annotation; a declaration without a value stays."""
    if node.value is None:
        return node
    return ast.copy_location(ast.Assign(targets=[node.target], value=node.value), node)


def remove_function_annotations(node: ast.FunctionDef) -> None:
    """Remove the annotations of a function's parameters and of its return value."""
    node.returns = None
    arguments = node.args
    for argument in (
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    ):
        if argument:
            argument.annotation = None


def recording_exec(text: str, scope: dict[str, Any], names: dict[str, Any]) -> None:
    """Replace `exec` in `dataclasses`: execute the text and record its compiled code."""
    tree = ast.parse(text)
    remove_annotations(tree)
    code = without_lines(compile(tree, "", "exec", dont_inherit=True, optimize=2))
    RECORDS.setdefault(scope["__name__"], {})[crc32(text.encode())] = code
    exec(code, scope, names)


def module_records(path: str) -> bytes:
    """Return the recorded code of a module's data classes, sorted by checksum."""
    codes = dict(sorted(RECORDS[module_name(path)].items()))
    return marshal.dumps(marshal.loads(marshal.dumps(codes)))


def module_name(path: str) -> str:
    """Return the dotted module name of a path."""
    return path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
