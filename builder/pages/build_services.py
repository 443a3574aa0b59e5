"""External services of a build: typesetter, runtime bundler, charts; tests use fakes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from builder.markdown.tex_to_mathml import Typesetter
from builder.runtime.bundle import Runtime
from builder.theme.assets import Minifier, unminified
from builder.theme.theme_checks import CheckModules


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Functions that call Node, Bokeh, Pagefind and other external programs.

    Attributes:
        typeset: TeX -> MathML for a list, in one call.
        typeset_version: digest of the typesetter; a new version starts an empty cache.
        runtime: (callback for when Node has started) -> the browser runtime.
        figure: (name, view JSON) -> Bokeh document as JSON data.
        bokeh: () -> BokehJS.
        draw: name -> {"view", "spoken"} of charts to name -> SVG, in one call.
        check_modules: name -> text of all JavaScript modules to (name, line, message) of syntax
            errors.
        search: path -> HTML of search documents to the files of the search index.
        cards: name -> SVG of social cards to name -> PNG, in one call.
        minify: minifies scripts and styles.
        quick: the runtime is for an author's local build, not for readers.
    """

    typeset: Typesetter
    typeset_version: str
    runtime: Callable[[Callable[[], object]], Runtime]
    figure: Callable[[str, dict[str, Any]], dict[str, Any]]
    bokeh: Callable[[], bytes]
    draw: Callable[[Mapping[str, Any]], Mapping[str, str]]
    check_modules: CheckModules = lambda _: []
    search: Callable[[Mapping[str, str]], dict[str, bytes]] = lambda _: {}
    cards: Callable[[Mapping[str, str]], Mapping[str, bytes]] = lambda _: {}
    minify: Minifier = unminified
    quick: bool = False
