"""An exception of what an author wrote is named with the file and the line that raised it."""

import sys
from dataclasses import replace
from types import ModuleType

import jinja2
import pytest

from builder.core import error_locations, folders
from engine.core import active_project
from engine.core.outputs import UndeclaredName
from tests.builder.conftest import PROJECT

SOURCE = "pack/ovens/oven.py"


@pytest.fixture(autouse=True)
def ovens(monkeypatch):
    """A package of calculators, in which there is an empty one."""
    module = ModuleType("pack.ovens.oven")
    monkeypatch.setattr(active_project, "CALCULATORS", "pack.ovens")
    monkeypatch.setattr(error_locations.calculator, "module_of", "pack.ovens.{}".format)
    monkeypatch.setitem(sys.modules, "pack.ovens.oven", module)
    return module


def declare(module, *names):
    for name in names:
        setattr(module, name, None)


def raised(error, *filenames):
    """Return the error as raised on line 2 of the last file, which the others have called."""

    def fail():
        raise error

    for filename in reversed(filenames):
        names = {"inner": fail}
        exec(compile("def outer():\n    inner()", filename, "exec"), names)
        fail = names["outer"]
    with pytest.raises(type(error)) as found:
        fail()
    return found.value


def told(error):
    return str(error_locations.calculator_problem("oven", SOURCE, error))


def test_what_a_calculator_does_not_declare_is_named_in_the_order_of_a_calculator(ovens):
    names = "TITLE and no QUESTION and no HEADLINE and no Inputs and no solve and no views"
    assert told(AttributeError("x")) == f"{SOURCE}:1: calculator 'oven' declares no {names}"
    declare(ovens, "TITLE", "HEADLINE", "Inputs", "solve")
    assert told(AttributeError("x")) == (
        f"{SOURCE}:1: calculator 'oven' declares no QUESTION and no views"
    )


def test_another_attribute_that_is_not_there_is_an_error_like_any_other(ovens):
    declare(ovens, "TITLE", "QUESTION", "HEADLINE", "Inputs", "solve", "views")
    assert told(AttributeError("no x")) == (
        f"{SOURCE}:1: calculator 'oven' raises AttributeError: no x"
    )


def test_an_error_is_named_by_its_kind_and_its_words_in_one_line():
    assert told(ValueError("a\n  b")) == f"{SOURCE}:1: calculator 'oven' raises ValueError: a b"
    assert told(KeyError()) == f"{SOURCE}:1: calculator 'oven' raises KeyError"


@pytest.mark.parametrize(
    ("filenames", "place"),
    [
        (("/a/pack/ovens/gas/b.py",), "pack/ovens/gas/b.py:2"),
        (("/a/pack/ovens/b.py", "/a/pack/ovens/c.py", "/a/other/d.py"), "pack/ovens/c.py:2"),
        (("/pack/ovens/a/pack/ovens/b.py",), "pack/ovens/b.py:2"),
        (("/a/pack/oven.py", "/a/ovens/b.py", "/a/mypack/ovens/c.py"), f"{SOURCE}:1"),
    ],
)
def test_an_error_is_on_the_last_line_within_the_calculators(filenames, place):
    error = raised(ValueError("x"), *filenames)
    assert told(error) == f"{place}: calculator 'oven' raises ValueError: x"


def test_a_name_that_is_not_declared_is_a_sentence_of_its_own():
    error = raised(UndeclaredName("there is no 'x'", "x"), "/a/pack/ovens/b.py")
    assert told(error) == "pack/ovens/b.py:2: there is no 'x'"


@pytest.mark.parametrize(
    ("filename", "line", "said"),
    [
        ("/a/pack/ovens/gas/b.py", 7, "pack/ovens/gas/b.py:7: SyntaxError: bad"),
        ("/a/pack/ovens/b.py", None, "pack/ovens/b.py:1: SyntaxError: bad"),
        ("/pack/ovens/a/pack/ovens/b.py", 7, "pack/ovens/b.py:7: SyntaxError: bad"),
        ("/a/ovens/b.py", 7, f"{SOURCE}:1: SyntaxError: bad, in line 7 of b.py"),
        ("b.py", None, f"{SOURCE}:1: SyntaxError: bad, in line 1 of b.py"),
        (None, 7, f"{SOURCE}:1: SyntaxError: bad, in line 7 of "),
    ],
)
def test_python_that_cannot_be_read_is_named_where_it_stands(filename, line, said):
    assert told(SyntaxError("bad", (filename, line, 1, ""))) == said


def test_python_that_is_indented_wrongly_is_named_by_its_kind():
    error = IndentationError("bad", ("/a/pack/ovens/b.py", 3, 1, ""))
    assert told(error) == "pack/ovens/b.py:3: IndentationError: bad"


@pytest.fixture
def failing(tmp_path):
    """Render a template; return what is said of the error that it raises, None if nothing is."""
    places = replace(folders.project_folders(PROJECT, tmp_path), theme=tmp_path / "theme")
    templates = tmp_path / "theme/templates"
    templates.mkdir(parents=True)
    made = jinja2.Environment(loader=jinja2.FileSystemLoader(templates))

    def said(name, given=None, **texts):
        for file, text in texts.items():
            (templates / f"{file}.html").write_text(text)
        with pytest.raises(Exception) as found:  # noqa: PT011 (of any kind)
            made.get_template(name).render(given or {})
        problem = error_locations.template_problem(places, found.value)
        return problem and str(problem)

    return said


def test_a_template_that_cannot_be_read_is_named_with_its_line(failing):
    assert failing("a.html", a="x\n\n{% if %}{% endif %}") == (
        "theme/templates/a.html:3: TemplateSyntaxError: "
        "Expected an expression, got 'end of statement block'"
    )


def test_of_templates_that_include_each_other_the_innermost_is_named(failing):
    texts = {"a": "x\n{% include 'b.html' %}", "b": "x\n\n{{ 1 // 0 }}"}
    assert failing("a.html", **texts) == (
        "theme/templates/b.html:3: ZeroDivisionError: integer division or modulo by zero"
    )


def test_what_a_template_calls_is_named_where_it_is_called(failing):
    def fail():
        raise ValueError

    assert failing("a.html", {"fail": fail}, a="x\n{{ fail() }}") == (
        "theme/templates/a.html:2: ValueError"
    )


def test_an_error_of_no_template_is_none_of_ours(failing):
    assert failing("none.html") is None


def test_a_template_without_a_file_is_none_of_ours(tmp_path):
    with pytest.raises(jinja2.TemplateSyntaxError) as found:
        jinja2.Environment().from_string("{% if %}")
    assert (
        error_locations.template_problem(folders.project_folders(PROJECT, tmp_path), found.value)
        is None
    )
