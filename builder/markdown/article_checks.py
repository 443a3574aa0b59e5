"""What is wrong with a rendered article: headings, blocks, raw HTML, answers given too early."""

import re
from collections.abc import Sequence
from html import unescape

from builder.content.article import Article
from builder.core.problem import Problem, located, prose_lines
from builder.markdown import allowed_html, unclosed_markup
from builder.markdown.render_state import Findings

_LISTING = re.compile(r"<pre\b.*?</pre>", re.DOTALL)
_HEADING = re.compile(r"(#{1,6})\s+\S")


def problems(
    article: Article, html: str, findings: Findings, blocks: Sequence[str]
) -> tuple[Problem, ...]:
    """Return what is wrong with an article, each problem once; `blocks` are all known ones."""
    found = [
        problem
        for raw, message in findings.problems
        for problem in located(article.source, article.body, raw, message)
    ]
    found += _in_sentences(article, findings)
    found += _wrong_headings(article) + _given_away(article, html, findings.answers)
    found += _unread_blocks(article, html, blocks)
    found += allowed_html.problems(article.source, article.body) or _hidden(article, findings)
    found += unclosed_markup.problems(article.source, article.body)
    return tuple(dict.fromkeys(found))


def words(html: str) -> str:
    """Return the words of a piece of HTML."""
    return " ".join(unescape(re.sub(r"<[^>]*>", "", html)).split())


def _hidden(article: Article, findings: Findings) -> list[Problem]:
    """Return what Markdown took for HTML where a look at the source saw code."""
    return [
        problem
        for raw, message in findings.raw
        for problem in located(article.source, article.body, raw, message)
    ]


def _wrong_headings(article: Article) -> list[Problem]:
    found, before = [], 1
    for line, text in prose_lines(article.body):
        heading = _HEADING.match(text)
        if not heading:
            continue
        level = len(heading[1])
        if level == 1:
            message = "the title is in the front matter; headings begin with ##"
            found.append(Problem(article.source, line, message))
        elif level > before + 1:
            message = f"heading of level {level} after one of level {before}; skip none"
            found.append(Problem(article.source, line, message))
        before = level
    return found


def _stands(number: str, text: str) -> bool:
    """Return whether a number stands in a text, and not only as a part of a longer one."""
    return re.search(rf"(?<![\d.,]){re.escape(number)}(?![.,]?\d)", text) is not None


def _given_away(article: Article, html: str, answers: list[tuple[str, str]]) -> list[Problem]:
    found = []
    for marker, truth in answers:
        told = (article.title, article.question, article.summary, html[: html.find(marker)])
        before = words(" ".join(told))
        if _stands(truth, before):
            message = f"the answer '{truth}' stands before the question that asks for it"
            found += located(article.source, article.body, "/// predict", message)
    return found


def _in_sentences(article: Article, findings: Findings) -> list[Problem]:
    """Return what is wrong with placements in sentences, wherever they stand in one."""
    lines = article.body.splitlines()
    found = []
    for raw, message in findings.in_sentences:
        there = located(article.source, article.body, raw, message)
        beside = [one for one in there if lines[one.line - 1].strip() != raw]
        found += beside or there
    return found


def _unread_blocks(article: Article, html: str, known: Sequence[str]) -> list[Problem]:
    return [
        problem
        for name in dict.fromkeys(re.findall(r"(?:<p>|\n)///+ *([a-z-]+)", _LISTING.sub("", html)))
        for problem in located(
            article.source,
            article.body,
            f"/// {name}",
            "this block is unknown or its options are wrong"
            if name in known
            else f"there is no block '{name}'; there are {', '.join(known)}",
        )
    ]
