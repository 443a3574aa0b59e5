import pytest

from builder.core import module_imports
from builder.core.module_imports import ImportGraph
from tests.each import each

SOURCES = {
    "engine/__init__.py": '"""A."""',
    "engine/answer.py": "from engine.draw import view_json\nimport json",
    "engine/draw/__init__.py": "",
    "engine/draw/view_json.py": "def late():\n    from engine.draw.reply_extras import extra\n",
    "engine/draw/reply_extras.py": "",
    "engine/draw/unused.py": "",
    "engine/schedules/__init__.py": "",
    "engine/schedules/gpipe.py": "from fractions import Fraction",
    "engine/schedules/naive.py": "",
    "engine/lab.py": 'import engine.draw.view_json\nPACKAGE = "engine.schedules"\n',
}


@pytest.fixture
def sources():
    return ImportGraph(SOURCES)


def test_a_module_needs_what_it_imports_and_their_packages(sources):
    assert sources.dependencies("engine/draw/view_json.py") == {
        "engine/__init__.py",
        "engine/draw/__init__.py",
        "engine/draw/view_json.py",
        "engine/draw/reply_extras.py",
    }


def test_a_module_needs_what_its_imports_need(sources):
    assert "engine/draw/reply_extras.py" in sources.dependencies("engine/answer.py")


def test_what_nobody_imports_is_not_needed(sources):
    assert "engine/draw/unused.py" not in sources.dependencies("engine/answer.py")


def test_a_package_that_is_named_is_needed_with_all_its_modules(sources):
    needed = sources.dependencies("engine/lab.py")
    assert {"engine/schedules/gpipe.py", "engine/schedules/naive.py"} <= needed


def test_the_standard_library_is_outside(sources):
    assert sources.external_imports(sources.dependencies("engine/answer.py")) == {"json"}


def changed(path, text):
    return ImportGraph({**SOURCES, path: text}).digest("engine/answer.py")


def test_a_comment_changes_no_digest(sources):
    text = SOURCES["engine/draw/view_json.py"] + "    # why\n\n"
    assert changed("engine/draw/view_json.py", text) == sources.digest("engine/answer.py")


def test_an_edit_of_what_is_needed_changes_the_digest(sources):
    assert changed("engine/draw/reply_extras.py", "x = 1") != sources.digest("engine/answer.py")


def test_an_edit_of_anything_else_does_not(sources):
    assert changed("engine/draw/unused.py", "x = 1") == sources.digest("engine/answer.py")


LAB = "engine/lab.py"


def saved(sources, path, text):
    """Return what a save concerns, after the same was found out without what was known before."""
    now, anew = ImportGraph({**SOURCES, path: text}), ImportGraph({**SOURCES, path: text})
    found = now.reuse_facts(sources)
    for one in now.sources:
        assert now.dependencies(one) == anew.dependencies(one)
        assert now.digest(one) == anew.digest(one)
        assert (one in found) == (one not in SOURCES or anew.digest(one) != sources.digest(one))
    return found


def test_a_save_concerns_what_imports_the_module(sources):
    assert saved(sources, "engine/draw/reply_extras.py", "x = 1") == {
        "engine/draw/reply_extras.py",
        "engine/draw/view_json.py",
        "engine/answer.py",
        LAB,
    }


def test_a_save_of_a_comment_concerns_nothing(sources):
    assert saved(sources, "engine/draw/reply_extras.py", "# why\n") == frozenset()


def test_a_save_of_an_import_concerns_what_leads_to_it(sources):
    found = saved(sources, "engine/answer.py", "from engine.schedules import naive")
    assert found == {"engine/answer.py"}


def test_a_new_module_concerns_those_that_name_its_package(sources):
    assert saved(sources, "engine/schedules/new.py", "") == {"engine/schedules/new.py", LAB}


