"""Changed numbers: `changes.json`, for pages opened by a link older than a correction.

The sections of the corrections page are the only list of changes. A section concerns the
calculators whose numbers it shows.
"""

import datetime
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from builder.content.article import Article
from builder.core.problem import Problem
from builder.markdown.article_html import Heading

SLUG = "corrections"
PATH = "changes.json"
MESSAGE = (
    "This link was made on {date}. Since then, numbers of the calculators it sets have changed; "
    "what you see is computed as it is today."
)
_SECTION = re.compile(r"^## (?P<title>.*)$", re.MULTILINE)
_DATED = re.compile(r"(?P<date>\d{4}-\d\d-\d\d): (?P<what>.+)")
_NUMBER = re.compile(r"\[\[([a-z][a-z0-9_]*)\.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A changed number: date, title, URL of its correction, calculators concerned."""

    date: str
    title: str
    url: str
    calculators: tuple[str, ...]


def find_changes(
    articles: Iterable[Article], headings: Mapping[str, tuple[Heading, ...]]
) -> tuple[Change, ...]:
    """Return all changes, newest first; none without a corrections page.

    Args:
        articles: all of them.
        headings: source -> headings of an article.
    """
    page = _page(articles)
    if page is None:
        return ()
    ids = [heading.id for heading in headings[page.source] if heading.level == 2]
    return tuple(
        Change(
            date=match["date"],
            title=match["what"][:1].upper() + match["what"][1:],
            url=f"{page.url}#{anchor}",
            calculators=tuple(sorted(set(_NUMBER.findall(text)))),
        )
        for (_, title, text), anchor in zip(_sections(page), ids, strict=True)
        if (match := _DATED.fullmatch(title))
    )


def changes_json(changes: Iterable[Change]) -> str:
    """Return the JSON of the changes, with the message that a page shows."""
    data = {"said": MESSAGE, "close": "Close", "changes": [asdict(change) for change in changes]}
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def problems(articles: Iterable[Article]) -> list[Problem]:
    """Return the problems of corrections without a date or live number, or out of order."""
    page = _page(articles)
    wrong: list[Problem] = []
    last = "9999-12-31"
    for line, title, text in _sections(page) if page else ():
        match = _DATED.fullmatch(title)
        message = ""
        if not match or not _is_date(match["date"]):
            message = f"'{title}' does not begin with its date, as in '2026-01-31: what changed'"
        elif match["date"] > last:
            message = f"corrections stand the newest first; {match['date']} comes after {last}"
        elif not _NUMBER.search(text):
            message = f"'{title}' shows no number as it is now, such as [[calculator.output]]"
        if message and page:
            wrong.append(Problem(page.source, line, message))
        last = match["date"] if match else last
    return wrong


def _page(articles: Iterable[Article]) -> Article | None:
    return next(
        (article for article in articles if article.slug == SLUG and article.kind == "page"), None
    )


def _sections(page: Article) -> list[tuple[int, str, str]]:
    """Return (line, title, text) of every section."""
    headings = list(_SECTION.finditer(page.body))
    ends = [*(heading.start() for heading in headings[1:]), len(page.body)]
    return [
        (
            page.body.count("\n", 0, heading.start()) + 1,
            heading["title"].strip(),
            page.body[heading.end() : end],
        )
        for heading, end in zip(
            headings, ends, strict=False
        )  # a page without a section has an end, too
    ]


def _is_date(text: str) -> bool:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True
