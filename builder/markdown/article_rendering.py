"""All prose of a build; an article is rendered again when what it shows has changed.

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
from builder.calculators.cache_keys import Keys
from builder.calculators.calculator_context import Live
from builder.calculators.calculator_set import Toolbox
from builder.content.article import Article
from builder.content.library import Library
from builder.core.build_cache import Memo
from builder.core.folders import Folders, digest
from builder.core.problem import Problem
from builder.core.process_pool import ProcessPool
from builder.markdown import article_html, formula_sheet
from builder.markdown.article_html import Prose
from builder.markdown.render_state import Surroundings
from builder.theme.templates import templates_of

MACROS = ("calculator.html", "blocks.html")
FEW = 32  # articles that are rendered before another process has begun
Asked = tuple[str, tuple[tuple[str, str], ...], str]  # calculator, its settings, output
Answer = tuple[dict[str, Any], str]  # view JSON, receipt
At = Callable[[Live, Mapping[str, str], str], Answer]
Rendered = tuple[Prose, dict[Asked, Answer]]  # with the numbers that it asked for


class Desk:
    """Where articles are rendered: here, or in another process."""

    def __init__(
        self,
        library: Library,
        tools: Toolbox,
        templates: jinja2.Environment,
        at: At = calculator_context.at,
    ) -> None:
        modules: list[Any] = [templates.get_template(name).module for name in MACROS]
        around = Surroundings(
            library=library,
            load=tools.load,
            macros=modules[0],
            blocks=modules[1],
            at=self._noted,
            expanded=formula_sheet.expanded,
        )
        self._reader, self._at = article_html.Reader(around), at
        self._asked: dict[Asked, Answer] = {}

    def rendered(self, article: Article) -> Rendered:
        """Return the article's prose, and the answers to what it asks for other inputs."""
        self._asked.clear()
        made = self._reader.render(article)
        return made, dict(self._asked)

    def _noted(self, one: Live, settings: Mapping[str, str], output: str) -> Answer:
        answer = self._at(one, settings, output)
        self._asked[one.name, tuple(settings.items()), output] = answer
        return answer


@lru_cache(maxsize=1)
def _desk(kept: Path) -> Desk:
    library, tools, theme, cache = pickle.loads(kept.read_bytes())
    return Desk(library, tools, templates_of(theme / "templates", cache))


def _elsewhere(kept: Path, article: Article) -> Rendered:
    return _desk(kept).rendered(article)


@dataclass(frozen=True, slots=True, kw_only=True)
class Renderer:
    """Renders articles, and remembers what a number in a sentence for other inputs came to.

    Attributes:
        shared: digest of all that every article is rendered with.
        desk: of this process.
        kept: (library, tools, theme, cache), of which another process makes its desk.
        hands: those processes.
    """

    tools: Toolbox
    memo: Memo
    keys: Keys
    shared: str
    desk: Desk
    kept: tuple[Library, Toolbox, Path, Path]
    hands: ProcessPool

    def all(self, articles: Sequence[Article]) -> dict[str, Prose]:
        """Return source -> prose of the articles."""
        texts = {one.source: self._text(one) for one in articles}
        new = [o for o in articles if not self.memo.has(f"asked {o.source}", texts[o.source])]
        made = dict(zip((one.source for one in new), self._made(new), strict=True))
        return {one.source: self._prose(one, texts[one.source], made) for one in articles}

    def _named(self, article: Article) -> tuple[str, ...]:
        return _inside(article.text, tuple(self.tools.calculators))

    def _text(self, article: Article) -> str:
        """Return the digest of what an article says, whatever its numbers are."""
        sheet = self._sheet(article.body) if formula_sheet.is_asked(article.body) else ""
        named = self._named(article)
        return digest((self.shared, article.source, article.text, sheet, *named))

    def _sheet(self, body: str) -> str:
        """Return the body with its formulas: most changes of code leave what is told of them."""
        code = self.keys.of(
            "builder/markdown/formula_sheet.py", calculator_context.source(formula_sheet.CALCULATOR)
        )
        key = digest((code, body))
        return self.memo.get("formula sheet", key, lambda: formula_sheet.expanded(body))

    def _made(self, articles: Sequence[Article]) -> list[Rendered]:
        if len(articles) <= FEW:
            return [self.desk.rendered(article) for article in articles]
        with TemporaryDirectory() as folder:
            kept = Path(folder) / "desk.pickle"
            kept.write_bytes(pickle.dumps(self.kept))
            return self.hands.each(partial(_elsewhere, kept), articles, few=FEW)

    def _prose(self, article: Article, text: str, made: dict[str, Rendered]) -> Prose:
        fresh = made.get(article.source)
        for asked, answer in fresh[1].items() if fresh else ():
            self._at(asked, lambda answer=answer: answer)  # type: ignore[misc]
        # Which numbers it asks for is in its text; what they are, in the calculators.
        wanted: tuple[Asked, ...] = self.memo.get(
            f"asked {article.source}",
            text,
            lambda: tuple((fresh or self.desk.rendered(article))[1]),
        )
        fixed = [self._told(one) for one in wanted]
        key = digest((text, *(self.tools.marks[n] for n in self._named(article)), *fixed))
        return self.memo.get(
            f"prose {article.source}",
            key,
            lambda: (fresh or self.desk.rendered(article))[0],
        )

    def _told(self, asked: Asked) -> str:
        name, settings, output = asked
        one = self.tools.calculators[name]
        try:
            return repr(
                self._at(asked, partial(calculator_context.at, one, dict(settings), output))
            )
        except Exception as error:  # said when the article is rendered, with its line
            return repr(error)

    def _at(self, asked: Asked, make: Callable[[], Answer]) -> Answer:
        return _remembered(self.memo, self.keys, asked, make)


@lru_cache(maxsize=1 << 12)
def _inside(text: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if name in text)


def _remembered(memo: Memo, keys: Keys, asked: Asked, make: Callable[[], Answer]) -> Answer:
    name, settings, output = asked
    said = " ".join(f"{key}={value}" for key, value in settings)
    return memo.get(f"fixed {name}.{output} {said}", keys.calculator(name), make)


def unread(rendered: Mapping[str, Prose]) -> list[Problem]:
    """Return what keeps articles from being read; what links to them is not judged."""
    return [problem for one in rendered.values() if not one.html for problem in one.problems]


def renderer(
    folders: Folders,
    library: tuple[Library, str],
    tools: Toolbox,
    memo: Memo,
    keys: Keys,
    layout: str,
    hands: ProcessPool,
) -> Renderer:
    """Return what renders the articles of a build.

    Args:
        folders: where the macros lie.
        library: with the digest of its files.
        tools: all calculators.
        memo: what earlier builds made.
        keys: digests of our code.
        layout: the digest of what draws charts.
        hands: other processes.
    """

    def at(one: Live, settings: Mapping[str, str], output: str) -> Answer:
        asked = (one.name, tuple(settings.items()), output)
        return _remembered(memo, keys, asked, lambda: calculator_context.at(one, settings, output))

    texts = [(folders.theme / "templates" / name).read_bytes() for name in MACROS]
    code = keys.of("builder/markdown/article_html.py", "builder/content/placeholders.py")
    templates = templates_of(folders.theme / "templates", folders.common)
    return Renderer(
        tools=tools,
        memo=memo,
        keys=keys,
        shared=digest((code, layout, library[1], *texts)),
        desk=Desk(library[0], tools, templates, at),
        kept=(library[0], tools, folders.theme, folders.common),
        hands=hands,
    )
