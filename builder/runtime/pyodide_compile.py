"""Compiles byte code and traces imports; runs inside Pyodide under Node, never natively.

`bundle.mjs` executes this file and calls `run`. Byte code must come from the same Python that will
load it, and the modules to ship are those that this Python has loaded at the end.
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

from builder.runtime.strip_bytecode import (
    RECORDS,
    compile_source,
    module_name,
    module_records,
    recording_exec,
)

LIBRARY = next(path for path in sys.path if path.endswith(".zip"))
ROOT = "/wallclock"
COMMON_MODULES = ("bisect", "heapq")  # standard modules that most calculators import
# Garbage-collection thresholds: syntax trees have many objects but no reference cycles.
GC_THRESHOLDS = (100_000, 50, 1000)


def run(request: str) -> str:
    """Compile modules, try calculators and list loaded modules; requests and replies are JSON text.

    Args:
        request: {"sources": {path: text}, "compiled": {path: base64}, "shared": [path],
            "calculators": {name: [path]}, "library": {path: [name]}, "trace": bool, "whole": [path]
            of packages, "asked": [name]}, paths such as "engine/answer.py"; "library" names the
            standard library imports of a module and its dependencies, "asked" the calculators that
            have to answer a request.

    Returns:
        {"compiled": {path: base64} of the sources, "library": {path: base64} of the loaded modules
        of the standard library when tracing, "besides": {name: {path: base64}} of those that only
        one calculator loads, "records": {path: base64} of compiled data-class methods, "missing":
        {calculator or "the engine": module}}.
    """
    gc.set_threshold(*GC_THRESHOLDS)
    data = json.loads(request)
    third_party = frozenset(data["whole"])
    compiled = {
        # Third-party packages may read their own annotations and docstrings.
        path: compile_source(text, path, 0)
        if path in third_party
        else compile_source(text, path, 2, bare=True)
        for path, text in data["sources"].items()
    }
    cached = {path: base64.b64decode(text) for path, text in data["compiled"].items()}
    files = {**cached, **compiled}
    vars(dataclasses)["exec"] = recording_exec
    besides: dict[str, dict[str, str]] = {}
    missing = {"the engine": import_shared({path: files[path] for path in data["shared"]})}
    for name in COMMON_MODULES if data["trace"] else ():
        importlib.import_module(name)
    library = dict(library_bytecode()) if data["trace"] else {}
    preloaded = frozenset(sys.modules)
    # Modules that import nothing more from the library need not be reloaded for each calculator.
    simple = frozenset(
        module_name(path) for path, names in data["library"].items() if all(map(is_loaded, names))
    )
    loaded_before: dict[str, ModuleType] = {}
    for name, paths in data["calculators"].items():
        if missing["the engine"] is None:
            loaded_before |= remove_modules(preloaded, simple)
            own_modules = map(module_name, paths)
            restore_modules(
                {
                    module_path: loaded_before[module_path]
                    for module_path in own_modules
                    if module_path in loaded_before
                }
            )
            own_files = {path: files[path] for path in paths}
            answers = name in data["asked"] or imports_more(paths, simple)
            trace, action = data["trace"] and answers, answer_once if answers else load_calculator
            besides[name], missing[name] = try_calculator(name, own_files, action, trace=trace)
    return json.dumps(
        {
            "compiled": encode_files(compiled),
            "library": encode_files(library),
            "besides": besides,
            "records": encode_files(
                {path: module_records(path) for path in files if module_name(path) in RECORDS}
            ),
            "missing": {name: lacks for name, lacks in missing.items() if lacks},
        }
    )


def encode_files(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the files with base64-encoded contents."""
    return {path: base64.b64encode(data).decode() for path, data in files.items()}


def import_shared(files: Mapping[str, bytes]) -> str | None:
    """Import the shared modules; return the name of a missing module, if any."""
    write_files(files)
    sys.path.insert(0, ROOT)
    try:
        for path in files:
            importlib.import_module(module_name(path))
    except ModuleNotFoundError as error:
        return error.name or str(error)
    return None


