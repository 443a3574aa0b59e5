"""Deferred content: moves folds, definitions and source labels to the receipts page.

The page's script fetches them from there when a reader opens or points at one, and before anything
is live or printed (theme/runtime/page/deferred_content.js, receipts.js); without scripts, links
lead there.
"""

import json
import re
from html import unescape

from builder.core.folders import RECEIPTS

# The data table or the steps below a chart or a scene.
_FIGURE_DATA = re.compile(
    r'(?P<before><details class="data"><summary>[^<]*</summary>(?:<div data-table>)?)'
    r"(?P<inside>(?<=<div data-table>)(?!</div>).+?(?=</div></details>)|<ol data-steps>.+?</ol>)",
    re.DOTALL,
)
_CAPTION = "<figcaption><strong>"
# A fold of the article, and a table in it that the engine updates.
_FOLD = re.compile(
    r"(?P<before><details>\s*<summary>(?P<title>[^<]*)</summary>\s*)"
    r"(?P<inside>(?:(?!<details\b).)*?)(?P<after>\s*</details>)",
    re.DOTALL,
)
_VIEW = re.compile(
    r'(?P<before><div class="view table"[^>]*><div data-fragment>)'
    r'(?P<inside><div class="scroll"[^>]*aria-label="(?P<title>[^"]*)".+?</table></div>'
    r'(?:<p class="caption">.*?</p>)?)(?P<after></div></div>)',
    re.DOTALL,
)
_MIN_FOLD_LENGTH = 300  # characters of a fold; the link that replaces it has a quarter as many
# Link targets and elements that a calculator updates are not moved.
_NOT_MOVABLE = re.compile(r'<[^>]* (?:id="|data-(?!cite)|class="number")')
_TERM = re.compile(
    r'<button class="term" popovertarget="([\w-]+)" type="button">(.*?)</button>', re.DOTALL
)
_DEFINITION = re.compile(r'<div popover (class="definition" id="[\w-]+">.*?</div>)\n', re.DOTALL)
_SOURCE = re.compile(r'<li id="ref-([\w-]+)" data-cite-label="([^"]*)">')
_CITE = re.compile(r'<a data-cite="([\w-]+)" (?=href="#ref-\1")')
_LINK = re.compile(rf'<a data-beside href="{RECEIPTS}#([\w-]+)">.*?</a>', re.DOTALL)
_HREF = re.compile(r'\bhref="(?!https?:)')
_END = "</article>"


def defer_content(page: str, receipts: str, glossary: str) -> tuple[str, str]:
    """Return the page without its deferred content, and the receipts page with it.

    Args:
        page: HTML of the page.
        receipts: HTML of its receipts page.
        glossary: URL of the glossary relative to the page, "" if there is none.
    """
    moved: dict[str, tuple[str, str]] = {}  # content of a fold -> (id, title)

    def link(inside: str, title: str) -> str:
        name, _ = moved.setdefault(inside, (f"beside-{len(moved) + 1}", title))
        return f'<a data-beside href="{RECEIPTS}#{name}">{title}</a>'

    def under(match: re.Match[str]) -> str:
        start = page.rindex(_CAPTION, 0, match.start()) + len(_CAPTION)
        return match["before"] + link(match["inside"], page[start : page.index("<", start)])

    def part(match: re.Match[str]) -> str:
        return match["before"] + link(match["inside"], match["title"]) + match["after"]

    def fold(match: re.Match[str]) -> str:
        if _NOT_MOVABLE.search(match["inside"]):
            return _VIEW.sub(part, match[0])
        return part(match) if len(match["inside"]) > _MIN_FOLD_LENGTH else match[0]

    page = _TERM.sub(rf'<a class="term" href="{glossary or RECEIPTS}#\1">\2</a>', page)
    shortened = _FOLD.sub(fold, _FIGURE_DATA.sub(under, page))
    parts = [f"<div {part}" for part in _DEFINITION.findall(shortened)]
    parts += [
        f'<h2>{title}</h2>\n<div class="beside" id="{name}">{inside}</div>'
        for inside, (name, title) in moved.items()
    ]
    before, end, after = receipts.rpartition(_END)
    appended = "".join(_HREF.sub('href="../', part) + "\n" for part in parts) + _source_labels(
        shortened
    )
    shortened = _SOURCE.sub(r'<li id="ref-\1">', _DEFINITION.sub("", shortened))
    shortened = _CITE.sub("<a ", shortened)  # the href names the source
    return shortened, f"{before}{appended}{end}{after}"


def _source_labels(page: str) -> str:
    """Return a page's source labels as JSON, for numbers that the engine updates."""
    labels = {key: unescape(label) for key, label in _SOURCE.findall(page)}
    text = json.dumps(labels, ensure_ascii=False).replace("<", "\\u003c")
    return f'<script type="application/json" data-cite-labels>{text}</script>\n'


def restore_content(page: str, receipts: str) -> str:
    """Return a page with its deferred content restored, for documents without folds."""

    def inside(match: re.Match[str]) -> str:
        start = f'id="{match[1]}">'
        rest = receipts.partition(start)[2]
        end = re.search(r"</div>\n(?=<h2>|<script|</article>)", rest)
        return rest[: end.start() if end else 0].replace('href="../', 'href="')

    return _LINK.sub(inside, page)
