import base64
import py_compile
import sys

import pytest

from builder.core import node
from builder.core.module_imports import ImportGraph
from builder.runtime import pyodide_compile
from builder.runtime.bundle import compress_cached
from builder.runtime.bytecode import compile_archives, plan_archives

SOURCES = {
    "engine/__init__.py": "",
    "engine/answer.py": "import json",
    "engine/formulas/__init__.py": "",
    "engine/formulas/ring.py": "x = 1",
    "engine/calculators/__init__.py": "",
    "engine/calculators/lab.py": "from engine.formulas import ring",
}
LAB = {"lab": "engine/calculators/lab.py"}
# A calculator of a page yet to come, which shares a formula and brings a module of its own.
MORE = {
    "engine/formulas/tree.py": "import fractions",
    "engine/calculators/other.py": "from engine.formulas import ring, tree",
}


def test_another_calculator_changes_no_file_of_a_page_without_it(tmp_path):
    before = plan_archives(ImportGraph(SOURCES), LAB, tmp_path)
    both = {**LAB, "other": "engine/calculators/other.py"}
    after = plan_archives(ImportGraph({**SOURCES, **MORE}), both, tmp_path)
    assert (after.library_file, after.shared_file, after.own_files["lab"]) == (
        before.library_file,
        before.shared_file,
        before.own_files["lab"],
    )


def test_an_edit_of_a_calculator_changes_only_its_own_file(tmp_path):
    before = plan_archives(ImportGraph(SOURCES), LAB, tmp_path)
    edited = {**SOURCES, "engine/calculators/lab.py": "from engine.formulas import ring\ny = 2"}
    after = plan_archives(ImportGraph(edited), LAB, tmp_path)
    assert after.shared_file == before.shared_file
    assert after.own_files["lab"] != before.own_files["lab"]


def test_a_calculators_part_holds_what_answering_does_not_need_anyway(tmp_path):
    found = plan_archives(ImportGraph(SOURCES), LAB, tmp_path)
    assert "engine/formulas/ring.py" in found.own_modules["lab"]
    assert "engine/answer.py" not in found.own_modules["lab"]


def as_pyodide(script, start, ahead="", begun=node.no_callback):
    """Return the reply of pyodide_compile.py without Pyodide, with sources as byte code."""
    begun()
    asked = start["request"]
    fresh = {path: base64.b64encode(text.encode()) for path, text in asked["sources"].items()}
    library = {"json.py": base64.b64encode(b"json")} if asked["trace"] else {}
    return {
        "compiled": {path: data.decode() for path, data in fresh.items()},
        "library": {path: data.decode() for path, data in library.items()},
        "besides": {name: {} for name in asked["calculators"]},
        "records": {},
        "missing": {},
    }


def test_a_module_that_a_page_lacks_is_named(tmp_path, monkeypatch):
    (tmp_path / "a.py").write_text("import lacking_here")
    py_compile.compile(str(tmp_path / "a.py"), str(tmp_path / "a.pyc"))
    monkeypatch.setattr(pyodide_compile, "ROOT", str(tmp_path / "page"))
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert pyodide_compile.import_shared(
        {"begun_by_a_page.py": (tmp_path / "a.pyc").read_bytes()}
    ) == ("lacking_here")


def truncated(data):
    return data[: len(data) // 2]


def with_other_bytes(data):
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.parametrize("damaged", [truncated, with_other_bytes, lambda data: b""])
def test_a_damaged_file_of_the_cache_is_made_again(tmp_path, monkeypatch, damaged):
    monkeypatch.setattr(node, "run", as_pyodide)
    sound = compile_archives(ImportGraph(SOURCES), LAB, tmp_path)
    kept = [path for path in tmp_path.iterdir() if path.is_file()]
    assert {path.suffix for path in kept} >= {".zip", ".pyc", ""}
    for path in kept:
        before = path.read_bytes()
        path.write_bytes(damaged(before))
        assert compile_archives(ImportGraph(SOURCES), LAB, tmp_path) == sound
        path.write_bytes(before)


def test_who_looks_for_modules_or_uses_those_of_others_has_to_answer(tmp_path, monkeypatch):
    requests = []

    def asked(script, start, *more):
        requests.append(start["request"])
        return as_pyodide(script, start, *more)

    monkeypatch.setattr(node, "run", asked)
    sources = {
        **SOURCES,
        "engine/calculators/seeking.py": "import importlib",
        "engine/calculators/bought.py": "import parcel",
        "parcel.py": "",
    }
    calculators = {name: f"engine/calculators/{name}.py" for name in ("lab", "seeking", "bought")}
    imports = ImportGraph(sources, groups={"parcel": ["parcel.py"]})
    compile_archives(imports, calculators, tmp_path, {"parcel.py": b""})
    assert requests[-1]["asked"] == ["seeking", "bought"]


def test_who_waits_hears_when_pyodide_is_asked_and_nothing_where_it_need_not_be(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(node, "run", as_pyodide)
    heard = []
    for _ in range(2):
        compile_archives(
            ImportGraph(SOURCES), LAB, tmp_path, on_started=lambda: heard.append("asked")
        )
    assert heard == ["asked"]


def test_an_archive_that_the_caller_holds_is_neither_read_nor_made(tmp_path, monkeypatch):
    monkeypatch.setattr(node, "run", as_pyodide)
    made = compile_archives(ImportGraph(SOURCES), LAB, tmp_path)
    file = made.files["lab"]
    file.unlink()
    again = compile_archives(ImportGraph(SOURCES), LAB, tmp_path, known_files={file})
    assert (again.files, again.calculators, file.exists()) == (made.files, {}, False)


@pytest.mark.parametrize("damaged", [truncated, with_other_bytes])
def test_a_damaged_compressed_file_is_made_again(tmp_path, damaged):
    sound = compress_cached(b"archive" * 100, tmp_path)
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(damaged(kept.read_bytes()))
    assert compress_cached(b"archive" * 100, tmp_path) == sound
