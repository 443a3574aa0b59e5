"""Renders all pages of a build, reusing unchanged ones."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

from builder.calculators import calculator_context
from builder.content import navigation
from builder.content.article import Article
from builder.content.link_targets import LinkTarget, LinkTargets
from builder.content.navigation import PageLink
from builder.core.build_cache import BuildCache
from builder.core.folders import RECEIPTS, digest
from builder.core.problem import Problem, problems_where
from builder.core.process_pool import ProcessPool
from builder.core.project import NavigationLink
from builder.figures import hero_figures
from builder.pages import (
    html_facts,
    page,
    page_archives,
    page_context,
    page_inputs,
    page_passes,
)
from builder.pages.page import PageContent
from builder.pages.page_archives import ArchiveSplit
from builder.pages.page_context import make_draft
from builder.pages.page_inputs import (
    PageDraft,
    PageOutput,
    PageSources,
    PageText,
    RenderedPage,
    RenderedSite,
    SiteContext,
)
from builder.pages.page_passes import FinishedPage, PageSettings
from builder.project.project_file import FILE
from builder.theme.assets import hashed_path
from builder.theme.templates import load_templates

LOCAL_LIMIT = 48  # up to this many pages are rendered in this process
ArticlePages = tuple[FinishedPage, ...]  # the page of an article, and its receipts page if any


def render_pages(page_sources: PageSources, cache: BuildCache, pool: ProcessPool) -> RenderedSite:
    """Return all pages with their figures, images and social cards."""
    page_sources, context, guide_files = _site_context(page_sources)
    outputs = _page_outputs(page_sources, context, cache, pool)
    in_order = (outputs[article.source].pages for article in page_sources.texts.articles)
    pages = {
        path: rendered_page
        for rendered_pages in in_order
        for path, rendered_page in rendered_pages.items()
    }
    output = {**guide_files, **{path: rendered_page.html for path, rendered_page in pages.items()}}
    output |= {
        path: data
        for output_of_article in outputs.values()
        for path, data in output_of_article.files.items()
    }
    links = {path: rendered_page.links for path, rendered_page in pages.items()}
    output |= _used_images(context.image_paths, page_sources, links)
    output |= {card.path: card.png for card in page_sources.cards.values()}
    return RenderedSite(
        output=output,
        texts={path: rendered_page.text for path, rendered_page in pages.items()},
        problems=tuple(
            problem
            for output_of_article in outputs.values()
            for problem in output_of_article.problems
        ),
        written={
            source: output_of_article.written for source, output_of_article in outputs.items()
        },
        facts={path: rendered_page.facts for path, rendered_page in pages.items()},
        links=links,
    )


def prepare_drafts(page_sources: PageSources, cache: BuildCache, pool: ProcessPool) -> None:
    """Render and cache drafts of all pages, with placeholders for asset URLs not known yet."""
    page_sources, context, _ = _site_context(page_sources)
    keys = page_inputs.draft_keys(page_sources, context, cache)
    reusable = {
        source for source, key in keys.items() if cache.get_from_process(f"draft {source}", key)
    }
    new = [article for article in page_sources.texts.articles if article.source not in reusable]
    for source, drafted in _render_drafts(new, page_sources, context, cache, pool).items():
        if source in keys:
            cache.keep_in_process(
                f"draft {source}", keys[source], drafted, [*_dependencies(source, page_sources)]
            )


def _site_context(
    page_sources: PageSources,
) -> tuple[PageSources, SiteContext, Mapping[str, bytes]]:
    """Return the completed page sources, the site context, and the guides' figures by path."""
    pictures = {
        path: hashed_path(path.rpartition("/")[2], data)
        for path, data in page_sources.images.items()
    }
    guide_files, lists = _guide_pictures(page_sources)
    surface = replace(
        page_sources.surface, shell=page_context.with_placeholders(page_sources.surface.shell)
    )
    urls = {article.slug: article.url for article in page_sources.texts.articles}
    page_sources = replace(page_sources, surface_digest=digest((repr(surface),)), urls=urls)
    context = SiteContext(
        index=_link_index(page_sources),
        positions=navigation.page_positions(page_sources.texts.articles),
        image_paths=pictures,
        surface=surface,
        guide_figures=lists,
    )
    return page_sources, context, guide_files


