"""Assets shared by all pages: style sheets, scripts and the browser runtime, each cached."""

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from threading import Event

from builder.core.build_cache import BuildCache
from builder.core.folders import Folders, digest, digest_of_files
from builder.core.progress import Report, timed_step
from builder.figures import hero_figures
from builder.pages.build_services import Services
from builder.runtime.bundle import Runtime
from builder.runtime.bytecode import BUILD_FILES
from builder.theme import assets, templates
from builder.theme.assets import FOLDER, Shell

RUNTIME = f"{FOLDER}/runtime"
DRAWING_STYLES = "drawn.css"
HEAD_START = 1.0  # seconds
_PENDING = "to come"  # placeholder of a URL that is not known yet


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedAssets:
    """Assets shared by all pages.

    Attributes:
        files: path in the output -> content.
        shell: URLs of the assets that every page loads.
        calculators: calculator -> path of its runtime archive.
        root_scripts: name -> minified script in the site's root folder.
        drawing_styles: CSS of standalone drawings.
    """

    files: Mapping[str, bytes]
    shell: Shell
    root_scripts: Mapping[str, str]
    drawing_styles: str
    calculators: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ThemeSources:
    """Unminified sources of the theme.

    Attributes:
        fonts: name -> (path in the output, content).
        root_scripts: name -> script in the site's root folder.
        texts: name -> text of styles and scripts that no module imports.
        key: digest of these and of the modules.
    """

    fonts: Mapping[str, tuple[str, bytes]]
    root_scripts: Mapping[str, str]
    texts: Mapping[str, str]
    key: str


def _theme_sources(folders: Folders, panel_html: Mapping[str, str]) -> _ThemeSources:
    theme, root_scripts = folders.theme, folders.scripts()
    fonts = assets.fonts(theme)
    texts = {
        **assets.style_sheets(theme, fonts),
        DRAWING_STYLES: hero_figures.drawing_rules(theme / "styles"),
        **root_scripts,
        **templates.panel_styles(panel_html),
    }
    key = digest((digest_of_files(theme / "runtime"), repr(texts)))
    return _ThemeSources(fonts=fonts, root_scripts=root_scripts, texts=texts, key=key)


def _browser_code_digest(folders: Folders) -> str:
    """Return the digest of all code that the browser loads."""
    package_files = (
        part for files in folders.groups.values() for file in files.items() for part in file
    )
    return digest((*map(digest_of_files, folders.engine_packages), *package_files))


class RuntimeBuild:
    """Builds the browser runtime with Node in the background, while Python renders the articles."""

    def __init__(self, folders: Folders, services: Services, cache: BuildCache) -> None:
        key = digest(
            (
                folders.compute_once("engines", partial(_browser_code_digest, folders)),
                services.typeset_version,
                *(path.read_bytes() for path in BUILD_FILES),
            )
        )
        # An author's build may use the readers' runtime, but not the other way round.
        as_sent = not services.quick or cache.has("runtime", key)
        self.key = key if as_sent else digest((key, "quick"))
        started = Event()
        self._memo, self._make = cache, partial(services.runtime, started.set)
        self._future: Future[Runtime] | None = None
        if not cache.has("runtime", self.key):
            self._future = ThreadPoolExecutor(1).submit(self._make)
            self._future.add_done_callback(lambda _: started.set())
            # Two computing threads wait for each other at every file read: without a head start,
            # the request would reach Node a second later.
            started.wait(HEAD_START)

    @property
    def is_ready(self) -> bool:
        """Whether the runtime is available without waiting."""
        return self._future is None or self._future.done()

    def runtime(self) -> Runtime:
        """Return the browser runtime, waiting for it if necessary."""
        begun = self._future
        return self._memo.get("runtime", self.key, begun.result if begun else self._make)


def build_assets(
    folders: Folders,
    services: Services,
    cache: BuildCache,
    runtime_build: RuntimeBuild | None,
    panel_html: Mapping[str, str],
    *,
    readable: bool,
) -> SharedAssets:
    """Return the shared assets, with a placeholder for the runtime, which takes longest.

    Args:
        folders: of the project.
        services: build BokehJS and minify scripts and styles.
        cache: the build cache.
        runtime_build: the background build of the runtime, None if no page has a calculator.
        panel_html: path beside the scripts -> HTML of the panels.
        readable: do not minify scripts and styles.
    """
    folder = folders.theme / "runtime"
    sources = folders.compute_once("wardrobe", partial(_theme_sources, folders, panel_html))
    fonts, root_scripts, texts = sources.fonts, sources.root_scripts, sources.texts
    make = assets.unminified if readable else services.minify
    key = digest((str(readable), sources.key))
    minified = cache.get("scripts and styles", key, lambda: make(folder, texts))
    code, entry, worker = assets.scripts(
        {**minified.modules, **templates.with_styles(panel_html, minified.texts)}
    )
    style, early = minified.texts[assets.MAIN_SHEET], minified.texts.get(assets.EARLY, "")
    sheet = assets.hashed_path(assets.MAIN_SHEET, style.encode())
    conditional_css = {
        name: minified.texts[name] for name in texts if name.startswith(f"{assets.CONDITIONAL}/")
    }
    conditional_paths = {
        name: assets.hashed_path(name.rpartition("/")[2], text.encode())
        for name, text in conditional_css.items()
    }
    early_path = assets.hashed_path(assets.EARLY, early.encode()) if early else ""
    files = {**dict(fonts.values()), sheet: style.encode(), **code}
    files |= {early_path: early.encode()} if early else {}
    files |= {conditional_paths[name]: text.encode() for name, text in conditional_css.items()}
    bokeh = ""
    if runtime_build:
        library = cache.get("bokeh", runtime_build.key, services.bokeh)
        bokeh = assets.hashed_path("bokeh.js", library)
        files[bokeh] = library
    shell = Shell(
        styles=sheet,
        style_text=style,
        early=early_path,
        script=entry,
        worker=worker,
        runtime=_PENDING if runtime_build else "",
        bokeh=bokeh,
        fonts=tuple(where for name, (where, _) in fonts.items() if "-normal" in name),
        conditional_styles=tuple(
            assets.StyleSheet(classes=assets.sheet_classes(texts[name]), address=address)
            for name, address in conditional_paths.items()
        ),
    )
    root_script_texts = {
        name: minified.texts[name] for name in root_scripts if name != assets.EARLY
    }
    return SharedAssets(
        files=files,
        shell=shell,
        root_scripts=root_script_texts,
        drawing_styles=minified.texts[DRAWING_STYLES],
        calculators={},
    )


def add_runtime(shared: SharedAssets, runtime_build: RuntimeBuild, report: Report) -> SharedAssets:
    """Return the shared assets with the runtime's files, waiting for its build if necessary."""
    with timed_step(report, "making the runtime of the live pages"):
        runtime = runtime_build.runtime()
    return replace(
        shared,
        files={
            **shared.files,
            **{f"{RUNTIME}/{name}": content for name, content in runtime.files.items()},
        },
        shell=replace(shared.shell, runtime=f"{RUNTIME}/{runtime.manifest}"),
        calculators={name: f"{RUNTIME}/{file}" for name, file in runtime.calculators.items()},
    )
