"""Parts of a pasted text: files below headings, fenced blocks, files that a script writes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

# "--- config.json ---", "=== a ===", "---": not what logs print around their arguments.
_MARK = re.compile(
    r"^\s*(?:(?:-{3}|={3})|(?:-{3,5}|={3,5})\s*(?P<name>[^\s=-][^=\n]{0,120}?)\s*[-=]*)\s*$"
)
_LOG_MARK = re.compile(r"^\s*[-=]{3,}\s*(end of )?(.{0,40}\s)?arguments:?\s*[-=]{3,}\s*$")
# In a comment a line of dashes is a heading of the script, unless it names a file.
_COMMENTED = re.compile(
    r"^\s*(?:#|//)\s*[-=]{3,}\s*(?P<name>[^=\n]{0,100}\.[a-z]{2,5})\s*[-=]+\s*$"
)
_FENCE = re.compile(r"^\s{0,3}(```|~~~)\s*(?P<name>\w{0,20})\s*$")
_COMMENT = re.compile(r"(^|\s)#(?!SBATCH).*$", re.MULTILINE)
# What a script prints is no setting of its job.
_PRINTED = re.compile(r"^[ \t]*(?:echo|printf)\b[^|>\n]*$", re.MULTILINE)
_HERE = re.compile(r"<<-?\s*(?P<quote>[\"']?)(?P<end>\w{1,40})(?P=quote)(?P<rest>[^\n]*)$")
_KEPT = re.compile(r"(?:^|[\s;])read\s+(?:-\w+\s+|''\s+|\"\"\s+)*[A-Za-z_]\w*\s*<<")
# Commands whose input another shell runs.
HANDED_ON = re.compile(r"\b(?:sbatch|bash|sh|srun|ssh|docker|salloc)\b")
_WRITTEN = re.compile(r">>?\s*[\"']?(?P<name>[^\s\"'<>|;&]{1,200})")
_LONGEST_MARK = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a text.

    Attributes:
        text: of it.
        line: of its first line, from 1.
        name: of its file, where a line says it.
        optional: what a script prints: no fault if it is no configuration.
    """

    text: str
    line: int
    name: str = ""
    optional: bool = False


def blank(text: str) -> str:
    """Return the line breaks of a text alone, which keep the numbers of the lines below."""
    return "\n" * text.count("\n")


def without_comments(text: str) -> str:
    """Return a text without comments and without the words that a script prints."""
    return _PRINTED.sub("", _COMMENT.sub("", text))


def split_parts(text: str) -> Iterator[Part]:
    """Yield the parts of a text that hold anything."""
    lines: list[str] = []
    start, name = 1, ""
    for number, line in enumerate([*text.splitlines(), "---"], 1):
        heading = _heading(line)
        if heading is None:
            lines.append(line)
            continue
        yield from _with_written_files("\n".join(lines), start, name)
        lines, start, name = [], number + 1, heading


def _heading(line: str) -> str | None:
    """Return the name in a line between two parts; None if it is no such line."""
    if len(line) >= _LONGEST_MARK or _LOG_MARK.match(line):
        return None
    if _FENCE.match(line):
        return ""
    match = _MARK.match(line) or _COMMENTED.match(line)
    return (match["name"] or "").strip(" -=") if match else None


def _with_written_files(text: str, start: int, name: str) -> Iterator[Part]:
    """Yield the files that a script writes by here-documents, and then the script.

    A command that it keeps in a variable so, `read -r -d '' NAME <<EOF`, is what it runs.
    """
    lines, kept, at = text.split("\n"), [], 0
    parts, runs_variable = [], False
    while at < len(lines):
        match = _HERE.search(lines[at]) if "<<" in lines[at] else None
        if match and HANDED_ON.search(lines[at]) and not _WRITTEN.search(match["rest"]):
            match = None  # a part of the script, which another shell runs
        kept.append(lines[at])
        at += 1
        end = _end_of_document(lines, at, match["end"]) if match else None
        if match is None or end is None:
            continue
        written = _WRITTEN.search(match["rest"]) or _WRITTEN.search(kept[-1][: match.start()])
        body = "\n".join(lines[at:end])
        if "$" in body and not match["quote"]:
            from engine.run.importers.shell import resolve_variables

            body = resolve_variables("\n".join([*kept[:-1], body])).split("\n", at - 1)[-1]
        kept += [""] * (end - at + 1)
        file = written["name"].rpartition("/")[2] if written else ""
        variable = not written and bool(_KEPT.search(lines[at - 1]))
        runs_variable = runs_variable or variable
        optional = not written and not variable
        parts.append(Part(text=body, line=start + at, name=file, optional=optional))
        at = end + 1
    script = Part(text="\n".join(kept), line=start, name=name, optional=runs_variable)
    for part in [*parts, script]:
        if part.text.strip():
            yield part


def _end_of_document(lines: list[str], start: int, word: str) -> int | None:
    return next((at for at in range(start, len(lines)) if lines[at].strip() == word), None)