def test_what_a_save_does_not_concern_is_not_followed_again(sources, monkeypatch):
    for path in SOURCES:
        sources.digest(path)
    now = ImportGraph({**SOURCES, "engine/draw/reply_extras.py": "x = 1"})
    now.reuse_facts(sources)
    asked = []
    monkeypatch.setattr(ImportGraph, "module_digest", lambda _, path: asked.append(path) or "")
    now.digest("engine/schedules/gpipe.py")
    now.dependencies(LAB)
    assert asked == []
    now.digest(LAB)
    assert "engine/draw/reply_extras.py" in asked


def test_what_was_read_once_is_not_read_again(monkeypatch):
    from builder.core import module_imports

    monkeypatch.setattr(module_imports, "_FACTS", {})
    text = SOURCES["engine/lab.py"]
    module_imports.remember_facts(text, module_imports.module_facts(text))
    asked = []

    def map_texts(function, texts, *, serial_limit):
        asked.extend(texts)
        return [function(text) for text in texts]

    ImportGraph(SOURCES).read_all(map_texts)
    assert text not in asked
    assert sorted(asked) == sorted({one for one in SOURCES.values() if one != text})


def test_a_text_that_cannot_be_read_has_no_packages():
    from builder.core import module_imports

    assert module_imports.imported_packages(module_imports.module_facts("def half(")) is None
    assert module_imports.imported_packages(
        module_imports.module_facts("import numpy.linalg, os\nfrom engine import answer")
    ) == {
        "numpy",
        "os",
        "engine",
    }


def test_the_texts_that_a_save_does_not_concern_stay(sources):
    anew = ImportGraph({**SOURCES, "engine/draw/reply_extras.py": "x = 'text'"})
    for path in SOURCES:
        sources.texts_digest(path)
    now = ImportGraph(anew.sources)
    now.reuse_facts(sources)
    assert {path: now.texts_digest(path) for path in SOURCES} == {
        p: anew.texts_digest(p) for p in SOURCES
    }


@pytest.mark.parametrize("text", ["[]", "[1]", "{", '{"a.py": [1, 2]}', "3"])
def test_what_was_kept_in_another_form_is_nothing(text, tmp_path):
    (tmp_path / "kept.json").write_text(text)
    assert module_imports._load_facts(tmp_path / "kept.json") == {}


@each(
    "text",
    [
        "import importlib",
        "from importlib import import_module",
        "def later():\n    import pkgutil",
        "from engine.core import registry",
        "from engine.core.registry import tree",
    ],
)
def test_a_module_that_finds_others_by_name_seeks(text):
    assert ImportGraph({"a.py": text}).import_dynamically(["a.py"])


@each("text", ["import json", "import importer", "from engine.core import registryx"])
def test_a_module_that_names_what_it_imports_does_not(text):
    assert not ImportGraph({"a.py": text}).import_dynamically(["a.py"])


LATE = {
    "engine/__init__.py": "",
    "engine/lab.py": "from engine import signs\nfrom engine.both import b\n",
    "engine/both.py": "b = 1",
    "engine/signs.py": """def read():
    from engine.yaml import read
    from engine.both import b

async def read_flags():
    if True:
        from engine.flags import read
""",
    "engine/yaml.py": "from engine.words import w\nfrom engine.both import b",
    "engine/flags.py": "from engine.words import w\n\ndef rare():\n    from engine.rare import r\n",
    "engine/words.py": "import engine.signs",
    "engine/rare.py": "",
}


def test_what_only_functions_import_is_deferred_with_what_it_needs():
    assert ImportGraph(LATE).deferred("engine/lab.py") == {
        "engine.yaml": {"engine/yaml.py", "engine/words.py"},
        "engine.flags": {"engine/flags.py", "engine/words.py"},
        "engine.rare": {"engine/rare.py"},
    }


def test_what_is_imported_at_once_as_well_is_not_deferred():
    at_once = {**LATE, "engine/lab.py": LATE["engine/lab.py"] + "from engine import yaml, rare\n"}
    assert ImportGraph(at_once).deferred("engine/lab.py") == {"engine.flags": {"engine/flags.py"}}


def test_a_module_named_as_a_part_of_its_package_is_never_deferred():
    part = {**LATE, "engine/both.py": "def late():\n    from engine import rare\n"}
    assert "engine.rare" not in ImportGraph(part).deferred("engine/lab.py")
