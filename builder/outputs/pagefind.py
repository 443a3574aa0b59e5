"""The search index, made by Pagefind (pagefind.app) from a folder of HTML documents."""

import gzip
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
_MAGIC = b"pagefind_dcd"  # begins each of Pagefind's own files, before the CBOR (RFC 8949)
_NUMBER, _TEXT, _ARRAY = 0, 3, 4  # major types of CBOR
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
        files = _with_sorted_filter(_files(folder / "out"))
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


def _with_sorted_filter(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files with the values of the filter in order, where Pagefind's is of chance.

    The list of the files names the filter's by its content, and is named by its own content in
    turn, so both have other names then.
    """
    renamed = dict(files)
    for path in [name for name in files if name.startswith("filter/")]:
        old, content = Path(path).stem, _packed(_sorted_values(_unpacked(renamed.pop(path))))
        new = _renamed(old, content)
        renamed[f"filter/{new}.pf_filter"] = content
        for meta in [name for name in renamed if name.endswith(".pf_meta")]:
            listed = _unpacked(renamed[meta])
            if old.encode() not in listed:
                continue
            content = _packed(listed.replace(old.encode(), new.encode()))
            language = meta.removeprefix("pagefind.").removesuffix(".pf_meta")
            named = _renamed(language, content)
            del renamed[meta]
            renamed[f"pagefind.{named}.pf_meta"] = content
            entry = renamed["pagefind-entry.json"]
            renamed["pagefind-entry.json"] = entry.replace(language.encode(), named.encode())
    return dict(sorted(renamed.items()))


def _renamed(name: str, content: bytes) -> str:
    """Return a name such as en_1f0c3a7 with the content's digest, as long as before."""
    language, _, old = name.rpartition("_")
    return f"{language}_{digest((content,))[: len(old)]}"


def _unpacked(content: bytes) -> bytes:
    return gzip.decompress(content).removeprefix(_MAGIC)


def _packed(content: bytes) -> bytes:
    return gzip.compress(_MAGIC + content, 9, mtime=0)


def _sorted_values(filter_data: bytes) -> bytes:
    """Return a filter, the CBOR of [name, [[value, [page, ...]], ...]], with its values sorted."""
    start = _item_end(filter_data, 1)  # after the head of the pair and the name
    at = _head(filter_data, start)[2]
    values = []
    while at < len(filter_data):
        end = _item_end(filter_data, at)
        values.append(filter_data[at:end])
        at = end
    return filter_data[: len(filter_data) - sum(map(len, values))] + b"".join(sorted(values))


def _item_end(data: bytes, start: int) -> int:
    """Return the end of the CBOR item at `start`."""
    kind, count, end = _head(data, start)
    if kind == _TEXT:
        return end + count
    for _ in range(count if kind == _ARRAY else 0):
        end = _item_end(data, end)
    return end


def _head(data: bytes, start: int) -> tuple[int, int, int]:
    """Return the type of a CBOR item, its number or length, and where its head ends.

    Raises:
        ServiceError: it is neither a number nor a text nor an array of known length.
    """
    kind, short = divmod(data[start], 32)
    if kind not in (_NUMBER, _TEXT, _ARRAY) or short > 27:
        raise ServiceError("the search index could not be made: its filter has an unknown form")
    if short < 24:
        return kind, short, start + 1
    end = start + 1 + 2 ** (short - 24)
    return kind, int.from_bytes(data[start + 1 : end], "big"), end
