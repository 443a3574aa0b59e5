"""The runtime a reader's browser loads: Pyodide, a trimmed compiled library, the engine in parts.

One part answers requests, whatever they are about; each calculator has a part with all else that it
needs, which a page fetches when the calculator is first used. A module that several calculators
import is in the part of each: so no part depends on which other calculators there are.

Pyodide's own archive of the standard library holds source only. Compiled by the same Python and
cut down to what the engine loads, it starts in less than half of the time.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType

from builder.core import node
from builder.core.folders import seal, sealed, stamp
from builder.core.module_imports import Imports
from builder.core.process_pool import at_once
from builder.project import python_packages
from builder.runtime import pyodide_stubs
from builder.runtime.archive_format import SMALL, SMALLEST, Files, key, zipped
from builder.runtime.bytecode import Compiled, byte_code
from builder.runtime.bytecode import make_ready as make_pyodide_ready

LEAF = "calculator"
Groups = Mapping[str, Mapping[str, bytes]]
HOME = "engine/core/active_project.py"
# Whether quickly compressed -> file of the cache -> archive, of the last build of this process:
# while an author writes, a save changes a few of many.
_held: Mapping[bool, dict[Path, bytes]] = MappingProxyType({True: {}, False: {}})


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """The live runtime; names carry a hash of the content.

    Attributes:
        files: file name -> content.
        manifest: the file that names the parts that every page loads.
        calculators: calculator -> the file that holds what only it needs.
    """

    files: Files
    manifest: str
    calculators: Mapping[str, str]


def bundle(
    engine: Path,
    cache: Path,
    framework: Path | None = None,
    groups: Groups = MappingProxyType({}),
    shelf: Path | None = None,
    *,
    quick: bool = False,
    begun: Callable[[], object] = node.unheard,
) -> Runtime:
    """Return the live runtime.

    Args:
        engine: the folder of the project's package, which holds the calculators.
        framework: the generator's package `engine`, None where that is the project's.
        cache: a folder for what is expensive to make again (Pyodide takes seconds, an unchanged
            engine nothing).
        groups: files of packages, by the name that is imported.
        shelf: another such folder, which several projects share: all that lies there bears the
            digest of what it was made from. None for the cache.
        quick: compress less what is new, as `zipped` does.
        begun: called when Pyodide has been asked what it is to answer, if it is.

    Raises:
        node.NodeError: the engine fails inside Pyodide, or Node is not usable.
    """
    pyodide = node.ensure_packages() / "pyodide"
    folder = _folder(cache, shelf)
    folder.mkdir(parents=True, exist_ok=True)
    texts = {**(engine_sources(framework) if framework else {}), **engine_sources(engine)}
    texts[HOME] = _home(texts[HOME], engine.name)
    apart = tuple(f"{one.name}.calculators" for one in (engine, framework) if one)
    calculators = _calculators(texts, f"{engine.name}/calculators/")
    texts |= dict(python_packages.sources(groups))
    sources = Imports(texts, (shelf or cache) / "facts.json", apart, groups)
    given = {path: data for files in groups.values() for path, data in files.items()}
    made = byte_code(sources, calculators, folder, given, _held[quick], begun)
    sources.save()
    pack = partial(packed, folder=folder, quick=quick)
    shared = partial(pack, level=SMALLEST)
    # The large ones are compressed here and unpacked by the Worker, so that a host which
    # compresses nothing sends no more bytes; .bin, so that no host takes them for an encoding.
    parts = {
        "loader": ("pyodide", ".js", (pyodide / "pyodide.mjs").read_bytes()),
        "module": (
            "pyodide.asm",
            ".js",
            pyodide_stubs.script((pyodide / "pyodide.asm.mjs").read_bytes()),
        ),
        "wasm": ("python", ".bin", shared((pyodide / "pyodide.asm.wasm").read_bytes())),
        "library": ("library", ".bin", shared(made.library)),
        "engine": ("engine", ".bin", shared(made.shared)),
    }
    names = {part: _hashed(*named) for part, named in parts.items()}
    own = held_now(made, pack, _held[quick])
    own_names = {name: _hashed(name, ".bin", data) for name, data in own.items()}
    manifest = json.dumps({**names, "lock": _lock(pyodide)}, sort_keys=True).encode()
    manifest_name = _hashed("runtime", ".json", manifest)
    files = {names[part]: content for part, (_, _, content) in parts.items()}
    files |= {own_names[name]: content for name, content in own.items()}
    return Runtime(
        files={**files, manifest_name: manifest}, manifest=manifest_name, calculators=own_names
    )


def held_now(made: Compiled, pack: Callable[[bytes], bytes], held: dict[Path, bytes]) -> Files:
    """Return calculator -> its archive, compressed; from now on, these are held."""
    fresh = dict(zip(made.calculators, at_once(pack, [*made.calculators.values()]), strict=True))
    own = {n: fresh[n] if n in fresh else held[file] for n, file in made.files.items()}
    held.clear()
    held.update({file: own[name] for name, file in made.files.items()})
    return own


def make_ready(cache: Path, shelf: Path | None) -> None:
    """Begin what does not depend on what will have changed; arguments as of `bundle`."""
    make_pyodide_ready(_folder(cache, shelf))


def _folder(cache: Path, shelf: Path | None) -> Path:
    return (shelf or cache) / "runtime"


def _home(text: str, package: str) -> str:
    """Return the module that names the project's package."""
    return text.replace('"engine.calculators"', f'"{package}.calculators"')


