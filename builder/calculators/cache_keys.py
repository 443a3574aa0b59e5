"""What made a result: digests of the modules it depends on, so that an edit remakes only that."""

from functools import lru_cache
from pathlib import Path

from builder.calculators import calculator_context
from builder.core.folders import Folders, Stamp, digest, files, stamp
from builder.core.module_imports import Imports
from builder.project import python_packages
from builder.runtime.bundle import engine_sources


class Keys:
    """Digests of our own code; a comment changes none of them."""

    def __init__(self, folders: Folders) -> None:
        read = stamp(path for one in folders.code for path in files(one))
        apart = tuple(f"{engine.name}.calculators" for engine in folders.engines)
        kept, groups = folders.common / "facts.json", folders.groups
        marks = tuple(dict(python_packages.sources(groups)).items())
        named = tuple((name, tuple(files)) for name, files in groups.items())
        self._imports = _imports(folders.code, kept, apart, read, marks, named)
        self._takes = folders.project.takes.rpartition(".")[0].replace(".", "/") + ".py"
        self._known: dict[tuple[str, ...], str] = {}

    @property
    def imports(self) -> Imports:
        """What imports what in all code that pages depend on."""
        return self._imports

    def of(self, *paths: str) -> str:
        """Return the digest of modules such as "builder/pages/page.py" and of all they import."""
        if paths not in self._known:
            self._known[paths] = self._of(paths)
        return self._known[paths]

    def _of(self, paths: tuple[str, ...]) -> str:
        known = (path for path in paths if path in self._imports.sources)
        return digest(self._imports.digest(path) for path in known)

    def calculator(self, name: str) -> str:
        """Return the digest of what the results of a calculator depend on."""
        return self.of(
            calculator_context.source(name), "builder/calculators/calculator_checks.py", self._takes
        )

    def words(self, name: str) -> str:
        """Return the digest of the texts in what the results of a calculator depend on."""
        return self._imports.words(calculator_context.source(name))


@lru_cache(maxsize=2)
def _imports(
    code: tuple[Path, ...],
    kept: Path,
    apart: tuple[str, ...],
    _: Stamp,
    marks: tuple[tuple[str, str], ...],
    groups: tuple[tuple[str, tuple[str, ...]], ...],
) -> Imports:
    sources = {path: text for one in code for path, text in engine_sources(one).items()}
    return Imports({**sources, **dict(marks)}, kept, apart, dict(groups))
