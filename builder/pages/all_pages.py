"""All pages of a build."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

from builder.content import navigation
from builder.content.article import Article
from builder.content.link_targets import Index, Target
from builder.content.navigation import Entry
from builder.core.build_cache import Memo
from builder.core.folders import RECEIPTS, digest
from builder.core.problem import Problem, located
from builder.core.process_pool import ProcessPool
from builder.core.project import Way
from builder.figures import hero_figures
from builder.pages import asset_urls, deferred_content, html_links, page, page_archives, page_inputs
from builder.pages.html_facts import Facts, facts
from builder.pages.page import Content
from builder.pages.page_archives import Split
from builder.pages.page_context import draft
from builder.pages.page_inputs import Draft, Ground, Leaf, Made, Parts, Sheet
from builder.project.project_file import FILE
from builder.theme.assets import hashed
from builder.theme.templates import templates_of

# An element of these ends where the next one of its kind begins, or what holds it ends.
_ENDS = re.compile(
    rb"</(?:"
    rb"t[dh]>\s*(?=<t[dh]\b|</tr>)"
    rb"|tr>\s*(?=<tr\b|</t(?:body|head|able)>)"
    rb"|thead>\s*(?=<tbody\b)"
    rb"|tbody>\s*(?=</table>)"
    rb"|d[td]>(?=\s*(?:<d[td]\b|</d(?:l|iv)>))"
    rb"|li>(?=\s*(?:<li\b|</[ou]l>))"
    rb"|option>(?=<option\b|</select>)"
    rb")"
)
# Where there is no form, a button of any type does what the script says.
_TYPE = re.compile(rb'(<button\b[^>]*?) type="button"')
# In a page an SVG is known by its name.
_NAMESPACE = b' xmlns="http://www.w3.org/2000/svg"'


def thinned(html: bytes) -> bytes:
    """Return a page that every browser reads as the same."""
    short = _ENDS.sub(b"", html).replace(b"<svg" + _NAMESPACE, b"<svg")
    return short if b"<form" in short else _TYPE.sub(rb"\1", short)


FEW = 48  # pages that are rendered before another process has begun
Page = tuple[str, Facts]
Pages = tuple[Page, ...]  # of an article, and of its receipts where it has any


def make(parts: Parts, memo: Memo, hands: ProcessPool) -> Made:
    """Return all pages."""
    parts, ground, listed = _laid(parts)
    found = _leaves(parts, ground, memo, hands)
    in_order = (found[article.source].sheets for article in parts.texts.articles)
    pages = {path: sheet for sheets in in_order for path, sheet in sheets.items()}
    output = {**listed, **{path: sheet.html for path, sheet in pages.items()}}
    output |= {path: data for leaf in found.values() for path, data in leaf.files.items()}
    reach = {path: sheet.reach for path, sheet in pages.items()}
    output |= _shown(ground.pictures, parts, reach)
    output |= {card.path: card.png for card in parts.cards.values()}
    return Made(
        output=output,
        sent={path: sheet.sent for path, sheet in pages.items()},
        problems=tuple(problem for leaf in found.values() for problem in leaf.problems),
        written={source: leaf.written for source, leaf in found.items()},
        facts={path: sheet.facts for path, sheet in pages.items()},
        reach=reach,
    )


def prepare(parts: Parts, memo: Memo, hands: ProcessPool) -> None:
    """Leave drafts of all pages, and these with marks for addresses, of which some are to come."""
    parts, ground, _ = _laid(parts)
    keys = page_inputs.keys(parts, ground, memo)
    stands = {source for source, key in keys.items() if memo.standing(f"draft {source}", key)}
    new = [one for one in parts.texts.articles if one.source not in stands]
    for source, made in _drafts(new, parts, ground, memo, hands).items():
        if source in keys:
            memo.leave(f"draft {source}", keys[source], made, [*_below(source, parts)])


def _laid(parts: Parts) -> tuple[Parts, Ground, Mapping[str, bytes]]:
    """Return the parts and what all pages are put together with, and the guides' pictures."""
    pictures = {path: hashed(path.rpartition("/")[2], data) for path, data in parts.images.items()}
    listed, lists = _listed(parts)
    marked = replace(parts.surface, shell=asset_urls.stand_in(parts.surface.shell))
    urls = {article.slug: article.url for article in parts.texts.articles}
    parts = replace(parts, shared=digest((repr(marked),)), urls=urls)
    ground = Ground(
        index=_index(parts),
        places=navigation.places(parts.texts.articles),
        pictures=pictures,
        surface=marked,
        lists=lists,
    )
    return parts, ground, listed


