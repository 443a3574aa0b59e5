"""The browser runtime: Pyodide, a trimmed, compiled standard library, and archives of the engine.

One archive is shared by all pages; each calculator has an archive with the other modules that it
needs, which a page fetches when the calculator is first used. A module that several calculators
import is in the archive of each, so no archive depends on which other calculators exist.

Pyodide's own archive of the standard library holds source only. Compiled by the same Python and
trimmed to the modules that the engine loads, it starts in less than half of the time.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType

from builder.core import node
from builder.core.folders import file_stamps, read_checksummed, write_checksummed
from builder.core.module_imports import ImportGraph
from builder.core.process_pool import map_in_threads
from builder.project import python_packages
from builder.runtime import pyodide_stubs
from builder.runtime.archive_format import BEST_LEVEL, DEFAULT_LEVEL, Files, compress, content_hash
from builder.runtime.bytecode import CompiledArchives, compile_archives
from builder.runtime.bytecode import warm_up_pyodide as make_pyodide_ready

CALCULATOR_FILE = "calculator"
Groups = Mapping[str, Mapping[str, bytes]]
ACTIVE_PROJECT = "engine/core/active_project.py"
# Quick compression or not -> cache file -> compressed archive, of the last build of this process:
# while an author writes, a save changes only a few archives.
_compressed: Mapping[bool, dict[Path, bytes]] = MappingProxyType({True: {}, False: {}})


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """The files of the browser runtime; names carry a content hash.

    Attributes:
        files: file name -> content.
        manifest: name of the file that lists the files every page loads.
        calculators: calculator -> name of its archive.
    """

    files: Files
    manifest: str
    calculators: Mapping[str, str]


def build_runtime(
    engine: Path,
    cache: Path,
    framework: Path | None = None,
    groups: Groups = MappingProxyType({}),
    shelf: Path | None = None,
    *,
    quick: bool = False,
    on_started: Callable[[], object] = node.no_callback,
) -> Runtime:
    """Return the files of the browser runtime.

    Args:
        engine: folder of the project's package, which holds the calculators.
        framework: the generator's package `engine`, None if that is the project's.
        cache: cache folder (Pyodide takes seconds, an unchanged engine nothing).
        groups: files of packages, by import name.
        shelf: cache folder shared by several projects, whose file names carry a digest of their
            inputs; None to use `cache`.
        quick: compress new archives less, as `compress` does.
        on_started: called when the request has been sent to Pyodide, if one is needed.

    Raises:
        node.NodeError: the engine fails inside Pyodide, or Node is not usable.
    """
    pyodide = node.ensure_packages() / "pyodide"
    folder = _folder(cache, shelf)
    folder.mkdir(parents=True, exist_ok=True)
    texts = {**(engine_sources(framework) if framework else {}), **engine_sources(engine)}
    texts[ACTIVE_PROJECT] = _active_project_source(texts[ACTIVE_PROJECT], engine.name)
    calculator_packages = tuple(
        f"{package.name}.calculators" for package in (engine, framework) if package
    )
    calculators = _calculator_paths(texts, f"{engine.name}/calculators/")
    texts |= dict(python_packages.package_sources(groups))
    sources = ImportGraph(texts, (shelf or cache) / "facts.json", calculator_packages, groups)
    package_files = {path: data for files in groups.values() for path, data in files.items()}
    compiled = compile_archives(
        sources, calculators, folder, package_files, _compressed[quick], on_started
    )
    sources.save()
    compress_new = partial(compress_cached, folder=folder, quick=quick)
    shared = partial(compress_new, level=BEST_LEVEL)
    # Large files are compressed here and unpacked by the Worker, so that hosts without compression
    # send no more bytes; the suffix .bin keeps hosts from setting a content encoding.
    contents = {
        "loader": ("pyodide", ".js", (pyodide / "pyodide.mjs").read_bytes()),
        "module": (
            "pyodide.asm",
            ".js",
            pyodide_stubs.patch_script((pyodide / "pyodide.asm.mjs").read_bytes()),
        ),
        "wasm": ("python", ".bin", shared((pyodide / "pyodide.asm.wasm").read_bytes())),
        "library": ("library", ".bin", shared(compiled.library)),
        "engine": ("engine", ".bin", shared(compiled.shared)),
    }
    names = {part: _hashed_name(*named) for part, named in contents.items()}
    calculator_archives = compress_calculators(compiled, compress_new, _compressed[quick])
    calculator_names = {
        name: _hashed_name(name, ".bin", data) for name, data in calculator_archives.items()
    }
    manifest = json.dumps({**names, "lock": _lock_text(pyodide)}, sort_keys=True).encode()
    manifest_name = _hashed_name("runtime", ".json", manifest)
    files = {names[part]: content for part, (_, _, content) in contents.items()}
    files |= {calculator_names[name]: content for name, content in calculator_archives.items()}
    return Runtime(
        files={**files, manifest_name: manifest},
        manifest=manifest_name,
        calculators=calculator_names,
    )


def compress_calculators(
    compiled: CompiledArchives, compress_new: Callable[[bytes], bytes], memory: dict[Path, bytes]
) -> Files:
    """Return calculator -> compressed archive, and remember these for the next build."""
    fresh = dict(
        zip(
            compiled.calculators,
            map_in_threads(compress_new, [*compiled.calculators.values()]),
            strict=True,
        )
    )
    archives = {
        name: fresh[name] if name in fresh else memory[file]
        for name, file in compiled.files.items()
    }
    memory.clear()
    memory.update({file: archives[name] for name, file in compiled.files.items()})
    return archives


def warm_up(cache: Path, shelf: Path | None) -> None:
    """Start Pyodide ahead of a build; arguments as of `build_runtime`."""
    make_pyodide_ready(_folder(cache, shelf))


def _folder(cache: Path, shelf: Path | None) -> Path:
    return (shelf or cache) / "runtime"


def _active_project_source(text: str, package: str) -> str:
    """Return the source of the module that names the project's package."""
    return text.replace('"engine.calculators"', f'"{package}.calculators"')


