"""What a page is sent without: it stands on the page of its receipts, to which links lead.

What closed folds hold, the definitions of terms, and how sources are called. Whose script is there
gets them from that page once one is opened or pointed at, and before anything is live or printed
(theme/runtime/page/beside.js, receipts.js).
"""

import json
import re
from html import unescape

from builder.core.folders import RECEIPTS

# Below a chart or a scene: its table, its steps.
_UNDER = re.compile(
    r'(?P<before><details class="data"><summary>[^<]*</summary>(?:<div data-table>)?)'
    r"(?P<inside>(?<=<div data-table>)(?!</div>).+?(?=</div></details>)|<ol data-steps>.+?</ol>)",
    re.DOTALL,
)
_CAPTION = "<figcaption><strong>"
# An author's fold, and a table in it that the engine renews.
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
_LEAST = 300  # characters of a fold: a link in its place takes a quarter of them
# What links lead to or a calculator renews stays in its place.
_STAYS = re.compile(r'<[^>]* (?:id="|data-(?!cite)|class="number")')
_TERM = re.compile(
    r'<button class="term" popovertarget="([\w-]+)" type="button">(.*?)</button>', re.DOTALL
)
_DEFINITION = re.compile(r'<div popover (class="definition" id="[\w-]+">.*?</div>)\n', re.DOTALL)
_SOURCE = re.compile(r'<li id="ref-([\w-]+)" data-cite-label="([^"]*)">')
_CITE = re.compile(r'<a data-cite="([\w-]+)" (?=href="#ref-\1")')
_LINK = re.compile(rf'<a data-beside href="{RECEIPTS}#([\w-]+)">.*?</a>', re.DOTALL)
_HREF = re.compile(r'\bhref="(?!https?:)')
_END = "</article>"


def parted(page: str, receipts: str, glossary: str) -> tuple[str, str]:
    """Return a page less what nobody sees at first, and the page of its receipts with it.

    Args:
        page: as it is written.
        receipts: the page of its receipts.
        glossary: the address of the glossary from the page, "" if there is none.
    """
    moved: dict[str, tuple[str, str]] = {}  # what stands in a fold -> its id and its title

    def link(inside: str, title: str) -> str:
        name, _ = moved.setdefault(inside, (f"beside-{len(moved) + 1}", title))
        return f'<a data-beside href="{RECEIPTS}#{name}">{title}</a>'

    def under(match: re.Match[str]) -> str:
        start = page.rindex(_CAPTION, 0, match.start()) + len(_CAPTION)
        return match["before"] + link(match["inside"], page[start : page.index("<", start)])

    def part(match: re.Match[str]) -> str:
        return match["before"] + link(match["inside"], match["title"]) + match["after"]

    def fold(match: re.Match[str]) -> str:
        if _STAYS.search(match["inside"]):
            return _VIEW.sub(part, match[0])
        return part(match) if len(match["inside"]) > _LEAST else match[0]

    page = _TERM.sub(rf'<a class="term" href="{glossary or RECEIPTS}#\1">\2</a>', page)
    short = _FOLD.sub(fold, _UNDER.sub(under, page))
    parts = [f"<div {one}" for one in _DEFINITION.findall(short)]
    parts += [
        f'<h2>{title}</h2>\n<div class="beside" id="{name}">{inside}</div>'
        for inside, (name, title) in moved.items()
    ]
    before, end, after = receipts.rpartition(_END)
    more = "".join(_HREF.sub('href="../', one) + "\n" for one in parts) + _labels(short)
    short = _SOURCE.sub(r'<li id="ref-\1">', _DEFINITION.sub("", short))
    short = _CITE.sub("<a ", short)  # the address says which
    return short, f"{before}{more}{end}{after}"


def _labels(page: str) -> str:
    """Return how the sources of a page are called, for numbers that the engine renews."""
    labels = {key: unescape(label) for key, label in _SOURCE.findall(page)}
    told = json.dumps(labels, ensure_ascii=False).replace("<", "\\u003c")
    return f'<script type="application/json" data-cite-labels>{told}</script>\n'


def joined(page: str, receipts: str) -> str:
    """Return a page with what its folds hold, for a document in which nothing is folded."""

    def inside(match: re.Match[str]) -> str:
        start = f'id="{match[1]}">'
        held = receipts.partition(start)[2]
        end = re.search(r"</div>\n(?=<h2>|<script|</article>)", held)
        return held[: end.start() if end else 0].replace('href="../', 'href="')

    return _LINK.sub(inside, page)
