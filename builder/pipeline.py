"""Build pipeline: content, engine and theme to output files, or problems."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from builder.calculators import calculator_context, calculator_set, engine_checks
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
from builder.outputs import extra_outputs, library_wheel, root_files
from builder.pages import all_pages, changed_numbers
from builder.pages.build_services import Services
from builder.pages.page import Surface
from builder.pages.page_inputs import PageSources, typeset_formulas
from builder.pages.shared_assets import RuntimeBuild, SharedAssets, add_runtime, build_assets
from builder.project.activate_project import activate_project
from builder.theme import theme_checks
from builder.theme.templates import load_templates, render_panels


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildResult:
    """Output files by path, and problems; only an output without problems is published."""

    output: Mapping[str, bytes]
    problems: tuple[Problem, ...]


def build(
    folders: Folders, options: Options, services: Services, cache: BuildCache, report: Report
) -> BuildResult:
    """Return the output files and all problems of the content."""
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
    content = content_folder.read_content(folders, drafts=options.drafts, build_cache=cache)
    pool = ProcessPool(partial(activate_project, folders.root, folders.cache))
    try:
        # Unreadable files are reported alone: all other problems would follow from them.
        unreadable = [*content.problems, *_unreadable_problems(folders, services, cache, pool)]
        if unreadable:
            return _failed_result([*unreadable, *content.key_problems])
        result = _build_site(content, folders, options, services, cache, report, pool)
        if not content.key_problems:
            return result
        return _failed_result([*content.key_problems, *_text_problems(content, result.problems)])
    except Exception as error:
        problem = error_locations.template_problem(folders, error)
        if problem is None:
            raise
        return _failed_result([problem])
    finally:
        pool.close()


def _text_problems(content: SiteContent, problems: Iterable[Problem]) -> Iterator[Problem]:
    """Yield problems but those of a front matter that has others: they may follow from them."""
    broken = {problem.path for problem in content.key_problems}
    first_lines = {
        article.source: len(article.body) - len(article.body.lstrip("\n"))
        for article in content.articles
    }
    for problem in problems:
        if problem.path not in broken or problem.line > first_lines.get(problem.path, 0):
            yield problem


def _failed_result(problems: Iterable[Problem]) -> BuildResult:
    return BuildResult(output={}, problems=tuple(sorted(set(problems))))


def _unreadable_problems(
    folders: Folders, services: Services, cache: BuildCache, pool: ProcessPool
) -> list[Problem]:
    """Return problems of theme and engine files that no browser could read."""
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
    content: SiteContent,
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
    # Under `serve`, an edit that changes no string constant is assumed to cite the same sources.
    sources = keys.calculator_texts if options.reload else keys.calculator
    calculator_keys = calculator_set.CalculatorKeys(
        keys.calculator,
        sources,
        layout,
        takes=folders.project.takes,
        colors=folders.compute_once("colors", partial(theme_checks.colors, folders.theme)),
    )
    loaded = calculator_set.load_calculators(cache, calculator_keys, services.draw, pool)
    if loaded.broken:
        return _failed_result(loaded.problems)
    templates = load_templates(folders.theme / "templates", folders.shared_or_own_cache)
    authored = content.articles
    content = replace(
        content,
        articles=(
            *authored,
            *calculator_context.embed_articles(folders.theme, loaded.calculators),
        ),
    )
    renderer = article_rendering.make_renderer(
        folders,
        (content.library, content.library_digest),
        loaded,
        cache,
        keys,
        layout,
        pool,
    )
    rendered = renderer.render_all(content.articles)
    if unreadable := article_rendering.unreadable_problems(rendered):
        return _failed_result(unreadable)
    placed = dict.fromkeys(
        name for article in authored for name in rendered[article.source].calculators
    )
    articles = [(article, rendered[article.source]) for article in content.articles]
    calculators = [loaded.calculators[name] for name in placed]
    typeset_math = typeset_formulas(articles, calculators, services, cache, report)
    boxes = folders.compute_once("boxes", partial(render_panels, folders.theme, templates))
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
        readers=navigation.reader_paths(authored, content.library.readers),
        references=navigation.reference_pages(authored),
        tools=navigation.tool_links(
            (
                (calculator.name, calculator.title, calculator.question)
                for calculator in loaded.calculators.values()
            ),
            ((article, prose.facts.whole) for article, prose in articles[: len(authored)]),
        ),
        base_url=options.base_url,
        repository=options.repository,
        reload=options.reload,
        data=tuple(root_files.read_data_files(folders.project.data, keys, cache)),
        shelves=navigation.shelf_urls(authored),
        tool_shelves=navigation.tool_shelves(authored),
    )
    page_sources = PageSources(
        texts=content,
        tools=loaded,
        rendered=rendered,
        typeset=typeset_math,
        surface=surface,
        templates=templates,
        keys=keys,
        templates_digest=folders.compute_once(
            "look", partial(digest_of_files, folders.theme / "templates")
        ),
        images=content.images,
        figure=services.figure,
        archives=assets.calculators,
        runtime=assets.files,
        drawing_styles=assets.drawing_styles,
        render_folders=(folders.theme, folders.shared_or_own_cache),
        moving=animated_previews.render_previews(
            articles,
            loaded.calculators,
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
        page_sources, assets = _with_live_runtime(
            page_sources, assets, runtime_build, cache, report, pool
        )
    pages = all_pages.render_pages(page_sources, cache, pool)
    changed = extra_outputs.number_changes(page_sources)
    other_files = {
        **extra_outputs.search_and_markdown(page_sources, pages, options, services, cache),
        **assets.files,
        **root_files.output_files(folders.project.data, keys, cache),
        **({} if options.reload else library_wheel.output_files(folders, cache)),
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
        **root_files.redirect_pages(authored, templates, options.base_url, folders.project),
        **(
            {changed_numbers.PATH: changed_numbers.changes_json(changed).encode()}
            if changed
            else {}
        ),
    }
    problems = [
        *loaded.problems,
        *typeset_math.problems,
        *pages.problems,
        *_unplaced_problems(folders, placed),
        *_article_problems(authored, content),
        *calculator_set.source_problems(loaded, content.library),
    ]
    output = {**other_files, **pages.output}
    keys.imports.save()
    problems += all_pages.link_problems(
        output, page_sources, pages, {problem.path for problem in problems}
    )
    return BuildResult(output=output, problems=tuple(sorted(set(problems))))


def _with_live_runtime(
    page_sources: PageSources,
    assets: SharedAssets,
    runtime_build: RuntimeBuild,
    cache: BuildCache,
    report: Report,
    pool: ProcessPool,
) -> tuple[PageSources, SharedAssets]:
    """Return both with the live runtime; pages are prepared while Node compiles it."""
    if not runtime_build.is_ready:
        all_pages.prepare_drafts(page_sources, cache, pool)
    assets_with_runtime = add_runtime(assets, runtime_build, report)
    surface = replace(page_sources.surface, shell=assets_with_runtime.shell)
    with_runtime = replace(
        page_sources,
        surface=surface,
        archives=assets_with_runtime.calculators,
        runtime=assets_with_runtime.files,
    )
    return with_runtime, assets_with_runtime


def _unplaced_problems(folders: Folders, placed: Iterable[str]) -> list[Problem]:
    return calculator_set.unplaced_problems(placed) if folders.project.placed else []


def _article_problems(articles: tuple[Article, ...], content: SiteContent) -> list[Problem]:
    """Return problems between the written articles."""
    readers = content.library.readers
    return [
        *navigation.slug_problems(articles),
        *guide_order_checks.guide_problems(articles),
        *learning_paths.path_page_problems(articles),
        *navigation.reader_problems(articles, readers),
        *navigation.group_problems(articles),
        *root_files.problems(content.articles),
        *changed_numbers.problems(articles),
        *library.term_problems(content.library, (article.slug for article in articles)),
    ]
