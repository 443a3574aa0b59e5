"""A project is entered: its calculators are known, its theme lies over the generator's."""

import os
import sys

import pytest

from builder.cli import parser
from builder.project.activate_project import activate_project
from builder.project.project_file import ProjectError
from engine import calculator

SPEED = '''"""A calculator."""'''


@pytest.fixture
def begin(tmp_path):
    """Make a project with one empty calculator; afterwards this site's own are known again."""

    def begun(name="first", package="lines", theme=None):
        root = tmp_path / name
        calculators = root / package / "calculators"
        calculators.mkdir(parents=True)
        (root / package / "__init__.py").touch()
        (calculators / "__init__.py").touch()
        (calculators / f"{name}.py").write_text(SPEED)
        (root / "site.toml").write_text(f'name = "{name}"\nengine = "{package}"\n')
        for path, text in (theme or {}).items():
            (root / "theme" / path).parent.mkdir(parents=True, exist_ok=True)
            (root / "theme" / path).write_text(text)
        return root

    return begun


def test_its_calculators_are_known(begin):
    activate_project(begin())
    assert calculator.names() == ("first",)
    assert calculator.module_of("first") == "lines.calculators.first"


def test_two_projects_may_call_their_packages_the_same(begin):
    first, second = begin("first"), begin("second")
    for root in (first, second, first):
        activate_project(root)
        assert calculator.names() == (root.name,)


def test_afterwards_python_looks_where_it_did_before(begin):
    before = list(sys.path)
    activate_project(begin())
    activate_project(parser.DEFAULT_PROJECT)
    assert sys.path == before
    assert "gradient_sync" in calculator.names()


@pytest.mark.parametrize("package", ["engine", "builder", "json", "jinja2"])
def test_the_name_of_another_package_is_refused(begin, package):
    root = begin(package=package)
    with pytest.raises(ProjectError, match=rf"site\.toml:2: '{package}' is the name of another"):
        activate_project(root)


def test_a_project_without_a_theme_has_the_generators(begin):
    places = activate_project(begin())
    assert places.theme == parser.DEFAULT_PROJECT / "theme"


def test_single_files_of_a_theme_give_way_and_can_be_extended(begin):
    own = {"templates/home.html": "mine", "styles/90-mine.css": "a {}", "early.js": "1;"}
    places = activate_project(begin(theme=own))
    for path, text in own.items():
        assert (places.theme / path).read_text() == text
    given = (parser.DEFAULT_PROJECT / "theme" / "templates" / "home.html").read_text()
    assert (places.theme / "templates" / "given" / "home.html").read_text() == given
    for path in ("templates/base.html", "runtime/main.js", "keys.toml", "package-lock.json"):
        assert (places.theme / path).read_bytes() == (
            parser.DEFAULT_PROJECT / "theme" / path
        ).read_bytes()


def test_what_is_taken_back_gives_way_no_longer(begin):
    root = begin(theme={"templates/home.html": "mine", "styles/90-mine.css": "a {}"})
    places = activate_project(root)
    for path in ("templates/home.html", "styles/90-mine.css"):
        (root / "theme" / path).unlink()
    activate_project(root)
    assert "{% extends" in (places.theme / "templates" / "home.html").read_text()
    assert not (places.theme / "styles" / "90-mine.css").exists()


def test_an_edit_of_the_same_size_is_laid_anew(begin):
    root = begin(theme={"styles/90-mine.css": "a {}"})
    places = activate_project(root)
    own = root / "theme" / "styles" / "90-mine.css"
    own.write_text("b {}")
    os.utime(own, (1, 1))
    activate_project(root)
    assert (places.theme / "styles" / "90-mine.css").read_text() == "b {}"


def test_a_problem_names_the_file_that_an_author_wrote(begin):
    places = activate_project(begin(theme={"templates/home.html": "mine"}))
    assert (
        places.display_path(places.theme / "templates" / "home.html") == "theme/templates/home.html"
    )
    others = places.display_path(places.theme / "templates" / "base.html")
    assert others == (parser.DEFAULT_PROJECT / "theme" / "templates" / "base.html").as_posix()
    assert places.display_path(places.content / "index.md") == "content/index.md"
