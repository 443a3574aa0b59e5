"""Outputs besides pages: search index, Markdown, social cards, previews, changed numbers."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from builder.calculators import calculator_context
from builder.calculators.cache_keys import CacheKeys
from builder.content import navigation
from builder.content.article import Article
from builder.core import html_tree
from builder.core.build_cache import BuildCache
from builder.core.folders import OFFLINE_SCRIPT, Folders, digest
from builder.core.progress import Options
from builder.figures import animated_previews
from builder.figures import social_cards as cards
from builder.markdown import reference_lists
from builder.markdown.article_html import ArticleHtml
from builder.outputs import search_documents
from builder.pages import changed_numbers
from builder.pages.build_services import Services
from builder.pages.page import compact_json
from builder.pages.page_inputs import PageSources, RenderedSite
from engine import calculator as calculators
from engine.answer import dump, reply
from engine.core.inputs import Number

LISTS = "lists.json"  # guides of each kind of reader, for pages that carry a list along


def preview_key(keys: CacheKeys, cache: BuildCache, options: Options) -> animated_previews.CacheKey:
    """Return the cache-key function for animated previews.

    While an author writes, previews of the last full build are reused, since each needs six results
    of its calculator.
    """
    code_digest = keys.digest_of("builder/figures/animated_previews.py")

    def key(name: str, kept: str) -> str:
        now = digest((code_digest, keys.calculator(name)))
        return cache.last_key(kept, now) if options.reload else now

    return key


def social_card_files(
    articles: list[tuple[Article, ArticleHtml]],
    options: Options,
    services: Services,
    cache: BuildCache,
    keys: CacheKeys,
    folders: Folders,
    style: str,
) -> Mapping[str, cards.Card]:
    """Return source -> social card; none without the site's URL, which links to cards need."""
    if not options.base_url or options.reload:
        return {}
    shown = {article.source: (article, prose.facts.drawings) for article, prose in articles}
    code = keys.digest_of("builder/figures/social_cards.py")
    wanted = cards.card_contents(folders.project.name, shown, style)
    return cards.render_cards(wanted, style, folders.theme / "fonts", services.cards, cache, code)


def offline_script(
    scripts: Mapping[str, str], written: tuple[Article, ...], rendered: RenderedSite
) -> Mapping[str, str]:
    """Return the offline script with the URL of the page that lists saved pages."""
    if OFFLINE_SCRIPT not in scripts:
        return {}
    article = next(
        (article for article in written if reference_lists.SAVED_PAGES in article.body), None
    )
    url = article.url if article else ""
    version = digest((rendered.output[f"{url}index.html"],)) if article else ""
    return {OFFLINE_SCRIPT: f'const LIST = "{url}", MARK = "{version}";\n{scripts[OFFLINE_SCRIPT]}'}


def number_changes(page_sources: PageSources) -> tuple[changed_numbers.Change, ...]:
    """Return the changed numbers listed on the corrections page."""
    headings = {source: prose.headings for source, prose in page_sources.rendered.items()}
    return changed_numbers.find_changes(page_sources.texts.articles, headings)


def search_and_markdown(
    page_sources: PageSources,
    rendered: RenderedSite,
    options: Options,
    services: Services,
    cache: BuildCache,
) -> Mapping[str, bytes]:
    """Return the files of the search index and the Markdown pages."""
    search_words = search_documents.asked_words(
        page_sources.texts.articles, page_sources.texts.library
    )
    lists = navigation.list_data(page_sources.surface.readers)
    words = {
        search_documents.ASKED: compact_json(search_words).encode(),
        LISTS: compact_json(lists).encode(),
        **early_files(page_sources, rendered, cache),
    }
    with ThreadPoolExecutor(1) as executor:  # for the search index, built by another program
        search = executor.submit(search_files, page_sources, rendered, options, services, cache)
        return {**search.result(), **words, **markdown_pages(page_sources, rendered)}


def early_files(
    page_sources: PageSources, rendered: RenderedSite, cache: BuildCache
) -> Mapping[str, bytes]:
    """Return the home page's answers before Python has come; none for a page without figures."""
    if not any(article.kind == "home" for article in page_sources.texts.articles):
        return {}
    placed = placed_numbers(rendered.output["index.html"].decode())
    if not placed:
        return {}
    code = page_sources.keys.digest_of("builder/outputs/extra_outputs.py")
    key = digest((repr(placed), code, *map(page_sources.keys.calculator, placed)))

    def files() -> dict[str, bytes]:
        return {EARLY_FILE: dump(early_answers(placed)).encode()}

    return cache.get("early answers", key, files)


