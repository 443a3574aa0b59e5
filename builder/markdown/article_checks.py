"""Checks of a rendered article: headings, blocks, raw HTML, answers given away early."""

import re
from collections.abc import Iterator, Sequence

from builder.content.article import Article
from builder.core import html_tree
from builder.core.html_tree import Element
from builder.core.problem import (
    Problem,
    blank_code_and_math,
    lines_with_fences,
    problems_where,
    prose_lines,
)
from builder.markdown import allowed_html
from builder.markdown.extensions import references
from builder.markdown.render_state import RenderState

_PLACEMENT = re.compile(r"\[\[[^\[\]\n]*\]\]")
# One bracket too few at an end; a link's text may begin or end with a bracket of its own.
_UNCLOSED_PLACEMENT = re.compile(
    r"\[\[[a-z_][^\[\]\n]*(?:\](?![\](\[]|[^\[\]\n]*\][(\[])|$)", re.MULTILINE
)
_UNOPENED_PLACEMENT = re.compile(r"(?<!\[)\[[a-z_]\w*\.\w+[^\[\]\n]*\]\](?![\](\[])")
_CITATION = re.compile(r"\[@[^\[\]]*\](?![(\[])")
_OPENED_BLOCK = re.compile(r"^(\s*)(///+)\s*([\w-].*)?$")


def unclosed_problems(source: str, body: str) -> list[Problem]:
    """Return the problems of unclosed fences, blocks, formulas and brackets."""
    problems = [
        *_unclosed_fences(body),
        *_unclosed_blocks(body),
        *_unclosed_formulas(body),
        *_unclosed_brackets(body),
    ]
    return [Problem(source, line, message) for line, message in problems]


def _unclosed_fences(body: str) -> Iterator[tuple[int, str]]:
    opened = 0
    for number, _, fence in lines_with_fences(body):
        opened = (opened or number) if fence else 0
    if opened:
        yield opened, "this fence of code is never closed"


def _unclosed_blocks(body: str) -> Iterator[tuple[int, str]]:
    opened: list[tuple[str, int, str]] = []
    for number, line in prose_lines(body):
        match = _OPENED_BLOCK.match(line)
        if not match:
            continue
        _, marks, name = match.groups()
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
    """Yield (line, message) of placements that lack a bracket, and of malformed citations."""
    if "[[" not in body and "]]" not in body and "[@" not in body:
        return
    text = blank_code_and_math(body)
    unplaced = _PLACEMENT.sub(lambda match: " " * len(match[0]), text)
    messages = [
        (match, f"'{match[0].strip()}' lacks a ']' at its end")
        for match in _UNCLOSED_PLACEMENT.finditer(unplaced)
    ]
    messages += [
        (match, f"'{match[0]}' lacks a '[' before it")
        for match in _UNOPENED_PLACEMENT.finditer(unplaced)
    ]
    messages += [
        (match, f"'{match[0]}' is no citation; write [@key] or [@key; @other]")
        for match in _CITATION.finditer(text)
        if not re.fullmatch(references.CITATION, match[0])
    ]
    for match, message in messages:
        yield text.count("\n", 0, match.start()) + 1, message


def _unclosed_formulas(body: str) -> Iterator[tuple[int, str]]:
    text = blank_code_and_math(body).replace("\\$", "  ")
    for number, line in enumerate(text.splitlines(), 1):
        if "$" in line:
            yield number, "a formula is opened by $ and never closed; a dollar is written \\$"


MAX_OPEN_BRACKETS, MAX_INDENT = 50, 100  # open brackets of one paragraph; columns before a text
_BLOCK = re.compile(r"\s*///+\s*[\w-]")
_YAML = re.compile(r"(?:^|[\s\[{,:])[&*][\w-]|<<\s*:|(?:^|\s)!\S")
_PAIRS = (("[", "]"), ("(", ")"))


def limit_problems(source: str, body: str) -> list[Problem]:
    """Return the problems of too deep nesting, and of YAML syntax in block options."""
    messages = [*_nested_brackets(body), *_deep_indents(body), *_option_problems(body)]
    return [Problem(source, line, message) for line, message in messages]


def _nested_brackets(body: str) -> Iterator[tuple[int, str]]:
    pairs = [pair for pair in _PAIRS if body.count(pair[0]) > MAX_OPEN_BRACKETS]
    text = re.sub(r"\\.", "  ", blank_code_and_math(body)) if pairs else ""
    for opens, closes in pairs:
        depth = 0
        for number, line in enumerate(text.splitlines(), 1):
            before, depth = depth, 0 if not line.strip() else depth
            for sign in line:
                depth = max(0, depth + (sign == opens) - (sign == closes))
                if depth > MAX_OPEN_BRACKETS >= before:
                    yield number, f"more than {MAX_OPEN_BRACKETS} '{opens}' are open at once"
                    before = depth


