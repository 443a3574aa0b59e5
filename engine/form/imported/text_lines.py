"""The reader's text, line by line, with what became of each line in color and words."""

from collections.abc import Sequence

from engine.core.text import Text, say
from engine.core.units import COUNT
from engine.core.views import Cell, ColoredText, Table
from engine.form.imported.verdicts import left_out
from engine.run.importers.assemble import ImportedRun
from engine.run.importers.import_report import ReportEntry

# Kind -> (word, color); what a reader must look at stands first.
OUTCOMES = {
    "not read": ("not read", "bad"),
    "not known": ("not known here", "bad"),
    "not modeled": ("not modeled", "communication"),
    "derived": ("read, works on others", "compute"),
    "understood": ("read", "compute"),
    "without effect": ("without effect", "muted"),
    "none": ("no setting", "muted"),
}
_DERIVED = ("worked into", "how many ", "nodes and processes")
_MOST = 400  # rows
_WIDEST = 120  # letters of a line
_LONGEST_REASON = 3  # entries of a line
_COMMENTS = ("#", "//", "---", "===", "```")


def lines_table(text: str, imported: ImportedRun) -> Table:
    """Return every line of a text that holds anything, and what became of it."""
    by_line: dict[int, list[ReportEntry]] = {}
    for entry in imported.entries:
        if entry.line:
            by_line.setdefault(entry.line, []).append(entry)
    unread = [line for part in imported.unread for line in range(part.first, part.last + 1)]
    rows: list[tuple[Cell, ...]] = []
    counts = dict.fromkeys(OUTCOMES, 0)
    for number, line in enumerate(text.splitlines(), 1):
        line_text = line.strip()
        if not line_text or (line_text.startswith(_COMMENTS) and number not in by_line):
            continue
        kind, why = _outcome(by_line.get(number, ()), number in unread)
        counts[kind] += 1
        if len(rows) < _MOST:
            word, color = OUTCOMES[kind]
            rows.append((str(number), _shortened(line), ColoredText(word, color), why))
    return Table(
        title="Your text, line by line",
        columns=("Line", "Text", "Became", "Because"),
        rows=tuple(rows),
        caption=_caption(counts, imported),
    )


def _shortened(line: str) -> str:
    text = " ".join(line.split())
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


def _outcome(entries: Sequence[ReportEntry], unread: bool) -> tuple[str, str]:
    """Return the outcome of a line that most needs a look, and why."""
    if unread:
        return "not read", "no reader takes this text"
    if not entries:
        return "none", ""
    kinds = [_kind(entry) for entry in entries]
    kind = min(kinds, key=list(OUTCOMES).index)
    reasons = [entry for entry, its in zip(entries, kinds, strict=True) if its == kind]
    texts = dict.fromkeys(
        entry.meaning if len(entries) == 1 else f"{entry.key}: {entry.meaning}"
        for entry in reasons[:_LONGEST_REASON]
    )
    more = f"; and {len(reasons) - _LONGEST_REASON} more" if len(reasons) > _LONGEST_REASON else ""
    return kind, "; ".join(texts) + more


def _kind(entry: ReportEntry) -> str:
    if entry.kind == "understood" and entry.meaning.startswith(_DERIVED):
        return "derived"
    return "derived" if entry.kind == "assumed" else entry.kind


def _caption(counts: dict[str, int], imported: ImportedRun) -> Text:
    names = {kind: kind.replace(" ", "_") for kind in counts}
    shown = [kind for kind in counts if counts[kind]]
    words = ", ".join(f"{{{names[kind]}}} {OUTCOMES[kind][0]}" for kind in shown)
    values = {names[kind]: (counts[kind], COUNT) for kind in shown}
    lines = f"Lines: {words}. " if words else ""
    return say(f"{lines}{left_out(imported)}", **values)
