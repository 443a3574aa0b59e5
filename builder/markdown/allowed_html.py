"""Allowed HTML in Markdown: a few text tags with harmless attributes; everything else is an error.

A page runs no script but its own and asks no other host for anything. What an author needs beyond
these tags has Markdown of its own: images, figures, admonitions, tables.
"""

import re
from html.parser import HTMLParser

from builder.core.problem import Problem, blank_code_and_math
from builder.markdown.extensions.links import external_link_problem, is_internal

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


_AUTOLINK = re.compile(r"(https:|mailto:|[\w.+-]+@)")


def comment_ends_early(comment: str) -> bool:
    """Say whether a browser ends a comment with this text before its author meant it to.

    `<!-->` and `<!--->` are whole comments to it, and so is what ends in `--!>` (HTML, 13.2.5.44).
    """
    return comment.startswith((">", "->")) or "--!>" in comment or "<!--" in comment


def _address_problem(name: str, value: str) -> str:
    if is_internal(value):
        return ""
    if name == "src":  # the browser fetches it without a click
        return f"'{value}' is not a file of the site; a page loads nothing else"
    return external_link_problem(value)


class _TagChecker(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.messages: list[tuple[int, str]] = []
        self.open_tags: list[tuple[str, int]] = []

    def report(self, message: str) -> None:
        self.messages.append((self.getpos()[0], message))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if _AUTOLINK.match(tag):  # <https://...> is a link
            return
        if tag not in TAGS:
            self.report(f"the tag <{tag}> is not allowed in an article; a bare < is written &lt;")
            return
        for name, value in attrs:
            if name not in ATTRIBUTES:
                self.report(f"the attribute '{name}' of <{tag}> is not allowed in an article")
            elif name in ("href", "src"):
                problem = _address_problem(name, value or "")
                if problem:
                    self.report(problem)
        if tag not in VOID:
            self.open_tags.append((tag, self.getpos()[0]))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)  # a browser reads <div/> as <div>

    def handle_endtag(self, tag: str) -> None:
        if tag not in TAGS or tag in VOID:
            return
        names = [name for name, _ in self.open_tags]
        if tag not in names:
            self.report(f"</{tag}> closes nothing")
            return
        while self.open_tags[-1][0] != tag:
            self.report_unclosed(*self.open_tags.pop())
        self.open_tags.pop()

    def handle_comment(self, data: str) -> None:
        if comment_ends_early(data):
            self.report(f"the comment <!--{data}--> ends earlier for a browser")

    def unknown_decl(self, data: str) -> None:
        self.report(f"<![{data}]> is not allowed in an article")

    def handle_decl(self, decl: str) -> None:
        self.report(f"<!{decl}> is not allowed in an article")

    def handle_pi(self, data: str) -> None:
        self.report(f"<?{data}> is not allowed in an article")

    def report_unclosed(self, tag: str, line: int) -> None:
        self.messages.append((line, f"<{tag}> is never closed"))


def disallowed_messages(html: str) -> list[str]:
    """Return an error message for each disallowed tag or attribute of an HTML fragment."""
    reader = _TagChecker()
    reader.feed(html)
    reader.close()
    return [message for _, message in reader.messages if not message.endswith(" closes nothing")]


def problems(source: str, body: str) -> list[Problem]:
    """Return the problems of an article's raw HTML: disallowed or unclosed tags and comments."""
    text = blank_code_and_math(body)
    reader = _TagChecker()
    reader.feed(text)
    reader.close()
    for tag, line in reader.open_tags:
        reader.report_unclosed(tag, line)
    if text.rfind("<!--") > text.rfind("-->"):
        line = text.count("\n", 0, text.rfind("<!--")) + 1
        reader.messages.append((line, "the comment <!-- is never closed"))
    return [Problem(source, line, message) for line, message in reader.messages]
