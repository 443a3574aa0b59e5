"""content + engine + theme -> the output folder's files, or the problems that prevent it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from builder.calculators import calculator_set, embed_pages, engine_checks
from builder.calculators.cache_keys import CacheKeys
from builder.content import content_folder, guide_order_checks, learning_paths, library, navigation
from builder.content.article import Article
from builder.content.content_folder import SiteContent
from builder.core import error_locations
from builder.core.build_cache import BuildCache
from builder.core.folders import Folders, digest, digest_of_files
from builder.core.problem import Problem
from builder.core.process_pool import ProcessPool
from builder.core.progress import Options, Report
from builder.figures import animated_previews, static_charts
from builder.markdown import article_rendering
from builder.outputs import extra_outputs, root_files
from builder.pages import all_pages, changed_numbers, redirects
from builder.pages.build_services import Services
from builder.pages.page import Surface
from builder.pages.page_inputs import PageSources
from builder.pages.shared_assets import RuntimeBuild, SharedAssets, add_runtime, build_assets
from builder.pages.typesetting import typeset_formulas
from builder.project.activate_project import activate_project
from builder.theme import panels, theme_checks
from builder.theme.templates import load_templates


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildResult:
    """The files by their path in the output, fit to be published only without problems."""

    output: Mapping[str, bytes]
    problems: tuple[Problem, ...]


def build(
    folders: Folders, options: Options, services: Services, cache: BuildCache, report: Report
) -> BuildResult:
    """Return the whole output and all problems of the content."""
    result = None
    try:
        result = _build_with_pool(folders, options, services, cache, report)
        return result
    finally:
        if not (result and result.output):
            cache.keep_all_entries()


def _build_with_pool(
    folders: Folders, options: Options, services: Services, cache: BuildCache, report: Report
) -> BuildResult:
    texts = content_folder.read_content(folders, drafts=options.drafts, known_articles=cache)
    pool = ProcessPool(partial(activate_project, folders.root, folders.cache))
    try:
        # What cannot be read at all is told alone: all else would follow from it.
        unreadable = [*texts.problems, *_unreadable_problems(folders, services, cache, pool)]
        if unreadable:
            return _failed_result(unreadable)
        return _build_site(texts, folders, options, services, cache, report, pool)
    except Exception as error:
        problem = error_locations.template_problem(folders, error)
        if problem is None:
            raise
        return _failed_result([problem])
    finally:
        pool.close()


def _failed_result(problems: Iterable[Problem]) -> BuildResult:
    return BuildResult(output={}, problems=tuple(sorted(set(problems))))


def _unreadable_problems(
    folders: Folders, services: Services, cache: BuildCache, pool: ProcessPool
) -> list[Problem]:
    """Return what no browser could read of the theme and the engine."""
    return [
        *engine_checks.problems(folders, cache, pool),
        *cache.get(
            "theme problems",
            folders.compute_once("looks", partial(_theme_digest, folders)),
            lambda: theme_checks.problems(folders, services.check_modules),
        ),
        *theme_checks.override_problems(folders, cache),
    ]


def _theme_digest(folders: Folders) -> str:
    return digest(digest_of_files(folders.theme / name) for name in ("styles", "fonts", "runtime"))


def _cache_keys(folders: Folders, pool: ProcessPool) -> CacheKeys:
    keys = CacheKeys(folders)
    keys.imports.read_all(pool.map)
    return keys


def _build_site(
    texts: SiteContent,
    folders: Folders,
    options: Options,
    services: Services,
    cache: BuildCache,
    report: Report,
    pool: ProcessPool,
) -> BuildResult:
    keys = folders.compute_once("keys", partial(_cache_keys, folders, pool))
    runtime_build = RuntimeBuild(folders, services, cache)
    layout = folders.compute_once("layout", partial(static_charts.layout_digest, folders.theme))
    # While an author writes, an edit that names no other text is taken to name no other source.
    sources = keys.calculator_texts if options.reload else keys.calculator
    marks = calculator_set.CalculatorKeys(
        keys.calculator,
        sources,
        layout,
        takes=folders.project.takes,
        colors=folders.compute_once("colors", partial(theme_checks.colors, folders.theme)),
    )
    calculator_set_with_results = calculator_set.load_calculators(cache, marks, services.draw, pool)
    if calculator_set_with_results.broken:
        return _failed_result(calculator_set_with_results.problems)
    templates = load_templates(folders.theme / "templates", folders.shared_or_own_cache)
    authored = texts.articles
    texts = replace(
        texts,
        articles=(
            *authored,
            *embed_pages.embed_articles(folders.theme, calculator_set_with_results.calculators),
        ),
    )
    renderer = article_rendering.make_renderer(
        folders,
        (texts.library, texts.library_digest),
        calculator_set_with_results,
        cache,
        keys,
        layout,
        pool,
    )
    rendered = renderer.render_all(texts.articles)
    if unreadable := article_rendering.unreadable_problems(rendered):
        return _failed_result(unreadable)
    placed = dict.fromkeys(
        name for article in authored for name in rendered[article.source].calculators
    )
    articles = [(article, rendered[article.source]) for article in texts.articles]
    calculators = [calculator_set_with_results.calculators[name] for name in placed]
    typeset_math = typeset_formulas(articles, calculators, services, folders.cache, report)
    boxes = folders.compute_once("boxes", partial(panels.render_panels, folders.theme, templates))
    assets = build_assets(
        folders,
        services,
        cache,
        runtime_build if placed else None,
        boxes,
        readable=bool(options.reload),
    )
    surface = Surface(
        project=folders.project,
        shell=assets.shell,
        paths=navigation.learning_paths(authored),
        readers=navigation.reader_paths(authored, texts.library.readers),
        references=navigation.reference_pages(authored),
        tools=navigation.tool_links(
            (
                (article.name, article.title, article.question)
                for article in calculator_set_with_results.calculators.values()
            ),
            ((article, pages.html) for article, pages in articles[: len(authored)]),
        ),
        base_url=options.base_url,
        repository=options.repository,
        reload=options.reload,
    )
    parts = PageSources(
        texts=texts,
        tools=calculator_set_with_results,
        rendered=rendered,
        typeset=typeset_math,
        surface=surface,
        templates=templates,
        keys=keys,
        templates_digest=folders.compute_once(
            "look", partial(digest_of_files, folders.theme / "templates")
        ),
        images=texts.images,
        figure=services.figure,
        archives=assets.calculators,
        runtime=assets.files,
        drawing_styles=assets.drawing_styles,
        render_folders=(folders.theme, folders.shared_or_own_cache),
        moving=animated_previews.render_previews(
            articles,
            calculator_set_with_results.calculators,
            animated_previews.PreviewSettings(
                style=assets.drawing_styles,
                draw=services.draw,
                key=extra_outputs.preview_key(keys, cache, options),
                layout=layout,
            ),
            cache,
            pool,
        ),
        cards=extra_outputs.social_card_files(
            articles, options, services, cache, keys, folders, assets.drawing_styles
        ),
    )
    if placed:
        parts, assets = _with_live_runtime(parts, assets, runtime_build, cache, report, pool)
    pages = all_pages.render_pages(parts, cache, pool)
    changed = extra_outputs.number_changes(parts)
    other_files = {
        **extra_outputs.search_and_markdown(parts, pages, options, services, cache, pool),
        **assets.files,
        **root_files.make_root_files(
            authored,
            assets.shell,
            options.base_url,
            templates,
            {
                **assets.root_scripts,
                **extra_outputs.offline_script(assets.root_scripts, authored, pages),
            },
            changed,
            folders.project,
        ),
        **redirects.redirect_pages(authored, templates, options.base_url, folders.project),
        **(
            {changed_numbers.PATH: changed_numbers.changes_json(changed).encode()}
            if changed
            else {}
        ),
    }
    problems = [
        *calculator_set_with_results.problems,
        *typeset_math.problems,
        *pages.problems,
        *_unplaced_problems(folders, placed),
        *_article_problems(authored, texts),
        *calculator_set.source_problems(calculator_set_with_results, texts.library),
    ]
    # While an author writes, pages are as they are written.
    output = {**other_files, **pages.output, **({} if options.reload else pages.minified)}
    keys.imports.save()
    problems += all_pages.link_problems(
        output, parts, pages, {problem.path for problem in problems}
    )
    return BuildResult(output=output, problems=tuple(sorted(set(problems))))


def _with_live_runtime(
    parts: PageSources,
    assets: SharedAssets,
    runtime_build: RuntimeBuild,
    cache: BuildCache,
    report: Report,
    pool: ProcessPool,
) -> tuple[PageSources, SharedAssets]:
    """Return both with the live runtime; while Node makes it, the pages go as far as they can."""
    if not runtime_build.is_ready:
        all_pages.prepare_drafts(parts, cache, pool)
    assets_with_runtime = add_runtime(assets, runtime_build, report)
    surface = replace(parts.surface, shell=assets_with_runtime.shell)
    live_parts = replace(
        parts,
        surface=surface,
        archives=assets_with_runtime.calculators,
        runtime=assets_with_runtime.files,
    )
    return live_parts, assets_with_runtime


def _unplaced_problems(folders: Folders, placed: Iterable[str]) -> list[Problem]:
    return calculator_set.unplaced_problems(placed) if folders.project.placed else []


def _article_problems(articles: tuple[Article, ...], texts: SiteContent) -> list[Problem]:
    """Return what is wrong between the articles that people have written."""
    readers = texts.library.readers
    return [
        *navigation.slug_problems(articles),
        *guide_order_checks.guide_problems(articles),
        *learning_paths.path_page_problems(articles),
        *navigation.reader_problems(articles, readers),
        *redirects.problems(texts.articles),
        *changed_numbers.problems(articles),
        *library.term_problems(texts.library, (article.slug for article in articles)),
    ]
