"""Runtime archives of a page: one per calculator, and one for the modules that they share.

What only functions import is deferred: it has archives of its own, which the page fetches when a
calculator first imports it. Modules that the same ones need are in one archive.
"""

import gzip
import posixpath
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from builder.calculators import calculator_context
from builder.content.article import Article
from builder.core.build_cache import BuildCache
from builder.core.folders import digest
from builder.core.process_pool import map_in_threads
from builder.pages import page
from builder.pages.page_inputs import PageSources
from builder.runtime.archive_format import (
    bytecode_path,
    compress,
    content_hash,
    pack,
    records_path,
    unpack,
)

ArchiveSplit = tuple[dict[str, bytes], dict[str, list[str]]]
Deferred = Mapping[str, frozenset[str]]  # module -> paths of the sources that its import needs
_NOTHING: Mapping[str, Deferred] = MappingProxyType({})


def split_archives(
    page: str,
    archives: Mapping[str, bytes],
    deferred: Mapping[str, Deferred] = _NOTHING,
    *,
    quick: bool = False,
) -> ArchiveSplit:
    """Return (name -> content of the page's archives, name -> names of the archives it needs).

    These names are those of calculators, and dotted names of deferred modules.

    Args:
        page: prefix of the file names. Browsers cache one version of a name, so two pages never
            share one.
        archives: calculator -> compressed archive with all its modules.
        deferred: calculator -> its deferred modules.
        quick: compress less, as `compress` does.
    """
    whole = {name: unpack(gzip.decompress(data)) for name, data in archives.items()}
    late = {name: _archive_paths(modules.values()) for name, modules in deferred.items()}
    unpacked = {
        name: {path: text for path, text in modules.items() if path not in late.get(name, ())}
        for name, modules in whole.items()
    }
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
    for name, targets in deferred.items():
        _add_deferred(page, whole[name], targets, (files, needed), quick=quick)
    return files, needed


def _archive_paths(sources: Iterable[frozenset[str]]) -> frozenset[str]:
    """Return the paths in an archive of modules."""
    paths = frozenset[str]().union(*sources)
    return frozenset(map(bytecode_path, paths)) | frozenset(map(records_path, paths))


def _add_deferred(
    page: str,
    whole: Mapping[str, bytes],
    deferred: Deferred,
    split: ArchiveSplit,
    *,
    quick: bool,
) -> None:
    """Add the archives of a calculator's deferred modules to the split."""
    users: dict[str, set[str]] = {}
    for target, sources in deferred.items():
        for path in _archive_paths([sources]) & whole.keys():
            users.setdefault(path, set()).add(target)
    groups: dict[tuple[str, ...], dict[str, bytes]] = {}
    for path in sorted(users):
        groups.setdefault(tuple(sorted(users[path])), {})[path] = whole[path]
    files, needed = split
    for targets, modules in groups.items():
        stem = posixpath.basename(max(modules, key=lambda path: len(modules[path])))
        archive = _add_archive(f"{page}-{stem.partition('.')[0]}", modules, files, quick=quick)
        for target in targets:
            needed.setdefault(target, []).append(archive)


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
    """Return source -> split archives of the pages with several live calculators.

    Those of a page with one are split where that has deferred modules.
    """
    pages = {
        f"runtime {article.source}": (article, _calculator_files(article, page_sources))
        for article in articles
    }
    deferred = {
        name: modules
        for name in {name for _, whole in pages.values() for name in whole}
        if (modules := page_sources.keys.imports.deferred(calculator_context.source_path(name)))
    }
    pages = {
        name: (article, whole)
        for name, (article, whole) in pages.items()
        if len(whole) > 1 or whole.keys() & deferred.keys()
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
        late = {n: deferred[n] for n in whole if n in deferred}
        return split_archives(article.slug, archives, late, quick=name in quick_names)

    splits_by_name = cache.get_many(keys, lambda names: map_in_threads(made, names))
    return {pages[name][0].source: article for name, article in splits_by_name.items()}


def page_files(
    article: Article, page_sources: PageSources, split: ArchiveSplit | None
) -> tuple[dict[str, list[str]], Mapping[str, bytes]]:
    """Return (name -> URLs of the archives it needs, the files that only this page has).

    The names are those of `split_archives`.
    """
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
