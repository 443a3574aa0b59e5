"""The wheels of the library and of the generator, which the site serves under `packages/`.

`pip install --find-links ADDRESS/packages/` finds them, and so does Python in a browser.
"""

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from builder.core.build_cache import BuildCache
from builder.core.folders import Folders, digest, digest_of_files

FOLDER = "packages/"
_EXPORTS = "library/package.py"


def output_files(folders: Folders, cache: BuildCache) -> Mapping[str, bytes]:
    """Return path in the output -> content; nothing for a project without a library."""
    root = folders.engine.parent
    if not (folders.engine / _EXPORTS).is_file() or not (root / "pyproject.toml").is_file():
        return {}
    texts = (root / name for name in ("pyproject.toml", "LICENSE"))
    code = (digest_of_files(root / name, "*.*") for name in ("engine", "builder", "theme"))
    key = digest((*code, *(path.read_bytes() for path in texts if path.is_file())))
    wheels: dict[str, bytes] = cache.get(
        "wheels", key, lambda: dict(build_wheels(root, root / "builder"))
    )
    return {FOLDER + name: wheel for name, wheel in wheels.items()} | {
        f"{FOLDER}index.html": _index(sorted(wheels)).encode()
    }


def build_wheels(*projects: Path) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the wheel of each folder with a pyproject.toml."""
    from hatchling.builders.wheel import WheelBuilder

    with tempfile.TemporaryDirectory() as folder:
        for project in projects:
            for path in WheelBuilder(str(project)).build(directory=folder, versions=["standard"]):
                yield Path(path).name, Path(path).read_bytes()


def _index(names: list[str]) -> str:
    links = "".join(f'<li><a href="{name}">{name}</a></li>' for name in names)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Packages</title>'
        f"<h1>Packages</h1><ul>{links}</ul></html>\n"
    )
