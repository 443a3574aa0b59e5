"""Cache keys: digests of the modules that a result depends on."""

from functools import lru_cache
from pathlib import Path

from builder.calculators import calculator_context
from builder.core.folders import FileStamps, Folders, digest, file_stamps, files
from builder.core.module_imports import ImportGraph
from builder.project import python_packages
from builder.runtime.bundle import engine_sources


class CacheKeys:
    """Digests of our own code, independent of comments."""

    def __init__(self, folders: Folders) -> None:
        stamps = file_stamps(path for folder in folders.code for path in files(folder))
        calculator_packages = tuple(
            f"{engine.name}.calculators" for engine in folders.engine_packages
        )
        cache_path, groups = folders.shared_or_own_cache / "facts.json", folders.groups
        packages = tuple(dict(python_packages.package_sources(groups)).items())
        group_paths = tuple((name, tuple(files)) for name, files in groups.items())
        self._imports = _import_graph(
            folders.code, cache_path, calculator_packages, stamps, packages, group_paths
        )
        self._takes = folders.project.takes.rpartition(".")[0].replace(".", "/") + ".py"
        self._known: dict[tuple[str, ...], str] = {}

    @property
    def imports(self) -> ImportGraph:
        """The import graph of all code that pages depend on."""
        return self._imports

    def digest_of(self, *paths: str) -> str:
        """Return the digest of modules such as "builder/pages/page.py" and of all their imports."""
        if paths not in self._known:
            self._known[paths] = self._compute_digest(paths)
        return self._known[paths]

    def _compute_digest(self, paths: tuple[str, ...]) -> str:
        known = (path for path in paths if path in self._imports.sources)
        return digest(self._imports.digest(path) for path in known)

    def calculator(self, name: str) -> str:
        """Return the digest of the code that a calculator's results depend on."""
        return self.digest_of(
            calculator_context.source_path(name),
            "builder/calculators/calculator_checks.py",
            self._takes,
        )

    def calculator_texts(self, name: str) -> str:
        """Return the digest of the string constants in the code that a calculator depends on."""
        return self._imports.texts_digest(calculator_context.source_path(name))


@lru_cache(maxsize=2)
def _import_graph(
    code: tuple[Path, ...],
    cache_path: Path,
    calculator_packages: tuple[str, ...],
    _: FileStamps,
    packages: tuple[tuple[str, str], ...],
    groups: tuple[tuple[str, tuple[str, ...]], ...],
) -> ImportGraph:
    sources = {path: text for folder in code for path, text in engine_sources(folder).items()}
    return ImportGraph({**sources, **dict(packages)}, cache_path, calculator_packages, dict(groups))
