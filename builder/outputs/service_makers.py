"""The services of a real build: Node, Pagefind and Bokeh, each imported at its first use."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from builder.core.folders import GENERATOR, Folders, digest
from builder.core.problem import ServiceError
from builder.pages.build_services import Services
from builder.runtime.bundle import Runtime
from builder.theme.minify_assets import Slimmed
from builder.theme.theme_checks import Faults

Made = TypeVar("Made")


def _with_node(make: Callable[[], Made]) -> Made:
    """Return what `make` makes with Node's help."""
    from builder.core import node

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
    script = GENERATOR / "builder" / "markdown" / "tex_to_mathml.mjs"
    version = digest((script.read_bytes(), (theme / "package-lock.json").read_bytes()))

    def typeset(formulas: list[dict[str, object]]) -> list[dict[str, str]]:
        from builder.core import node

        answer: Any = _with_node(lambda: node.run(script, formulas))
        return list(answer)

    def runtime(begun: Callable[[], object]) -> Runtime:
        from builder.runtime import bundle

        return _with_node(
            lambda: bundle.bundle(engine, cache, framework, groups, shelf, quick=quick, begun=begun)
        )

    def figure(name: str, view: dict[str, Any]) -> dict[str, Any]:
        from builder.figures import bokeh_documents

        if view["kind"] == "scene":
            return {"frames": view["frames"]}
        return bokeh_documents.json_item(name, view, (shelf or cache) / "charts")

    def bokeh() -> bytes:
        from builder.figures import bokeh_documents

        return bokeh_documents.bokeh_js()

    def draw(charts: Mapping[str, Any]) -> Mapping[str, str]:
        from builder.figures import static_charts

        return _with_node(lambda: static_charts.draw(theme, charts))

    def search(documents: Mapping[str, str]) -> dict[str, bytes]:
        from builder.outputs import pagefind

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
    from builder.figures import social_cards

    return social_cards.pngs(svgs, social_cards.font_files(theme / "fonts"))


def _slim(rooms: Path, texts: Mapping[str, str]) -> Slimmed:
    from builder.theme import minify_assets

    return _with_node(lambda: minify_assets.slimmed(rooms, texts))


def _wrong_modules(texts: Mapping[str, str]) -> Faults:
    from builder.core import node

    script = GENERATOR / "builder" / "theme" / "check_modules.mjs"
    answer: Any = _with_node(lambda: node.run(script, texts))
    return [(one["name"], one["line"], one["message"]) for one in answer]
