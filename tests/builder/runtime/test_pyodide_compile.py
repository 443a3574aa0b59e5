"""What runs in Pyodide at a build, tried in this Python: it knows nothing of a browser."""

from types import ModuleType, SimpleNamespace

from builder.runtime import pyodide_compile


def test_modules_put_aside_are_gone_with_their_names_and_come_back(monkeypatch):
    package, kept, gone = ModuleType("apart"), ModuleType("apart.kept"), ModuleType("apart.gone")
    package.kept, package.gone = kept, gone
    here = {"apart": package, "apart.kept": kept, "apart.gone": gone}
    monkeypatch.setattr(pyodide_compile, "sys", SimpleNamespace(modules=dict(here)))
    assert pyodide_compile.remove_modules({"apart"}, {"apart.kept"}) == {"apart.kept": kept}
    assert pyodide_compile.sys.modules == {"apart": package}
    assert not {"kept", "gone"} & set(vars(package))
    pyodide_compile.restore_modules({"apart.kept": kept})
    assert pyodide_compile.sys.modules == {"apart": package, "apart.kept": kept}
    assert package.kept is kept
    pyodide_compile.restore_modules({"other.one": gone})  # its package is not there
    assert "other" not in pyodide_compile.sys.modules


def test_a_module_is_there_by_itself_or_as_a_part_of_another():
    assert pyodide_compile.is_loaded("json")
    assert pyodide_compile.is_loaded("json.dumps")
    assert not pyodide_compile.is_loaded("json.nothing_of_it")
    assert not pyodide_compile.is_loaded("nowhere.at_all")


def test_who_brings_modules_that_are_not_loaded_anyway_has_to_answer():
    plain = frozenset({"job", "job.formulas"})
    assert not pyodide_compile.imports_more(["job/__init__.py", "job/formulas.py"], plain)
    assert pyodide_compile.imports_more(["job/formulas.py", "job/texts.py"], plain)


def test_byte_code_is_written_where_it_is_imported_from(tmp_path, monkeypatch):
    monkeypatch.setattr(pyodide_compile, "ROOT", str(tmp_path))
    written = pyodide_compile.write_files({"job/a.py": b"1", "job/rows.tsv": b"2"})
    assert written == [tmp_path / "job/a.pyc", tmp_path / "job/rows.tsv"]
    assert [path.read_bytes() for path in written] == [b"1", b"2"]
