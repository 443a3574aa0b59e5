"""What runs in Pyodide at a build, tried in this Python: it knows nothing of a browser."""

from types import ModuleType, SimpleNamespace

from builder import inside


def test_modules_put_aside_are_gone_with_their_names_and_come_back(monkeypatch):
    package, kept, gone = ModuleType("apart"), ModuleType("apart.kept"), ModuleType("apart.gone")
    package.kept, package.gone = kept, gone
    here = {"apart": package, "apart.kept": kept, "apart.gone": gone}
    monkeypatch.setattr(inside, "sys", SimpleNamespace(modules=dict(here)))
    assert inside.put_aside({"apart"}, {"apart.kept"}) == {"apart.kept": kept}
    assert inside.sys.modules == {"apart": package}
    assert not {"kept", "gone"} & set(vars(package))
    inside.bring_back({"apart.kept": kept})
    assert inside.sys.modules == {"apart": package, "apart.kept": kept}
    assert package.kept is kept
    inside.bring_back({"other.one": gone})  # its package is not there
    assert "other" not in inside.sys.modules


def test_a_module_is_there_by_itself_or_as_a_part_of_another():
    assert inside.is_there("json")
    assert inside.is_there("json.dumps")
    assert not inside.is_there("json.nothing_of_it")
    assert not inside.is_there("nowhere.at_all")


def test_who_brings_modules_that_are_not_loaded_anyway_has_to_answer():
    plain = frozenset({"job", "job.formulas"})
    assert not inside.brings_more(["job/__init__.py", "job/formulas.py"], plain)
    assert inside.brings_more(["job/formulas.py", "job/texts.py"], plain)


def test_byte_code_is_written_where_it_is_imported_from(tmp_path, monkeypatch):
    monkeypatch.setattr(inside, "ROOT", str(tmp_path))
    written = inside.write({"job/a.py": b"1", "job/rows.tsv": b"2"})
    assert written == [tmp_path / "job/a.pyc", tmp_path / "job/rows.tsv"]
    assert [path.read_bytes() for path in written] == [b"1", b"2"]
