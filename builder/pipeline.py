"""content + engine + theme -> the output folder's files, or the problems that prevent it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from builder.calculators import calculator_set, embed_pages, engine_checks
from builder.calculators.cache_keys import Keys
from builder.content import content_folder, guide_order_checks, learning_paths, library, navigation
from builder.content.article import Article
from builder.content.content_folder import Texts
from builder.core import error_locations
from builder.core.build_cache import Memo
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
from builder.pages.page_inputs import Parts
from builder.pages.shared_assets import Ahead, Dress, dress, with_runtime
from builder.pages.typesetting import typeset
from builder.project.activate_project import enter
from builder.theme import panels, theme_checks
from builder.theme.templates import templates_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """The files by their path in the output, fit to be published only without problems."""

    output: Mapping[str, bytes]
    problems: tuple[Problem, ...]


def build(
    folders: Folders, options: Options, services: Services, memo: Memo, report: Report
) -> Built:
    """Return the whole output and all problems of the content."""
    built = None
    try:
        built = _tried(folders, options, services, memo, report)
        return built
    finally:
        if not (built and built.output):
            memo.break_off()


def _tried(
    folders: Folders, options: Options, services: Services, memo: Memo, report: Report
) -> Built:
    texts = content_folder.read(folders, drafts=options.drafts, memo=memo)
    hands = ProcessPool(partial(enter, folders.root, folders.cache))
    try:
        # What cannot be read at all is told alone: all else would follow from it.
        unread = [*texts.problems, *_unread(folders, services, memo, hands)]
        if unread:
            return _refused(unread)
        return _built(texts, folders, options, services, memo, report, hands)
    except Exception as error:
        wrong = error_locations.in_template(folders, error)
        if wrong is None:
            raise
        return _refused([wrong])
    finally:
        hands.close()


def _refused(problems: Iterable[Problem]) -> Built:
    return Built(output={}, problems=tuple(sorted(set(problems))))


def _unread(folders: Folders, services: Services, memo: Memo, hands: ProcessPool) -> list[Problem]:
    """Return what no browser could read of the theme and the engine."""
    return [
        *engine_checks.problems(folders, memo, hands),
        *memo.get(
            "theme problems",
            folders.once("looks", partial(_looks, folders)),
            lambda: theme_checks.problems(folders, services.check_modules),
        ),
        *theme_checks.override_problems(folders, memo),
    ]


def _looks(folders: Folders) -> str:
    return digest(digest_of_files(folders.theme / one) for one in ("styles", "fonts", "runtime"))


def _keys(folders: Folders, hands: ProcessPool) -> Keys:
    keys = Keys(folders)
    keys.imports.read(hands.each)
    return keys


def _built(
    texts: Texts,
    folders: Folders,
    options: Options,
    services: Services,
    memo: Memo,
    report: Report,
    hands: ProcessPool,
) -> Built:
    keys = folders.once("keys", partial(_keys, folders, hands))
    ahead = Ahead(folders, services, memo)
    layout = folders.once("layout", partial(static_charts.layout, folders.theme))
    # While an author writes, an edit that names no other text is taken to name no other source.
    sources = keys.words if options.reload else keys.calculator
    marks = calculator_set.Marks(
        keys.calculator,
        sources,
        layout,
        takes=folders.project.takes,
        colors=folders.once("colors", partial(theme_checks.colors, folders.theme)),
    )
    tools = calculator_set.read(memo, marks, services.draw, hands)
    if tools.broken:
        return _refused(tools.problems)
    templates = templates_of(folders.theme / "templates", folders.common)
    written = texts.articles
    texts = replace(
        texts, articles=(*written, *embed_pages.articles(folders.theme, tools.calculators))
    )
    renderer = article_rendering.renderer(
        folders, (texts.library, texts.library_digest), tools, memo, keys, layout, hands
    )
    rendered = renderer.all(texts.articles)
    if blank := article_rendering.unread(rendered):
        return _refused(blank)
    placed = dict.fromkeys(name for one in written for name in rendered[one.source].calculators)
    articles = [(article, rendered[article.source]) for article in texts.articles]
    calculators = [tools.calculators[name] for name in placed]
    done = typeset(articles, calculators, services, folders.cache, report)
    boxes = folders.once("boxes", partial(panels.rendered, folders.theme, templates))
    dressed = dress(
        folders,
        services,
        memo,
        ahead if placed else None,
        boxes,
        readable=bool(options.reload),
    )
    surface = Surface(
        project=folders.project,
        shell=dressed.shell,
        paths=navigation.learning_paths(written),
        readers=navigation.reader_paths(written, texts.library.readers),
        references=navigation.reference_pages(written),
        tools=navigation.tools(
            ((one.name, one.title, one.question) for one in tools.calculators.values()),
            ((article, made.html) for article, made in articles[: len(written)]),
        ),
        base_url=options.base_url,
        repository=options.repository,
        reload=options.reload,
    )
    parts = Parts(
        texts=texts,
        tools=tools,
        rendered=rendered,
        typeset=done,
        surface=surface,
        templates=templates,
        keys=keys,
        look=folders.once("look", partial(digest_of_files, folders.theme / "templates")),
        images=texts.images,
        figure=services.figure,
        archives=dressed.calculators,
        runtime=dressed.files,
        drawn=dressed.drawn,
        rooms=(folders.theme, folders.common),
        moving=animated_previews.made(
            articles,
            tools.calculators,
            animated_previews.Means(
                style=dressed.drawn,
                draw=services.draw,
                key=extra_outputs.moves(keys, memo, options),
                layout=layout,
            ),
            memo,
            hands,
        ),
        cards=extra_outputs.social_cards(
            articles, options, services, memo, keys, folders, dressed.drawn
        ),
    )
    if placed:
        parts, dressed = _live(parts, dressed, ahead, memo, report, hands)
    made = all_pages.make(parts, memo, hands)
    changed = extra_outputs.changed(parts)
    others = {
        **extra_outputs.beside_pages(parts, made, options, services, memo, hands),
        **dressed.files,
        **root_files.extras(
            written,
            dressed.shell,
            options.base_url,
            templates,
            {**dressed.beside, **extra_outputs.keeper(dressed.beside, written, made)},
            changed,
            folders.project,
        ),
        **redirects.pages(written, templates, options.base_url, folders.project),
        **({changed_numbers.PATH: changed_numbers.listed(changed).encode()} if changed else {}),
    }
    problems = [
        *tools.problems,
        *done.problems,
        *made.problems,
        *_unplaced(folders, placed),
        *_between(written, texts),
        *calculator_set.wrong_sources(tools, texts.library),
    ]
    # While an author writes, pages are as they are written.
    output = {**others, **made.output, **({} if options.reload else made.sent)}
    keys.imports.save()
    problems += all_pages.link_problems(output, parts, made, {problem.path for problem in problems})
    return Built(output=output, problems=tuple(sorted(set(problems))))


def _live(
    parts: Parts, dressed: Dress, ahead: Ahead, memo: Memo, report: Report, hands: ProcessPool
) -> tuple[Parts, Dress]:
    """Return both with the live runtime; while Node makes it, the pages go as far as they can."""
    if not ahead.is_made:
        all_pages.prepare(parts, memo, hands)
    whole = with_runtime(dressed, ahead, report)
    surface = replace(parts.surface, shell=whole.shell)
    told = replace(parts, surface=surface, archives=whole.calculators, runtime=whole.files)
    return told, whole


def _unplaced(folders: Folders, placed: Iterable[str]) -> list[Problem]:
    return calculator_set.unplaced(placed) if folders.project.placed else []


def _between(written: tuple[Article, ...], texts: Texts) -> list[Problem]:
    """Return what is wrong between the articles that people have written."""
    readers = texts.library.readers
    return [
        *navigation.problems(written),
        *guide_order_checks.problems(written),
        *learning_paths.problems(written),
        *navigation.unknown_readers(written, readers),
        *redirects.problems(texts.articles),
        *changed_numbers.problems(written),
        *library.wrong_terms(texts.library, (article.slug for article in written)),
    ]