def _deep_indents(body: str) -> Iterator[tuple[int, str]]:
    for number, line, fence in lines_with_fences(body):
        if fence or not line[:1].isspace():
            continue
        wide = line.expandtabs(4)
        columns = len(wide) - len(wide.lstrip())
        if line.strip() and columns > MAX_INDENT:
            yield number, f"begins after {columns} columns; at most {MAX_INDENT}"
            return


def _option_problems(body: str) -> Iterator[tuple[int, str]]:
    within = False
    for number, line in prose_lines(body):
        option = within and line.startswith("    ")
        if option and _YAML.search(line):
            yield number, "an option of a block is 'name: value', with no other sign of YAML"
        within = bool(_BLOCK.match(line)) or option


_UNKNOWN_BLOCK = re.compile(r"^///+ *([a-z-]+)", re.MULTILINE)
_HEADING = re.compile(r"(#{1,6})\s+\S")


def problems(
    article: Article, root: Element, state: RenderState, blocks: Sequence[str]
) -> tuple[Problem, ...]:
    """Return the problems of an article, each once; `blocks` names all block types."""
    messages = [
        problem
        for raw, message in state.problems
        for problem in problems_where(article.source, article.body, raw, message)
    ]
    messages += _inline_placement_problems(article, state)
    messages += _heading_problems(article) + _early_answer_problems(article, root, state.answers)
    messages += _unknown_block_problems(article, root, blocks)
    messages += allowed_html.problems(article.source, article.body) or _raw_html_problems(
        article, state
    )
    messages += unclosed_problems(article.source, article.body)
    return tuple(dict.fromkeys(messages))


def html_text(html: str) -> str:
    """Return the text of an HTML fragment, without tags and with single spaces."""
    return " ".join(html_tree.parse(html).text().split())


def _raw_html_problems(article: Article, state: RenderState) -> list[Problem]:
    """Return the problems of raw HTML that only the Markdown parser saw."""
    return [
        problem
        for raw, message in state.raw
        for problem in problems_where(article.source, article.body, raw, message)
    ]


def _heading_problems(article: Article) -> list[Problem]:
    wrong, previous_level = [], 1
    for line, text in prose_lines(article.body):
        heading = _HEADING.match(text)
        if not heading:
            continue
        level = len(heading[1])
        if level == 1:
            message = "the title is in the front matter; headings begin with ##"
            wrong.append(Problem(article.source, line, message))
        elif level > previous_level + 1:
            message = f"heading of level {level} after one of level {previous_level}; skip none"
            wrong.append(Problem(article.source, line, message))
        previous_level = level
    return wrong


def _contains_number(number: str, text: str) -> bool:
    """Say whether a text contains a number that is not part of a longer one."""
    return re.search(rf"(?<![\d.,]){re.escape(number)}(?![.,]?\d)", text) is not None


def _early_answer_problems(
    article: Article, root: Element, answers: list[tuple[str, str]]
) -> list[Problem]:
    wrong = []
    prompts = {element.get("data-predict"): element for element in root.elements()}
    for name, truth in answers:
        text = html_tree.text_before(root, prompts.get(name))
        texts = (article.title, article.question, article.summary, text)
        before = " ".join(" ".join(texts).split())
        if _contains_number(truth, before):
            message = f"the answer '{truth}' stands before the question that asks for it"
            wrong += problems_where(article.source, article.body, "/// predict", message)
    return wrong


def _inline_placement_problems(article: Article, state: RenderState) -> list[Problem]:
    """Return the problems of placements inside sentences."""
    lines = article.body.splitlines()
    wrong = []
    for raw, message in state.in_sentences:
        located_problems = problems_where(article.source, article.body, raw, message)
        inside_text = [
            problem for problem in located_problems if lines[problem.line - 1].strip() != raw
        ]
        wrong += inside_text or located_problems
    return wrong


def _unknown_block_problems(article: Article, root: Element, known: Sequence[str]) -> list[Problem]:
    text = html_tree.text(root.children, "\n", without=lambda element: element.tag == "pre")
    return [
        problem
        for name in dict.fromkeys(_UNKNOWN_BLOCK.findall(text))
        for problem in problems_where(
            article.source,
            article.body,
            f"/// {name}",
            "this block is unknown or its options are wrong"
            if name in known
            else f"there is no block '{name}'; there are {', '.join(known)}",
        )
    ]
