"""Compare two built sites: `python -m tests.compare_sites OLD NEW`, after a change of names alone.

Hashes in file names and in texts count as equal, and the contents of archives of byte code are left
out, since both follow from the names of modules. Pages are compared as trees: the order of
attributes, quotes, white space and end tags that a parser implies make no difference. Every other
difference is printed, and makes the exit status 1.
"""

import re
import sys
from collections.abc import Iterator
from difflib import unified_diff
from html import unescape
from pathlib import Path

from builder.core import html_tree

HASH = re.compile(rb"[-.][0-9a-f]{16}(?![0-9a-f])")
INTEGRITY = re.compile(rb'"[0-9a-f]{16,64}"|\?v=[0-9a-f]+|sha\d+-[A-Za-z0-9+/=]+')
ARCHIVES = (".bin", ".pf_index", ".pf_fragment", ".pf_meta", ".pagefind")


def contents(folder: Path) -> dict[str, list[bytes]]:
    """Return path without hashes -> contents without hashes of all files of that path, sorted."""
    found: dict[str, list[bytes]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            name = HASH.sub(b"", path.relative_to(folder).as_posix().encode()).decode()
            data = b"" if path.suffix in ARCHIVES else path.read_bytes()
            if path.suffix == ".html":
                data = "\n".join(_lines(html_tree.parse(data.decode()))).encode()
            found.setdefault(name, []).append(INTEGRITY.sub(b'"HASH"', HASH.sub(b"", data)))
    return {name: sorted(files) for name, files in found.items()}


def _lines(root: html_tree.Element) -> Iterator[str]:
    """Yield a line for each text, each start and each end of an element."""
    text = ""
    for node in root.children:
        if not isinstance(node, html_tree.Element):
            text += node
            continue
        if text.strip():
            yield " ".join(unescape(text).split())
        text = ""
        attributes = sorted((name, value or "") for name, value in node.attributes.items())
        yield f"<{node.tag} {attributes}>"
        yield from _lines(node)
        yield f"</{node.tag}>"
    if text.strip():
        yield " ".join(unescape(text).split())


def differences(old: Path, new: Path) -> list[str]:
    """Return a line for every file that differs or that only one site has."""
    before, after = contents(old), contents(new)
    lines = [f"only in {old}: {name}" for name in before.keys() - after.keys()]
    lines += [f"only in {new}: {name}" for name in after.keys() - before.keys()]
    for name in sorted(before.keys() & after.keys()):
        if before[name] != after[name]:
            lines.append(f"{name}: {_first(before[name], after[name])}")
    return sorted(lines)


def _first(before: list[bytes], after: list[bytes]) -> str:
    """Return the first changed lines of two contents, as a diff shows them."""

    def lines(files: list[bytes]) -> list[str]:
        return re.split(r"(?<=>)|\n", b"\n".join(files).decode("utf-8", "replace"))

    diff = unified_diff(lines(before), lines(after), lineterm="", n=0)
    changed = [line for line in diff if line[:1] in "+-"][2:6]
    return " | ".join(line[:120] for line in changed) or "other bytes"


def main() -> int:
    """Print the differences of the two folders named on the command line."""
    found = differences(Path(sys.argv[1]), Path(sys.argv[2]))
    for line in found:
        print(line)
    print(f"{len(found)} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
