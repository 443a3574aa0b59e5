"""What a save has changed is built again, by what earlier builds of this process left."""

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
from builder.core.progress import Report, count_of, pages_among
from builder.serve.local_server import Host

RELOAD = "/_reload.js"
CODE = (".py", ".tsv")
STAYING = (__name__, "builder.serve.serve", "builder.serve.local_server", "builder.core.node")
OF_CODE = ("keys", "engines", "engine's files")  # what `Folders.once` makes of code alone
AROUND, WIDEST = 2, 160  # lines shown around a problem, characters of each


class Rebuilder:
    """Holds what earlier builds made; imports code of ours again when it does something else.

    What was made is remembered by the code that made it, so an edit remakes only what it concerns.

    Attributes:
        memo: the memory of the last build, None where all code has to be imported again.
        kept: what the memory held before that; None at the first build, which looks in the cache.
        behind: comments have moved the lines of modules that were not imported again.
    """

    def __init__(self, root: Path, repository: str, report: Report) -> None:
        self.root, self.repository, self.report = root, repository, report
        self.memo: Any = None
        self.kept: Mapping[str, tuple[str, bytes]] | None = None
        self.behind = False
        self.package = ""
        self.places: Folders | None = None
        self.before: Mapping[str, bytes] = {}

    def build(self, host: Host, changed: set[str]) -> None:
        """Build, hand the result to the host, and say what was rebuilt and how long it took."""
        began = time.perf_counter()
        try:
            output, problems = self._built(changed)
        except Exception:  # an error in the engine or a template: shown, the last good pages stay
            problems, output = [traceback.format_exc(limit=-4)], {}
        took = time.perf_counter() - began
        if problems:
            for problem in problems:
                self.report(str(problem))
            host.show_problems([quoted(self.root, problem) for problem in problems])
            count = count_of(len(problems), "problem")
            self.report(f"{count}, {took:.2f} s; the last good pages stay")
            return
        pages = sorted(n for n, data in output.items() if data != self.before.get(n))
        self.before = output
        host.publish(output, pages)
        html = pages_among(pages)
        shown = ", ".join(html) if 0 < len(html) < 4 else f"{len(html)} pages"
        self.report(f"rebuilt {shown}, {len(pages)} files in all, {took:.2f} s")

    def make_ready(self) -> None:
        """Begin now what the next save of code would wait for."""
        if self.memo and self.places:
            (bundle,) = _ours("bundle")
            bundle.make_ready(self.places.cache, self.places.shelf)

    def _built(self, changed: set[str]) -> tuple[Mapping[str, bytes], list[Any]]:
        texts = str(self.root / "content") + os.sep
        if any(Path(path).suffix in CODE for path in changed):
            self._renew()
        elif not all(path.startswith(texts) for path in changed):
            self._enter_again(code_stands=all(map(self._is_theme, changed)))
        try:
            output, problems = self._once()
        except Exception:
            if not self.behind:
                raise
        else:
            if not (problems and self.behind):
                return output, problems
        self._leave()  # so that a problem is told with the lines as they are now
        return self._once()

    def _once(self) -> tuple[Mapping[str, bytes], list[Any]]:
        enter, memo, options, pipeline, project_file, services = _ours(
            "enter", "memo", "options", "pipeline", "project_file", "services"
        )
        try:
            self.places = places = self.places or enter.enter(self.root)
        except project_file.ProjectError as error:
            return {}, list(error.problems)
        self.package = places.project.engine
        given = options.Options(
            repository=self.repository or places.project.repository, drafts=True, reload=RELOAD
        )
        memory, first = self._memory(memo, places), self.kept is None
        self.memo, self.kept = memory, self.kept or {}
        built = pipeline.build(places, given, services.of(places, quick=True), memory, self.report)
        if first:
            memory.save(memo.place(places))
        return built.output, list(built.problems)

    def _memory(self, memo: Any, places: Folders) -> Any:  # noqa: ANN401 (a module, of it a Memo)
        if self.memo:
            return self.memo.next()
        return memo.load(memo.place(places)) if self.kept is None else memo.Memo(self.kept)

    def _is_theme(self, path: str) -> bool:
        return any(Path(path).is_relative_to(one / "theme") for one in (self.root, GENERATOR))

    def _enter_again(self, *, code_stands: bool) -> None:
        """Enter the project again; of code that stands as it was, what is known of it stays."""
        before, self.places = self.places, None
        if before and code_stands:
            (enter,) = _ours("enter")
            with suppress(Exception):  # told by the build, which enters again
                self.places = enter.enter(self.root)
                known = {name: before.still[name] for name in OF_CODE if name in before.still}
                self.places.still.update(known)

    def _renew(self) -> None:
        """Have imported again what does something else now, or all of ours if the builder does."""
        enter, keys, renewal = _ours("enter", "keys", "renewal")
        before: Any = self.places.still.get("keys") if self.places else None
        try:
            self.places = places = enter.enter(self.root)
            now = keys.Keys(places)
            again = renewal.concerned(before.imports, now.imports) if before else None
        except Exception:  # told by the build, which enters again
            again = None
        if again is None:
            self._leave()
            return
        renewal.forget(again, ("engine", self.package))
        self.behind |= renewal.shifted(before.imports, now.imports, again)
        places.once("keys", lambda: now)

    def _leave(self) -> None:
        """Have all of ours imported again."""
        if self.memo:
            self.kept = self.memo.kept()
        forget(("engine", "builder", self.package))
        self.memo = self.places = None
        self.behind = False


def _ours(*names: str) -> tuple[Any, ...]:
    """Return modules of the builder as they are imported now, which is not for ever."""
    return tuple(importlib.import_module(f"builder.{name}") for name in names)


def quoted(root: Path, problem: Any) -> str:  # noqa: ANN401 (of this code or of what was read again)
    """Return a problem with the lines of the file that it is about."""
    said = str(problem)
    file = root / getattr(problem, "path", "")
    if not file.is_file():
        return said
    lines = file.read_text("utf-8", errors="replace").splitlines()
    shown = range(max(1, problem.line - AROUND), min(len(lines), problem.line + AROUND) + 1)
    marks = (f"{'>' if number == problem.line else ' '} {number:>4} | " for number in shown)
    texts = (lines[number - 1][:WIDEST] for number in shown)
    return "\n".join((said, *(mark + text for mark, text in zip(marks, texts, strict=True)), ""))


def forget(packages: tuple[str, ...]) -> None:
    """Make the next import of these packages read their files again; what serves stays."""
    for name in list(sys.modules):
        if name.partition(".")[0] in packages and name not in STAYING:
            del sys.modules[name]
    importlib.invalidate_caches()