def _calculator_paths(sources: Mapping[str, str], prefix: str) -> dict[str, str]:
    """Return name -> path of every calculator: NAME.py or NAME/calculator.py under `prefix`."""
    paths = {}
    for path in sources:
        folder, _, name = path.removesuffix(".py").rpartition("/")
        if name == CALCULATOR_FILE and path.startswith(prefix):
            paths[folder.rpartition("/")[2]] = path
        elif (
            path.startswith(prefix)
            and f"{folder}/{CALCULATOR_FILE}.py" not in sources
            and name[0] != "_"
        ):
            paths[name] = path
    return paths


# Of files beside a module of their name, which it reads.
TEXT_SUFFIXES = (".tsv", ".json")


def engine_sources(engine: Path) -> dict[str, str]:
    """Return path, such as "engine/answer.py", -> text of the engine's source files, sorted.

    A module that reads a file beside it is replaced by one with the file's text, since the browser
    has no such file.
    """
    paths = (path for path in sorted(engine.rglob("*.py")) if path.name != "__main__.py")
    return {path.relative_to(engine.parent).as_posix(): _source_text(path) for path in paths}


def _source_text(path: Path) -> str:
    for suffix in TEXT_SUFFIXES:
        text = path.with_suffix(suffix)
        if text.is_file():
            return f"TEXT = {text.read_text('utf-8')!r}\n"
    return _read_text(*file_stamps([path])[0])


@lru_cache(maxsize=1 << 12)
def _read_text(path: Path, _date: int, _size: int) -> str:
    """Return the text of a module, cached by date and size."""
    return path.read_text("utf-8")


def _lock_text(packages: Path) -> str:
    """Return Pyodide's lock file without its packages, none of which is ever loaded."""
    lock = json.loads((packages / "pyodide-lock.json").read_text("utf-8"))
    return json.dumps({"info": lock["info"], "packages": {}}, sort_keys=True)


def _hashed_name(stem: str, suffix: str, content: bytes) -> str:
    return f"{stem}-{content_hash(content)}{suffix}"


def compress_cached(
    data: bytes, folder: Path, *, quick: bool = False, level: int = DEFAULT_LEVEL
) -> bytes:
    """Return the compressed data, cached: ten megabytes take a second."""
    name = content_hash(data, str(level))
    files = {False: folder / f"{name}.gz", True: folder / f"{name}.quick"}
    compressed = read_checksummed(files[False]) or (
        read_checksummed(files[True]) if quick else None
    )
    if compressed is None:
        compressed = compress(data, quick=quick, level=level)
        write_checksummed(files[quick], compressed)
    return compressed
