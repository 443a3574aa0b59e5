"""Byte code for the browser: made by Pyodide itself, under Node, and kept between builds."""

import ast
import base64
import hashlib
import io
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from builder import node
from builder.folders import write_whole

HERE = Path(__file__).resolve().parent
INSIDE = HERE / "inside.py"
SCRIPT = HERE / "bundle.mjs"
EPOCH = (1980, 1, 1, 0, 0, 0)

Files = Mapping[str, bytes]


def byte_code(sources: Mapping[str, str], folder: Path) -> tuple[bytes, bytes]:
    """Return two zip archives: the engine, and the standard library modules that it loads.

    The trimmed library of an earlier run is used again while the engine imports the same names;
    should the engine miss a module in it all the same, the library is traced anew.

    Args:
        sources: path such as "engine/answer.py" -> text.
        folder: the cache.

    Raises:
        node.NodeError: the engine fails inside Pyodide.
    """
    tools = [path.read_bytes() for path in (node.LOCK, INSIDE, SCRIPT, Path(__file__))]
    library = folder / f"library-{key(*tools, *sorted(_imports(sources.values())))}.zip"
    engine = folder / f"engine-{key(*tools, *(part for item in sources.items() for part in item))}"
    if library.is_file() and engine.is_file():
        return engine.read_bytes(), library.read_bytes()
    kept = {path: folder / f"{key(*tools, path, text)}.pyc" for path, text in sources.items()}
    reply = _inside(sources, kept, library if library.is_file() else None)
    if reply["missing"] is not None and library.is_file():
        reply = _inside(sources, kept, None)
    if reply["missing"] is not None:
        raise node.NodeError(f"the engine imports {reply['missing']}, which Pyodide does not have")
    if reply["library"]:
        write_whole(library, archive(reply["library"]))
    write_whole(engine, archive(reply["compiled"]))
    return engine.read_bytes(), library.read_bytes()


def _inside(
    sources: Mapping[str, str], kept: Mapping[str, Path], library: Path | None
) -> dict[str, Any]:
    """Run inside.py in Pyodide on the engine; what was compiled before is not compiled again.

    Args:
        sources: the engine.
        kept: path -> the file that holds its byte code, or will.
        library: a trimmed standard library, or None to trace which modules are needed.
    """
    known = {path: file.read_bytes() for path, file in kept.items() if file.is_file()}
    request = {
        "sources": {path: text for path, text in sources.items() if path not in known},
        "compiled": {path: base64.b64encode(data).decode() for path, data in known.items()},
        "trace": library is None,
    }
    start = {
        "library": None if library is None else str(library.resolve()),
        "python": INSIDE.read_text("utf-8"),
        "request": request,
    }
    reply = node.run(SCRIPT, start)
    assert isinstance(reply, dict)
    fresh = {path: base64.b64decode(data) for path, data in reply["compiled"].items()}
    for path, data in fresh.items():
        write_whole(kept[path], data)
    return {
        "compiled": {f"{path}c": data for path, data in {**known, **fresh}.items()},
        "library": {f"{p}c": base64.b64decode(data) for p, data in reply["library"].items()},
        "missing": reply["missing"],
    }


def _imports(texts: Iterable[str]) -> set[str]:
    """Return every module name that the sources import, the engine's own left out."""
    found: set[str] = set()
    for part in (part for text in texts for part in ast.walk(ast.parse(text))):
        if isinstance(part, ast.Import):
            found.update(alias.name for alias in part.names)
        elif isinstance(part, ast.ImportFrom):
            found.add(part.module or "")
    return {name for name in found if name.split(".")[0] != "engine"}


def archive(files: Files) -> bytes:
    """Return a zip of the files that is the same for the same files.

    Stored, not deflated: the whole is compressed once as one stream, which is smaller, and
    Python need not inflate each module that it imports.
    """
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as opened:
        for path in sorted(files):
            opened.writestr(zipfile.ZipInfo(path, EPOCH), files[path])
    return target.getvalue()


def key(*parts: str | bytes) -> str:
    """Return a short hash of the parts, in their order."""
    whole = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        whole.update(len(data).to_bytes(8, "little") + data)
    return whole.hexdigest()[:16]
