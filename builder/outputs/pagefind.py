"""The search index, made by Pagefind (pagefind.app) from a folder of HTML documents."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from builder.core.folders import digest
from builder.core.problem import ServiceError

WHERE = "search/where.json"
_LEFT_OUT = (
    ".calculator, form, nav, svg, math, template, script, details.data, [popover], "
    ".figure-actions, .controls, .actions, .guess, .byline, .references, pre, .headerlink"
)
_NEEDED = ("pagefind.js", "pagefind-worker.js", "pagefind-entry.json")


def index(documents: Mapping[str, str]) -> dict[str, bytes]:
    """Return path in the output -> file of the search: one small file that names the others.

    Raises:
        ServiceError: Pagefind cannot be started or refuses.
    """
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "in").mkdir()
        # Each says itself where it stands, so it needs no folder of its own: making and clearing
        # thousands of them takes as long as reading them.
        for path, html in documents.items():
            (folder / "in" / f"{digest((path,))}.html").write_text(html, "utf-8")
        _run(folder / "in", folder / "out")
        found = _files(folder / "out")
    # The others lie in a folder with a hash, so that they may be kept by whoever keeps files.
    bundle = f"search/index-{digest(part for pair in sorted(found.items()) for part in pair)}"
    placed = {f"{bundle}/{name}": content for name, content in sorted(found.items())}
    where = {"folder": bundle.removeprefix("search/"), "files": [*found]}
    return {WHERE: json.dumps(where, separators=(",", ":")).encode(), **placed}


def _run(pages: Path, out: Path) -> None:
    import pagefind_bin  # type: ignore[import-untyped]

    command = [pagefind_bin.get_executable(), "--site", pages, "--output-path", out]
    told = [*map(str, command), "--root-selector", "main", "--exclude-selectors", _LEFT_OUT]
    try:
        done = subprocess.run([*told, "--silent"], capture_output=True, text=True, timeout=300)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ServiceError(f"the search index could not be made: {error}") from error
    if done.returncode:
        raise ServiceError(f"the search index could not be made: {done.stderr.strip()[-500:]}")


def _files(out: Path) -> dict[str, bytes]:
    """Return what the browser asks for; the interfaces that Pagefind ships stay out."""
    found = {}
    for path in sorted(out.rglob("*")):
        name = path.relative_to(out).as_posix()
        if path.is_file() and (name in _NEEDED or not name.endswith((".js", ".css"))):
            found[name] = path.read_bytes()
    return found
