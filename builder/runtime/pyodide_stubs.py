"""Modules that start Python in a fraction of the time, for what a page asks of it.

A Worker starts Python, imports and calls: it waits for no coroutine, installs no package, prints no
help. Pyodide's own modules prepare all of that on every start (asyncio with sockets and TLS,
archives of every kind, signatures of its functions). These take their place in the archive of the
standard library; an engine that imports asyncio or zipfile itself finds the real ones there.

A data class writes its methods as text and compiles it, which takes most of an import in a browser.
The build keeps what was compiled in `NAME.records` beside each module (`inside.py`), and the module
`_records` takes it from there; a text that is not kept is compiled as ever.

Of Pyodide's script one step is cut short: see `script`.
"""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

EPOCH = (1980, 1, 1, 0, 0, 0)
# The core asks for both while it is imported. It uses asyncio for coroutines alone, and traceback
# to tell of a bug: the real one comes then.
FIRST = '''import builtins
import importlib
import sys
from types import ModuleType

from . import _base, _importhook

__all__ = ["_base", "_importhook"]


def set_excepthook():
    """A bug reaches the Worker as an exception; nothing is printed."""


def get_event_loop():
    raise RuntimeError("no coroutine can run here")


class Later(ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(_base.import_module(self.__name__), name)


# What the core runs as text at every start; compiling it would need all of Python's own compiler.
TEXTS = {
    "{}": dict,
    "import importlib; importlib": lambda: importlib,
    "import __main__; __main__.__dict__": lambda: vars(sys.modules["__main__"]),
    "import builtins; builtins.__dict__": lambda: vars(builtins),
}
compiled = _base.eval_code


def eval_code(text, *given, **options):
    return TEXTS[text]() if text in TEXTS else compiled(text, *given, **options)


_base.eval_code = eval_code
sys.modules["asyncio"] = ModuleType("asyncio")
sys.modules["asyncio"].get_event_loop = get_event_loop
sys.modules["traceback"] = Later("traceback")
'''
# A snapshot counts on four objects of JavaScript that are held from the start, in this order; the
# third and the fourth are the namespace once more and what `PACKAGES` imports.
PACKAGE = """import sys

import _records

from . import _state

__version__ = "0"


def held():
    from pyodide_js._api import config


from pyodide_js._api import scheduleCallback

held()
sys.modules.pop("asyncio", None)
"""
DOCSTRING = '''def get_cmeth_docstring(func):
    """The signature of a function of the core, which nobody reads here."""
    return f"{func.__name__}()\\n--\\n\\n"
'''
PACKAGES = '''from site import getsitepackages

from pyodide_js import loadedPackages



class Folder:
    def __init__(self, path):
        self.path = path

    def __str__(self):
        return self.path


SITE_PACKAGES = Folder(getsitepackages()[0])
DSO_DIR = Folder("/usr/lib")


def init_loaded_packages():
    """All that the engine imports comes in its archives."""
'''
RECORDS = """import dataclasses
import marshal
from binascii import crc32

known = {}


def run(text, scope, names):
    file = scope.get("__file__") or ""
    if file not in known:
        known[file] = kept(file.removesuffix(".pyc") + ".records")
    exec(known[file].pop(crc32(text.encode()), text), scope, names)


def kept(path):
    try:
        with open(path, "rb") as opened:
            return marshal.load(opened)
    except OSError:
        return {}


dataclasses.exec = run
"""
MODULES: Mapping[str, str] = MappingProxyType(
    {
        "_records.py": RECORDS,
        "_pyodide/__init__.py": FIRST,
        "_pyodide/docstring.py": DOCSTRING,
        "pyodide/__init__.py": PACKAGE,
        "pyodide/_package_loader.py": PACKAGES,
    }
)

# Pyodide gives all its 7,415 functions a place in the table where one library finds another's. Here
# only those get one that its own wasm asks for; a library that comes later finds the rest by name.
ALL_PLACES = b"updateGOT(origExports);"
ASKED_PLACES = (
    b"updateGOT(Object.fromEntries(Object.keys(GOT).filter(name=>name in origExports)"
    b".map(name=>[name,origExports[name]])));"
)


def script(original: bytes) -> bytes:
    """Return Pyodide's own script with less to do at every start."""
    return original.replace(ALL_PLACES, ASKED_PLACES)


def library(original: Path) -> bytes:
    """Return Pyodide's archive of the standard library with these modules in it."""
    target = io.BytesIO()
    with zipfile.ZipFile(original) as given, zipfile.ZipFile(target, "w") as made:
        for name in dict.fromkeys((*given.namelist(), *MODULES)):
            data = MODULES[name].encode() if name in MODULES else given.read(name)
            made.writestr(zipfile.ZipInfo(name, EPOCH), data)
    return target.getvalue()
