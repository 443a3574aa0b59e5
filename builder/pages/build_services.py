"""The services that a build calls: typesetter, runtime bundle, charts. Tests bring their own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from builder.markdown.tex_to_mathml import Typesetter
from builder.runtime.bundle import Runtime
from builder.theme.minify_assets import Slim, as_written
from builder.theme.theme_checks import CheckModules


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What is made outside the builder.

    Attributes:
        typeset: TeX -> MathML for a list, in one call.
        typeset_version: digest of what typesets; another one empties the cache.
        runtime: (what to call when Node has begun) -> the live runtime.
        figure: (name, view JSON) -> Bokeh document as JSON data.
        bokeh: () -> BokehJS.
        draw: name -> {"view", "spoken"} of charts to name -> SVG, in one call.
        check_modules: name -> text of all JavaScript modules in, (name, line, message) of those
            that no browser could read out.
        search: path -> HTML of what can be found to the files of the search.
        cards: name -> SVG of social cards to name -> PNG, in one call.
        slim: scripts and styles to what is sent.
        quick: the runtime is for an author who waits, not for readers.
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
    slim: Slim = as_written
    quick: bool = False


_LISTING = ("home", "path")  # kinds of pages that show what stands on others