def try_calculator(
    name: str, files: Mapping[str, bytes], action: Callable[[str], Any], *, trace: bool
) -> tuple[dict[str, str], str | None]:
    """Load a calculator with only its own and the shared files.

    Args:
        name: of the calculator.
        files: its own, by path.
        action: loads the calculator or has it answer a request.
        trace: report the standard library modules that it loads.

    Returns:
        (path -> base64 of these modules, the name of a missing module or None).
    """
    loaded_before = {path for path, _ in library_modules()} if trace else set()
    written = write_files(files)
    refresh_imports()
    missing = None
    try:
        action(name)
    except ModuleNotFoundError as error:
        missing = error.name or str(error)
    fresh = (
        [(path, source) for path, source in library_modules() if path not in loaded_before]
        if trace
        else []
    )
    besides = {path: compile_source(get(), path, 2) for path, get in fresh}
    for path in written:
        path.unlink()
    refresh_imports()
    importlib.import_module("engine.calculator").load.cache_clear()
    return encode_files(besides), missing


def load_calculator(name: str) -> Any:  # noqa: ANN401 (the engine is imported when it is there)
    """Return a calculator's declaration, which loads all its imports."""
    return importlib.import_module("engine.calculator").load(name)


def answer_once(name: str) -> None:
    """Have a calculator answer at its defaults, or at its small inputs where a search is long."""
    calculator = load_calculator(name)
    changed_inputs = importlib.import_module("engine.calculator").changed_inputs
    values = changed_inputs(calculator, calculator.small)
    request = {"calculator": name, "values": values}
    importlib.import_module("engine.answer").answer(json.dumps(request))


def remove_modules(stay: Container[str], keep: Container[str]) -> dict[str, ModuleType]:
    """Remove all loaded modules except `stay`; return those named in `keep`."""
    names = [name for name in sys.modules if name not in stay]
    for name in names:
        package, _, last = name.rpartition(".")
        # An attribute left on the package would hide a missing module from the next calculator.
        if last in vars(sys.modules.get(package, sys)):
            delattr(sys.modules[package], last)
    removed = {name: sys.modules.pop(name) for name in names}
    return {name: module for name, module in removed.items() if name in keep}


def restore_modules(modules: Mapping[str, ModuleType]) -> None:
    """Restore modules and the attributes of their packages."""
    sys.modules.update(modules)
    for name, module in modules.items():
        package, _, last = name.rpartition(".")
        if package in sys.modules:
            setattr(sys.modules[package], last, module)


def imports_more(paths: Iterable[str], simple: frozenset[str]) -> bool:
    """Say whether a calculator imports standard library modules that are not loaded yet.

    Only answering a request reveals the imports of those in turn.

    Args:
        paths: of its modules.
        simple: names of modules that import no others.
    """
    return not simple.issuperset(map(module_name, paths))


def is_loaded(name: str) -> bool:
    """Say whether a module, or an attribute of one, is loaded."""
    package, _, last = name.rpartition(".")
    return name in sys.modules or last in vars(sys.modules.get(package, object))


def write_files(files: Mapping[str, bytes]) -> list[Path]:
    """Write byte code to the import root; return the paths."""
    targets = {
        Path(ROOT, f"{path}c" if path.endswith(".py") else path): data
        for path, data in files.items()
    }
    for target, data in targets.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return list(targets)


def refresh_imports() -> None:
    """Refresh the import caches, as the Worker does when an archive has arrived."""
    importlib.import_module("engine.core.registry").look_again()


def library_modules() -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield (path, function that reads its source) of every loaded standard library module."""
    paths = sorted(
        {
            file.removeprefix(LIBRARY + "/")
            for file in (getattr(module, "__file__", None) for module in list(sys.modules.values()))
            if file and file.startswith(LIBRARY + "/")
        }
    )
    importer = importlib.import_module("zipimport").zipimporter(LIBRARY)
    for path in paths:
        yield path, partial(importer.get_data, f"{LIBRARY}/{path}")


def library_bytecode() -> Iterator[tuple[str, bytes]]:
    """Yield (path, byte code) of every loaded standard library module."""
    for path, source in library_modules():
        yield path, compile_source(source(), path, 2)
