from pathlib import Path
from types import SimpleNamespace

import pytest

from builder import pipeline
from builder.cli import commands, test_command
from builder.cli.test_command import browser_arguments, selection_arguments, unknown_name_message
from builder.core.problem import Problem
from tests.builder.conftest import PROJECT

ROOT = Path(__file__).parents[3]
PROMISES = "tests/engine/calculators/test_calculators.py"
ARTICLES = "tests/builder/test_articles.py"


def test_a_calculator_is_tested_with_what_names_it_and_shows_it():
    found = selection_arguments(ROOT, "job_time")
    own = "tests/engine/calculators/whole_runs/test_job_time.py"
    assert {own, PROMISES, ARTICLES} <= set(found)
    words = found[-1].split(" or ")
    assert {"[job_time]", "[job-time]", "test_job_time"} <= set(words)
    assert "[gradient_sync]" not in words


def test_an_article_is_tested_with_the_calculators_on_it():
    words = selection_arguments(ROOT, "gradient-sync-lab")[-1].split(" or ")
    assert {"[gradient-sync-lab]", "[gradient_sync]"} <= set(words)
    assert "[job_time]" not in words


def test_what_is_neither_is_passed_on_to_pytest(monkeypatch):
    assert selection_arguments(ROOT, "tests/engine") == []
    begun = []

    class Begun:
        def __init__(self, command, **_):
            begun.append(command[3:])

        def __class_getitem__(cls, _):
            return cls

        def wait(self):
            return 0

    monkeypatch.setattr(test_command.subprocess, "Popen", Begun)
    monkeypatch.setattr(test_command, "find_or_install_chromium", lambda *_: "/chromium")
    test_command.run(ROOT, ["tests/engine", "-x"], lambda _: None)
    test_command.run(ROOT, ["job_time"], lambda _: None)
    test_command.run(ROOT, ["job_time", "--browser"], lambda _: None)
    both = [selection_arguments(ROOT, "job_time"), browser_arguments(ROOT, "job_time")]
    assert begun == [["tests/engine", "-x"], both[0], *both]


def test_in_a_browser_a_calculator_gives_the_same_bytes_and_a_page_is_used():
    assert browser_arguments(ROOT, "job_time") == [
        "tests/browser/test_parity.py",
        "-k",
        "[job_time]",
    ]
    *files, _, words = browser_arguments(ROOT, "zero-1")
    assert words == "[guides/zero-1/]"
    assert all((ROOT / file).is_file() for file in files)
    assert browser_arguments(ROOT, "nothing") == []


@pytest.fixture
def kettles(tmp_path, monkeypatch):
    """A project with an article that shows a calculator and has no tests, and its build."""
    (tmp_path / "content/guides").mkdir(parents=True)
    (tmp_path / "content/guides/tea.md").write_text("It takes [[job_time.mtbf]].", "utf-8")
    wrong: list[Problem] = []
    built = pipeline.BuildResult(output={}, problems=wrong)
    monkeypatch.setattr(
        test_command, "activate_project", lambda root: SimpleNamespace(project=PROJECT)
    )
    monkeypatch.setattr(
        test_command, "build_with_cache", lambda places, options: options.drafts and built
    )
    return tmp_path, wrong


def test_an_article_of_a_project_is_built(kettles):
    root, wrong = kettles
    said = []
    assert test_command.run(root, ["tea"], said.append) == 0
    assert said == ["tea: 0 problems, 0 elsewhere"]
    wrong += [Problem("content/a.md", 1, "no."), Problem("content/guides/tea.md", 7, "worse.")]
    said.clear()
    assert test_command.run(root, ["tea"], said.append) == 1
    assert said == [
        "content/guides/tea.md:7: worse.",
        "content/a.md:1: no.",
        "tea: 1 problem, 1 elsewhere",
    ]


def test_an_article_of_a_project_is_tested_with_what_names_its_calculators(kettles):
    root, _ = kettles
    test = root / "tests/engine/calculators/room/test_time.py"
    test.parent.mkdir(parents=True)
    test.write_text("job_time\n", "utf-8")
    assert selection_arguments(root, "tea")[0] == "tests/engine/calculators/room/test_time.py"


def test_the_help_of_test_names_the_project(capsys):
    with pytest.raises(SystemExit):
        commands.main(["test", "--help"])
    assert "--project FOLDER" in capsys.readouterr().out


def test_what_nobody_knows_is_said_with_what_is_near():
    said = []
    assert test_command.run(ROOT, ["job_tme"], said.append) == 2
    (sentence,) = said
    assert sentence.startswith("'job_tme' is no calculator, no article and no file of tests; there")
    assert sentence.endswith("there is job_time and job-time")
    assert [unknown_name_message(ROOT, name) for name in ("-x", "tests/engine", "tests/x.py::y")][
        :2
    ] == ["", ""]
    assert unknown_name_message(ROOT, "tests/x.py::y").startswith(
        "'tests/x.py::y' is no calculator"
    )
