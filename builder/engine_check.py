"""What is wrong in the engine's files before any is imported: syntax, foreign imports."""

import ast
import sys
from collections.abc import Iterator
from functools import lru_cache, partial

from builder.folders import Folders, Stamp, digest, digest_of_files, files, stamp
from builder.memo import Memo
from builder.problem import Problem
from builder.reading import text_of

_OURS = ("__future__", *sys.stdlib_module_names)


def problems(folders: Folders, memo: Memo) -> list[Problem]:
    """Return the files of the engine that cannot be read, or not in a reader's browser."""
    key = folders.once("engine's files", lambda: digest_of_files(folders.engine, "*.py"))
    key = digest((key, *folders.groups))
    found: list[Problem] | None = memo.standing("engine's files", key)
    if found is None:
        names: list[str] = []
        found = list(_problems(folders, memo, names))
        memo.leave("engine's files", key, found, names)
    return found


def _problems(folders: Folders, memo: Memo, names: list[str]) -> Iterator[Problem]:
    """Yield the same; `names` gets those under which the memory holds the faults of each file."""
    for path in files(folders.engine, "*.py"):
        source = path.relative_to(folders.root).as_posix()
        text, unread = _read(source, stamp([path]))
        yield from unread
        if not unread:
            names.append(f"source {source}")
            reader = partial(_faults, text, (folders.engine.name, *folders.groups))
            faults = memo.get(names[-1], digest((text, *folders.groups)), reader)
            yield from (Problem(source, *fault) for fault in faults)


@lru_cache(maxsize=4096)
def _read(source: str, stamped: Stamp) -> tuple[str, list[Problem]]:
    return text_of(stamped[0][0], source)


def _faults(text: str, known: tuple[str, ...]) -> list[tuple[int, str]]:
    """Return (line, message) of what is wrong; `known` are packages that travel."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        return [(error.lineno or 1, f"{type(error).__name__}: {error.msg}")]
    return [
        (
            getattr(node, "lineno", 1),
            f"imports '{name}'; a reader's browser has the standard library and what 'packages' of "
            "site.toml names",
        )
        for node in ast.walk(tree)
        for name in _imported(node)
        if name.partition(".")[0] not in (*_OURS, *known, "engine")
    ]


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level:
        return [node.module or ""]
    return []
