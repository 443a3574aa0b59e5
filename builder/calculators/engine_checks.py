"""What is wrong in the engine's files before any is imported: syntax, foreign imports."""

import ast
import sys
from functools import lru_cache, partial

from builder.core import module_imports
from builder.core.build_cache import Memo
from builder.core.folders import Folders, Stamp, digest, digest_of_files, files, stamp
from builder.core.module_imports import statements
from builder.core.problem import Problem
from builder.core.process_pool import ProcessPool
from builder.core.text_files import text_of

_OURS = ("__future__", *sys.stdlib_module_names)
FEW = 64  # files that are read before another process has begun
Fault = tuple[int, str]  # line, message


def problems(folders: Folders, memo: Memo, hands: ProcessPool) -> list[Problem]:
    """Return the files of the engine that cannot be read, or not in a reader's browser."""
    key = folders.once("engine's files", lambda: digest_of_files(folders.engine, "*.py"))
    key = digest((key, *folders.groups))
    found: list[Problem] | None = memo.standing("engine's files", key)
    if found is None:
        texts: dict[str, str] = {}
        found = _unread(folders, texts)
        names = {f"source {source}": source for source in texts}
        keys = {name: digest((texts[one], *folders.groups)) for name, one in names.items()}
        reader = partial(_read_once, (folders.engine.name, *folders.groups))

        def faults(wanted: list[str]) -> list[list[Fault]]:
            read = [texts[names[name]] for name in wanted]
            told = hands.each(reader, read, few=FEW)
            for text, (_, known) in zip(read, told, strict=True):
                module_imports.remember(text, known)
            return [wrong for wrong, _ in told]

        for name, wrong in memo.many(keys, faults).items():
            found += [Problem(names[name], *fault) for fault in wrong]
        memo.leave("engine's files", key, found, keys)
    return found


def _unread(folders: Folders, texts: dict[str, str]) -> list[Problem]:
    """Return what keeps files from being read; `texts` gets those that can be, by their source."""
    wrong: list[Problem] = []
    for path in files(folders.engine, "*.py"):
        source = path.relative_to(folders.root).as_posix()
        text, unread = _read(source, stamp([path]))
        wrong += unread
        if not unread:
            texts[source] = text
    return wrong


@lru_cache(maxsize=4096)
def _read(source: str, stamped: Stamp) -> tuple[str, list[Problem]]:
    return text_of(stamped[0][0], source)


def _read_once(known: tuple[str, ...], text: str) -> tuple[list[Fault], module_imports.Told]:
    """Return what is wrong in a file, and what is known of it: its imports mostly clear it."""
    told = module_imports.facts(text)
    tops = module_imports.tops(told)
    clear = tops is not None and tops <= {*_OURS, *known, "engine"}
    return [] if clear else _faults(known, text), told


def _faults(known: tuple[str, ...], text: str) -> list[Fault]:
    """Return what is wrong in a file; `known` are packages that travel."""
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
        for node in statements(tree)
        for name in _imported(node)
        if name.partition(".")[0] not in (*_OURS, *known, "engine")
    ]


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level:
        return [node.module or ""]
    return []
