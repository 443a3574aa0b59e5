"""Renders all articles of a build, and caches each until its text or its numbers change.

An edit of a formula whose numbers stay what they were renders nothing again: the key of an article
holds the results of its calculators, not their code.
"""

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jinja2

from builder.calculators import calculator_context
from builder.calculators.cache_keys import CacheKeys
from builder.calculators.calculator_context import CalculatorContext
from builder.calculators.calculator_set import CalculatorSet
from builder.content.article import Article
from builder.content.library import Library
from builder.core.build_cache import BuildCache
from builder.core.folders import Folders, digest
from builder.core.problem import Problem
from builder.core.process_pool import ProcessPool
from builder.markdown import article_html, formula_sheet, library_reference
from builder.markdown.article_html import ArticleHtml
from builder.markdown.render_state import RenderContext
from builder.theme.templates import load_templates

MACROS = ("calculator.html", "blocks.html")
LOCAL_LIMIT = 32  # up to this many articles are rendered in this process
NumberRequest = tuple[str, tuple[tuple[str, str], ...], str]  # calculator, its settings, output
Answer = tuple[dict[str, Any], str]  # view JSON, receipt
AnswerFunction = Callable[[CalculatorContext, Mapping[str, str], str], Answer]
# With the numbers for other inputs that the article shows.
RenderedArticle = tuple[ArticleHtml, dict[NumberRequest, Answer]]


def expand_body(body: str) -> str:
    """Return an article's Markdown with what is read from the engine in place of its marks."""
    return library_reference.expand_reference(formula_sheet.expand_formula_sheet(body))


class ArticleRenderer:
    """Renders articles in this process, or in a worker process."""

    def __init__(
        self,
        library: Library,
        tools: CalculatorSet,
        templates: jinja2.Environment,
        at: AnswerFunction = calculator_context.value_at,
    ) -> None:
        modules: list[Any] = [templates.get_template(name).module for name in MACROS]
        context = RenderContext(
            library=library,
            load=tools.load,
            macros=modules[0],
            blocks=modules[1],
            at=self._record_answer,
            expand=expand_body,
        )
        self._reader, self._at = article_html.MarkdownRenderer(context), at
        self._answers: dict[NumberRequest, Answer] = {}

    def render_with_numbers(self, article: Article) -> RenderedArticle:
        """Return the rendered article, and the numbers for other inputs that it shows."""
        self._answers.clear()
        article_html = self._reader.render(article)
        return article_html, dict(self._answers)

    def _record_answer(
        self, calculator: CalculatorContext, settings: Mapping[str, str], output: str
    ) -> Answer:
        number = self._at(calculator, settings, output)
        self._answers[calculator.name, tuple(settings.items()), output] = number
        return number


@lru_cache(maxsize=1)
def _worker_renderer(setup_file: Path) -> ArticleRenderer:
    library, tools, theme, cache = pickle.loads(setup_file.read_bytes())
    return ArticleRenderer(library, tools, load_templates(theme / "templates", cache))


