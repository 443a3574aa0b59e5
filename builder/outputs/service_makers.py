"""Production services of a build: Node, Pagefind and Bokeh, each imported on first use."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from builder.core.folders import GENERATOR, Folders, digest
from builder.core.problem import ServiceError
from builder.pages.build_services import Services
from builder.runtime.bundle import Runtime
from builder.theme.assets import MinifiedAssets
from builder.theme.theme_checks import ModuleFaults

Result = TypeVar("Result")


def _with_node(make: Callable[[], Result]) -> Result:
    """Return the result of `make`; errors of Node become `ServiceError`."""
    from builder.core import node

    try:
        return make()
    except node.NodeError as error:
        raise ServiceError(str(error)) from error


def project_services(folders: Folders, *, quick: bool = False) -> Services:
    """Return the production services for the folders of a project."""
    return make_services(
        folders.engine,
        folders.theme,
        folders.cache,
        folders.framework,
        folders.groups,
        folders.shared_cache,
        quick=quick,
    )


def make_services(
    engine: Path,
    theme: Path,
    cache: Path,
    framework: Path | None = None,
    groups: Mapping[str, Mapping[str, bytes]] = MappingProxyType({}),
    shelf: Path | None = None,
    *,
    quick: bool = False,
) -> Services:
    """Return the production services; each imports its library on the first call.

    Args:
        engine: folder of the project's package.
        theme: folder of its theme.
        cache: cache folder.
        framework: the generator's own engine, if the project has another.
        groups: files of packages, by import name.
        shelf: cache folder shared by projects, None without one.
        quick: as in `Services`.
    """
    script = GENERATOR / "builder" / "markdown" / "tex_to_mathml.mjs"
    version = digest((script.read_bytes(), (theme / "package-lock.json").read_bytes()))

    def typeset(formulas: list[dict[str, object]]) -> list[dict[str, str]]:
        from builder.core import node

        typeset_formulas: Any = _with_node(lambda: node.run(script, formulas))
        return list(typeset_formulas)

    def runtime(on_started: Callable[[], object]) -> Runtime:
        from builder.runtime import bundle

        return _with_node(
            lambda: bundle.build_runtime(
                engine, cache, framework, groups, shelf, quick=quick, on_started=on_started
            )
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

        return _with_node(lambda: static_charts.draw_charts(theme, charts))

    def search(documents: Mapping[str, str]) -> dict[str, bytes]:
        from builder.outputs import pagefind

        return pagefind.build_index(documents)

    return Services(
        typeset=typeset,
        typeset_version=version,
        runtime=runtime,
        figure=figure,
        bokeh=bokeh,
        check_modules=_check_modules,
        draw=draw,
        search=search,
        cards=partial(_render_cards, theme),
        minify=_minify,
        quick=quick,
    )


def _render_cards(theme: Path, svgs: Mapping[str, str]) -> Mapping[str, bytes]:
    from builder.figures import social_cards

    return social_cards.render_pngs(svgs, social_cards.font_files(theme / "fonts"))


def _minify(folder: Path, texts: Mapping[str, str]) -> MinifiedAssets:
    from builder.theme import assets

    return _with_node(lambda: assets.minify(folder, texts))


def _check_modules(texts: Mapping[str, str]) -> ModuleFaults:
    from builder.core import node

    script = GENERATOR / "builder" / "theme" / "check_modules.mjs"
    faults: Any = _with_node(lambda: node.run(script, texts))
    return [(fault["name"], fault["line"], fault["message"]) for fault in faults]