def _page_outputs(
    page_sources: PageSources, context: SiteContext, cache: BuildCache, pool: ProcessPool
) -> dict[str, PageOutput]:
    """Return source -> page output, reusing unchanged ones of an earlier build.

    If only asset URLs have changed, the drafts are reused.
    """
    keys = page_inputs.draft_keys(page_sources, context, cache)
    finished = page_inputs.page_keys(keys, page_sources)
    drafts = {
        source: cache.get_from_process(f"draft {source}", key) for source, key in keys.items()
    }
    reusable = {
        source: cache.get_from_process(f"leaf {source}", key) for source, key in finished.items()
    }
    articles = [
        article for article in page_sources.texts.articles if reusable.get(article.source) is None
    ]
    drafts |= _render_drafts(
        [article for article in articles if not drafts.get(article.source)],
        page_sources,
        context,
        cache,
        pool,
    )
    splits = page_archives.split_all(articles, page_sources, cache)
    outputs: dict[str, PageOutput] = {}
    for source in (article.source for article in articles):
        draft, html_pages = drafts[source]
        outputs[source] = _page_output(draft, html_pages, page_sources, splits.get(source))
        if source in keys:
            dependencies = [*_dependencies(source, page_sources)]
            cache.keep_in_process(f"draft {source}", keys[source], drafts[source], dependencies)
            cache.keep_in_process(f"leaf {source}", finished[source], outputs[source], dependencies)
    order = (article.source for article in page_sources.texts.articles)
    return {source: reusable.get(source) or outputs[source] for source in order}


def _render_drafts(
    articles: Sequence[Article],
    page_sources: PageSources,
    context: SiteContext,
    cache: BuildCache,
    pool: ProcessPool,
) -> dict[str, tuple[PageDraft, ArticlePages]]:
    """Return source -> (draft, pages with placeholders for asset URLs)."""
    drafts = {
        article.source: make_draft(article, page_sources, context, cache) for article in articles
    }
    rendered = _render_contents(
        [page_draft.content for page_draft in drafts.values()], page_sources, cache, pool
    )
    return {source: (draft, rendered[source]) for source, draft in drafts.items()}


def _dependencies(source: str, page_sources: PageSources) -> Iterator[str]:
    """Yield the names of the cache entries that a page depends on."""
    yield from (f"page {source}", f"runtime {source}")
    yield from (f"figure {name}.{output}" for name, output in page_sources.rendered[source].figures)


def _page_output(
    draft: PageDraft,
    html_pages: ArticlePages,
    page_sources: PageSources,
    split: ArchiveSplit | None,
) -> PageOutput:
    """Return the output of an article, with placeholders replaced by asset URLs."""
    needed, shared = page_archives.page_files(draft.content.article, page_sources, split)
    figures = next(iter(draft.figures), "")
    urls = page_context.page_urls(page_sources.surface.shell, figures, needed)
    article = draft.content.article
    return PageOutput(
        pages={
            path: _rendered_page(path, finished, urls)
            for path, finished in zip(output_paths(article), html_pages, strict=False)
        },
        files={**draft.figures, **shared},
        problems=draft.problems,
        written=draft.written,
    )


def _rendered_page(path: str, finished: FinishedPage, urls: Mapping[str, str]) -> RenderedPage:
    fill = partial(page_context.fill_assets, urls=urls)
    facts = replace(finished.facts, urls=tuple(map(fill, finished.facts.urls)))
    return RenderedPage(
        html=fill(finished.html).encode(),
        text=PageText(article=finished.article, markdown=finished.markdown),
        facts=facts,
        links=html_facts.page_links(path, facts),
    )


def output_paths(article: Article) -> tuple[str, str]:
    """Return the output paths of an article's page and of its receipts page."""
    return f"{article.url}index.html", f"{article.url}{RECEIPTS}index.html"


def _used_images(
    pictures: Mapping[str, str],
    page_sources: PageSources,
    links: Mapping[str, html_facts.PageLinks],
) -> dict[str, bytes]:
    """Return path -> content of the images that a page links to."""
    used = frozenset[str]().union(*(links.files for links in links.values())) if pictures else ()
    return {
        name: page_sources.images[path] for path, name in sorted(pictures.items()) if name in used
    }


def _guide_pictures(
    page_sources: PageSources,
) -> tuple[dict[str, bytes], tuple[Mapping[str, str], Mapping[str, str]]]:
    """Return the guides' opening figures by path, and slug -> path of still and animated ones."""
    output: dict[str, bytes] = {}
    names: list[dict[str, str]] = []
    for kind, pictures in (
        ("opening", _opening_figures(page_sources)),
        ("moving", page_sources.moving),
    ):
        names.append(
            {slug: hashed_path(f"{kind}-{slug}.svg", data) for slug, data in pictures.items()}
        )
        output |= {names[-1][slug]: data for slug, data in pictures.items()}
    return output, (names[0], names[1])


