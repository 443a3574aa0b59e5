"""How files of byte code are put into one, compressed, named and found again."""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping

import deflate

SMALLEST, SMALL = 10, 9  # levels of libdeflate
EPOCH = (1980, 1, 1, 0, 0, 0)

Files = Mapping[str, bytes]


def placed(path: str) -> str:
    """Return where a file is unpacked: byte code in the place of a source."""
    return f"{path}c" if path.endswith(".py") else path


def beside(path: str) -> str:
    """Return where the codes of a module's data classes are unpacked."""
    return f"{path.removesuffix('.py')}.records"


def bundled(files: Files) -> bytes:
    """Return the files as one: the length of a JSON list of [path, size], the list, the contents.

    The Worker unpacks it with a few lines of its own into folders, where archives of several
    calculators meet in one package.
    """
    listed = json.dumps([[path, len(files[path])] for path in sorted(files)]).encode()
    contents = b"".join(files[path] for path in sorted(files))
    return len(listed).to_bytes(4, "little") + listed + contents


def unbundled(data: bytes) -> dict[str, bytes]:
    """Return the files that `bundled` made one."""
    at = 4 + int.from_bytes(data[:4], "little")
    found = {}
    for path, size in json.loads(data[4:at]):
        found[path] = data[at : at + size]
        at += size
    return found


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


def zipped(data: bytes, *, quick: bool = False, level: int = SMALL) -> bytes:
    """Return the data as gzip, the same on every system.

    Of all archives of a site libdeflate's level 9 makes as much as zlib's 9, in a sixth of its
    time; level 10 makes 3 % less in four times that: for what every page loads. `quick` takes a
    fifth, for an author who waits and whose browser is near.
    """
    return bytes(deflate.gzip_compress(data, 1 if quick else level))


def key(*parts: str | bytes) -> str:
    """Return a short hash of the parts, in their order."""
    whole = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        whole.update(len(data).to_bytes(8, "little") + data)
    return whole.hexdigest()[:16]
