"""The search index, made by Pagefind (pagefind.app) from a folder of HTML documents."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from builder.core.folders import digest
from builder.core.problem import ServiceError

INDEX_LOCATION = "search/where.json"
_LEFT_OUT = (
    ".calculator, form, nav, svg, math, template, script, details.data, [popover], "
    ".figure-actions, .controls, .actions, .guess, .byline, .references, pre, .headerlink"
)
_NEEDED = ("pagefind.js", "pagefind-worker.js", "pagefind-entry.json")


def build_index(documents: Mapping[str, str]) -> dict[str, bytes]:
    """Return path in the output -> file of the search index; a small JSON file names the others.

    Raises:
        ServiceError: Pagefind cannot be started or refuses.
    """
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "in").mkdir()
        # Each document names its own URL, so it needs no folder: creating and removing thousands of
        # folders takes as long as reading the documents.
        for path, html in documents.items():
            (folder / "in" / f"{digest((path,))}.html").write_text(html, "utf-8")
        _run(folder / "in", folder / "out")
        files = _files(folder / "out")
    # The other files are in a hashed folder, so that browsers and proxies may cache them.
    bundle = f"search/index-{digest(part for pair in sorted(files.items()) for part in pair)}"
    placed = {f"{bundle}/{name}": content for name, content in sorted(files.items())}
    where = {"folder": bundle.removeprefix("search/"), "files": [*files]}
    return {INDEX_LOCATION: json.dumps(where, separators=(",", ":")).encode(), **placed}


def _run(pages: Path, out: Path) -> None:
    import pagefind_bin  # type: ignore[import-untyped]

    command = [pagefind_bin.get_executable(), "--site", pages, "--output-path", out]
    arguments = [*map(str, command), "--root-selector", "main", "--exclude-selectors", _LEFT_OUT]
    try:
        result = subprocess.run(
            [*arguments, "--silent"], capture_output=True, text=True, timeout=300
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ServiceError(f"the search index could not be made: {error}") from error
    if result.returncode:
        raise ServiceError(f"the search index could not be made: {result.stderr.strip()[-500:]}")


def _files(out: Path) -> dict[str, bytes]:
    """Return the files that the browser loads, without Pagefind's own user interfaces."""
    files = {}
    for path in sorted(out.rglob("*")):
        name = path.relative_to(out).as_posix()
        if path.is_file() and (name in _NEEDED or not name.endswith((".js", ".css"))):
            files[name] = path.read_bytes()
    return files
