"""Short replacements of Pyodide modules, which start Python in a fraction of the time.

A Worker starts Python, imports and calls: it awaits no coroutine, installs no package and prints no
help. Pyodide's own modules prepare all of that on every start (asyncio with sockets and TLS,
archive formats, function signatures). These stubs replace them in the archive of the standard
library; an engine that imports asyncio or zipfile itself finds the real modules there.

A data class generates its methods as text and compiles it, which takes most of an import in a
browser. The build stores the compiled methods in `NAME.records` beside each module
(`pyodide_compile.py`), and the module `_records` loads them; text without a record is compiled.

`patch_script` shortens one step of Pyodide's own script.
"""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

EPOCH = (1980, 1, 1, 0, 0, 0)
# Pyodide's core imports both modules. It uses asyncio only for coroutines, and traceback only to
# report an exception: the real module is imported then.
CORE_MODULE = '''import builtins
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
# A snapshot expects four JavaScript objects to be referenced from the start, in this order; the
# third and the fourth are the namespace again and the import of `PACKAGE_LOADER`.
PYODIDE_MODULE = """import sys

import _records

from . import _state

__version__ = "0"


def held():
    from pyodide_js._api import config


from pyodide_js._api import scheduleCallback

held()
sys.modules.pop("asyncio", None)
"""
DOCSTRING_MODULE = '''def get_cmeth_docstring(func):
    """The signature of a function of the core, which nobody reads here."""
    return f"{func.__name__}()\\n--\\n\\n"
'''
PACKAGE_LOADER = '''from site import getsitepackages

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
RECORDS_MODULE = """import dataclasses
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
        "_records.py": RECORDS_MODULE,
        "_pyodide/__init__.py": CORE_MODULE,
        "_pyodide/docstring.py": DOCSTRING_MODULE,
        "pyodide/__init__.py": PYODIDE_MODULE,
        "pyodide/_package_loader.py": PACKAGE_LOADER,
    }
)

# Pyodide enters all its 7,415 functions in the table through which libraries call each other. The
# patch enters only those that its own wasm needs; a library loaded later finds the others by name.
FULL_TABLE = b"updateGOT(origExports);"
NEEDED_TABLE = (
    b"updateGOT(Object.fromEntries(Object.keys(GOT).filter(name=>name in origExports)"
    b".map(name=>[name,origExports[name]])));"
)


def patch_script(original: bytes) -> bytes:
    """Return Pyodide's script with the shorter function table."""
    return original.replace(FULL_TABLE, NEEDED_TABLE)


def library_with_stubs(original: Path) -> bytes:
    """Return Pyodide's archive of the standard library with the stubs in it."""
    target = io.BytesIO()
    with zipfile.ZipFile(original) as original_zip, zipfile.ZipFile(target, "w") as new_zip:
        for name in dict.fromkeys((*original_zip.namelist(), *MODULES)):
            data = MODULES[name].encode() if name in MODULES else original_zip.read(name)
            new_zip.writestr(zipfile.ZipInfo(name, EPOCH), data)
    return target.getvalue()