def _render_in_worker(setup_file: Path, article: Article) -> RenderedArticle:
    return _worker_renderer(setup_file).render_with_numbers(article)


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedArticleRenderer:
    """Renders the articles of a build and caches their HTML and their numbers for other inputs.

    Attributes:
        shared: digest of the code, macros and library that all articles use.
        article_renderer: of this process.
        worker_setup: (library, tools, theme, cache), from which a worker makes its renderer.
        pool: of worker processes.
    """

    tools: CalculatorSet
    cache: BuildCache
    keys: CacheKeys
    shared: str
    article_renderer: ArticleRenderer
    worker_setup: tuple[Library, CalculatorSet, Path, Path]
    pool: ProcessPool

    def render_all(self, articles: Sequence[Article]) -> dict[str, ArticleHtml]:
        """Return source -> rendered article."""
        text_digests = {article.source: self._text_digest(article) for article in articles}
        new = [
            article
            for article in articles
            if not self.cache.has(f"asked {article.source}", text_digests[article.source])
        ]
        rendered = dict(
            zip((article.source for article in new), self._render_new(new), strict=True)
        )
        return {
            article.source: self._cached_html(article, text_digests[article.source], rendered)
            for article in articles
        }

    def _calculators_named(self, article: Article) -> tuple[str, ...]:
        return _names_in_text(article.text, tuple(self.tools.calculators))

    def _text_digest(self, article: Article) -> str:
        """Return the digest of an article's text and of the calculators that it names."""
        sheet = (
            self._expanded_body(article.body) if formula_sheet.has_placement(article.body) else ""
        )
        if library_reference.has_placement(article.body):
            sheet += library_reference.expand_reference(article.body)
        calculators = self._calculators_named(article)
        return digest((self.shared, article.source, article.text, sheet, *calculators))

    def _expanded_body(self, body: str) -> str:
        """Return the article's Markdown with the formula sheet expanded (cached)."""
        code = self.keys.digest_of(
            "builder/markdown/formula_sheet.py",
            calculator_context.source_path(formula_sheet.CALCULATOR),
        )
        key = digest((code, body))
        return self.cache.get(
            "formula sheet", key, lambda: formula_sheet.expand_formula_sheet(body)
        )

    def _render_new(self, articles: Sequence[Article]) -> list[RenderedArticle]:
        if len(articles) <= LOCAL_LIMIT:
            return [self.article_renderer.render_with_numbers(article) for article in articles]
        with TemporaryDirectory() as folder:
            setup_file = Path(folder) / "setup.pickle"
            setup_file.write_bytes(pickle.dumps(self.worker_setup))
            return self.pool.map(
                partial(_render_in_worker, setup_file), articles, serial_limit=LOCAL_LIMIT
            )

    def _cached_html(
        self, article: Article, text_digest: str, rendered: dict[str, RenderedArticle]
    ) -> ArticleHtml:
        fresh = rendered.get(article.source)
        for request, number in fresh[1].items() if fresh else ():
            self._at(request, lambda number=number: number)  # type: ignore[misc]
        # Its text says which numbers it asks for; the calculators determine their values.
        requests: tuple[NumberRequest, ...] = self.cache.get(
            f"asked {article.source}",
            text_digest,
            lambda: tuple((fresh or self.article_renderer.render_with_numbers(article))[1]),
        )
        numbers = [self._answer_text(request) for request in requests]
        key = digest(
            (
                text_digest,
                *(self.tools.digests[n] for n in self._calculators_named(article)),
                *numbers,
            )
        )
        return self.cache.get(
            f"prose {article.source}",
            key,
            lambda: (fresh or self.article_renderer.render_with_numbers(article))[0],
        )

    def _answer_text(self, request: NumberRequest) -> str:
        name, settings, output = request
        calculator = self.tools.calculators[name]
        try:
            return repr(
                self._at(
                    request,
                    partial(calculator_context.value_at, calculator, dict(settings), output),
                )
            )
        except Exception as error:  # reported when the article is rendered, with its line
            return repr(error)

    def _at(self, request: NumberRequest, compute: Callable[[], Answer]) -> Answer:
        return _cached_answer(self.cache, self.keys, request, compute)


@lru_cache(maxsize=1 << 12)
def _names_in_text(text: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if name in text)


def _cached_answer(
    cache: BuildCache, keys: CacheKeys, request: NumberRequest, compute: Callable[[], Answer]
) -> Answer:
    name, settings, output = request
    settings_text = " ".join(f"{key}={value}" for key, value in settings)
    return cache.get(f"fixed {name}.{output} {settings_text}", keys.calculator(name), compute)


def unreadable_problems(rendered: Mapping[str, ArticleHtml]) -> list[Problem]:
    """Return the problems of articles that could not be rendered at all."""
    return [
        problem
        for article_html in rendered.values()
        if not article_html.html
        for problem in article_html.problems
    ]


def make_renderer(
    folders: Folders,
    library: tuple[Library, str],
    tools: CalculatorSet,
    cache: BuildCache,
    keys: CacheKeys,
    layout: str,
    pool: ProcessPool,
) -> CachedArticleRenderer:
    """Return the article renderer of a build.

    Args:
        folders: where the macros lie.
        library: with the digest of its files.
        tools: all calculators.
        cache: the build cache.
        keys: code digests.
        layout: digest of the chart renderer.
        pool: worker processes.
    """

    def at(calculator: CalculatorContext, settings: Mapping[str, str], output: str) -> Answer:
        request = (calculator.name, tuple(settings.items()), output)
        return _cached_answer(
            cache, keys, request, lambda: calculator_context.value_at(calculator, settings, output)
        )

    texts = [(folders.theme / "templates" / name).read_bytes() for name in MACROS]
    code = keys.digest_of("builder/markdown/article_html.py", "builder/content/link_targets.py")
    templates = load_templates(folders.theme / "templates", folders.shared_or_own_cache)
    return CachedArticleRenderer(
        tools=tools,
        cache=cache,
        keys=keys,
        shared=digest((code, layout, library[1], *texts)),
        article_renderer=ArticleRenderer(library[0], tools, templates, at),
        worker_setup=(library[0], tools, folders.theme, folders.shared_or_own_cache),
        pool=pool,
    )