def _opening_figures(page_sources: PageSources) -> dict[str, bytes]:
    """Return slug -> opening figure of each guide.

    If an earlier guide already has the same figure, the next one is taken.
    """
    openings: dict[str, bytes] = {}
    for guide in (item for item in page_sources.texts.articles if item.kind == "guide"):
        drawings, taken = page_sources.rendered[guide.source].facts.drawings, set(openings.values())
        candidates = (
            hero_figures.standalone_figure(drawing, page_sources.drawing_styles).encode()
            for drawing in drawings
        )
        picture = next((item for item in candidates if item not in taken), None)
        if picture is not None:
            openings[guide.slug] = picture
    return openings


def _link_index(page_sources: PageSources) -> LinkTargets:
    return {
        article.source: LinkTarget(
            url=article.url,
            title=article.title,
            anchors=page_sources.rendered[article.source].anchors,
        )
        for article in page_sources.texts.articles
    }


def _render_contents(
    contents: Sequence[PageContent], page_sources: PageSources, cache: BuildCache, pool: ProcessPool
) -> dict[str, ArticlePages]:
    """Return source -> rendered pages."""
    named = {f"page {content.article.source}": content for content in contents}
    keys = {name: _page_key(content, page_sources) for name, content in named.items()}
    render = partial(_render_page, *page_sources.render_folders)

    def made(batch: list[str]) -> list[ArticlePages]:
        return pool.map(render, [named[name] for name in batch], serial_limit=LOCAL_LIMIT)

    return {
        named[name].article.source: content for name, content in cache.get_many(keys, made).items()
    }


def _page_key(content: PageContent, page_sources: PageSources) -> str:
    # Equal contents give equal pages: a page depends on nothing but its template context.
    code = page_sources.keys.digest_of("builder/pages/page.py", "builder/pages/page_passes.py")
    # The surface is long and the same for all pages, so its digest is used. Neighboring guides
    # occur in several places, so their text is cached.
    position = replace(content.place, near=())
    reduced = replace(content, surface=None, place=position)  # type: ignore[arg-type]
    return digest(
        (
            page_sources.templates_digest,
            code,
            page_sources.surface_digest,
            repr(reduced),
            *map(_entry_text, content.place.near),
        )
    )


def _render_page(theme: Path, cache: Path, content: PageContent) -> ArticlePages:
    templates = load_templates(theme / "templates", cache)
    blocks = templates.get_template("blocks.html").module
    return page_passes.finish_pages(
        page.render_page(content, templates, blocks),
        page.render_receipts(content, templates, blocks),
        _page_settings(content),
    )


def _page_settings(content: PageContent) -> PageSettings:
    article, surface = content.article, content.surface
    is_written = not surface.reload and article.kind != calculator_context.EMBED_KIND
    return PageSettings(
        sheets=surface.shell.conditional_styles,
        image_sizes=content.image_sizes,
        glossary=content.glossary,
        address=surface.base_url + article.url if is_written else None,
    )


@lru_cache(maxsize=1 << 16)
def _entry_text(entry: PageLink) -> str:
    return repr(entry)


def _header_link(about: str, path: str, page_sources: PageSources) -> NavigationLink | None:
    """Return the header link that a URL on a page comes from."""
    header_links, root = page_sources.surface.project.navigation, page.relative_root(path)
    return next((link for link in header_links if about == root + link.address), None)


def link_problems(
    output: Mapping[str, bytes],
    page_sources: PageSources,
    rendered: RenderedSite,
    known: set[str],
) -> list[Problem]:
    """Return the link problems of finished pages, except of articles in `known`."""
    article_paths = (
        (path, article) for article in page_sources.texts.articles for path in output_paths(article)
    )
    by_path = {path: article for path, article in article_paths if path in rendered.facts}
    others = frozenset(path for path in output if path not in by_path)
    problems: list[Problem] = []
    for path, about, message in html_facts.link_problems(rendered.facts, others, rendered.links):
        article = by_path[path]
        header_link = _header_link(about, path, page_sources)
        if header_link:  # reported once, not for every page
            text = message.replace(f"'{about}'", f"'{header_link.address}'", 1)
            problems.append(Problem(FILE, header_link.line, text))
        elif article.source not in known:
            written = rendered.written[article.source]
            raw = written.get(about) or written.get(about.removeprefix("../"), about)
            text = message.replace(f"'{about}'", f"'{raw}'", 1)
            problems += problems_where(article.source, article.body, raw, text)
    return problems
