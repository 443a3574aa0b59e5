"""What a project says of itself, and what is said where that cannot be used."""

import pytest

from builder.cli import commands, parser
from builder.core.project import Project
from builder.project import project_file

GOOD = """name = "Lines & counters"
engine = "lines"
language = "en-GB"
address = "https://example.org/lines"

[checks]
placed = false
"""


@pytest.fixture
def write(tmp_path):
    """Write site.toml into a folder that has the package "lines"."""
    calculators = tmp_path / "lines" / "calculators"
    calculators.mkdir(parents=True)
    (calculators / "__init__.py").touch()

    def written(text):
        (tmp_path / "site.toml").write_text(text, "utf-8")
        return tmp_path

    return written


def problems(root):
    with pytest.raises(project_file.ProjectError) as error:
        project_file.read_project(root)
    return [str(problem) for problem in error.value.problems]


def test_a_project_says_what_belongs_to_it(write):
    assert project_file.read_project(write(GOOD)) == Project(
        name="Lines & counters",
        engine="lines",
        language="en-GB",
        address="https://example.org/lines/",
        placed=False,
    )


def test_names_follow_from_the_name_and_the_engine(write):
    found = project_file.read_project(write(GOOD))
    assert (found.key, found.calculators) == ("lines_counters", "lines.calculators")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('"lines"', '"lanes"', "site.toml:2: there is no package lanes/calculators"),
        (
            '"lines"',
            '"my-lines"',
            "site.toml:2: 'my-lines' is no name of a Python package, such as queueing",
        ),
        ('name = "Lines & counters"', "", "site.toml:1: 'name' is missing"),
        ("language", "tongue", "site.toml:3: unknown key 'tongue'; there are name, engine"),
        ('"en-GB"', '"English"', "site.toml:3: 'language' is 'English'; it has to be such as en"),
        ('"en-GB"', "3", "site.toml:3: 'language' is 3; it has to be a text"),
        (
            "https:",
            "http:",
            "site.toml:4: 'address' is 'http://example.org/lines'; it has to begin",
        ),
        (
            "[checks]",
            '[navigation]\nOther = "ftp://x"\n[checks]',
            "site.toml:7: 'Other' leads to 'ftp://x'; it has to be an address such as 'guides/",
        ),
        ("[checks]\nplaced", "checks", "site.toml:6: 'checks' is False; it has to be a table"),
        ("false", '"no"', "site.toml:7: 'placed' is 'no'; it has to be true or false"),
        ("placed", "place", "site.toml:7: unknown key 'place' of [checks]; there are placed"),
        ('"en-GB"', '"en', "site.toml:3: Illegal character"),
        (
            "[checks]",
            'units = ["bits"]\n[checks]',
            "site.toml:6: 'bits' is no switch for units; there are bytes, links",
        ),
        (
            "[checks]",
            'takes = "lines.jobs.taken"\n[checks]',
            "site.toml:6: 'takes' is 'lines.jobs.taken'; there is no module lines/jobs.py",
        ),
        (
            "[checks]",
            'data = "lines.files.data"\n[checks]',
            "site.toml:6: 'data' is 'lines.files.data'; there is no module lines/files.py",
        ),
        (
            "[checks]",
            'released = "last week"\n[checks]',
            "site.toml:6: 'released' is 'last week'; it has to be a date such as 2026-11-29",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line_and_what_is_allowed(write, before, after, said):
    assert before in GOOD
    found = problems(write(GOOD.replace(before, after, 1)))
    assert len(found) == 1
    assert found[0].startswith(said)


def test_a_folder_without_the_file_is_no_project(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("builder.cli.parser.DEFAULT_PROJECT", tmp_path)
    assert commands.main(["build"]) == 1
    assert capsys.readouterr().out.startswith(f"site.toml:1: there is no such file in {tmp_path};")


def test_this_site_is_a_project():
    assert project_file.read_project(parser.DEFAULT_PROJECT).name == "Wallclock"
