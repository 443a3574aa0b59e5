"""What a page is sent without: it stands on the page of its receipts, to which links lead.

Tables and steps that lie in a closed fold, and the definitions of terms. Whose script is there gets
them from that page once one is opened or pointed at, and before anything is live or printed
(theme/runtime/page/beside.js).
"""

import re

from builder.folders import RECEIPTS

# Below a chart or a scene.
_UNDER = re.compile(
    r'(?P<before><details class="data"><summary>[^<]*</summary>(?:<div data-table>)?)'
    r"(?P<inside>(?:(?<=<div data-table>)(?!</div>).+?(?=</div></details>)|<ol data-steps>.+?</ol>))",
    re.DOTALL,
)
_FOLD = re.compile(r"<details>(?:(?!<details\b).)*?</details>", re.DOTALL)
_VIEW = re.compile(
    r'(?P<before><div class="view table"[^>]*><div data-fragment>)'
    r'(?P<inside><div class="scroll"[^>]*aria-label="(?P<title>[^"]*)".+?</table></div>'
    r'(?:<p class="caption">.*?</p>)?)(?=</div></div>)',
    re.DOTALL,
)
_CAPTION = "<figcaption><strong>"
_TERM = re.compile(
    r'<button class="term" popovertarget="([\w-]+)" type="button">(.*?)</button>', re.DOTALL
)
_DEFINITION = re.compile(r'<div popover (class="definition" id="[\w-]+">.*?</div>)\n', re.DOTALL)
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
        title = page[start : page.index("</strong>", start)]
        return match["before"] + link(match["inside"], title)

    def view(match: re.Match[str]) -> str:
        return match["before"] + link(match["inside"], match["title"])

    short = _UNDER.sub(under, page)
    short = _FOLD.sub(lambda fold: _VIEW.sub(view, fold[0]), short)
    definitions = _DEFINITION.findall(short)
    short = _DEFINITION.sub("", short)
    short = _TERM.sub(rf'<a class="term" href="{glossary or RECEIPTS}#\1">\2</a>', short)
    parts = [f"<div {one}" for one in definitions]
    parts += [
        f'<h2>{title}</h2>\n<div class="beside" id="{name}">{inside}</div>'
        for inside, (name, title) in moved.items()
    ]
    more = "".join(_HREF.sub('href="../', one) + "\n" for one in parts)
    before, end, after = receipts.rpartition(_END)
    return short, f"{before}{more}{end}{after}"


def joined(page: str, receipts: str) -> str:
    """Return a page with what its closed folds hold, for a document in which nothing is folded."""

    def inside(match: re.Match[str]) -> str:
        start = receipts.index(f'id="{match[1]}">') + len(f'id="{match[1]}">')
        found = re.compile(r"</div>\n(?=<h2>|</article>)").search(receipts, start)
        held = receipts[start : found.start() if found else start]
        return held.replace('href="../', 'href="')

    return _LINK.sub(inside, page)
