import dataclasses
import gzip
import io
import marshal
import zipfile
from binascii import crc32
from pathlib import Path

import pytest

from builder.core import node
from builder.project.project_file import read_project
from builder.project.python_packages import load_wheels
from builder.runtime import pyodide_stubs
from builder.runtime.archive_format import unpack
from builder.runtime.bundle import build_runtime

ROOT = Path(__file__).parents[3]
GROUPS = load_wheels(read_project(ROOT), ROOT, ROOT / ".cache").groups
ORIGINAL = node.ensure_packages() / "pyodide" / "python_stdlib.zip"


def test_only_these_modules_of_pyodides_archive_are_replaced():
    with zipfile.ZipFile(ORIGINAL) as given:
        before = {name: given.read(name) for name in given.namelist()}
    with zipfile.ZipFile(io.BytesIO(pyodide_stubs.library_with_stubs(ORIGINAL))) as made:
        after = {name: made.read(name) for name in made.namelist()}
    changed = {name for name, data in after.items() if before.get(name) != data}
    assert changed == set(pyodide_stubs.MODULES)
    assert set(before) <= set(after)
    assert set(pyodide_stubs.MODULES) - set(before) == {
        "_records.py"
    }  # the others have a place there


def test_one_step_of_pyodides_script_is_cut_short():
    original = (ORIGINAL.parent / "pyodide.asm.mjs").read_bytes()
    assert original.count(pyodide_stubs.FULL_TABLE) == 1
    assert pyodide_stubs.patch_script(original).count(pyodide_stubs.NEEDED_TABLE) == 1


@pytest.fixture
def records(monkeypatch):
    """The module as a Worker has it."""
    monkeypatch.setattr(dataclasses, "exec", exec, raising=False)
    names = {}
    exec(pyodide_stubs.MODULES["_records.py"], names)
    return names


def test_a_data_class_takes_what_was_compiled_for_its_module(records, tmp_path):
    text = "def made(): return 1"
    other = compile("def made(): return 2", "", "exec")
    (tmp_path / "kept.records").write_bytes(marshal.dumps({crc32(text.encode()): other}))
    names = {}
    dataclasses.exec(text, {"__file__": str(tmp_path / "kept.pyc")}, names)
    assert names["made"]() == 2


@pytest.mark.parametrize("scope", [{"__file__": "/nowhere/module.pyc"}, {}])
def test_a_text_that_nobody_kept_is_compiled(records, scope):
    names = {}
    dataclasses.exec("def made(): return 1", scope, names)
    assert names["made"]() == 1


def test_every_module_with_a_data_class_has_its_codes_beside_it():
    made = build_runtime(ROOT / "engine", ROOT / ".cache", groups=GROUPS)
    archive = made.calculators["gradient_sync"]
    files = unpack(gzip.decompress(made.files[archive]))
    declared = {
        path
        for path in files
        if path.endswith(".pyc") and "@dataclass(" in (ROOT / path[:-1]).read_text("utf-8")
    }
    assert len(declared) > 5
    assert {f"{path.removesuffix('.pyc')}.records" for path in declared} <= set(files)


def test_the_library_has_nothing_that_only_pyodides_own_start_needs():
    made = build_runtime(ROOT / "engine", ROOT / ".cache", groups=GROUPS)
    name = next(name for name in made.files if name.startswith("library-"))
    with zipfile.ZipFile(io.BytesIO(gzip.decompress(made.files[name]))) as library:
        held = set(library.namelist())
    assert not held & {"asyncio/__init__.pyc", "ssl.pyc", "zipfile/__init__.pyc", "tempfile.pyc"}
    assert "traceback.pyc" in held  # tells of a bug
