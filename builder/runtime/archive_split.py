"""What the calculators of one page have in common is sent once.

The runtime has a file for every calculator with all that it needs. Calculators of one page mostly
speak of one job, and so import the same modules: a page with several of them gets one file with
what more than one needs, and one for each with the rest. No file depends on a calculator that the
page does not use.
"""

import gzip
from collections import Counter
from collections.abc import Mapping

from builder.runtime.archive_format import bundled, key, unbundled, zipped

Split = tuple[dict[str, bytes], dict[str, list[str]]]


def split(page: str, archives: Mapping[str, bytes], *, quick: bool = False) -> Split:
    """Return (name -> content of the page's files, calculator -> the files that it needs).

    Args:
        page: what the files' names begin with. Readers keep one version of a name, so two pages
            never share one.
        archives: calculator -> compressed archive with all that it needs.
        quick: compress less, as `zipped` does.
    """
    held = {name: unbundled(gzip.decompress(data)) for name, data in archives.items()}
    count = Counter(path for files in held.values() for path in files)
    often = {path: text for one in held.values() for path, text in one.items() if count[path] > 1}
    files: dict[str, bytes] = {}
    needed: dict[str, list[str]] = {name: [] for name in archives}
    if often:
        common = _named(f"{page}-common", often, files, quick=quick)
        for name, own in held.items():
            needed[name] += [common] if own.keys() & often.keys() else []
    for name, own in held.items():
        rest = {path: text for path, text in own.items() if path not in often}
        needed[name] += [_named(f"{page}-{name}", rest, files, quick=quick)] if rest else []
    return files, needed


def _named(stem: str, modules: Mapping[str, bytes], files: dict[str, bytes], *, quick: bool) -> str:
    content = zipped(bundled(modules), quick=quick)
    name = f"{stem}-{key(content)}.bin"
    files[name] = content
    return name