def _leaves(parts: Parts, ground: Ground, memo: Memo, hands: ProcessPool) -> dict[str, Leaf]:
    """Return source -> page; those that stand as an earlier build left them are not made again.

    Of those whose addresses alone have changed, with a style for one, the drafts stand.
    """
    keys = page_inputs.keys(parts, ground, memo)
    finished = page_inputs.finished(keys, parts)
    drafts = {source: memo.standing(f"draft {source}", key) for source, key in keys.items()}
    left = {source: memo.standing(f"leaf {source}", key) for source, key in finished.items()}
    articles = [one for one in parts.texts.articles if left.get(one.source) is None]
    drafts |= _drafts([o for o in articles if not drafts.get(o.source)], parts, ground, memo, hands)
    splits = page_archives.splits(articles, parts, memo)
    made: dict[str, Leaf] = {}
    for source in (one.source for one in articles):
        draft, rendered = drafts[source]
        made[source] = _leaf(draft, rendered, parts, splits.get(source))
        if source in keys:
            below = [*_below(source, parts)]
            memo.leave(f"draft {source}", keys[source], drafts[source], below)
            memo.leave(f"leaf {source}", finished[source], made[source], below)
    every = (article.source for article in parts.texts.articles)
    return {source: left.get(source) or made[source] for source in every}


def _drafts(
    articles: Sequence[Article], parts: Parts, ground: Ground, memo: Memo, hands: ProcessPool
) -> dict[str, tuple[Draft, Pages]]:
    """Return source -> the draft of a page, and its pages with marks in place of addresses."""
    drafts = {one.source: draft(one, parts, ground, memo) for one in articles}
    rendered = _rendered([one.content for one in drafts.values()], parts, memo, hands)
    return {source: (draft, rendered[source]) for source, draft in drafts.items()}


def _below(source: str, parts: Parts) -> Iterator[str]:
    """Yield the names under which the memory holds what a page is made of."""
    yield from (f"page {source}", f"runtime {source}")
    yield from (f"figure {name}.{output}" for name, output in parts.rendered[source].figures)


def _leaf(draft: Draft, made: Pages, parts: Parts, split: Split | None) -> Leaf:
    """Return an article's pages with addresses in place of their marks."""
    needed, shared = page_archives.of_page(draft.content.article, parts, split)
    drawn = next(iter(draft.figures), "")
    where = asset_urls.of_page(parts.surface.shell, drawn, needed)
    article = draft.content.article
    finished = [asset_urls.filled(html, where) for html, _ in made]
    sent = _sent(finished, article, parts)
    told = [
        replace(one, urls=tuple(asset_urls.filled(u, where) for u in one.urls)) for _, one in made
    ]
    each = zip(paths(article), finished, sent, told, strict=False)
    return Leaf(
        sheets={
            path: Sheet(
                html=html.encode(), sent=thin, facts=found, reach=html_links.reach(path, found)
            )
            for path, html, thin, found in each
        },
        files={**draft.figures, **shared},
        problems=draft.problems,
        written=draft.written,
    )


def _sent(finished: Sequence[str], article: Article, parts: Parts) -> list[bytes]:
    """Return pages as they are sent: with receipts, what is folded stands beside them."""
    if len(finished) > 1:
        glossary = parts.urls.get("glossary")
        there = page.root_of(article.url) + glossary if glossary else ""
        finished = deferred_content.parted(finished[0], finished[1], there)
    return [thinned(html.encode()) for html in finished]


def paths(article: Article) -> tuple[str, str]:
    """Return where an article's page lies in the output, and where its receipts would."""
    return f"{article.url}index.html", f"{article.url}{RECEIPTS}index.html"


