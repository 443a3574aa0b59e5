import pytest

from builder.cli import build_command, commands
from builder.core import folders
from builder.core.problem import Problem, ServiceError
from builder.core.project import Project
from builder.outputs import output_folder
from builder.pipeline import BuildResult

PROJECT = Project(name="Lines", engine="lines")
PROBLEM = Problem("content/x.md", 41, "no calculator 'zeroo'; there are none")


def begun(root):
    """Make a folder a project."""
    calculators = root / "lines" / "calculators"
    calculators.mkdir(parents=True)
    (calculators / "__init__.py").touch()
    (root / "site.toml").write_text('name = "Lines"\nengine = "lines"\n')


@pytest.fixture
def build(monkeypatch, tmp_path):
    """Run the verb with a given result; return (exit status, output folder)."""

    content = tmp_path / "project" / "content"
    content.mkdir(parents=True)
    begun(content.parent)
    monkeypatch.setattr("builder.cli.parser.DEFAULT_PROJECT", content.parent)

    def run(built, *arguments):
        (content / "index.md").write_text(repr(built))
        monkeypatch.setattr(
            "builder.cli.build_command.build_with_cache", lambda places, options: built
        )
        out = tmp_path / "site"
        return commands.main(["build", "--out", str(out), *arguments]), out

    return run


def test_a_good_build_ends_with_zero(build):
    status, _ = build(BuildResult(output={"index.html": b"x"}, problems=()))
    assert status == 0


def test_a_good_build_writes_the_folder(build):
    _, out = build(BuildResult(output={"index.html": b"x"}, problems=()))
    assert (out / "index.html").read_bytes() == b"x"


def test_a_folder_of_somebody_elses_is_left_alone(build, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "thesis.txt").write_text("years of work")
    status, out = build(BuildResult(output={"index.html": b"x"}, problems=()))
    assert (status, [path.name for path in out.iterdir()]) == (2, ["thesis.txt"])


def test_problems_end_with_one(build):
    status, _ = build(BuildResult(output={}, problems=(PROBLEM,)))
    assert status == 1


def test_problems_leave_the_old_folder_byte_for_byte(build):
    build(BuildResult(output={"index.html": b"old", ".nojekyll": b""}, problems=()))
    _, out = build(BuildResult(output={"index.html": b"new"}, problems=(PROBLEM,)))
    assert (out / "index.html").read_bytes() == b"old"


def test_problems_are_printed_with_file_and_line(build, capsys):
    build(BuildResult(output={}, problems=(PROBLEM,)))
    first = capsys.readouterr().out.splitlines()[0]
    assert first == "content/x.md:41: no calculator 'zeroo'; there are none"


def test_a_maker_that_cannot_run_ends_in_one_sentence(monkeypatch, capsys, tmp_path):
    def fail(places, options):
        raise ServiceError("npm could not install package-lock.json: no network")

    monkeypatch.setattr("builder.cli.build_command.build_with_cache", fail)
    status = commands.main(["build", "--out", str(tmp_path / "site")])
    assert (status, capsys.readouterr().out.count("\n")) == (1, 1)


def test_an_unknown_verb_is_wrong_usage():
    with pytest.raises(SystemExit) as ended:
        commands.main(["publish"])
    assert ended.value.code == 2


def test_an_address_without_https_is_wrong_usage():
    with pytest.raises(SystemExit) as ended:
        commands.main(["build", "--base-url", "http://example.org"])
    assert ended.value.code == 2


def test_the_address_of_the_site_ends_in_a_slash(monkeypatch, tmp_path):
    seen = []
    built = BuildResult(output={}, problems=())
    monkeypatch.setattr(
        "builder.cli.build_command.build_with_cache",
        lambda places, options: seen.append(options) or built,
    )
    out = str(tmp_path / "site")
    commands.main(["build", "--out", out, "--base-url", "https://example.org/w"])
    assert seen[0].base_url == "https://example.org/w/"


@pytest.mark.parametrize("verb", ["build", "serve", "check", "new", "test"])
def test_every_verb_explains_itself(verb, capsys):
    with pytest.raises(SystemExit) as ended:
        commands.main([verb, "--help"])
    assert (ended.value.code, f"usage: build.py {verb}" in capsys.readouterr().out) == (0, True)


def test_nothing_new_is_built_once(build):
    built = BuildResult(output={"index.html": b"x", ".nojekyll": b""}, problems=())
    _, out = build(built)
    before = (out / "index.html").stat()
    status, _ = build(built)
    assert (status, (out / "index.html").stat()) == (0, before)