def markdown_pages(page_sources: PageSources, rendered: RenderedSite) -> Mapping[str, bytes]:
    """Return the Markdown pages; none while serving."""
    texts = {
        article.url: rendered.texts[f"{article.url}index.html"].markdown
        for article in page_sources.texts.articles
    }
    return {f"{url}index.md": text.encode() for url, text in texts.items() if text}


def search_files(
    page_sources: PageSources,
    rendered: RenderedSite,
    options: Options,
    services: Services,
    cache: BuildCache,
) -> Mapping[str, bytes]:
    """Return the files of the search index; while serving, those of the last full build."""
    articles = [
        article
        for article in page_sources.texts.articles
        if article.kind != calculator_context.EMBED_KIND
    ]

    def texts() -> dict[str, str]:
        return search_documents.search_documents(
            articles,
            {path: text.article for path, text in rendered.texts.items()},
            page_sources.surface.tools,
            page_sources.tools.calculators,
            page_sources.texts.library,
            page_sources.surface.project.language,
        )

    if options.reload:
        return cache.get("search", "served", lambda: services.search(texts()))
    documents = texts()
    code = page_sources.keys.digest_of(
        "builder/outputs/search_documents.py", "builder/outputs/pagefind.py"
    )
    key = digest([code, *(part for article in documents.items() for part in article)])
    return cache.get("search", key, lambda: services.search(documents))


# What the home page's figure answers before Python has come: the engine's replies, step by step.
#
# A reader who drags a number of the home page moves it in the steps of the engine's "nudge". The
# replies to some of them are made here, one input at a time; the page shows the one it is asked
# for.

EARLY_FILE = "early.json"
STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)  # to either side of the default

Placed = dict[str, tuple[list[str], list[str]]]  # calculator -> inputs, outputs


def placed_numbers(html: str) -> Placed:
    """Return calculator -> the inputs that can be dragged on a page and the outputs it shows."""
    inputs: dict[str, set[str]] = {}
    outputs: dict[str, set[str]] = {}
    for element in html_tree.parse(html).elements():
        of, output = element.get("data-of"), element.get("data-output")
        if "drag" in element.classes:
            inputs.setdefault(of, set()).add(element.get("name"))
        elif output:
            outputs.setdefault(of, set()).add(output)
        elif receipt := element.get("href").partition("#receipt-")[2]:
            calculator, _, number = receipt.partition("-")
            outputs.setdefault(calculator, set()).add(number)
    return {
        calculator: (sorted(names), sorted(outputs[calculator]))
        for calculator, names in sorted(inputs.items())
        if calculator in outputs
    }


def early_answers(placed: Placed) -> dict[str, Any]:
    """Return calculator -> its answers.

    `inputs` maps an input to its rows (steps, value, reply) in order, that of no step among them;
    `outputs` names what every reply holds.
    """
    return {name: _early_answers(name, *numbers) for name, numbers in placed.items()}


def _early_answers(name: str, inputs: list[str], outputs: list[str]) -> dict[str, Any]:
    calculator = calculators.load(name)
    request = {"calculator": name, "only": outputs, "short": True, "headline": True}
    default = reply(request)
    rows = {
        key: _rows(request, key, default)
        for key in inputs
        if isinstance(calculator.fields[key], Number)
    }
    return {"inputs": rows, "outputs": sorted({*outputs, calculator.headline})}


def _rows(request: dict[str, Any], key: str, default: dict[str, Any]) -> list[list[Any]]:
    """Return (steps, value, reply) of the default and of some steps from it, until the limits."""
    rows = {default["inputs"][key]["value"]: (0, default)}
    for steps in sorted((*STEPS, *(-step for step in STEPS)), key=abs):
        replied = reply(request | {"nudge": {key: steps}})
        rows.setdefault(replied["inputs"][key]["value"], (steps, replied))
    return sorted([steps, value, replied] for value, (steps, replied) in rows.items())
