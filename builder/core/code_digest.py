"""Digests of compiled code that ignore comments, formatting and line numbers."""

from collections.abc import Iterator
from types import CodeType

from builder.core.folders import digest


def behavior_digest(code: CodeType) -> str:
    """Return the digest of a code object's behavior, independent of line numbers."""
    return digest(_behavior_parts(code))


def string_constants(code: CodeType) -> Iterator[str]:
    """Yield the string constants of a code object, nested functions and classes included."""
    for constant in _constants(code):
        if isinstance(constant, str):
            yield constant


def _behavior_parts(code: CodeType) -> Iterator[str | bytes]:
    yield code.co_code
    yield code.co_exceptiontable
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    yield repr((code.co_qualname, counts, code.co_names, code.co_varnames))
    yield repr((code.co_freevars, code.co_cellvars))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _behavior_parts(constant)
        else:
            yield constant_text(constant)


def _constants(code: CodeType) -> Iterator[object]:
    stack = [*code.co_consts]
    while stack:
        constant = stack.pop()
        yield constant
        if isinstance(constant, CodeType):
            stack += constant.co_consts
        elif isinstance(constant, tuple):
            stack += constant
        elif isinstance(constant, frozenset):
            stack += sorted(constant, key=repr)


def constant_text(value: object) -> str:
    """Return the repr of a constant, identical in every process."""
    if isinstance(value, tuple):
        return f"({','.join(map(constant_text, value))})"
    if isinstance(value, frozenset):  # its order is another in another process
        return f"{{{','.join(sorted(map(constant_text, value)))}}}"
    return repr(value)
