"""The runtime a reader's browser loads: Pyodide, a trimmed compiled standard library, the engine.

Pyodide's own archive of the standard library holds source only. Compiled by the same Python and
cut down to what the engine loads, it starts in less than half of the time.
"""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path

from builder import node
from builder.bytecode import Files, byte_code, key
from builder.folders import write_whole


def bundle(engine: Path, cache: Path) -> Files:
    """Return the files of the live runtime, by names that carry a hash of their content.

    Args:
        engine: the package folder `engine`.
        cache: a folder for what is expensive to make again (Pyodide takes seconds, an unchanged
            engine nothing).

    Returns:
        File name -> bytes. One is the manifest (`manifest_name`), which names the others.

    Raises:
        node.NodeError: the engine fails inside Pyodide, or Node is not usable.
    """
    packages = node.ensure_packages() / "pyodide"
    folder = cache / "runtime"
    folder.mkdir(parents=True, exist_ok=True)
    code, library = byte_code(engine_sources(engine), folder)
    # The large ones are compressed here and unpacked by the Worker, so that a host which
    # compresses nothing sends no more bytes; .bin, so that no host takes them for an encoding.
    parts = {
        "loader": ("pyodide", ".js", (packages / "pyodide.mjs").read_bytes()),
        "module": ("pyodide.asm", ".js", (packages / "pyodide.asm.mjs").read_bytes()),
        "wasm": ("python", ".bin", _packed((packages / "pyodide.asm.wasm").read_bytes(), folder)),
        "library": ("library", ".bin", _packed(library, folder)),
        "engine": ("engine", ".bin", _packed(code, folder)),
    }
    names = {part: _hashed(*named) for part, named in parts.items()}
    manifest = json.dumps({**names, "lock": _lock(packages)}, sort_keys=True).encode()
    files = {names[part]: content for part, (_, _, content) in parts.items()}
    return {**files, _hashed("runtime", ".json", manifest): manifest}


def manifest_name(files: Iterable[str]) -> str:
    """Return which of a bundle's file names is the manifest, the one the page asks for."""
    return next(name for name in files if name.startswith("runtime-") and name.endswith(".json"))


def engine_sources(engine: Path) -> dict[str, str]:
    """Return the engine's source files: path such as "engine/answer.py" -> text, sorted.

    A module that reads a table beside it holds its text instead: there is no folder to read there.
    """
    found = (path for path in sorted(engine.rglob("*.py")) if path.name != "__main__.py")
    return {path.relative_to(engine.parent).as_posix(): _source(path) for path in found}


def _source(path: Path) -> str:
    table = path.with_suffix(".tsv")
    if table.is_file():
        return f"TEXT = {table.read_text('utf-8')!r}\n"
    return path.read_text("utf-8")


def _lock(packages: Path) -> str:
    """Return Pyodide's lock file without the packages, none of which is ever loaded."""
    lock = json.loads((packages / "pyodide-lock.json").read_text("utf-8"))
    return json.dumps({"info": lock["info"], "packages": {}}, sort_keys=True)


def _hashed(stem: str, suffix: str, content: bytes) -> str:
    return f"{stem}-{key(content)}{suffix}"


def _packed(data: bytes, folder: Path) -> bytes:
    """Return the data compressed; ten megabytes take a second, so the result is kept."""
    kept = folder / f"{key(data)}.gz"
    if not kept.is_file():
        write_whole(kept, gzip.compress(data, 9, mtime=0))
    return kept.read_bytes()
