"""Incremental rebuilds of the local server, from the results of earlier builds."""

import importlib
import os
import sys
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from builder.core.folders import GENERATOR, Folders
from builder.core.progress import Report, html_pages, pluralize
from builder.serve.local_server import ServedSite

RELOAD = "/_reload.js"
CODE_SUFFIXES = (".py", ".tsv", ".json")
KEPT_MODULES = (
    __name__,
    "builder.serve.serve",
    "builder.serve.local_server",
    "builder.core.node",
)
# Names of the values of `Folders.compute_once` that depend on code alone.
COMPUTED_FROM_CODE = ("keys", "engines", "engine's files")
CONTEXT_LINES, MAX_LINE_WIDTH = 2, 160  # lines shown around a problem, characters of each


class Rebuilder:
    """Incremental builds: reuses earlier results and reloads only code whose behavior changed.

    Cached results are keyed by the code that computed them, so an edit rebuilds only what depends
    on it.

    Attributes:
        cache: the cache of the last build, None where all code has to be imported again.
        entries: its entries before that; None at the first build, which loads the cache file.
        lines_moved: comments have moved the lines of modules that were not imported again.
    """

    def __init__(self, root: Path, repository: str, report: Report) -> None:
        self.root, self.repository, self.report = root, repository, report
        self.cache: Any = None
        self.entries: Mapping[str, tuple[str, bytes]] | None = None
        self.lines_moved = False
        self.package = ""
        self.folders: Folders | None = None
        self.output: Mapping[str, bytes] = {}

    def build(self, site: ServedSite, changed: set[str]) -> None:
        """Build, publish the output, and report the rebuilt pages and the duration."""
        start = time.perf_counter()
        try:
            output, problems = self._build_changed(changed)
        except Exception:  # an error in the engine or a template: shown, the last good pages stay
            problems, output = [traceback.format_exc(limit=-4)], {}
        seconds = time.perf_counter() - start
        if problems:
            for problem in problems:
                self.report(str(problem))
            site.show_problems([with_source_lines(self.root, problem) for problem in problems])
            count = pluralize(len(problems), "problem")
            self.report(f"{count}, {seconds:.2f} s; the last good pages stay")
            return
        files = sorted(n for n, data in output.items() if data != self.output.get(n))
        self.output = output
        site.publish(output, files)
        pages = html_pages(files)
        names = ", ".join(pages) if 0 < len(pages) < 4 else f"{len(pages)} pages"
        self.report(f"rebuilt {names}, {len(files)} files in all, {seconds:.2f} s")

    def prestart_compiler(self) -> None:
        """Start the process that compiles code for the browser before the next save needs it."""
        if self.cache and self.folders:
            (bundle,) = _import_builder("runtime.bundle")
            bundle.warm_up(self.folders.cache, self.folders.shared_cache)

    def _build_changed(self, changed: set[str]) -> tuple[Mapping[str, bytes], list[Any]]:
        content = str(self.root / "content") + os.sep
        if any(Path(path).suffix in CODE_SUFFIXES for path in changed):
            self._reload_changed_code()
        elif not all(path.startswith(content) for path in changed):
            self._activate_again(same_code=all(map(self._is_theme, changed)))
        try:
            output, problems = self._build_once()
        except Exception:
            if not self.lines_moved:
                raise
        else:
            if not (problems and self.lines_moved):
                return output, problems
        self._unload_all_code()  # so that a problem names the lines of the files as they are now
        return self._build_once()

    def _build_once(self) -> tuple[Mapping[str, bytes], list[Any]]:
        activate_project, build_cache, progress, pipeline, project_file, service_makers = (
            _import_builder(
                "project.activate_project",
                "core.build_cache",
                "core.progress",
                "pipeline",
                "project.project_file",
                "outputs.service_makers",
            )
        )
        try:
            self.folders = folders = self.folders or activate_project.activate_project(self.root)
        except project_file.ProjectError as error:
            return {}, list(error.problems)
        self.package = folders.project.engine
        options = progress.Options(
            repository=self.repository or folders.project.repository, drafts=True, reload=RELOAD
        )
        cache, is_first = self._next_cache(build_cache, folders), self.entries is None
        self.cache, self.entries = cache, self.entries or {}
        services = service_makers.project_services(folders, quick=True)
        result = pipeline.build(folders, options, services, cache, self.report)
        if is_first:
            cache.save(build_cache.cache_file(folders))
        return result.output, list(result.problems)

    def _next_cache(self, build_cache: Any, folders: Folders) -> Any:  # noqa: ANN401 (a reloaded module)
        if self.cache:
            return self.cache.for_next_build()
        if self.entries is None:
            return build_cache.load(build_cache.cache_file(folders))
        return build_cache.BuildCache(self.entries)

    def _is_theme(self, path: str) -> bool:
        return any(Path(path).is_relative_to(folder / "theme") for folder in (self.root, GENERATOR))

    def _activate_again(self, *, same_code: bool) -> None:
        """Activate the project again; with the same code, values computed from code are kept."""
        previous, self.folders = self.folders, None
        if previous and same_code:
            (activate_project,) = _import_builder("project.activate_project")
            with suppress(Exception):  # reported by the build, which activates it again
                self.folders = activate_project.activate_project(self.root)
                values = previous.computed
                kept = {name: values[name] for name in COMPUTED_FROM_CODE if name in values}
                self.folders.computed.update(kept)

    def _reload_changed_code(self) -> None:
        """Unload modules whose behavior changed, or all of ours if the builder's changed."""
        activate_project, cache_keys, hot_reload = _import_builder(
            "project.activate_project", "calculators.cache_keys", "serve.hot_reload"
        )
        previous: Any = self.folders.computed.get("keys") if self.folders else None
        try:
            self.folders = folders = activate_project.activate_project(self.root)
            current = cache_keys.CacheKeys(folders)
            modules = (
                hot_reload.changed_modules(previous.imports, current.imports) if previous else None
            )
        except Exception:  # reported by the build, which activates the project again
            modules = None
        if modules is None:
            self._unload_all_code()
            return
        hot_reload.unload_modules(modules, ("engine", self.package))
        self.lines_moved |= hot_reload.have_lines_moved(previous.imports, current.imports, modules)
        folders.compute_once("keys", lambda: current)

    def _unload_all_code(self) -> None:
        """Make the next build import all of our code again."""
        if self.cache:
            self.entries = self.cache.entries()
        unload_packages(("engine", "builder", self.package))
        self.cache = self.folders = None
        self.lines_moved = False


def _import_builder(*names: str) -> tuple[Any, ...]:
    """Return modules of the builder, imported now: a reload replaces them."""
    return tuple(importlib.import_module(f"builder.{name}") for name in names)


def with_source_lines(root: Path, problem: Any) -> str:  # noqa: ANN401 (its class may be reloaded)
    """Return a problem with the source lines around it."""
    message = str(problem)
    file = root / getattr(problem, "path", "")
    if not file.is_file():
        return message
    lines = file.read_text("utf-8", errors="replace").splitlines()
    numbers = range(
        max(1, problem.line - CONTEXT_LINES), min(len(lines), problem.line + CONTEXT_LINES) + 1
    )
    marks = (f"{'>' if number == problem.line else ' '} {number:>4} | " for number in numbers)
    texts = (lines[number - 1][:MAX_LINE_WIDTH] for number in numbers)
    return "\n".join((message, *(mark + text for mark, text in zip(marks, texts, strict=True)), ""))


def unload_packages(packages: tuple[str, ...]) -> None:
    """Remove packages from `sys.modules`, except for the running server."""
    for name in list(sys.modules):
        if name.partition(".")[0] in packages and name not in KEPT_MODULES:
            del sys.modules[name]
    importlib.invalidate_caches()
