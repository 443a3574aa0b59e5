"""Byte code for the browser: made by Pyodide itself, under Node, and kept between builds."""

import base64
import zipfile
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from builder.core import node
from builder.core.folders import seal, sealed, write_whole
from builder.core.module_imports import Imports
from builder.runtime import pyodide_stubs
from builder.runtime.archive_format import Files, archive, beside, bundled, key, placed

HERE = Path(__file__).resolve().parent
INSIDE = HERE / "pyodide_compile.py"
BARE = HERE / "strip_bytecode.py"
SCRIPT = HERE / "bundle.mjs"
LIGHT = HERE / "pyodide_stubs.py"
PARCELS = HERE / "archive_format.py"
ANSWER = "engine/answer.py"
# Another version of one of these makes other files.
MAKERS = (INSIDE, BARE, SCRIPT, LIGHT, PARCELS, Path(__file__))


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """Archives of byte code.

    Attributes:
        library: a zip of the standard library modules that every page loads.
        shared: what answers any request, whatever calculators there are.
        files: calculator -> the file of the cache with what it needs besides.
        calculators: name -> what is in that file, save of those that the caller holds.
    """

    library: bytes
    shared: bytes
    files: Mapping[str, Path]
    calculators: Files


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Which modules go where, and the files of the cache that hold the archives, or will.

    What is shared does not depend on which calculators there are: one more of them changes
    nothing that a page without it loads.
    """

    shared: frozenset[str]
    own: Mapping[str, frozenset[str]]
    library_file: Path
    shared_file: Path
    own_files: Mapping[str, Path]


def byte_code(
    sources: Imports,
    calculators: Mapping[str, str],
    folder: Path,
    given: Files = MappingProxyType({}),
    held: Container[Path] = frozenset(),
    begun: Callable[[], object] = node.unheard,
) -> Compiled:
    """Return the archives, each made again only when a module in it changed or it is damaged.

    Every new one is tried in Pyodide: with nothing but it and what is shared, its calculator has
    to load, and to answer where what it imports is not told by its source alone. The trimmed
    library of an earlier run is used again while the shared modules import the same names; should
    a module be missing in it all the same, all is traced anew.

    Args:
        sources: the engine.
        calculators: name -> path of the module that declares it.
        folder: the cache.
        given: path -> content of the files of packages.
        held: files of the cache whose archives the caller has; they are not read again.
        begun: called when Pyodide has been asked.

    Raises:
        node.NodeError: the engine fails inside Pyodide.
    """
    where = plan(sources, calculators, folder)
    wanted = {name: file for name, file in where.own_files.items() if file not in held}
    todo = [name for name, file in wanted.items() if sealed(file) is None]
    trimmed = _is_whole(where.library_file)
    if todo or not trimmed or sealed(where.shared_file) is None:
        inside = partial(_inside, sources, where, todo, folder, given, begun)
        reply = inside(trace=not trimmed)
        if reply["missing"] and trimmed:
            reply = inside(trace=True)
        for lacking, name in reply["missing"].items():
            raise node.NodeError(
                f"{lacking} imports {name}, which Pyodide does not have and no package brings"
            )
        _keep(where, todo, reply)
    return Compiled(
        library=where.library_file.read_bytes(),
        shared=_kept(where.shared_file),
        files=where.own_files,
        calculators={name: _kept(file) for name, file in wanted.items()},
    )


def _is_whole(library: Path) -> bool:
    """Say whether the library is there and sound; Pyodide reads it, so it is a plain zip."""
    try:
        with zipfile.ZipFile(library) as opened:
            return opened.testzip() is None
    except (OSError, ValueError, zipfile.BadZipFile):
        return False


def _kept(file: Path) -> bytes:
    data = sealed(file)
    if data is None:
        raise OSError(f"{file} could not be kept")
    return data


def plan(sources: Imports, calculators: Mapping[str, str], folder: Path) -> Plan:
    """Return what goes into which archive; arguments as in `byte_code`."""
    shared = sources.needed(ANSWER)
    own = {name: sources.needed(path) - shared for name, path in calculators.items()}

    def texts(paths: Iterable[str]) -> Iterable[str]:
        return (part for path in sorted(paths) for part in (path, sources.bare(path)))

    below = key(*_tools(), *texts(shared))
    return Plan(
        shared=shared,
        own=own,
        library_file=folder / f"library-{key(*_tools(), *sorted(sources.outside(shared)))}.zip",
        shared_file=folder / f"shared-{below}",
        own_files={
            name: folder / f"{name}-{key(below, *texts(paths))}" for name, paths in own.items()
        },
    )


def _keep(plan: Plan, todo: Iterable[str], reply: Mapping[str, Any]) -> None:
    if reply["library"]:
        write_whole(plan.library_file, archive(reply["library"]))
    made, records = reply["compiled"], reply["records"]

    def files(paths: Iterable[str]) -> dict[str, bytes]:
        found = {placed(path): made[path] for path in paths}
        return found | {beside(path): records[path] for path in paths if path in records}

    seal(plan.shared_file, bundled(files(plan.shared)))
    for name in todo:
        seal(plan.own_files[name], bundled(files(plan.own[name]) | reply["besides"][name]))


def _inside(
    sources: Imports,
    plan: Plan,
    todo: list[str],
    folder: Path,
    given: Files,
    begun: Callable[[], object],
    *,
    trace: bool,
) -> dict[str, Any]:
    """Run inside.py in Pyodide on the engine; what was compiled before is not compiled again.

    `trace` takes the whole standard library and says which of its modules are needed.
    """
    used = plan.shared.union(*(plan.own[name] for name in todo))
    files = {path: folder / f"{key(*_tools(), path, sources.bare(path))}.pyc" for path in used}
    kept = {path: sealed(file) for path, file in files.items()}
    known = {path: data for path, data in kept.items() if data is not None}
    known |= {path: given[path] for path in used & set(given) if not path.endswith(".py")}
    request = {
        "sources": {path: sources.sources[path] for path in sorted(used - set(known))},
        "whole": sorted(used & set(given)),
        "compiled": {path: base64.b64encode(data).decode() for path, data in known.items()},
        "shared": sorted(plan.shared),
        "calculators": {name: sorted(plan.own[name]) for name in todo},
        "asked": [name for name in todo if _seeks(sources, plan.own[name], given)],
        "library": {path: sorted(sources.outside(sources.needed(path))) for path in used},
        "trace": trace,
    }
    ahead = "" if trace else _told(plan.library_file)
    library = _told(_whole(folder)) if trace else None
    start = {
        "library": library,
        "python": INSIDE.read_text("utf-8"),
        "beside": {f"builder/{HERE.name}/{BARE.name}": BARE.read_text("utf-8")},
        "request": request,
    }
    reply = node.run(SCRIPT, start, ahead, begun)
    assert isinstance(reply, dict)
    fresh = _decoded(reply["compiled"])
    for path, data in fresh.items():
        seal(files[path], data)
    besides = {name: _byte_files(_decoded(more)) for name, more in reply["besides"].items()}
    return {
        "compiled": {**known, **fresh},
        "library": _byte_files(_decoded(reply["library"])),
        "besides": besides,
        "records": _decoded(reply["records"]),
        "missing": reply["missing"],
    }


def _seeks(sources: Imports, paths: frozenset[str], given: Files) -> bool:
    """Say whether a calculator has to answer to show what it imports: others wrote it in part."""
    return sources.seek(paths) or not paths.isdisjoint(given)


def _told(library: Path) -> str:
    return str(library.resolve())


def make_ready(folder: Path) -> None:
    """Have a Pyodide ready with the library that was used last, if there is one."""
    kept = sorted(folder.glob("library-*.zip"), key=lambda one: one.stat().st_mtime)
    if kept:
        node.make_ready(SCRIPT, _told(kept[-1]))


def _whole(folder: Path) -> Path:
    """Return the whole standard library as it starts fast; it is in the cache or put there."""
    file = folder / f"whole-{key(*_tools())}.zip"
    if not _is_whole(file):
        original = node.ensure_packages() / "pyodide" / "python_stdlib.zip"
        write_whole(file, pyodide_stubs.library(original))
    return file


def _decoded(files: Mapping[str, str]) -> dict[str, bytes]:
    return {path: base64.b64decode(data) for path, data in files.items()}


def _byte_files(files: Files) -> dict[str, bytes]:
    return {f"{path}c": data for path, data in files.items()}


@cache
def _tools() -> tuple[bytes, ...]:
    return tuple(path.read_bytes() for path in (node.LOCK, *MAKERS))
