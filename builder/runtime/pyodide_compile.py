"""Runs inside Pyodide under Node, never natively: compile byte code and see what it needs.

`bundle.mjs` executes this file and calls `run`. Byte code must come from the very Python that
will load it, and the modules to ship are those that this Python has loaded in the end.
"""

import base64
import dataclasses
import gc
import importlib
import json
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from builder.runtime.strip_bytecode import RECORDS, byte_code, dotted, noted, records

LIBRARY = next(path for path in sys.path if path.endswith(".zip"))
ROOT = "/wallclock"
OFTEN = ("bisect", "heapq")  # of the standard library: most calculators would bring them along
# Of objects before garbage is looked for: syntax trees are many, and none hang in circles.
SELDOM = (100_000, 50, 1000)


def run(request: str) -> str:
    """Compile, try and list; all data is JSON text.

    Args:
        request: {"sources": {path: text}, "compiled": {path: base64}, "shared": [path],
            "calculators": {name: [path]}, "library": {path: [name]}, "trace": bool, "whole": [path]
            of packages, "asked": [name]}, paths such as "engine/answer.py"; "library" names what a
            module and all that it needs import from the standard library, "asked" calculators that
            have to answer.

    Returns:
        {"compiled": {path: base64} for the sources given, "library": {path: base64} of the
        standard library's loaded modules when tracing, "besides": {name: {path: base64}} of those
        that only a calculator loads, "records": {path: base64} of what data classes have compiled,
        "missing": {calculator or "the engine": module}}.
    """
    gc.set_threshold(*SELDOM)
    given = json.loads(request)
    whole = frozenset(given["whole"])
    compiled = {
        # What others wrote may read its own types and texts.
        path: byte_code(text, path, 0) if path in whole else byte_code(text, path, 2, bare=True)
        for path, text in given["sources"].items()
    }
    known = {path: base64.b64decode(text) for path, text in given["compiled"].items()}
    files = {**known, **compiled}
    vars(dataclasses)["exec"] = noted
    besides: dict[str, dict[str, str]] = {}
    missing = {"the engine": shared({path: files[path] for path in given["shared"]})}
    for name in OFTEN if given["trace"] else ():
        importlib.import_module(name)
    library = dict(loaded()) if given["trace"] else {}
    base = frozenset(sys.modules)
    # Modules with nothing of their own from the library need not be loaded for each calculator.
    plain = frozenset(
        dotted(path) for path, names in given["library"].items() if all(map(is_there, names))
    )
    loaded_before: dict[str, ModuleType] = {}
    for name, paths in given["calculators"].items():
        if missing["the engine"] is None:
            loaded_before |= put_aside(base, plain)
            own = map(dotted, paths)
            bring_back({one: loaded_before[one] for one in own if one in loaded_before})
            here = {path: files[path] for path in paths}
            answers = name in given["asked"] or brings_more(paths, plain)
            trace, how = given["trace"] and answers, ask if answers else declared
            besides[name], missing[name] = tried(name, here, how, trace=trace)
    return json.dumps(
        {
            "compiled": encoded(compiled),
            "library": encoded(library),
            "besides": besides,
            "records": encoded({path: records(path) for path in files if dotted(path) in RECORDS}),
            "missing": {name: lacks for name, lacks in missing.items() if lacks},
        }
    )