def test_nothing_new_is_said(build, capsys):
    built = BuildResult(output={"index.html": b"x", ".nojekyll": b""}, problems=())
    build(built)
    build(built)
    assert "nothing new" in capsys.readouterr().out


@pytest.fixture
def noted(tmp_path):
    """A project, its cache and an output of it that was noted."""
    (tmp_path / "content").mkdir()
    (tmp_path / "content" / "index.md").write_text("one")
    places, site = folders.project_folders(PROJECT, tmp_path), tmp_path / "site"
    output_folder.replace_output(site, {"index.html": b"x", ".nojekyll": b""})
    build_command.record_build(places.cache, site, build_command.inputs_digest(places, ""))
    return places, site


def is_current(places, site):
    return build_command.is_current(places.cache, site, build_command.inputs_digest(places, ""))


def test_what_was_noted_is_current(noted):
    assert is_current(*noted)


def test_a_changed_article_is_something_new(noted):
    places, site = noted
    (places.content / "index.md").write_text("two")
    assert not is_current(places, site)


def test_a_changed_output_is_something_new(noted):
    places, site = noted
    (site / "index.html").write_bytes(b"edited")
    assert not is_current(places, site)


def test_a_damaged_note_is_no_note(noted):
    places, site = noted
    next((places.cache / "built").iterdir()).write_text("{")
    assert not is_current(places, site)


def test_a_changed_project_is_something_new(noted):
    places, site = noted
    begun(places.root)
    assert not is_current(places, site)


@pytest.mark.parametrize("where", ["before", "after"])
def test_a_project_is_named_before_or_after_the_verb(monkeypatch, tmp_path, where):
    begun(tmp_path)
    seen = []
    built = BuildResult(output={"index.html": b"x", ".nojekyll": b""}, problems=())
    monkeypatch.setattr(
        "builder.cli.build_command.build_with_cache",
        lambda places, options: seen.append(places) or built,
    )
    named = ["--project", str(tmp_path)]
    assert commands.main([*named, "build"] if where == "before" else ["build", *named]) == 0
    assert (seen[0].root, (tmp_path / "site" / "index.html").is_file()) == (tmp_path, True)


def test_the_tests_of_a_project_find_it_and_the_generator(tmp_path):
    begun(tmp_path)
    (tmp_path / "lines" / "__init__.py").touch()
    (tmp_path / "lines" / "wait.py").write_text("WAIT = 3\n")
    (tmp_path / "test_wait.py").write_text(
        "from engine.core.units import HOUR\nfrom lines.wait import WAIT\n\n\n"
        "def test_wait():\n    assert WAIT < HOUR\n"
    )
    assert commands.main(["test", "--project", str(tmp_path), "-q", "-p", "no:cacheprovider"]) == 0


def test_a_book_has_no_draft(live, monkeypatch, tmp_path):
    live.edit("content/guides/second.md", "minutes = 3", "minutes = 3\ndraft = true")
    printed = []
    monkeypatch.setattr("builder.cli.commands.build", lambda given: 0)
    monkeypatch.setattr("builder.cli.parser.open_project", lambda given: live.folders)
    monkeypatch.setattr("builder.cli.parser.target_folder", lambda given: tmp_path)
    monkeypatch.setattr(
        "builder.cli.book.print_book", lambda path, *_: printed.append(path) or b"%PDF"
    )
    assert commands.main(["book", "A", "--pdf", str(tmp_path / "a.pdf")]) == 0
    assert [guide.slug for guide in printed[0].guides] == ["first"]
    assert (tmp_path / "a.pdf").read_bytes() == b"%PDF"


@pytest.mark.parametrize("before", [[], ["--project", "mine"]])
def test_what_follows_the_verb_test_is_for_pytest_wherever_the_project_stands(before):
    assert commands._split_pytest_arguments([*before, "test", "-q", "ring"]) == (
        [*before, "test"],
        ["-q", "ring"],
    )


def test_help_for_the_tests_is_ours_whatever_follows_it():
    assert commands._split_pytest_arguments(["test", "-h", "x"]) == (["test", "-h", "x"], [])
    assert commands._split_pytest_arguments(["test", "x", "-h"]) == (["test"], ["x", "-h"])


def test_showing_a_calculator_ends_with_zero_and_an_unknown_one_with_wrong_usage(capsys):
    assert commands.main(["show", "token_cost"]) == 0
    assert "token_cost" in capsys.readouterr().out
    assert commands.main(["show", "tokken_cost"]) == commands.WRONG_USAGE
    assert "tokken_cost" in capsys.readouterr().out
