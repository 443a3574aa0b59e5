"""What is wrong with a rendered article: headings, blocks, raw HTML, answers given too early."""

import re
from collections.abc import Iterator, Sequence
from html import unescape

from builder.content.article import Article
from builder.core.problem import Problem, fenced, located, prose_lines, prose_only
from builder.markdown import allowed_html
from builder.markdown.extensions import citations
from builder.markdown.render_state import Findings

_PLACEMENT = re.compile(r"\[\[[^\[\]\n]*\]\]")
# One bracket too few at an end; a link's text may begin or end with a bracket of its own.
_OPEN = re.compile(r"\[\[[a-z_][^\[\]\n]*(?:\](?![\](\[]|[^\[\]\n]*\][(\[])|$)", re.MULTILINE)
_CLOSED = re.compile(r"(?<!\[)\[[a-z_]\w*\.\w+[^\[\]\n]*\]\](?![\](\[])")
_CITATION = re.compile(r"\[@[^\[\]]*\](?![(\[])")
_OPENED_BLOCK = re.compile(r"^(\s*)(///+)\s*([\w-].*)?$")


def unclosed_problems(source: str, body: str) -> list[Problem]:
    """Return one problem for each, on the line that opens it."""
    found = [*_fences(body), *_blocks(body), *_dollars(body), *_unclosed_brackets(body)]
    return [Problem(source, line, message) for line, message in found]


def _fences(body: str) -> Iterator[tuple[int, str]]:
    opened = 0
    for number, _, fence in fenced(body):
        opened = (opened or number) if fence else 0
    if opened:
        yield opened, "this fence of code is never closed"


def _blocks(body: str) -> Iterator[tuple[int, str]]:
    opened: list[tuple[str, int, str]] = []
    for number, line in prose_lines(body):
        found = _OPENED_BLOCK.match(line)
        if not found:
            continue
        _, marks, name = found.groups()
        if name:
            opened.append((marks, number, name))
        elif not opened:
            yield number, f"'{marks}' closes no block"
        elif opened[-1][0] != marks:
            yield number, f"'{marks}' does not close the block of line {opened[-1][1]}"
        else:
            opened.pop()
    for marks, number, name in opened:
        yield number, f"the block '{marks} {name}' is never closed by '{marks}'"


def _unclosed_brackets(body: str) -> Iterator[tuple[int, str]]:
    """Yield placements with a bracket too few, and citations that name nothing."""
    if "[[" not in body and "]]" not in body and "[@" not in body:
        return
    text = prose_only(body)
    bare = _PLACEMENT.sub(lambda found: " " * len(found[0]), text)
    wrong = [(one, f"'{one[0].strip()}' lacks a ']' at its end") for one in _OPEN.finditer(bare)]
    wrong += [(one, f"'{one[0]}' lacks a '[' before it") for one in _CLOSED.finditer(bare)]
    wrong += [
        (one, f"'{one[0]}' is no citation; write [@key] or [@key; @other]")
        for one in _CITATION.finditer(text)
        if not re.fullmatch(citations.PATTERN, one[0])
    ]
    for one, message in wrong:
        yield text.count("\n", 0, one.start()) + 1, message


def _dollars(body: str) -> Iterator[tuple[int, str]]:
    text = prose_only(body).replace("\\$", "  ")
    for number, line in enumerate(text.splitlines(), 1):
        if "$" in line:
            yield number, "a formula is opened by $ and never closed; a dollar is written \\$"


DEEPEST, WIDEST = 50, 100  # open brackets of one paragraph; columns before a text
_BLOCK = re.compile(r"\s*///+\s*[\w-]")
_YAML = re.compile(r"(?:^|[\s\[{,:])[&*][\w-]|<<\s*:|(?:^|\s)!\S")
_PAIRS = (("[", "]"), ("(", ")"))


def limit_problems(source: str, body: str) -> list[Problem]:
    """Return what an article nests too deeply, and options of blocks that are more than values."""
    found = [*_brackets(body), *_indented(body), *_options(body)]
    return [Problem(source, line, message) for line, message in found]


def _brackets(body: str) -> Iterator[tuple[int, str]]:
    pairs = [pair for pair in _PAIRS if body.count(pair[0]) > DEEPEST]
    text = re.sub(r"\\.", "  ", prose_only(body)) if pairs else ""
    for opens, closes in pairs:
        depth = 0
        for number, line in enumerate(text.splitlines(), 1):
            before, depth = depth, 0 if not line.strip() else depth
            for sign in line:
                depth = max(0, depth + (sign == opens) - (sign == closes))
                if depth > DEEPEST >= before:
                    yield number, f"more than {DEEPEST} '{opens}' are open at once"
                    before = depth


def _indented(body: str) -> Iterator[tuple[int, str]]:
    for number, line, fence in fenced(body):
        if fence or not line[:1].isspace():
            continue
        wide = line.expandtabs(4)
        columns = len(wide) - len(wide.lstrip())
        if line.strip() and columns > WIDEST:
            yield number, f"begins after {columns} columns; at most {WIDEST}"
            return


def _options(body: str) -> Iterator[tuple[int, str]]:
    within = False
    for number, line in prose_lines(body):
        option = within and line.startswith("    ")
        if option and _YAML.search(line):
            yield number, "an option of a block is 'name: value', with no other sign of YAML"
        within = bool(_BLOCK.match(line)) or option


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
    found += unclosed_problems(article.source, article.body)
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
