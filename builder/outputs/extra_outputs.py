"""What a site has beside its pages: search, Markdown, cards, figures in motion, what changed."""

import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from builder.calculators import embed_pages
from builder.calculators.cache_keys import Keys
from builder.content.article import Article
from builder.core.build_cache import Memo
from builder.core.folders import KEEPER, Folders, digest
from builder.core.process_pool import ProcessPool
from builder.core.progress import Options
from builder.figures import animated_previews
from builder.figures import social_cards as cards
from builder.markdown import reference_lists
from builder.markdown.article_html import Prose
from builder.outputs import feeds, search_documents
from builder.pages import changed_numbers
from builder.pages.build_services import Services
from builder.pages.page_inputs import Made, Parts

FEW = 64  # pages that are read before another process has begun
_HASH = re.compile(rb"-[0-9a-f]{16}")


def moves(keys: Keys, memo: Memo, options: Options) -> animated_previews.Key:
    """Return what says of what a figure in motion is made.

    While an author writes, its motion is that of the last whole build: to make it is to ask every
    calculator that a guide opens with for six states.
    """
    own = keys.of("builder/figures/animated_previews.py")

    def key(name: str, kept: str) -> str:
        now = digest((own, keys.calculator(name)))
        return memo.last(kept, now) if options.reload else now

    return key


def social_cards(
    articles: list[tuple[Article, Prose]],
    options: Options,
    services: Services,
    memo: Memo,
    keys: Keys,
    folders: Folders,
    style: str,
) -> Mapping[str, cards.Card]:
    """Return source -> social card; a page can only name one by the address of the site."""
    if not options.base_url or options.reload:
        return {}
    shown = {article.source: (article, prose.html) for article, prose in articles}
    code = keys.of("builder/figures/social_cards.py", "builder/figures/social_cards.py")
    wanted = cards.sheets(folders.project.name, shown, style)
    return cards.made(wanted, style, folders.theme / "fonts", services.cards, memo, code)


def keeper(
    scripts: Mapping[str, str], written: tuple[Article, ...], made: Made
) -> Mapping[str, str]:
    """Return the script that keeps pages, told which page lists them."""
    if KEEPER not in scripts:
        return {}
    article = next((one for one in written if reference_lists.KEPT in one.body), None)
    place = article.url if article else ""
    mark = digest((made.output[f"{place}index.html"],)) if article else ""
    return {KEEPER: f'const LIST = "{place}", MARK = "{mark}";\n{scripts[KEEPER]}'}


def changed(parts: Parts) -> tuple[changed_numbers.Change, ...]:
    """Return the numbers that have changed, as the page of corrections tells them."""
    headings = {source: prose.headings for source, prose in parts.rendered.items()}
    return changed_numbers.found(parts.texts.articles, headings)


def beside_pages(
    parts: Parts, made: Made, options: Options, services: Services, memo: Memo, hands: ProcessPool
) -> Mapping[str, bytes]:
    """Return the files of the search, and the pages as Markdown."""
    with ThreadPoolExecutor(1) as waiting:  # for the search, which another program makes
        search = waiting.submit(search_files, parts, made, options, services, memo)
        texts = as_markdown(parts, made, options, memo, hands)
        return {**search.result(), **texts}


def as_markdown(
    parts: Parts, made: Made, options: Options, memo: Memo, hands: ProcessPool
) -> Mapping[str, bytes]:
    """Return the pages as Markdown; nobody reads them so while an author writes."""
    if options.reload:
        return {}
    code = parts.keys.of("builder/outputs/html_to_markdown.py", "builder/outputs/feeds.py")
    shown = {
        f"plain {article.source}": (article, made.output[f"{article.url}index.html"])
        for article in parts.texts.articles
        if article.kind != embed_pages.KIND
    }
    # The address of a style or a script is nothing to read.
    keys = {
        name: digest((code, options.base_url, _HASH.sub(b"", html)))
        for name, (_, html) in shown.items()
    }
    read = partial(_read_plain, options.base_url)

    def texts(names: list[str]) -> list[Mapping[str, bytes]]:
        return hands.each(read, [shown[name] for name in names], few=FEW)

    found = memo.many(keys, texts).values()
    return {path: text for some in found for path, text in some.items()}


def _read_plain(base_url: str, shown: tuple[Article, bytes]) -> Mapping[str, bytes]:
    article, html = shown
    return feeds.plain_pages((article,), {f"{article.url}index.html": html}, base_url)


def search_files(
    parts: Parts, made: Made, options: Options, services: Services, memo: Memo
) -> Mapping[str, bytes]:
    """Return the files of the search; while serving, those of the last whole build will do."""
    articles = [one for one in parts.texts.articles if one.kind != embed_pages.KIND]

    def texts() -> dict[str, str]:
        return search_documents.all_of(
            articles,
            made.output,
            parts.surface.tools,
            parts.tools.calculators,
            parts.texts.library,
            parts.surface.project.language,
        )

    if options.reload:
        return memo.get("search", "served", lambda: services.search(texts()))
    found = texts()
    code = parts.keys.of("builder/outputs/search_documents.py", "builder/outputs/pagefind.py")
    key = digest([code, *(part for one in found.items() for part in one)])
    return memo.get("search", key, lambda: services.search(found))