def encoded(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the files with their content as base64 text."""
    return {path: base64.b64encode(data).decode() for path, data in files.items()}


def shared(files: Mapping[str, bytes]) -> str | None:
    """Import what every page loads; return the name of a module it lacks, if any."""
    write(files)
    sys.path.insert(0, ROOT)
    try:
        for path in files:
            importlib.import_module(dotted(path))
    except ModuleNotFoundError as error:
        return error.name or str(error)
    return None


def tried(
    name: str, files: Mapping[str, bytes], how: Callable[[str], Any], *, trace: bool
) -> tuple[dict[str, str], str | None]:
    """Try a calculator with its own files and the shared ones, no others.

    Args:
        name: of the calculator.
        files: its own, by path.
        how: what is done with it.
        trace: see which modules of the standard library it loads.

    Returns:
        (these as base64 by path, a module that it lacks or None).
    """
    known = {path for path, _ in listed()} if trace else set()
    written = write(files)
    anew()
    lacks = None
    try:
        how(name)
    except ModuleNotFoundError as error:
        lacks = error.name or str(error)
    fresh = [(path, source) for path, source in listed() if path not in known] if trace else []
    besides = {path: byte_code(get(), path, 2) for path, get in fresh}
    for path in written:
        path.unlink()
    anew()
    importlib.import_module("engine.calculator").load.cache_clear()
    return encoded(besides), lacks


def declared(name: str) -> Any:  # noqa: ANN401 (the engine is imported when it is there)
    """Return what a calculator declares: all that it imports is loaded."""
    return importlib.import_module("engine.calculator").load(name)


def ask(name: str) -> None:
    """Have a calculator answer: at its defaults, or the inputs at which a search is short."""
    calculator = declared(name)
    changed = importlib.import_module("engine.calculator").changed
    values = changed(calculator, calculator.small)
    request = {"calculator": name, "values": values}
    importlib.import_module("engine.answer").answer(json.dumps(request))


def put_aside(stay: Container[str], keep: Container[str]) -> dict[str, ModuleType]:
    """Take all modules away but those that stay, and return those to keep, by name."""
    gone = [name for name in sys.modules if name not in stay]
    for name in gone:
        package, _, last = name.rpartition(".")
        # An attribute that stays would hide from the next calculator that it lacks the module.
        if last in vars(sys.modules.get(package, sys)):
            delattr(sys.modules[package], last)
    taken = {name: sys.modules.pop(name) for name in gone}
    return {name: module for name, module in taken.items() if name in keep}


def bring_back(modules: Mapping[str, ModuleType]) -> None:
    """Put modules in their places again, the attributes of their packages among them."""
    sys.modules.update(modules)
    for name, module in modules.items():
        package, _, last = name.rpartition(".")
        if package in sys.modules:
            setattr(sys.modules[package], last, module)


def brings_more(paths: Iterable[str], plain: frozenset[str]) -> bool:
    """Say whether a calculator imports more of the standard library than what is loaded anyway.

    Only by answering it shows what that imports in turn. Any other one imports, when it answers,
    what its text says and what is there.

    Args:
        paths: of its modules.
        plain: names of modules that import nothing else.
    """
    return not plain.issuperset(map(dotted, paths))


def is_there(name: str) -> bool:
    """Say whether a module, or what is in one, is loaded."""
    package, _, last = name.rpartition(".")
    return name in sys.modules or last in vars(sys.modules.get(package, object))


def write(files: Mapping[str, bytes]) -> list[Path]:
    """Write byte code where it is imported from; return the paths."""
    targets = {
        Path(ROOT, f"{path}c" if path.endswith(".py") else path): data
        for path, data in files.items()
    }
    for target, data in targets.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return list(targets)


def anew() -> None:
    """Look at the folders again, as the Worker does when an archive has arrived."""
    importlib.import_module("engine.core.registry").look_again()


def listed() -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield (path, how to get its source) of every module loaded from the library's archive."""
    paths = sorted(
        {
            file.removeprefix(LIBRARY + "/")
            for file in (getattr(one, "__file__", None) for one in list(sys.modules.values()))
            if file and file.startswith(LIBRARY + "/")
        }
    )
    importer = importlib.import_module("zipimport").zipimporter(LIBRARY)
    for path in paths:
        yield path, partial(importer.get_data, f"{LIBRARY}/{path}")


def loaded() -> Iterator[tuple[str, bytes]]:
    """Yield (path, byte code) of every module loaded from the standard library's archive."""
    for path, source in listed():
        yield path, byte_code(source(), path, 2)
