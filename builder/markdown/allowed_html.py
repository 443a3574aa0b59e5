"""HTML in Markdown: a few tags of text and their harmless attributes; the rest is refused.

A page runs no script but its own and asks no other host for anything. What an author needs beyond
these tags has Markdown of its own: images, figures, admonitions, tables.
"""

import re
from html.parser import HTMLParser

from builder.core.problem import Problem, prose_only
from builder.markdown.extensions.links import is_internal, wrong_address

_TAGS = (
    "a abbr b br caption cite code dd del details dfn div dl dt em figcaption figure h2 h3 h4 hr "
    "i img ins kbd li mark ol p pre q s samp section small span strong sub summary sup table "
    "tbody td tfoot th thead tr u ul var wbr"
)
_ATTRIBUTES = (
    "alt class colspan dir headers height href id lang open role rowspan scope src start title "
    "width"
)
TAGS, ATTRIBUTES = frozenset(_TAGS.split()), frozenset(_ATTRIBUTES.split())
VOID = frozenset(("br", "hr", "img", "wbr"))


_LINK = re.compile(r"(https:|mailto:|[\w.+-]+@)")


def ends_early(comment: str) -> bool:
    """Say whether a browser reads what is within a comment as more than a comment.

    `<!-->` and `<!--->` are whole comments to it, and so is what ends in `--!>` (HTML, 13.2.5.44).
    """
    return comment.startswith((">", "->")) or "--!>" in comment or "<!--" in comment


def _wrong_address(name: str, value: str) -> str:
    if is_internal(value):
        return ""
    if name == "src":  # what the browser fetches by itself
        return f"'{value}' is not a file of the site; a page loads nothing else"
    return wrong_address(value)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[int, str]] = []
        self.open: list[tuple[str, int]] = []

    def say(self, message: str) -> None:
        self.found.append((self.getpos()[0], message))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if _LINK.match(tag):  # <https://...> is a link
            return
        if tag not in TAGS:
            self.say(f"the tag <{tag}> is not allowed in an article; a bare < is written &lt;")
            return
        for name, value in attrs:
            if name not in ATTRIBUTES:
                self.say(f"the attribute '{name}' of <{tag}> is not allowed in an article")
            elif name in ("href", "src"):
                wrong = _wrong_address(name, value or "")
                if wrong:
                    self.say(wrong)
        if tag not in VOID:
            self.open.append((tag, self.getpos()[0]))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)  # a browser reads <div/> as <div>

    def handle_endtag(self, tag: str) -> None:
        if tag not in TAGS or tag in VOID:
            return
        names = [name for name, _ in self.open]
        if tag not in names:
            self.say(f"</{tag}> closes nothing")
            return
        while self.open[-1][0] != tag:
            self.unclosed(*self.open.pop())
        self.open.pop()

    def handle_comment(self, data: str) -> None:
        if ends_early(data):
            self.say(f"the comment <!--{data}--> ends earlier for a browser")

    def unknown_decl(self, data: str) -> None:
        self.say(f"<![{data}]> is not allowed in an article")

    def handle_decl(self, decl: str) -> None:
        self.say(f"<!{decl}> is not allowed in an article")

    def handle_pi(self, data: str) -> None:
        self.say(f"<?{data}> is not allowed in an article")

    def unclosed(self, tag: str, line: int) -> None:
        self.found.append((line, f"<{tag}> is never closed"))


def refused(html: str) -> list[str]:
    """Return what a piece of HTML has that is not allowed."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return [message for _, message in reader.found if not message.endswith(" closes nothing")]


def problems(source: str, body: str) -> list[Problem]:
    """Return what an article's own HTML has that is not allowed, and what it leaves open."""
    text = prose_only(body)
    reader = _Reader()
    reader.feed(text)
    reader.close()
    for tag, line in reader.open:
        reader.unclosed(tag, line)
    if text.rfind("<!--") > text.rfind("-->"):
        line = text.count("\n", 0, text.rfind("<!--")) + 1
        reader.found.append((line, "the comment <!-- is never closed"))
    return [Problem(source, line, message) for line, message in reader.found]
