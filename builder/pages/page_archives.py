"""Runtime archives of a page: one per calculator, and one for the modules that they share."""

import gzip
import posixpath
from collections import Counter
from collections.abc import Mapping, Sequence

from builder.content.article import Article
from builder.core.build_cache import BuildCache
from builder.core.folders import digest
from builder.core.process_pool import map_in_threads
from builder.pages import page
from builder.pages.page_inputs import PageSources
from builder.runtime.archive_format import compress, content_hash, pack, unpack

ArchiveSplit = tuple[dict[str, bytes], dict[str, list[str]]]


def split_archives(
    page: str, archives: Mapping[str, bytes], *, quick: bool = False
) -> ArchiveSplit:
    """Return (name -> content of the page's archives, calculator -> names of its archives).

    Args:
        page: prefix of the file names. Browsers cache one version of a name, so two pages never
            share one.
        archives: calculator -> compressed archive with all its modules.
        quick: compress less, as `compress` does.
    """
    unpacked = {name: unpack(gzip.decompress(data)) for name, data in archives.items()}
    count = Counter(path for files in unpacked.values() for path in files)
    shared = {
        path: text
        for modules in unpacked.values()
        for path, text in modules.items()
        if count[path] > 1
    }
    files: dict[str, bytes] = {}
    needed: dict[str, list[str]] = {name: [] for name in archives}
    if shared:
        common = _add_archive(f"{page}-common", shared, files, quick=quick)
        for name, modules in unpacked.items():
            needed[name] += [common] if modules.keys() & shared.keys() else []
    for name, modules in unpacked.items():
        own_modules = {path: text for path, text in modules.items() if path not in shared}
        needed[name] += (
            [_add_archive(f"{page}-{name}", own_modules, files, quick=quick)] if own_modules else []
        )
    return files, needed


def _add_archive(
    stem: str, modules: Mapping[str, bytes], files: dict[str, bytes], *, quick: bool
) -> str:
    content = compress(pack(modules), quick=quick)
    name = f"{stem}-{content_hash(content)}.bin"
    files[name] = content
    return name


def _calculator_files(article: Article, page_sources: PageSources) -> dict[str, str]:
    """Return calculator -> path of its archive, for the calculators that run on a page."""
    prose = page_sources.rendered[article.source]
    # Numbers for other inputs are static and need no runtime.
    live = [name for name in prose.calculators if name in prose.facts.live]
    return {name: page_sources.archives[name] for name in live if name in page_sources.archives}


def split_all(
    articles: Sequence[Article], page_sources: PageSources, cache: BuildCache
) -> dict[str, ArchiveSplit]:
    """Return source -> split archives of the pages with several live calculators."""
    pages = {
        f"runtime {article.source}": (article, _calculator_files(article, page_sources))
        for article in articles
    }
    pages = {
        name: splits_by_name for name, splits_by_name in pages.items() if len(splits_by_name[1]) > 1
    }
    code = page_sources.keys.digest_of("builder/pages/page_archives.py")
    keys = {name: digest((code, *whole.values())) for name, (_, whole) in pages.items()}
    # As with the runtime: well-compressed archives also serve an author's build.
    quick_names = {
        n for n, key in keys.items() if page_sources.surface.reload and not cache.has(n, key)
    }
    keys |= {name: digest((keys[name], "quick")) for name in quick_names}

    def made(name: str) -> ArchiveSplit:
        article, whole = pages[name]
        archives = {n: page_sources.runtime[path] for n, path in whole.items()}
        return split_archives(article.slug, archives, quick=name in quick_names)

    splits_by_name = cache.get_many(keys, lambda names: map_in_threads(made, names))
    return {pages[name][0].source: article for name, article in splits_by_name.items()}


def page_files(
    article: Article, page_sources: PageSources, split: ArchiveSplit | None
) -> tuple[dict[str, list[str]], Mapping[str, bytes]]:
    """Return (calculator -> URLs of its archives, the files that only this page has)."""
    root, paths = page.relative_root(article.url), _calculator_files(article, page_sources)
    if split is None:
        return {name: [root + path] for name, path in paths.items()}, {}
    files, needed = split
    folder = posixpath.dirname(next(iter(paths.values())))
    urls = {
        name: [f"{root}{folder}/{file}" for file in files_of_calculator]
        for name, files_of_calculator in needed.items()
    }
    return urls, {f"{folder}/{name}": content for name, content in files.items()}