def _calculators(sources: Mapping[str, str], rooms: str) -> dict[str, str]:
    """Return name -> path of every calculator, NAME.py or NAME/calculator.py in a room."""
    found = {}
    for path in sources:
        folder, _, name = path.removesuffix(".py").rpartition("/")
        if name == LEAF and path.startswith(rooms):
            found[folder.rpartition("/")[2]] = path
        elif path.startswith(rooms) and f"{folder}/{LEAF}.py" not in sources and name[0] != "_":
            found[name] = path
    return found


def engine_sources(engine: Path) -> dict[str, str]:
    """Return the engine's source files: path such as "engine/answer.py" -> text, sorted.

    A module that reads a table beside it holds its text instead: there is no folder to read there.
    """
    found = (path for path in sorted(engine.rglob("*.py")) if path.name != "__main__.py")
    return {path.relative_to(engine.parent).as_posix(): _source(path) for path in found}


def _source(path: Path) -> str:
    table = path.with_suffix(".tsv")
    if table.is_file():
        return f"TEXT = {table.read_text('utf-8')!r}\n"
    return _read(*stamp([path])[0])


@lru_cache(maxsize=1 << 12)
def _read(path: Path, _date: int, _size: int) -> str:
    """Return the text of a module: most are as they were when they were read before."""
    return path.read_text("utf-8")


def _lock(packages: Path) -> str:
    """Return Pyodide's lock file without the packages, none of which is ever loaded."""
    lock = json.loads((packages / "pyodide-lock.json").read_text("utf-8"))
    return json.dumps({"info": lock["info"], "packages": {}}, sort_keys=True)


def _hashed(stem: str, suffix: str, content: bytes) -> str:
    return f"{stem}-{key(content)}{suffix}"


def packed(data: bytes, folder: Path, *, quick: bool = False, level: int = SMALL) -> bytes:
    """Return the data compressed; ten megabytes take a second, so the result is kept."""
    name = key(data, str(level))
    kept = {False: folder / f"{name}.gz", True: folder / f"{name}.quick"}
    packed = sealed(kept[False]) or (sealed(kept[True]) if quick else None)
    if packed is None:
        packed = zipped(data, quick=quick, level=level)
        seal(kept[quick], packed)
    return packed
