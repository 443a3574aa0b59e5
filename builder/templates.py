"""The theme's templates, compiled once and kept."""

from functools import cache
from pathlib import Path

import jinja2


class _Absent(jinja2.StrictUndefined):
    """What a template may ask for (`if view.handle`) but never print."""

    def __bool__(self) -> bool:  # type: ignore[override]
        return False


@cache
def templates_of(folder: Path, cache: Path) -> jinja2.Environment:
    """Return the templates of a folder; compiled ones are kept in the cache."""
    # Kept, since compiling templates is most of a small rebuild; changed files are read again.
    compiled = cache / "templates"
    compiled.mkdir(parents=True, exist_ok=True)
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=_Absent,
        bytecode_cache=jinja2.FileSystemBytecodeCache(str(compiled)),
    )
