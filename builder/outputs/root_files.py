"""Files beside the pages: 404.html, robots.txt, scripts, lists of pages, data, redirects."""

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from builder.calculators.cache_keys import CacheKeys
from builder.content.article import Article
from builder.content.navigation import shelf_urls
from builder.core.build_cache import BuildCache
from builder.core.problem import Problem, problems_where
from builder.core.project import NavigationLink, Project
from builder.outputs import feeds
from builder.pages import page
from builder.pages.changed_numbers import Change
from builder.pages.page import POLICY
from builder.theme.assets import Shell, without_fonts

MISSING = "missing.js"  # stands in 404.html, which knows no address of a script


def make_root_files(
    articles: Iterable[Article],
    shell: Shell,
    base_url: str,
    templates: Any,  # noqa: ANN401 (a Jinja environment)
    scripts: Mapping[str, str],
    changes: Iterable[Change],
    project: Project,
) -> dict[str, bytes]:
    """Return path in the output -> content of the root files.

    `scripts` are written unless empty; the feed lists `changes` of numbers besides articles.
    """
    # 404.html is shown at any depth, so its links have to start at the host's root, or where its
    # script finds the site.
    all_articles, script = tuple(articles), scripts.get(MISSING, "")
    not_found = templates.get_template("missing.html").render(
        policy=allow_inline(POLICY, script),
        style=without_fonts(shell.style_text),
        home=urlsplit(base_url).path or "/",
        shell=shell,
        project=project,
        script=script,
        navigation=project.navigation or _shelf_links(all_articles),
    )
    files = {"404.html": not_found, ".nojekyll": "", "robots.txt": "User-agent: *\nAllow: /\n"}
    files["llms.txt"] = feeds.llms_txt(all_articles, project.name, base_url)
    if base_url:
        files["robots.txt"] += f"Sitemap: {base_url}sitemap.xml\n"
        files["sitemap.xml"] = feeds.sitemap(all_articles, base_url)
        files["feed.xml"] = feeds.atom(all_articles, project.name, base_url, changes)
    files |= {name: text for name, text in scripts.items() if text and name != MISSING}
    return {name: text.encode() for name, text in files.items()}


def allow_inline(policy: str, script: str) -> str:
    """Return a content security policy that lets this one script stand in the page."""
    if not script:
        return policy
    mark = b64encode(sha256(script.encode()).digest()).decode()
    return policy.replace("script-src 'self'", f"script-src 'self' 'sha256-{mark}'")


def _shelf_links(articles: Iterable[Article]) -> tuple[NavigationLink, ...]:
    """Return header links to the pages that list a folder."""
    return tuple(
        NavigationLink(label=slug.capitalize(), address=url, line=0)
        for slug, url in shelf_urls(articles).items()
    )


# Data files of a project: what a function of its engine returns, published under `data/`.

FOLDER = "data/"


def read_data_files(dotted: str, keys: CacheKeys, cache: BuildCache) -> Mapping[str, bytes]:
    """Return name -> content of the data files, computed again when their code has changed.

    Args:
        dotted: the function, as in `Project.data`; "" if the project has none.
        keys: digests of code.
        cache: of earlier builds.
    """
    module, _, name = dotted.rpartition(".")
    if not module:
        return {}

    def compute() -> Mapping[str, bytes]:
        function: Callable[[], Mapping[str, str]] = getattr(import_module(module), name)
        return {file: text.encode() for file, text in function().items()}

    key = keys.digest_of(module.replace(".", "/") + ".py")
    return cache.get("data files", key, compute)


def output_files(dotted: str, keys: CacheKeys, cache: BuildCache) -> Mapping[str, bytes]:
    """Return path in the output -> content of the data files."""
    files = read_data_files(dotted, keys, cache)
    return {FOLDER + name: content for name, content in files.items()}


# Redirect pages at the former URLs of renamed pages, which front matter lists as `was`.
#
# A redirect leads straight to a page, and no former URL may be that of a page, so there are no
# cycles and no chains.

TEMPLATE, SCRIPT = "moved.html", "moved.js"
_ADDRESS = re.compile(r"[a-z0-9][a-z0-9-]*(/[a-z0-9][a-z0-9-]*)*")
_RESERVED = ("assets", "embed", "search")


def redirect_pages(
    articles: Iterable[Article],
    templates: Any,  # noqa: ANN401 (a Jinja environment)
    base_url: str,
    project: Project,
) -> dict[str, bytes]:
    """Return path in the output -> HTML of the redirect page of every former URL."""
    redirects = {}
    for article in articles:
        for was in article.was:
            html = templates.get_template(TEMPLATE).render(
                article=article,
                root=page.relative_root(f"{was}/"),
                policy=page.POLICY,
                base_url=base_url,
                project=project,
            )
            redirects[f"{was}/index.html"] = html.encode()
    return redirects


def problems(articles: Iterable[Article]) -> list[Problem]:
    """Return the problems of former URLs: malformed, in use by a page, or claimed by two pages."""
    known = tuple(articles)
    now = {article.url.rstrip("/"): article.source for article in known}
    claimed: dict[str, str] = {}
    address_problems: list[Problem] = []
    for article in known:
        for former_url in article.was:
            message = ""
            if not _ADDRESS.fullmatch(former_url) or former_url.partition("/")[0] in _RESERVED:
                message = f"was names '{former_url}'; an address is such as 'guides/old-name'"
            elif former_url in now:
                message = f"was names '{former_url}', which is the address of {now[former_url]}"
            elif former_url in claimed:
                message = f"was names '{former_url}', and so does {claimed[former_url]}"
            if message:
                address_problems += problems_where(
                    article.source, article.text, f'"{former_url}"', message
                )
            claimed.setdefault(former_url, article.source)
    return address_problems
