"""What made a result: digests of the modules it depends on, so that an edit remakes only that."""

from collections.abc import Iterable

from builder import live
from builder.bundle import engine_sources
from builder.folders import Folders, digest
from builder.imports import Imports


class Keys:
    """Digests of our own code; a comment changes none of them."""

    def __init__(self, folders: Folders) -> None:
        sources = {path: text for one in folders.code for path, text in engine_sources(one).items()}
        self._imports = Imports(sources, folders.cache / "imports.json")

        self._known: dict[tuple[str, ...], str] = {}

    def of(self, *paths: str) -> str:
        """Return the digest of these modules, such as "builder/page.py", and all they import."""
        if paths not in self._known:
            self._known[paths] = self._of(paths)
        return self._known[paths]

    def _of(self, paths: tuple[str, ...]) -> str:
        known = (path for path in paths if path in self._imports.sources)
        return digest(self._imports.digest(path) for path in known)

    def calculator(self, name: str) -> str:
        """Return the digest of what the results of a calculator depend on."""
        return self.of(live.source(name), "builder/live.py")

    def named(self, text: str, names: Iterable[str]) -> str:
        """Return the digest of the calculators that a text may show."""
        return digest(self.calculator(name) for name in names if name in text)
