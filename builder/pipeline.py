"""content + engine + theme -> the output folder's files, or the problems that prevent it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from builder import (
    between,
    cards,
    changes,
    content,
    drawing,
    embeds,
    engine_check,
    faults,
    feeds,
    library,
    lists,
    moved,
    navigation,
    pages,
    panels,
    paths,
    previews,
    publish,
    rendering,
    theme_check,
    theme_own,
    toolbox,
)
from builder.article import Article
from builder.content import Texts
from builder.dress import Ahead, Dress, dress, with_runtime
from builder.folders import KEEPER, Folders, digest, digest_of_files
from builder.hands import Hands
from builder.keys import Keys
from builder.leaves import Made, Parts
from builder.memo import Memo
from builder.options import Options
from builder.page import Surface
from builder.problem import Problem
from builder.progress import Report
from builder.prose import Prose
from builder.search import documents
from builder.services import Services
from builder.templates import templates_of
from builder.typesetting import typeset

FEW = 64  # pages that are read before another process has begun
_HASH = re.compile(rb"-[0-9a-f]{16}")


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
    texts = content.read(folders, drafts=options.drafts, memo=memo)
    hands = Hands(folders.root, folders.cache)
    try:
        # What cannot be read at all is told alone: all else would follow from it.
        unread = [*texts.problems, *_unread(folders, services, memo, hands)]
        if unread:
            return _refused(unread)
        return _built(texts, folders, options, services, memo, report, hands)
    except Exception as error:
        wrong = faults.in_template(folders, error)
        if wrong is None:
            raise
        return _refused([wrong])
    finally:
        hands.close()


def _refused(problems: Iterable[Problem]) -> Built:
    return Built(output={}, problems=tuple(sorted(set(problems))))


def _unread(folders: Folders, services: Services, memo: Memo, hands: Hands) -> list[Problem]:
    """Return what no browser could read of the theme and the engine."""
    return [
        *engine_check.problems(folders, memo, hands),
        *memo.get(
            "theme problems",
            folders.once("looks", partial(_looks, folders)),
            lambda: theme_check.problems(folders, services.check_modules),
        ),
        *theme_own.problems(folders, memo),
    ]


def _looks(folders: Folders) -> str:
    return digest(digest_of_files(folders.theme / one) for one in ("styles", "fonts", "runtime"))


def _keys(folders: Folders, hands: Hands) -> Keys:
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
    hands: Hands,
) -> Built:
    keys = folders.once("keys", partial(_keys, folders, hands))
    ahead = Ahead(folders, services, memo)
    layout = folders.once("layout", partial(drawing.layout, folders.theme))
    # While an author writes, an edit that names no other text is taken to name no other source.
    sources = keys.words if options.reload else keys.calculator
    marks = toolbox.Marks(
        keys.calculator,
        sources,
        layout,
        takes=folders.project.takes,
        colors=folders.once("colors", partial(theme_check.colors, folders.theme)),
    )
    tools = toolbox.read(memo, marks, services.draw, hands)
    if tools.broken:
        return _refused(tools.problems)
    templates = templates_of(folders.theme / "templates", folders.common)
    written = texts.articles
    texts = replace(texts, articles=(*written, *embeds.articles(folders.theme, tools.calculators)))
    renderer = rendering.renderer(
        folders, (texts.library, texts.library_digest), tools, memo, keys, layout, hands
    )
    rendered = renderer.all(texts.articles)
    if blank := rendering.unread(rendered):
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
        moving=_moving(
            articles,
            tools,
            services,
            memo,
            _moves(keys, memo, options),
            layout,
            dressed.drawn,
        ),
        cards=_cards(articles, options, services, memo, keys, folders, dressed.drawn),
    )
    if placed:
        parts, dressed = _live(parts, dressed, ahead, memo, report, hands)
    made = pages.make(parts, memo, hands)
    changed = _changes(parts)
    others = {
        **_found(parts, made, options, services, memo),
        **_plain(parts, made, options, memo, hands),
        **dressed.files,
        **publish.extras(
            written,
            dressed.shell,
            options.base_url,
            templates,
            {**dressed.beside, **_keeper(dressed.beside, written, made)},
            changed,
            folders.project,
        ),
        **moved.pages(written, templates, options.base_url, folders.project),
        **({changes.PATH: changes.listed(changed).encode()} if changed else {}),
    }
    problems = [
        *tools.problems,
        *done.problems,
        *made.problems,
        *_unplaced(folders, placed),
        *_between(written, texts),
        *toolbox.wrong_sources(tools, texts.library),
    ]
    # While an author writes, pages are as they are written.
    output = {**others, **made.output, **({} if options.reload else made.sent)}
    keys.imports.save()
    problems += pages.check_all(output, parts, made, {problem.path for problem in problems})
    return Built(output=output, problems=tuple(sorted(set(problems))))


def _live(
    parts: Parts, dressed: Dress, ahead: Ahead, memo: Memo, report: Report, hands: Hands
) -> tuple[Parts, Dress]:
    """Return both with the live runtime; while Node makes it, the pages go as far as they can."""
    if not ahead.is_made:
        pages.prepare(parts, memo, hands)
    whole = with_runtime(dressed, ahead, report)
    surface = replace(parts.surface, shell=whole.shell)
    told = replace(parts, surface=surface, archives=whole.calculators, runtime=whole.files)
    return told, whole


def _moving(
    articles: list[tuple[Article, Prose]],
    tools: toolbox.Toolbox,
    services: Services,
    memo: Memo,
    key: previews.Key,
    layout: str,
    style: str,
) -> Mapping[str, bytes]:
    """Return slug -> the opening figure of a guide in motion."""
    return previews.made(articles, tools.calculators, style, services.draw, memo, key, layout)


def _moves(keys: Keys, memo: Memo, options: Options) -> previews.Key:
    """Return what says of what a figure in motion is made.

    While an author writes, its motion is that of the last whole build: to make it is to ask every
    calculator that a guide opens with for six states.
    """
    own = keys.of("builder/previews.py")

    def key(name: str, kept: str) -> str:
        now = digest((own, keys.calculator(name)))
        return memo.last(kept, now) if options.reload else now

    return key


def _unplaced(folders: Folders, placed: Iterable[str]) -> list[Problem]:
    return toolbox.unplaced(placed) if folders.project.placed else []


def _cards(
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
    code = keys.of("builder/cards.py", "builder/raster.py")
    wanted = cards.sheets(folders.project.name, shown, style)
    return cards.made(wanted, style, folders.theme / "fonts", services.cards, memo, code)


def _between(written: tuple[Article, ...], texts: Texts) -> list[Problem]:
    """Return what is wrong between the articles that people have written."""
    readers = texts.library.readers
    return [
        *navigation.problems(written),
        *between.problems(written),
        *paths.problems(written),
        *navigation.unknown_readers(written, readers),
        *moved.problems(texts.articles),
        *changes.problems(written),
        *library.wrong_terms(texts.library, (article.slug for article in written)),
    ]


def _keeper(
    scripts: Mapping[str, str], written: tuple[Article, ...], made: Made
) -> Mapping[str, str]:
    """Return the script that keeps pages, told which page lists them."""
    if KEEPER not in scripts:
        return {}
    article = next((one for one in written if lists.KEPT in one.body), None)
    place = article.url if article else ""
    mark = digest((made.output[f"{place}index.html"],)) if article else ""
    return {KEEPER: f'const LIST = "{place}", MARK = "{mark}";\n{scripts[KEEPER]}'}


def _changes(parts: Parts) -> tuple[changes.Change, ...]:
    """Return the numbers that have changed, as the page of corrections tells them."""
    headings = {source: prose.headings for source, prose in parts.rendered.items()}
    return changes.found(parts.texts.articles, headings)


def _plain(
    parts: Parts, made: Made, options: Options, memo: Memo, hands: Hands
) -> Mapping[str, bytes]:
    """Return the pages as Markdown; nobody reads them so while an author writes."""
    if options.reload:
        return {}
    code = parts.keys.of("builder/plain.py", "builder/feeds.py")
    shown = {
        f"plain {article.source}": (article, made.output[f"{article.url}index.html"])
        for article in parts.texts.articles
        if article.kind != embeds.KIND
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


def _found(
    parts: Parts, made: Made, options: Options, services: Services, memo: Memo
) -> Mapping[str, bytes]:
    """Return the files of the search; while serving, those of the last whole build will do."""
    articles = [one for one in parts.texts.articles if one.kind != embeds.KIND]

    def texts() -> dict[str, str]:
        return documents.all_of(
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
    code = parts.keys.of("builder/search/documents.py", "builder/search/pagefind.py")
    key = digest([code, *(part for one in found.items() for part in one)])
    return memo.get("search", key, lambda: services.search(found))
