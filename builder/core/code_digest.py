"""What a module does, as Python has compiled it: comments and line ends change nothing in that."""

from collections.abc import Iterator
from types import CodeType

from builder.core.folders import digest


def does(code: CodeType) -> str:
    """Return the digest of what compiled code does, whatever its lines are."""
    return digest(_parts(code))


def texts(code: CodeType) -> Iterator[str]:
    """Yield all texts in compiled code, those of its functions and classes too."""
    for constant in _constants(code):
        if isinstance(constant, str):
            yield constant


def _parts(code: CodeType) -> Iterator[str | bytes]:
    yield code.co_code
    yield code.co_exceptiontable
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    yield repr((code.co_qualname, counts, code.co_names, code.co_varnames))
    yield repr((code.co_freevars, code.co_cellvars))
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _parts(one)
        else:
            yield constant_text(one)


def _constants(code: CodeType) -> Iterator[object]:
    waiting = [*code.co_consts]
    while waiting:
        one = waiting.pop()
        yield one
        if isinstance(one, CodeType):
            waiting += one.co_consts
        elif isinstance(one, tuple):
            waiting += one
        elif isinstance(one, frozenset):
            waiting += sorted(one, key=repr)


def constant_text(value: object) -> str:
    """Return a constant as text, the same in every process."""
    if isinstance(value, tuple):
        return f"({','.join(map(constant_text, value))})"
    if isinstance(value, frozenset):  # its order is another in another process
        return f"{{{','.join(sorted(map(constant_text, value)))}}}"
    return repr(value)
