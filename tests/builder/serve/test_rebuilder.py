"""A save under `serve` builds again what it concerns, with what earlier builds left."""

import sys
from types import SimpleNamespace

import pytest

from builder.core.problem import Problem
from builder.serve import local_server, rebuilder

PAGE = {"index.html": b"one"}


class Parts:
    """The modules of the builder that a save needs, in the place of the real ones."""

    def __init__(self, monkeypatch):
        self.calls, self.built, self.changed, self.moved = [], [], frozenset(), False
        self.folders = self.project()
        modules = {
            "project.activate_project": SimpleNamespace(activate_project=lambda _: self.folders),
            "calculators.cache_keys": SimpleNamespace(
                CacheKeys=lambda _: SimpleNamespace(imports="imports")
            ),
            "core.build_cache": SimpleNamespace(
                load=lambda _: Cache(), cache_file=lambda _: "", BuildCache=Cache
            ),
            "core.progress": SimpleNamespace(Options=lambda **_: None),
            "pipeline": SimpleNamespace(build=self.build),
            "project.project_file": SimpleNamespace(ProjectError=LookupError),
            "serve.hot_reload": SimpleNamespace(
                changed_modules=lambda *_: self.changed,
                have_lines_moved=lambda *_: self.moved,
                unload_modules=lambda modules, _: self.calls.append(sorted(modules)),
            ),
            "outputs.service_makers": SimpleNamespace(project_services=lambda _, quick: None),
        }
        monkeypatch.setattr(
            rebuilder, "_import_builder", lambda *names: tuple(modules[n] for n in names)
        )
        monkeypatch.setattr(rebuilder, "unload_packages", lambda _: self.calls.append("all"))

    def project(self):
        folders = SimpleNamespace(project=SimpleNamespace(engine="engine", repository=""))
        folders.computed = {"keys": SimpleNamespace(imports="imports")}
        folders.compute_once = lambda *_: None
        return folders

    def build(self, *_):
        self.calls.append("build")
        made = self.built.pop(0) if self.built else (PAGE, ())
        if isinstance(made, Exception):
            raise made
        return SimpleNamespace(output=made[0], problems=made[1])


class Cache:
    def __init__(self, entries=None):
        self.held = entries or {}

    def for_next_build(self):
        return self

    def entries(self):
        return self.held

    def save(self, _):
        pass


@pytest.fixture
def parts(monkeypatch):
    return Parts(monkeypatch)


@pytest.fixture
def save(parts, tmp_path):
    host = local_server.ServedSite(script=b"")
    one = rebuilder.Rebuilder(tmp_path, "", lambda _: None)
    one.build(host, set())
    parts.calls.clear()

    def saved(path):
        one.build(host, {str(tmp_path / path)})
        found = [*parts.calls]
        parts.calls.clear()
        return found, host

    return saved


def test_an_article_imports_nothing_again(save):
    assert save("content/a.md")[0] == ["build"]


def test_what_is_remembered_is_left_for_the_next_run_by_the_first_build_alone(
    parts, monkeypatch, tmp_path
):
    left = []
    monkeypatch.setattr(Cache, "save", lambda self, where: left.append(self))
    one, host = (
        rebuilder.Rebuilder(tmp_path, "", lambda _: None),
        local_server.ServedSite(script=b""),
    )
    one.build(host, set())
    assert left == [one.cache]
    one.build(host, {str(tmp_path / "content/a.md")})
    assert left == [one.cache]


def test_a_formula_imports_what_uses_it_again(save, parts):
    parts.changed = frozenset({"engine.formulas.a", "engine.calculators.b"})
    found, _ = save("engine/formulas/a.py")
    assert found == [["engine.calculators.b", "engine.formulas.a"], "build"]


def test_what_the_builder_needs_imports_all_again(save, parts):
    parts.changed = None
    assert save("builder/pages/page.py")[0] == ["all", "build"]


def test_a_style_leaves_what_is_known_of_the_code(save, parts):
    folders = parts.folders
    folders.computed |= {"engines": "one", "wardrobe": "old"}
    parts.folders = parts.project()
    parts.folders.computed.clear()
    assert save("theme/styles/a.css")[0] == ["build"]
    assert set(parts.folders.computed) == {"keys", "engines"}


def test_a_project_file_leaves_nothing(save, parts):
    parts.folders = parts.project()
    parts.folders.computed.clear()
    assert save("site.toml")[0] == ["build"]
    assert parts.folders.computed == {}


def test_a_problem_is_told_with_the_lines_that_the_files_have_now(save, parts):
    parts.moved = True
    assert save("engine/formulas/a.py")[0] == [[], "build"]
    parts.built = [({}, [Problem("a.py", 3, "wrong")]), ({}, [Problem("a.py", 4, "wrong")])]
    found, host = save("content/a.md")
    assert found == ["build", "all", "build"]
    assert host.problems == ["a.py:4: wrong"]
    parts.built = [({}, [Problem("a.py", 5, "wrong")])]
    assert save("content/a.md")[0] == ["build"]  # nothing has moved since


def test_so_is_an_error(save, parts):
    parts.moved = True
    save("engine/formulas/a.py")
    parts.built = [ZeroDivisionError("old"), ZeroDivisionError("new")]
    found, host = save("content/a.md")
    assert found == ["build", "all", "build"]
    assert "ZeroDivisionError: new" in host.problems[0]


def test_what_serves_is_never_imported_again(monkeypatch):
    held = dict.fromkeys(("builder.serve.serve", "builder.pages.page", "engine.answer", "json"))
    monkeypatch.setattr(sys, "modules", held)
    rebuilder.unload_packages(("builder", "engine"))
    assert list(held) == ["builder.serve.serve", "json"]


def test_a_problem_is_shown_with_the_lines_it_is_about(tmp_path):
    (tmp_path / "a.md").write_text("one\ntwo\nthree\nfour\nfive\n")
    shown = rebuilder.with_source_lines(tmp_path, Problem("a.md", 4, "no term 'four'"))
    assert shown.splitlines() == [
        "a.md:4: no term 'four'",
        "     2 | two",
        "     3 | three",
        ">    4 | four",
        "     5 | five",
    ]
    lost = Problem("gone.md", 4, "is not there")
    assert rebuilder.with_source_lines(tmp_path, lost) == "gone.md:4: is not there"
    assert rebuilder.with_source_lines(tmp_path, "Traceback ...") == "Traceback ..."
