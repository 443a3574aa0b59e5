"""After a save, what is made of the changed code is imported again, and nothing else."""

import sys

import pytest

from builder.core.module_imports import ImportGraph
from builder.serve import hot_reload
from tests.builder.conftest import forget_calculators

SOURCES = {
    "saved/__init__.py": "",
    "saved/formula.py": "def half(x):\n    return x / 2\n",
    "saved/user.py": "from saved import formula\n\ndef one():\n    return formula.half(1)\n",
    "saved/other.py": (
        "from functools import cache\nfrom importlib import import_module\n\n"
        "@cache\ndef told():\n    return import_module('saved.' + 'user').one()\n"
    ),
    "builder/pages/page.py": "import engine.answer",
    "engine/__init__.py": "",
    "engine/answer.py": "",
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "saved").mkdir()
    for path, text in SOURCES.items():
        if path.startswith("saved/"):
            (tmp_path / path).write_text(text)
    yield tmp_path
    for name in [one for one in sys.modules if one.partition(".")[0] == "saved"]:
        del sys.modules[name]
    forget_calculators()


def again(path, text):
    now = ImportGraph({**SOURCES, path: text})
    return hot_reload.changed_modules(ImportGraph(SOURCES), now)


def test_a_formula_is_imported_again_with_what_uses_it():
    assert again("saved/formula.py", "half = None") == {"saved.formula", "saved.user"}


def test_a_comment_imports_nothing_again():
    assert again("saved/formula.py", SOURCES["saved/formula.py"] + "# why\n") == frozenset()


def test_all_is_imported_again_where_the_builder_is_concerned():
    assert again("engine/answer.py", "x = 1") is None
    assert again("builder/pages/page.py", "x = 1") is None


def test_a_comment_moves_the_lines_of_what_stays():
    before = ImportGraph(SOURCES)
    moved = ImportGraph({**SOURCES, "saved/formula.py": "# why\n" + SOURCES["saved/formula.py"]})
    assert hot_reload.have_lines_moved(before, moved, frozenset())
    assert not hot_reload.have_lines_moved(before, moved, frozenset({"saved.formula"}))
    assert not hot_reload.have_lines_moved(before, ImportGraph(SOURCES), frozenset())


def test_what_is_forgotten_is_read_again_and_asked_again(project):
    from saved import formula, other, user

    assert other.told() == 0.5
    (project / "saved/formula.py").write_text("def half(x):\n    return x / 2 + 1  # more\n")
    assert other.told() == 0.5  # computed before
    hot_reload.unload_modules(again("saved/formula.py", "half = None"), ("saved",))
    assert other.told() == 1.5
    from saved import formula as read_again
    from saved import user as user_again

    assert read_again is not formula
    assert user_again is not user
    assert sys.modules["saved.other"] is other
