"""The archives of the live runtime that a page loads: its calculators', told apart and shared."""

import gzip
import posixpath
from collections import Counter
from collections.abc import Mapping, Sequence

from builder.content.article import Article
from builder.core.build_cache import Memo
from builder.core.folders import digest
from builder.core.process_pool import at_once
from builder.pages import page
from builder.pages.page_inputs import Parts
from builder.runtime.archive_format import bundled, key, unbundled, zipped

Split = tuple[dict[str, bytes], dict[str, list[str]]]


def split(page: str, archives: Mapping[str, bytes], *, quick: bool = False) -> Split:
    """Return (name -> content of the page's files, calculator -> the files that it needs).

    Args:
        page: what the files' names begin with. Readers keep one version of a name, so two pages
            never share one.
        archives: calculator -> compressed archive with all that it needs.
        quick: compress less, as `zipped` does.
    """
    held = {name: unbundled(gzip.decompress(data)) for name, data in archives.items()}
    count = Counter(path for files in held.values() for path in files)
    often = {path: text for one in held.values() for path, text in one.items() if count[path] > 1}
    files: dict[str, bytes] = {}
    needed: dict[str, list[str]] = {name: [] for name in archives}
    if often:
        common = _named(f"{page}-common", often, files, quick=quick)
        for name, own in held.items():
            needed[name] += [common] if own.keys() & often.keys() else []
    for name, own in held.items():
        rest = {path: text for path, text in own.items() if path not in often}
        needed[name] += [_named(f"{page}-{name}", rest, files, quick=quick)] if rest else []
    return files, needed


def _named(stem: str, modules: Mapping[str, bytes], files: dict[str, bytes], *, quick: bool) -> str:
    content = zipped(bundled(modules), quick=quick)
    name = f"{stem}-{key(content)}.bin"
    files[name] = content
    return name


def _whole(article: Article, parts: Parts) -> dict[str, str]:
    """Return calculator -> the file with all that it needs, of those that run on a page."""
    prose = parts.rendered[article.source]
    # Numbers for other inputs are finished, and need nothing to run.
    signs = {
        name: (f'data-of="{name}"', f'"receipts/#receipt-{name}-') for name in prose.calculators
    }
    live = [name for name, some in signs.items() if any(one in prose.html for one in some)]
    return {name: parts.archives[name] for name in live if name in parts.archives}


def splits(articles: Sequence[Article], parts: Parts, memo: Memo) -> dict[str, Split]:
    """Return source -> what the calculators of a page share, of pages with several."""
    several = {f"runtime {one.source}": (one, _whole(one, parts)) for one in articles}
    several = {name: found for name, found in several.items() if len(found[1]) > 1}
    code = parts.keys.of("builder/pages/page_archives.py")
    keys = {name: digest((code, *whole.values())) for name, (_, whole) in several.items()}
    # As with the runtime: what readers get is good for an author as well.
    hurried = {n for n, key in keys.items() if parts.surface.reload and not memo.has(n, key)}
    keys |= {name: digest((keys[name], "quick")) for name in hurried}

    def made(name: str) -> Split:
        article, whole = several[name]
        archives = {n: parts.runtime[path] for n, path in whole.items()}
        return split(article.slug, archives, quick=name in hurried)

    found = memo.many(keys, lambda names: at_once(made, names))
    return {several[name][0].source: one for name, one in found.items()}


def of_page(
    article: Article, parts: Parts, split: Split | None
) -> tuple[dict[str, list[str]], Mapping[str, bytes]]:
    """Return (calculator -> addresses of what it needs, the files that only this page has)."""
    root, whole = page.root_of(article.url), _whole(article, parts)
    if split is None:
        return {name: [root + path] for name, path in whole.items()}, {}
    files, needed = split
    folder = posixpath.dirname(next(iter(whole.values())))
    found = {name: [f"{root}{folder}/{one}" for one in some] for name, some in needed.items()}
    return found, {f"{folder}/{name}": content for name, content in files.items()}
