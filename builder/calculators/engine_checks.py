"""Checks of the engine's files before any is imported: syntax, imports that no browser has."""

import ast
import sys
from functools import lru_cache, partial

from builder.calculators.author_checks import source_faults
from builder.core import module_imports
from builder.core.build_cache import BuildCache
from builder.core.folders import (
    GENERATOR,
    FileStamps,
    Folders,
    digest,
    digest_of_files,
    file_stamps,
    files,
)
from builder.core.module_imports import statements
from builder.core.problem import Problem
from builder.core.process_pool import ProcessPool
from builder.core.text_files import read_text

_ALLOWED_MODULES = ("__future__", *sys.stdlib_module_names)
CALCULATORS = "calculators"
SERIAL_LIMIT = 64  # up to this many files are parsed without other processes
LineMessage = tuple[int, str]  # line, message


def problems(folders: Folders, cache: BuildCache, pool: ProcessPool) -> list[Problem]:
    """Return problems of engine files: unreadable, or with imports that fail in the browser."""
    key = folders.compute_once("engine's files", lambda: digest_of_files(folders.engine, "*.py"))
    key = digest((key, *folders.groups))
    known_problems: list[Problem] | None = cache.get_from_process("engine's files", key)
    if known_problems is None:
        texts: dict[str, str] = {}
        known_problems = _unreadable_problems(folders, texts)
        names = {f"source {source}": source for source in texts}
        keys = {name: digest((texts[source], *folders.groups)) for name, source in names.items()}
        reader = partial(_check_file, (folders.engine.name, *folders.groups))

        def check_files(wanted: list[str]) -> list[list[LineMessage]]:
            wanted_texts = [texts[names[name]] for name in wanted]
            results = pool.map(reader, wanted_texts, serial_limit=SERIAL_LIMIT)
            for text, (_, known) in zip(wanted_texts, results, strict=True):
                module_imports.remember_facts(text, known)
            return [messages for messages, _ in results]

        for name, messages in cache.get_many(keys, check_files).items():
            known_problems += [Problem(names[name], *fault) for fault in messages]
        known_problems += [
            Problem(source, *fault)
            for source, text in texts.items()
            if _is_authors(folders, source)
            for fault in source_faults(text)
        ]
        cache.keep_in_process("engine's files", key, known_problems, keys)
    return known_problems


def _is_authors(folders: Folders, source: str) -> bool:
    """Return whether a file is an author's: of a calculator, or anywhere in a project's package."""
    is_own_engine = folders.engine == GENERATOR / "engine"
    return f"/{CALCULATORS}/" in source or not (is_own_engine or source.endswith("__main__.py"))


def _unreadable_problems(folders: Folders, texts: dict[str, str]) -> list[Problem]:
    """Return the problems of unreadable files; add the texts of the others to `texts`."""
    problems: list[Problem] = []
    for path in files(folders.engine, "*.py"):
        source = path.relative_to(folders.root).as_posix()
        text, file_problems = _read_cached(source, file_stamps([path]))
        problems += file_problems
        if not file_problems:
            texts[source] = text
    return problems


@lru_cache(maxsize=4096)
def _read_cached(source: str, stamped: FileStamps) -> tuple[str, list[Problem]]:
    return read_text(stamped[0][0], source)


def _check_file(
    packages: tuple[str, ...], text: str
) -> tuple[list[LineMessage], module_imports.ModuleFacts]:
    """Return (problems, facts) of a file; most files pass by their imports alone."""
    facts = module_imports.module_facts(text)
    imported = module_imports.imported_packages(facts)
    is_clean = imported is not None and imported <= {*_ALLOWED_MODULES, *packages, "engine"}
    return [] if is_clean else _import_faults(packages, text), facts


def _import_faults(packages: tuple[str, ...], text: str) -> list[LineMessage]:
    """Return the syntax and import errors of a file; `packages` are sent to the browser."""
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
        for name in _imported_modules(node)
        if name.partition(".")[0] not in (*_ALLOWED_MODULES, *packages, "engine")
    ]


def _imported_modules(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level:
        return [node.module or ""]
    return []
