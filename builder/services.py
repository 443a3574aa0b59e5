"""The slow makers a build calls: typesetter, runtime bundle, figures. Tests bring their own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from builder.bundle import Runtime
from builder.folders import Folders, digest
from builder.maths import Typesetter
from builder.problem import ServiceError
from builder.slim import Slim, Slimmed, as_written
from builder.theme_check import CheckModules, Faults


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


Made = TypeVar("Made")


def _with_node(make: Callable[[], Made]) -> Made:
    """Return what `make` makes with Node's help."""
    from builder import node

    try:
        return make()
    except node.NodeError as error:
        raise ServiceError(str(error)) from error


def of(places: Folders, *, quick: bool = False) -> Services:
    """Return the makers of the real site for the folders of a project."""
    return real(
        places.engine,
        places.theme,
        places.cache,
        places.framework,
        places.groups,
        places.shelf,
        quick=quick,
    )


def real(
    engine: Path,
    theme: Path,
    cache: Path,
    framework: Path | None = None,
    groups: Mapping[str, Mapping[str, bytes]] = MappingProxyType({}),
    shelf: Path | None = None,
    *,
    quick: bool = False,
) -> Services:
    """Return the makers of the real site; each imports what it needs at its first call.

    Args:
        engine: the project's package.
        theme: its theme.
        cache: for what is expensive to make again.
        framework: the generator's own engine, where the project's is another.
        groups: files of packages, by the name that is imported.
        shelf: the cache that projects share, None without one.
        quick: as in `Services`.
    """
    script = Path(__file__).with_name("math.mjs")
    version = digest((script.read_bytes(), (theme / "package-lock.json").read_bytes()))

    def typeset(formulas: list[dict[str, object]]) -> list[dict[str, str]]:
        from builder import node

        answer: Any = _with_node(lambda: node.run(script, formulas))
        return list(answer)

    def runtime(begun: Callable[[], object]) -> Runtime:
        from builder import bundle

        return _with_node(
            lambda: bundle.bundle(engine, cache, framework, groups, shelf, quick=quick, begun=begun)
        )

    def figure(name: str, view: dict[str, Any]) -> dict[str, Any]:
        from builder import figures

        if view["kind"] == "scene":
            return {"frames": view["frames"]}
        return figures.json_item(name, view, (shelf or cache) / "charts")

    def bokeh() -> bytes:
        from builder import figures

        return figures.bokeh_js()

    def draw(charts: Mapping[str, Any]) -> Mapping[str, str]:
        from builder import drawing

        return _with_node(lambda: drawing.draw(theme, charts))

    def search(documents: Mapping[str, str]) -> dict[str, bytes]:
        from builder.search import pagefind

        return pagefind.index(documents)

    return Services(
        typeset=typeset,
        typeset_version=version,
        runtime=runtime,
        figure=figure,
        bokeh=bokeh,
        check_modules=_wrong_modules,
        draw=draw,
        search=search,
        cards=partial(_cards, theme),
        slim=_slim,
        quick=quick,
    )


def _cards(theme: Path, svgs: Mapping[str, str]) -> Mapping[str, bytes]:
    from builder import card, raster

    return raster.pngs(svgs, card.font_files(theme / "fonts"))


def _slim(rooms: Path, texts: Mapping[str, str]) -> Slimmed:
    from builder import slim

    return _with_node(lambda: slim.slimmed(rooms, texts))


def _wrong_modules(texts: Mapping[str, str]) -> Faults:
    from builder import node

    script = Path(__file__).with_name("modules.mjs")
    answer: Any = _with_node(lambda: node.run(script, texts))
    return [(one["name"], one["line"], one["message"]) for one in answer]