def _shown(
    pictures: Mapping[str, str], parts: Parts, reach: Mapping[str, html_links.Reach]
) -> dict[str, bytes]:
    """Return the pictures that a page shows."""
    used = frozenset[str]().union(*(one.files for one in reach.values())) if pictures else ()
    return {name: parts.images[path] for path, name in sorted(pictures.items()) if name in used}


def _listed(
    parts: Parts,
) -> tuple[dict[str, bytes], tuple[Mapping[str, str], Mapping[str, str]]]:
    """Return the guides' opening figures by path, and slug -> path of the still and the moving."""
    output: dict[str, bytes] = {}
    names: list[dict[str, str]] = []
    for kind, found in (("opening", _openings(parts)), ("moving", parts.moving)):
        names.append({slug: hashed(f"{kind}-{slug}.svg", data) for slug, data in found.items()})
        output |= {names[-1][slug]: data for slug, data in found.items()}
    return output, (names[0], names[1])


def _openings(parts: Parts) -> dict[str, bytes]:
    """Return slug -> picture of the figure that the guide opens with.

    Where another guide opens with the same one, it is the next figure.
    """
    found: dict[str, bytes] = {}
    for guide in (one for one in parts.texts.articles if one.kind == "guide"):
        html, taken = parts.rendered[guide.source].html, set(found.values())
        drawn = (one.encode() for one in hero_figures.pictures(html, parts.drawn))
        picture = next((one for one in drawn if one not in taken), None)
        if picture is not None:
            found[guide.slug] = picture
    return found


def _index(parts: Parts) -> Index:
    return {
        article.source: Target(
            url=article.url,
            title=article.title,
            anchors=parts.rendered[article.source].anchors,
        )
        for article in parts.texts.articles
    }


def _rendered(
    contents: Sequence[Content], parts: Parts, memo: Memo, hands: ProcessPool
) -> dict[str, Pages]:
    """Return source -> pages."""
    named = {f"page {one.article.source}": one for one in contents}
    keys = {name: _key(one, parts) for name, one in named.items()}
    render = partial(_page, *parts.rooms)

    def made(names: list[str]) -> list[Pages]:
        return hands.each(render, [named[name] for name in names], few=FEW)

    return {named[name].article.source: one for name, one in memo.many(keys, made).items()}


def _key(content: Content, parts: Parts) -> str:
    # Equal contents give equal pages: what the template gets is all that a page depends on.
    code = parts.keys.of("builder/pages/page.py", "builder/pages/html_facts.py")
    # The surface is long and the same for all: its digest stands for it. The guides around one are
    # those around the next, too.
    place = replace(content.place, near=())
    bare = replace(content, surface=None, place=place)  # type: ignore[arg-type]
    return digest((parts.look, code, parts.shared, repr(bare), *map(_told, content.place.near)))


def _page(theme: Path, cache: Path, content: Content) -> Pages:
    templates = templates_of(theme / "templates", cache)
    blocks = templates.get_template("blocks.html").module
    found = (page.render(content, templates, blocks), page.receipts(content, templates, blocks))
    return tuple((html, facts(html)) for html in found if html)


@lru_cache(maxsize=1 << 16)
def _told(entry: Entry) -> str:
    return repr(entry)


def _way(about: str, path: str, parts: Parts) -> Way | None:
    """Return the link of the header that an address on a page comes from."""
    ways, root = parts.surface.project.navigation, page.root_of(path)
    return next((way for way in ways if about == root + way.address), None)


def link_problems(
    output: Mapping[str, bytes],
    parts: Parts,
    made: Made,
    known: set[str],
) -> list[Problem]:
    """Return what is wrong in the finished pages, save those with problems of their own."""
    every = ((path, one) for one in parts.texts.articles for path in paths(one))
    by_path = {path: article for path, article in every if path in made.facts}
    others = frozenset(path for path in output if path not in by_path)
    found: list[Problem] = []
    for path, about, message in html_links.wrong(made.facts, others, made.reach):
        article = by_path[path]
        way = _way(about, path, parts)
        if way:  # said once, not on every page
            told = message.replace(f"'{about}'", f"'{way.address}'", 1)
            found.append(Problem(FILE, way.line, told))
        elif article.source not in known:
            raw = made.written[article.source].get(about, about)
            told = message.replace(f"'{about}'", f"'{raw}'", 1)
            found += located(article.source, article.body, raw, told)
    return found
