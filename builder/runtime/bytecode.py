"""Compiles the engine to byte code in Pyodide under Node, with cached archives."""

import base64
import zipfile
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from builder.core import node
from builder.core.folders import read_checksummed, write_atomically, write_checksummed
from builder.core.module_imports import ImportGraph
from builder.runtime import pyodide_stubs
from builder.runtime.archive_format import (
    Files,
    bytecode_path,
    content_hash,
    pack,
    records_path,
    zip_archive,
)

HERE = Path(__file__).resolve().parent
COMPILE_SCRIPT = HERE / "pyodide_compile.py"
STRIP_MODULE = HERE / "strip_bytecode.py"
NODE_SCRIPT = HERE / "bundle.mjs"
STUBS_MODULE = HERE / "pyodide_stubs.py"
ARCHIVE_MODULE = HERE / "archive_format.py"
ENTRY_MODULE = "engine/answer.py"
# The cache key covers these files.
BUILD_FILES = (
    COMPILE_SCRIPT,
    STRIP_MODULE,
    NODE_SCRIPT,
    STUBS_MODULE,
    ARCHIVE_MODULE,
    Path(__file__),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledArchives:
    """Archives of byte code.

    Attributes:
        library: zip of the standard library modules that every page loads.
        shared: archive of the modules that answer requests for any calculator.
        files: calculator -> cache file of its own archive.
        calculators: name -> content of that file, without those that the caller already has.
    """

    library: bytes
    shared: bytes
    files: Mapping[str, Path]
    calculators: Files


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivePlan:
    """The modules of each archive, and the cache files of the archives.

    The shared archive does not depend on which calculators exist: adding one changes nothing that
    pages without it load.
    """

    shared: frozenset[str]
    own_modules: Mapping[str, frozenset[str]]
    library_file: Path
    shared_file: Path
    own_files: Mapping[str, Path]


def compile_archives(
    sources: ImportGraph,
    calculators: Mapping[str, str],
    folder: Path,
    package_files: Files = MappingProxyType({}),
    known_files: Container[Path] = frozenset(),
    on_started: Callable[[], object] = node.no_callback,
) -> CompiledArchives:
    """Return the archives, each compiled again only if one of its modules changed or it is damaged.

    Every new archive is tried in Pyodide: with only its own and the shared modules, its calculator
    has to load, and also to answer where its source alone does not show all imports. The trimmed
    library of an earlier run is reused while the shared modules import the same names; if it still
    lacks a module, the library is traced again.

    Args:
        sources: source files of the engine.
        calculators: name -> path of the calculator's module.
        folder: cache folder.
        package_files: path -> content of the package files.
        known_files: cache files whose archives the caller already has; they are not read again.
        on_started: called when the request has been sent to Pyodide.

    Raises:
        node.NodeError: the engine fails inside Pyodide.
    """
    archive_plan = plan_archives(sources, calculators, folder)
    wanted = {
        name: file for name, file in archive_plan.own_files.items() if file not in known_files
    }
    outdated = [name for name, file in wanted.items() if read_checksummed(file) is None]
    has_library = _is_whole(archive_plan.library_file)
    if outdated or not has_library or read_checksummed(archive_plan.shared_file) is None:
        run_pyodide = partial(
            _run_pyodide, sources, archive_plan, outdated, folder, package_files, on_started
        )
        reply = run_pyodide(trace=not has_library)
        if reply["missing"] and has_library:
            reply = run_pyodide(trace=True)
        for importer, name in reply["missing"].items():
            raise node.NodeError(
                f"{importer} imports {name}, which Pyodide does not have and no package brings"
            )
        _write_archives(archive_plan, outdated, reply)
    return CompiledArchives(
        library=archive_plan.library_file.read_bytes(),
        shared=_read_archive(archive_plan.shared_file),
        files=archive_plan.own_files,
        calculators={name: _read_archive(file) for name, file in wanted.items()},
    )


def _is_whole(library: Path) -> bool:
    """Say whether the library zip exists and is undamaged."""
    try:
        with zipfile.ZipFile(library) as archive:
            return archive.testzip() is None
    except (OSError, ValueError, zipfile.BadZipFile):
        return False


def _read_archive(file: Path) -> bytes:
    data = read_checksummed(file)
    if data is None:
        raise OSError(f"{file} could not be kept")
    return data


def plan_archives(
    sources: ImportGraph, calculators: Mapping[str, str], folder: Path
) -> ArchivePlan:
    """Return the plan of all archives; arguments as of `compile_archives`."""
    shared = sources.dependencies(ENTRY_MODULE)
    own_modules = {name: sources.dependencies(path) - shared for name, path in calculators.items()}

    def texts(paths: Iterable[str]) -> Iterable[str]:
        return (part for path in sorted(paths) for part in (path, sources.module_digest(path)))

    shared_hash = content_hash(*_tool_contents(), *texts(shared))
    library_hash = content_hash(*_tool_contents(), *sorted(sources.external_imports(shared)))
    return ArchivePlan(
        shared=shared,
        own_modules=own_modules,
        library_file=folder / f"library-{library_hash}.zip",
        shared_file=folder / f"shared-{shared_hash}",
        own_files={
            name: folder / f"{name}-{content_hash(shared_hash, *texts(paths))}"
            for name, paths in own_modules.items()
        },
    )


def _write_archives(plan: ArchivePlan, outdated: Iterable[str], reply: Mapping[str, Any]) -> None:
    if reply["library"]:
        write_atomically(plan.library_file, zip_archive(reply["library"]))
    compiled, records = reply["compiled"], reply["records"]

    def files(paths: Iterable[str]) -> dict[str, bytes]:
        contents = {bytecode_path(path): compiled[path] for path in paths}
        return contents | {records_path(path): records[path] for path in paths if path in records}

    write_checksummed(plan.shared_file, pack(files(plan.shared)))
    for name in outdated:
        write_checksummed(
            plan.own_files[name], pack(files(plan.own_modules[name]) | reply["besides"][name])
        )


def _run_pyodide(
    sources: ImportGraph,
    plan: ArchivePlan,
    outdated: list[str],
    folder: Path,
    package_files: Files,
    on_started: Callable[[], object],
    *,
    trace: bool,
) -> dict[str, Any]:
    """Run pyodide_compile.py in Pyodide; modules with cached byte code are not compiled again.

    `trace` loads the whole standard library and reports which of its modules are needed.
    """
    used = plan.shared.union(*(plan.own_modules[name] for name in outdated))
    files = {
        path: folder / f"{content_hash(*_tool_contents(), path, sources.module_digest(path))}.pyc"
        for path in used
    }
    cached = {path: read_checksummed(file) for path, file in files.items()}
    compiled = {path: data for path, data in cached.items() if data is not None}
    compiled |= {
        path: package_files[path] for path in used & set(package_files) if not path.endswith(".py")
    }
    request = {
        "sources": {path: sources.sources[path] for path in sorted(used - set(compiled))},
        "whole": sorted(used & set(package_files)),
        "compiled": {path: base64.b64encode(data).decode() for path, data in compiled.items()},
        "shared": sorted(plan.shared),
        "calculators": {name: sorted(plan.own_modules[name]) for name in outdated},
        "asked": [
            name
            for name in outdated
            if _needs_answer(sources, plan.own_modules[name], package_files)
        ],
        "library": {
            path: sorted(sources.external_imports(sources.dependencies(path))) for path in used
        },
        "trace": trace,
    }
    ahead = "" if trace else _absolute_path(plan.library_file)
    library = _absolute_path(_whole_library(folder)) if trace else None
    start = {
        "library": library,
        "python": COMPILE_SCRIPT.read_text("utf-8"),
        "beside": {f"builder/{HERE.name}/{STRIP_MODULE.name}": STRIP_MODULE.read_text("utf-8")},
        "request": request,
    }
    reply = node.run(NODE_SCRIPT, start, ahead, on_started)
    assert isinstance(reply, dict)
    fresh = _decode_files(reply["compiled"])
    for path, data in fresh.items():
        write_checksummed(files[path], data)
    besides = {
        name: _with_bytecode_names(_decode_files(files_of_calculator))
        for name, files_of_calculator in reply["besides"].items()
    }
    return {
        "compiled": {**compiled, **fresh},
        "library": _with_bytecode_names(_decode_files(reply["library"])),
        "besides": besides,
        "records": _decode_files(reply["records"]),
        "missing": reply["missing"],
    }


def _needs_answer(sources: ImportGraph, paths: frozenset[str], package_files: Files) -> bool:
    """Say whether a calculator has to answer a request to reveal all its imports."""
    return sources.import_dynamically(paths) or not paths.isdisjoint(package_files)


def _absolute_path(library: Path) -> str:
    return str(library.resolve())


def warm_up_pyodide(folder: Path) -> None:
    """Start Pyodide ahead of a build with the most recently used library, if any."""
    libraries = sorted(folder.glob("library-*.zip"), key=lambda path: path.stat().st_mtime)
    if libraries:
        node.prestart_script(NODE_SCRIPT, _absolute_path(libraries[-1]))


def _whole_library(folder: Path) -> Path:
    """Return the path of the whole standard library with stubs, created if missing."""
    file = folder / f"whole-{content_hash(*_tool_contents())}.zip"
    if not _is_whole(file):
        original = node.ensure_packages() / "pyodide" / "python_stdlib.zip"
        write_atomically(file, pyodide_stubs.library_with_stubs(original))
    return file


def _decode_files(files: Mapping[str, str]) -> dict[str, bytes]:
    return {path: base64.b64decode(data) for path, data in files.items()}


def _with_bytecode_names(files: Files) -> dict[str, bytes]:
    return {f"{path}c": data for path, data in files.items()}


@cache
def _tool_contents() -> tuple[bytes, ...]:
    return tuple(path.read_bytes() for path in (node.PACKAGE_LOCK, *BUILD_FILES))
